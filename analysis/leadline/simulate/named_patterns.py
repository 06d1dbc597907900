# SPDX-License-Identifier: Apache-2.0
"""The engine's named patterns (engine/schedule/pattern.cpp): the same names mean the same here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from leadline.error import ExitStatus, LeadlineError
from leadline.model import NO_RANK, IntArray

RANDOM = "random"
EACH_SHIFT = "shift-each"

_KNOWN = "Known are random, halves, reversal, neighbour, bit-reversal, transpose, shift:K, shift-each and tornado:G"
_NO_SHIFT = "Write for example shift:1, or shift-each for every distance"
_NO_GROUP = "Write for example tornado:16, where a group has 16 participants"


def parse_patterns(option: str, text: str, num_participants: int) -> tuple[list[str], bool]:
    """The named patterns that a list on the command line stands for, each once, and whether random ones are in it.
    LeadlineError that names the option for what is none, twice, or nothing that so many participants have.
    """
    names: list[str] = []
    words = text.split(",")
    for word in words:
        if word == RANDOM:
            continue
        each = [f"shift:{distance}" for distance in range(1, num_participants)]
        names += each if word == EACH_SHIFT else [_checked(option, word, num_participants)]
    for name in (*names, *words):
        if names.count(name) > 1 or words.count(name) > 1:
            raise _refused(option, name, "it is asked for twice", "")
    return names, RANDOM in words


def named_pattern(name: str, num_ranks: int, ranks: Sequence[int]) -> IntArray:
    """Where every rank sends to, NO_RANK = it is idle; `name` as parse_patterns() gives it, `ranks` those that play."""
    family, _, argument = name.partition(":")
    num = len(ranks)
    seat = np.arange(num)
    to = _DESTINATIONS[family](seat, num, int(argument or 0))
    participants = np.array(ranks, dtype=np.int64)
    send_to = np.full(num_ranks, NO_RANK, dtype=np.int64)
    send_to[participants] = np.where(to != seat, participants[to], NO_RANK)
    return send_to


def _checked(option: str, word: str, num: int) -> str:
    """The pattern's name."""
    family, colon, text = word.partition(":")
    if family not in _DESTINATIONS:
        raise _refused(option, word, "there is no such pattern", _KNOWN)
    if family not in ("shift", "tornado"):
        if colon:
            raise _refused(option, word, f"nothing may follow '{family}'", _KNOWN)
        _expect_fit(option, family, num)
        return family
    number = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
    if number < 1:
        what = "distance" if family == "shift" else "number of participants in a group"
        raise _refused(option, word, f"'{text}' is no {what}", _NO_SHIFT if family == "shift" else _NO_GROUP)
    if family == "shift" and number >= num:
        raise _refused(option, word, f"{num} participants have no shift by {number}", f"Choose 1 to {num - 1}")
    if family == "tornado" and (num % number or num // number < 2):
        fitting = next(group for group in range(min(number, num // 2), 0, -1) if num % group == 0)
        why = f"{num} participants cannot be split into at least 2 full groups of {number}"
        raise _refused(option, word, why, f"Choose a group size that divides {num}, for example tornado:{fitting}")
    return f"{family}:{number}"


def _expect_fit(option: str, family: str, num: int) -> None:
    if family == "bit-reversal" and num < 4:
        why = f"with {num} ranks none would send"
        raise _refused(option, family, why, "Let at least 4 ranks take part")
    if family == "transpose" and _num_rows(num) == 1:
        why = f"{num} participants form no matrix, since {num} is prime"
        raise _refused(option, family, why, "Choose a number of ranks with more factors")


def _refused(option: str, word: str, why: str, hint: str) -> LeadlineError:
    return LeadlineError(f"{option} cannot be '{word}'", why, hint, ExitStatus.BAD_COMMAND_LINE)


def _num_rows(num: int) -> int:
    """Of the matrix that is nearest to a square and not higher than wide."""
    return max(row for row in range(1, math.isqrt(num) + 1) if num % row == 0)


def _halves(seat: IntArray, num: int, _: int) -> IntArray:
    paired = num // 2 * 2
    return np.where(seat < paired, (seat + num // 2) % paired, seat)


def _neighbour(seat: IntArray, num: int, _: int) -> IntArray:
    return np.where(seat ^ 1 < num, seat ^ 1, seat)


def _bit_reversal(seat: IntArray, num: int, _: int) -> IntArray:
    num_bits = num.bit_length() - 1
    turned = np.zeros_like(seat)
    for bit in range(num_bits):
        turned |= (seat >> bit & 1) << (num_bits - 1 - bit)
    return np.where(seat < 1 << num_bits, turned, seat)


def _transpose(seat: IntArray, num: int, _: int) -> IntArray:
    rows = _num_rows(num)
    columns = num // rows
    return seat % columns * rows + seat // columns


def _tornado(seat: IntArray, num: int, group: int) -> IntArray:
    groups_on = max((num // group + 1) // 2 - 1, 1)
    return (seat + groups_on * group) % num


_DESTINATIONS: dict[str, Callable[[IntArray, int, int], IntArray]] = {
    "halves": _halves,
    "reversal": lambda seat, num, _: num - 1 - seat,
    "neighbour": _neighbour,
    "bit-reversal": _bit_reversal,
    "transpose": _transpose,
    "shift": lambda seat, num, distance: (seat + distance) % num,
    "tornado": _tornado,
}

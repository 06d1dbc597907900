# SPDX-License-Identifier: Apache-2.0
"""A pattern as a list of messages in a file (docs/how-to/what-a-pattern-costs.md), or by its name."""

from __future__ import annotations

import os
from pathlib import Path

from leadline.cost.pattern import CHOSEN_SIZE, NAMES, Pattern, bad_pattern, messages_of, named_pattern
from leadline.error import LeadlineError
from leadline.text_file import read_text
from leadline.units import parse_bytes

_MOST_BYTES = 256 << 20
_MOST_MESSAGES = 1_000_000_000_000
_EXAMPLE = "A line is FROM TO [MESSAGES [BYTES]], for example: 0 5 10 64KiB"


def parse_pattern(word: str, num_ranks: int) -> Pattern:
    """A pattern of so many ranks by its name, or of a file. LeadlineError for whatever is neither."""
    named = named_pattern(word, num_ranks)
    if named:
        return named
    if not word or not Path(word).exists():
        raise bad_pattern(f"there is no pattern {word!r}, nor such a file", hint=f"There is {NAMES}")
    return read_pattern(word, num_ranks)


def read_pattern(path: str | os.PathLike[str], num_ranks: int) -> Pattern:
    """A pattern of one stage from a file: lines FROM TO [MESSAGES [BYTES]] with ranks from 0; # begins a comment.
    LeadlineError with the line for whatever is not that.
    """
    lines = _Lines(path, num_ranks)
    for number, line in enumerate(
        read_text(path, _MOST_BYTES, lambda why, hint: _wrong(path, why, hint), _EXAMPLE).splitlines(), start=1
    ):
        words = line.partition("#")[0].split()
        if words:
            lines.add(number, words)
    if not lines.from_rank:
        raise _wrong(path, "it names no messages", _EXAMPLE)
    if sum(lines.count) > _MOST_MESSAGES:
        raise _wrong(path, f"it has more than {_MOST_MESSAGES:,} messages")
    messages = messages_of(lines.from_rank, lines.to_rank, None, lines.count, lines.size_bytes)
    return Pattern(os.fspath(path), num_ranks, 1, messages)


class _Lines:
    """The columns of the lines so far."""

    def __init__(self, path: str | os.PathLike[str], num_ranks: int) -> None:
        self._path, self._num_ranks = path, num_ranks
        self.from_rank: list[int] = []
        self.to_rank: list[int] = []
        self.count: list[int] = []
        self.size_bytes: list[int] = []

    def add(self, number: int, words: list[str]) -> None:
        """One line, whose words are there."""
        if not 2 <= len(words) <= 4:
            raise self._wrong_line(number, f"{len(words)} {'word' if len(words) == 1 else 'words'}", _EXAMPLE)
        from_rank, to_rank = (self._rank(number, word) for word in words[:2])
        if from_rank == to_rank:
            why = f"rank {from_rank} sends to itself"
            raise self._wrong_line(number, why, "Such messages are not in the matrix; leave them out")
        self.from_rank.append(from_rank)
        self.to_rank.append(to_rank)
        self.count.append(self._count(number, words[2]) if len(words) > 2 else 1)
        self.size_bytes.append(self._size(number, words[3]) if len(words) > 3 else CHOSEN_SIZE)

    def _rank(self, number: int, word: str) -> int:
        rank = _digits(word)
        if rank is None:
            raise self._wrong_line(number, f"'{word}' is no rank", _EXAMPLE)
        if rank >= self._num_ranks:
            last = self._num_ranks - 1
            raise self._wrong_line(number, f"there is no rank {rank}", f"The result has 0 to {last}")
        return rank

    def _count(self, number: int, word: str) -> int:
        count = _digits(word)
        if count is None or not 1 <= count <= _MOST_MESSAGES:
            raise self._wrong_line(number, f"'{word}' is no number of messages", "It is a whole number from 1 on")
        return count

    def _size(self, number: int, word: str) -> int:
        try:
            return parse_bytes(word)
        except ValueError:
            raise self._wrong_line(number, f"'{word}' is no size", "Write it as 512, 1KiB or 16MiB") from None

    def _wrong_line(self, number: int, why: str, hint: str) -> LeadlineError:
        return _wrong(self._path, f"line {number}: {why}", hint)


def _digits(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdecimal() and len(word) <= 18 else None


def _wrong(path: str | os.PathLike[str], why: str, hint: str = "") -> LeadlineError:
    return bad_pattern(f"cannot use '{os.fspath(path)}' as a pattern", why, hint)

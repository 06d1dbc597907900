# SPDX-License-Identifier: Apache-2.0
"""A result of which only some pairs count: those in a file with `from to` in each line."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from leadline.compat.rows import ROUNDS
from leadline.error import ExitStatus, LeadlineError, from_os_error
from leadline.link.result import WHY_NOT_MEASURED, LinkResult, NotMeasured
from leadline.model import FloatArray, IntArray, Slice

_MOST_CHARACTERS_OF_LINE = 200
_BLOCK_PAIRS = 1 << 20


def masked(result: LinkResult, path: Path) -> LinkResult:
    """The pairs that the file does not name are then neither measured nor to be measured."""
    pairs = _pairs(path, result.num_ranks)
    starts = np.searchsorted(pairs, np.arange(result.num_ranks + 1) * result.num_ranks)

    def is_named(first: int, end: int) -> np.ndarray:
        here = np.zeros((end - first, result.num_ranks), dtype=bool)
        here.ravel()[pairs[starts[first] : starts[end]] - first * result.num_ranks] = True
        return here

    def read_rows(part: Slice, dataset: str, first: int, end: int) -> FloatArray:
        if dataset == ROUNDS and part.repeat not in result.repeats_with_rounds:
            values = np.where(result.rows_to_measure(part, first, end), 1.0, np.nan)
        else:
            values = result.read_rows(part, dataset, first, end)
        unnamed = NotMeasured.NOT_IN_SCHEDULE if dataset == WHY_NOT_MEASURED else np.nan
        return np.where(is_named(first, end), values, unnamed)

    named = set(pairs.tolist()) if result.retests else set()
    return dataclasses.replace(
        result,
        read_rows=read_rows,
        retests=tuple(one for one in result.retests if one.from_rank * result.num_ranks + one.to_rank in named),
        repeats_with_rounds=frozenset(part.repeat for part in result.slices),
    )


def _pairs(path: Path, num_ranks: int) -> IntArray:
    """from * N + to of every line, ascending, each once; 8 bytes a pair of memory."""
    found: list[IntArray] = []
    block: list[int] = []
    try:
        with path.open(encoding="ascii", errors="replace") as stream:
            number = 0
            while line := stream.readline(_MOST_CHARACTERS_OF_LINE):
                number += 1
                block += _pair(path, number, line, num_ranks)
                if len(block) >= _BLOCK_PAIRS:
                    found.append(np.unique(np.array(block, dtype=np.int64)))
                    block = []
    except OSError as error:
        raise from_os_error(f"cannot read the mask '{path}'", error) from error
    pairs = np.unique(np.concatenate([*found, np.array(block, dtype=np.int64)]))
    if not pairs.size:
        raise _wrong(path, "it names no pair")
    return pairs


def _pair(path: Path, number: int, line: str, num_ranks: int) -> list[int]:
    words = line.partition("#")[0].split()
    if not words:
        return []
    if len(words) != 2 or not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        raise _wrong(path, f"line {number} is not two ranks")
    from_rank, to_rank = int(words[0]), int(words[1])
    if from_rank >= num_ranks or to_rank >= num_ranks:
        raise _wrong(path, f"line {number} names {from_rank} and {to_rank}, but the ranks are 0 to {num_ranks - 1}")
    return [from_rank * num_ranks + to_rank]


def _wrong(path: Path, why: str) -> LeadlineError:
    hint = "A mask has a line `from to` for each pair that counts"
    return LeadlineError(f"cannot use the mask '{path}'", why, hint, ExitStatus.BAD_COMMAND_LINE)

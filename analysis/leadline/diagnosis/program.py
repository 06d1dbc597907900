# SPDX-License-Identifier: Apache-2.0
"""Asks the program `leadline` for a diagnosis: with which arguments, how long it may take, and what its answer says."""

from __future__ import annotations

import os
from collections.abc import Sequence

from leadline.model import Diagnosis, JudgedResult, Slice
from leadline.program import Ask, answer, unusable
from leadline.readers.contents import DamagedError
from leadline.readers.diagnosis import diagnosis_of

# A guess that errs on the side of slow disks: it reads a matrix twice, measured at 1e8 pairs a second from memory.
_DEADLINE_S = 60.0
_PAIRS_A_SECOND = 4e6


def ask(
    result: JudgedResult, topology: str | None = None, threshold: float | None = None,
    false_discovery_rate: float | None = None, parts: Sequence[Slice] = (),
) -> dict[Slice, Diagnosis]:  # fmt: skip
    """Its diagnoses of all slices, or where these have one size or one repeat in common of no others than such."""
    words = ["diagnose", os.fspath(result.path.absolute()), "--json"]
    words += ["--topology", topology] if topology is not None else []
    words += ["--threshold", repr(threshold)] if threshold is not None else []
    words += ["--false-discovery-rate", repr(false_discovery_rate)] if false_discovery_rate is not None else []
    words += _only(result, parts)
    deadline_s = _DEADLINE_S + len(result.slices) * result.num_ranks**2 / _PAIRS_A_SECOND
    program, document = answer(Ask(words, "diagnosis", "cannot diagnose the result", deadline_s))
    try:
        return diagnosis_of(document, result.slices, result.num_ranks, len(result.hosts))
    except DamagedError as error:
        raise unusable(program, error) from error


def _only(result: JudgedResult, parts: Sequence[Slice]) -> list[str]:
    sizes, repeats = ({getattr(part, name) for part in parts} for name in ("message_size_bytes", "repeat"))
    words = ["--message-size", str(*sizes)] if len(sizes) == 1 and len(result.message_sizes_bytes) > 1 else []
    is_one = len(repeats) == 1 and len({part.repeat for part in result.slices}) > 1
    return words + (["--repeat", str(next(iter(repeats)) + 1)] if is_one else [])

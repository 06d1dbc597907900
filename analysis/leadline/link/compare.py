# SPDX-License-Identifier: Apache-2.0
"""What changed since earlier results: the program's comparison of files, each part checked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.link.result import LinkResult
from leadline.model import Slice
from leadline.model.diagnosis import ComparedClass, Fault
from leadline.model.table import Record
from leadline.program import Ask, answer, unusable
from leadline.readers.contents import BAD_VALUES, DamagedError, reason_of
from leadline.readers.diagnosis import compared_class_of, fault_of, texts_of

# Guesses that err on the side of slow disks: it reads either matrix five times.
_DEADLINE_S = 60.0
_PAIRS_A_SECOND = 2e6


@dataclass(frozen=True, repr=False)
class ComparedSize(Record):
    """One message size of all results."""

    message_size_bytes: int
    threshold: float  # the least change that counts
    num_pairs: int  # ordered pairs that all have
    is_worse: bool
    classes: tuple[ComparedClass, ...]
    slower: tuple[Fault, ...]  # places, by how much more than their class; ratio: after over before, beyond it
    faster: tuple[Fault, ...]  # ratio: before over after, beyond the class


@dataclass(frozen=True, repr=False)
class Comparison(Record):
    """A result compared with earlier ones."""

    baselines: tuple[str, ...]  # as their files are named; at least one
    sizes: tuple[ComparedSize, ...]
    notes: tuple[str, ...]  # what differs otherwise, and what could not be compared

    @property
    def is_worse(self) -> bool:
        """Whether anything became slower."""
        return any(size.is_worse for size in self.sizes)


def compared(
    baselines: Sequence[str | os.PathLike[str]], result: LinkResult, parts: Sequence[Slice] = (),
    topology: str | None = None,
) -> Comparison:  # fmt: skip
    """The program's comparison of a result with earlier ones; of all sizes that all have, or where the slices have
    one in common, of that. Ranks and hosts are those of the result. LeadlineError where there is no program, or where
    it refuses: another direction, no host in common.
    """
    words = ["compare", *map(os.path.abspath, baselines), os.fspath(result.path.absolute()), "--json"]
    words += ["--topology", topology] if topology is not None else []
    sizes = {part.message_size_bytes for part in parts}
    words += ["--message-size", str(*sizes)] if len(sizes) == 1 and len(result.message_sizes_bytes) > 1 else []
    deadline_s = _DEADLINE_S + len(baselines) * len(result.slices) * result.num_ranks**2 / _PAIRS_A_SECOND
    ask = Ask(words, "comparison", "cannot compare the results", deadline_s)
    program, document = answer(ask)
    try:
        return comparison_of(document, result.num_ranks, len(result.hosts))
    except DamagedError as error:
        raise unusable(program, error) from error


def comparison_of(document: Mapping[str, Any], num_ranks: int, num_hosts: int) -> Comparison:
    """Ranks and hosts are those of the later result. Keys that are not known are left alone: they are of newer
    programs.
    """
    try:
        return Comparison(
            baselines=texts_of(document.get("baselines", [document["before"]])),
            sizes=tuple(_size(one, num_ranks, num_hosts) for one in document["sizes"]),
            notes=tuple(dict.fromkeys(note for one in document["sizes"] for note in texts_of(one["notes"]))),
        )
    except DamagedError:
        raise
    except BAD_VALUES as error:
        raise DamagedError(f"the comparison is none: {reason_of(error)}") from error


def _size(entry: Mapping[str, Any], num_ranks: int, num_hosts: int) -> ComparedSize:
    return ComparedSize(
        message_size_bytes=int(entry["message_size_bytes"]),
        threshold=float(entry["threshold"]),
        num_pairs=int(entry["num_pairs"]),
        is_worse=bool(entry["worse"]),
        classes=tuple(compared_class_of(one) for one in entry["classes"]),
        slower=tuple(fault_of(one, num_ranks, num_hosts) for one in entry["slower"]),
        faster=tuple(fault_of(one, num_ranks, num_hosts) for one in entry["faster"]),
    )

# SPDX-License-Identifier: Apache-2.0
"""What changed between two results of the link test; ratios are of times, after over before."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.model.diagnosis import ComparedClass, Fault
from leadline.model.table import Record


@dataclass(frozen=True, repr=False)
class ComparedSize(Record):
    """One message size of two results."""

    message_size_bytes: int
    threshold: float  # the least change that counts
    num_pairs: int  # ordered pairs that both have
    is_worse: bool
    classes: tuple[ComparedClass, ...]
    slower: tuple[Fault, ...]  # places, by how much more than their class; ratio: after over before, beyond it
    faster: tuple[Fault, ...]  # ratio: before over after, beyond the class


@dataclass(frozen=True, repr=False)
class Comparison(Record):
    """A result compared with an earlier one."""

    before: str  # the baseline, as its file is named
    sizes: tuple[ComparedSize, ...]
    notes: tuple[str, ...]  # what differs otherwise, and what could not be compared

    @property
    def is_worse(self) -> bool:
        """Whether anything became slower."""
        return any(size.is_worse for size in self.sizes)

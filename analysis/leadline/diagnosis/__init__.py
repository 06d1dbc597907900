# SPDX-License-Identifier: Apache-2.0
"""Components at fault: the diagnosis in a result, or else that of the program, and what follows from it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from leadline.benchmarks import load, of_another
from leadline.diagnosis.components import end_of, pairs_of
from leadline.diagnosis.known import Diagnosed, ask, diagnosed, diagnosed_in, found_faults, told_faults
from leadline.model import Diagnosis, FoundFault, JudgedResult, Slice, ToldFault

__all__ = [
    "Diagnosed",
    "FoundFault",
    "ToldFault",
    "diagnose",
    "diagnosed",
    "diagnosed_in",
    "end_of",
    "found_faults",
    "pairs_of",
    "told_faults",
]


def diagnose(
    path: str | os.PathLike[str], topology: str | None = None, threshold: float | None = None,
    false_discovery_rate: float | None = None, routes: str | None = None,
) -> Mapping[Slice, Diagnosis]:  # fmt: skip
    """What the program `leadline` says of each slice of a result. `topology`: the physical network, in the words of
    `leadline diagnose --topology`, and `routes` the file of its forwarding tables; `threshold`, the least share of time
    that counts as a fault, and `false_discovery_rate` are shares, None = the program's own. LeadlineError where there
    is no program, or where it refuses.
    """
    result = load(path)
    if not isinstance(result, JudgedResult):
        raise of_another(result, "link")
    return ask(result, topology, threshold, false_discovery_rate, routes=routes).found

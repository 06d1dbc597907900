# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F405 -- the names of __all__ are those of the model
"""Analysis of leadline's results: `leadline.load(path)` gives arrays with their names, units and hosts.

What this package offers is imported when it is first used, so that the help of a command does not wait for numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from leadline.error import LeadlineError

if TYPE_CHECKING:
    from leadline.diagnosis import diagnose
    from leadline.model import *  # noqa: F403 -- of it what __all__ has
    from leadline.readers import load, load_bisection, load_io, load_link, load_topology

__all__ = [
    "AllToAll",
    "Arrivals",
    "BaselineSamples",
    "BisectionResult",
    "Channels",
    "Component",
    "ComponentKind",
    "Connections",
    "Definition",
    "DiagnosedClass",
    "Diagnosis",
    "Fault",
    "FaultDirection",
    "Finding",
    "IoPhase",
    "IoResult",
    "LabelledArray",
    "LeadlineError",
    "LinkResult",
    "LinkTestRecord",
    "LoadPoint",
    "NotMeasured",
    "PairClass",
    "PairMatrices",
    "PatternKind",
    "Patterns",
    "Persistence",
    "PhaseRows",
    "PhaseState",
    "Provenance",
    "RankLocation",
    "Rates",
    "Retest",
    "RunProvenance",
    "RunResult",
    "Series",
    "ShownPair",
    "Slice",
    "SlowConnection",
    "Spread",
    "Statistic",
    "Symptom",
    "Table",
    "Topology",
    "TopologyCell",
    "TopologyResult",
    "diagnose",
    "load",
    "load_bisection",
    "load_io",
    "load_link",
    "load_topology",
]
__version__ = "0.1.0"

_MODULES = {name: "readers" for name in __all__ if name.startswith("load")} | {"diagnose": "diagnosis"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"leadline.{_MODULES.get(name, 'model')}"), name)

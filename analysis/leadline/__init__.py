# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F405 -- the names of __all__ are those of the results
"""Analysis of leadline's results: `leadline.load(path)` gives arrays with their names, units and hosts.

What this package offers is imported when it is first used, so that the help of a command does not wait for numpy.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from leadline.error import LeadlineError

if TYPE_CHECKING:
    from leadline.benchmarks import load
    from leadline.bisection.reader import load_bisection
    from leadline.bisection.result import *  # noqa: F403 -- of it what __all__ has, as of the next ones
    from leadline.collective.reader import load_collective
    from leadline.collective.result import *  # noqa: F403
    from leadline.congestion.reader import load_congestion
    from leadline.congestion.result import *  # noqa: F403
    from leadline.diagnosis import diagnose
    from leadline.io.reader import load_io
    from leadline.io.result import *  # noqa: F403
    from leadline.link.reader import load_link
    from leadline.link.result import *  # noqa: F403
    from leadline.model import *  # noqa: F403
    from leadline.topology.reader import load_topology
    from leadline.topology.result import *  # noqa: F403

__all__ = [
    "AllToAll",
    "Arrivals",
    "BaselineSamples",
    "BisectionResult",
    "Channels",
    "CollectiveCell",
    "CollectiveResult",
    "Component",
    "ComponentKind",
    "CongestionCell",
    "CongestionResult",
    "Connections",
    "Definition",
    "DiagnosedClass",
    "Diagnosis",
    "Factor",
    "Fault",
    "FaultDirection",
    "Finding",
    "Impact",
    "IoPhase",
    "IoResult",
    "LabelledArray",
    "LeadlineError",
    "LinkResult",
    "LinkTestRecord",
    "LoadPoint",
    "LoadRate",
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
    "load_collective",
    "load_congestion",
    "load_io",
    "load_link",
    "load_topology",
]
__version__ = "0.1.0"

_OF_ALL = {"load": "benchmarks", "diagnose": "diagnosis"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in _modules(name):
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _modules(name: str) -> Iterator[ModuleType]:
    """Where a name may be; the first one has most of them."""
    if name in _OF_ALL:
        yield importlib.import_module(f"leadline.{_OF_ALL[name]}")
        return
    from leadline.benchmarks import BENCHMARKS, part_of

    if name.startswith("load_"):
        yield part_of(name.removeprefix("load_"), "reader")
    else:
        yield importlib.import_module("leadline.model")
        yield from (part_of(benchmark, "result") for benchmark in BENCHMARKS)

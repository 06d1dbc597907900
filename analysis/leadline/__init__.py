# SPDX-License-Identifier: Apache-2.0
"""Analysis of leadline's results: `leadline.load(path)` gives arrays with their names, units and hosts."""

from leadline.error import LeadlineError
from leadline.load import load
from leadline.model import (
    AllToAll,
    Arrivals,
    Channels,
    Definition,
    Finding,
    LabelledArray,
    LinkTestRecord,
    LoadPoint,
    PairClass,
    Provenance,
    RankPlace,
    Rates,
    Result,
    Retest,
    RunProvenance,
    RunResult,
    Slice,
    Spread,
    Statistic,
    Topology,
    TopologyCell,
    TopologyResult,
)

__all__ = [
    "AllToAll",
    "Arrivals",
    "Channels",
    "Definition",
    "Finding",
    "LabelledArray",
    "LeadlineError",
    "LinkTestRecord",
    "LoadPoint",
    "PairClass",
    "Provenance",
    "RankPlace",
    "Rates",
    "Result",
    "Retest",
    "RunProvenance",
    "RunResult",
    "Slice",
    "Spread",
    "Statistic",
    "Topology",
    "TopologyCell",
    "TopologyResult",
    "load",
]
__version__ = "0.1.0"

# SPDX-License-Identifier: Apache-2.0
"""What a result is once it is loaded: plain frozen data; matrices are read when they are asked for."""

from leadline.model.array import LabelledArray
from leadline.model.link import (
    AllToAll,
    LinkTestRecord,
    PairClass,
    Provenance,
    ReadBlock,
    ReadRows,
    Result,
    Retest,
    Slice,
    Spread,
    Statistic,
)
from leadline.model.run import (
    BoolArray,
    Finding,
    FloatArray,
    IntArray,
    RankPlace,
    RunProvenance,
    RunResult,
)
from leadline.model.topology import (
    Arrivals,
    Channels,
    Definition,
    LoadPoint,
    Rates,
    Topology,
    TopologyCell,
    TopologyReader,
    TopologyResult,
)

__all__ = [
    "AllToAll",
    "Arrivals",
    "BoolArray",
    "Channels",
    "Definition",
    "Finding",
    "FloatArray",
    "IntArray",
    "LabelledArray",
    "LinkTestRecord",
    "LoadPoint",
    "PairClass",
    "Provenance",
    "RankPlace",
    "Rates",
    "ReadBlock",
    "ReadRows",
    "Result",
    "Retest",
    "RunProvenance",
    "RunResult",
    "Slice",
    "Spread",
    "Statistic",
    "Topology",
    "TopologyCell",
    "TopologyReader",
    "TopologyResult",
]

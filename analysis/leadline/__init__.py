# SPDX-License-Identifier: Apache-2.0
"""Analysis of leadline's results: `leadline.load(path)` gives arrays with their names, units and hosts."""

from leadline.error import LeadlineError
from leadline.load import load
from leadline.model import (
    AllToAll,
    Finding,
    LabelledArray,
    LinkTestRecord,
    PairClass,
    Provenance,
    RankPlace,
    Result,
    Retest,
    Slice,
    Spread,
    Statistic,
)

__all__ = [
    "AllToAll",
    "Finding",
    "LabelledArray",
    "LeadlineError",
    "LinkTestRecord",
    "PairClass",
    "Provenance",
    "RankPlace",
    "Result",
    "Retest",
    "Slice",
    "Spread",
    "Statistic",
    "load",
]
__version__ = "0.1.0"

# SPDX-License-Identifier: Apache-2.0
"""What results of all benchmarks have in common: plain frozen data; arrays are read when they are asked for."""

from leadline.model.array import LabelledArray
from leadline.model.diagnosis import (
    Change,
    ComparedClass,
    Component,
    ComponentKind,
    DiagnosedClass,
    Diagnosis,
    Fault,
    FaultDirection,
    FindingList,
    FoundFault,
    JudgedResult,
    Persistence,
    PhaseEvidence,
    ShownPair,
    Symptom,
    ToldFault,
)
from leadline.model.run import (
    BoolArray,
    Column,
    Finding,
    FloatArray,
    IntArray,
    Progress,
    RankLocation,
    RunProvenance,
    RunResult,
    Slice,
)
from leadline.model.table import Record, Table
from leadline.settings import Statistic

__all__ = [
    "BoolArray",
    "Change",
    "Column",
    "ComparedClass",
    "Component",
    "ComponentKind",
    "DiagnosedClass",
    "Diagnosis",
    "Fault",
    "FaultDirection",
    "Finding",
    "FindingList",
    "FloatArray",
    "FoundFault",
    "IntArray",
    "JudgedResult",
    "LabelledArray",
    "Persistence",
    "PhaseEvidence",
    "Progress",
    "RankLocation",
    "Record",
    "RunProvenance",
    "RunResult",
    "ShownPair",
    "Slice",
    "Statistic",
    "Symptom",
    "Table",
    "ToldFault",
]

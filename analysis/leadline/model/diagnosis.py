# SPDX-License-Identifier: Apache-2.0
"""What a diagnosis says: which components are at fault, by how much, with which certainty and evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from leadline.model.run import RunResult, Slice
from leadline.model.table import Record


class ComponentKind(str, Enum):
    """The kinds of components that can be at fault, the larger ones first."""

    SWITCH = "switch"  # pairs of all hosts below it, also with each other
    UPLINK = "uplink"  # only pairs that leave what is below it
    CABLE = "cable"  # pairs between two switches
    RAIL = "rail"  # the same slot of (nearly) all hosts
    HOST = "host"  # pairs of all its ranks, inside it too
    PORT = "port"  # pairs of all its ranks with other hosts
    INSIDE = "inside"  # only pairs inside it
    SOCKET = "socket"  # pairs with other hosts of the ranks on one socket of a host, or of all hosts
    RANK = "rank"
    LINK = "link"  # pairs between two hosts
    PAIR = "pair"
    TARGET = "target"  # of a file test: what some of its files lie on


class Symptom(str, Enum):
    """What is wrong with a component."""

    SLOW = "slow"  # its medians are long
    UNSTEADY = "unsteady"  # its means are long, its medians are not


class FaultDirection(str, Enum):
    """Which direction is slow; of components with two ends from the first to the second, or back."""

    BOTH = "both"
    OUT = "out"
    IN = "in"


class Persistence(str, Enum):
    """What measuring again has said about a component."""

    NOT_RETESTED = "not_retested"
    PERSISTENT = "persistent"
    ONLY_UNDER_LOAD = "only_under_load"
    TRANSIENT = "transient"


class FindingList(str, Enum):
    """The list that a finding is told in."""

    PERSISTENT = "persistent"  # needs action
    ONLY_UNDER_LOAD = "only_under_load"
    PASSED = "passed"
    UNTESTED = "untested"
    NOTE = "note"


@dataclass(frozen=True, repr=False)
class Component(Record):
    """A component by its number; which numbers count follows from the kind, the others are -1."""

    kind: ComponentKind
    level: int  # of switch, uplink, cable: 0 = the level next to the hosts
    first: int  # group, slot, host or rank
    second: int  # of cable, link and pair: the other end
    socket: int  # NUMA node
    hosts: tuple[int, ...]  # below a switch or an uplink, or the first end of a cable; empty where the file has none
    other_hosts: tuple[int, ...]  # below the other end of a cable

    @property
    def has_two_ends(self) -> bool:
        """Whether messages go through it from one end to the other, so that its name says which way."""
        return self.second >= 0


@dataclass(frozen=True)
class ShownPair:
    """An ordered pair that shows a fault: its median time in ns, or where the component is unsteady its mean over its
    median; and what that would be without the fault.
    """

    from_rank: int
    to_rank: int
    measured: float
    expected: float


@dataclass(frozen=True)
class PhaseEvidence:
    """What a host, rank, target or uplink shows in the phases of a file test."""

    operation: str  # "write", "read"
    num_phases: int  # that were judged
    num_slow: int
    bytes_per_s: float  # of one of its ranks while it is in calls
    usual_bytes_per_s: float  # without the fault
    where: str  # on which targets, or from which hosts
    ranks: tuple[int, ...]
    time_share: float  # of the time of the phases, in which the others wait; NaN = none


@dataclass(frozen=True, repr=False)
class Fault(Record):
    """A component that is worse than others of its kind."""

    component: Component
    name: str  # "host node3", "the link between node1 and node4"
    symptom: Symptom
    direction: FaultDirection
    ratio: float  # time over what is expected without the fault (unsteady: of mean over median)
    ratio_low: float  # 95 % interval
    ratio_high: float
    p_value: float  # that a sound component shows so much
    num_pairs: int  # ordered, measured
    pairs: tuple[ShownPair, ...]  # some of them
    ruled_out: tuple[str, ...]
    advice: str
    persistence: Persistence
    ratio_alone: float  # what the retest gave; NaN = none
    is_note: bool  # how the machine is built rather than a fault
    listed_as: FindingList = FindingList.PERSISTENT
    phases: PhaseEvidence | None = None  # of a file test; then it has no pairs
    host_names: tuple[str, ...] = ()  # those concerned, of two ends first those of the first; of older files none
    ranks: tuple[int, ...] = ()  # likewise; none of what is below a switch
    share: float = math.nan  # of its pairs that are slow; NaN = the file does not say

    @property
    def counts(self) -> bool:
        """Whether it needs action; the other lists make no run and no diagnosis end with status 1."""
        return self.listed_as is FindingList.PERSISTENT


@dataclass(frozen=True)
class DiagnosedClass:
    """What pairs of one kind take."""

    name: str  # "same socket", "between hosts", "same leaf switch"
    num_pairs: int  # ordered, measured
    time_ns_median: float
    spread: float  # of the logarithm of the times around what their ends explain


class Change(str, Enum):
    """What became of a class: beyond the threshold, and beyond its interval."""

    NONE = "none"
    SLOWER = "slower"
    FASTER = "faster"


@dataclass(frozen=True)
class ComparedClass:
    """All pairs of one distance in a result, beside an earlier result or a site profile."""

    name: str
    num_pairs: int  # ordered
    before_ns: float  # medians of the pairs' times
    after_ns: float
    ratio: float  # median over the pairs of after over before; by a site profile of the medians
    ratio_low: float  # 95 % interval, hosts counting as one each; by a site profile from the scatter of its runs
    ratio_high: float
    change: Change


@dataclass(frozen=True, repr=False)
class Diagnosis(Record):
    """Everything that was found out about one slice."""

    threshold: float  # the least share of time that a finding costs
    false_discovery_rate: float  # of the findings of each kind of component
    topology: str  # where the network comes from; empty = nothing is known of it
    num_pairs: int  # ordered pairs of the ranks that take part
    num_measured: int  # those with a time
    classes: tuple[DiagnosedClass, ...]
    faults: tuple[Fault, ...]  # the costliest first, notes last
    notes: tuple[str, ...]  # what could not be told, and why
    profile: tuple[ComparedClass, ...] = ()  # classes beside the site profile (before); empty without one
    untested: str = ""  # why nobody could be judged; empty = somebody was
    alike: tuple[tuple[str, tuple[int, ...]], ...] = ()  # faults that are told as one: their name, and which ones

    @property
    def slower_than_profile(self) -> tuple[ComparedClass, ...]:
        """Classes that reach too little of what the site profile says."""
        return tuple(one for one in self.profile if one.change is Change.SLOWER)


@dataclass(frozen=True)
class FoundFault:
    """A fault of several slices, as the slice shows it in which it costs most."""

    fault: Fault
    part: Slice
    num_found: int  # slices that show it
    num_slices: int  # in which somebody was judged
    group_name: str = ""  # of those that are told as one; empty = told alone
    group_index: int = -1  # of the first of these in the list


@dataclass(frozen=True)
class ToldFault:
    """A fault as texts tell it, or places of hosts that show the same as one: `ports of node[24-31]`. Then `fault` is
    the first with the name of all, and what of it is a number stands for all.
    """

    fault: Fault  # of several: ratio_low and ratio_high are the least and the greatest ratio
    places: tuple[FoundFault, ...]  # one or more, in the order of the list

    @property
    def is_single(self) -> bool:
        """Whether it is one place."""
        return len(self.places) == 1

    @property
    def part(self) -> Slice:
        """The slice in which the first costs most."""
        return self.places[0].part


@dataclass(frozen=True, repr=False)
class JudgedResult(RunResult):
    """A result whose slices can have a diagnosis."""

    slices: tuple[Slice, ...]  # by repeat, then size
    diagnoses: Mapping[Slice, Diagnosis]  # as the run wrote them; empty in older files and in SION
    faults: tuple[FoundFault, ...] | None  # of all slices, as the run wrote them; None in older files and in SION

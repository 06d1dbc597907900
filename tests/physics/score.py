# SPDX-License-Identifier: Apache-2.0
"""How right findings are, beside what was planted.

A planted element is *named* by a finding of its kind at its place, or by one that says the same:

- where hosts have one rank each: rank, host and port are the same; so are link and pair;
- a host by all its ranks, each of them named; all ranks of a host, each of them planted, by that host: the finding says
  that both look the same;
- the only host of a leaf switch by that switch or its uplink, and the other way round;
- all hosts of a leaf switch, each of them planted, by that switch: their times are the same, and the finding says so;
- with two leaf switches the uplink of one is that of the other, and the cable between them;
- a cable by its two switches (their hosts, or both names), by the uplink of a leaf switch at its end, or, where nothing
  else connects both sides, by an uplink or a cable with the hosts of either side;
- a switch without hosts by its name; a rail by the place on its host of a rank that uses it.

A finding that names nothing planted is *near* where it accuses a part of the planted host, the host of the planted
rank, a pair of the planted link, or another kind of element at the planted switch. All others are *false*: sound hosts
below a bad switch, links across a bad cable one by one, anything in a sound cluster.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from findings import Finding

OF_A_HOST = ("rank", "socket", "inside", "host", "port")
OF_A_SWITCH = ("switch", "uplink", "cable", "core")


@dataclass(frozen=True)
class Score:
    """Of one file."""

    num_planted: int
    num_named: int
    num_near: int  # planted elements that are not named, yet some finding is near
    false: tuple[Finding, ...]


def score(findings: Sequence[Finding], truth: dict[str, Any]) -> Score:
    """`truth` as in truth.json."""
    planted = truth["planted"]
    is_right = [any(_names(finding, one, truth) for one in planted) for finding in findings]
    is_near = [any(_is_near(finding, one) for one in planted) for finding in findings]
    named = [one for one in planted if _is_named(one, findings, truth)]
    beside = [one for one in planted if one not in named and any(_is_near(finding, one) for finding in findings)]
    false = [finding for finding, right, near in zip(findings, is_right, is_near, strict=True) if not (right or near)]
    return Score(len(planted), len(named), len(beside), tuple(false))


def _is_named(one: dict[str, Any], findings: Sequence[Finding], truth: dict[str, Any]) -> bool:
    if any(_names(finding, one, truth) for finding in findings):
        return True
    ranks = {rank for finding in findings if finding.kind == "rank" for rank in finding.ranks}
    return one["kind"] == "host" and set(one["ranks"]) <= ranks


def _names(finding: Finding, one: dict[str, Any], truth: dict[str, Any]) -> bool:
    kind, hosts = one["kind"], frozenset(one["hosts"])
    is_single = truth["ranks_per_host"] == 1
    if kind == "rank":
        if finding.kind == "rank":
            return finding.ranks == frozenset(one["ranks"])
        if finding.kind == "host" and finding.hosts == hosts:
            on_host = [other for other in truth["planted"] if other["kind"] == "rank" and set(other["hosts"]) == hosts]
            return len(on_host) == truth["ranks_per_host"]
        return is_single and finding.kind in ("host", "port") and finding.hosts == hosts
    if kind in ("host", "port"):
        same = {kind, "switch", "uplink"} | ({"rank", "host", "port"} if is_single else set())
        if finding.kind == "switch" and hosts < finding.hosts:
            ends = [other for other in truth["planted"] if other["kind"] in ("host", "port")]
            return finding.hosts <= {host for other in ends for host in other["hosts"]}
        return finding.kind in same and finding.hosts == hosts
    if kind == "rail":
        return finding.kind == "rail" and finding.ranks <= frozenset(one["ranks"])
    if kind in ("link", "pair"):
        if kind == "pair" and not is_single:
            return finding.kind == "pair" and finding.ranks == frozenset(one["ranks"])
        same = {"link", "pair"} if is_single else {kind}
        return finding.kind in same and finding.hosts | finding.other_hosts == hosts
    return _names_of_network(finding, one, truth)


def _names_of_network(finding: Finding, one: dict[str, Any], truth: dict[str, Any]) -> bool:
    kind, sides = one["kind"], [frozenset(side) for side in one["sides"]]
    if finding.kind in ("host", "port"):
        return kind in ("switch", "uplink") and finding.hosts in sides and len(finding.hosts) == 1
    if finding.kind not in OF_A_SWITCH:
        return False
    ends = {end for end in (finding.hosts, finding.other_hosts) if end}
    if kind == "switch":
        return finding.kind == "switch" and finding.hosts in sides
    if kind == "core":
        return finding.kind in ("switch", "core") and _mentions(finding.name, one["switches"])
    if finding.kind == "switch":
        return False
    if kind == "uplink":
        others = frozenset(truth["hosts"]) - sides[0]
        has_two_leaves = others in ends and len(ends) == 2
        return (finding.kind == "uplink" and finding.hosts in sides) or (has_two_leaves and sides[0] in ends)
    if finding.kind == "uplink":
        return finding.hosts in sides
    return _mentions(finding.name, one["switches"]) or (bool(ends) and ends <= set(sides))


def _mentions(name: str, switches: Sequence[str]) -> bool:
    words = set(re.findall(r"[\w.-]+", name))
    return all(switch in words for switch in switches)


def _is_near(finding: Finding, one: dict[str, Any]) -> bool:
    hosts = frozenset(one["hosts"])
    if one["kind"] in ("rank", "host", "port"):
        return finding.kind in OF_A_HOST and bool(finding.hosts) and finding.hosts <= hosts
    if one["kind"] in ("link", "pair"):
        return finding.kind in ("link", "pair") and finding.hosts | finding.other_hosts == hosts
    if one["kind"] == "rail":
        return False
    sides = [frozenset(side) for side in one["sides"]]
    touches = finding.hosts in sides or finding.other_hosts in sides or _mentions(finding.name, one["switches"][:1])
    return finding.kind in OF_A_SWITCH and touches

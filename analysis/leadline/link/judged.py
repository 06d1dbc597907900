# SPDX-License-Identifier: Apache-2.0
"""An analysis whose verdicts are those of a diagnosis: which hosts, ranks and links are marked as slow, by how much."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from leadline.link.analysis import MOST_LINKS, HostLink, SliceAnalysis
from leadline.link.result import LinkResult
from leadline.link.scan.reduce import medians_of_last
from leadline.model import ComponentKind, Diagnosis, Fault, FaultDirection
from leadline.scan import Standout

_OF_A_HOST = (ComponentKind.HOST, ComponentKind.PORT, ComponentKind.INSIDE, ComponentKind.SOCKET)


def judged(result: LinkResult, analysis: SliceAnalysis, diagnosis: Diagnosis | None) -> SliceAnalysis:
    """The analysis as it is where there is no diagnosis. Single pairs stay: circles show where times are extreme, and
    are no verdict.
    """
    if diagnosis is None:
        return analysis
    faults = [fault for fault in diagnosis.faults if fault.counts]
    of_hosts = _ratios([fault for fault in faults if fault.component.kind in _OF_A_HOST and fault.component.first >= 0])
    of_ranks = _ratios([fault for fault in faults if fault.component.kind is ComponentKind.RANK])
    links = [fault for fault in faults if fault.component.kind is ComponentKind.LINK]
    slow_links = tuple(link for fault in links for link in _ways(result, analysis, fault))[:MOST_LINKS]
    return replace(
        analysis,
        is_diagnosed=True,
        slow_hosts=tuple(of_hosts),
        slow_ranks=tuple(of_ranks),
        slow_pairs=(),
        slow_links=slow_links,
        standouts=_beside(result, analysis.standouts, slow_links),
        host_ratios=of_hosts,
        rank_ratios=of_ranks,
    )


def _beside(result: LinkResult, standouts: tuple[Standout, ...], links: tuple[HostLink, ...]) -> tuple[Standout, ...]:
    """Those that are no pairs of the links."""
    host_of, of_links = result.host_index, {(link.from_host, link.to_host) for link in links}
    ends = ((int(host_of[one.cell.from_rank]), int(host_of[one.cell.to_rank])) for one in standouts)
    return tuple(one for one, hosts in zip(standouts, ends, strict=True) if hosts not in of_links)


def _ratios(faults: list[Fault]) -> dict[int, float]:
    """By host or rank, worst first; of several faults of one the largest."""
    ratios: dict[int, float] = {}
    for fault in faults:
        ratios[fault.component.first] = max(fault.ratio, ratios.get(fault.component.first, 0.0))
    return ratios


def _ways(result: LinkResult, analysis: SliceAnalysis, fault: Fault) -> list[HostLink]:
    component = fault.component
    ends = []
    if fault.direction is not FaultDirection.IN:
        ends.append((component.first, component.second))
    if fault.direction is not FaultDirection.OUT:
        ends.append((component.second, component.first))
    return [HostLink(a, b, _time_ns(result, analysis, a, b), fault.ratio) for a, b in ends]


def _time_ns(result: LinkResult, analysis: SliceAnalysis, from_host: int, to_host: int) -> float:
    """Median over the sending ranks of the median of their pairs."""
    host_of = result.host_index
    rows, columns = (np.flatnonzero(host_of == host) for host in (from_host, to_host))
    times = result.read_block(analysis.part, "time_ns_median", rows, columns).astype(np.float32)
    median = float(medians_of_last(medians_of_last(times)[None, :])[0])
    return median if median > 0 else math.nan

# SPDX-License-Identifier: Apache-2.0
"""What the script of a bisection test's page draws from.

{
  "first_size": size_index,
  "sizes": [{"size_index", "bytes", "ebb": {"mean", "half_width"},
             "median": of the connections, "alone": mean of pairs alone, "patterns": COUNTS of their means or null,
             "connections": COUNTS or null, "converged": [[patterns, mean, half_width]],
             "worst": [[step, mean, whether it was gone on from]],
             "hosts": null or what host_matrix.js draws}],
  "host_names", "host_of": by rank, "factors": [[from factor, colour]], "outside": colour of a cell without connections,
  "findings": [{"number", "size_index": null = all, "is_bad", "blocks": as findings.js reads them}],
  "components": {"hosts" and "ranks", where there are such:
    [{"begin", "end", "share", "num", "num_slow", "name", "slow"}]},
  "simulated": null or {"points": [[index, simulated, measured]], "ratio", "unit", "deviating": [index]},
}
COUNTS: {"edges", "counts"}; bytes a second; null = not known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.bisection.analysis import ComponentsAnalysis, SizeAnalysis
from leadline.bisection.connections import SlowCounts
from leadline.bisection.hosts import HostMatrix
from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.model import PatternComparison
from leadline.diagnosis import ToldFault
from leadline.draw.colours import FACTORS, OUTSIDE
from leadline.model import BoolArray, ComponentKind, Fault, FloatArray
from leadline.report.encode import rounded
from leadline.report.faults import MOST_SHOWN
from leadline.report.findings import findings_for_script
from leadline.scan import edge_for

Data = dict[str, Any]

MOST_BARS = 400  # of ranks or hosts
_MOST_BINS, _FEWEST_BINS, _CONNECTION_BINS = 40, 8, 48
_MOST_STEPS = 500
_MOST_POINTS = 3000


def page_of(
    result: BisectionResult,
    sizes: Sequence[SizeAnalysis],
    components: ComponentsAnalysis,
    found: Sequence[ToldFault],
    comparison: PatternComparison | None,
) -> Data:
    """All of it."""
    return {
        "first_size": first_size(sizes),
        "sizes": [_size(one) for one in sizes],
        "components": component_bars(result, components, [place.fault for one in found for place in one.places]),
        "simulated": _simulated(comparison) if comparison else None,
        "host_names": list(result.hosts),
        "host_of": result.host_index.tolist(),
        "factors": [list(one) for one in FACTORS],
        "outside": OUTSIDE,
        "findings": _findings(found[:MOST_SHOWN]),
    }


def _findings(found: Sequence[ToldFault]) -> list[Data]:
    parts = [one.part for one in found]
    return [
        {"number": one["number"], "is_bad": one["is_bad"], "blocks": one["blocks"],
         "size_index": None if one["part"] is None else parts[one["part"]].size_index}
        for one in findings_for_script(found, parts)
    ]  # fmt: skip


def _hosts(matrix: HostMatrix) -> Data:
    return {
        "edge": matrix.edge, "size": len(matrix.share), "num_patterns": matrix.num_patterns,
        "shares": [rounded(share, 3) for share in matrix.share.ravel().tolist()], "num": matrix.num.ravel().tolist(),
    }  # fmt: skip


def first_size(sizes: Sequence[SizeAnalysis]) -> int:
    """The one that is shown first: the largest with random patterns, or with any."""
    order = sorted(sizes, key=lambda one: (len(one.random) > 0, len(one.patterns) > 0, one.message_size_bytes))
    return order[-1].size_index


def _size(one: SizeAnalysis) -> Data:
    converged, steps = one.converged, one.worst
    return {
        "size_index": one.size_index,
        "bytes": one.message_size_bytes,
        "ebb": {"mean": rounded(one.ebb.mean), "half_width": rounded(one.ebb.half_width)},
        "median": rounded(one.speeds.median),
        "alone": rounded(one.baseline.mean),
        "patterns": counts_of_patterns(one),
        "connections": counts_of_connections(one),
        "converged": [
            [int(num), rounded(mean), rounded(half_width)]
            for num, mean, half_width in zip(converged.num.tolist(), converged.mean.tolist(),
                                             converged.half_width.tolist(), strict=True)
        ],
        "worst": _thinned([
            [step + 1, rounded(mean), bool(accepted)]
            for step, mean, accepted in zip(steps.index.tolist(), steps.bytes_per_s_mean.tolist(),
                                            steps.accepted.tolist(), strict=True)
        ]),
        "hosts": _hosts(one.hosts) if one.hosts else None,
    }  # fmt: skip


def _thinned(steps: list[list[Any]]) -> list[list[Any]]:
    """Of many steps those that were gone on from, and every so many of the others."""
    stride = -(-len(steps) // _MOST_STEPS)
    return [step for place, step in enumerate(steps) if step[2] or place % stride == 0] if stride > 1 else steps


def counts_of_patterns(one: SizeAnalysis) -> Data | None:
    """The means of random patterns in equal bins."""
    values = one.random.bytes_per_s_mean
    if not values.size:
        return None
    num_bins = min(max(round(2 * math.sqrt(values.size)), _FEWEST_BINS), _MOST_BINS)
    edges = _edges(float(values.min()), float(values.max()), num_bins)
    return _counts(edges, np.histogram(values, edges)[0])


def counts_of_connections(one: SizeAnalysis) -> Data | None:
    """The connections of random patterns in equal bins of their bandwidth."""
    if not one.speeds.num_pairs:
        return None
    edges = _edges(one.speeds.min, one.speeds.max, _CONNECTION_BINS)
    return _counts(edges, one.connections.speeds.counts(edges))


def _edges(low: float, high: float, num_bins: int) -> FloatArray:
    if low == high:
        low, high = 0.95 * low, 1.05 * high
    edges = np.linspace(low, high, num_bins + 1)
    edges[-1] = high
    return edges


def _counts(edges: FloatArray, counts: np.ndarray) -> Data:
    return {"edges": [rounded(edge) for edge in edges.tolist()], "counts": counts.tolist()}


def component_bars(
    result: BisectionResult, components: ComponentsAnalysis, faults: Sequence[Fault]
) -> dict[str, list[Data]]:
    """Shares of slow connections by host and by rank; of many a bar stands for several and shows the worst. Marked are
    those at fault.
    """
    found: dict[str, list[Data]] = {}
    if not components.of_ranks.num.any():
        return found
    hosts, bad = result.hosts, [one.component for one in faults if one.counts]
    slow_hosts = {hosts[one.first] for one in bad if one.kind in (ComponentKind.HOST, ComponentKind.PORT)}
    slow_ranks = {one.first for one in bad if one.kind is ComponentKind.RANK}
    if 1 < len(hosts) < result.num_ranks:
        found["hosts"] = _bars(components.of_hosts, hosts, np.array([host in slow_hosts for host in hosts]))
    names = [f"rank {one.rank} ({one.host})" for one in result.ranks]
    is_slow = np.array([one.rank in slow_ranks or one.host in slow_hosts for one in result.ranks])
    found["ranks"] = _bars(components.of_ranks, names, is_slow)
    return found


def _bars(counts: SlowCounts, names: Sequence[str], is_slow: BoolArray) -> list[Data]:
    shares = counts.num_slow / np.maximum(counts.num, 1)
    edge = edge_for(len(shares), MOST_BARS)
    bars = []
    for begin in range(0, len(shares), edge):
        end = min(begin + edge, len(shares))
        worst = begin + int(np.argmax(shares[begin:end]))
        num = int(counts.num[worst])
        bars.append({
            "begin": begin, "end": end, "share": rounded(float(shares[worst])) if num else None, "num": num,
            "num_slow": int(counts.num_slow[worst]), "slow": bool(is_slow[begin:end].any()),
            "name": names[worst] if edge == 1 else f"worst of {end - begin}: {names[worst]}",
        })  # fmt: skip
    return bars


def _simulated(comparison: PatternComparison) -> Data:
    num = comparison.num_patterns
    deviating = [one.pattern_index for one in comparison.deviating]
    stride = -(-num // _MOST_POINTS)
    shown = np.unique(np.concatenate([np.arange(0, num, stride),
                                      np.flatnonzero(np.isin(comparison.pattern_index, deviating))]))  # fmt: skip
    columns = (comparison.pattern_index[shown], comparison.simulated[shown], comparison.measured[shown])
    return {
        "points": [
            [index, rounded(simulated), rounded(measured)]
            for index, simulated, measured in zip(*(column.tolist() for column in columns), strict=True)
        ],
        "ratio": rounded(comparison.ratio),
        "unit": "of pairs alone" if comparison.has_baseline else "of the fastest connection",
        "deviating": deviating,
    }

# SPDX-License-Identifier: Apache-2.0
"""The plots of a parallel file test's sheet."""

from __future__ import annotations

from leadline.draw.plots import Axis as Scale
from leadline.draw.plots import nice_values
from leadline.io.analysis import PhaseAnalysis, rest_ns
from leadline.io.data import KIND_COLOURS
from leadline.io.result import IO_TIMES
from leadline.report.paper import ALARM, GREY, Paper
from leadline.report.plot_frame import Area, grid_lines, inside, labels_below, name_above
from leadline.units import bandwidth_unit, plain, time_text, time_unit

_BLUE = "#31688e"
_MOST_ROWS = 24


def kinds_of(one: PhaseAnalysis) -> list[str]:
    """The kinds of time that any rank spent."""
    rows = one.rows
    kinds = [kind for kind in IO_TIMES if (rows.times_ns[kind][rows.has_row] > 0).any()]
    return [*kinds, "rest"] if (rest_ns(rows)[rows.has_row] > 0).any() else kinds


def draw_use(paper: Paper, area: Area, one: PhaseAnalysis, slow: frozenset[int]) -> None:
    """A bar for each rank, of many the slowest: how much of each kind of time. `slow`: whose names stand out."""
    ranks = one.shown_ranks
    if ranks.size > _MOST_ROWS:
        slowest = sorted(ranks.tolist(), key=lambda rank: -float(one.rows.io_ns[rank]))[:_MOST_ROWS]
        shown = sorted(slowest)
    else:
        shown = ranks.tolist()
    num = int(one.rows.has_row.sum())
    unit = time_unit(one.end_ns)
    part = f", the {len(shown)} slowest of {num:,} ranks" if len(shown) < num else ""
    name_above(paper, area, f"{one.phase.name}, {unit.name}{part}")
    left, top = area.x + 14, area.y + 3
    height = (area.height - 8) / max(len(shown), 1)
    across = Scale(0, max(one.end_ns, 1), left, area.x + area.width, False)
    rest = rest_ns(one.rows)
    for row, rank in enumerate(shown):
        y = top + row * height
        if height > 2 or rank in slow:
            paper.text(
                left - 1,
                y + height / 2 + 0.75,
                f"rank {rank}",
                6,
                colour=ALARM if rank in slow else GREY,
                align="right",
            )
        at = float(one.rows.begin_ns[rank])
        for kind in (*IO_TIMES, "rest"):
            time_ns = float(rest[rank] if kind == "rest" else one.rows.times_ns[kind][rank])
            if time_ns > 0:
                width = max(across.at(at + time_ns) - across.at(at), 0.05)
                paper.box(across.at(at), y + 0.15, width, max(height - 0.3, 0.3), fill=KIND_COLOURS[kind], layer=3)
                at += time_ns
    below = Area(left, area.y, area.x + area.width - left, area.height - 5)
    values = nice_values(0, one.end_ns / unit.scale, False, 6)
    labels_below(paper, below, [(across.at(value * unit.scale), plain(value)) for value in values])


def draw_throughput(paper: Paper, area: Area, one: PhaseAnalysis) -> None:
    """Bytes of all ranks over time."""
    rates = [1e9 * num / one.bin_ns for num in one.total.tolist()]
    if not rates:
        return
    unit, length_ns = bandwidth_unit(max(rates)), one.bin_ns * len(rates)
    along = time_unit(length_ns)
    name_above(paper, area, f"{unit.name} over {along.name}")
    inner = inside(Area(area.x, area.y + 1.6, area.width, area.height - 1.6))
    across = Scale(0, length_ns, inner.x, inner.x + inner.width, False)
    up = Scale(0, max(rates) * 1.1, inner.y + inner.height, inner.y, False)
    grid_lines(paper, inner, up, unit.scale)
    for index, rate in enumerate(rates):
        if rate:
            at, end = across.at(index * one.bin_ns), across.at((index + 1) * one.bin_ns)
            paper.box(
                at, up.at(rate), max(end - at - 0.1, 0.2), inner.y + inner.height - up.at(rate), fill=_BLUE, layer=3
            )
    values = nice_values(0, length_ns / along.scale, False, 5)
    labels_below(paper, inner, [(across.at(value * along.scale), plain(value)) for value in values])


def draw_latencies(paper: Paper, area: Area, one: PhaseAnalysis) -> None:
    """Calls by their time, both logarithmic."""
    buckets = [(b["low_ns"] or b["high_ns"] / 2**0.25, b["high_ns"] or b["low_ns"] * 2**0.25, b["num"])
               for b in one.phase.summary.get("latencies") or []]  # fmt: skip
    if not buckets:
        return
    name_above(paper, area, "calls over their time")
    inner = inside(Area(area.x, area.y + 1.6, area.width, area.height - 1.6))
    across = Scale(buckets[0][0], buckets[-1][1], inner.x, inner.x + inner.width, True)
    up = Scale(0.5, max(max(num for *_, num in buckets), 10) * 1.8, inner.y + inner.height, inner.y, True)
    grid_lines(paper, inner, up, 1.0, is_whole=True)
    for low, high, num in buckets:
        at, end = across.at(low), across.at(high)
        paper.box(at, up.at(num), max(end - at - 0.1, 0.2), inner.y + inner.height - up.at(num), fill=_BLUE, layer=3)
    powers = [10.0**power for power in range(14) if buckets[0][0] <= 10.0**power <= buckets[-1][1]]
    labels_below(paper, inner, [(across.at(value), time_text(value, 1)) for value in powers])

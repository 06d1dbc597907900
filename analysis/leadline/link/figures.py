# SPDX-License-Identifier: Apache-2.0
"""The figures of a link test's page: histogram, cumulative distribution, the pairs of each bin, the sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.draw import plots
from leadline.link.analysis import SliceAnalysis
from leadline.link.result import LinkResult, PairClass
from leadline.link.tables import units_of
from leadline.stats.histogram import Histogram, histogram
from leadline.stats.tally import Tally
from leadline.units import bandwidth_unit, middle, time_unit

MOST_PAIRS_OF_BIN = 20
# Pairs listed in bins, of all parts together: half a megabyte.
_MOST_PAIRS_OF_PAGE = 24_000

Curves = dict[PairClass, dict[int, plots.SizePoint]]  # of each class and message size in bytes


@dataclass(frozen=True)
class DistributionFigures:
    """Histogram and cumulative distribution over the same stretch of time."""

    bins: Histogram
    histogram: plots.HistogramFigure
    cumulative: plots.CumulativeFigure


def distribution_figures(result: LinkResult, analysis: SliceAnalysis) -> DistributionFigures:
    """Of the medians of the pairs of each class."""
    unit, _ = units_of(result, analysis)
    groups = {pair_class.value: tally for pair_class, tally in analysis.scan.classes.items()}
    bins = histogram(groups)
    medians_ns = {pair_class.value: numbers.median for pair_class, numbers in analysis.classes.items()}
    figure = plots.histogram_figure(bins, medians_ns, unit)
    return DistributionFigures(bins, figure, plots.cumulative_figure(groups, bins, unit, figure.height))


def bins_for_script(analysis: SliceAnalysis, bins: Histogram, num_parts: int, has_pairs: bool) -> dict[str, Any]:
    """The edges of the bins in ns, and for every class its counts and [bin, [[from, to, ns], ...]], the slowest pairs
    of a bin first; those only where the page has no server to ask.
    """
    num_bins = len(bins.edges) - 1
    most = min(max(_MOST_PAIRS_OF_PAGE // (num_parts * num_bins * max(len(bins.counts), 1)), 3), MOST_PAIRS_OF_BIN)
    classes = {}
    for pair_class in analysis.scan.classes:
        pairs = _pairs_of_bins(analysis, pair_class, bins, most) if has_pairs else []
        classes[pair_class.value] = {"counts": bins.counts[pair_class.value].tolist(), "pairs": pairs}
    return {"edges_ns": [float(f"{edge:.9g}") for edge in bins.edges], "classes": classes}


def _pairs_of_bins(analysis: SliceAnalysis, pair_class: PairClass, bins: Histogram, most: int) -> list[Any]:
    scan = analysis.scan
    cells = {
        (cell.from_rank, cell.to_rank): cell.time_ns
        for cell in (*scan.examples.get(pair_class, ()), *scan.slowest.get(pair_class, ()))
    }
    ordered = sorted(cells.items(), key=lambda item: (-item[1], item[0]))
    places = np.searchsorted(bins.edges, [time_ns for _, time_ns in ordered], side="right") - 1
    found: dict[int, list[Any]] = {}
    for ((from_rank, to_rank), time_ns), place in zip(ordered, places.tolist(), strict=True):
        of_bin = found.setdefault(min(max(place, 0), len(bins.edges) - 2), [])
        if len(of_bin) < most:
            of_bin.append([from_rank, to_rank, float(f"{time_ns:.6g}")])
    return [[place, found[place]] for place in sorted(found)]


class Sweep:
    """Collects the distributions of all slices, one after the other, for the curves over message size."""

    def __init__(self) -> None:
        """Begins with none."""
        self._tallies: dict[tuple[int, PairClass], Tally] = {}

    def add(self, analysis: SliceAnalysis) -> None:
        """A slice; all repeats of a size count together."""
        for pair_class, tally in analysis.scan.classes.items():
            self._tallies.setdefault((analysis.part.message_size_bytes, pair_class), Tally()).merge(tally)

    def times(self) -> Curves:
        """In ns, of all sizes that were measured; nothing where there is one size only."""
        if len({size for size, _ in self._tallies}) < 2:
            return {}
        curves: Curves = {one: {} for one in PairClass if any(pair_class is one for _, pair_class in self._tallies)}
        for size, pair_class in sorted(self._tallies, key=lambda key: key[0]):
            point = plots.spread(self._tallies[size, pair_class].distribution())
            if point.middle > 0:
                curves[pair_class][size] = point
        return curves

    def figures(self, result: LinkResult) -> list[plots.CurveFigure]:
        """Latency and bandwidth over message size; nothing where there is one size only."""
        sizes, times = sorted({size for size, _ in self._tallies}), self.times()
        speeds = speeds_of(result, times)
        unit, speed_unit = time_unit(middle_of(times)), bandwidth_unit(middle_of(speeds))
        return [
            plots.curve_figure(title, one, sizes, {pair_class.value: rows for pair_class, rows in curves.items()})
            for title, one, curves in (
                (f"time of a message in {unit.name}", unit, times),
                (f"bandwidth in {speed_unit.name}", speed_unit, speeds),
            )
            if times
        ]


def speeds_of(result: LinkResult, times: Curves) -> Curves:
    """The spread of times as bandwidths in bytes/s: what is slow in one is low in the other."""
    return {
        pair_class: {
            size: plots.SizePoint(
                *(float(result.bandwidth_bytes_per_s(t, size)) for t in (row.middle, row.high, row.low, row.fastest))
            )
            for size, row in rows.items()
            if size > 0
        }
        for pair_class, rows in times.items()
    }


def middle_of(curves: Curves) -> float:
    """The middle of a logarithmic axis, for its unit."""
    return middle(row.middle for rows in curves.values() for row in rows.values())

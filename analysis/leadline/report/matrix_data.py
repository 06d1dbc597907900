# SPDX-License-Identifier: Apache-2.0
"""Ranks, hosts and matrices as the scripts of pages read them.

MATRIX: {"positions": P (ranks or hosts along a side), "edge": E (positions along a side of a cell),
  "size": G = ceil(P/E),
  "ranges": {statistic: {"low", "high", "logarithmic", "below", "above", "min", "max"} or null where there is no time},
  "pictures": {statistic: {"worst": CODES, "median": CODES or absent where it is left out or a cell is one pair,
               "worst_from", "worst_to": INTS, which of the cell's ranks, in their order along the axis, are the worst
               pair; only where a cell has several pairs}},
  "missing": INTS, pairs of the cell to measure without a time; absent where none is,
  "measured": INTS, pairs of the cell with a time; absent where these are all but the missing ones,
  "counts": INTS, batches of each pair, "rounds": INTS, round of each pair: only where a cell is one pair}
CODES, INTS: {"data": base64 of deflated (zlib) planes: all low bytes, then all high bytes of G*G uint16, "low", "step"}
  CODES: 0 = no time; c > 0: time_ns = low * exp((c - 1) * step).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.draw.colours import page_colours
from leadline.model import IntArray, RunResult, Statistic
from leadline.report.encode import FINE_STEP, Packed, packed_ints, packed_times
from leadline.scan import AxisName, Grid, Picture, picture_range
from leadline.scan.picture import is_reduced, shown

# Bytes of matrices that a page carries, before base64: 5 MB of HTML up to so many ranks, and 8 MB beyond.
BUDGET_BYTES = 3_400_000
LARGEST_PICTURE = 1024  # cells on a side
SMALLEST_PICTURE = 64


def data_of_ranks(result: RunResult) -> dict[str, Any]:
    """What a page says of ranks and hosts, and the colours."""
    host_of = result.host_index
    sockets = [place.numa_node for place in result.ranks]
    page: dict[str, Any] = {
        "num_ranks": result.num_ranks,
        "hosts": list(result.hosts),
        "host_of": host_of.tolist(),
        "socket_of": sockets if any(socket >= 0 for socket in sockets) else None,
        "colours": page_colours(),
    }
    if is_other_order(result):
        page["order_by_host"] = np.argsort(host_of, kind="stable").tolist()
    return page


def is_other_order(result: RunResult) -> bool:
    """Whether ranks ordered by their hosts stand elsewhere than by their numbers."""
    return bool((np.diff(result.host_index) < 0).any())


def matrix_data(found: dict[Statistic, Picture], first_statistic: Statistic, step: float) -> dict[str, Any]:
    """One matrix from the pictures of its statistics; `step` is that of the logarithm of a time."""
    first = found[first_statistic]
    grid = first.grid
    matrix: dict[str, Any] = {
        "positions": grid.axis.num_positions, "edge": grid.edge, "size": grid.size, "ranges": {}, "pictures": {},
    }  # fmt: skip
    has_several = grid.edge > 1 or grid.axis.name is AxisName.HOSTS
    for statistic, picture in found.items():
        matrix["ranges"][statistic.value] = range_of(picture)
        packed = {"worst": packed_times(picture.worst, step)}
        if has_several:
            packed |= _places(picture)
        # The median of maxima is little use, and half a picture.
        is_wanted = statistic is first_statistic or step == FINE_STEP
        if has_several and is_wanted and np.isfinite(picture.median).any():
            packed["median"] = packed_times(picture.median, step)
        matrix["pictures"][statistic.value] = {key: value.fields for key, value in packed.items()}
    if first.num_missing.any():
        matrix["missing"] = packed_ints(first.num_missing).fields
    if has_several and ((first.num_measured + first.num_missing) != _num_pairs(grid)).any():
        matrix["measured"] = packed_ints(first.num_measured).fields
    return matrix


def _ranks_along(grid: Grid) -> tuple[IntArray, IntArray]:
    """Place of every rank along the axis, int64 [N], and the place at which every cell begins, int64 [G + 1]."""
    order = np.argsort(grid.axis.position_of, kind="stable")
    place_of = np.empty_like(order)
    place_of[order] = np.arange(order.size)
    begins = np.searchsorted(grid.axis.position_of[order], np.arange(grid.size + 1) * grid.edge)
    return place_of, begins


def _num_pairs(grid: Grid) -> IntArray:
    """Pairs of different ranks in each cell, int64 [G, G]."""
    num_ranks: IntArray = np.diff(_ranks_along(grid)[1])
    num_pairs: IntArray = num_ranks[:, None] * num_ranks[None, :] - np.diag(num_ranks)
    return num_pairs


def _places(picture: Picture) -> dict[str, Packed]:
    place_of, begins = _ranks_along(picture.grid)
    there = picture.worst_from >= 0
    row_begins, column_begins = begins[:-1, None], begins[None, :-1]
    return {
        "worst_from": packed_ints(np.where(there, place_of[picture.worst_from] - row_begins, 0)),
        "worst_to": packed_ints(np.where(there, place_of[picture.worst_to] - column_begins, 0)),
    }


def range_of(picture: Picture) -> dict[str, Any] | None:
    """The range of a picture's colours, which stays the same at every zoom, and the ends of all its times."""
    values = shown(picture)
    if not values.size:
        return None
    span = picture_range(picture)
    least = picture.values.distribution().min if is_reduced(picture) else float(values.min())
    return {"low": span.low, "high": span.high, "logarithmic": span.logarithmic, "below": span.num_below,
            "above": span.num_above, "min": least, "max": float(values.max())}  # fmt: skip

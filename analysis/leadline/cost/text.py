# SPDX-License-Identifier: Apache-2.0
"""What a pattern costs, as plain text: the cost, who has most of it, a better placement."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from leadline.cost.model import PairCost, PatternCost, Placement
from leadline.units import bytes_text, in_unit, time_text, time_unit

# A saving below this is not worth a sentence: repeats of a measurement differ by more.
_LEAST_SAVING = 0.005


def cost_lines(cost: PatternCost, num_slowest: int) -> list[str]:
    """What the pattern costs; the pairs that were asked for, and as many of the slowest ranks."""
    return [*_head(cost), *_pair_table(cost), *_rank_table(cost, num_slowest)]


def placement_lines(placement: Placement) -> list[str]:
    """What a better placement costs, and how good it is."""
    num_moved = int(np.sum(placement.place_of_rank != np.arange(len(placement.place_of_rank))))
    if placement.saving < _LEAST_SAVING:
        text = "no placement is better" if placement.is_best else "no better placement was found"
        gain = "" if placement.saving <= 0 else f" by more than {100 * placement.saving:.2f} %"
        return [f"{text}{gain} ({_effort(placement)})"]
    return [
        f"better placement: {time_text(placement.cost_ns)}, {100 * placement.saving:.1f} % less, with "
        f"{num_moved:,} of {len(placement.place_of_rank):,} ranks elsewhere ({_effort(placement)})"
    ]


def no_placement_line(reason: str) -> str:
    """Why there is none."""
    return f"no search for a better placement: {reason}"


def _head(cost: PatternCost) -> list[str]:
    hosts = list(dict.fromkeys(cost.hosts))
    where = f"on {shown(hosts[0])}" if len(hosts) == 1 else f"on {len(hosts):,} hosts"
    sizes = " and ".join(bytes_text(size) for size in cost.message_sizes_bytes[:2])
    if len(cost.message_sizes_bytes) > 2:
        first, last = (bytes_text(cost.message_sizes_bytes[index]) for index in (0, -1))
        sizes = f"{first} to {last}"
    stages = "1 stage" if cost.num_stages == 1 else f"{cost.num_stages:,} stages"
    messages = f"{cost.num_messages:,} {'message' if cost.num_messages == 1 else 'messages'} of {sizes}"
    direction = "" if cost.direction == "semidirectional" else f", {cost.direction}"
    lines = [
        f"{shown(cost.pattern)}, {cost.num_ranks:,} ranks {where}: {messages} in {stages}; {cost.statistic} of each "
        f"pair{direction}",
        f"cost: {'at least ' if cost.is_lower_bound else ''}{time_text(cost.cost_ns)}",
    ]
    if cost.is_lower_bound:
        verb = "was" if cost.num_unmeasured_pairs == 1 else "were"
        lines.append(f"{cost.num_unmeasured_pairs:,} of its {cost.num_pairs:,} pairs {verb} not measured and count 0")
    busy, unit = cost.busy_ns, time_unit(float(cost.busy_ns.max()))
    least, mean, greatest = (in_unit(float(one), unit) for one in (busy.min(), busy.mean(), busy.max()))
    lines.append(f"busy time of the ranks: {least} to {greatest} {unit.name}, {mean} {unit.name} on average")
    return lines


def _pair_table(cost: PatternCost) -> list[str]:
    if not cost.pairs:
        return []
    unit = time_unit(max(pair.total_ns for pair in cost.pairs))
    rows = [("from", "to", "hosts", "messages", f"each, {unit.name}", f"all, {unit.name}", "of the cost")]
    for pair in cost.pairs:
        share = f"{100 * pair.in_cost_ns / cost.cost_ns:.1f} %" if pair.in_cost_ns > 0 else "–"
        several = f" of {bytes_text(pair.message_size_bytes)}" if len(cost.message_sizes_bytes) > 1 else ""
        times = in_unit(pair.time_ns, unit), in_unit(pair.total_ns, unit)
        ends = str(pair.from_rank), str(pair.to_rank), _hosts(cost, pair)
        rows.append((*ends, f"{pair.num_messages:,}{several}", *times, share))
    return ["pairs with most of the cost:", *_table(rows, ">><>>>>")]


def _rank_table(cost: PatternCost, num_slowest: int) -> list[str]:
    if num_slowest == 0:
        return []
    unit = time_unit(float(cost.busy_ns.max()))
    counts = np.bincount(cost.stage_rank, minlength=cost.num_ranks)
    rows = [("rank", "host", f"sends, {unit.name}", f"receives, {unit.name}", "slowest in")]
    for rank in np.argsort(-cost.busy_ns, kind="stable")[:num_slowest].tolist():
        times = in_unit(float(cost.send_ns[rank]), unit), in_unit(float(cost.receive_ns[rank]), unit)
        stages = f"{counts[rank]:,} of {cost.num_stages:,}" if counts[rank] else "–"
        rows.append((str(rank), shown(cost.hosts[rank]), *times, stages))
    return ["busiest ranks:", *_table(rows, "><>>>")]


def _effort(placement: Placement) -> str:
    if placement.is_best:
        what = "all were tried" if placement.stopped_by == "all tried" else "it reaches the lower bound"
        return f"the optimum: {what}"
    late = "; the time limit was reached" if placement.stopped_by == "time limit" else ""
    bound = "" if math.isnan(placement.bound_ns) else f"; lower bound {time_text(placement.bound_ns)}"
    return f"{placement.num_tried:,} swaps tried, seed {placement.seed}{late}{bound}"


def _hosts(cost: PatternCost, pair: PairCost) -> str:
    from_host, to_host = (shown(cost.hosts[rank]) for rank in (pair.from_rank, pair.to_rank))
    return (
        f"inside {from_host}" if cost.hosts[pair.from_rank] == cost.hosts[pair.to_rank] else f"{from_host} → {to_host}"
    )


def shown(name: str) -> str:
    """A name from a file, without letters that a terminal would obey."""
    return "".join(letter if letter.isprintable() else "�" for letter in name)


def _table(rows: Sequence[tuple[str, ...]], sides: str) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(sides))]
    return [
        "  " + "  ".join(f"{word:{side}{width}}" for word, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    ]

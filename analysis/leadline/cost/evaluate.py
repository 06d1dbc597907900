# SPDX-License-Identifier: Apache-2.0
"""What a pattern costs with every rank where it was measured (docs/metrics.md, "Cost of a pattern")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leadline.cost.model import PairCost, PatternCost
from leadline.cost.pattern import Messages, Pattern
from leadline.cost.times import MeasuredTimes, Progress
from leadline.error import ExitStatus, LeadlineError
from leadline.link.result import LinkResult
from leadline.model import BoolArray, FloatArray, IntArray

SEND, RECEIVE = 0, 1


def pattern_cost(
    result: LinkResult, pattern: Pattern, times: MeasuredTimes, top: int = 10, progress: Progress | None = None
) -> PatternCost:
    """The cost, and the `top` pairs that have most of it. Memory grows with ranks and messages of the pattern, not with
    the pairs of the matrix, all-to-all included. LeadlineError where no pair that it uses was measured.
    """
    if pattern.messages is None:
        parts = _cost_of_all_to_all(times, progress)
    else:
        parts = _cost_of_messages(pattern, times, top, progress)
    if parts.num_unmeasured == parts.num_pairs:
        raise LeadlineError(
            f"cannot tell the cost of {pattern.name}", "none of the pairs that it uses was measured",
            "Measure all pairs", ExitStatus.RUN_FAILED,
        )  # fmt: skip
    return PatternCost(
        pattern=pattern.name,
        hosts=tuple(place.host for place in result.ranks),
        message_sizes_bytes=tuple(part.message_size_bytes for part in times.parts),
        repeat=times.parts[0].repeat,
        statistic=times.statistic,
        direction=result.provenance.direction,
        num_messages=pattern.num_messages,
        num_pairs=parts.num_pairs,
        num_unmeasured_pairs=parts.num_unmeasured,
        stage_ns=parts.stage_ns,
        stage_rank=parts.stage_rank,
        send_ns=parts.send_ns,
        receive_ns=parts.receive_ns,
        pairs=tuple(parts.pairs[:top]),
        result_nonce=result.nonce,
    )


@dataclass(frozen=True)
class _Parts:
    """Of a PatternCost what comes from the matrix."""

    stage_ns: FloatArray
    stage_rank: IntArray
    send_ns: FloatArray
    receive_ns: FloatArray
    pairs: list[PairCost]
    num_pairs: int
    num_unmeasured: int


def rank_loads(pattern: Pattern, total_ns: FloatArray) -> FloatArray:
    """[S, 2, N]: in every stage the sum of what each rank sends, and of what it receives. `total_ns` is of all messages
    of each entry, [M].
    """
    messages = pattern.messages
    assert messages is not None, "all-to-all has its own way"
    loads = np.empty((pattern.num_stages, 2, pattern.num_ranks))
    for side, rank in ((SEND, messages.from_rank), (RECEIVE, messages.to_rank)):
        cell = messages.stage * pattern.num_ranks + rank
        sums = np.bincount(cell, total_ns, pattern.num_stages * pattern.num_ranks)
        loads[:, side] = sums.reshape(pattern.num_stages, pattern.num_ranks)
    return loads


def _cost_of_messages(pattern: Pattern, times: MeasuredTimes, top: int, progress: Progress | None) -> _Parts:
    messages = pattern.messages
    assert messages is not None
    time_ns = times.of(messages, progress)
    total_ns = np.where(np.isnan(time_ns), 0.0, time_ns * messages.count)
    loads = rank_loads(pattern, total_ns)
    flat = loads.reshape(pattern.num_stages, -1)
    slowest = flat.argmax(axis=1)
    side, rank = np.divmod(slowest, pattern.num_ranks)
    ends = np.where(side[messages.stage] == SEND, messages.from_rank, messages.to_rank)
    in_cost = np.where(ends == rank[messages.stage], total_ns, 0.0)
    pair = messages.from_rank * pattern.num_ranks + messages.to_rank
    return _Parts(
        stage_ns=flat[np.arange(pattern.num_stages), slowest],
        stage_rank=rank,
        send_ns=loads[:, SEND].sum(axis=0),
        receive_ns=loads[:, RECEIVE].sum(axis=0),
        pairs=_top_pairs(messages, times, time_ns, in_cost, top),
        num_pairs=len(np.unique(pair)),
        num_unmeasured=len(np.unique(pair[np.isnan(time_ns)])),
    )


def _top_pairs(
    messages: Messages, times: MeasuredTimes, time_ns: FloatArray, in_cost: FloatArray, top: int
) -> list[PairCost]:
    """Pairs by what they have of the cost, then by their own time; messages of several stages together."""
    size_index = times.size_index(messages)
    keys = np.column_stack((messages.from_rank, messages.to_rank, size_index))
    keys, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    count = np.bincount(inverse, messages.count, len(keys))
    cost = np.bincount(inverse, in_cost, len(keys))
    one = time_ns[first]
    total = np.where(np.isnan(one), 0.0, one * count)
    order = np.lexsort((keys[:, 1], keys[:, 0], -total, -cost))[:top]
    return [
        PairCost(
            from_rank=int(keys[index, 0]),
            to_rank=int(keys[index, 1]),
            message_size_bytes=times.parts[keys[index, 2]].message_size_bytes,
            num_messages=int(count[index]),
            time_ns=float(one[index]),
            total_ns=float(total[index]),
            in_cost_ns=float(cost[index]),
        )
        for index in order.tolist()
        if not np.isnan(one[index])
    ]


def _cost_of_all_to_all(times: MeasuredTimes, progress: Progress | None) -> _Parts:
    """Row by row: each pair meets in one stage, so a stage is as long as its slowest pair, and no rank has two."""
    num_ranks, part = times.result.num_ranks, times.parts[0]
    stage_ns, stage_from = np.full(num_ranks - 1, -1.0), np.zeros(num_ranks - 1, dtype=np.int64)
    send_ns, receive_ns = np.zeros(num_ranks), np.zeros(num_ranks)
    num_unmeasured = 0
    for first, rows in times.result.row_blocks(part, times.dataset):
        for rank, row in enumerate(rows, start=first):
            # The next rank first, itself last; then without itself.
            in_order = np.roll(np.asarray(row, dtype=np.float64), -(rank + 1))[:-1]
            is_missing: BoolArray = np.isnan(in_order)
            num_unmeasured += int(is_missing.sum())
            in_order[is_missing] = 0.0
            is_slower = in_order > stage_ns
            stage_ns[is_slower], stage_from[is_slower] = in_order[is_slower], rank
            send_ns[rank] = in_order.sum()
            receive_ns += np.roll(np.append(in_order, 0.0), rank + 1)
        if progress:
            progress((first + len(rows)) / num_ranks)
    pairs = [
        PairCost(sender, (sender + stage + 1) % num_ranks, part.message_size_bytes, 1, time, time, time)
        for stage, (sender, time) in enumerate(zip(stage_from.tolist(), stage_ns.tolist(), strict=True))
        if time > 0
    ]
    pairs.sort(key=lambda pair: (-pair.in_cost_ns, pair.from_rank, pair.to_rank))
    num_pairs = num_ranks * (num_ranks - 1)
    return _Parts(stage_ns, stage_from, send_ns, receive_ns, pairs, num_pairs, num_unmeasured)

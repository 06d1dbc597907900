# SPDX-License-Identifier: Apache-2.0
"""What patterns cost, against sums that are written out, and better placements, against all there are."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import NODES, MadeUp, few_rounds, partial, sweep, times_of, two_hosts, write_result
from leadline.cost import (
    Pattern,
    all_to_all,
    better_placement,
    halo,
    measured_times,
    messages_of,
    parse_pattern,
    pattern_cost,
    ring,
    tree,
    why_no_placement,
)
from leadline.cost.board import Board
from leadline.cost.bound import cost_bound
from leadline.cost.model import PatternCost
from leadline.cost.placement import search
from leadline.cost.starts import starts
from leadline.error import LeadlineError
from leadline.link.reader import load_link
from leadline.link.result import LinkResult
from leadline.model import FloatArray


def loaded(tmp_path: Path, made: MadeUp) -> LinkResult:
    return load_link(write_result(tmp_path / "run.h5", made))


def made_of(times: np.ndarray) -> MadeUp:
    return MadeUp([f"n{rank // 2}" for rank in range(len(times))], [[times]])


def some_times(num_ranks: int, seed: int) -> np.ndarray:
    return times_of([f"n{rank // 2}" for rank in range(num_ranks)], seed)


def cost_of(result: LinkResult, pattern: Pattern, top: int = 10) -> PatternCost:
    return pattern_cost(result, pattern, measured_times(result, pattern), top)


def written_out(pattern: Pattern, times: np.ndarray, place: tuple[int, ...] | None = None) -> float:
    """The definition, message by message."""
    place = place or tuple(range(pattern.num_ranks))
    loads: dict[tuple[int, str, int], float] = {}
    for stage, sender, to, count in stages_of(pattern):
        time = count * times[place[sender], place[to]]
        for end in (("sends", sender), ("receives", to)):
            loads[(stage, *end)] = loads.get((stage, *end), 0.0) + time
    return sum(
        max((load for (of, *_), load in loads.items() if of == stage), default=0) for stage in range(pattern.num_stages)
    )


def stages_of(pattern: Pattern) -> list[tuple[int, int, int, int]]:
    num = pattern.num_ranks
    if pattern.messages is None:
        return [(step - 1, rank, (rank + step) % num, 1) for step in range(1, num) for rank in range(num)]
    some = pattern.messages
    columns = (some.stage, some.from_rank, some.to_rank, some.count)
    return list(zip(*(column.tolist() for column in columns), strict=True))


PATTERNS = [ring(6), halo((3, 2)), halo((3, 2), True), all_to_all(6), tree(6), tree(6, 2), tree(6, 5)]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_the_cost_is_as_defined(tmp_path: Path, pattern: Pattern):
    times = some_times(6, 3)
    cost = cost_of(loaded(tmp_path, made_of(times)), pattern, 1000)
    assert cost.cost_ns == pytest.approx(written_out(pattern, times))
    sent, received = np.zeros(6), np.zeros(6)
    for _, sender, to, count in stages_of(pattern):
        sent[sender] += count * times[sender, to]
        received[to] += count * times[sender, to]
    np.testing.assert_allclose(cost.send_ns, sent)
    np.testing.assert_allclose(cost.receive_ns, received)
    assert cost.busy_ns.max() <= cost.cost_ns * (1 + 1e-12)
    assert sum(pair.in_cost_ns for pair in cost.pairs) == pytest.approx(cost.cost_ns)
    assert cost.num_messages == sum(count for *_, count in stages_of(pattern))
    assert not cost.is_lower_bound
    for pair in cost.pairs:
        assert pair.time_ns == times[pair.from_rank, pair.to_rank]
        assert pair.total_ns == pytest.approx(pair.time_ns * pair.num_messages)


def test_the_pairs_that_make_the_cost_come_first(tmp_path: Path):
    cost = cost_of(loaded(tmp_path, two_hosts()), all_to_all(8))
    assert (cost.pairs[0].from_rank, cost.pairs[0].to_rank) == (2, 6)
    assert cost.stage_rank[3] == 2
    assert [pair.in_cost_ns for pair in cost.pairs] == sorted((one.in_cost_ns for one in cost.pairs), reverse=True)
    halos = cost_of(loaded(tmp_path, two_hosts()), halo((2, 4)), 3)
    assert len(halos.pairs) == 3
    assert all(pair.in_cost_ns > 0 for pair in halos.pairs)


def test_sizes_of_their_own(tmp_path: Path):
    result = loaded(tmp_path, sweep())
    path = tmp_path / "messages"
    path.write_text("0 1 2 8\n0 1 1 1MiB\n4 5\n")
    pattern = parse_pattern(str(path), 8)
    times = measured_times(result, pattern, "64KiB", 1)
    cost = pattern_cost(result, pattern, times)
    small, middle, large = (result.matrix(result.slice(size, 1)) for size in (8, 65536, 1 << 20))
    assert cost.message_sizes_bytes == (8, 65536, 1 << 20)
    assert cost.send_ns[0] == pytest.approx(2 * small[0, 1] + large[0, 1])
    assert cost.send_ns[4] == pytest.approx(middle[4, 5])
    assert cost.num_pairs == 2
    assert cost.repeat == 1
    fastest = pattern_cost(result, pattern, measured_times(result, pattern, 65536, 1, "min"))
    assert fastest.cost_ns == pytest.approx(0.9 * cost.cost_ns)
    assert better_placement(pattern, cost, times).cost_ns <= cost.cost_ns
    path.write_text("0 1 2 8\n")
    own = parse_pattern(str(path), 8)
    with pytest.raises(LeadlineError, match="every message of the pattern has its own"):
        measured_times(result, own, "64KiB", 0)
    path.write_text("0 1 2 16\n")
    with pytest.raises(LeadlineError, match="no message size 16 B"):
        measured_times(result, parse_pattern(str(path), 8), None, 0)


def test_what_is_not_clear_is_refused(tmp_path: Path):
    result = loaded(tmp_path, sweep())
    for words, says in (
        (("1KiB", None), "several repeats"),
        ((None, 0), "several message sizes"),
        (("1KiB", 2), "no such repeat"),
        (("2KiB", 0), "no message size 2 KiB"),
        (("x", 0), "is no size"),
        (("1KiB", 0, "middle"), "no statistic middle"),
    ):
        with pytest.raises(LeadlineError, match=says):
            measured_times(result, ring(8), *words)
    with pytest.raises(LeadlineError, match="a pattern of 7 ranks"):
        measured_times(result, ring(7), "1KiB", 0)


def test_pairs_without_a_time(tmp_path: Path):
    result = loaded(tmp_path, partial())
    times = measured_times(result, ring(8), 8)
    cost = pattern_cost(result, ring(8), times)
    assert (cost.num_unmeasured_pairs, cost.num_pairs, cost.is_lower_bound) == (1, 8, True)
    assert cost.send_ns[3] == 0
    assert "without a time" in why_no_placement(ring(8), cost, times)
    with pytest.raises(LeadlineError, match="without a time"):
        better_placement(ring(8), cost, times)
    everyone = pattern_cost(result, all_to_all(8), times)
    assert everyone.num_unmeasured_pairs == int(np.isnan(result.matrix(times.parts[0])).sum()) - 8
    with pytest.raises(LeadlineError, match="none of the pairs that it uses was measured"):
        pattern_cost(result, ring(8), measured_times(result, ring(8), 1024))


def test_stages_without_a_time(tmp_path: Path):
    """Two rounds are no whole stage of all-to-all."""
    made = few_rounds()
    result = loaded(tmp_path, made)
    cost = pattern_cost(result, all_to_all(8), measured_times(result, all_to_all(8), None, 0))
    assert cost.num_unmeasured_pairs == 56 - 16
    assert sum(pair.in_cost_ns for pair in cost.pairs) == pytest.approx(cost.cost_ns)
    assert all(np.isfinite(pair.time_ns) and pair.time_ns > 0 for pair in cost.pairs)


patterns = st.one_of(
    st.builds(ring, st.integers(2, 6)),
    st.builds(tree, st.integers(2, 6), st.sampled_from([None, 2, 3])),
    st.builds(halo, st.sampled_from([(2, 2), (3, 2), (2, 3), (5, 1)]), st.booleans()),
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 1), st.integers(1, 9)).filter(
            lambda one: one[0] != one[1]
        ),
        min_size=1,
    ).map(
        lambda some: Pattern(
            "some", 6, 2, messages_of(*([one[i] for one in some] for i in (0, 1)), [one[2] for one in some],
                                      [one[3] for one in some])
        )
    ),
)  # fmt: skip


def matrix(num_ranks: int, seed: int) -> FloatArray:
    times = np.random.default_rng(seed).gamma(2, 1000, (num_ranks, num_ranks))
    np.fill_diagonal(times, np.nan)
    return times


@settings(max_examples=40)
@given(patterns, st.integers(0, 1000))
def test_the_best_of_few_ranks_is_the_best_of_all(pattern: Pattern, seed: int):
    num = pattern.num_ranks
    times = matrix(num, seed)
    assert pattern.messages is not None
    found = search(pattern, np.zeros(len(pattern.messages), dtype=int), times[None], np.zeros(num, dtype=int))
    least = min(written_out(pattern, times, place) for place in itertools.permutations(range(num)))
    assert found.cost_ns == pytest.approx(least)
    assert found.cost_ns == pytest.approx(written_out(pattern, times, tuple(found.place_of_rank.tolist())))
    assert found.identity_ns == pytest.approx(written_out(pattern, times))
    assert found.is_best
    assert cost_bound(pattern, times) <= least * (1 + 1e-12)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([ring(12), halo((4, 3)), halo((3, 2, 2), True), tree(12), tree(12, 3)]))
def test_what_a_swap_would_do_is_what_it_does(seed: int, pattern: Pattern):
    random = np.random.default_rng(seed)
    times = matrix(12, seed)
    times[np.isnan(times)] = 1e6
    assert pattern.messages is not None
    board = Board(pattern, np.zeros(len(pattern.messages), dtype=int), times[None], random.permutation(12))
    one = int(random.integers(12))
    others = np.delete(np.arange(12), one)
    swapped = board.try_swaps(one, others)
    for other, cost_ns, rough in zip(others.tolist(), swapped.cost_ns, swapped.roughness, strict=True):
        board.swap(one, other)
        assert board.cost_ns == pytest.approx(cost_ns)
        assert board.roughness == pytest.approx(rough)
        assert board.cost_ns == pytest.approx(written_out(pattern, times, tuple(board.place.tolist())))
        board.swap(one, other)


def test_more_touched_loads_than_are_at_hand():
    """In a star each swap of the centre touches all loads."""
    num = 90
    star = Pattern("star", num, 1, messages_of([0] * (num - 1), range(1, num)))
    pairs = [(rank, rank + 1) for rank in range(1, num - 1)]
    both = Pattern("both", num, 2, messages_of(
        [0] * (num - 1) + [one for one, _ in pairs], [*range(1, num), *(other for _, other in pairs)],
        [0] * (num - 1) + [1] * len(pairs)))  # fmt: skip
    times = matrix(num, 5)
    times[np.isnan(times)] = 1e6
    for pattern in (star, both):
        assert pattern.messages is not None
        board = Board(pattern, np.zeros(len(pattern.messages), dtype=int), times[None], np.arange(num))
        swapped = board.try_swaps(0, np.array([1, 50, 89]))
        for other, cost_ns in zip((1, 50, 89), swapped.cost_ns, strict=True):
            board.swap(0, other)
            assert board.cost_ns == pytest.approx(cost_ns)
            board.swap(0, other)


def cyclic_times(num_hosts: int, per_host: int) -> tuple[FloatArray, np.ndarray]:
    """Ranks dealt out to hosts one by one; inside a host four times as fast."""
    host = np.arange(num_hosts * per_host) % num_hosts
    times = np.where(host[:, None] == host[None, :], 500.0, 2000.0)
    np.fill_diagonal(times, np.nan)
    return times, host


@pytest.mark.parametrize("seed", [1, 2])
def test_neighbours_come_together(seed: int):
    """A halo of 8 x 8 on hosts of four: in blocks of 2 x 2 inner ranks have two neighbours outside."""
    times, host = cyclic_times(16, 4)
    pattern = halo((8, 8))
    assert pattern.messages is not None
    index = np.zeros(len(pattern.messages), dtype=int)
    found = search(pattern, index, times[None], host, seed, 20_000)
    assert found.identity_ns == 4 * 2000
    assert found.cost_ns == 2 * 500 + 2 * 2000
    assert sorted(found.place_of_rank.tolist()) == list(range(64))
    assert found.cost_ns == written_out(pattern, times, tuple(found.place_of_rank.tolist()))
    again = search(pattern, index, times[None], host, seed, 20_000)
    assert again.place_of_rank.tolist() == found.place_of_rank.tolist()
    assert again.num_tried == found.num_tried >= 20_000
    assert found.stopped_by == "effort"


def test_a_search_ends_where_nothing_can_be_better():
    times = np.where(np.eye(20, dtype=bool), np.nan, 1000.0)
    found = search(ring(20), np.zeros(20, dtype=int), times[None], np.arange(20))
    assert (found.is_best, found.stopped_by, found.saving, found.bound_ns) == (True, "bound", 0, 1000)
    assert found.place_of_rank.tolist() == list(range(20))


def test_a_search_ends_when_the_time_is_over():
    found = search(ring(20), np.zeros(20, dtype=int), matrix(20, 1)[None], np.arange(20), time_limit_s=1e-9)
    assert found.stopped_by == "time limit"
    assert found.cost_ns <= found.identity_ns


def test_no_rank_goes_where_a_pair_has_no_time():
    """Ranks of three hosts whose last four pairs are unknown, as after a broken run."""
    times = matrix(12, 3)
    for one, other in ((0, 7), (7, 0), (3, 9), (10, 2)):
        times[one, other] = np.nan
    pattern = halo((4, 3))
    assert pattern.messages is not None
    found = search(pattern, np.zeros(len(pattern.messages), dtype=int), times[None], np.arange(12), effort=5000)
    assert np.isfinite(written_out(pattern, times, tuple(found.place_of_rank.tolist())))


@settings(max_examples=20)
@given(st.integers(9, 24), st.integers(0, 100))
def test_a_search_never_makes_it_worse(num_ranks: int, seed: int):
    times = matrix(num_ranks, seed)
    pattern = tree(num_ranks)
    index, host = np.zeros(num_ranks - 1, dtype=int), np.arange(num_ranks) // 3
    found = search(pattern, index, times[None], host, seed, 2000)
    assert sorted(found.place_of_rank.tolist()) == list(range(num_ranks))
    assert found.bound_ns <= found.cost_ns <= found.identity_ns * (1 + 1e-12)
    assert found.cost_ns == pytest.approx(written_out(pattern, times, tuple(found.place_of_rank.tolist())))
    for place in starts(pattern, host, index, np.nan_to_num(times)[None]):
        assert sorted(place.tolist()) == list(range(num_ranks))


def test_many_ranks_are_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    result = loaded(tmp_path, two_hosts())
    times = measured_times(result, ring(8))
    cost = pattern_cost(result, ring(8), times)
    assert why_no_placement(ring(8), cost, times) == ""
    monkeypatch.setattr("leadline.cost.placement.MOST_CELLS", 63)
    assert "at most 63 pairs in memory, and these are 64" in why_no_placement(ring(8), cost, times)
    assert "every pair is used" in why_no_placement(all_to_all(8), replace(cost, pattern="all-to-all"), times)


def test_hosts_of_a_result_are_used(tmp_path: Path):
    """Hosts of four in blocks, a ring dealt out over them: the search brings neighbours together."""
    hosts = [NODES[0], NODES[4]] * 5
    result = loaded(tmp_path, MadeUp(hosts, [[times_of(hosts, 4)]]))
    pattern = halo((5, 2))
    times = measured_times(result, pattern)
    cost = pattern_cost(result, pattern, times)
    found = better_placement(pattern, cost, times)
    assert found.identity_ns == pytest.approx(cost.cost_ns)
    assert found.saving > 0.2

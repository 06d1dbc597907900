# SPDX-License-Identifier: Apache-2.0
"""Who stands out: a slow host, a slow rank, a bad link; and nobody where nobody does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import leadline
from conftest import (
    MadeUp,
    between_hosts,
    bisection,
    few_rounds,
    one_per_host,
    slow_host,
    three_ranks,
    times_of,
    two_hosts,
    write_result,
)
from leadline.link.analysis import SliceAnalysis, Verdict, analyse
from leadline.link.result import PairClass
from leadline.link.text import headline, missing, pairs_text
from leadline.model import Finding
from leadline.scan import AxisName, Cell, Standout, num_circled
from leadline.text.run import ranks_text


def analysis_of(made: MadeUp, folder: Path) -> tuple[leadline.LinkResult, SliceAnalysis]:
    result = leadline.load(write_result(folder / "run.h5", made))
    return result, analyse(result, result.slices[0])


def test_a_bad_link(tmp_path: Path):
    result, analysis = analysis_of(two_hosts(), tmp_path)
    verdicts = [pair.verdict for pair in analysis.pairs]
    assert verdicts == [Verdict.SLOW_ALONE_TOO, Verdict.ONLY_UNDER_LOAD, Verdict.NOT_SLOW]
    assert [(pair.retest.from_rank, pair.retest.to_rank) for pair in analysis.slow_pairs] == [(2, 6)]
    assert (analysis.slow_hosts, analysis.slow_ranks) == ((), ())
    sentence = "The single pair 2 → 6 (node01.cluster → node02.cluster) stands out: it takes 40 times as long as usual"
    assert [one.startswith(sentence) for one in headline(result, [analysis])] == [True]


def test_a_slow_host_and_a_bad_link(tmp_path: Path):
    result, analysis = analysis_of(slow_host(), tmp_path)
    assert [result.hosts[host] for host in analysis.slow_hosts] == ["node11"]
    assert analysis.slow_ranks == ()  # those of the slow host say nothing new
    assert len(analysis.slow_pairs) == 1
    assert headline(result, [analysis])[0] == "Host node11 stands out: its pairs take 3.0 times as long as usual."


@pytest.mark.parametrize("num_hosts", [4, 5, 9])
def test_a_slow_host_among_few(tmp_path: Path, num_hosts: int):
    hosts = [f"h{index}" for index in range(num_hosts) for _ in range(2)]
    times = times_of(hosts, 1)
    times[np.array(hosts) == "h2", :] *= 3
    times[:, np.array(hosts) == "h2"] *= 3
    _, analysis = analysis_of(MadeUp(hosts, [[times]]), tmp_path)
    assert analysis.slow_hosts == (2,)


def test_a_slow_sender(tmp_path: Path):
    hosts = ["a"] * 8
    times = times_of(hosts, 1)
    times[5, :] *= 2
    result, analysis = analysis_of(MadeUp(hosts, [[times]]), tmp_path)
    assert analysis.slow_ranks == (5,)
    assert analysis.ranks[5].from_ratio == pytest.approx(2, rel=0.2)
    assert analysis.ranks[5].to_ratio == pytest.approx(1, rel=0.2)
    assert headline(result, [analysis])[0].startswith("Rank 5 on a stands out")


def test_ranks_far_from_the_others_are_not_slow(tmp_path: Path):
    # Seven ranks share a host; all pairs of the eighth are between hosts, and as fast as such pairs are.
    hosts = ["a"] * 7 + ["b"]
    _, analysis = analysis_of(MadeUp(hosts, [[times_of(hosts, 1)]]), tmp_path)
    assert (analysis.slow_hosts, analysis.slow_ranks) == ((), ())


def test_three_are_too_few(tmp_path: Path):
    made = three_ranks()
    made.times[0][0][2, :] *= 9
    result, analysis = analysis_of(made, tmp_path)
    assert analysis.slow_ranks == ()
    assert headline(result, [analysis])[0].startswith("Too few ranks")


@pytest.mark.parametrize(("repeats", "is_told"), [([1, 1, 1], True), ([1, 0, 1], True), ([0, 0, 1], False)])
def test_what_comes_once_of_three_is_chance(tmp_path: Path, repeats: list[int], is_told: bool):
    hosts = ["a"] * 6
    times = [times_of(hosts, seed) for seed in range(3)]
    for of_repeat, is_slow in zip(times, repeats, strict=True):
        of_repeat[4, :] *= 1 + 2 * is_slow
    result = leadline.load(write_result(tmp_path / "run.h5", MadeUp(hosts, [[of_repeat] for of_repeat in times])))
    sentence = headline(result, [analyse(result, part) for part in result.slices])[0]
    assert sentence.startswith("Rank 4 on a stands out") == is_told


def test_what_is_missing_is_counted(tmp_path: Path):
    made = two_hosts()
    made.times[0][0][1, :] = 0
    _, analysis = analysis_of(made, tmp_path)
    assert analysis.scan.num_missing == 7
    assert np.isnan(analysis.ranks[1].from_ns)
    assert analysis.ranks[1].to_ratio == pytest.approx(1, rel=0.2)


@pytest.mark.parametrize(
    ("made", "num_pairs"), [(bisection, 128), (between_hosts, 32), (one_per_host, 12), (few_rounds, 16)]
)
def test_what_is_not_in_the_test_is_not_missing(made: Callable[[], MadeUp], num_pairs: int, tmp_path: Path):
    result, analysis = analysis_of(made(), tmp_path)
    assert (analysis.scan.num_to_measure, analysis.scan.num_missing) == (num_pairs, 0)
    assert missing(result, [analysis]) == ""
    assert sum(numbers.num_pairs for numbers in analysis.classes.values()) == num_pairs


def test_what_is_missing_of_a_bisection_is_counted(tmp_path: Path):
    made = bisection()
    made.times[0][0][3, :] = 0
    result, analysis = analysis_of(made, tmp_path)
    assert (analysis.scan.num_to_measure, analysis.scan.num_missing) == (128, 8)
    assert missing(result, [analysis]).startswith("120 of 128 ordered pairs are measured")


def test_pairs_that_the_run_has_left_out_have_its_reason(tmp_path: Path):
    made = one_per_host()
    made.times[0][0][4, 0] = made.times[0][0][0, 4] = 0
    result, analysis = analysis_of(made, tmp_path)
    reason = "1 pair of ranks could not be measured: n0 and n2 do not reach each other"
    finding = Finding("pairs_not_measured", "warning", reason + ".", "evidence", "advice")
    told = missing(replace(result, findings=(*result.findings, finding)), [analysis])
    assert told == "10 of 12 ordered pairs are measured; " + reason
    gone = "1 rank was lost during the run: n2 (rank 4)"
    both = (finding, Finding("ranks_lost", "warning", gone + ".", "evidence", "advice"))
    told = missing(replace(result, findings=(*result.findings, *both)), [analysis])
    assert told == f"10 of 12 ordered pairs are measured; {reason}; {gone}"


def test_only_classes_of_the_test_are_there(tmp_path: Path):
    _, analysis = analysis_of(between_hosts(), tmp_path)
    assert list(analysis.classes) == [PairClass.BETWEEN_HOSTS]


def test_a_slow_host_of_a_bisection(tmp_path: Path):
    made = bisection()
    slow = np.array(made.hosts) == "n5"
    made.times[0][0][slow, :] *= 3
    made.times[0][0][:, slow] *= 3
    result, analysis = analysis_of(made, tmp_path)
    assert [result.hosts[host] for host in analysis.slow_hosts] == ["n5"]


def test_of_one_pair_nobody_can_say_which_rank_is_slow(tmp_path: Path):
    made = few_rounds()
    made.times[0][0][0, 1] = made.times[0][0][1, 0] = 90_000.0
    result, analysis = analysis_of(made, tmp_path)
    assert analysis.slow_ranks == ()
    assert headline(result, [analysis])[0].startswith("Every rank met too few others to tell which one is slow")


def test_one_rank_of_many_may_be_alone(tmp_path: Path):
    result, analysis = analysis_of(one_per_host(1), tmp_path)
    assert (analysis.scan.num_to_measure, analysis.scan.num_missing) == (1, 0)
    assert headline(result, [analysis])[0].startswith("One rank takes part: the loop to itself takes ")


def large(num_hosts: int = 30, ranks_per_host: int = 4) -> MadeUp:
    hosts = [f"n{index:02d}" for index in range(num_hosts) for _ in range(ranks_per_host)]
    return MadeUp(hosts, [[times_of(hosts, 3)]])


def pairs_of(analysis: SliceAnalysis) -> set[tuple[int, int]]:
    return {(one.cell.from_rank, one.cell.to_rank) for one in analysis.standouts}


@pytest.mark.parametrize("largest_size", [1024, 40])
def test_a_slow_host_a_slow_link_and_single_cells_are_told_apart(tmp_path: Path, largest_size: int):
    made = large()
    times, host = made.times[0][0], np.arange(120) // 4
    times[host == 7, :] *= 3
    times[:, host == 7] *= 3
    times[np.ix_(host == 3, host == 20)] *= 4
    cells = {(9, 90): 160_000.0, (50, 1): 150_000.0, (100, 101): 40_000.0}
    for (from_rank, to_rank), time_ns in cells.items():
        times[from_rank, to_rank] = time_ns
    result = leadline.load(write_result(tmp_path / "run.h5", made))
    analysis = analyse(result, result.slices[0], largest_size=largest_size)
    assert analysis.slow_hosts == (7,)
    assert [(link.from_host, link.to_host) for link in analysis.slow_links] == [(3, 20)]
    assert analysis.slow_links[0].ratio == pytest.approx(4, rel=0.1)
    assert pairs_of(analysis) == set(cells)
    assert analysis.standouts[0].cell == Cell(100, 101, 40_000.0)  # 44 times the usual of its class
    assert num_circled(analysis.standouts) == 3


def test_several_standouts_of_one_cell_count_once(tmp_path: Path):
    made = large()
    made.times[0][0][40:44, 80] = 90_000.0
    made.times[0][0][42, 81] = 95_000.0
    result = leadline.load(write_result(tmp_path / "run.h5", made))
    analysis = analyse(result, result.slices[0], largest_size=30)
    assert analysis.pictures[AxisName.RANKS].grid.edge == 4
    assert pairs_of(analysis) == {(42, 81)}
    assert len(pairs_of(analyse(result, result.slices[0]))) == 5


def test_a_slow_pair_behind_a_slower_one_of_the_other_class_is_found(tmp_path: Path):
    made = large(ranks_per_host=3)
    made.times[0][0][0, 1] = 3500.0  # same host, 900 ns are usual
    result = leadline.load(write_result(tmp_path / "run.h5", made))
    analysis = analyse(result, result.slices[0], largest_size=18)
    assert analysis.pictures[AxisName.RANKS].worst[0, 0] > 3500
    assert pairs_of(analysis) == {(0, 1)}


def test_pairs_inside_a_host_that_is_slow_inside_are_no_single_pairs(tmp_path: Path):
    made = large()
    made.times[0][0][40:44, 40:44] *= 5
    _, analysis = analysis_of(made, tmp_path)
    assert analysis.standouts == ()
    assert analysis.inside_ns[10] == pytest.approx(5 * 900, rel=0.1)


def test_one_bad_pair_is_no_link(tmp_path: Path):
    made = large(ranks_per_host=2)
    made.times[0][0][4, 9] = 160_000.0
    _, analysis = analysis_of(made, tmp_path)
    assert analysis.slow_links == ()
    assert pairs_of(analysis) == {(4, 9)}


def test_noise_with_a_long_tail_is_not_listed(tmp_path: Path):
    made = large()
    random = np.random.default_rng(4)
    disturbed = random.random((120, 120)) < 0.1
    made.times[0][0][disturbed] *= 1 + 0.4 * (1 - random.random(disturbed.sum())) ** (-1 / 3)
    made.times[0][0][60, 30] = 160_000.0
    result, analysis = analysis_of(made, tmp_path)
    assert np.count_nonzero(result.matrix(result.slices[0]) > 1.5 * 4000) > 500
    assert analysis.standouts[0].cell == Cell(60, 30, 160_000.0)
    assert len(analysis.standouts) < 10


@pytest.mark.parametrize(
    ("ratios", "num"),
    [([], 0), ([9.0] * 8, 8), ([1.6] * 8, 0), ([40.0] * 3 + [2.0] * 100, 3), ([9.0] * 41, 24), ([3.0] * 9 + [1.9], 9)],
)
def test_few_are_circled(ratios: list[float], num: int):
    assert num_circled([Standout(Cell(0, 1, 1.0), ratio) for ratio in ratios]) == num


def test_nothing_measured_says_nothing(tmp_path: Path):
    made = large(5)
    made.times[0][0][:] = 0
    _, analysis = analysis_of(made, tmp_path)
    assert (analysis.overall.num_pairs, analysis.scan.num_missing) == (0, 380)
    assert (analysis.slow_hosts, analysis.slow_ranks, analysis.slow_links, analysis.standouts) == ((), (), (), ())
    assert analysis.ranks[0].ratio == 0


def test_a_retest_of_a_class_without_pairs_is_survived(tmp_path: Path):
    made = between_hosts()
    made.retests = [(0, 0, 0, 1, 9000.0, 8000.0)]
    _, analysis = analysis_of(made, tmp_path)
    assert [pair.verdict for pair in analysis.pairs] == [Verdict.NOT_SLOW]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "all pairs of ranks"),
        ({"bisection": "true"}, "pairs across the two halves of the ranks"),
        ({"between_hosts": "true"}, "pairs on different hosts"),
        ({"bisection": "true", "between_hosts": "true"}, "pairs across the two halves of the hosts"),
        ({"one_per_host": "true", "serial": "true"}, "all pairs of ranks, one rank per host, one pair at a time"),
        ({"shift": "true", "only_rounds": "1"}, "all ordered pairs of ranks, in shifts of a ring, only rounds 1"),
        ({"bisection": "false", "only_rounds": "1,3"}, "all pairs of ranks, only rounds 1,3"),
        ({"rounds": "32", "budget": "0"}, "pairs of ranks, in 32 randomly sampled rounds"),
        (
            {"between_hosts": "true", "rounds": "0", "budget": "60"},
            "pairs on different hosts, in randomly sampled rounds",
        ),
    ],
)
def test_the_words_for_the_pairs(options: dict[str, str], words: str):
    assert pairs_text(options) == words


def test_ranks_in_short():
    assert ranks_text([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"
    assert ranks_text([]) == ""

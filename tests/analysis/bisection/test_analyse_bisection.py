# SPDX-License-Identifier: Apache-2.0
"""What is said about a bisection test: the number with its interval, who is slow, what the sentences are."""

from __future__ import annotations

import math
from pathlib import Path

import h5py
import numpy as np
import pytest
from made_up import nodes
from made_up_bisection import (
    MadeUpBisection,
    even,
    hostile_names,
    killed,
    loaded,
    many_sizes,
    never_begun,
    odd,
    only_named,
    slow_host,
    slow_rank,
    two_ranks,
    write_bisection,
)

import leadline
from leadline.bisection import text as bisection_text
from leadline.bisection.analysis import ComponentsAnalysis, SizeAnalysis, analyse_components, analyse_size
from leadline.bisection.connections import scan_connections
from leadline.bisection.result import BisectionResult
from leadline.diagnosis import diagnosed
from leadline.stats.interval import MeanInterval, paired_ratio_interval
from leadline.units import Unit


def analysed(result: BisectionResult) -> tuple[list[SizeAnalysis], ComponentsAnalysis]:
    sizes = [analyse_size(result, index) for index in range(len(result.message_sizes_bytes))]
    return sizes, analyse_components(result, sizes)


def sentences_of(made: MadeUpBisection, folder: Path) -> list[str]:
    result = loaded(made, folder)
    sizes, _ = analysed(result)
    return bisection_text.headline(result, sizes, diagnosed(result, bisection_text.parts_of(result, sizes)))


def test_the_number(tmp_path: Path):
    result = loaded(slow_host(), tmp_path)
    size = analyse_size(result, 1)
    means = result.patterns("1MiB", "random").bytes_per_s_mean
    every = [result.connections(number, "1MiB") for number in range(85)]
    speeds, times = (np.concatenate([getattr(one, name) for one in every]) for name in ("bytes_per_s", "time_ns"))
    assert (size.ebb.num, size.ebb.mean) == (85, pytest.approx(means.mean()))
    assert size.ebb.half_width == pytest.approx(1.988609666 * means.std(ddof=1) / math.sqrt(85), rel=1e-6)
    assert size.harmonic == pytest.approx(2**20 * 1e9 / times.mean())
    assert size.harmonic < size.ebb.mean
    for name, share in (("p01", 0.01), ("p05", 0.05), ("median", 0.5)):
        assert getattr(size.speeds, name) == pytest.approx(np.quantile(speeds, share))
    assert (size.speeds.min, size.speeds.max) == (speeds.min(), speeds.max())
    alone = result.baseline("1MiB")  # two behind each pattern
    both_ends = np.stack([alone.from_rank, alone.to_rank])
    together = np.array([
        every[number].bytes_per_s[np.isin(every[number].to_rank, ends)].mean()
        for number, ends in zip(alone.number.tolist(), both_ends.T, strict=True)
    ])  # fmt: skip
    together, by_itself = (one.reshape(85, 2).mean(axis=1) for one in (together, alone.bytes_per_s))
    expected = paired_ratio_interval(together, by_itself, together - means)
    assert (size.contention_share.mean, size.contention_share.half_width) == pytest.approx(
        (expected.mean, expected.half_width)
    )
    assert size.static_share.mean == pytest.approx((alone.bytes_per_s / alone.bytes_per_s.max()).mean())
    assert size.tail == pytest.approx(size.speeds.median / size.speeds.p01)
    assert size.full_load.mean == pytest.approx(size.ebb.mean / 1.04)
    assert sum(bucket.num for bucket in size.buckets) == len(times)
    assert len(size.buckets) == 10
    inside = [(times >= bucket.low_ns) & (times < bucket.high_ns) for bucket in size.buckets[:-1]]
    assert [bucket.num for bucket in size.buckets[:-1]] == [int(those.sum()) for those in inside]
    assert size.converged.mean[-1] == pytest.approx(size.ebb.mean)
    assert size.converged.half_width[-1] == pytest.approx(size.ebb.half_width)
    slowest = [one.time_ns for one in size.connections.slowest]
    assert slowest[0] == times.max()
    assert slowest == sorted(slowest, reverse=True)
    pairs = [frozenset((one.from_rank, one.to_rank)) for one in size.connections.slowest]
    assert len(set(pairs)) == len(pairs) == 10


def test_blocks_of_ranks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    result = loaded(slow_host(), tmp_path)
    whole, counts = analyse_size(result, 0), analyse_components(result, [analyse_size(result, 0)]).of_ranks
    blocks = BisectionResult.rank_blocks
    monkeypatch.setattr(BisectionResult, "rank_blocks", lambda self, num: blocks(self, num, 3 * num))
    parts = analyse_size(result, 0)
    assert parts.connections.slowest == whole.connections.slowest
    assert parts.speeds.p05 == whole.speeds.p05
    again = analyse_components(result, [parts]).of_ranks
    assert np.array_equal(again.num_slow, counts.num_slow)
    assert again.num.tolist() == [124] * 64


@pytest.mark.usefixtures("real_program")
def test_a_slow_host_is_named(tmp_path: Path):
    sentences = sentences_of(slow_host(), tmp_path)
    assert any(one.startswith("Host node05 is slow: ") and "(in 2 of 2 sizes" in one for one in sentences), sentences


@pytest.mark.usefixtures("real_program")
def test_a_slow_rank_is_named(tmp_path: Path):
    sentences = sentences_of(slow_rank(), tmp_path)
    assert any(one.startswith("Rank 9 on node02 is slow: ") for one in sentences), sentences
    assert not any(one.startswith("Host") for one in sentences)


def test_without_a_diagnosis_nobody_is_blamed(tmp_path: Path):
    sentences = sentences_of(slow_host(), tmp_path)
    assert any(one.startswith("Who is slow was not judged: the result file has none") for one in sentences), sentences


def test_slow_connections_of_a_host_are_counted(tmp_path: Path):
    _, components = analysed(loaded(slow_host(), tmp_path))
    assert (components.of_hosts.num[5], components.of_hosts.num_slow[5]) == (4 * (124 + 85), 4 * (124 + 85))


def test_partners_of_a_slow_rank_are_not_slow(tmp_path: Path):
    _, components = analysed(loaded(slow_rank(), tmp_path))
    shares = components.of_ranks.num_slow / components.of_ranks.num
    assert shares[9] == 1
    assert np.delete(shares, 9).max() < 0.6


@pytest.mark.usefixtures("real_program")
@pytest.mark.parametrize("made", [even, odd, many_sizes])
def test_nobody_is_slow(made, tmp_path: Path):
    assert any(one.startswith("No fault found: ") for one in sentences_of(made(), tmp_path))


def test_slow_alone_and_slow_together(tmp_path: Path):
    result = loaded(slow_host(), tmp_path)
    sizes, _ = analysed(result)
    verdicts = {(one.seen.from_rank, one.seen.to_rank): bisection_text.verdict_on(one) for one in sizes[1].slow}
    assert verdicts.pop((3, 40)) == "slow only under load", "it is slow only because of contention"
    assert set(verdicts.values()) == {"slow alone, too"}
    (sentence,) = bisection_text.slow_connections(result, sizes)
    assert sentence.startswith("Of 6 slow connections measured again alone, 2 are slow alone, too: ")
    assert "(node05 → " in sentence


def test_without_second_measurement_the_slowest_are_told(tmp_path: Path):
    made = slow_rank()
    made.complete = False
    result = loaded(made, tmp_path)
    size = analyse_size(result, 0)
    assert len(size.slow) == 10
    assert {bisection_text.verdict_on(one) for one in size.slow} == {"not measured alone"}
    assert {one.is_slow_alone for one in size.slow} == {False}
    assert 9 in {size.slow[0].seen.from_rank, size.slow[0].seen.to_rank}


def test_alone_and_yet_below_the_median_under_load_is_slow(tmp_path: Path):
    """Where half of the pairs are slow, the median of pairs alone says nothing."""
    path = write_bisection(tmp_path / "run.h5", slow_rank())
    with h5py.File(path, "r+") as file:
        text = file["summary"][()].decode()
        del file["summary"]
        file["summary"] = text.replace('"slow_alone": true', '"slow_alone": false')
    result = leadline.load_bisection(path)
    assert not any(one.slow_alone for one in result.slow_connections)
    assert {bisection_text.verdict_on(one) for one in analyse_size(result, 0).slow} == {"slow alone, too"}


def test_named_patterns_and_the_search(tmp_path: Path):
    result = loaded(slow_host(), tmp_path)
    size = analyse_size(result, 0)
    named = result.patterns("64KiB", "named")
    assert [pattern.name for pattern in size.named] == ["halves", "reversal", "shift:1", "tornado:8"]
    for index, pattern in enumerate(size.named):
        means = named.bytes_per_s_mean[named.index == index]
        assert (pattern.num_repeats, pattern.num_connections) == (2, 64)
        assert pattern.bytes_per_s_mean == pytest.approx(means.mean())
        assert (pattern.bytes_per_s_least, pattern.bytes_per_s_most) == (means.min(), means.max())
        assert pattern.relative == pytest.approx(means.mean() / size.ebb.mean)
    assert len(size.worst) == 12
    assert any("The search for bad patterns came to " in one and " in 12 steps." in one
               for one in bisection_text.bad_patterns([size]))  # fmt: skip


def test_the_sentence_of_the_number(tmp_path: Path):
    first, second, *_ = sentences_of(slow_host(), tmp_path)
    assert first.startswith("eBB with 1 MiB: 5.")
    assert "GiB/s (95 %, 85 patterns), 0." in first
    assert first.endswith(" of pairs alone.")
    assert second.startswith("eBB with 64 KiB: ")


def test_many_sizes_have_a_short_headline(tmp_path: Path):
    sentences = sentences_of(many_sizes(), tmp_path)
    assert sum(one.startswith("eBB with ") for one in sentences) == 2
    assert "7 more sizes are in the table." in sentences


@pytest.mark.parametrize(
    ("mean", "half_width", "text"),
    [
        (8.21437, 0.0831, "8.214 ± 0.083"),
        (8.21437, 0.0996, "8.21 ± 0.10"),
        (8.21437, 0.83, "8.21 ± 0.83"),
        (1234.5, 83.1, "1234 ± 83"),
        (1234.5, 0.083, "1234.500 ± 0.083"),
        (0.7812, 0.0099, "0.7812 ± 0.0099"),
        (5.0, 0.0, "5.000"),
        (5.0, math.nan, "5.000"),
        (math.nan, math.nan, "–"),
    ],
)
def test_mean_and_half_width_have_the_same_decimals(mean: float, half_width: float, text: str):
    assert bisection_text.plus_minus(MeanInterval(9, mean, half_width)) == text
    unit = Unit("GiB/s", 2.0**30)
    assert bisection_text.plus_minus(MeanInterval(9, mean * unit.scale, half_width * unit.scale), unit) == text


def test_why_it_ended(tmp_path: Path):
    result = loaded(slow_host(), tmp_path)
    assert [bisection_text.stopped_text(result, size) for size in analysed(result)[0]] == [
        "after 124 patterns: the half-width came below 1 % of the mean",
        "after 85 patterns: the time limit was reached",
    ]
    result = loaded(killed(), tmp_path)
    assert [bisection_text.stopped_text(result, size) for size in analysed(result)[0]] == [
        "after 40 patterns: the run was interrupted", "after 31 patterns: the run was interrupted", "none was measured",
    ]  # fmt: skip


def test_a_killed_run(tmp_path: Path):
    result = loaded(killed(), tmp_path)
    sizes, _ = analysed(result)
    assert [size.connections.num_missing for size in sizes] == [0, 1, 0]
    assert bisection_text.missing(result, sizes) == "71 patterns are there; none of 1 MiB; 1 connection has no time"


def test_nothing_was_measured(tmp_path: Path):
    result = loaded(never_begun(), tmp_path)
    sizes, components = analysed(result)
    assert bisection_text.headline(result, sizes, components) == ["Nothing was measured."]
    assert math.isnan(sizes[0].ebb.mean)
    assert scan_connections(result, sizes[0].random, result.baseline(), 5).slowest == ()


def test_only_named_patterns_have_no_number(tmp_path: Path):
    sentences = sentences_of(only_named(), tmp_path)
    assert sentences == ["No random pattern was measured, so there is no effective bisection bandwidth."]


@pytest.mark.usefixtures("real_program")
def test_two_ranks_are_too_few_to_blame_one(tmp_path: Path):
    result = loaded(two_ranks(), tmp_path)
    (said,) = diagnosed(result, result.slices).found.values()
    assert said.faults == ()
    assert said.untested == "most ranks met fewer than 3 others"


def test_one_pattern_has_no_interval(tmp_path: Path):
    made = MadeUpBisection(nodes(4, 1), num_random=[1], leaf=2)
    (sentence, *_) = sentences_of(made, tmp_path)
    assert "±" not in sentence
    assert "(1 pattern)" in sentence


def test_messages_of_no_bytes_have_no_bandwidth(tmp_path: Path):
    result = loaded(MadeUpBisection(nodes(4, 1), sizes=[0], num_random=[12], leaf=2), tmp_path)
    sizes, components = analysed(result)
    assert sizes[0].ebb.num == 0
    assert sizes[0].connections.times.num_values == 0
    bisection_text.headline(result, sizes, components)


def test_facts_of_the_run(tmp_path: Path):
    result = loaded(slow_host(), tmp_path)
    facts = dict(bisection_text.run_facts(result))
    assert facts["patterns"] == "random patterns, halves, reversal, shift:1, tornado:8; seed 7"
    assert facts["who takes part"] == "all ranks; random pairs between hosts only"
    assert facts["until"] == "half-width below 1 % of the mean, or 200 random patterns of a size, or 120 s"
    assert bisection_text.run_line(loaded(hostile_names(), tmp_path)).startswith(
        "leadline bisection · 2026-01-31 23:59 UTC"
    )

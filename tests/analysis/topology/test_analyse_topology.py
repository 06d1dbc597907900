# SPDX-License-Identifier: Apache-2.0
"""What a topology test says: rates over all repeats, what the sentences say of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from made_up_topology import (
    MadeUpTopologies,
    corrupted,
    each_star,
    even,
    killed,
    loaded,
    never_begun,
    nodes,
    one_way,
    slow_host_of_eight,
    under_load,
    untraced,
)

from leadline.diagnosis import diagnosed_in
from leadline.scan import AxisName
from leadline.stats import medians
from leadline.stats.medians import MedianOfEach
from leadline.topology import messages
from leadline.topology import text as topology_text
from leadline.topology.analysis import GroupAnalysis, analyse_group, groups_of
from leadline.topology.load import series_of, sums_of
from leadline.topology.result import Definition, TopologyResult


def analysed(result: TopologyResult) -> list[GroupAnalysis]:
    sizes = range(len(result.message_sizes_bytes))
    return [analyse_group(result, group, size) for group in groups_of(result) for size in sizes]


def of_name(analyses: list[GroupAnalysis], name: str) -> list[GroupAnalysis]:
    return [one for one in analyses if one.group.name == name]


def test_all_exchanges_of_all_repeats_count(tmp_path: Path):
    result = loaded(even(), tmp_path)
    (_, analysis, _) = of_name(analysed(result), "complete2")
    times = np.concatenate([result.exchange_times_ns(result.cell("complete2", 16384, repeat)) for repeat in (0, 1)])
    timing = analysis.timings[Definition.EXCHANGE]
    assert timing.times.num_pairs == 40
    assert timing.times.median == np.median(times)
    assert timing.times.median_interval_low < timing.times.median < timing.times.median_interval_high
    assert timing.repeats_ns == (np.median(times[:20]), np.median(times[20:]))
    assert topology_text.median_rates(analysis).total == pytest.approx(2 * 16384 * 28 * 1e9 / np.median(times))
    with_barrier = analysis.timings[Definition.WITH_BARRIER].times
    assert with_barrier.mean == pytest.approx(timing.times.mean + 9_000)


def test_arrivals_are_medians_over_the_repeats(tmp_path: Path):
    result = loaded(even(), tmp_path)
    analysis = of_name(analysed(result), "ring2")[0]
    both = [result.arrivals(result.cell("ring2", 1024, repeat)).time_ns for repeat in (0, 1)]
    times = np.median(both, axis=0)
    assert analysis.num_messages == 16
    assert analysis.median_ns == np.median(times)
    assert analysis.slowest[0].time_ns == times.max()
    rates = 1 / times
    assert analysis.fairness == pytest.approx(rates.sum() ** 2 / (16 * (rates**2).sum()))


def said(result: TopologyResult, sizes: Sequence[int] | None = None) -> list[str]:
    """The headline, with what the file has of a diagnosis."""
    analyses = [one for one in analysed(result) if sizes is None or one.size_index in sizes]
    return topology_text.headline(result, analyses, series_of(result), diagnosed_in(result))


def test_one_slow_host_of_eight_is_named(tmp_path: Path):
    result = loaded(slow_host_of_eight(), tmp_path)
    for analysis in of_name(analysed(result), "complete2"):
        assert np.nanargmax(analysis.hosts.ratio) == 5
    _, sentence = said(result)
    assert sentence == (
        "Host node05 is slow: 3 times as long as usual (2.94 to 3.06) (in 5 of 5 topologies and sizes)."
    )
    assert said(result, [2])[1] == "Host node05 is slow: 3 times as long as usual (2.94 to 3.06)."


def test_topologies_that_are_not_judged_are_no_sound_ones(tmp_path: Path):
    assert said(loaded(even(), tmp_path))[1].startswith("No fault found")
    assert said(loaded(one_way(), tmp_path))[1:] == ["Incast, halves2 could not be tested: ranks have few partners."]
    assert said(loaded(untraced(), tmp_path))[1:] == [
        "Star, star2, complete, complete2, ring, ring2 could not be tested: ranks have few partners."
    ]


def test_slices_are_topologies_with_sizes(tmp_path: Path):
    result = loaded(even(), tmp_path)
    assert [(part.pattern, part.message_size_bytes) for part in result.slices[:4]] == [
        ("star", 1024), ("star", 16384), ("star", 262144), ("star2", 1024)
    ]  # fmt: skip
    assert [part.pattern for part, one in result.diagnoses.items() if not one.untested] == ["complete2"] * 3
    parts = topology_text.parts_of(result, of_name(analysed(result), "ring")[1:2])
    assert [(part.pattern, part.message_size_bytes) for part in parts] == [("ring", 16384)]
    assert loaded(under_load(), tmp_path).slices == ()


def test_stars_are_one_family(tmp_path: Path):
    result = loaded(each_star(), tmp_path)
    (group,) = groups_of(result)
    assert group.name == "16 stars"
    assert group.centres == tuple(range(16))
    for analysis in analysed(result):
        assert sorted(np.argsort(-np.nan_to_num(analysis.ranks.from_ratio))[:4].tolist()) == [8, 9, 10, 11]
        times = [
            np.median(result.exchange_times_ns(cell)) for cell in result.cells if cell.size_index == analysis.size_index
        ]
        assert analysis.timings[Definition.EXCHANGE].times.median == np.median(times)
    assert "The highest total rate is that of the median one of 16 stars" in topology_text.most_bytes(analysed(result))


def test_few_stars_are_no_family(tmp_path: Path):
    result = loaded(MadeUpTopologies(nodes(2, 2), ["star:1", "star:3", "star2"], [1024], 1), tmp_path)
    assert [group.name for group in groups_of(result)] == ["3 stars"], "they have the same mode"
    result = loaded(MadeUpTopologies(nodes(2, 2), ["star:1", "star:3", "star"], [1024], 1), tmp_path)
    assert [group.name for group in groups_of(result)] == ["star:1", "star:3", "star"]


def test_killed_runs_say_what_is_missing(tmp_path: Path):
    result = loaded(killed(), tmp_path)
    analyses = analysed(result)
    assert sum(one.num_measured for one in analyses) == 20
    text = topology_text.missing(result, analyses)
    assert text == "20 of 36 measurements (topology, size, repeat) are there; not all is there from rank 6 (on node01)"
    sentences = said(result)
    assert sentences[0].startswith("The highest total rate is that of ring2 with messages of 256 KiB")
    assert sentences[1] == "Who is slow was not judged: the result file has none."


def test_nothing_was_measured(tmp_path: Path):
    result = loaded(never_begun(), tmp_path)
    analyses = analysed(result)
    assert said(result) == ["Nothing was measured."]
    assert topology_text.missing(result, analyses) == "0 of 36 measurements (topology, size, repeat) are there"


def test_without_a_trace_there_is_no_fairness(tmp_path: Path):
    result = loaded(untraced(), tmp_path)
    analyses = analysed(result)
    assert topology_text.missing(result, analyses) == ""
    assert all(math.isnan(one.fairness) for one in analyses)


def test_load(tmp_path: Path):
    made = under_load()
    result = loaded(made, tmp_path)
    load = series_of(result)
    assert [(one.topology.name, one.message_size_bytes, len(one.points)) for one in load] == [
        ("complete2", 4096, 15), ("complete2", 65536, 15), ("ring2", 4096, 15), ("ring2", 65536, 15),
    ]  # fmt: skip
    sums = sums_of(load)
    assert made.load is not None
    assert sums.num_exchanges == sum(row[5] for row in made.load)
    assert sums.num_bytes == sum(2 * [28, 8][int(row[0])] * [4096, 65536][int(row[1])] * row[5] for row in made.load)
    assert all(one.is_uneven for one in load)
    sentences = said(result)
    assert sentences[0].startswith("Load of 120 s: ")
    assert sentences[1] == "Every byte was compared with what was sent, and none was wrong."
    assert all(" fell from usually " in sentence for sentence in sentences[2:])


def test_a_load_that_met_a_wrong_byte_claims_nothing(tmp_path: Path):
    result = loaded(corrupted(), tmp_path)
    sentences = said(result)
    assert "before the run ended" in sentences[1]
    assert "none was wrong" not in " ".join(sentences)


def test_a_load_that_is_partly_verified(tmp_path: Path):
    made = under_load()
    assert made.load is not None
    made.load = [(*row[:6], int(row[5]) // 10, *row[7:]) for row in made.load]
    sentences = said(loaded(made, tmp_path))
    assert "GiB of it (" in sentences[1]
    made.load = [(*row[:6], 0, *row[7:]) for row in made.load]
    sentences = said(loaded(made, tmp_path))
    assert sentences[1] == "Nothing of it was compared with what was sent."


def picture_by_hand(result: TopologyResult, name: str, edge: int) -> np.ndarray:
    """The worst of each cell, from the whole matrix."""
    matrices = [result.channel_matrix(name, 1024, repeat).values for repeat in range(result.num_repeats)]
    values = np.median(matrices, axis=0)
    size = -(-len(values) // edge)
    worst = np.full((size, size), np.nan)
    for row in range(size):
        for column in range(size):
            cell = values[row * edge : (row + 1) * edge, column * edge : (column + 1) * edge]
            if np.isfinite(cell).any():
                worst[row, column] = np.nanmax(cell)
    return worst


@pytest.mark.parametrize("block", [3, 1 << 20])
@pytest.mark.parametrize("name", ["complete2", "ring", "star"])
def test_pictures_are_what_the_whole_matrix_says(
    name: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(messages, "BLOCK_MESSAGES", block)
    result = loaded(even(), tmp_path)
    group = next(group for group in groups_of(result) if group.name == name)
    analysis = analyse_group(result, group, 0, (AxisName.RANKS, AxisName.HOSTS), 3)
    ranks, hosts = analysis.pictures
    assert ranks.grid.edge == 3
    assert np.allclose(ranks.worst, picture_by_hand(result, name, 3), equal_nan=True)
    assert np.allclose(hosts.worst, picture_by_hand(result, name, 4), equal_nan=True)
    assert ranks.num_measured.sum() == analysis.num_messages
    there = np.isfinite(ranks.worst)
    matrix = np.median([result.channel_matrix(name, 1024, repeat).values for repeat in (0, 1)], axis=0)
    assert np.allclose(matrix[ranks.worst_from[there], ranks.worst_to[there]], ranks.worst[there])
    assert (ranks.worst_from[~there] == -1).all()


def test_medians_of_many_groups():
    random = np.random.default_rng(5)
    group, values = random.integers(0, 7, 500), random.gamma(4, 1000, 500)
    group[group == 3] = 4
    found = MedianOfEach(7)
    found.add(group[:200], values[:200])
    found.add(group[200:], values[200:])
    expected = [np.sort(values[group == one])[(np.count_nonzero(group == one) - 1) // 2] if (group == one).any()
                else np.nan for one in range(7)]  # fmt: skip
    assert np.array_equal(found.medians(), expected, equal_nan=True)
    assert np.isnan(MedianOfEach(3).medians()).all()


def test_medians_of_very_many_values_are_right_to_two_per_cent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(medians, "MOST_EXACT", 100)
    random = np.random.default_rng(6)
    group, values = np.repeat(np.arange(5), 400), random.gamma(4, 1000, 2000)
    group[group == 2] = 1
    exact, counted = MedianOfEach(5), MedianOfEach(5)
    for begin in range(0, 2000, 90):
        counted.add(group[begin : begin + 90], values[begin : begin + 90])
    monkeypatch.setattr(medians, "MOST_EXACT", 1 << 40)
    exact.add(group, values)
    assert np.isnan(counted.medians()[2])
    assert np.nanmax(np.abs(np.log(counted.medians() / exact.medians()))) <= math.log(2) / 32 * 1.001


def test_the_slowest_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(messages, "MOST_SLOWEST", 5)
    monkeypatch.setattr(messages, "BLOCK_MESSAGES", 8)
    result = loaded(even(), tmp_path)
    analysis = of_name(analysed(result), "complete2")[0]
    matrix = np.median([result.channel_matrix("complete2", 1024, repeat).values for repeat in (0, 1)], axis=0)
    ordered = np.sort(matrix[np.isfinite(matrix)])[::-1]
    assert [cell.time_ns for cell in analysis.slowest] == ordered[:5].tolist()

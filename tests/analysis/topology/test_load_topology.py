# SPDX-License-Identifier: Apache-2.0
"""Results of the topology test come back as they were written, and what is no result says so in one line."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from damage import (
    Change,
    attribute,
    changed,
    in_chunks,
    later_version_without,
    line_of,
    put,
    remove,
    replace,
)
from made_up_topology import (
    MADE_UP_TOPOLOGIES,
    NETTEST,
    MadeUpTopologies,
    channels_of,
    each_star,
    even,
    killed,
    loaded,
    never_begun,
    nodes,
    one_way,
    slow_message,
    under_load,
    untraced,
    write_topologies,
)

import leadline
from leadline.compat.linktest_report import linktest_report
from leadline.topology.result import RANK_STATISTICS, Definition, TopologyCell, TopologyResult


@pytest.fixture
def topology_file(tmp_path: Path) -> Path:
    return write_topologies(tmp_path / "run.h5", even())


def message_of(path: Path, read: Callable[[TopologyResult], object] = lambda result: result) -> str:
    return line_of(path, read)


def test_head_and_topologies(tmp_path: Path):
    result = loaded(even(), tmp_path)
    assert (result.num_ranks, result.hosts, result.nonce) == (8, ("node00", "node01"), "a1b2c3")
    assert result.provenance.transport == "tcp"
    assert not hasattr(result.provenance, "num_rounds")
    assert result.options["iterations"] == "20"
    assert (result.num_repeats, result.num_iterations, result.is_load) == (2, 20, False)
    assert [topology.name for topology in result.topologies] == NETTEST
    star, _, complete, _, ring, ring2 = result.topologies
    assert (star.shape, star.mode) == ("star", "answered")
    assert (star.num_channels, star.max_channels_rank, star.num_ways) == (7, 7, 2)
    assert (complete.num_channels, complete.max_channels_rank) == (28, 7)
    assert (ring.mode, ring2.mode, ring.num_channels) == ("phased", "both-ways", 8)
    assert len(result.cells) == 2 * 3 * 6
    assert result.cells[6] == TopologyCell(0, 1, 0, 16384)


def test_every_dataset_is_read(tmp_path: Path):
    path = write_topologies(tmp_path / "run.h5", even())
    result = leadline.load_topology(path)
    with h5py.File(path) as file:
        for cell in result.cells:
            group, at = file[f"topologies/{cell.topology_index:04d}"], (cell.repeat, cell.size_index)
            assert np.array_equal(result.exchange_times_ns(cell), group["exchange_time_ns"][at])
            assert np.array_equal(
                result.exchange_times_ns(cell, "with_barrier"), group["exchange_with_barrier_time_ns"][at]
            )
            for statistic in RANK_STATISTICS:
                expected = group[f"rank_time_ns_{statistic.value}"][at]
                assert np.array_equal(result.rank_times_ns(cell, statistic), expected)
            found = result.arrivals(cell)
            assert np.array_equal(found.time_ns, group["arrival_time_ns"][at])
            assert np.array_equal(found.from_rank, group["partner"][()])
            assert np.array_equal(found.is_answer, group["starts"][()] == 1)


@pytest.mark.parametrize("name", sorted(MADE_UP_TOPOLOGIES))
def test_channels_are_those_of_the_schedule(name: str, tmp_path: Path):
    made = MADE_UP_TOPOLOGIES[name]()
    result = loaded(made, tmp_path)
    for topology in result.topologies:
        channels = channels_of(topology.name, result.num_ranks)
        for rank in range(result.num_ranks):
            found = result.channels(topology.name, rank)
            assert found.partner.tolist() == channels.partners[rank].tolist()
            assert found.starts.tolist() == channels.starts[rank].tolist()
            assert found.rank.tolist() == [rank] * len(channels.partners[rank])
    assert result.complete == made.complete
    assert result.incomplete_reason == ("" if made.complete else made.reason)


def test_parts_of_the_arrivals_are_the_whole(tmp_path: Path):
    result = loaded(even(), tmp_path)
    cell = result.cell("complete2", "16KiB", 1)
    whole = result.arrivals(cell)
    blocks = list(result.rank_blocks(cell.topology_index, 20))
    assert blocks == [(0, 2), (2, 4), (4, 6), (6, 8)]
    parts = [result.arrivals(cell, first, end) for first, end in blocks]
    assert np.array_equal(np.concatenate([part.time_ns for part in parts]), whole.time_ns)
    assert np.array_equal(np.concatenate([part.to_rank for part in parts]), whole.to_rank)
    assert list(result.rank_blocks(cell.topology_index, 1)) == [(rank, rank + 1) for rank in range(8)]


def rates_of(result: TopologyResult, name: str, statistic: str, definition: Definition) -> leadline.Rates:
    return result.rates(result.cell(name, 16384, 0), statistic, definition)


@pytest.mark.parametrize("definition", Definition)
@pytest.mark.parametrize("statistic", ["median", "mean"])
def test_identities_of_the_rates(statistic: str, definition: Definition, tmp_path: Path):
    result = loaded(even(), tmp_path)
    for name in ("star", "star2"):
        rates = rates_of(result, name, statistic, definition)
        assert rates.local == rates.total
    for name in ("complete", "complete2", "ring", "ring2"):
        rates = rates_of(result, name, statistic, definition)
        assert 8 * rates.local == pytest.approx(2 * rates.total)
    for topology in result.topologies:
        rates = rates_of(result, topology.name, statistic, definition)
        assert rates.average * topology.num_channels == pytest.approx(rates.total)
        times = result.exchange_times_ns(result.cell(topology.name, 16384, 0), definition)
        time_ns = {"median": np.median, "mean": np.mean}[statistic](times)
        assert rates.total == pytest.approx(2 * 16384 * topology.num_channels * 1e9 / time_ns)


def test_messages_one_way_count_once(tmp_path: Path):
    result = loaded(one_way(), tmp_path)
    incast = result.topology("incast")
    assert incast.num_ways == 1
    assert incast.rates(4096, 1e9).total == 5 * 4096
    cell = result.cell("incast")
    found = result.arrivals(cell)
    assert found.to_rank.tolist() == [0] * 5
    assert found.from_rank.tolist() == [1, 2, 3, 4, 5]
    assert np.isfinite(found.time_ns).all()
    assert result.rank_rates(cell)[0] == pytest.approx(5 * 4096 * 1e9 / result.rank_times_ns(cell)[0])


def test_own_rates_of_ranks(tmp_path: Path):
    result = loaded(even(), tmp_path)
    cell = result.cell("star2", "1KiB", 0)
    rates, times = result.rank_rates(cell), result.rank_times_ns(cell)
    assert rates[0] == pytest.approx(2 * 7 * 1024 * 1e9 / times[0])
    assert rates[5] == pytest.approx(2 * 1024 * 1e9 / times[5])


def test_a_matrix_of_the_messages(tmp_path: Path):
    result = loaded(slow_message(), tmp_path)
    matrix = result.channel_matrix("ring2", "16KiB", 0)
    assert (matrix.name, matrix.unit, matrix.dims) == ("arrival_time_ns", "ns", ("from_rank", "to_rank"))
    assert np.isfinite(matrix.values).sum() == 32
    assert np.unravel_index(np.nanargmax(matrix.values), (16, 16)) == (3, 4)
    assert np.isnan(np.diag(matrix.values)).all()
    table = matrix.to_table()
    assert len(table["arrival_time_ns"]) == 32
    assert np.isfinite(matrix.by_host().values).sum() == 8 + 16


def test_two_channels_between_the_same_ranks(tmp_path: Path):
    result = loaded(MadeUpTopologies(["a", "b"], ["ring2"], [1024], 1), tmp_path)
    cell = result.cell("ring2")
    times = result.arrivals(cell).time_ns
    assert len(times) == 4
    matrix = result.channel_matrix("ring2").values
    assert matrix[1, 0] == times[:2].max()
    assert matrix[0, 1] == times[2:].max()


def test_matrices_of_too_many_ranks_are_refused(topology_file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("leadline.topology.result._MOST_MATRIX_BYTES", 8 * 63)
    message = message_of(topology_file, lambda result: result.channel_matrix("ring2", "1KiB", 0))
    assert message == "a matrix of 8 ranks does not fit into 1 GiB. Ask for the arrivals() of some ranks at a time"


def test_a_killed_run_has_what_it_measured(tmp_path: Path):
    result = loaded(killed(), tmp_path)
    assert not result.complete
    assert "rank 6 on node01 was lost" in result.incomplete_reason
    assert result.summary is None
    measured = [cell for cell in result.cells if result.is_measured(cell)]
    assert measured == list(result.cells[:20])
    empty = result.cells[-1]
    assert math.isnan(result.rates(empty).total)
    assert np.isnan(result.rank_rates(empty)).all()
    assert np.isnan(result.arrivals(empty).time_ns).all()
    assert np.flatnonzero(np.isnan(result.rank_times_ns(measured[-1]))).tolist() == [6]


def test_a_run_that_had_not_begun(tmp_path: Path):
    result = loaded(never_begun(), tmp_path)
    assert not any(result.is_measured(cell) for cell in result.cells)


def test_without_a_trace(tmp_path: Path):
    result = loaded(untraced(), tmp_path)
    cell = result.cells[0]
    assert result.is_measured(cell)
    assert np.isnan(result.arrivals(cell).time_ns).all()


def test_a_load(tmp_path: Path):
    made = under_load()
    result = loaded(made, tmp_path)
    assert result.is_load
    assert result.cells == ()
    assert made.load is not None
    assert len(result.load) == 60
    first = result.load[3]
    assert (first.cell.topology_index, first.cell.message_size_bytes, first.cell.repeat) == (1, 65536, 0)
    assert (first.begin_s, first.elapsed_s, first.num_exchanges) == made.load[3][3:6]
    with pytest.raises(leadline.LeadlineError, match="the result has no cells"):
        result.exchange_times_ns(TopologyCell(0, 0, 0, 4096))


def test_a_point_without_exchanges_is_damage(tmp_path: Path):
    made = under_load()
    assert made.load is not None
    made.load[3] = (*made.load[3][:5], 0, 0, *made.load[3][7:])
    with pytest.raises(leadline.LeadlineError, match="/load has a point without exchanges"):
        loaded(made, tmp_path)


def test_names_that_are_not_there(topology_file: Path):
    for read, reason in (
        (lambda result: result.topology("chaos"), "there is no topology chaos. There is star, star2, complete"),
        (lambda result: result.cell("star"), "several cells of the result fit; say which. It has size=1 KiB, 16 KiB"),
        (lambda result: result.cell("star", 1), "the result has no such cell"),
        (lambda result: result.cell("star", "much"), "'much' is no size"),
        (lambda result: result.channels("star", 8), "there is no rank 8. There is 0 to 7"),
        (lambda result: result.exchange_times_ns(result.cells[0], "wall"), "there is no definition wall"),
        (lambda result: result.rates(result.cells[0], "max"), "there is no statistic max. There is median, mean"),
        (lambda result: result.rank_times_ns(result.cells[0], "sum"), "there is no statistic sum"),
    ):
        assert reason in message_of(topology_file, read)


def test_who_wants_a_report_of_a_link_test_says_so(topology_file: Path, tmp_path: Path):
    reason = "a result of leadline topology, not of leadline link"
    with pytest.raises(leadline.LeadlineError, match=reason):
        linktest_report(topology_file, tmp_path / "report.pdf")


def test_a_file_in_chunks_reads_the_same(topology_file: Path):
    names = ("arrival_time_ns", "exchange_time_ns", "partner", "row_start")
    other = in_chunks(topology_file, (f"topologies/0003/{name}" for name in names))
    ours, theirs = leadline.load(topology_file), leadline.load(other)
    assert isinstance(ours, TopologyResult)
    assert isinstance(theirs, TopologyResult)
    cell = ours.cell("complete2", "16KiB", 1)
    assert np.array_equal(ours.arrivals(cell, 2, 5).time_ns, theirs.arrivals(cell, 2, 5).time_ns)
    assert ours.rates(cell) == theirs.rates(cell)


FIRST = "topologies/0000"


DAMAGES: dict[str, tuple[Change, str]] = {
    "another benchmark": (attribute("benchmark", "weather"), "a result of 'weather', which this program does not know"),
    "a later version without what this one knows": (
        later_version_without("topologies"),
        "format version 4; this program knows up to 3: damaged: /topologies is missing",
    ),
    "no topologies": (remove("topologies"), "/topologies is missing"),
    "an empty list": (remove(*(f"topologies/{index:04d}" for index in range(6))), "/topologies has none"),
    "a gap": (remove(FIRST), "/topologies/0000 is missing"),
    "no facts": (lambda file: file[FIRST].attrs.__delitem__("shape"), "damaged"),
    "no channels": (attribute(f"{FIRST}/num_channels", np.int64(0)), "has 0 channels of 2 messages"),
    "three ways": (attribute(f"{FIRST}/num_ways", np.int32(3)), "7 channels of 3 messages"),
    "no partners": (remove(f"{FIRST}/partner"), f"/{FIRST}/partner is missing"),
    "few partners": (replace(f"{FIRST}/partner", np.zeros(13, "i4")), f"/{FIRST}/partner is int32 of the shape (13,)"),
    "no arrivals": (remove(f"{FIRST}/arrival_time_ns"), "arrival_time_ns is missing"),
    "no ranks' times": (remove(f"{FIRST}/rank_time_ns_p99"), "rank_time_ns_p99 is missing"),
    "flat times": (replace(f"{FIRST}/exchange_time_ns", np.zeros(20)), "exchange_time_ns has the shape (20,)"),
    "other sizes": (replace(f"{FIRST}/exchange_time_ns", np.zeros((2, 4, 20))), "has the shape (2, 4, 20)"),
    "other exchanges": (
        lambda file: [replace(f"{FIRST}/{name}", np.zeros((2, 3, 21)))(file)
                      for name in ("exchange_time_ns", "exchange_with_barrier_time_ns")] and None,
        "different numbers of exchanges",
    ),
    "whole numbers for times": (replace(f"{FIRST}/arrival_time_ns", np.zeros((2, 3, 14), "i8")), "is int64"),
    "half a load": (lambda file: file.create_group("load"), "/load/topology_index is missing"),
    "a list for the summary": (replace("summary", "[]"), "/summary is not a JSON object"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged(topology_file: Path, name: str):
    change, reason = DAMAGES[name]
    assert reason in message_of(changed(topology_file, change))


@pytest.mark.parametrize(
    ("dataset", "place", "value", "reason"),
    [
        ("partner", 3, 99, "partner names a rank that is not there"),
        ("partner", 3, -1, "partner names a rank that is not there"),
        ("row_start", 4, 99, "row_start does not lead from 0 to 14"),
        ("row_start", 8, 13, "row_start does not lead from 0 to 14"),
        ("arrival_time_ns", (0, 0, 2), -1.0, "no measurement gives"),
        ("arrival_time_ns", (0, 0, 2), np.nan, "no measurement gives"),
        ("arrival_time_ns", (0, 0, 2), np.inf, "no measurement gives"),
    ],
)  # fmt: skip
def test_impossible_values_are_found_when_they_are_read(
    topology_file: Path, dataset: str, place: object, value: float, reason: str
):
    changed(topology_file, put(f"{FIRST}/{dataset}", place, value))
    assert reason in message_of(topology_file, lambda result: result.arrivals(result.cells[0]))


@pytest.mark.parametrize(("column", "value"), [("topology_index", 2), ("size_index", -1), ("repeat", -1)])
def test_points_of_a_load_that_cannot_be(tmp_path: Path, column: str, value: int):
    path = write_topologies(tmp_path / "run.h5", under_load())
    assert "/load has topology" in message_of(changed(path, put(f"load/{column}", 5, value)))


def test_a_time_of_a_load_that_cannot_be(tmp_path: Path):
    path = write_topologies(tmp_path / "run.h5", under_load())
    assert "/load has values that no measurement gives" in message_of(changed(path, put("load/time_ns_max", 5, -1.0)))


def test_many_stars(tmp_path: Path):
    result = loaded(each_star(), tmp_path)
    assert len(result.topologies) == 16
    assert len(result.cells) == 32
    assert [len(result.channels("star:5", rank).partner) for rank in (4, 5, 6)] == [1, 15, 1]


def test_extents_of_a_torus(tmp_path: Path):
    path = write_topologies(tmp_path / "run.h5", MadeUpTopologies(nodes(1, 4), ["ring2"], [1024], 1))
    with h5py.File(path, "r+") as file:
        file[f"{FIRST}/extents"] = np.array([2, 2], dtype=np.int32)
    result = leadline.load_topology(path)
    assert result.topologies[0].extents == (2, 2)


def test_channels_of_lost_ranks_do_not_count(tmp_path: Path):
    """Rank 3 of 8 left nothing: 21 of 28 channels were served, six by each of the others."""
    made = MadeUpTopologies(nodes(2, 4), ["complete2"], [4096], num_repeats=1, num_cells=1, lost_ranks=[3])
    result = loaded(made, tmp_path)
    cell = result.cell("complete2")
    assert result.num_served(cell).tolist() == [6, 6, 6, 0, 6, 6, 6, 6]
    rates = result.rates(cell)
    assert rates.total == pytest.approx(21 * rates.average)
    assert rates.local == pytest.approx(6 * rates.average)
    assert result.rank_rates(cell)[0] == pytest.approx(6 * 2 * 4096 * 1e9 / result.rank_times_ns(cell)[0])
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        del file["topologies/0000/num_served"]
    older = leadline.load_topology(tmp_path / "run.h5")
    assert older.num_served(cell).tolist() == [7] * 8


def test_more_channels_than_there_are_is_damage(tmp_path: Path):
    path = write_topologies(tmp_path / "run.h5", even())
    with h5py.File(path, "r+") as file:
        file["topologies/0000/num_served"][...] = 1000
    result = leadline.load_topology(path)
    with pytest.raises(leadline.LeadlineError, match="more channels than there are"):
        result.num_served(result.cells[0])

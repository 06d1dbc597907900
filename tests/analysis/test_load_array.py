# SPDX-License-Identifier: Apache-2.0
"""The Python API: arrays that know what their numbers are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import leadline
from conftest import NODES, between_hosts, hostile, one_rank, partial, sweep, write_result
from leadline.error import ExitStatus


def test_an_array_knows_what_it_is(result_file: Path):
    result = leadline.load(result_file)
    times = result.array("p99")
    assert (times.name, times.unit, times.dims) == ("time_ns_p99", "ns", ("from_rank", "to_rank"))
    assert (times.message_size_bytes, times.repeat) == (1024, 0)
    assert list(times.hosts) == NODES
    np.testing.assert_array_equal(times.values, result.matrix(result.slices[0], leadline.Statistic.P99))
    assert result.array().name == "time_ns_median"
    counts = result.array("count")
    assert (counts.name, counts.unit, counts.values[0, 1]) == ("count", "1", 20)


def test_bandwidths(tmp_path: Path):
    both = leadline.load(write_result(tmp_path / "run.h5", sweep()))
    times, bandwidths = (made("min", "64KiB", 1) for made in (both.array, both.bandwidth))
    assert (bandwidths.name, bandwidths.unit) == ("bandwidth_bytes_per_s", "bytes/s")
    np.testing.assert_allclose(bandwidths.values, 2 * 65536 * 1e9 / times.values)


def test_a_choice_that_is_open_is_an_error(tmp_path: Path):
    result = leadline.load(write_result(tmp_path / "run.h5", sweep()))
    for arguments in ({}, {"size": 8}, {"repeat": 0}):
        with pytest.raises(
            leadline.LeadlineError, match=r"say which\. It has size=8 B, 1 KiB.*; repeat=0, 1"
        ) as caught:
            result.array(**arguments)
        assert caught.value.status is ExitStatus.BAD_COMMAND_LINE
    assert result.part("1 KiB", 1) == result.slices[5]
    assert result.part(1024, repeat=1) == result.slices[5]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (
            lambda result: result.array("mode"),
            "there is no statistic mode. There is median, min, mean, p99, max, count",
        ),
        (lambda result: result.bandwidth("count"), "there is no time count"),
        (lambda result: result.array(size="3KiB"), "the result has no such part. It has size=1 KiB; repeat=0"),
        (lambda result: result.array(size="large"), "'large' is no size"),
        (lambda result: result.array(repeat=1), "the result has no such part"),
        (lambda result: result.array().by_host("mode"), "there is no reduction mode"),
    ],
)
def test_words_that_mean_nothing(call, reason: str, result_file: Path):
    with pytest.raises(leadline.LeadlineError) as caught:
        call(leadline.load(result_file))
    assert reason in str(caught.value)


def test_hosts_to_hosts(result_file: Path):
    times = leadline.load(result_file).array()
    for name, reduction in {"median": np.nanmedian, "max": np.nanmax, "min": np.nanmin, "mean": np.nanmean}.items():
        hosts = times.by_host(name)
        assert (hosts.dims, hosts.hosts) == (("from_host", "to_host"), ("node01.cluster", "node02.cluster"))
        assert (hosts.name, hosts.unit) == ("time_ns_median", "ns")
        expected = [[reduction(times.values[4 * a : 4 * a + 4, 4 * b : 4 * b + 4]) for b in range(2)] for a in range(2)]
        np.testing.assert_allclose(hosts.values, expected)


@pytest.mark.filterwarnings("error")
def test_hosts_that_did_not_meet_have_nothing(tmp_path: Path):
    times = leadline.load(write_result(tmp_path / "run.h5", between_hosts())).array()
    hosts = times.by_host()
    assert np.isfinite(hosts.values).tolist() == [[False, True], [True, False]]


def test_a_table_has_the_measured_pairs(tmp_path: Path):
    times = leadline.load(write_result(tmp_path / "run.h5", partial())).array(size=8)
    table = times.to_table()
    assert list(table) == ["from_rank", "to_rank", "from_host", "to_host", "time_ns_median"]
    measured = np.isfinite(times.values)
    assert {len(column) for column in table.values()} == {int(measured.sum())}
    for index in (0, 17, -1):
        from_rank, to_rank = table["from_rank"][index], table["to_rank"][index]
        assert table["time_ns_median"][index] == times.values[from_rank, to_rank]
        assert (table["from_host"][index], table["to_host"][index]) == (NODES[from_rank], NODES[to_rank])
    hosts = times.by_host().to_table()
    assert list(hosts) == ["from_host", "to_host", "time_ns_median"]
    assert hosts["to_host"].tolist() == ["node01.cluster", "node02.cluster"] * 2


def test_the_smallest_and_the_strangest(tmp_path: Path):
    alone = leadline.load(write_result(tmp_path / "one.h5", one_rank())).array()
    assert alone.by_host().values.shape == (1, 1)
    strange = leadline.load(write_result(tmp_path / "strange.h5", hostile())).array()
    assert len(strange.to_table()["from_host"]) == 12


@pytest.mark.parametrize("num_cells", [1, 24, 1000])
def test_blocks_of_rows_are_the_matrix(num_cells: int, result_file: Path):
    result = leadline.load(result_file)
    blocks = list(result.row_blocks(result.part(), "time_ns_max", num_cells))
    assert [first for first, _ in blocks] == list(range(0, 8, min(max(num_cells // 8, 1), 8)))
    expected = result.matrix(result.part(), leadline.Statistic.MAX)
    np.testing.assert_array_equal(np.concatenate([rows for _, rows in blocks]), expected)

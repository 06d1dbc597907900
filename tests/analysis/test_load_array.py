# SPDX-License-Identifier: Apache-2.0
"""The Python API: arrays that know what their numbers are."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from pathlib import Path

import made_up_io
import numpy as np
import pytest
from made_up_bisection import slow_host, write_bisection
from made_up_topology import even, write_topologies

import leadline
from conftest import NODES, between_hosts, hostile, one_rank, partial, sweep, write_result
from leadline.error import ExitStatus

LINKTEST = Path(__file__).parents[1] / "samples" / "linktest" / "ompi_n8_1KiB_a2a.sion"


def test_an_array_knows_what_it_is(result_file: Path):
    result = leadline.load(result_file)
    times = result.times["p99"]
    assert (times.name, times.unit, times.dims) == ("time_ns_p99", "ns", ("from_rank", "to_rank"))
    assert (times.message_size_bytes, times.repeat) == (1024, 0)
    assert list(times.row_hosts) == NODES
    np.testing.assert_array_equal(times.values, result.matrix(result.slices[0], leadline.Statistic.P99))
    assert list(result.times) == ["median", "min", "mean", "p99", "max"]
    assert result.count(result.slice())[0, 1] == 20


def test_bandwidths(tmp_path: Path):
    both = leadline.load(write_result(tmp_path / "run.h5", sweep()))
    times, bandwidths = (made["min", "64KiB", 1] for made in (both.times, both.bandwidths))
    assert (bandwidths.name, bandwidths.unit) == ("bandwidth_bytes_per_s", "bytes/s")
    np.testing.assert_allclose(bandwidths.values, 2 * 65536 * 1e9 / times.values)


def test_a_choice_that_is_open_is_an_error(tmp_path: Path):
    result = leadline.load(write_result(tmp_path / "run.h5", sweep()))
    for choice in ("median", ("median", 8)):
        with pytest.raises(
            leadline.LeadlineError, match=r"say which\. It has size=8 B, 1 KiB.*; repeat=0, 1"
        ) as caught:
            result.times[choice]
        assert caught.value.status is ExitStatus.BAD_COMMAND_LINE
    assert result.slice("1 KiB", 1) == result.slices[5]
    assert result.slice(1024, repeat=1) == result.slices[5]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda result: result.times["mode"], "there is no statistic mode. There is median, min, mean, p99, max"),
        (lambda result: result.bandwidths["count"], "there is no statistic count"),
        (lambda result: result.times["min", "3KiB"], "the result has no such slice. It has size=1 KiB; repeat=0"),
        (lambda result: result.times["min", "large"], "'large' is no size"),
        (lambda result: result.times["min", 1024, 1], "the result has no such slice"),
        (lambda result: result.times["min"].by_host("mode"), "there is no reduction mode"),
    ],
)
def test_words_that_mean_nothing(call, reason: str, result_file: Path):
    with pytest.raises(leadline.LeadlineError) as caught:
        call(leadline.load(result_file))
    assert reason in str(caught.value)


def test_hosts_to_hosts(result_file: Path):
    times = leadline.load(result_file).times["median"]
    for name, reduction in {"median": np.nanmedian, "max": np.nanmax, "min": np.nanmin, "mean": np.nanmean}.items():
        hosts = times.by_host(name)
        assert (hosts.dims, hosts.row_hosts) == (("from_host", "to_host"), ("node01.cluster", "node02.cluster"))
        assert (hosts.name, hosts.unit) == ("time_ns_median", "ns")
        expected = [[reduction(times.values[4 * a : 4 * a + 4, 4 * b : 4 * b + 4]) for b in range(2)] for a in range(2)]
        np.testing.assert_allclose(hosts.values, expected)


@pytest.mark.filterwarnings("error")
def test_hosts_that_did_not_meet_have_nothing(tmp_path: Path):
    times = leadline.load(write_result(tmp_path / "run.h5", between_hosts())).times["median"]
    hosts = times.by_host()
    assert np.isfinite(hosts.values).tolist() == [[False, True], [True, False]]


def test_a_table_has_the_measured_pairs(tmp_path: Path):
    times = leadline.load(write_result(tmp_path / "run.h5", partial())).times["median", 8]
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
    alone = leadline.load(write_result(tmp_path / "one.h5", one_rank())).times["median"]
    assert alone.by_host().values.shape == (1, 1)
    strange = leadline.load(write_result(tmp_path / "strange.h5", hostile())).times["median"]
    assert len(strange.to_table()["from_host"]) == 12


@pytest.mark.parametrize("num_cells", [1, 24, 1000])
def test_blocks_of_rows_are_the_matrix(num_cells: int, result_file: Path):
    result = leadline.load(result_file)
    blocks = list(result.row_blocks(result.slice(), "time_ns_max", num_cells))
    assert [first for first, _ in blocks] == list(range(0, 8, min(max(num_cells // 8, 1), 8)))
    expected = result.matrix(result.slice(), leadline.Statistic.MAX)
    np.testing.assert_array_equal(np.concatenate([rows for _, rows in blocks]), expected)


def test_numpy_takes_it(result_file: Path):
    times = leadline.load_link(result_file).times["median"]
    np.testing.assert_array_equal(np.asarray(times), times.values)
    assert np.nanmax(times) == np.nanmax(times.values)
    assert np.array(times, dtype=np.float32).dtype == np.float32
    changed = np.array(times)
    changed[:] = 0
    assert np.nanmin(times.values) > 0


def test_arithmetic_is_numpy_s(result_file: Path):
    times = leadline.load_link(result_file).times["median"]
    assert times[0, 5] == times.values[0, 5]
    np.testing.assert_array_equal(times[2:4, 1], times.values[2:4, 1])
    for made, expected in (
        (times / 1000, times.values / 1000),
        (2 * times - times, times.values),
        (times > 3000, times.values > 3000),
        (np.log(times), np.log(times.values)),
        (np.nanmax(times, axis=0), np.nanmax(times.values, axis=0)),
    ):
        assert type(made) is np.ndarray
        np.testing.assert_array_equal(made, expected)


def test_a_matrix_is_read_when_it_is_asked_for(tmp_path: Path):
    result = leadline.load_link(write_result(tmp_path / "run.h5", sweep()))
    asked: list[tuple[leadline.Slice, str]] = []

    def read_rows(part: leadline.Slice, dataset: str, first: int, end: int) -> np.ndarray:
        asked.append((part, dataset))
        return result.read_rows(part, dataset, first, end)

    seen = dataclasses.replace(result, read_rows=read_rows)
    matrices = seen.times
    assert repr(matrices).startswith("PairMatrices: time_ns at median, min, mean, p99, max of")
    assert (next(iter(matrices)), asked) == ("median", [])
    assert matrices["p99", "1KiB", 1].shape == (8, 8)
    assert asked == [(result.slice("1KiB", 1), "time_ns_p99")]


def test_a_matrix_that_no_memory_holds(result_file: Path):
    def read_rows(*_: object) -> np.ndarray:
        raise MemoryError

    result = dataclasses.replace(leadline.load_link(result_file), read_rows=read_rows)
    with pytest.raises(leadline.LeadlineError, match=r"of 8 ranks, 512 B, does not fit .* row_blocks\(\)") as caught:
        result.times["median"]
    assert caught.value.status is ExitStatus.SOMETHING_MISSING


def test_pandas_and_xarray_take_it(result_file: Path):
    times = leadline.load_link(result_file).times["p99"]
    frame = times.to_pandas()
    assert list(frame.columns) == ["from_rank", "to_rank", "from_host", "to_host", "time_ns_p99"]
    slowest = frame.groupby(["from_host", "to_host"])["time_ns_p99"].max().unstack()
    np.testing.assert_allclose(slowest.to_numpy(), times.by_host("max").values)
    array = times.to_xarray()
    assert array.dims == ("from_rank", "to_rank")
    assert array.attrs == {"units": "ns", "message_size_bytes": 1024, "repeat": 0}
    assert float(array.sel(from_rank=0, to_rank=5)) == times.values[0, 5]
    assert array.coords["to_host"].values.tolist() == NODES
    assert times.by_host().to_xarray().dims == ("from_host", "to_host")


def test_columns_of_the_other_benchmarks_are_tables(tmp_path: Path):
    topology = leadline.load_topology(write_topologies(tmp_path / "topology.h5", even()))
    channels, arrivals = topology.channels("ring2", 1), topology.arrivals(topology.cell("ring2", "16KiB", 0))
    assert channels.to_pandas().to_dict("list") == {"rank": [1, 1], "partner": [2, 0], "starts": [True, False]}
    latest = arrivals.to_pandas().nlargest(1, "time_ns")
    assert latest["time_ns"].tolist() == [arrivals.time_ns.max()]
    bisection = leadline.load_bisection(write_bisection(tmp_path / "bisection.h5", slow_host()))
    patterns = bisection.patterns("1MiB")
    assert len(patterns.to_pandas()) == len(patterns) == 105
    assert list(bisection.baseline("1MiB").to_pandas())[1:] == ["from_rank", "to_rank", "time_ns", "bytes_per_s"]
    io = leadline.load_io(made_up_io.write_io(tmp_path / "io.h5", made_up_io.even()))
    rows = io.rows(io.phase("write"))
    frame = rows.to_pandas()
    assert len(frame) == len(rows) == io.num_ranks
    np.testing.assert_array_equal(frame["call_ns"], rows.times_ns["call"])
    np.testing.assert_array_equal(frame["bytes"], rows.bytes)


def test_a_library_that_is_missing_is_named(result_file: Path, monkeypatch: pytest.MonkeyPatch):
    times = leadline.load_link(result_file).times["median"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "xarray", None)
    for name, method in {"pandas": times.to_pandas, "xarray": times.to_xarray}.items():
        with pytest.raises(leadline.LeadlineError, match=rf"needs {name} .*pip install {name}") as caught:
            method()
        assert caught.value.status is ExitStatus.SOMETHING_MISSING


def test_a_picture_of_it(result_file: Path):
    axes = leadline.load_link(result_file).times["median"].plot()
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("to rank", "from rank", "1 KiB")
    assert axes.images[0].get_array().shape == (8, 8)
    assert leadline.load_link(result_file).times["min"].plot(axes) is axes


def test_a_result_says_what_it_is_in_three_lines(tmp_path: Path):
    result = leadline.load_link(write_result(tmp_path / "run.h5", sweep()))
    for one in (result, result.times["median", 8, 0], result.times["median", 8, 0].by_host()):
        assert repr(one).count("\n") == 2
        assert len(repr(one)) < 600
    assert f"LinkResult of {tmp_path / 'run.h5'}, complete" in repr(result)
    assert "8 ranks on 2 hosts over tcp" in repr(result)
    assert "2 repeats of 8 B, 1 KiB" in repr(result)
    assert "time_ns_median in ns, from_rank x to_rank [8, 8], 8 B, repeat 0" in repr(result.times["median", 8, 0])


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (lambda path: write_topologies(path, even()), lambda result: result.exchange_times_ns(result.cells[0])),
        (lambda path: write_bisection(path, slow_host()), lambda result: result.patterns("1MiB")),
        (lambda path: made_up_io.write_io(path, made_up_io.even()), lambda result: result.rows(result.phases[0])),
    ],
)
def test_a_closed_result_of_the_other_benchmarks_is_not_read(write, read, tmp_path: Path):
    with leadline.load(write(tmp_path / "run.h5")) as result:
        read(result)
    with pytest.raises(leadline.LeadlineError, match=r"the result was closed\)\. Read it inside the with statement"):
        read(result)


@pytest.mark.usefixtures("real_program")
@pytest.mark.parametrize("kind", ["h5", "sion"])
def test_a_closed_result_is_not_read(kind: str, result_file: Path):
    path = result_file if kind == "h5" else LINKTEST
    with leadline.load_link(path) as result:
        times = result.matrix(result.slices[0])
    assert np.isfinite(times).any()
    with pytest.raises(leadline.LeadlineError, match="the result was closed"):
        result.matrix(result.slices[0])
    result.close()
    assert result.num_ranks > 1, "what was read at first is still there"


def test_a_name_is_an_attribute_or_a_method():
    """In all classes the same; only an attribute may have the name of the method that finds one of several."""
    attributes, methods = set(), set()
    for kind in (getattr(leadline, name) for name in leadline.__all__):
        if not dataclasses.is_dataclass(kind):
            continue
        attributes |= {one.name for one in dataclasses.fields(kind)}
        for name in (name for name in dir(kind) if not name.startswith("_")):
            (methods if inspect.isfunction(inspect.getattr_static(kind, name)) else attributes).add(name)
    assert attributes & methods == {"cell", "topology"}
    assert {"cells", "topologies", "slices", "phases"} <= attributes
    assert {"cell", "topology", "slice", "phase"} <= methods

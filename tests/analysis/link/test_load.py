# SPDX-License-Identifier: Apache-2.0
"""Loading: what was written comes back, and whatever is not a result is one clear line."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np
import pytest
from damage import Change, attribute, changed, later_version_without, line_of, remove, replace

import leadline
from conftest import (
    STATISTICS,
    MadeUp,
    between_hosts,
    bisection,
    few_rounds,
    one_per_host,
    one_rank,
    partial,
    sweep,
    two_hosts,
    write_result,
)
from leadline.error import ExitStatus, printable_name


def test_what_was_written_comes_back(any_made: MadeUp, tmp_path: Path):
    result = leadline.load(write_result(tmp_path / "run.h5", any_made))
    assert [place.host for place in result.ranks] == [printable_name(host) for host in any_made.hosts]
    assert list(result.message_sizes_bytes) == any_made.sizes
    assert result.complete == any_made.complete
    assert list(result.provenance.command_line) == any_made.command_line
    assert len(result.slices) == len(any_made.sizes) * len(any_made.times)
    for part in result.slices:
        times = np.array(any_made.times[part.repeat][part.size_index])
        assert part.message_size_bytes == any_made.sizes[part.size_index]
        for name, factor in STATISTICS.items():
            expected = np.where(times > 0, times * factor, np.nan)
            np.testing.assert_array_equal(result.matrix(part, leadline.Statistic(name)), expected)
        np.testing.assert_array_equal(result.count(part), np.where(times > 0, 20, np.nan))
    assert len(result.retests) == len(any_made.retests)
    assert [finding.id for finding in result.findings] == [finding["id"] for finding in any_made.findings]


def test_provenance_and_places(result_file: Path):
    result = leadline.load(result_file)
    assert result.provenance.transport == "tcp"
    assert result.provenance.clock_cost_ns == 21.5
    assert result.provenance.simulated is False
    assert result.provenance.end_utc == "2026-01-31T23:59:12Z"
    assert result.options["messages"] == "100"
    assert result.ranks[3] == leadline.RankLocation(3, "node01.cluster", "lo", "3", 1003, 1, -1)
    assert result.hosts == ("node01.cluster", "node02.cluster")
    assert result.host_index.tolist() == [0] * 4 + [1] * 4
    assert (result.nonce, result.format_version) == ("a1b2c3", 1)


def test_a_later_version_is_read_as_far_as_it_is_known(result_file: Path):
    with h5py.File(result_file, "r+") as file:
        file.attrs["format_version"] = np.int32(4)
        file["repeats/0000/new_quantity"] = np.zeros((1, 8, 8))
        file["new_group/new_list"] = np.arange(3)
    result = leadline.load(result_file)
    assert result.format_version == 4
    assert np.isfinite(result.matrix(result.slices[0])).sum() == 8 * 7


def test_adapters_of_ranks_are_known_where_the_file_has_them(result_file: Path):
    ranks = leadline.load(result_file).ranks
    assert {place.adapter for place in ranks} == {""}, "older files have none"
    with h5py.File(result_file, "r+") as file:
        file["ranks/adapter"] = np.array([f"mlx5_{rank % 2}".encode() for rank in range(len(ranks))], dtype="S64")
    assert [place.adapter for place in leadline.load(result_file).ranks[:3]] == ["mlx5_0", "mlx5_1", "mlx5_0"]


def test_names_stay_in_their_line(tmp_path: Path):
    made = two_hosts()
    made.hosts = ["a\nb\tc\x1b[1m", "d\u2028e\u202ef\u2066\u200fg\u05d0", *made.hosts[2:]]
    result = leadline.load(write_result(tmp_path / "run.h5", made))
    names = [place.host for place in result.ranks[:2]]
    assert names == ["a\ufffdb\ufffdc\ufffd[1m", "d\ufffde\ufffdf\ufffd\ufffdg\u05d0"]


def test_an_incomplete_result_says_why(tmp_path: Path):
    result = leadline.load(write_result(tmp_path / "run.h5", partial()))
    assert not result.complete
    assert result.incomplete_reason.startswith("rank 3 on node01.cluster was lost")
    assert result.summary is None
    assert result.provenance.end_utc == ""
    assert np.isnan(result.matrix(result.slices[0])[3]).all()


def test_both_directions_count_where_both_send(tmp_path: Path):
    both = leadline.load(write_result(tmp_path / "both.h5", sweep()))
    one = leadline.load(write_result(tmp_path / "one.h5", one_rank()))
    assert both.bandwidth_bytes_per_s(1e9, 1024) == 2048
    assert one.bandwidth_bytes_per_s(1e9, 1024) == 1024


@pytest.mark.parametrize("made", [bisection, between_hosts, few_rounds, one_per_host, lambda: one_per_host(1)])
def test_the_schedule_says_what_is_to_be_measured(made: Callable[[], MadeUp], tmp_path: Path):
    expected = made()
    assert expected.rounds
    result = leadline.load(write_result(tmp_path / "run.h5", expected))
    assert result.repeats_with_rounds == set(range(len(expected.rounds)))
    for part in result.slices:
        to_measure = result.to_measure(part)
        assert to_measure.dtype == bool
        np.testing.assert_array_equal(to_measure, expected.rounds[part.repeat] > 0)
        np.testing.assert_array_equal(to_measure, np.isfinite(result.matrix(part)))


@pytest.mark.parametrize("num_ranks", [1, 4])
@pytest.mark.parametrize("rounds", ["of an older version", "not yet written"])
def test_without_a_schedule_all_pairs_are_to_be_measured(rounds: str, num_ranks: int, tmp_path: Path):
    made = MadeUp(["a"] * num_ranks, [[np.zeros((num_ranks, num_ranks))]], complete=False)
    made.rounds = [np.zeros((num_ranks, num_ranks))] if rounds == "not yet written" else None
    result = leadline.load(write_result(tmp_path / "run.h5", made))
    expected = [[True]] if num_ranks == 1 else (~np.eye(num_ranks, dtype=bool)).tolist()
    assert result.to_measure(result.slices[0]).tolist() == expected


def test_what_was_measured_of_many_pairs_together(tmp_path: Path):
    cut = leadline.load(write_result(tmp_path / "cut.h5", bisection()))
    assert cut.bisection_bytes_per_s == {cut.slices[0]: leadline.Spread(8, 2 * 2**30, 2.5 * 2**30, 3 * 2**30)}
    assert cut.all_to_all == {}
    apart = leadline.load(write_result(tmp_path / "apart.h5", between_hosts()))
    before, after = leadline.Spread(8, 20e3, 30e3, 40e3), leadline.Spread(8, 40e3, 60e3, 80e3)
    assert apart.all_to_all == {apart.slices[0]: leadline.AllToAll(65536, before, after, None)}
    assert apart.bisection_bytes_per_s == {}


def test_what_linktest_told(result_file: Path):
    assert leadline.load(result_file).linktest is None
    numbers = {"num_iterations": 3, "message_size_bytes": 1024, "has_all_to_all": 1, "is_serial": 0, "is_permuted": 1}
    times = {
        f"{name}_{which}": 1e-6 * len(which) for name in ("time_s", "all_to_all_time_s") for which in ("min", "max")
    }
    with h5py.File(result_file, "r+") as file:
        group = file.create_group("linktest")
        group.attrs.update(numbers | times | {"time_s_mean": 4e-6, "all_to_all_time_s_mean": 5e-6})
        group["location"] = np.arange(32, dtype=np.int32).reshape(8, 4)
    record = leadline.load(result_file).linktest
    assert record is not None
    assert (record.num_iterations, record.message_size_bytes) == (3, 1024)
    assert (record.has_all_to_all, record.is_serial, record.is_permuted) == (True, False, True)
    assert (record.time_s, record.all_to_all_time_s) == ((3e-6, 3e-6, 4e-6), (3e-6, 3e-6, 5e-6))
    assert record.location[7].tolist() == [28, 29, 30, 31]


def test_rows_are_read_alone(result_file: Path):
    result = leadline.load(result_file)
    part = result.slices[0]
    rows = result.read_rows(part, "time_ns_median", 2, 4)
    np.testing.assert_array_equal(rows, result.matrix(part)[2:4])


@pytest.mark.parametrize("change", ["none", "big-endian", "float32", "chunked", "packed"])
def test_rows_are_the_same_however_they_are_stored(result_file: Path, change: str):
    whole = leadline.load(result_file)
    expected = whole.matrix(whole.slices[0])
    name = "repeats/0000/time_ns_median"
    stored = np.nan_to_num(expected)[None, :, :]
    how = {"chunked": {"chunks": (1, 3, 5)}, "packed": {"chunks": (1, 8, 8), "compression": "gzip"}}.get(change, {})
    if change == "float32":
        expected = expected.astype(np.float32).astype(np.float64)
    kind = {"big-endian": ">f8", "float32": "<f4"}.get(change, "<f8")
    with h5py.File(result_file, "r+") as file:
        del file[name]
        file.create_dataset(name, data=stored.astype(kind), **how)
    result = leadline.load(result_file)
    part = result.slices[0]
    np.testing.assert_array_equal(result.matrix(part), expected)
    np.testing.assert_array_equal(result.read_rows(part, "time_ns_median", 3, 5), expected[3:5])
    rows, columns = np.array([6, 1]), np.array([7, 2, 3])
    np.testing.assert_array_equal(
        result.read_block(part, "time_ns_median", rows, columns), expected[np.ix_(rows, columns)]
    )


def test_several_threads_read_one_result(tmp_path: Path):
    result = leadline.load(write_result(tmp_path / "run.h5", sweep()))
    expected = {part: result.matrix(part) for part in result.slices}
    wanted = [(part, row) for part in result.slices for row in range(8)] * 20

    def is_right(part: leadline.Slice, row: int) -> bool:
        return np.array_equal(result.read_rows(part, "time_ns_median", row, row + 1)[0], expected[part][row], True)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(is_right, *zip(*wanted, strict=True), timeout=60))


def test_a_result_outlives_its_name(result_file: Path):
    result = leadline.load(result_file)
    expected = result.matrix(result.slices[0])
    result_file.unlink()
    np.testing.assert_array_equal(result.matrix(result.slices[0]), expected)


def test_a_file_that_becomes_shorter_while_it_is_read(result_file: Path):
    result = leadline.load(result_file)
    with result_file.open("rb+") as stream:
        stream.truncate(4000)
    with pytest.raises(leadline.LeadlineError, match="the file is truncated"):
        result.matrix(result.slices[0])


def test_parts_in_other_files_are_not_taken(result_file: Path, tmp_path: Path):
    other = tmp_path / "other.h5"
    write_result(other, sweep())
    with h5py.File(result_file, "r+") as file:
        del file["ranks/host"]
        file["ranks/host"] = h5py.ExternalLink(str(other), "/ranks/host")
    assert "/ranks/host lies in another file" in message_of(result_file)


def test_matrices_in_other_files_are_not_read(result_file: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(8 * 64))
    name = "repeats/0000/time_ns_max"
    with h5py.File(result_file, "r+") as file:
        del file[name]
        file.create_dataset(name, (1, 8, 8), "f8", external=[(str(secret), 0, 512)])
    assert f"/{name} lies in another file" in message_of(result_file)


def test_a_table_that_the_file_has_no_room_for(result_file: Path):
    with h5py.File(result_file, "r+") as file:
        del file["ranks/pid"]
        file.create_dataset("ranks/pid", (1 << 40,), "i4", chunks=(1 << 20,))
    assert "more than the file has room for" in message_of(result_file)


def message_of(path: Path, status: ExitStatus = ExitStatus.RUN_FAILED) -> str:
    def read(result: leadline.LinkResult) -> None:
        for part in result.slices:
            result.matrix(part)
            result.to_measure(part)

    return line_of(path, read, status)


def test_no_such_file(tmp_path: Path):
    with pytest.raises(
        leadline.LeadlineError, match=r"cannot read '.*none.h5' \(No such file or directory\)"
    ) as caught:
        leadline.load(tmp_path / "none.h5")
    assert caught.value.status is ExitStatus.BAD_COMMAND_LINE


def test_a_folder(tmp_path: Path):
    with pytest.raises(leadline.LeadlineError, match="Is a directory") as caught:
        leadline.load(tmp_path)
    assert caught.value.status is ExitStatus.BAD_COMMAND_LINE


@pytest.mark.parametrize(
    ("contents", "reason", "status"),
    [
        (b"", "the file is empty", ExitStatus.RUN_FAILED),
        (b"not a result\n", "neither HDF5 nor SION", ExitStatus.BAD_COMMAND_LINE),
        (bytes(range(256)) * 64, "neither HDF5 nor SION", ExitStatus.BAD_COMMAND_LINE),
        (json.dumps({"benchmark": "link"}).encode(), "this is JSON", ExitStatus.BAD_COMMAND_LINE),
        (json.dumps({"benchmark": "bisection-simulation"}).encode(), "load_simulation()", ExitStatus.BAD_COMMAND_LINE),
        (b"\x89HDF", "the HDF5 header is broken", ExitStatus.RUN_FAILED),
        (b"\x89HDF\r\n\x1a\n" + bytes(200), "damaged", ExitStatus.RUN_FAILED),
    ],
)
def test_files_of_other_kinds(tmp_path: Path, contents: bytes, reason: str, status: ExitStatus):
    path = tmp_path / "run.h5"
    path.write_bytes(contents)
    assert reason in message_of(path, status)


def test_a_pipe_is_refused_at_once(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(leadline.LeadlineError, match="it is no regular file"):
        leadline.load(tmp_path / "pipe")


def set_rounds(rounds: np.ndarray) -> Change:
    def change(file: h5py.File) -> None:
        file["repeats/0000/round"] = rounds

    return change


DAMAGES = {
    "another kind": (attribute("format", "other"), "not a result of leadline"),
    "a later version without what this one knows": (
        later_version_without("message_size_bytes"),
        "format version 4; this program knows up to 3: damaged: /message_size_bytes is missing",
    ),
    "another benchmark": (attribute("benchmark", "weather"), "a result of 'weather'"),
    "no provenance": (remove("provenance"), "/provenance is missing"),
    "no status": (remove("status/complete"), "/status/complete is missing"),
    "no sizes": (remove("message_size_bytes"), "/message_size_bytes is missing"),
    "no hosts": (remove("ranks/host"), "/ranks/host is missing"),
    "no options": (remove("options"), "/options is missing"),
    "no repeats": (remove("repeats/0000"), "/repeats has none"),
    "no matrix": (remove("repeats/0000/time_ns_p99"), "/repeats/0000/time_ns_p99 is missing"),
    "a group for a matrix": (remove("repeats/0000/count"), "/repeats/0000/count is missing"),
    "a small matrix": (replace("repeats/0000/time_ns_max", np.zeros((1, 8, 7))), "of the shape (1, 8, 7)"),
    "text for a matrix": (replace("repeats/0000/time_ns_max", np.full((1, 8, 8), b"x")), "of the shape (1, 8, 8)"),
    "an odd number of places": (replace("ranks/pid", np.zeros(7, dtype=np.int32)), "/ranks/pid has the shape (7,)"),
    "another number of ranks": (attribute("provenance/num_ranks", np.int32(9)), "9 ranks, 8 places"),
    "words for a number": (attribute("provenance/num_rounds", "many"), "damaged"),
    "a command line that is none": (attribute("provenance/command_line", "[1,"), "damaged"),
    "a summary that is none": (replace("summary", "{"), "damaged"),
    "a summary that is a list": (replace("summary", "[]"), "/summary is not a JSON object"),
    "a pair that is not there": (replace("retest/to", np.array([99, 0, 0], dtype=np.int32)), "the pair 2 to 99"),
    "a small schedule": (set_rounds(np.zeros((8, 7), dtype=np.int32)), "/repeats/0000/round is int32 of the shape"),
    "a schedule of text": (set_rounds(np.full((8, 8), b"x")), "/repeats/0000/round is |S1"),
    "a negative round": (set_rounds(np.full((8, 8), -1, dtype=np.int32)), "no measurement gives"),
    "half a record of linktest": (lambda file: file.create_group("linktest"), "/linktest/location is missing"),
    "small locations": (
        lambda file: file.create_dataset("linktest/location", (8, 3), "i4"),
        "/linktest/location is int32 of the shape (8, 3)",
    ),
    "a cut without numbers": (
        replace("summary", json.dumps({"slices": [{"repeat": 0, "size_index": 0, "bisection": {}}]})),
        "damaged: 'bandwidth_bytes_per_s_min'",
    ),
    "negative times": (replace("repeats/0000/time_ns_median", -np.ones((1, 8, 8))), "no measurement gives"),
    "endless times": (replace("repeats/0000/time_ns_median", np.full((1, 8, 8), np.inf)), "no measurement gives"),
}


OTHER_KINDS = ("another kind", "another benchmark")


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged(result_file: Path, name: str):
    change, reason = DAMAGES[name]
    changed(result_file, change)
    status = ExitStatus.BAD_COMMAND_LINE if name in OTHER_KINDS else ExitStatus.RUN_FAILED
    assert reason in message_of(result_file, status)


def test_a_lock_does_not_matter(result_file: Path):
    # The HDF5 library locks a file that it writes; a report of a run under way must not wait for that.
    with result_file.open("rb+") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        assert leadline.load(result_file).num_ranks == 8

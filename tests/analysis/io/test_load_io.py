# SPDX-License-Identifier: Apache-2.0
"""Results of the parallel file test come back as they were written, and what is no result says so in one line."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from damage import changed, line_of, put, remove
from damage import replace as replaced
from made_up_io import (
    MADE_UP_IOS,
    TIMES,
    even,
    interrupted,
    killed,
    loaded,
    many_ranks,
    rows_of,
    straggling,
    write_io,
)

import leadline
from leadline.diagnosis import diagnosed_in
from leadline.export.csv_table import csv_pieces
from leadline.io.analysis import MOST_ROWS, analyse_phase, coarsened, rest_ns, summed
from leadline.io.export import RANKS, table_of
from leadline.io.page import analyse_io, render_io
from leadline.io.result import IO_TIMES, PhaseState, Series
from leadline.io.text import headline, missing


def test_head_and_phases(tmp_path: Path):
    result = loaded(straggling(), tmp_path)
    assert (result.num_ranks, len(result.hosts), result.movement, result.order) == (32, 4, "N-N", "segmented")
    assert (result.num_objects, result.object_size_bytes, result.run) == (64, 1 << 20, 77)
    assert (result.backend_library, result.file_system) == ("POSIX", "ext4")
    assert result.io_ranks == tuple(range(32))
    assert result.files[31] == "/scratch/t.31"
    assert [phase.name for phase in result.phases] == ["write", "read", "write 2", "read 2", "write 3", "read 3"]
    assert all(phase.state == PhaseState.COMPLETE for phase in result.phases)
    assert result.phase("read", 1).index == 3
    with pytest.raises(leadline.LeadlineError, match="there is no phase read 7"):
        result.phase("read", 7)


def test_rows_are_those_that_were_written(tmp_path: Path):
    made = straggling()
    result = loaded(made, tmp_path)
    for phase in result.phases:
        rows, written = result.rows(phase), rows_of(made, phase.index)
        assert rows.has_row.all()
        assert tuple(rows.times_ns) == IO_TIMES == TIMES
        for name in TIMES:
            assert np.array_equal(rows.times_ns[name], written[f"{name}_ns"])
        for name in ("begin_ns", "end_ns", "io_ns", "num_objects", "bytes", "cached_before", "file", "call_ns_max"):
            assert np.array_equal(getattr(rows, name), written[name])
        assert np.array_equal(result.latencies(phase, 3, 9), written["latencies"][3:9])
        series = result.series(phase)
        assert np.array_equal(series.bytes, written["series_bytes"])
        assert np.array_equal(series.bin_ns, written["series_bin_ns"])


def test_a_rank_without_a_row(tmp_path: Path):
    path = write_io(tmp_path / "run.h5", even())
    with h5py.File(path, "r+") as file:
        for name in file["io/ranks"]:
            file["io/ranks"][name][0, 2] = 0
    result = leadline.load(path)
    rows = result.rows(result.phases[0])
    assert rows.has_row.tolist() == [True, True, False] + [True] * 5
    assert np.isnan(rows.io_ns[2])
    assert np.isnan(rows.bytes_per_s[2])
    assert rows.file[2] == -1


def test_a_killed_run(tmp_path: Path):
    result = loaded(killed(), tmp_path)
    assert not result.complete
    assert [phase.state for phase in result.phases] == [PhaseState.COMPLETE, PhaseState.NOT_MEASURED]
    assert [phase.name for phase in result.measured_phases] == ["write"]
    assert np.isnan(result.phases[1].bytes_per_s)
    assert result.phases[1].summary == {}


def test_an_interrupted_phase(tmp_path: Path):
    """Bytes and time of ranks are known, and no rate follows from them."""
    result = loaded(interrupted(), tmp_path)
    write, read = result.phases
    assert (write.is_interrupted, read.is_interrupted) == (False, True)
    assert read.state == PhaseState.FAILED
    assert np.isnan(read.bytes_per_s)
    rows = result.rows(read)
    assert rows.has_row.tolist() == [True, True, True, False]
    assert rows.bytes.tolist() == [5 << 20, 7 << 20, 9 << 20, 0]
    assert rows.end_ns[:3].tolist() == [3e9] * 3
    assert np.isnan(rows.io_ns).all()
    assert np.isnan(rows.times_ns["call"]).all()
    assert np.isnan(rows.bytes_per_s).all()
    assert missing(result) == "read interrupted"
    assert not any(sentence.startswith("Reading") for sentence in headline(result, diagnosed_in(result)))
    assert [one.phase.name for one in analyse_io(result)] == ["write"]
    page = render_io(result)
    assert "interrupted: told to stop in read" in page
    assert "NaN" not in page
    assert '<section id="time">' in page
    assert "".join(csv_pieces(result, (), RANKS)).count(",read,") == 3
    nothing_whole = loaded(replace(interrupted(), states=[0, 2]), tmp_path)
    assert '<section id="time">' not in render_io(nothing_whole), "there is nothing to draw"


@pytest.mark.parametrize("name", MADE_UP_IOS)
def test_all_are_loaded_and_analysed(tmp_path: Path, name: str):
    result = loaded(MADE_UP_IOS[name](), tmp_path)
    for phase in result.measured_phases:
        one = analyse_phase(result, phase)
        assert one.total.sum() == one.rows.bytes.sum(), "bytes get lost when bins are made longer"
        assert sum(group.bytes.sum() for group in one.groups) == one.total.sum()
        assert len(one.groups) <= MOST_ROWS
        assert one.total.size == 0 or one.total[-1] > 0


def test_of_many_ranks_the_slowest_are_shown(tmp_path: Path):
    result = loaded(many_ranks(), tmp_path)
    one = analyse_phase(result, result.phases[0])
    assert one.shown_ranks.size == MOST_ROWS
    assert {17, 150} <= set(one.shown_ranks.tolist())
    hidden = np.setdiff1d(np.arange(200), one.shown_ranks)
    assert one.rows.io_ns[hidden].max() <= one.rows.io_ns[one.shown_ranks].min()


def test_bins_of_different_lengths():
    counts = np.zeros((3, 128), dtype=np.int64)
    counts[0, :4], counts[1, :2] = [1, 2, 3, 4], [10, 20]
    bin_ns, total = summed(Series(np.array([4, 8, 16]), counts))
    assert bin_ns == 8, "a rank that moved nothing has no say"
    assert total[:3].tolist() == [13, 27, 0]
    assert coarsened(np.array([1, 2, 3, 4, 5]), 1, 2).tolist() == [3, 7, 5, 0, 0]


def test_the_rest_of_the_time(tmp_path: Path):
    result = loaded(even(), tmp_path)
    assert np.allclose(rest_ns(result.rows(result.phases[0])), 5000)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [("io/phases/operation", None, "/io/phases/operation is missing"),
     ("io/ranks/latencies", np.zeros((2, 8, 7), dtype="<u8"), "/io/ranks/latencies is"),
     ("io/ranks/end_ns", np.zeros((2, 7)), "/io/ranks/end_ns is"),
     ("io/io_ranks", np.array([3, 99], dtype="<i4"), "ranks that are not there"),
     ("io/phases/state", np.array([1, 9], dtype="u1"), "9"),
     ("io/phases/summary", np.array([b"{", b"{}"], dtype="S32768"), "damaged")],
)  # fmt: skip
def test_damaged(tmp_path: Path, name: str, value: np.ndarray | None, why: str):
    change = remove(name) if value is None else replaced(name, value)
    assert why in line_of(changed(write_io(tmp_path / "run.h5", even()), change), lambda result: result)


def test_times_that_cannot_be(tmp_path: Path):
    result = leadline.load(changed(write_io(tmp_path / "run.h5", even()), put("io/ranks/call_ns", (1, 3), -1)))
    result.rows(result.phases[0])
    with pytest.raises(leadline.LeadlineError, match="/io/ranks/call_ns has values that no measurement gives"):
        result.rows(result.phases[1])


def test_columns_of_a_later_version_are_passed_on(tmp_path: Path):
    path = write_io(tmp_path / "run.h5", straggling())
    with h5py.File(path, "r+") as file:
        later = file["io/ranks"].create_dataset("queue_ns", data=np.full(file["io/ranks/file"].shape, 7.5))
        later.attrs.update({"unit": "ns", "meaning": "waiting in queues"})
    result = leadline.load_io(path)
    (column,) = result.other_columns
    assert (column.name, column.unit, column.meaning) == ("queue_ns", "ns", "waiting in queues")
    assert (result.rows(result.phases[0]).to_table()["queue_ns"] == 7.5).all()
    exported, _ = table_of(result, argparse.Namespace(ranks=True, message_size=None))
    assert exported.columns[-1] == column
    assert all(line.endswith(",7.5") for line in "".join(csv_pieces(result, (), exported)).splitlines()[1:])

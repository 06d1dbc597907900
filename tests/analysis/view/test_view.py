# SPDX-License-Identifier: Apache-2.0
"""Tests of what the server of `leadline view` answers: tiles, cells, pairs, the page, and errors."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
from served import DEADLINE_S, GOOD, KEY, answers_of, ask, layer, page, tile

from conftest import (
    MADE_UP,
    STATISTICS,
    MadeUp,
    cyclic,
    partial,
    slow_host,
    sweep,
    times_of,
    two_hosts,
    write_result,
)
from leadline import load
from leadline.error import LeadlineError
from leadline.link.scan import pictures
from leadline.model import Statistic
from leadline.scan import AxisName, Grid, axis_of
from leadline.view.answers import Answers
from leadline.view.index import coarser
from leadline.view.tiles import edge_of_index, largest_edge


@pytest.fixture(autouse=True)
def short_page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests are not about the page, which takes longer to make than all they ask for."""
    if "real_page" not in request.keywords:
        monkeypatch.setattr("leadline.view.state.render", lambda *_, **__: "the page")


# What the tiles are compared with: one cell after the other, from the matrix as it was made up.


def groups(hosts: list[str], axis: str, edge: int) -> list[np.ndarray]:
    names = list(dict.fromkeys(hosts))
    of = np.array([names.index(host) for host in hosts])
    by_host = np.argsort(of, kind="stable")
    positions = {
        "ranks": [np.array([rank]) for rank in range(len(hosts))],
        "ranks-by-host": [np.array([rank]) for rank in by_host],
        "hosts": [np.flatnonzero(of == host) for host in range(len(names))],
    }[axis]
    return [np.concatenate(positions[first : first + edge]) for first in range(0, len(positions), edge)]


def cells_of(made: MadeUp, repeat: int, size_index: int, statistic: str) -> np.ndarray:
    times = made.times[repeat][size_index]
    to_measure = ~np.eye(len(times), dtype=bool) | (len(times) == 1)
    if made.rounds:
        to_measure = made.rounds[repeat] > 0
    return np.where(times > 0, times * STATISTICS[statistic], np.where(to_measure, -1.0, -2.0))


def median_of(values: np.ndarray) -> float:
    there = values[values >= 0]
    return float(np.median(there)) if there.size else float(values.max())


def expected(cells: np.ndarray, of: list[np.ndarray], reduction: str) -> np.ndarray:
    def one(block: np.ndarray) -> float:
        return float(block.max()) if reduction == "worst" else median_of(np.array([median_of(row) for row in block]))

    if all(len(group) == 1 for group in of):
        ranks = np.concatenate(of)
        return cells[np.ix_(ranks, ranks)]
    return np.array([[one(cells[np.ix_(a, b)]) for b in of] for a in of])


def halved(cells: np.ndarray) -> np.ndarray:
    starts = range(0, len(cells), 2)
    return np.array([[median_of(cells[i : i + 2, j : j + 2].ravel()) for j in starts] for i in starts])


def expected_tile(
    made: MadeUp, axis: str, statistic: str, reduction: str, edge: int, at: tuple[int, int]
) -> np.ndarray:
    """Medians that come from the index are medians of medians from its edge on."""
    cells = cells_of(made, *at, statistic)
    positions = len(groups(made.hosts, axis, 1))
    from_edge = edge_of_index(AxisName(axis), positions)
    if reduction == "worst" or edge <= from_edge:
        return expected(cells, groups(made.hosts, axis, edge), reduction)
    answer = expected(cells, groups(made.hosts, axis, from_edge), reduction)
    while from_edge < edge:
        answer, from_edge = halved(answer), 2 * from_edge
    return answer


@pytest.fixture
def answers(result_file: Path) -> Iterator[Answers]:
    made = answers_of(result_file)
    yield made
    made.stop(DEADLINE_S)


@pytest.mark.parametrize("reduction", ["worst", "median"])
@pytest.mark.parametrize("axis", ["ranks", "ranks-by-host", "hosts"])
def test_tiles_of_every_result_and_edge(tmp_path: Path, axis: str, reduction: str) -> None:
    for name in sorted(MADE_UP) if axis != "ranks-by-host" else ["cyclic", "few_rounds"]:
        made = MADE_UP[name]()
        answers = answers_of(write_result(tmp_path / f"{name}.h5", made))
        last = (len(made.times) - 1, len(made.sizes) - 1)
        edge, largest = 1, largest_edge(len(groups(made.hosts, axis, 1)))
        while edge <= largest:
            for statistic in ("median", "max") if edge in (1, largest) else ("median",):
                found = tile(
                    answers, edge, reduction=reduction, axis=axis, statistic=statistic,
                    repeat=last[0], size_index=last[1],
                )  # fmt: skip
                wanted = expected_tile(made, axis, statistic, reduction, edge, last)
                size = len(wanted)
                np.testing.assert_allclose(found[:size, :size], wanted, rtol=1e-6, err_msg=f"{name} edge {edge}")
                assert (found[size:] == -2).all()
                assert (found[:, size:] == -2).all()
            edge *= 2
        answers.stop(DEADLINE_S)


def test_second_tile_begins_where_the_first_ends(tmp_path: Path) -> None:
    hosts = [f"n{rank % 7}" for rank in range(260)]
    made = MadeUp(hosts, [[times_of(hosts, 12)]])
    answers = answers_of(write_result(tmp_path / "run.h5", made))
    cells = cells_of(made, 0, 0, "min")
    for axis in ("ranks", "ranks-by-host"):
        order = np.concatenate(groups(hosts, axis, 1))
        found = tile(answers, 1, row=1, column=0, axis=axis, statistic="min")
        np.testing.assert_allclose(found[:4], cells[np.ix_(order[256:], order[:256])], rtol=1e-6)
        assert (found[4:] == -2).all()
    answers.stop(DEADLINE_S)


def test_missing_and_outside_cells_differ(tmp_path: Path) -> None:
    answers = answers_of(write_result(tmp_path / "run.h5", partial()))
    assert tile(answers, 1)[3, 5] == -1  # lost in the middle of the run
    assert tile(answers, 1)[3, 3] == -2  # the diagonal
    assert tile(answers, 1, size_index=1)[:8, :8].max() == -1  # not begun
    status, cell = ask(answers, "/cell", edge=1, row=3, column=5, **layer())
    assert status == 200
    assert cell == {
        "from": 3, "to": 5, "time_ns": dict.fromkeys(STATISTICS), "count": 0, "round": None, "num_pairs": 1,
        "num_missing": 1, "median_ns": None,
    }  # fmt: skip
    answers.stop(DEADLINE_S)


def test_times_beyond_float32_do_not_look_like_holes(tmp_path: Path) -> None:
    made = two_hosts()
    made.times[0][0][1, 2] = 1e300
    answers = answers_of(write_result(tmp_path / "run.h5", made))
    found = tile(answers, 1)
    assert np.isfinite(found).all()
    assert found[1, 2] > 1e38
    answers.stop(DEADLINE_S)


@pytest.mark.parametrize("edge", [1, 2, 4, 8, 32, 64])
def test_cell_names_its_worst_pair_with_all_numbers(tmp_path: Path, edge: int) -> None:
    made = slow_host()
    made.rounds = [np.where(made.times[0][0] > 0, 17, 0)]
    made.times[0][0][6, 61] = 0
    answers = answers_of(write_result(tmp_path / "run.h5", made))
    status, cell = ask(answers, "/cell", edge=edge, row=5 // edge, column=60 // edge, **layer(statistic="max"))
    block = cells_of(made, 0, 0, "max")[5 // edge * edge :, 60 // edge * edge :][:edge, :edge]
    assert status == 200
    assert (cell["from"], cell["to"]) == (5, 60)
    assert cell["time_ns"] == {name: pytest.approx(170_000.0 * STATISTICS[name]) for name in STATISTICS}
    assert (cell["count"], cell["round"]) == (20, 17)
    assert cell["num_missing"] == np.count_nonzero(block == -1)
    assert cell["num_pairs"] == np.count_nonzero(block > -2)
    medians = tile(answers, edge, reduction="median", statistic="max")
    assert cell["median_ns"] == pytest.approx(medians[5 // edge, 60 // edge])
    answers.stop(DEADLINE_S)


def test_cell_of_two_hosts(tmp_path: Path) -> None:
    made = cyclic()
    made.times[0][0][13, 3] = 90_000.0  # from the second host to the fourth
    answers = answers_of(write_result(tmp_path / "run.h5", made))
    status, cell = ask(answers, "/cell", edge=1, row=1, column=3, **layer(axis="hosts"))
    assert status == 200
    assert (cell["from"], cell["to"], cell["num_pairs"], cell["num_missing"]) == (13, 3, 16, 0)
    answers.stop(DEADLINE_S)


def test_index_tells_progress_range_and_edge(answers: Answers) -> None:
    status, first = ask(answers, "/index", **layer())
    assert status == 200
    assert first["ready"] is True or (first["range"] is None and 0 <= first["progress"] <= 1)
    tile(answers, 8)
    status, second = ask(answers, "/index", **layer())
    assert (status, second["ready"], second["progress"], second["edge"]) == (200, True, 1.0, 8)
    assert second["range"]["low"] < second["range"]["high"]
    assert ask(answers, "/index", **layer(axis="hosts"))[1]["edge"] == 1


def test_pairs_of_a_bin(answers: Answers) -> None:
    low = {"repeat": 0, "size_index": 0, "class": "between hosts", "low_ns": "30000", "high_ns": "2e5"}
    status, pairs = ask(answers, "/pairs", **low)
    assert status == 200
    assert [pair[:2] for pair in pairs] == [[2, 6], [6, 2]]
    assert pairs[0][2] == pytest.approx(160_000.0)
    assert ask(answers, "/pairs", **{**low, "class": "same host"}) == (200, [])


WRONG_INTEGERS = ("-1", "1.0", "", "1e3", " 1", "+1", "٣", "0x1", "99999999999999999999", "../../etc/passwd", "nan")
WRONG = {
    **dict.fromkeys(("repeat", "size_index", "row", "column"), ("1000000", *WRONG_INTEGERS)),
    "edge": ("0", "3", "16", *WRONG_INTEGERS),
    "axis": ("", "rows", "RANKS", "ranks\0", "../ranks"),
    "statistic": ("", "p98", "MEDIAN", "__class__"),
    "reduction": ("", "best"),
    "class": ("", "same", "SAME_HOST"),
    "low_ns": ("", "-1", "nan", "inf", "1e999", "0x10"),
    "high_ns": ("", "-1", "nan", "Infinity"),
}


@pytest.mark.parametrize("address", sorted(GOOD))
def test_every_parameter_is_checked(answers: Answers, address: str) -> None:
    assert ask(answers, address, **GOOD[address])[0] == 200
    for name in GOOD[address]:
        left = {key: value for key, value in GOOD[address].items() if key != name}
        status, body = ask(answers, address, **left)
        assert (status, body["error"]) == (400, f"{name} is missing")
        for value in WRONG[name]:
            status, body = ask(answers, address, **left, **{name: value})
            assert status == 400, (name, value)
            assert body["error"].startswith(name), (name, value)
            assert "\n" not in body["error"]
    assert ask(answers, address, **GOOD[address], more=1)[0] == 400


def test_cells_behind_the_last_are_refused(answers: Answers) -> None:
    assert ask(answers, "/cell", **{**GOOD["/cell"], "row": 8})[0] == 400
    assert ask(answers, "/cell", **{**GOOD["/cell"], "edge": 4, "row": 1, "column": 1})[0] == 200
    assert ask(answers, "/cell", **{**GOOD["/cell"], "edge": 4, "row": 2, "column": 1})[0] == 400
    assert ask(answers, "/tile", **{**GOOD["/tile"], "row": 1})[0] == 400


def test_slices_that_were_not_chosen_are_not_shown(tmp_path: Path) -> None:
    path = write_result(tmp_path / "run.h5", sweep())
    result = load(path)
    answers = Answers(path, lambda: (result, (result.slices[2], result.slices[5])), KEY, lambda _: None)
    assert ask(answers, "/tile", **{**GOOD["/tile"], "repeat": 0, "size_index": 2})[0] == 200
    status, body = ask(answers, "/tile", **{**GOOD["/tile"], "repeat": 1, "size_index": 2})
    assert status == 400
    assert "not shown" in body["error"]
    answers.stop(DEADLINE_S)


# A file that changes while it is served.


def test_new_cells_of_a_run_that_goes_on_are_shown(result_file: Path, answers: Answers) -> None:
    before = tile(answers, 1)[0, 1]
    with h5py.File(result_file, "r+") as file:
        file["repeats/0000/time_ns_median"][0, 0, 1] = 7777.0
    os.utime(result_file, (1, 1))
    assert before != 7777.0
    assert tile(answers, 1)[0, 1] == 7777.0


@pytest.mark.parametrize("what", ["gone", "other", "rewritten", "short", "damaged"])
def test_lost_file_is_an_error_and_the_server_lives_on(tmp_path: Path, result_file: Path, what: str) -> None:
    copy = shutil.copy(result_file, tmp_path / "copy.h5")
    answers = answers_of(result_file)
    tile(answers, 1)
    if what == "gone":
        result_file.unlink()
    elif what == "other":
        write_result(tmp_path / "other.h5", slow_host()).replace(result_file)
    elif what == "rewritten":
        write_result(result_file, slow_host())
    elif what == "short":
        os.truncate(result_file, 3000)
    else:
        with h5py.File(result_file, "r+") as file:
            file["repeats/0000/time_ns_median"][:] = -5.0
        os.utime(result_file, (1, 1))
    for address in ("/tile", "/cell"):
        status, body = ask(answers, address, **GOOD[address])
        assert status == 500
        assert result_file.name in body["error"]
        assert "\n" not in body["error"]
    if what not in ("other", "rewritten"):
        with result_file.open("r+b" if result_file.exists() else "wb") as stream:
            stream.write(Path(copy).read_bytes())
    assert page(answers)[0] == 200
    assert ask(answers, "/tile", **GOOD["/tile"])[0] == 200
    answers.stop(DEADLINE_S)


@pytest.mark.real_page
def test_page_is_the_report_with_the_key_and_no_matrices(answers: Answers) -> None:
    status, text = page(answers)
    assert status == 200
    assert f'"served":{{"key":"{KEY}"}}' in text
    assert "node01.cluster" in text
    assert 'http-equiv="Content-Security-Policy"' in text
    assert "connect-src" in text


def test_page_of_a_file_that_is_gone_says_so(result_file: Path, answers: Answers) -> None:
    assert page(answers)[0] == 200
    result_file.unlink()
    status, text = page(answers)
    assert status == 500
    assert "No such file" in text
    assert "<script" not in text


def test_waiting_page_shows_a_sample(monkeypatch: pytest.MonkeyPatch, result_file: Path) -> None:
    go_on = threading.Event()
    monkeypatch.setattr("leadline.view.answers._PATIENCE_S", 0.0)
    monkeypatch.setattr("leadline.view.state.render", lambda *_, **__: go_on.wait(DEADLINE_S) and "the page")
    answers = answers_of(result_file)
    first = answers.answer("/", f"key={KEY}")
    assert b'http-equiv="refresh"' in first.body
    assert "8 × 8 pairs".encode() in first.body
    picture = answers.answer("/preview", f"key={KEY}")
    assert picture.kind == "image/png"
    assert picture.body.startswith(b"\x89PNG\r\n")
    go_on.set()
    assert page(answers) == (200, "the page")
    answers.stop(DEADLINE_S)


def test_page_that_cannot_be_made_says_why(monkeypatch: pytest.MonkeyPatch, result_file: Path) -> None:
    def failing(*_: object, **__: object) -> str:
        raise LeadlineError("cannot make <b>it</b>", "why not")

    monkeypatch.setattr("leadline.view.state.render", failing)
    answers = answers_of(result_file)
    status, text = page(answers)
    assert status == 500
    assert "cannot make &lt;b&gt;it&lt;/b&gt; (why not)." in text
    answers.stop(DEADLINE_S)


@pytest.mark.parametrize("name", ["slow_host", "three_ranks", "partial", "between_hosts"])
def test_coarser_picture_is_that_of_one_pass(tmp_path: Path, name: str) -> None:
    result = load(write_result(tmp_path / "run.h5", MADE_UP[name]()))
    axis = axis_of(result, AxisName.RANKS)
    fine, coarse = pictures(result, result.slices[0], Statistic.MEDIAN, [Grid(axis, 1), Grid(axis, 2)])
    found = coarser(fine, coarse.grid.size)
    assert found.grid == coarse.grid
    for field in ("worst", "worst_from", "worst_to", "num_measured", "num_missing"):
        np.testing.assert_array_equal(getattr(found, field), getattr(coarse, field), err_msg=field)
    medians = halved(np.nan_to_num(fine.median, nan=-1.0))
    np.testing.assert_allclose(np.nan_to_num(found.median, nan=-1.0), medians, rtol=1e-6)
    assert coarser(fine, 1000) is fine

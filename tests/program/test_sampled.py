# SPDX-License-Identifier: Apache-2.0
"""Sampled rounds in a compact file: what every command and analysis reads of them is what it reads of a matrix."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import program
import pytest
from program import Leadline

import leadline as analysis
from leadline.cli.export import main as export_main
from leadline.cli.report import main as report_main
from leadline.link.analysis import analyse
from leadline.link.result import WHY_NOT_MEASURED, NotMeasured
from leadline.link.scan import pictures
from leadline.scan import AxisName, Grid, axis_of
from leadline.view.preview import preview_png
from leadline.view.reduction import Reduction
from leadline.view.tiles import Layer, Tile, positions_of_axes, read_cell, read_tile

MACHINE = ["--topology", "fat-tree:4x3", "--ranks-per-host", "3", "--ranks", "34", "--rounds", "12"]


@pytest.fixture(autouse=True)
def known_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package, which is imported here, finds it."""
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))


def as_matrix(table: Path, leadline: Leadline) -> Path:
    """A copy that has the same cells in a matrix, as files had them before. Made without the reader under test."""
    matrix = table.with_name("matrix.h5")
    shutil.copy(table, matrix)
    done = leadline("partners", table.name, "--output", "partners.npy")
    assert (done.status, done.err) == (0, "")
    partners = np.load(table.with_name("partners.npy"))
    with h5py.File(matrix, "r+") as file:
        file.attrs.modify("format_version", np.int32(2))
        del file["sampled_rounds"]
        for group in file["repeats"].values():
            found = group["sampled_pair"][:]
            num_sizes, num_ranks, _ = found.shape
            cells = np.ones((num_sizes, num_ranks, num_ranks), dtype=np.uint32)
            for rank, round_number in np.argwhere(partners >= 0):
                partner = partners[rank, round_number]
                for of_size, measured in zip(cells, found[:, rank, round_number], strict=True):
                    if measured > 0xFFFF or of_size[rank, partner] == 1:
                        of_size[rank, partner] = measured
            del group["sampled_pair"]
            group["pair"] = cells
    return matrix


@pytest.fixture
def forms(leadline: Leadline, tmp_path: Path) -> tuple[Path, Path]:
    """The same simulated machine as rounds, in which some measurements are missing, and as a matrix."""
    faults = [{"slow_port": "host3", "factor": 2}, {"slow_host": "host7", "factor": 1.5}]
    (tmp_path / "faults.json").write_text(json.dumps({"faults": faults}), encoding="utf-8")
    words = [*MACHINE, "--faults", "faults.json", "--statistics", "compact", "--output", "table.h5"]
    done = leadline("simulate", "link", *words)
    assert (done.status, done.err) == (0, "")
    table = tmp_path / "table.h5"
    with h5py.File(table, "r+") as file:
        cells = file["repeats/0000/sampled_pair"]
        assert cells.shape == (1, 34, 12)
        cells[0, 5, 3] = cells[0, 5, 11] = cells[0, 20, 0] = 0
    return table, as_matrix(table, leadline)


def test_rows_blocks_and_pairs_are_those_of_the_matrix(forms: tuple[Path, Path]) -> None:
    table, matrix = (analysis.load_link(path) for path in forms)
    part, same = table.slices[0], matrix.slices[0]
    assert (table.format_version, matrix.format_version) == (3, 2)
    assert table.pair_columns == matrix.pair_columns
    rows, columns = np.array([30, 5, 5]), np.array([3, 33, 3, 12, 20, 0, 7])
    for name in ("time_ns_median", "time_ns_p99", "count", WHY_NOT_MEASURED):
        whole = matrix.read_rows(same, name, 0, 34)
        np.testing.assert_array_equal(table.read_rows(part, name, 0, 34), whole)
        np.testing.assert_array_equal(table.read_rows(part, name, 4, 9), whole[4:9])
        np.testing.assert_array_equal(table.read_block(part, name, rows, columns), whole[np.ix_(rows, columns)])
    np.testing.assert_array_equal(table.to_measure(part), matrix.to_measure(same))
    everyone = np.arange(34)
    np.testing.assert_array_equal(table.block_to_measure(part, everyone, everyone), matrix.to_measure(same))
    assert table.read_pairs is not None
    pairs = table.read_pairs(part, ("time_ns_median", "round"), 0, 34)
    assert list(zip(pairs.from_rank, pairs.to_rank, strict=True)) == [
        (row, column) for row, column in np.argwhere(matrix.to_measure(same))
    ]
    assert pairs.num_of_rows.sum() == pairs.to_rank.size
    assert set(pairs.values["round"]) <= set(range(1, 13))


def test_rounds_are_those_in_which_pairs_met(leadline: Leadline, tmp_path: Path) -> None:
    for form in ("full", "compact"):
        assert leadline("simulate", "link", *MACHINE, "--statistics", form, "--output", f"{form}.h5").status == 0
    full, compact = (analysis.load_link(tmp_path / f"{form}.h5") for form in ("full", "compact"))
    part, same = compact.slices[0], full.slices[0]
    np.testing.assert_array_equal(compact.read_rows(part, "round", 0, 34), full.read_rows(same, "round", 0, 34))
    np.testing.assert_allclose(compact.matrix(part), full.matrix(same), rtol=0.0005)
    assert (full.provenance.num_rounds, compact.provenance.num_rounds) == (12, 12)


def test_the_analysis_finds_the_same(forms: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leadline.link.scan.sampled._PAIRS_AT_ONCE", 50)
    found = []
    for path in forms:
        result = analysis.load_link(path)
        found.append(analyse(result, result.slices[0], (AxisName.HOSTS,), 5))
    table, matrix = found
    for name in ("num_to_measure", "num_missing", "missing", "slowest", "examples"):
        assert getattr(table.scan, name) == getattr(matrix.scan, name), name
    for name in ("rows_ns", "columns_ns", "inside_ns", "num_partners", "num_host_partners"):
        np.testing.assert_array_equal(getattr(table.scan, name), getattr(matrix.scan, name), name)
    for name in ("classes", "hosts", "slow_hosts", "slow_ranks", "slow_links", "standouts", "pairs"):
        assert getattr(table, name) == getattr(matrix, name), name
    assert table.slow_hosts != ()
    for axis, picture in matrix.pictures.items():
        expect_same_picture(table.pictures[axis], picture)


def test_pictures_of_other_statistics_are_the_same(forms: tuple[Path, Path]) -> None:
    made = []
    for path in forms:
        result = analysis.load_link(path)
        grids = [Grid(axis_of(result, name), edge) for name in AxisName for edge in (1, 4)]
        made.append(pictures(result, result.slices[0], analysis.Statistic.P99, grids))
    for table, matrix in zip(*made, strict=True):
        expect_same_picture(table, matrix)


def test_tiles_cells_and_previews_are_the_same(forms: tuple[Path, Path]) -> None:
    table, matrix = (analysis.load_link(path) for path in forms)
    part, same = table.slices[0], matrix.slices[0]
    assert preview_png(table, part) == preview_png(matrix, same)
    for axis, positions in positions_of_axes(table).items():
        for edge, reduction in itertools.product((1, 2, 8), Reduction):
            tiles = [
                read_tile(result, positions, Tile(Layer(of, axis, analysis.Statistic.MEDIAN), reduction, edge, 0, 0))
                for result, of in ((table, part), (matrix, same))
            ]
            np.testing.assert_array_equal(*tiles, f"{axis} {edge} {reduction}")
        rows, columns = positions.span(4, 1, 2).ranks, positions.span(4, 2, 3).ranks
        cells = [
            read_cell(result, Layer(of, axis, analysis.Statistic.P99), rows, columns)
            for result, of in ((table, part), (matrix, same))
        ]
        assert cells[0] == cells[1]


def expect_same_picture(table: object, matrix: object) -> None:
    for name in ("worst", "worst_from", "worst_to", "median", "num_measured", "num_missing"):
        np.testing.assert_array_equal(getattr(table, name), getattr(matrix, name), name)
    assert table.values.distribution() == matrix.values.distribution()  # type: ignore[attr-defined]


def without_names(document: str) -> object:
    """What is the same of equal results in files with different names."""
    found = json.loads(document)
    return {key: value for key, value in found.items() if key not in ("result", "before", "after")}


def test_the_program_judges_the_same(forms: tuple[Path, Path], leadline: Leadline) -> None:
    answers = [leadline("diagnose", path, "--json").out for path in forms]
    assert without_names(answers[0]) == without_names(answers[1])
    assert json.loads(answers[0])["slices"][0]["diagnosis"]["faults"]
    for topology in ([], ["--topology", "fat-tree:4x3"]):
        assert leadline("simulate", "link", *MACHINE, "--seed", "1", "--output", "old.h5", "--overwrite").status == 0
        compared = [leadline("compare", "old.h5", path, "--json", *topology) for path in forms]
        assert [done.status for done in compared] == [0, 0]
        assert without_names(compared[0].out) == without_names(compared[1].out)


def test_tables_have_the_same_rows_and_the_rounds(
    forms: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tables = []
    for path in forms:
        assert export_main([path.name, "--csv", "--overwrite", "-q"]) == 0
        lines = [line.split(",") for line in path.with_suffix(".csv").read_text().splitlines()]
        assert lines[0][6] == "round"
        tables.append([line[:6] + line[7:] for line in lines])
        rounds = {line[6] for line in lines[1:]}
        assert rounds <= {str(number) for number in range(1, 13)} if path is forms[0] else rounds == {""}
        assert export_main([path.name, "--bad-links", "--overwrite", "-q"]) == 0
        assert export_main([path.name, "--parquet", "--overwrite", "-q"]) == 0
    assert tables[0] == tables[1]
    bad_links = [path.with_suffix(".bad-links.tsv").read_text() for path in forms]
    assert bad_links[0] == bad_links[1]
    assert "\tfault\tpersistent\thost\t" in bad_links[0]


@pytest.mark.usefixtures("forms")
def test_reports_and_other_commands_take_it(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["--output", "r.html"], ["--output", "r.pdf"], ["--output", "p99.html", "--statistic", "p99"]):
        assert report_main(["table.h5", *words]) == 0
    info = json.loads(leadline("info", "table.h5", "--json").out)["result"]
    assert (info["format_version"], info["statistics"], info["num_stored_rounds"]) == (3, "compact", 12)
    assert "stored           12 random rounds, as a table of ranks and rounds" in leadline("info", "table.h5").out
    assert leadline("convert", "table.h5", "--output", "table.sion").status == 0
    table, converted = analysis.load_link(tmp_path / "table.h5"), analysis.load_link(tmp_path / "table.sion")
    for name in ("time_ns_median", "time_ns_p99", "round"):
        expected = table.read_rows(table.slices[0], name, 0, 34)
        np.testing.assert_allclose(converted.read_rows(converted.slices[0], name, 0, 34), expected, rtol=1e-12)


@pytest.mark.parametrize("words", [[], ["--row-path", "funnel"]])
def test_a_run_writes_it(words: list[str], link: Leadline, tmp_path: Path) -> None:
    link("--local", "6", "--rounds", "3", "--statistics", "compact", "--output", "r.h5", *words)
    result = analysis.load_link(tmp_path / "r.h5")
    assert result.complete
    assert result.read_pairs is not None
    for part in result.slices:
        measured = np.isfinite(result.matrix(part))
        assert 6 <= measured.sum() <= 18
        np.testing.assert_array_equal(measured, result.to_measure(part))
        np.testing.assert_array_equal(measured, measured.T)
        assert set(result.count(part)[measured]) == {5}
    assert result.summary
    slowest = result.summary["slices"][-1]["slowest_pairs"][0]  # type: ignore[index]
    last = result.matrix(result.slices[-1])
    assert last[slowest["from"], slowest["to"]] == pytest.approx(slowest["time_ns"], rel=0.0005)


def test_as_many_rounds_as_ranks_are_a_matrix(link: Leadline, tmp_path: Path) -> None:
    link("--local", "4", "--rounds", "4", "--statistics", "compact", "--output", "r.h5")
    assert analysis.load_link(tmp_path / "r.h5").format_version == 2


SEVEN_ROUNDS = ["--local", "8", "--wait", "yield", "--rounds", "7", "--statistics", "compact"]


def measured_in(path: Path) -> np.ndarray:
    with h5py.File(path, locking=False) as file:
        found: np.ndarray = file["repeats/0000/sampled_pair"][0] > 0xFFFF
        return found


def test_a_killed_run_leaves_it(leadline: Leadline, tmp_path: Path) -> None:
    path = tmp_path / "r.h5"
    # A round takes more than a second, and rows reach the file every two.
    command = [program.PROGRAM, "link", *SEVEN_ROUNDS, "--messages", "400", "--output", "r.h5"]
    with program.Run(command, tmp_path, program.SLOW_MESSAGES):  # which kills what is left at its end
        program.await_that(lambda: path.exists() and bool(measured_in(path).any()), 60)
    measured = measured_in(path)
    assert not measured[:, -1].any()
    result = analysis.load_link(path)
    assert not result.complete
    assert leadline("partners", path, "--output", "partners.npy").status == 0
    partners = np.load(tmp_path / "partners.npy")
    pairs = {(rank, partners[rank, number]) for rank, number in np.argwhere(measured)}  # some meet twice
    assert set(zip(*np.nonzero(np.isfinite(result.matrix(result.slices[0]))), strict=True)) == pairs


def damaged(path: Path, change: Callable[[h5py.File], None]) -> Path:
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def put(file: h5py.File, name: str, values: np.ndarray) -> None:
    del file[name]
    file[name] = values


DAMAGE: dict[str, tuple[Callable[[h5py.File], None], str]] = {
    "a later way": (
        lambda file: file["sampled_rounds"].attrs.modify("way_of_drawing", np.int32(2)),
        "its sampled rounds follow from the seed in way 2; this program knows 1",
    ),
    "no seed": (lambda file: file["sampled_rounds"].attrs.pop("seed"), "/sampled_rounds has no attribute seed"),
    "hosts that are none": (
        lambda file: file["sampled_rounds/host_of_rank"].write_direct(np.full(34, 7, dtype=np.uint32)),
        "/sampled_rounds/host_of_rank does not number the hosts in their order",
    ),
    "groups of other hosts": (
        lambda file: put(file, "sampled_rounds/groups_of_hosts", np.zeros((1, 5), dtype=np.uint32)),
        "/sampled_rounds/groups_of_hosts has another shape",
    ),
    "no groups": (
        lambda file: file.pop("sampled_rounds/groups_of_hosts"),
        "/sampled_rounds/groups_of_hosts is missing",
    ),
    "as many rounds as ranks": (
        lambda file: put(file, "repeats/0000/sampled_pair", np.zeros((1, 34, 34), dtype=np.uint32)),
        "/repeats/0000/sampled_pair has",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_told(name: str, forms: tuple[Path, Path], leadline: Leadline) -> None:
    change, why = DAMAGE[name]
    path = damaged(forms[0], change)
    for words in (["info", path], ["diagnose", path], ["partners", path, "--output", "none.npy"]):
        done = leadline(*words)
        assert done.status == 4
        assert why in done.err
    with pytest.raises(analysis.LeadlineError, match=why):
        result = analysis.load_link(path)
        result.matrix(result.slices[0])


def test_a_matrix_has_no_table_of_partners(forms: tuple[Path, Path], leadline: Leadline) -> None:
    done = leadline("partners", forms[1], "--output", "none.npy")
    assert (done.status, "does not say who met whom in which round" in done.err) == (2, True)


@pytest.mark.parametrize("words", [["--local", "12", "--rounds", "5"], ["--local", "9", "--rounds", "8"]])
def test_the_dry_run_tells_how_large_the_file_will_be(words: list[str], link: Leadline, tmp_path: Path) -> None:
    link(*words, "--statistics", "compact", "--no-diagnosis", "--output", "r.h5")
    told = program.bytes_told(link(*words, "--statistics", "compact", "--no-diagnosis", "--dry-run").out)
    assert told == pytest.approx((tmp_path / "r.h5").stat().st_size, rel=0.1)


def test_a_simulated_file_grows_with_its_rounds(leadline: Leadline, tmp_path: Path) -> None:
    words = ["--topology", "fat-tree:32x32", "--ranks-per-host", "8", "--retest", "0"]
    assert leadline("simulate", "link", *words, "--rounds", "16", "--output", "r.h5").status == 0
    # 64 bytes of cells a rank, and 8 a rank for the list of hosts; a matrix would have 268 MB.
    assert (tmp_path / "r.h5").stat().st_size < 8192 * (16 * 4 + 16) + 40_000


def test_a_run_that_loses_a_rank_completes_it(tmp_path: Path) -> None:
    """What was measured with the lost rank before stays, and all of the others is measured."""
    path = tmp_path / "r.h5"
    words = [*SEVEN_ROUNDS, "--messages", "150", "--retest", "0", "--no-diagnosis", "--output", "r.h5"]
    with program.Run([program.PROGRAM, "link", *words], tmp_path, program.SLOW_MESSAGES) as run:
        run.await_err(r" 1/7 [^\n]*\n")
        with h5py.File(path, locking=False) as file:
            os.kill(int(file["ranks/pid"][2]), signal.SIGKILL)
        done = run.finish()
    assert done.status == 1, done.err
    result = analysis.load_link(path)
    assert result.complete
    measured, drawn = np.isfinite(result.matrix(result.slices[0])), result.to_measure(result.slices[0])
    others = np.arange(8) != 2
    np.testing.assert_array_equal(measured[np.ix_(others, others)], drawn[np.ix_(others, others)])
    assert measured[:, 2].sum() < drawn[:, 2].sum()
    lost = drawn & ~measured & others[:, None]
    assert set(result.why_not_measured(result.slices[0])[lost]) == {NotMeasured.RANK_LOST}

# SPDX-License-Identifier: Apache-2.0
"""`pingponganalysis`: every option does what LinkTest's did, or says why not; tests/golden has its texts."""

from __future__ import annotations

import re
import resource
from pathlib import Path

import numpy as np
import pytest

import conftest
from conftest import MadeUp, write_result
from leadline.benchmarks import load
from leadline.cli.pingponganalysis import main
from leadline.compat import links, pixmaps
from leadline.compat.options import LETTERS
from leadline.draw import colours

pytestmark = pytest.mark.usefixtures("real_program")

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SERIAL = str(SAMPLES / "linktest" / "ompi_n8_1MiB_ser.sion")
ALWAYS = {"distribution.dat", "distribution_bw.dat", "mapping.dat"}
FILES = {
    "a": {"accesspattern.ppm", "colortab.ps"},
    "A": {"accesspattern.dat"},
    "b": {"bwpattern.ppm", "colortab.ps"},
    "B": {"bad_links.dat"},
    "d": {"distancepattern.dat"},
    "D": {"nodelist.dat"},
    "g": {"gnuplotinput.dat"},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files go."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def names(place: Path) -> set[str]:
    return {path.name for path in place.iterdir()}


def made(tmp_path: Path, what: MadeUp) -> str:
    return str(write_result(tmp_path / "made.h5", what))


def picture(path: Path) -> list[list[str]]:
    """The colours of a PPM file as #rrggbb."""
    head, _, pixels = path.read_bytes().partition(b"\n")
    kind, width, height, largest = head.split()
    assert (kind, width, largest) == (b"P6", height, b"255")
    size = int(width)
    assert len(pixels) == 3 * size * size
    cells = [f"#{pixels[at : at + 3].hex()}" for at in range(0, len(pixels), 3)]
    return [cells[row * size : (row + 1) * size] for row in range(size)]


@pytest.mark.parametrize("letter", FILES)
def test_each_file_has_its_letter(folder: Path, letter: str):
    assert main([SERIAL]) == 0
    assert names(folder) == ALWAYS
    assert main([f"-{letter}", SERIAL]) == 0
    assert names(folder) == ALWAYS | FILES[letter]
    assert all((folder / name).stat().st_size for name in names(folder))


def test_sion_and_hdf5_of_a_run_give_the_same_files(tmp_path: Path, folder: Path):
    every = [f"-{letter}" for letter in FILES]
    for sample in sorted((SAMPLES / "linktest").glob("*.sion")):
        run = load(sample)
        part = run.slices[0]
        pairs = [(0, 0, one.from_rank, one.to_rank, one.time_ns, one.retest_time_ns) for one in run.retests]
        copy = MadeUp(
            [place.host for place in run.ranks],
            [[np.nan_to_num(run.matrix(part))]],
            list(run.message_sizes_bytes),
            retests=pairs,
            rounds=[np.nan_to_num(run.read_rows(part, "round", 0, run.num_ranks))],
            provenance={"num_rounds": np.int32(run.provenance.num_rounds)},
        )
        assert main([*every, str(sample)]) == 0
        first = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert set(first) == ALWAYS.union(*FILES.values())
        assert main([*every, made(tmp_path, copy)]) == 0
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == first


def test_one_scale_for_the_whole_picture(tmp_path: Path, folder: Path):
    """LinkTest's colours depended on what was drawn before, and its slowest pair was black like the diagonal."""
    times = np.full((8, 8), 1000.0) + np.arange(64).reshape(8, 8)
    times[0, 1], times[7, 6], times[3, 4] = 1030.0, 1030.0, 90_000.0
    np.fill_diagonal(times, 0)
    times[5, 2] = 0
    assert main(["-b", made(tmp_path, MadeUp(["n"] * 8, [[times]]))]) == 0
    cells = picture(folder / "bwpattern.ppm")
    assert cells[0][1] == cells[7][6] not in (cells[0][2], cells[7][5])
    assert cells[3][4] == colours.ABOVE
    assert cells[5][2] == colours.MISSING
    assert {cells[rank][rank] for rank in range(8)} == {colours.DIAGONAL}
    assert sum(cell == colours.ABOVE for row in cells for cell in row) == 1


def test_limits_of_the_colours(folder: Path):
    run = load(SERIAL)
    time_s = run.matrix(run.slices[0]) / 1e9
    assert main(["-b", "-t", "0.0002", "-T", "0.0005", SERIAL]) == 0
    cells = np.array(picture(folder / "bwpattern.ppm"))
    assert np.array_equal(cells == colours.BELOW, time_s < 0.0002)
    assert np.array_equal(cells == colours.ABOVE, time_s > 0.0005)
    table = (folder / "colortab.ps").read_text()
    assert main(["-b", "-t", "0.0002", "-T", "0.00025", "-f", "2", SERIAL]) == 0
    assert (folder / "colortab.ps").read_text() == table
    assert np.array_equal(np.array(picture(folder / "bwpattern.ppm")), cells)


def test_colours_are_in_the_table(folder: Path):
    assert main(["-a", "-b", SERIAL]) == 0
    table = (folder / "colortab.ps").read_text()
    assert table.startswith("%!PS")
    assert table.count("showpage") == 2
    for step in range(1, 8):
        assert f"(step {step}) box" in table
    boxes = {line.rsplit(" ", 4)[0].rsplit(" ", 2)[0] for line in table.splitlines() if line.endswith(") box")}
    for name in ("accesspattern.ppm", "bwpattern.ppm"):
        for colour in {cell for row in picture(folder / name) for cell in row}:
            red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
            assert any(box.startswith(f"{red:.3f} {green:.3f} {blue:.3f}") for box in boxes), colour


def test_steps_are_the_colours_of_accesspattern(folder: Path):
    run = load(SERIAL)
    steps = run.read_rows(run.slices[0], "round", 0, 8)
    assert main(["-a", SERIAL]) == 0
    cells = np.array(picture(folder / "accesspattern.ppm"))
    by_step = {step: set(cells[steps == step]) for step in range(1, 8)}
    assert all(len(found) == 1 for found in by_step.values())
    assert len(set.union(*by_step.values())) == 7


def test_no_steps_no_access_pattern(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["-A", made(tmp_path, conftest.two_hosts())]) == 4
    assert "does not say in which step" in capsys.readouterr().err
    assert names(folder) == set()


def test_labels_say_what_the_links_are(capsys: pytest.CaptureFixture[str]):
    assert main(["-l", "1480", "-L", "7400", SERIAL]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if " link #" in line]
    for line in lines:
        bandwidth = float(line.partition(" s ")[2].split()[0])
        assert ("suspected" in line, "FAST" in line) == (bandwidth < 1480, bandwidth > 7400)
    assert len(lines) == 8


@pytest.mark.parametrize(("words", "count"), [(["-l", "1e9"], 56), (["-L", "0"], 56), (["-l", "0"], 0), ([], 0)])
def test_no_limit_that_was_not_given(words: list[str], count: int, capsys: pytest.CaptureFixture[str]):
    assert main([*words, SERIAL]) == 0
    out = capsys.readouterr().out
    assert out.count(" link #") == count
    assert ("outside range" in out) == bool(words)


def test_of_many_links_the_most_extreme(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(links, "MOST_LINKS", 3)
    monkeypatch.setattr("leadline.compat.pingponganalysis.MOST_LINKS", 3)
    assert main(["-l", "2000", SERIAL]) == 0
    captured = capsys.readouterr()
    found = re.findall(r"suspected link #(\d+): +(\d+) <-> +(\d+):", captured.out)
    assert found == [("00000", "1", "0"), ("00001", "5", "1"), ("00002", "7", "1")]
    assert "links the 3 slowest are shown" in captured.err


def test_averages_of_tasks(tmp_path: Path, folder: Path):
    times = np.array([[0, 1e6, 3e6], [2e6, 0, 500.0], [4e6, 0, 0]])
    what = MadeUp(["a", "b", "b"], [[times]], [1 << 20], complete=False)
    assert main(["-D", made(tmp_path, what)]) == 0
    rows = [line.split() for line in (folder / "nodelist.dat").read_text().splitlines()]
    assert rows[0][-2:] == ["fromcntmax<1000", "tocntmax<1000"]
    # Sender and receiver: size / mean time, size / longest time, and how many pairs have less than 1000 MiB/s.
    assert rows[1] == ["0", "a", "500.0000000000", "333.3333333333", "333.3333333333", "250.0000000000", "1", "2"]
    assert rows[3][:3] == ["2", "b", "250.0000000000"]


def test_first_size_and_last_repeat(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]):
    path = made(tmp_path, conftest.sweep())
    assert main(["-g", path]) == 0
    assert "4 message sizes and 2 repeats these are 8 B, repeat 2" in capsys.readouterr().err
    run = load(path)
    expected = run.matrix(next(part for part in run.slices if (part.repeat, part.size_index) == (1, 0)))
    row = (folder / "gnuplotinput.dat").read_text().splitlines()[1].split()
    assert row[:2] == ["0", "1"]
    assert float(row[2]) == pytest.approx(expected[0, 1] / 1e9, abs=1e-12)
    # Both directions count, as everywhere.
    assert float(row[3]) == pytest.approx(2 * 8 / (expected[0, 1] / 1e9) / 2**20)


def test_every_made_up_result(tmp_path: Path, folder: Path, any_made: MadeUp):
    assert main(["-b", "-B", "-d", "-D", "-g", made(tmp_path, any_made)]) == 0
    num_ranks = len(any_made.hosts)
    for name in ("mapping.dat", "nodelist.dat", "gnuplotinput.dat", "distancepattern.dat"):
        lines = (folder / name).read_text().splitlines()
        rows = [line.split() for line in lines if not line.startswith("#")]
        assert len(rows) == num_ranks ** (2 if "p" in name[3:] and name != "mapping.dat" else 1)
        assert len({len(row) for row in rows}) == 1
    counts = [int(line.split()[2]) for line in (folder / "distribution.dat").read_text().splitlines()]
    last = any_made.times[-1][0]
    assert sum(counts) == np.count_nonzero(last)


def test_nothing_measured(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]):
    empty = MadeUp(["a", "b"], [[np.zeros((2, 2))]], complete=False, reason="killed\x1b[31m\nagain")
    assert main(["-b", "-B", "-d", "-D", "-g", made(tmp_path, empty)]) == 0
    err = capsys.readouterr().err
    assert "incomplete: killed?[31m?again\n" in err
    assert "no pair has a time" in err
    assert (folder / "gnuplotinput.dat").read_text().splitlines()[1].split() == ["0", "1", "nan", "nan"]


def test_names_of_hosts_make_no_rows(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]):
    hosts = ["a b\x1b[2J", "x\n     7    7    7    7    7 y"]
    times = np.array([[0, 900.0], [800.0, 0]])
    assert main(["-l", "1e9", made(tmp_path, MadeUp(hosts, [[times]]))]) == 0
    assert [len(line.split()) for line in (folder / "mapping.dat").read_text().splitlines()] == [6, 6]
    assert "\x1b" not in capsys.readouterr().out


def test_progress_only_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]):
    assert main([SERIAL]) == 0
    quiet = capsys.readouterr()
    assert quiet.err == ""
    assert main(["-v", SERIAL]) == 0
    told = capsys.readouterr()
    assert told.out == quiet.out
    assert "100 %" in told.err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["-s", "0", SERIAL], "-s cannot be '0'"),
        (["-s", "1e3", SERIAL], "a whole number"),
        (["-l", "fast", SERIAL], "-l cannot be 'fast'"),
        (["-L", "nan", SERIAL], "-L cannot be 'nan'"),
        (["-f", "0", SERIAL], "a positive number"),
        (["-T", "-1", SERIAL], "seconds from 0 on"),
        (["-t", "2", "-T", "1", SERIAL], "-t 2 is not below -T 1"),
        (["-t", "1", SERIAL], "-t lies above the greatest time"),
        (["-T", "1e-9", SERIAL], "-T lies below the least time"),
        (["-l", "5", "-L", "4", SERIAL], "-l 5 lies above -L 4"),
        (["-a", "-a", SERIAL], "-a is given twice"),
        (["-l"], "-l has no value"),
        (["-a"], "the result file is missing"),
        ([SERIAL, "-a"], "the result file is the last word"),
        (["-O", SERIAL], "-O is not possible"),
        (["none.sion"], "No such file"),
        (["-m", "none", SERIAL], "No such file"),
    ],
)
def test_wrong_command_lines(folder: Path, words: list[str], reason: str, capsys: pytest.CaptureFixture[str]):
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("leadline: ")
    assert captured.err.count("\n") == 1
    assert reason in captured.err
    assert names(folder) == set()


@pytest.mark.parametrize("words", [["-h"], [], ["-x", SERIAL], ["-ab", SERIAL], ["-"]])
def test_usage_names_every_letter(words: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(words) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    for letter in LETTERS:
        assert f"\n  -{letter} " in captured.err
    assert main(["--help"]) == 0
    assert capsys.readouterr().out in captured.err


def test_version(capsys: pytest.CaptureFixture[str]):
    assert main(["-a", "-V"]) == 1
    assert capsys.readouterr().err == "FZJ Linktest version (pingponganalysis): 1.2p1\n"


@pytest.mark.parametrize("damage", ["sion/bad/b15c_t2000.sion", "sion/06-mpi-single.sion", "cut", "wrong id", "empty"])
def test_damaged_results(tmp_path: Path, folder: Path, damage: str, capsys: pytest.CaptureFixture[str]):
    """LinkTest's took wrong IDs, and ended with status 0 where the file was cut."""
    good = Path(SERIAL).read_bytes()
    contents = {"cut": good[:6000], "wrong id": good.replace(b"LKTST", b"LKTSU"), "empty": b""}
    path = tmp_path / "damaged.sion"
    path.write_bytes(contents[damage] if damage in contents else (SAMPLES / damage).read_bytes())
    (folder / "mapping.dat").write_text("older\n")
    assert main(["-g", str(path)]) == (2 if damage in ("sion/06-mpi-single.sion", "wrong id") else 4)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"leadline: cannot read '{path}' (")
    assert captured.err.count("\n") == 1
    assert (folder / "mapping.dat").read_text() == "older\n"
    assert names(folder) == {"mapping.dat"}


def test_a_full_disk_leaves_the_older_files(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]):
    result = made(tmp_path, conftest.two_hosts())
    (folder / "mapping.dat").write_text("older\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        status = main(["-g", result])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert status == 4
    assert f"cannot write into '{folder}' (File too large)" in capsys.readouterr().err
    assert (folder / "mapping.dat").read_text() == "older\n"
    assert names(folder) == {"mapping.dat"}


def test_files_that_cannot_be_replaced(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]):
    source = folder / "mapping.dat"
    source.write_bytes(Path(SERIAL).read_bytes())
    assert main(["mapping.dat"]) == 2
    assert "it is the result that is to be read" in capsys.readouterr().err
    source.rename(tmp_path / "run.sion")
    source.mkdir()
    assert main([str(tmp_path / "run.sion")]) == 2
    assert "it is a folder" in capsys.readouterr().err
    source.rmdir()
    assert main([str(tmp_path / "run.sion")]) == 0
    assert names(folder) == ALWAYS


def test_scales_of_one_value():
    scale = pixmaps.Scale(1.0, 1.0)
    found = scale.indices(0, np.array([[np.nan, 1.0], [1.0, np.nan]]), ~np.eye(2, dtype=bool))
    assert found[0, 1] == found[1, 0] < pixmaps.NUM_STEPS
    assert found[0, 0] == found[1, 1] >= pixmaps.NUM_STEPS


def test_the_report_as_postscript_and_pdf(folder: Path):
    assert main(["-p", SERIAL]) == 0
    assert names(folder) == ALWAYS | {"report_fzjlinktest.ps", "report_fzjlinktest.pdf"}
    assert (folder / "report_fzjlinktest.ps").read_bytes().startswith(b"%!PS")
    assert (folder / "report_fzjlinktest.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("words", "low_us", "high_us"),
    [
        ([], 131.0, 873.5),
        (["-t", "2e-4", "-T", "5e-4"], 200, 500),
        (["-t", "0"], 131.0, 873.5),
        (["-l", "2000", "-L", "4000"], 250, 500),
        (["-l", "2000", "-T", "6e-4"], 131.0, 600),
        (["-l", "10000"], 100 / 1.1, 100),
        (["-L", "500"], 2000, 2200),
    ],
)
def test_colours_of_the_report_end_at_the_limits(
    monkeypatch: pytest.MonkeyPatch, words: list[str], low_us: float, high_us: float
):
    spans = []
    monkeypatch.setattr("leadline.link.sheet.write_sheet", lambda *_, span: spans.append(span))
    assert main(["-p", *words, SERIAL]) == 0
    assert len(spans) == 2
    run = load(SERIAL)
    time_us = run.matrix(run.slices[0]) / 1e3
    for span in spans:
        assert (span.low / 1e3, span.high / 1e3) == pytest.approx((low_us, high_us), rel=1e-3)
        assert span.num_below == np.count_nonzero(time_us < span.low / 1e3)
        assert span.num_above == np.count_nonzero(time_us > span.high / 1e3)

# SPDX-License-Identifier: Apache-2.0
"""The MPI-IO Test's command lines and what they print: every file of mpi_io_test/ is one. What is in the files is read
here by other means than the program's own.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import golden
import launch
import numpy as np
import pytest

CASES = golden.read_all(Path(__file__).resolve().parent / "mpi_io_test")
HINT = re.compile(r"Key: \S+ += ")  # which ones there are is the MPI library's business
OURS = re.compile(r"leadline: |mpi_io_test\.x: ")
MASTER = "# master file\n-type     2\n-size     64K\n-nobj 20480\n-hints striping_factor 4 cb_nodes 6\n-deletefile\n"

EXPONENT = r"(\d\.\d{6}e[+-]\d\d)"
BANDWIDTH = re.compile(
    rf"=== (.+) Bandwidth \(min \[rank\] avg max \[rank\]\): {EXPONENT} \[(\d+)\] {EXPONENT} {EXPONENT} \[(\d+)\] "
    r"Mbytes/s\."
)
TIME = re.compile(
    rf"=== (.+) \(min \[rank\] avg max \[rank\]\): {EXPONENT} \[(\d+)\] {EXPONENT} {EXPONENT} \[(\d+)\] sec\."
)


def run(tmp_path: Path, words: str, ranks: int = 4, launcher: str = "mpirun") -> list[str]:
    """The lines of a run that goes well."""
    case = golden.Golden("run", {"command": f"mpi_io_test.x {words}", "ranks": str(ranks)})
    done = launch.run(case, launcher, tmp_path)
    assert done.status == 0, done.err
    return done.out.splitlines()


@pytest.mark.parametrize(("name", "launcher"), launch.runs(CASES))
def test_golden(tmp_path: Path, name: str, launcher: str) -> None:
    case = CASES[name]
    (tmp_path / "names").write_text("first file\n\n# a comment\nsecond file\n")
    (tmp_path / "master.txt").write_text(MASTER)
    done = launch.run(case, launcher, tmp_path)
    launch.expect(case, done, OURS)
    for path, lines in case.files.items():
        found = [line for line in (tmp_path / path).read_text().splitlines() if not HINT.match(line)]
        assert not golden.first_difference(lines, found)
    assert "hunter2" not in done.out + done.err
    assert {path.name for path in tmp_path.iterdir()} == {*case.files, "names", "master.txt"}


@pytest.mark.parametrize("launcher", ["mpirun", "mpiexec"])
def test_numbers_are_consistent(tmp_path: Path, launcher: str) -> None:
    """Whatever the machine: bandwidths are all bytes over the greatest, the mean and the least time."""
    lines = run(tmp_path, "-type 2 -nobj 16 -size 64K -target f", launcher=launcher)
    num_checked = 0
    names = {"Effective": "Total Time", "Write": "Write Time", "Read": "Read Time"}
    for line, next_line in itertools.pairwise(lines):
        found = BANDWIDTH.fullmatch(line)
        if not found:
            continue
        time = TIME.fullmatch(next_line)
        assert time, next_line
        assert time[1] == names[found[1]]
        assert float(found[2]) == pytest.approx(4 / float(time[5]), rel=1e-5)
        assert found[3] == time[6], "the slowest process"
        assert float(found[4]) == pytest.approx(4 / float(time[4]), rel=1e-5)
        assert float(found[5]) == pytest.approx(4 / float(time[2]), rel=1e-5)
        assert found[6] == time[3], "the fastest process"
        num_checked += 1
    assert num_checked == 4


def object_of(rank: int, offset: int, size: int) -> np.ndarray:
    """What -touch 3 makes of it: index and rank, and the offset at the start of each page."""
    numbers = np.arange(size // 8, dtype=np.float64) + rank
    numbers[::512] = offset
    return numbers


def expected(ranks: int, num_objects: int, size: int, *, strided: bool) -> np.ndarray:
    """One file of all ranks."""
    all_objects = np.zeros(ranks * num_objects * size // 8)
    for rank in range(ranks):
        for number in range(num_objects):
            place = number * ranks + rank if strided else rank * num_objects + number
            numbers = object_of(rank, place * size, size)
            all_objects[place * size // 8 : (place + 1) * size // 8] = numbers
    return all_objects


@pytest.mark.parametrize("launcher", ["mpirun", "mpiexec"])
@pytest.mark.parametrize("strided", [0, 1])
@pytest.mark.parametrize(("kind", "ranks"), [("2", 3), ("4 -num_io 2 -csize 24K", 5)])
def test_a_shared_file_has_every_object_in_its_place(
    tmp_path: Path, kind: str, ranks: int, strided: int, launcher: str
) -> None:
    """An older, longer file is there before; type 4 is byte for byte type 2."""
    (tmp_path / "f").write_bytes(b"\xff" * 1_000_000)
    run(tmp_path, f"-type {kind} -nobj 3 -size 8K -touch 3 -chkdata 3 -strided {strided} -target f", ranks, launcher)
    found = np.fromfile(tmp_path / "f")
    assert np.array_equal(found, expected(ranks, 3, 8192, strided=bool(strided)))


@pytest.mark.parametrize("launcher", ["mpirun", "mpiexec"])
def test_files_of_type_5_have_neither_holes_nor_overlaps(tmp_path: Path, launcher: str) -> None:
    """Rank r is number r div M of the ranks of file r mod M."""
    (tmp_path / "names").write_text("a\nb\nc\n")
    run(tmp_path, "-type 5 -num_io 3 -nobj 2 -size 8K -touch 3 -chkdata 3 -targets names", 7, launcher)
    for group, name in enumerate("abc"):
        ranks = [rank for rank in range(7) if rank % 3 == group]
        objects = [
            object_of(rank, (index * 2 + number) * 8192, 8192) for index, rank in enumerate(ranks) for number in (0, 1)
        ]
        assert np.array_equal(np.fromfile(tmp_path / name), np.concatenate(objects))


def test_a_damaged_object_is_named(tmp_path: Path) -> None:
    run(tmp_path, "-type 2 -nobj 4 -size 8K -touch 3 -op write -target f", 2)
    data = bytearray((tmp_path / "f").read_bytes())
    data[5 * 8192 : 6 * 8192] = data[0:8192]
    (tmp_path / "f").write_bytes(data)
    case = golden.Golden(
        "damaged", {"command": "mpi_io_test.x -type 2 -nobj 4 -size 8K -touch 3 -op read -chkdata 3 -target f"}
    )
    case.head["ranks"] = "2"
    done = launch.run(case, "mpirun", tmp_path)
    assert done.status == 255
    assert re.search(r"leadline: .*\bf\b.*", done.err), done.err
    assert "=== MPI-IO Read failed: " in done.out
    assert "Read Bandwidth" not in done.out


def test_a_printed_setup_is_a_setup(tmp_path: Path) -> None:
    words = "-type 4 -num_io 2 -nobj 2 -size 8K -csize 16K -target 'a name' -deletefile"
    printed = run(tmp_path, f"-print_setup {words}", 1, "none")
    (tmp_path / "setup").write_text("\n".join(printed))
    again = run(tmp_path, "-print_setup -setup setup", 1, "none")
    assert [line.split("  #")[0] for line in again] == [line.split("  #")[0] for line in printed]
    lines = run(tmp_path, "-setup setup")
    assert "Test data written to (-target): a name" in lines
    assert "=== Completed MPI-IO Read." in lines


def test_errors_go_to_their_file(tmp_path: Path) -> None:
    words = "-type 1 -size 8 -target missing/f.%r -errout errors.txt"
    case = golden.Golden("errout", {"command": f"mpi_io_test.x {words}", "ranks": "3"})
    done = launch.run(case, "mpirun", tmp_path)
    assert done.status == 255
    assert "missing/f.0" in (tmp_path / "errors.txt").read_text()


def test_times_of_each_process(tmp_path: Path) -> None:
    lines = run(tmp_path, "-type 1 -nobj 2 -size 8K -target f.%r -verbose", 3)
    first = lines.index("Times of each process in seconds:")
    assert [line.split()[0] for line in lines[first + 1 : first + 5]] == ["rank", "0", "1", "2"]


def test_a_result_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    run(tmp_path, "-type 1 -nobj 2 -size 8K -target f.%r -result r.json")
    assert (tmp_path / "r.json").read_text().startswith("{")

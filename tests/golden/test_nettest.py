# SPDX-License-Identifier: Apache-2.0
"""NETTEST's command lines and what they print: every file of nettest/ is one, run under the launchers it names."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import golden
import launch
import program
import pytest

CASES = golden.read_all(Path(__file__).resolve().parent / "nettest")
OURS = re.compile(r"leadline: |nettest: ")


@pytest.mark.parametrize(("name", "launcher"), launch.runs(CASES))
def test_golden(tmp_path: Path, name: str, launcher: str) -> None:
    case = CASES[name]
    done = launch.run(case, launcher, tmp_path)
    launch.expect(case, done, OURS)
    assert {path.name for path in tmp_path.iterdir()} == set(case.files)
    for file_name, lines in case.files.items():
        assert not golden.first_difference(lines, (tmp_path / file_name).read_text().splitlines())


def rows_of(table: list[str]) -> list[list[float]]:
    """Length and rates of every line that is whole."""
    return [[float(word) for word in line.split("\t")] for line in table if re.match(r"\d", line)]


def numbers_in(table: list[str], start: str, lines_later: int = 0) -> list[float]:
    """Those of the line that begins so, or of one below it."""
    at = next(number for number, line in enumerate(table) if line.lstrip("\t").startswith(start))
    return [float(number) for number in re.findall(r"\d+\.\d+", table[at + lines_later])]


def test_the_numbers_of_a_table_are_consistent(tmp_path: Path) -> None:
    """Whatever the machine: the best line is that of the columns, and the times fit into the time of the whole run."""
    assert launch.run(CASES["page_in_short"], "mpirun", tmp_path).status == 0
    table = (tmp_path / "transfer.dat").read_text().splitlines()
    rows = rows_of(table)
    assert [row[0] for row in rows] == [1, 2, 4, 8, 16] * 2
    assert numbers_in(table, "Best", 2) == [max(row[column] for row in rows) for column in range(1, 7)]
    times, channels, rounding = 20, [3, 3, 6, 6, 4, 4], 0.005
    least_s = sum(
        times * 2 * 1024 * row[0] * links / ((rate + rounding) * 2**20)
        for row in rows
        for links, rate in zip(channels, row[1:], strict=True)
    )
    assert 0 < least_s <= numbers_in(table, "MPI Network Test")[0] + rounding


def test_an_older_table_is_replaced_with_a_word(tmp_path: Path) -> None:
    case = CASES["page_in_short"]
    table = tmp_path / "transfer.dat"
    table.write_text("a table\n" * 1000)
    done = launch.run(case, "mpirun", tmp_path)
    assert done.status == 0
    assert "nettest: transfer.dat is there already and will be replaced\n" in done.err
    assert not golden.first_difference(case.files["transfer.dat"], table.read_text().splitlines())


@pytest.mark.parametrize("launcher", ["mpirun", "mpiexec"])
@pytest.mark.parametrize("victim", ["0", "2"])
def test_a_killed_process_leaves_the_lines_that_were_measured(tmp_path: Path, launcher: str, victim: str) -> None:
    case = golden.Golden(
        "killed",
        {"command": "nettest ub m1 M64 s1 T20 R1000 otransfer.dat", "ranks": "3"},
    )
    table = tmp_path / "transfer.dat"
    with program.Run(launch.command(case, launcher), tmp_path) as run:
        program.await_that(lambda: table.exists() and len(table.read_text().splitlines()) > 12)
        os.kill(
            next(pid for pid in run.processes() if launch.rank_of(pid, "nettest") == victim),
            signal.SIGKILL,
        )
        done = run.finish()
    assert done.status != 0
    assert "MB/sec" not in done.out  # where mpiexec says what it did
    text = table.read_text()
    assert text.endswith("\n")
    assert [row[0] for row in rows_of(text.splitlines())][:4] == [1, 2, 3, 4]
    assert "complete" not in text

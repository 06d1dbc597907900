# SPDX-License-Identifier: Apache-2.0
"""LinkTest's command lines and what they print: every file of linktest/ is one, run under the launchers it names."""

from __future__ import annotations

import ctypes.util
import re
import shutil
import struct
from contextlib import ExitStack
from pathlib import Path

import golden
import launch
import program
import pytest

FOLDER = Path(__file__).resolve().parent / "linktest"
CASES = golden.read_all(FOLDER)
OURS = re.compile(r"(task|timings)\[|\[sionwrite\]|leadline: |linktest: |mpilinktest: |FZJ |Usage: ")


def run(case: golden.Golden, launcher: str, folder: Path) -> program.Done:
    """The case, with the simulated fabric at hand."""
    shutil.copy(FOLDER / "fabric.json", folder)
    return launch.run(case, launcher, folder)


@pytest.mark.parametrize(("name", "launcher"), launch.runs(CASES))
def test_golden(tmp_path: Path, name: str, launcher: str) -> None:
    case = CASES[name]
    if "without" in case.head and ctypes.util.find_library(case.head["without"]) is not None:
        pytest.skip(f"lib{case.head['without']} is here, so there may be a device")
    done = run(case, launcher, tmp_path)
    launch.expect(case, done, OURS)
    if "model:" in case.head["command"] and case.status == 0:
        assert not bandwidths_of_other_times(case, done.out)


def bandwidths_of_other_times(case: golden.Golden, out: str) -> list[tuple[str, ...]]:
    """Every `TIME us ( BANDWIDTH MiB/s)` in which one does not follow from the other."""
    directions = 2 if "--bidir" in case.head["command"] else 1
    size = int(re.search(r"Message length: (\d+) B", out)[1])
    found = re.findall(r"([\d.]+) (ns|us|ms|s) \( *([\d.]+) (B|KiB|MiB|GiB)/s\)", out)
    assert found
    return [figure for figure in found if bytes_of(*figure) != pytest.approx(directions * size, rel=1e-3)]


def bytes_of(time: str, time_unit: str, bandwidth: str, bandwidth_unit: str) -> float:
    """What so much bandwidth moves in so much time."""
    seconds = float(time) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[time_unit]
    return seconds * float(bandwidth) * 1024.0 ** ["B", "KiB", "MiB", "GiB"].index(bandwidth_unit)


def linktest_environment(ports: list[int], rank: int) -> dict[str, str]:
    """What a process is given where no launcher starts it."""
    variables = {"LINKTEST_TCP_SIZE": str(len(ports)), "LINKTEST_TCP_RANK": str(rank)}
    for other, port in enumerate(ports):
        variables |= {
            f"LINKTEST_TCP_IPADDR_{other:08}": "127.0.0.1",
            f"LINKTEST_TCP_PORT_{other:08}": str(port),
        }
    return variables


TCP = [
    "--mode",
    "tcp",
    "--num-warmup-messages",
    "10",
    "--num-messages",
    "100",
    "--size-messages",
    "1024",
]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_processes_with_explicit_variables(tmp_path: Path, ranks: int) -> None:
    ports = program.free_ports(ranks)
    command = [program.PROGRAM.parent / "linktest", *TCP, "--output", "tcp.sion"]
    with ExitStack() as stack:
        runs = [
            stack.enter_context(program.Run(command, tmp_path, env=linktest_environment(ports, rank)))
            for rank in range(ranks)
        ]
        done = [one.finish() for one in runs]
    assert [one.status for one in done] == [0] * ranks, done[0].err
    assert "RESULT: Avg Time:" in done[0].out
    assert done[0].err.count("task[") == ranks
    assert [one.out for one in done[1:]] == [""] * (ranks - 1)
    assert (tmp_path / "tcp.sion").is_file()


@pytest.mark.parametrize(
    "name",
    [
        "LINKTEST_TCP_SIZE",
        "LINKTEST_TCP_RANK",
        "LINKTEST_TCP_IPADDR_00000000",
        "LINKTEST_TCP_PORT_00000000",
    ],
)
def test_the_missing_variable_is_named(tmp_path: Path, name: str) -> None:
    variables = linktest_environment(program.free_ports(2), 0)
    del variables[name]
    done = program.complete([program.PROGRAM.parent / "linktest", *TCP], tmp_path, env=variables)
    assert done.status == 2
    assert name in done.complaint
    assert list(tmp_path.iterdir()) == []


def step_rows(path: Path, ranks: int) -> list[list[int]]:
    """The step numbers of every rank from a file of LinkTest 1.2's records, whose places are fixed."""
    data = path.read_bytes()
    (block,) = struct.unpack_from("<i", data, 20)
    chunks = struct.unpack_from(f"<{ranks}q", data, 1076 + 8 * ranks)
    at = -(-(1088 + 16 * ranks) // block) * block
    rows = []
    for rank, chunk in enumerate(chunks):
        assert data[at : at + 5] == b"LKTST"
        first_time = at + (409 if rank == 0 else 289)
        rows.append(list(struct.unpack_from(f"<{ranks}i", data, first_time + 8 * ranks)))
        at += chunk
    return rows


@pytest.mark.parametrize("name", ["mpilinktest_serial", "mpilinktest_two_slowest"])
def test_files_of_mpilinktest_are_those_of_linktest(tmp_path: Path, name: str) -> None:
    assert run(CASES[name], "mpirun", tmp_path).status == 0
    path = tmp_path / "pingpong_results_bin.sion"
    assert path.stat().st_size == 8256
    assert step_rows(path, 4) == [[0, 3, 2, 1], [3, 0, 1, 2], [2, 1, 0, 3], [1, 2, 3, 0]]


def test_every_iteration_of_mpilinktest_has_a_file(tmp_path: Path) -> None:
    run(CASES["mpilinktest_iterations"], "mpirun", tmp_path)
    names = {path.name for path in tmp_path.glob("*.sion")}
    assert names == {"pingpong_results_bin_i001.sion", "pingpong_results_bin_i002.sion"}


def test_repeated_tests_write_a_file_only_where_it_is_named(tmp_path: Path) -> None:
    for name, files in (("model_iterations", []), ("model_iterations_with_file", ["last.sion"])):
        run(CASES[name], "mpirun", tmp_path)
        assert [path.name for path in tmp_path.glob("*.sion")] == files


def test_an_older_result_is_replaced_with_a_word(tmp_path: Path) -> None:
    case = CASES["odd_number_of_tasks"]
    assert "replaced" not in run(case, "mpirun", tmp_path).err
    done = run(case, "mpirun", tmp_path)
    assert "linktest: pingpong_results_bin.sion is there already and will be replaced" in done.err
    assert done.status == 0

# SPDX-License-Identifier: Apache-2.0
"""`leadline io` over every movement and backend: where objects lie, numbers that fit, wrong data, stops, plans."""

from __future__ import annotations

import json
import re
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import program
import pytest
from program import Done, Leadline
from result import schema_of, status_of, summary_of, wrong_json

RANKS, OBJECTS, SIZE = 5, 6, 12288
FEW = ["--objects", str(OBJECTS), "--object-size", str(SIZE), "--wait", "yield", "--quiet", "--sync", "outside"]
Io = Callable[..., Done]
Block = tuple[int, int, int, int]  # file, rank, object, offset


@pytest.fixture
def io(leadline: Leadline) -> Io:
    """Runs `leadline io` with few small objects; it must end well unless `status` says otherwise."""

    def run(*words: str | Path, status: int = 0, few: list[str] = FEW, **options: Any) -> Done:
        done = leadline("io", *words, *few, **options)
        assert done.status == status, f"status {done.status}\n{done.err}\n{done.out}"
        return done

    return run


def blocks_of(path: Path, size: int = SIZE) -> Iterator[Block]:
    """Whose objects lie in a file, one behind the other, as docs/formats/blocks.md says; holes have no magic."""
    data = path.read_bytes()
    assert len(data) % size == 0
    for start in range(0, len(data), size):
        for inside in range(0, size, 4096):
            at = start + inside
            magic, _, file, rank, number, offset, length = struct.unpack_from("<8sQIIQQI", data, at)
            assert magic == b"LEADBLK\1", f"no block at {at} of {path}"
            assert offset == at
            assert length == min(4096, size - inside)
            if inside == 0:
                yield file, rank, number, offset


def own_stretches(ranks: list[int]) -> list[tuple[int, int]]:
    """(rank, object) in the order of a file that is not strided."""
    return [(rank, number) for rank in ranks for number in range(OBJECTS)]


def strides(ranks: list[int]) -> list[tuple[int, int]]:
    return [(rank, number) for number in range(OBJECTS) for rank in ranks]


ALL = list(range(RANKS))
# Words, and by file (rank, object) in order. With 5 ranks and 2 I/O ranks these are 0 (of 0 to 2) and 3 (of 3 and 4).
LAYOUTS: dict[str, tuple[list[str], dict[str, list[tuple[int, int]]]]] = {
    "N-N": (["--movement", "N-N", "--target", "t.%r"], {f"t.{rank}": own_stretches([rank]) for rank in ALL}),
    "N-1": (["--movement", "2", "--target", "t"], {"t": own_stretches(ALL)}),
    "N-1 strided": (["--movement", "N-1", "--strided", "--target", "t"], {"t": strides(ALL)}),
    "N-M-M": (["--movement", "3", "--io-ranks", "2", "--target", "t.%r"],
              {"t.0": own_stretches([0, 1, 2]), "t.3": own_stretches([3, 4])}),
    "N-M-M of others": (["--movement", "N-M-M", "--io-ranks", "2", "--no-self-send", "--target", "t.%r"],
                        {"t.0": own_stretches([1, 2]), "t.3": own_stretches([4])}),
    "N-M-1": (["--movement", "4", "--io-ranks", "2", "--target", "t"], {"t": own_stretches(ALL)}),
    "N-M-1 strided": (["--movement", "N-M-1", "--io-ranks", "2", "--strided", "--target", "t"], {"t": strides(ALL)}),
    "N-M": (["--movement", "5", "--files", "2", "--target", "t.%r"],
            {"t.0": own_stretches([0, 2, 4]), "t.1": own_stretches([1, 3])}),
    "N-M strided": (["--movement", "N-M", "--files", "2", "--strided", "--target", "t.%r"],
                    {"t.0": strides([0, 2, 4]), "t.1": strides([1, 3])}),
}  # fmt: skip


def expect_layout(folder: Path, files: dict[str, list[tuple[int, int]]]) -> None:
    for number, (name, expected) in enumerate(sorted(files.items())):
        found = list(blocks_of(folder / name))
        assert [(rank, of_rank) for _, rank, of_rank, _ in found] == expected, name
        assert {file for file, *_ in found} == {number}
        assert not (set(folder.glob("t*")) - {folder / one for one in files})


def expect_numbers_that_fit(document: dict[str, Any], num_objects: int) -> None:
    """What a phase says follows from its times and bytes."""
    for phase in document["phases"]:
        assert phase["is_complete"], phase["error"]
        assert phase["num_objects"] == num_objects
        assert phase["bytes"] == num_objects * SIZE
        assert phase["bytes_per_s_io"] == pytest.approx(1e9 * phase["bytes"] / phase["io"]["max"])
        assert phase["bytes_per_s_mean"] == pytest.approx(1e9 * phase["bytes"] / phase["io"]["mean"])
        assert phase["bytes_per_s"] == pytest.approx(1e9 * phase["bytes"] / phase["wall_ns"])
        assert phase["bytes_per_s_wall"] == phase["bytes_per_s"]
        assert phase["io"]["max"] <= phase["wall_ns"] + 1e5  # what happens between two clock readings
        assert phase["bytes_per_s_io"] <= phase["bytes_per_s_mean"] * (1 + 1e-9)
        assert 0 < phase["first_done_ns"] <= phase["wall_ns"]
        assert sum(bucket["num"] for bucket in phase["latencies"]) == phase["num_calls"]
        assert sum(phase["series"]["bytes"]) == pytest.approx(phase["bytes"], abs=phase["num_calls"] + 128)
        latencies = [phase[f"call_ns_{name}"] for name in ("min", "p50", "p90", "p99", "p999", "max")]
        assert latencies == sorted(latencies)
        assert phase["num_mismatches"] == 0
    for operation in document["operations"]:
        rates = [one["bytes_per_s"] for one in document["phases"] if one["operation"] == operation["operation"]]
        assert operation["num"] == len(rates)
        assert operation["bytes_per_s_min"] == pytest.approx(min(rates))
        assert operation["bytes_per_s_max"] == pytest.approx(max(rates))
        assert operation["bytes_per_s_mean"] == pytest.approx(sum(rates) / len(rates))


def expect_rows_that_fit(path: Path, document: dict[str, Any]) -> None:
    """The rows of ranks say the same as the summary."""
    with h5py.File(path, "r", locking=False) as file:
        ranks = {name: file["io/ranks"][name][:] for name in file["io/ranks"]}
        assert (file["io/phases/state"][:] == 1).all()
    for phase in document["phases"]:
        row = {name: values[phase["index"]] for name, values in ranks.items()}
        assert (row["end_ns"] > 0).all()
        assert row["bytes"].sum() == phase["bytes"]
        assert row["num_objects"].sum() == phase["num_objects"]
        assert row["io_ns"].max() == pytest.approx(phase["io"]["max"])
        assert row["latencies"].sum() == phase["num_calls"]
        ends = row["end_ns"]
        if document["options"]["sync"] == "outside":
            ends = np.maximum(row["done_ns"] + row["close_ns"], row["begin_ns"] + row["io_ns"])
        assert ends.max() - row["begin_ns"].min() == pytest.approx(phase["wall_ns"])


@pytest.mark.parametrize("case", LAYOUTS)
def test_every_movement(io: Io, tmp_path: Path, case: str) -> None:
    words, files = LAYOUTS[case]
    done = io("--local", str(RANKS), *words, "--repeat", "2", "--output", "r.h5")
    expect_layout(tmp_path, files)
    document = summary_of(tmp_path / "r.h5")
    assert wrong_json(document, schema_of("io")) == []
    assert document["complete"] is True
    assert [(one["operation"], one["repeat"]) for one in document["phases"]] == [
        ("write", 0), ("read", 0), ("write", 1), ("read", 1)]  # fmt: skip
    num_objects = sum(len(one) for one in files.values())
    expect_numbers_that_fit(document, num_objects)
    expect_rows_that_fit(tmp_path / "r.h5", document)
    assert document["verified_bytes"] == 2 * num_objects * SIZE
    assert "read as written" in done.out
    assert document["files"] == [str(name) for name in sorted(files)]


@pytest.mark.parametrize("more", [["--ahead", "0"], ["--ahead", "3"], ["--buffer-size", str(2 * SIZE)],
                                  ["--buffer-size", str(SIZE), "--ahead", "0", "--barrier"],
                                  ["--calls", "non-blocking", "--ahead", "2"]])  # fmt: skip
@pytest.mark.parametrize("case", ["N-M-1", "N-M-1 strided", "N-M-M of others"])
def test_buffers_do_not_change_the_files(io: Io, tmp_path: Path, case: str, more: list[str]) -> None:
    words, files = LAYOUTS[case]
    io("--local", str(RANKS), *words, *more, "--format", "none")
    expect_layout(tmp_path, files)


BACKENDS = {
    "ompio": ("mpirun.openmpi", "mpi-io:ompio"),
    "romio of Open MPI": ("mpirun.openmpi", "mpi-io:romio"),
    "MPICH": ("mpiexec.hydra", "mpi-io"),
    "posix under Open MPI": ("mpirun.openmpi", "posix"),
}


def under_mpi(backend: str, folder: Path, words: list[str]) -> Done:
    """The ranks of a launcher, with one of its backends."""
    launcher, name = BACKENDS[backend]
    if shutil.which(launcher) is None:
        pytest.skip(f"{launcher} is not installed")
    command = [launcher, *(["--oversubscribe"] if "openmpi" in launcher else []), "-n", str(RANKS)]
    return program.complete([*command, program.PROGRAM, "io", "--backend", name, *words, *FEW], folder, timeout=120)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", ["N-N", "N-1 strided", "N-M-M", "N-M-1", "N-M"])
def test_every_backend(tmp_path: Path, backend: str, case: str) -> None:
    words, files = LAYOUTS[case]
    done = under_mpi(backend, tmp_path, [*words, "--output", "r.json"])
    assert done.status == 0, done.err
    expect_layout(tmp_path, files)
    document = json.loads((tmp_path / "r.json").read_text())
    assert wrong_json(document, schema_of("io")) == []
    expect_numbers_that_fit(document, RANKS * OBJECTS)
    name = BACKENDS[backend][1]
    assert document["options"]["backend"] == name
    library = document["backend_library"]
    expected = {"mpi-io:ompio": r"Open MPI .*ompio", "mpi-io:romio": r"Open MPI .*romio", "mpi-io": "MPICH"}
    assert re.search(expected.get(name, "POSIX"), library), library


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("calls", [["--collective"], ["--calls", "non-blocking"],
                                   ["--collective", "--calls", "non-blocking"]])  # fmt: skip
def test_calls_are_right_or_refused_with_a_reason(tmp_path: Path, backend: str, calls: list[str]) -> None:
    words, files = LAYOUTS["N-M-1"]
    done = under_mpi(backend, tmp_path, [*words, *calls, "--output", "r.json"])
    if done.status == 0:
        expect_layout(tmp_path, files)
        return
    assert done.status in (2, 3), done.err
    assert any(f"{word}" in done.complaint for word in calls), done.complaint
    assert "--backend" in done.complaint
    assert list(tmp_path.iterdir()) == [], "a refused run left a file"


def test_what_is_fragile_can_be_had_all_the_same(tmp_path: Path) -> None:
    words, _ = LAYOUTS["N-1"]
    refused = under_mpi("romio of Open MPI", tmp_path, [*words, "--collective", "--calls", "non-blocking"])
    if refused.status == 0:
        pytest.skip("these calls are well here")
    assert refused.status == 3
    assert "--allow-fragile" in refused.complaint


def test_what_an_earlier_run_wrote(io: Io, tmp_path: Path) -> None:
    words = ["--local", "3", "--target", "t.%r"]
    io(*words, "--op", "write", "--repeat", "2", "--output", "w.json")
    done = leadline_read(io, words, "--output", "r.json")
    written, read = (json.loads((tmp_path / name).read_text()) for name in ("w.json", "r.json"))
    assert read["run"] == written["run"]
    assert read["verified_bytes"] == 3 * OBJECTS * SIZE
    assert [one["operation"] for one in read["phases"]] == ["read"]
    assert "write:" not in done.out


def leadline_read(io: Io, words: list[str], *more: str, status: int = 0) -> Done:
    """Reads what is there, without the options about writing."""
    few = [word for word in FEW if word not in ("--sync", "outside")]
    return io(*words, "--op", "read", *more, few=few, status=status)


def test_a_wrong_byte_is_found_and_named(io: Io, tmp_path: Path) -> None:
    words = ["--local", "2", "--target", "t.%r"]
    io(*words, "--op", "write", "--format", "none")
    data = bytearray((tmp_path / "t.1").read_bytes())
    at = 3 * SIZE + 4096 + 777
    data[at] ^= 0x10
    (tmp_path / "t.1").write_bytes(data)
    done = leadline_read(io, words, "--output", "r.h5", status=4)
    assert all(word in done.complaint for word in ("t.1", "rank 1", "object 3")), done.complaint
    assert f"wrong: t.1 at {at // 8 * 8}" in done.out or f"wrong: t.1 at {at}" in done.out, done.out
    assert done.out.startswith("INCOMPLETE: ")
    assert "1 object with wrong data in all" in done.out
    complete, reason = status_of(tmp_path / "r.h5")
    assert not complete
    assert "t.1" in reason
    with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
        assert file["io/ranks/num_mismatches"][0].tolist() == [0, 1]
    assert leadline_read(io, words, "--check", "first", "--format", "none").status == 0


@pytest.mark.parametrize("damage", ["shifted", "zeros", "other_run"])
def test_damage_is_named_by_kind(io: Io, tmp_path: Path, damage: str) -> None:
    words = ["--local", "2", "--movement", "N-1", "--target", "t"]
    io(*words, "--op", "write", "--format", "none")
    data = (tmp_path / "t").read_bytes()
    first, second, third = (data[number * SIZE : (number + 1) * SIZE] for number in range(3))
    if damage == "shifted":
        data = first + third + second + data[3 * SIZE :]
    elif damage == "zeros":
        data = first + bytes(SIZE) + data[2 * SIZE :]
    else:
        io(*words, "--op", "write", "--format", "none")
        data = (tmp_path / "t").read_bytes()[:SIZE] + data[SIZE:]
    (tmp_path / "t").write_bytes(data)
    done = leadline_read(io, words, "--output", "r.h5", status=4)
    assert " t" in done.complaint
    with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
        phase = json.loads(bytes(file["io/phases/summary"][0]).rstrip(b"\0"))
    assert {wrong["kind"] for wrong in phase["wrong"]} == {damage}
    expected = {"shifted": 2, "zeros": 1, "other_run": 2 * OBJECTS - 1}[damage]
    assert phase["num_mismatches"] == expected
    assert [wrong["expected"]["object"] for wrong in phase["wrong"]][:1] == [1]


def test_a_file_that_is_too_short_is_not_read(io: Io, tmp_path: Path) -> None:
    words = ["--local", "2", "--movement", "N-1", "--target", "t"]
    io(*words, "--op", "write", "--format", "none")
    with (tmp_path / "t").open("r+b") as file:
        file.truncate(2 * OBJECTS * SIZE - SIZE // 2)
    done = leadline_read(io, words, "--format", "none", status=3)
    assert all(word in done.complaint for word in ("file t", "138 KiB", "144 KiB")), done.complaint


def test_reads_of_others(io: Io, tmp_path: Path) -> None:
    io("--local", "3", "--target", "t.%r", "--read-shift", "ranks:1", "--drop-cache", "--output", "r.json")
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["verified_bytes"] == 3 * OBJECTS * SIZE
    assert document["options"]["read_shift"] == "ranks:1"


def test_only_messages(io: Io, tmp_path: Path) -> None:
    few = [word for word in FEW if word not in ("--sync", "outside")]
    words = ["--local", "4", "--movement", "N-M-M", "--io-ranks", "1", "--no-file", "--output", "r.json"]
    done = io(*words, few=few)
    document = json.loads((tmp_path / "r.json").read_text())
    assert wrong_json(document, schema_of("io")) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json"]
    assert all(phase["bytes_per_s"] > 0 for phase in document["phases"])
    assert "messages only" in done.out


@pytest.mark.parametrize("movement", [["N-N", "--target", "t.%r"], ["N-M-1", "--io-ranks", "1", "--target", "t"]])
def test_it_stops_when_the_time_is_over(io: Io, tmp_path: Path, movement: list[str]) -> None:
    few = ["--object-size", "64KiB", "--quiet", "--wait", "yield", "--delete", "--sync", "none", "--check", "first"]
    io("--local", "2", "--movement", *movement, "--objects", "40000", "--time-limit", "200ms", "--output", "r.json",
       few=few)  # fmt: skip
    document = json.loads((tmp_path / "r.json").read_text())
    write, read = document["phases"]
    assert write["has_stop"]
    assert 0 < write["bytes_at_stop"] <= write["bytes"]
    assert write["num_objects"] == 2 * document["num_objects"] < 80000
    assert read["num_objects"] <= write["num_objects"]
    assert document["verified_bytes"] > 0


def test_the_text_says_what_the_file_says(io: Io, tmp_path: Path) -> None:
    done = io("--local", "2", "--target", "t.%r", "--output", "r.h5")
    for operation in summary_of(tmp_path / "r.h5")["operations"]:
        found = re.search(rf"\n{operation['operation']}: ([\d.]+) (.)iB/s, ([\d.]+) IOPS\n", done.out)
        assert found, done.out
        unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[found[2]]
        assert float(found[1]) * unit == pytest.approx(operation["bytes_per_s_median"], abs=unit / 1000)
        assert float(found[3]) == pytest.approx(operation["operations_per_s_median"], rel=1e-3)
    assert "\n  fsync is outside the time" in done.out
    assert re.search(r"\n  sync +[\d.]+ .* not in the I/O time\n|\n    sync +[\d.]+ .* not in the I/O time\n", done.out)

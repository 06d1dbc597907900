# SPDX-License-Identifier: Apache-2.0
"""The process that reads HDF5: its limits, its death, and that nobody else touches the library."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from made_up_bisection import MadeUpBisection, write_bisection

import leadline
from conftest import two_hosts, write_packed_result
from leadline.hdf5_process import Dataset, Hdf5File, LibraryError, client
from leadline.readers.input_file import InputFile

MATRIX = "repeats/0000/time_ns_median"


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A result in chunks, as others than the engine write it: all of its rows come through the library."""
    return write_packed_result(tmp_path / "packed.h5", two_hosts())


def opened(path: Path) -> Hdf5File:
    return Hdf5File(path, path.stat().st_size)


def dataset_of(file: Hdf5File, name: str = MATRIX) -> Dataset:
    found = file.find(name)
    assert isinstance(found, Dataset)
    return found


def test_only_the_other_process_has_the_library(packed: Path):
    code = (
        "import sys, leadline\n"
        f"result = leadline.load({str(packed)!r})\n"
        "result.matrix(result.slices[0])\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'h5py'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_too_few_descriptors_are_the_reason(packed: Path):
    code = (
        "import resource; from leadline.cli.report import main\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))\n"
        f"raise SystemExit(main([{str(packed)!r}, '-o', '-']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "(the process that reads HDF5 files does not start: Too many open files)." in done.stderr
    assert done.stderr.endswith("Raise the limit of open files (ulimit -n)\n")


def test_values_are_those_of_the_library(packed: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "_PIECE_BYTES", 3 * 8 * 8)  # three rows at a time
    file = opened(packed)
    with h5py.File(packed) as library:
        expected = library[MATRIX][()]
    dataset = dataset_of(file)
    assert (dataset.shape, dataset.dtype, dataset.offset) == ((1, 8, 8), np.dtype("f8"), None)
    assert np.array_equal(file.read(dataset), expected)
    assert np.array_equal(file.read(dataset, [(0, 1), (2, 7), (3, 5)]), expected[:, 2:7, 3:5])
    assert file.read(dataset, [(0, 1), (4, 4)]).shape == (1, 0, 8)


def test_what_is_in_a_file(packed: Path):
    with h5py.File(packed, "r+") as library:
        library["soft"] = h5py.SoftLink("/" + MATRIX)
        library["empty"] = h5py.Empty("f8")
        library["records"] = np.zeros(2, dtype=[("a", "i4")])
        library.attrs["odd"] = np.array([b"\xff", b"x"])
        library.attrs["pair"] = [1, 2]
    file = opened(packed)
    assert dataset_of(file, "soft").shape == (1, 8, 8)
    assert file.find("nothing") is None
    assert file.find(f"{MATRIX}/below") is None
    assert file.attributes()["benchmark"] == "link"
    assert (file.attributes()["odd"], file.attributes()["pair"]) == (["\ufffd", "x"], [1, 2])
    for name in ("empty", "records"):
        with pytest.raises(LibraryError, match=f"/{name} has neither numbers nor text"):
            file.read(dataset_of(file, name))


def test_a_link_to_a_pipe_is_not_followed(packed: Path, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    with h5py.File(packed, "r+") as library:
        del library["ranks"]
        library["ranks"] = h5py.ExternalLink(str(tmp_path / "pipe"), "/ranks")
    with pytest.raises(leadline.LeadlineError, match="/ranks/host lies in another file"):
        leadline.load(packed)


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="this system does not tell a process's limits")
def test_its_limits(packed: Path):
    file = opened(packed)
    limits = Path(f"/proc/{file._pid}/limits").read_text()

    def soft(name: str) -> int:
        found = re.search(rf"^{name} +(\w+)", limits, re.MULTILINE)
        assert found
        return int(found[1])

    assert 1 <= soft("Max cpu time") <= 5
    assert 0 < soft("Max address space") < 1 << 30
    assert soft("Max core file size") == 0


def test_its_death_is_damage_and_concerns_one_file(packed: Path):
    first, second = opened(packed), opened(packed)
    dataset = dataset_of(first)
    os.kill(first._pid, signal.SIGSEGV)
    for _ in range(2):
        with pytest.raises(LibraryError, match="the HDF5 library crashes on what is in it, or comes to no end"):
            first.read(dataset)
    assert second.read(dataset).shape == (1, 8, 8)


def test_rows_after_its_death(packed: Path, monkeypatch: pytest.MonkeyPatch):
    files: list[Hdf5File] = []
    connect = Hdf5File._connect
    monkeypatch.setattr(Hdf5File, "_connect", lambda self: (files.append(self), connect(self))[1])
    result = leadline.load(packed)
    os.kill(files[0]._pid, signal.SIGXCPU)
    with pytest.raises(leadline.LeadlineError, match=r"cannot read '.*' \(damaged: the HDF5 library crashes"):
        result.matrix(result.slices[0])


def test_a_new_server_where_it_was_killed(packed: Path):
    before = opened(packed)
    server = client._servers[-1]
    server._process.kill()
    server._process.wait()
    assert opened(packed).attributes()["benchmark"] == "link"
    assert before.read(dataset_of(before)).shape == (1, 8, 8), "its process lives on"


def test_a_file_system_that_does_not_answer(packed: Path):
    """As it looks from here: the process neither reads nor computes."""
    file = opened(packed)
    dataset = dataset_of(file)
    os.kill(file._pid, signal.SIGSTOP)
    assert file._stream is not None
    file._stream.settimeout(0.05)
    try:
        with pytest.raises(leadline.LeadlineError, match="nothing was read for 15 minutes"):
            file.read(dataset)
    finally:
        os.kill(file._pid, signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell how a process is")
def test_nothing_is_left_of_a_killed_command(packed: Path):
    code = (
        "import os, signal, leadline\n"
        "from leadline.hdf5_process import client\n"
        f"result = leadline.load({str(packed)!r})\n"
        "print(client._servers[-1]._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    server, deadline_s = Path(f"/proc/{int(done.stdout)}/stat"), time.monotonic() + 60
    while server.exists() and server.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline_s, "the server lives on"
        time.sleep(0.01)


def test_an_interrupted_answer_is_not_taken_for_the_next(packed: Path, monkeypatch: pytest.MonkeyPatch):
    file = opened(packed)
    dataset, expected = dataset_of(file), file.read(dataset_of(file))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(client, "receive_into", interrupted)
        with pytest.raises(KeyboardInterrupt):
            file.read(dataset, [(0, 1), (4, 8)])
    assert np.array_equal(file.read(dataset), expected)


def test_a_fork_of_the_reader(packed: Path):
    result = leadline.load(packed)
    expected = result.matrix(result.slices[0])
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    other = context.Process(target=lambda: answers.put(result.matrix(result.slices[0])))
    other.start()
    for _ in range(20):
        assert np.array_equal(result.matrix(result.slices[0]), expected, equal_nan=True)
    assert np.array_equal(answers.get(timeout=60), expected, equal_nan=True)
    other.join(60)
    assert other.exitcode == 0


def test_several_threads(packed: Path):
    result = leadline.load(packed)
    part, wrong = result.slices[0], []
    expected = result.matrix(part)

    def read(row: int) -> None:
        for _ in range(20):
            if not np.array_equal(
                result.read_rows(part, "time_ns_median", row, row + 1)[0], expected[row], equal_nan=True
            ):
                wrong.append(row)

    threads = [threading.Thread(target=read, args=(row,)) for row in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong


def test_a_packed_matrix_that_the_file_cannot_hold(tmp_path: Path):
    path = write_bisection(tmp_path / "run.h5", MadeUpBisection(["a", "b"], num_random=[1], rounds=8))
    with h5py.File(path, "r+") as file:
        for name in ("time_ns", "full_load_time_ns", "send_to", "receive_from"):
            kind = file[f"bisection/{name}"].dtype
            del file[f"bisection/{name}"]
            file.create_dataset(f"bisection/{name}", (1, 2, 1 << 30), kind, chunks=(1, 2, 1 << 16))
    with pytest.raises(leadline.LeadlineError, match="more than the file has room for"):
        leadline.load(path)


def test_holes_are_not_stored(tmp_path: Path):
    path = tmp_path / "holes"
    with path.open("wb") as file:
        file.write(bytes(1 << 16))
        file.truncate(1 << 40)
    stored = InputFile(path).stored_bytes()
    if stored == 1 << 40:
        pytest.skip("this file system does not tell holes")
    assert stored < 1 << 21


def test_without_h5py_a_line_says_so(packed: Path, tmp_path: Path):
    (tmp_path / "h5py.py").write_text("raise ImportError('there is no h5py')\n")
    code = f"from leadline.cli.report import main; raise SystemExit(main([{str(packed)!r}, '-o', '-']))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"leadline: cannot read '{packed}' (there is no h5py). Reading HDF5 needs h5py in this Python, and leave to "
        "start a process\n"
    )

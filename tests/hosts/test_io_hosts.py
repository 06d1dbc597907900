# SPDX-License-Identifier: Apache-2.0
"""Files over several hosts: who does the I/O, who reads what another host wrote, and a disk that hosts do not share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
from network import Network
from program import Done
from ranks import finish, started

pytestmark = pytest.mark.any_load

Make = Callable[[int], Network]
TWO_EACH = [0, 0, 1, 1]
OBJECTS, SIZE = 4, 65536
SMALL = ["--objects", str(OBJECTS), "--object-size", f"{SIZE}B", "--sync", "none"]
# Each of the processes that a test starts has shared memory of its own, as hosts have disks of their own.
OWN_DISK = "/dev/shm/data"
SHARED_FILE = [["--movement", "N-1"], ["--movement", "N-M", "--files", "1"], ["--movement", "N-M-1"]]


def ends_of(hosts: Network, host_of: list[int], folder: Path, *words: str) -> list[Done]:
    with started(hosts, host_of, folder, *SMALL, *words, benchmark="io") as runs:
        return finish(runs)


def measured(hosts: Network, host_of: list[int], folder: Path, *words: str) -> h5py.File:
    """The result of a run that went well."""
    ends = ends_of(hosts, host_of, folder, *words)
    assert [end.status for end in ends] == [0] * len(host_of), [end.err for end in ends]
    return h5py.File(folder / "r.h5")


@pytest.fixture
def two(network: Make) -> Iterator[Network]:
    yield network(2)


@pytest.mark.parametrize("kind", ["ranks:2", "hosts:1"])
def test_a_host_reads_what_the_other_wrote(two: Network, tmp_path: Path, kind: str) -> None:
    words = ["--target", "data.%r.%h", "--read-shift", kind]
    file = measured(two, TWO_EACH, tmp_path, *words)
    written, read = file["io/ranks/file"][:]
    assert written.tolist() == [0, 1, 2, 3]
    assert sorted(read.tolist()) == [0, 1, 2, 3]
    assert all(TWO_EACH[owner] != TWO_EACH[rank] for rank, owner in enumerate(read))
    assert np.all(file["io/ranks/bytes"][1] == OBJECTS * SIZE)
    assert np.all(file["io/ranks/num_mismatches"][:] == 0)
    names = [name.decode() for name in file["io/files"][:]]
    assert [name.rsplit("/", 1)[-1] for name in names] == [f"data.{r}.node{TWO_EACH[r]}" for r in range(4)]


@pytest.mark.parametrize("words", SHARED_FILE, ids=lambda words: words[1])
def test_hosts_share_a_file(two: Network, tmp_path: Path, words: list[str]) -> None:
    file = measured(two, TWO_EACH, tmp_path, *words, "--target", "data")
    assert (tmp_path / "data").stat().st_size == 4 * OBJECTS * SIZE
    assert file["io/ranks/bytes"][1].sum() == 4 * OBJECTS * SIZE
    assert file["io/phases/state"][:].tolist() == [1, 1]


@pytest.mark.parametrize(("options", "io_ranks"), [(["--io-ranks", "1"], [1]), (["--io-ranks", "2"], [1, 2])])
def test_one_host_does_the_io(two: Network, tmp_path: Path, options: list[str], io_ranks: list[int]) -> None:
    host_of = [0, 1, 1, 0]
    words = ["--movement", "N-M-M", "--io-hosts", "node1", *options, "--target", "data.%r"]
    file = measured(two, host_of, tmp_path, *words)
    assert file["io/io_ranks"][:].tolist() == io_ranks
    moved = file["io/ranks/bytes"][:]
    assert moved.sum(axis=1).tolist() == [4 * OBJECTS * SIZE] * 2
    assert np.flatnonzero(moved[0]).tolist() == io_ranks


def test_a_host_that_nobody_has(two: Network, tmp_path: Path) -> None:
    ends = ends_of(two, [0, 1], tmp_path, "--movement", "N-M-M", "--io-hosts", "node7")
    assert [end.status for end in ends] == [2, 2]
    (complaint,) = [line for end in ends for line in end.complaints]
    assert "node7" in complaint
    assert "node0" in complaint, "it says which hosts there are"


@pytest.mark.parametrize("words", SHARED_FILE, ids=lambda words: words[1])
def test_a_disk_that_hosts_do_not_share(two: Network, tmp_path: Path, words: list[str]) -> None:
    ends = ends_of(two, [0, 1], tmp_path, *words, "--target", OWN_DISK)
    assert [end.status for end in ends] == [3, 3]
    (complaint,) = [line for end in ends for line in end.complaints]
    assert f"rank 1 on node1: {OWN_DISK} is not the same file on all hosts" in complaint
    assert "N-N" in complaint


def test_a_file_a_rank_on_disks_of_their_own(two: Network, tmp_path: Path) -> None:
    file = measured(two, [0, 1], tmp_path, "--target", OWN_DISK + ".%r")
    assert file["io/ranks/bytes"][:].tolist() == [[OBJECTS * SIZE] * 2] * 2


def test_a_file_of_another_hosts_disk_cannot_be_read(two: Network, tmp_path: Path) -> None:
    ends = ends_of(two, [0, 1], tmp_path, "--target", OWN_DISK + ".%r", "--read-shift", "hosts:1")
    assert [end.status for end in ends] == [4, 4]
    (complaint,) = [line for end in ends for line in end.complaints]
    assert "rank 0 on node0" in complaint
    assert OWN_DISK + ".1" in complaint
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["io/phases/state"][:].tolist() == [1, 2], "what was written stays measured"

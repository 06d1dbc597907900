# SPDX-License-Identifier: Apache-2.0
"""Ranks that others start: both MPIs side by side, and processes with explicit variables, strangers at their ports."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path

import numpy as np
import program
import pytest
from result import ResultFile, schema_of, wrong_json

FEW = ["--messages", "20", "--wait", "yield"]


def launched(launcher: list[str], ranks: int, folder: Path, *words: str, **options: object) -> program.Done:
    return program.complete([*launcher, str(ranks), program.PROGRAM, "link", *FEW, *words], folder, **options)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_mpi(launcher: list[str], tmp_path: Path, ranks: int) -> None:
    done = launched(launcher, ranks, tmp_path, "--output", "r.h5", "--verify")
    assert done.status == 0, done.err
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.num_ranks == ranks
    assert np.array_equal(result.measured(), result.every_pair())
    name = "Open MPI" if "openmpi" in launcher[0] else "MPICH"
    assert name in result.provenance["launcher"]
    assert name in result.provenance["transport_library"]
    assert result.provenance["transport"] == "mpi"
    assert done.out.count(" on 1 host, transport mpi") == 1, "one rank prints"


@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
def test_mpi_in_other_directions(launcher: list[str], tmp_path: Path, direction: str) -> None:
    words = ["--direction", direction, "--verify", "--message-size", "0,1KiB,1MiB", "--window", "8"]
    done = launched(launcher, 3, tmp_path, *words, "--output", "r.h5")
    assert done.status == 0, done.err
    result = ResultFile(tmp_path / "r.h5")
    for size in range(3):
        assert np.array_equal(result.measured(size=size), result.every_pair())


def hidden(folder: Path, *words: str) -> dict[str, str]:
    """The variables with which no library can be opened whose name has one of these words in it."""
    library = folder / "hidden_libraries.so"
    source = program.ROOT / "tests" / "support" / "hidden_libraries.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True, timeout=60)
    return {
        "LD_PRELOAD": str(library),
        "ASAN_OPTIONS": "verify_asan_link_order=0",
        "HIDDEN_LIBRARIES": ":".join(words),
    }


def assert_tcp_run(done: program.Done, folder: Path, launcher: str) -> None:
    assert done.status == 0, done.err
    result = ResultFile(folder / "r.h5")
    assert result.complete
    assert result.num_ranks == 4, "and not 4 runs of 1 rank"
    assert np.array_equal(result.measured(), result.every_pair())
    assert result.provenance["transport"] == "tcp"
    assert result.provenance["launcher"] == launcher


def test_tcp_under_an_mpi_launcher(launcher: list[str], tmp_path: Path) -> None:
    """The ranks find each other by the launcher's protocol, and MPI is not used."""
    is_openmpi = "openmpi" in launcher[0]
    alone = hidden(tmp_path, "libmpi")
    done = launched(launcher, 4, tmp_path, "--transport", "tcp", "--output", "r.h5", env=alone)
    assert_tcp_run(done, tmp_path, "Open MPI mpirun (PMIx)" if is_openmpi else "MPICH Hydra (PMI-1)")


def open_mpi_only(launcher: list[str]) -> None:
    if "openmpi" not in launcher[0]:
        pytest.skip("MPICH's launcher speaks PMI-1, for which no library is needed")


def test_tcp_by_mpi_where_there_is_nothing_else(launcher: list[str], tmp_path: Path) -> None:
    open_mpi_only(launcher)
    alone = hidden(tmp_path, "libpmix")
    done = launched(launcher, 4, tmp_path, "--transport", "tcp", "--output", "r.h5", env=alone)
    assert_tcp_run(done, tmp_path, "Open MPI mpirun")


def test_where_nothing_can_be_loaded_all_reasons_are_told(launcher: list[str], tmp_path: Path) -> None:
    open_mpi_only(launcher)
    alone = hidden(tmp_path, "libpmix", "libmpi")
    done = launched(launcher, 2, tmp_path, "--transport", "tcp", "--output", "r.h5", env=alone)
    assert done.status == 3
    assert "the ranks cannot find each other" in done.complaint
    assert done.complaint.count("/hidden/library.so: cannot open shared object file") == 2
    assert "(pmix: " in done.complaint
    assert "; mpi: " in done.complaint
    assert not (tmp_path / "r.h5").exists()


@pytest.mark.parametrize(
    "left",
    [
        {"PMI_RANK": "0"},
        {"PMI_RANK": "0", "PMI_FD": "77"},
        {"PMIX_RANK": "0"},
        {"PMIX_RANK": "0", "PMIX_NAMESPACE": "nobody"},
        {"PMIX_RANK": "0", "PMIX_NAMESPACE": "nobody", "PMIX_SERVER_URI41": "nobody.0;tcp4://127.0.0.1:9"},
    ],
)
def test_traces_of_a_launcher_that_is_not_there(tmp_path: Path, left: dict[str, str]) -> None:
    words = [program.PROGRAM, "link", *FEW, "--transport", "tcp", "--output", "r.h5"]
    done = program.complete(words, tmp_path, env=left, timeout=30)
    assert done.status == 3
    assert next(iter(left)).partition("_")[0] in done.complaint
    assert "remove the PMI" in done.complaint
    assert not (tmp_path / "r.h5").exists()


@pytest.mark.parametrize(
    "variables",
    [
        {"PALS_RANKID": "3"},
        {"JSM_NAMESPACE_RANK": "1", "JSM_NAMESPACE_SIZE": "2"},
        {"FLUX_TASK_RANK": "1", "FLUX_JOB_SIZE": "2"},
        {"MV2_COMM_WORLD_RANK": "1", "MV2_COMM_WORLD_SIZE": "2"},
        {"ALPS_APP_PE": "1"},
        {"HOROVOD_RANK": "1", "HOROVOD_SIZE": "2"},
        {"SLURM_PROCID": "1", "SLURM_NTASKS": "2"},
        {"SLURM_PROCID": "1"},
        {"FLUX_TASK_RANK": "1"},
        {"OMPI_COMM_WORLD_RANK": "1"},
        {"MPI_RANKID": "1"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_a_launcher_that_is_not_supported_is_no_local_run(tmp_path: Path, variables: dict[str, str]) -> None:
    words = [program.PROGRAM, "link", *FEW, "--output", "r.h5"]
    rank = next(iter(variables))
    done = program.complete(words, tmp_path, env=variables | {rank: "0"})
    assert done.status == 3
    assert f"{rank} is 0" in done.complaint
    assert "--local N" in done.complaint
    silent = program.complete(words, tmp_path, env=variables)
    assert (silent.status, silent.err) == (3, ""), "one of the ranks speaks"
    assert list(tmp_path.iterdir()) == []
    assert program.complete([*words, "--local", "2"], tmp_path, env=variables).status == 0
    alone = {name: "1" if "SIZE" in name or "NTASKS" in name else value for name, value in variables.items()}
    if alone != variables:
        assert program.complete([*words, "--overwrite"], tmp_path, env=alone).status == 0


# --- the variables of torchrun


def torchrun_port() -> int:
    """A MASTER_PORT: 1000 above it, where rank 0 listens, is nobody else."""
    (port,) = program.free_ports(1)
    return port - 1000


def torchrun_environment(rank: int, ranks: int, port: int) -> dict[str, str]:
    variables = {"RANK": rank, "WORLD_SIZE": ranks, "LOCAL_RANK": rank, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return {name: str(value) for name, value in variables.items()}


def run_together(folder: Path, environments: list[dict[str, str]], *words: str) -> list[program.Done]:
    command = [program.PROGRAM, "link", *FEW, *words]
    with contextlib.ExitStack() as stack:
        runs = [stack.enter_context(program.Run(command, folder, env)) for env in environments]
        return [run.finish() for run in runs]


@pytest.mark.parametrize("ranks", [2, 5])
def test_torchruns_variables(tmp_path: Path, ranks: int) -> None:
    port = torchrun_port()
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # where somebody else listens there, so much the better
            stack.enter_context(socket.create_server(("127.0.0.1", port)))  # as torchrun's own store
        ends = run_together(tmp_path, [torchrun_environment(rank, ranks, port) for rank in range(ranks)], "-o", "r.h5")
    assert [end.status for end in ends] == [0] * ranks, [end.err for end in ends]
    assert [end.out + end.err for end in ends[1:]] == [""] * (ranks - 1), "rank 0 speaks for all"
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert np.array_equal(result.measured(), result.every_pair())
    assert (result.provenance["launcher"], result.provenance["transport"]) == ("torchrun", "tcp")


def test_torchruns_variables_half_set(tmp_path: Path) -> None:
    whole = torchrun_environment(0, 2, torchrun_port())
    words = [program.PROGRAM, "link", *FEW, "--format", "none"]
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        half = {each: value for each, value in whole.items() if each != name}
        program.complete(words, tmp_path, env=half).assert_refused(2, name, "it is not set")
    assert program.complete([*words, "--local", "2"], tmp_path, env=whole).status == 0, "what --local says goes first"


def test_torchruns_ranks_that_do_not_fit_together_are_told_once(tmp_path: Path) -> None:
    port = torchrun_port()
    two = [torchrun_environment(0, 3, port), torchrun_environment(1, 3, port), torchrun_environment(1, 3, port)]
    ends = run_together(tmp_path, two, "--format", "none")
    assert [end.status for end in ends] == [2, 2, 2]
    (line,) = [line for end in ends for line in end.complaints]
    assert "two processes are rank 1" in line
    port = torchrun_port()
    other = [torchrun_environment(0, 2, port), torchrun_environment(1, 3, port)]
    ends = run_together(tmp_path, other, "--format", "none")
    assert [end.status for end in ends] == [2, 2]
    (line,) = [line for end in ends for line in end.complaints]
    assert "WORLD_SIZE is 2 for rank 0 and 3 for rank 1" in line


def test_a_rank_of_torchrun_alone_ends_within_the_start_timeout(tmp_path: Path) -> None:
    for rank, words in ((0, "1 of 2 ranks did not come within 1 s (rank 1)"), (1, "rank 1 cannot reach rank 0")):
        env = torchrun_environment(rank, 2, torchrun_port())
        command = [program.PROGRAM, "link", *FEW, "--format", "none", "--start-timeout", "1"]
        done = program.complete(command, tmp_path, env=env, timeout=30)
        done.assert_refused(4, words)


def test_pmix_without_a_server_is_no_run_of_one_rank(tmp_path: Path) -> None:
    done = program.complete([program.PROGRAM, "link", *FEW, "--transport", "mpi"], tmp_path, env={"PMIX_RANK": "0"})
    assert done.status == 3
    assert "PMIX_RANK is 0" in done.complaint


def test_a_mistake_is_told_once(launcher: list[str], tmp_path: Path) -> None:
    for words in (["--frobnicate"], ["--only-rounds", "9"], ["--output", "missing/r.h5"], ["--local", "2"]):
        done = launched(launcher, 3, tmp_path, *words)
        assert done.complaint
        # Which of the ranks' statuses a launcher passes on is its own affair, but they are all the same here.
        assert done.status == 2, done.err
    assert list(tmp_path.iterdir()) == []


def test_sleeping_cannot_be_had_with_mpi(launcher: list[str], tmp_path: Path) -> None:
    words = [*launcher, "2", program.PROGRAM, "link", "--wait", "block"]
    done = program.complete(words, tmp_path)
    assert done.status == 2
    assert "--wait block" in done.complaint
    assert "mpi" in done.complaint
    assert list(tmp_path.iterdir()) == []


def test_help_and_plans_are_printed_once(launcher: list[str], tmp_path: Path) -> None:
    words = [*launcher, "2", program.PROGRAM, "link", "--dry-run", "--ranks", "4"]
    done = program.complete(words, tmp_path)
    assert done.status == 0
    assert done.out.count("Link test of 4 ranks") == 1


# --- explicit variables


def run_explicitly(folder: Path, ranks: int, *words: str, env: dict[str, str] | None = None) -> list[program.Done]:
    ports = program.free_ports(ranks)
    command = [program.PROGRAM, "link", *FEW, *words]
    with contextlib.ExitStack() as stack:
        runs = [
            stack.enter_context(program.Run(
                command, folder, program.explicit_environment(["127.0.0.1"] * ranks, ports, rank) | (env or {})
            ))
            for rank in range(ranks)
        ]  # fmt: skip
        return [run.finish() for run in runs]


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_explicit_variables(tmp_path: Path, ranks: int) -> None:
    ends = run_explicitly(tmp_path, ranks, "--output", "r.h5")
    assert [end.status for end in ends] == [0] * ranks, [end.err for end in ends]
    assert [end.out + end.err for end in ends[1:]] == [""] * (ranks - 1), "rank 0 speaks for all"
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert np.array_equal(result.measured(), result.every_pair())
    assert result.provenance["launcher"] == "environment"
    assert result.provenance["control_plane_on_loopback"] == 1
    assert wrong_json(result.summary, schema_of("link")) == []


def test_the_secret_is_told_to_nobody(tmp_path: Path) -> None:
    ends = run_explicitly(tmp_path, 2, "--output", "r.h5")
    assert program.SECRET not in "".join(end.out + end.err for end in ends)
    assert program.SECRET.encode() not in (tmp_path / "r.h5").read_bytes()


def test_a_mistake_of_all_is_told_by_one(tmp_path: Path) -> None:
    ends = run_explicitly(tmp_path, 3, "--only-rounds", "9")
    assert [end.status for end in ends] == [2, 2, 2]
    assert [len(end.complaints) for end in ends] == [1, 0, 0]


@contextlib.contextmanager
def strangers(ports: list[int]) -> object:
    """Connections that say nothing, and others that talk nonsense, to each port."""
    with contextlib.ExitStack() as stack:
        for port in ports:
            for nonsense in (b"", b"GET / HTTP/1.1\r\n\r\n", os.urandom(100_000), b"\0" * 7):
                visitor = stack.enter_context(_connected(port))
                visitor.settimeout(2)
                with contextlib.suppress(OSError):
                    visitor.sendall(nonsense)
        yield


def _connected(port: int) -> socket.socket:
    until = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 5)
        except ConnectionRefusedError:
            assert time.monotonic() < until, "nobody listens"


def test_strangers_change_nothing(tmp_path: Path) -> None:
    ports = program.free_ports(3)
    command = [program.PROGRAM, "link", "--wait", "yield", "--messages", "200", "--message-size", "64,128",
               "--verify", "--output", "r.h5", "--timeout", "20s"]  # fmt: skip
    environments = [program.explicit_environment(["127.0.0.1"] * 3, ports, rank) for rank in range(3)]
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(program.Run(command, tmp_path, environments[0]))
        stack.enter_context(strangers(ports[:1]))  # before the others have come
        others = [stack.enter_context(program.Run(command, tmp_path, env)) for env in environments[1:]]
        ends = [run.finish() for run in (first, *others)]
    assert [end.status for end in ends] == [0, 0, 0], [end.err for end in ends]
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert np.array_equal(result.measured(size=1), result.every_pair())


@pytest.mark.slow
def test_strangers_while_it_measures(tmp_path: Path) -> None:
    ports = program.free_ports(2)
    command = [program.PROGRAM, "link", "--wait", "yield", "--messages", "200", "--message-size", "64,32KiB",
               "--output", "r.h5", "--repeat", "2"]  # fmt: skip
    environments = [program.explicit_environment(["127.0.0.1"] * 2, ports, rank) for rank in range(2)]
    with contextlib.ExitStack() as stack:
        runs = [
            stack.enter_context(program.Run(command, tmp_path, environment | program.SLOW_MESSAGES))
            for environment in environments
        ]
        runs[0].await_err("1/1")
        stack.enter_context(strangers(ports))
        ends = [run.finish() for run in runs]
    assert [end.status for end in ends] == [0, 0], [end.err for end in ends]
    assert ResultFile(tmp_path / "r.h5").complete


def test_the_ports_of_a_run_take_nobody_from_outside(tmp_path: Path) -> None:
    """A local run listens on loopback only."""
    words = ["link", "--local", "2", "--messages", "1000", "--repeat", "100000", "--wait", "yield"]
    with program.Run([program.PROGRAM, *words, "--format", "none"], tmp_path) as run:
        run.await_err("1/1")
        listening = listening_addresses(run.processes())
    assert listening
    assert all(address == "0100007F" for address in listening), listening


def listening_addresses(pids: list[int]) -> list[str]:
    """The addresses, as the kernel writes them, at which these processes listen."""
    inodes = set()
    for pid in pids:
        for descriptor in Path("/proc", str(pid), "fd").iterdir():
            with contextlib.suppress(OSError):
                inodes.add(str(descriptor.readlink()))
    addresses = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in inodes:
                addresses.append(words[1].partition(":")[0])
    return addresses

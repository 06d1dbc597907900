# SPDX-License-Identifier: Apache-2.0
"""The ranks of a run over several hosts, started one by one as a site's own launcher would, or by one of MPI."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import program
from mpi_launchers import PROGRAMS
from network import Network


@contextlib.contextmanager
def started(
    network: Network,
    host_of: Sequence[int],
    folder: Path,
    *words: str,
    timeout: float = 60,
    benchmark: str = "link",
    wait: str = "block",
) -> Iterator[list[program.Run]]:
    """One process a rank, with explicit variables, on the hosts given."""
    addresses = [network.addresses[host] for host in host_of]
    ports = [20000 + rank for rank in range(len(host_of))]  # below those that the kernel gives to connections
    command = [program.PROGRAM, benchmark, "--wait", wait, "--output", "r.h5", *words]
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                program.Run(
                    network.on(host, *command),
                    folder,
                    program.explicit_environment(addresses, ports, rank),
                    timeout=timeout,
                )
            )
            for rank, host in enumerate(host_of)
        ]


def finish(runs: list[program.Run]) -> list[program.Done]:
    """How each of them ended."""
    return [run.finish() for run in runs]


def mpi_launcher(name: str, network: Network, *, ranks_per_host: int = 1) -> list[str]:
    """The words that start ranks on all hosts, over TCP: by shared memory, ranks would reach all of these hosts."""
    hosts = [f"{host}:{ranks_per_host}" for host in network.names]
    num_ranks = ["-n", str(len(hosts) * ranks_per_host)]
    if name == "mpich":
        words = ["-disable-auto-cleanup", "-launcher", "rsh", "-launcher-exec", network.agent, "-iface", "eth0"]
        words += ["-hosts", ",".join(hosts), "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0"]
        return [PROGRAMS[name], *map(str, words), *num_ranks]
    subnet = "10.55.0.0/24"
    words = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", subnet]
    if name == "ulfm":
        words += ["--with-ft", "ulfm"]
        words += ["--prtemca", "plm_ssh_agent", network.agent, "--prtemca", "oob_tcp_if_include", subnet]
    else:
        words += ["--mca", "plm_rsh_agent", network.agent, "--mca", "oob_tcp_if_include", subnet]
        words += ["--mca", "plm_rsh_no_tree_spawn", "1"]
    return [PROGRAMS[name], "--host", ",".join(hosts), *map(str, words), *num_ranks]


@contextlib.contextmanager
def launched(
    name: str, network: Network, folder: Path, *words: str, timeout: float = 60, benchmark: str = "link"
) -> Iterator[program.Run]:
    """One rank on each host, started by an MPI launcher on the first: the one process whose words and end are seen."""
    command = [program.PROGRAM, benchmark, "--wait", "yield", "--output", str(folder / "r.h5"), *words]
    line = network.on(0, *mpi_launcher(name, network), *command)
    with program.Run(line, folder, timeout=timeout) as run:
        yield run


def processes_of_ranks(run: program.Run) -> dict[int, int]:
    """Of those that a launcher has started and that are still there: rank to process."""
    found = {}
    for pid in run.processes():
        try:
            is_rank = Path(f"/proc/{pid}/comm").read_text().strip() == "leadline"
            variables = dict(re.findall(r"(OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)", _environment_of(pid)))
        except OSError:  # it has ended
            continue
        if is_rank and variables:
            found[int(next(iter(variables.values())))] = pid
    return found


def _environment_of(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")

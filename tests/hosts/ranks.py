# SPDX-License-Identifier: Apache-2.0
"""The ranks of a run over several hosts, started one by one as a site's own launcher would."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import program
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
    ports = [60000 + rank for rank in range(len(host_of))]
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

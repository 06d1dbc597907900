# SPDX-License-Identifier: Apache-2.0
"""Faults of processes and networks in every benchmark: each run ends in time, its cause is named, and nobody else.

usage: python tests/hosts/fault_matrix.py [--rounds N] [--seed S] [--fault NAME]... [--benchmark NAME]...
                                          [--transport NAME]...

Each round goes through all cases in random order, with random victims. A few are in the tests. Needs root, as the other
tests on hosts do. Status: 0 all cases as they should be, 1 some not, 3 no hosts can be made here.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program
from network import Network, NotHereError
from ranks import launched, processes_of_ranks, started

# By shared memory, these libraries would reach hosts that are network namespaces of one machine.
TRANSPORTS = {
    "tcp": ["tcp"],
    "ucx": ["ucx:tcp,self"],
    "ucx-go-on": ["ucx:tcp,self", "--transport-option", "go-on=yes"],
    "libfabric": ["libfabric:tcp;ofi_rxm"],
    "mpi-openmpi": ["mpi"],  # with the launcher of that name, see mpi_launchers
    "mpi-mpich": ["mpi"],
    "mpi-ulfm": ["mpi"],
}
GO_ON = {"tcp", "ucx-go-on", "libfabric", "mpi-ulfm"}
NUM_HOSTS = 4
TIMEOUT_S = 8
DEADLINE_S = 60
# A minute of work, in which ranks exchange messages all the time.
ENDLESS = {
    "link": ["--message-size", "1000-1060+1", "--messages", "5000", "--batches", "500"],
    "topology": ["--message-size", "1000", "--pattern", "complete2", "--duration", "100s"],
    "bisection": ["--message-size", "1000-1060+1"],
    "io": ["--movement", "N-M-M", "--io-ranks", "2", "--no-file", "--object-size", "4KiB", "--objects", "20000000"],
    "io N-N": [
        *("--backend", "posix", "--target", "f.%r", "--object-size", "4KiB"),
        *("--objects", "20000", "--repeat", "1000"),
    ],
}
# Of a benchmark that ends by itself soon, where a fault heals, or the run goes on.
SHORT = {
    "link": ["--message-size", "1000", "--messages", "1000", "--min-time", "6s", "--repeat", "2", "--retest", "0"],
    "topology": ["--message-size", "1000", "--pattern", "complete2", "--duration", "15s"],
    "bisection": ["--message-size", "1000", "--rounds", "100000", "--precision", "0", "--time-limit", "9s"],
    "io": [
        *("--movement", "N-M-M", "--io-ranks", "2", "--no-file", "--object-size", "4KiB"),
        *("--objects", "20000000", "--time-limit", "6s"),
    ],
    "io N-N": [
        *("--backend", "posix", "--target", "f.%r", "--object-size", "4KiB", "--objects", "1000000"),
        *("--time-limit", "2s", "--repeat", "2", "--delete"),
    ],
}


@dataclass(frozen=True)
class Case:
    """What happens to whom in which run. The second victim counts only for faults between two hosts."""

    fault: str
    benchmark: str
    transport: str
    victims: tuple[int, int]

    def __str__(self) -> str:
        """For people: "cut in link over tcp, node2 and node3"."""
        names = " and ".join(f"node{host}" for host in self.culprits)
        return f"{self.fault} in {self.benchmark} over {self.transport}, {names}"

    @property
    def culprits(self) -> tuple[int, ...]:
        """Hosts that may be named as the cause."""
        return self.victims if self.fault in PAIR_FAULTS else self.victims[:1]

    @property
    def launcher(self) -> str | None:
        """That of MPI, or None where ranks are started one by one."""
        return self.transport.removeprefix("mpi-") if self.transport.startswith("mpi-") else None


def inflict(hosts: Network, processes_of: Callable[[int], Sequence[int]], case: Case) -> None:
    """The fault, on its victims."""
    first, second = case.victims
    match case.fault:
        case "kill":
            _signal(processes_of(first), signal.SIGKILL)
        case "freeze":
            _signal(processes_of(first), signal.SIGSTOP)
        case "cut":
            hosts.cut(first)
        case "cut-for-3-s":
            hosts.cut(first)
            time.sleep(3)
            hosts.plug_in(first)
        case "one-way":
            hosts.drop(first, second)
        case "cut-between":
            hosts.cut_between(first, second)
        case "loss":
            hosts.lengthen(first, loss=0.5)


FAULTS = ("kill", "freeze", "cut", "cut-for-3-s", "one-way", "cut-between", "loss")
PAIR_FAULTS = {"one-way", "cut-between"}
NO_STATUS = -1
SHORT_RUNS = {"cut-for-3-s", "loss"}  # nothing may be lost: the run ends when it has measured all


def _signal(processes: Sequence[int], number: int) -> None:
    for pid in processes:
        if Path(f"/proc/{pid}/comm").read_text().strip() == "leadline":
            os.kill(pid, number)


def run_case(hosts: Network, case: Case, folder: Path) -> list[str]:
    """What is not as it should be; nothing where all is."""
    if case.transport == "tcp":  # whose ranks then sleep most of the time
        for host in range(NUM_HOSTS):
            hosts.slow_down(host, "20mbit")
    words = SHORT if case.fault in SHORT_RUNS or goes_on(case) or may_not_matter(case) else ENDLESS
    options = [*words[case.benchmark], "--transport", *TRANSPORTS[case.transport], "--timeout", f"{TIMEOUT_S}s"]
    try:
        ends = (_ends_of_launched if case.launcher else _ends_of_started)(hosts, case, folder, options)
    except AssertionError as late:
        return [str(late)]
    return [*_wrong_statuses(case, ends), *_wrong_words(case, ends), *_wrong_file(case, folder / "r.h5", ends)]


def _ends_of_started(hosts: Network, case: Case, folder: Path, options: Sequence[str]) -> list[program.Done]:
    wait = "block" if case.transport == "tcp" else "yield"
    command = case.benchmark.split()[0]
    ranks = started(hosts, range(NUM_HOSTS), folder, *options, benchmark=command, timeout=DEADLINE_S, wait=wait)
    with ranks as runs:
        runs[0].await_err(r"\S")
        time.sleep(1.5)
        inflict(hosts, lambda rank: runs[rank].processes(), case)
        return [run.finish() for run in runs]


def _ends_of_launched(hosts: Network, case: Case, folder: Path, options: Sequence[str]) -> list[program.Done]:
    """One, that of the launcher, once no rank is there any more."""
    assert case.launcher is not None
    command = case.benchmark.split()[0]
    run = launched(case.launcher, hosts, folder, *options, benchmark=command, timeout=DEADLINE_S)
    with run as launcher:
        launcher.await_err(r"elapsed|left|write")
        time.sleep(1.5)
        inflict(hosts, lambda rank: [processes_of_ranks(launcher)[rank]], case)
        program.await_that(lambda: not processes_of_ranks(launcher), launcher.left_s())
        if cuts_launcher_off(case):
            return [program.Done(NO_STATUS, launcher.out, launcher.err, 0)]
        return [launcher.finish()]


def goes_on(case: Case) -> bool:
    """Whether the run goes on without what is lost."""
    return case.transport in GO_ON


def cuts_launcher_off(case: Case) -> bool:
    """Whether MPI's launcher, on the first host, does not reach its part on another: it may wait for that for ever."""
    return case.launcher is not None and (case.fault == "cut" or (case.fault in PAIR_FAULTS and 0 in case.victims))


def may_not_matter(case: Case) -> bool:
    """Whether the two need not exchange anything, or find another way for it."""
    return case.benchmark.startswith("io") and case.fault in PAIR_FAULTS


def is_end_unknown(case: Case) -> bool:
    """Whether the run may have ended either way, and its launcher does not tell."""
    return cuts_launcher_off(case) and may_not_matter(case)


def _wrong_statuses(case: Case, ends: Sequence[program.Done]) -> list[str]:
    allowed = {1} if goes_on(case) else {4}
    if may_not_matter(case):
        allowed = {0, 1} if goes_on(case) else {0, 4}
    if case.fault in SHORT_RUNS:
        may_end = case.fault == "loss" and not goes_on(case)  # a link may break alone
        allowed = {0, 1, 4} if may_end else {0, 1}
    survivors = [end.status for end in _survivors(case, ends)]
    if case.launcher:
        allowed |= {NO_STATUS} if cuts_launcher_off(case) else set()
        allowed |= (
            {signal.SIGKILL, 128 + signal.SIGKILL} if case.fault in {"kill", "freeze"} and not goes_on(case) else set()
        )
    if case.launcher == "mpich" and 4 in allowed:
        allowed |= {-signal.SIGPIPE}  # its mpiexec writes to a part of its own that has just ended
    return [] if set(survivors) <= allowed else [f"status {survivors}, not in {sorted(allowed)}"]


def _survivors(case: Case, ends: Sequence[program.Done]) -> list[program.Done]:
    """Those that can say how the run ended, the one that prints first; the launcher where there is one."""
    lost = case.victims[0] if case.fault in {"kill", "freeze", "cut", "loss"} and not case.launcher else None
    return [end for rank, end in enumerate(ends) if rank != lost]


def _wrong_words(case: Case, ends: Sequence[program.Done]) -> list[str]:
    wrong = []
    culprits = {f"node{host}" for host in case.culprits}
    # A stall is told, and its end, by whom a rank waits for, who may wait for somebody else: no cause yet.
    of_stall = re.compile(r" has waited for | on \S+ goes on$")
    lines = [(rank, line) for rank, end in enumerate(ends) for line in end.complaints if not of_stall.search(line)]
    if any(end.status != 0 for end in ends) and not is_end_unknown(case):
        told = [line for _, line in lines] + re.findall(
            r"^warning: \d+ (?:ranks? w|pairs? of).*$", _survivors(case, ends)[0].out, re.MULTILINE
        )
        if not any(named_in(line) & culprits for line in told):
            wrong.append(f"nobody names {sorted(culprits)}")
        for line in told:
            named = named_in(line)
            # Where a cable works again, or half of the time, its host may have lost one other host alone.
            may_name_others = case.fault in SHORT_RUNS and set(re.findall(r"node\d+", line)) & culprits
            if not (named <= culprits or may_name_others):
                wrong.append(f"names {sorted(named)}: {line}")
    reached = [rank for rank, _ in lines if f"node{rank}" not in culprits]
    if case.launcher is None and case.fault not in {"cut", "cut-for-3-s", "loss"} and len(set(reached)) > 1:
        wrong.append(f"ranks {sorted(set(reached))} all complain")
    return wrong


def named_in(line: str) -> set[str]:
    """Hosts that a line names as a cause. One that reaches both others, has heard nothing, or lost a connection, only
    saw it.
    """
    line = re.sub(r"rank \d+ on node\d+ reaches both", "", line)
    line = re.sub(r"rank \d+ on node\d+ has (heard nothing from (?!any)|lost its connection to )", "", line)
    return set(re.findall(r"node\d+", line))


def _wrong_file(case: Case, path: Path, ends: Sequence[program.Done]) -> list[str]:
    if not path.exists():
        return ["there is no result file"]
    info = program.complete([program.PROGRAM, "info", path], path.parent)
    if info.status != 0:
        return [f"leadline info: status {info.status}: {info.err}"]
    is_complete = re.search(r"^complete +yes", info.out, re.MULTILINE) is not None
    if is_end_unknown(case):
        return []
    status = _survivors(case, ends)[0].status
    should_be = goes_on(case) if status == NO_STATUS else status in (0, 1)
    return [] if is_complete == should_be else [f"the file is {'' if is_complete else 'not '}complete"]


def all_cases(chosen: argparse.Namespace, rng: random.Random) -> list[Case]:
    """In random order, with random victims."""
    cases = [
        Case(fault, benchmark, transport, tuple(rng.sample(range(NUM_HOSTS), 2)))  # type: ignore[arg-type]
        for fault, benchmark, transport in itertools.product(chosen.fault, chosen.benchmark, chosen.transport)
    ]
    # A launcher has connections of its own, and ends the ranks when it loses one of these.
    cases = [case for case in cases if case.launcher is None or case.fault != "loss"]
    rng.shuffle(cases)
    return cases


def main() -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    for name, choices in (("fault", FAULTS), ("benchmark", ENDLESS), ("transport", TRANSPORTS)):
        parser.add_argument(f"--{name}", action="append", choices=choices)
    chosen = parser.parse_args()
    chosen.fault = chosen.fault or list(FAULTS)
    chosen.benchmark = chosen.benchmark or list(ENDLESS)
    chosen.transport = chosen.transport or ["tcp"]
    rng = random.Random(chosen.seed)
    num_wrong = num_cases = 0
    for _ in range(chosen.rounds):
        for case in all_cases(chosen, rng):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "network").mkdir()
                try:
                    with Network(NUM_HOSTS, Path(folder) / "network") as hosts:
                        begin = time.monotonic()
                        wrong = run_case(hosts, case, Path(folder))
                except NotHereError as reason:
                    print(f"no network namespaces here: {reason}", file=sys.stderr)
                    return 3
            num_cases += 1
            num_wrong += bool(wrong)
            print(f"{'WRONG' if wrong else 'right'}  {time.monotonic() - begin:5.1f} s  {case}", flush=True)
            for complaint in wrong:
                print(f"       {complaint}", flush=True)
    print(f"{num_cases - num_wrong} of {num_cases} cases as they should be")
    return 1 if num_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Eight hosts with one fault or more, and what each benchmark says of them; as a program: how often it is right.

usage: python tests/hosts/verdicts.py [--times N] [--network NAME]... [--benchmark NAME]... [--ranks-per-host 1|2|4]...
                                      [--keep FOLDER] [SCENARIO ...]
       python tests/hosts/verdicts.py --again FOLDER [...]

Writes a row for each cell (network, benchmark, ranks a host, scenario) when it is done. Needs root, and an idle
machine: the load is the average over one minute, of which the runs themselves make about one. With --again nothing is
measured: leadline diagnose judges the results that --keep left, on any machine. Status: 0 all as it should be,
1 not all, 3 no hosts can be made here.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeVar

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from network import Network, NotHereError
from program import PROGRAM, complete
from ranks import finish, started
from result import summary_of

NUM_HOSTS = 8
CORE = min(os.sched_getaffinity(0))
# Where all hosts exchange messages at once, the cores that they share would limit them: all cables are slow there, and
# that of a fault slower.
SOUND_RATE = "100mbit"
SOUND_BYTES_PER_S, SLOW_BYTES_PER_S = (16 << 20, 4 << 20)  # of what a host writes to a target
NUM_TARGETS = 4
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Switches:
    """Which hosts are on which switch, and which cables join switches; nothing: all are on one."""

    hosts_of: Mapping[str, Sequence[int]] = field(default_factory=dict)
    trunks: Sequence[tuple[str, str]] = ()

    def cables(self) -> str:
        """The network as --topology takes it."""
        hosts = [f"node{host} {switch}" for switch, hosts in self.hosts_of.items() for host in hosts]
        return "\n".join([*hosts, *map(" ".join, self.trunks), ""])


NETWORKS = {
    "star": Switches(),
    "line": Switches(
        {"switchA": range(3), "switchB": range(3, 5), "switchC": range(5, 8)},
        [("switchA", "switchB"), ("switchB", "switchC")],
    ),
    "leaves": Switches({"leafA": range(4), "leafB": range(4, 8)}, [("leafA", "core"), ("leafB", "core")]),
}


@dataclass(frozen=True)
class Benchmark:
    """How it is run, with fewer messages where hosts have more ranks, and what its cables carry."""

    words: Sequence[str]
    length: Mapping[int, Sequence[str]]  # from so many ranks a host on
    slow_rate: Mapping[int, str]  # likewise
    sound_rate: str | None = None  # None: no limit


Chosen = TypeVar("Chosen")


def chosen_for(ranks_per_host: int, choices: Mapping[int, Chosen]) -> Chosen:
    """Of what hosts with so many ranks have."""
    return choices[max(num for num in choices if num <= ranks_per_host)]


BENCHMARKS = {
    # One pair at a time and without spinning, since all hosts share the cores of one machine: what another pair takes
    # from them would look like a fault. All ranks are on one core, too: a message to another core takes twice as long,
    # and who sits where stays so for many messages. A message a batch keeps the medians clear of few long ones.
    "link": Benchmark(
        ["--serial", "--message-size", "16KiB", "--retest", "0"],
        {1: ["--messages", "20", "--batches", "20", "--warmup", "2"]},
        # 16 KiB take 0.66 ms or 0.33 ms then, many times what they take without a limit; less would only take longer.
        {1: "200mbit", 4: "400mbit"},
    ),
    "topology": Benchmark(
        # Messages so long that they share a cable. One that carries a quarter was not told from sound ones where hosts
        # have four ranks.
        ["--pattern", "complete2", "--warmup", "1", "--iterations", "1", "--traced", "3", "--repeat", "2"],
        {1: ["--message-size", "64KiB"], 4: ["--message-size", "16KiB"]},
        {1: "12mbit"},
        SOUND_RATE,
    ),
    "bisection": Benchmark(
        ["--message-size", "64KiB", "--warmup", "1", "--rounds", "20", "--precision", "0"],
        {1: ["--exchanges", "4"], 4: ["--exchanges", "2"]},
        {1: "25mbit", 4: "12mbit"},  # four ranks share what a sound cable carries: a slow link carries less than a part
        SOUND_RATE,
    ),
    "io": Benchmark(
        ["--op", "write", "--direct", "--object-size", "64KiB", "--repeat", "4", "--targets", "targets"],
        {1: ["--objects", "32"], 4: ["--objects", "8"]},
        {1: SOUND_RATE},  # nothing but what ranks agree on
    ),
}


@dataclass(frozen=True)
class Bed:
    """Hosts with their cables, and where they write."""

    hosts: Network
    switches: Switches
    rate: str  # of a slow cable
    targets: Sequence[Path]

    def limit_writes(self, hosts: Sequence[int], targets: Sequence[int], bytes_per_s: int) -> None:
        """Of each of these hosts to each of these targets."""
        for host in hosts:
            for target in targets:
                self.hosts.slow_down_writing(host, self.targets[target], bytes_per_s)


@dataclass(frozen=True)
class Place:
    """What a finding must be: one of these kinds, about these hosts, with these words in its name."""

    kinds: tuple[str, ...]
    hosts: tuple[int, ...] = ()
    words: tuple[str, ...] = ()

    def is_named_by(self, fault: dict[str, Any]) -> bool:
        """Whether a finding means this place."""
        hosts = {int(number) for number in re.findall(r"node(\d+)", fault["name"])}
        return (
            fault["kind"] in self.kinds and hosts == set(self.hosts) and all(one in fault["name"] for one in self.words)
        )


ALL_NETWORKS, STAR = ("star", "line", "leaves"), ("star",)
WITH_MESSAGES = ("link", "topology", "bisection")


@dataclass(frozen=True)
class Scenario:
    """What is done to sound hosts, and what should come first among the findings, in any order."""

    damage: Callable[[Bed], None]
    places: Sequence[Place] = ()
    networks: Sequence[str] = STAR
    benchmarks: Sequence[str] = ("link",)
    untold_by: Sequence[str] = ()  # these benchmarks cannot tell where it is, and may accuse nobody
    ranks_per_host: Sequence[int] = (1, 2, 4)
    length: Sequence[str] = ()  # instead of that of the benchmark


def host(number: int) -> Place:
    """A cable cannot be told from the port that it ends in, nor can who sees its pairs inside a host alone."""
    return Place(("port", "host"), (number,))


# Of hosts with several ranks only some pairs of ranks meet in a bisection test, and may be told one by one.
LINK = Place(("link", "pair"), (1, 4))
TRUNK_KINDS = ("cable", "uplink")


def _slow_trunk(bed: Bed) -> None:
    bed.hosts.slow_down_trunk(*bed.switches.trunks[-1], bed.rate)


def _host_and_link(bed: Bed) -> None:
    bed.hosts.slow_down(2, bed.rate)
    bed.hosts.lengthen_between(5, 7, delay_us=200)


def _trunk_and_link(bed: Bed) -> None:
    _slow_trunk(bed)
    bed.hosts.lengthen_between(0, 2, delay_us=200)


def _three_cables(bed: Bed) -> None:
    for number in (1, 4, 6):
        bed.hosts.slow_down(number, bed.rate)


def _slow_target(bed: Bed) -> None:
    bed.limit_writes(range(NUM_HOSTS), [1], SLOW_BYTES_PER_S)


SCENARIOS = {
    "nothing": Scenario(lambda _: None, networks=ALL_NETWORKS, benchmarks=WITH_MESSAGES),
    "a host is limited": Scenario(lambda bed: bed.hosts.slow_down(2, bed.rate), [host(2)], ALL_NETWORKS, WITH_MESSAGES),
    "a host sends slowly": Scenario(
        lambda bed: bed.hosts.slow_down_sending(2, bed.rate), [host(2)], STAR, WITH_MESSAGES
    ),
    "a host receives slowly": Scenario(
        lambda bed: bed.hosts.slow_down_receiving(2, bed.rate), [host(2)], STAR, WITH_MESSAGES
    ),
    "three cables are limited": Scenario(_three_cables, [host(1), host(4), host(6)], ALL_NETWORKS, WITH_MESSAGES),
    "a link is limited": Scenario(
        lambda bed: bed.hosts.slow_down_between(1, 4, bed.rate), [LINK], ALL_NETWORKS, WITH_MESSAGES
    ),
    "the trunk is limited": Scenario(
        _slow_trunk, [Place(TRUNK_KINDS)], ("line", "leaves"), WITH_MESSAGES, ("topology",)
    ),
    "a cable is longer": Scenario(lambda bed: bed.hosts.lengthen(2, delay_us=200), [host(2)], ALL_NETWORKS),
    "a link is longer": Scenario(lambda bed: bed.hosts.lengthen_between(1, 4, delay_us=200), [LINK]),
    "a cable loses": Scenario(
        lambda bed: bed.hosts.lengthen(2, loss=0.01), [host(2)], STAR, WITH_MESSAGES, ("topology",), (1,)
    ),
    "a link loses": Scenario(lambda bed: bed.hosts.lengthen_between(1, 4, loss=0.01), [LINK]),
    # Each batch is so long that a busy host has stood still several times.
    "a host is busy": Scenario(
        lambda bed: bed.hosts.keep_busy(2),
        [host(2)],
        ranks_per_host=(1, 2),
        length=["--messages", "800", "--batches", "5"],
    ),
    "a host and a link": Scenario(_host_and_link, [host(2), Place(("link",), (5, 7))]),
    "the trunk and a link": Scenario(_trunk_and_link, [Place(TRUNK_KINDS), Place(("link",), (0, 2))], ("leaves",)),
    "no target is slow": Scenario(lambda _: None, benchmarks=["io"]),
    "a host writes slowly": Scenario(
        lambda bed: bed.limit_writes([2], range(NUM_TARGETS), SLOW_BYTES_PER_S),
        [Place(("host",), (2,))],
        benchmarks=["io"],
    ),
    "a target is slow": Scenario(
        _slow_target, [Place(("target",), words=("target1",))], benchmarks=["io"], ranks_per_host=(2, 4)
    ),
    # Nobody else uses it, and they use no other: it may be the hosts.
    "a target of two hosts is slow": Scenario(
        _slow_target,
        [Place(("host",), (1,), ("target1",)), Place(("host",), (5,), ("target1",))],
        benchmarks=["io"],
        ranks_per_host=(1,),
    ),
}


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    network: str
    benchmark: str
    ranks_per_host: int
    name: str

    @property
    def scenario(self) -> Scenario:
        """What happens in it."""
        return SCENARIOS[self.name]

    @property
    def places(self) -> Sequence[Place]:
        """What is to be named."""
        return () if self.benchmark in self.scenario.untold_by else self.scenario.places

    def is_right(self, faults: Sequence[dict[str, Any]]) -> bool:
        """Where there is nothing to be named, nothing may be found."""
        first = faults[: len(self.places)]
        if not self.places:
            return not self.has_false(faults)
        return all(any(place.is_named_by(fault) for fault in first) for place in self.places)

    def has_false(self, faults: Sequence[dict[str, Any]]) -> bool:
        """Whether a finding accuses what is not damaged; one that could not be tested accuses nobody."""
        accusing = [fault for fault in faults if fault["list"] != "untested"]
        return not all(any(place.is_named_by(fault) for place in self.places) for fault in accusing)

    @property
    def file_name(self) -> str:
        """Of a result, without its number."""
        return "-".join([self.network, self.benchmark, str(self.ranks_per_host), *self.name.split()])

    def __str__(self) -> str:
        """Its columns."""
        return f"{self.network:8}{self.benchmark:11}{self.ranks_per_host:5}  {self.name:31}"


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """What is started inside stays on one core."""
    usual = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {CORE})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)


def prepare(cell: Cell, hosts: Network, folder: Path) -> None:
    """The network of a cell with its fault, and in the folder what its runs read."""
    switches, benchmark = NETWORKS[cell.network], BENCHMARKS[cell.benchmark]
    targets = hosts.add_targets(NUM_TARGETS) if cell.benchmark == "io" else []
    rate = chosen_for(cell.ranks_per_host, benchmark.slow_rate)
    bed = Bed(hosts, switches, rate, targets)
    if switches.trunks:
        hosts.plug_into_switches(switches.hosts_of, switches.trunks)
        (folder / "cables").write_text(switches.cables())
    if benchmark.sound_rate:
        for number in range(NUM_HOSTS):
            hosts.slow_down(number, benchmark.sound_rate)
    if targets:
        bed.limit_writes(range(NUM_HOSTS), range(NUM_TARGETS), SOUND_BYTES_PER_S)
        # Each host uses several targets where it has several ranks, and each target has several hosts.
        ranks = [(number, rank) for number in range(NUM_HOSTS) for rank in range(cell.ranks_per_host)]
        files = [targets[(number + rank) % NUM_TARGETS] / f"{number}.{rank}" for number, rank in ranks]
        (folder / "targets").write_text("".join(f"{file}\n" for file in files))
    cell.scenario.damage(bed)


def findings(cell: Cell, hosts: Network, folder: Path) -> list[dict[str, Any]]:
    """What a run finds, in a network that is prepared; the result is r.h5 in this folder."""
    benchmark = BENCHMARKS[cell.benchmark]
    host_of = [number for number in range(NUM_HOSTS) for _ in range(cell.ranks_per_host)]
    topology = ["--topology", "cables"] if (folder / "cables").exists() else []
    length = cell.scenario.length or chosen_for(cell.ranks_per_host, benchmark.length)
    words = [*benchmark.words, *length, *topology, "--overwrite"]
    place = on_one_core() if cell.benchmark == "link" else contextlib.nullcontext()
    with place, started(hosts, host_of, folder, *words, timeout=120, benchmark=cell.benchmark) as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * len(host_of), [end.err for end in ends]
    summary = summary_of(folder / "r.h5")
    return accusing(summary["slices"] if cell.benchmark == "link" else summary["diagnoses"])


def accusing(diagnoses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings that accuse, of a result with one diagnosis."""
    (only,) = diagnoses
    return [fault for fault in only["diagnosis"]["faults"] if counts(fault)]


def counts(fault: dict[str, Any]) -> bool:
    """Whether a finding accuses: it is no note on how the machine is built, and it was there the second time, too."""
    return not fault["is_note"] and fault["persistence"] != "transient"


def is_wrong(cell: Cell, faults: Sequence[dict[str, Any]]) -> bool:
    """Whether what is damaged is not told, or something else is."""
    return not cell.is_right(faults) or cell.has_false(faults)


def all_cells(chosen: argparse.Namespace) -> list[Cell]:
    """Those of the table that were asked for."""
    return [
        Cell(network, benchmark, ranks_per_host, name)
        for network in chosen.network
        for benchmark in chosen.benchmark
        for ranks_per_host in chosen.ranks_per_host
        for name in chosen.scenario
        if network in SCENARIOS[name].networks
        and benchmark in SCENARIOS[name].benchmarks
        and ranks_per_host in SCENARIOS[name].ranks_per_host
    ]


def run_cell(cell: Cell, times: int, keep: Path | None) -> bool:
    """Measures, and prints its row and what was found where that was wrong. Returns whether all was right."""
    found: list[list[dict[str, Any]]] = []
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as text, Network(NUM_HOSTS, Path(text)) as hosts:
        prepare(cell, hosts, Path(text))
        begin = time.monotonic()
        for number in range(times):
            try:
                found.append(findings(cell, hosts, Path(text)))
            except AssertionError as failure:
                failed.append(f"the run failed: {failure}")
                continue
            if keep:
                shutil.copy(Path(text, "r.h5"), keep / f"{cell.file_name}-{number}.h5")
        seconds = (time.monotonic() - begin) / times
    print_row(cell, found, times, f"{seconds:8.1f}{os.getloadavg()[0]:7.2f}")
    for line in failed:
        print(f"    {line}", flush=True)
    return not any(is_wrong(cell, faults) for faults in found) and not failed


def judge_again(cell: Cell, files: Sequence[Path]) -> bool:
    """Judges kept results, and prints the row of their cell. Returns whether all was right."""
    runs = [complete([PROGRAM, "diagnose", file.resolve(), "--json"], file.parent) for file in files]
    found = [accusing(json.loads(run.out)["slices"]) for run in runs]
    print_row(cell, found, len(files), "")
    return not any(is_wrong(cell, faults) for faults in found)


def print_row(cell: Cell, found: Sequence[list[dict[str, Any]]], times: int, rest: str) -> None:
    """The row of a cell, and below it what was found where that was wrong."""
    num_right, num_false = (sum(map(cell.is_right, found)), sum(map(cell.has_false, found)))
    print(f"{cell}{num_right:4} of {times:<3}{num_false:6} of {times:<3}{rest}", flush=True)
    wrong = [faults for faults in found if is_wrong(cell, faults)]
    told = [[f"{one['name']} {one['symptom']} {one['ratio']:.2f}" for one in faults[:5]] for faults in wrong]
    for words in told:
        print(f"    {'; '.join(words) or 'nothing'}", flush=True)


def leave(*_: object) -> NoReturn:
    """Removes what was made, whatever else comes meanwhile."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(4)


def main() -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=1, help="runs of each cell")
    parser.add_argument("--network", action="append", choices=NETWORKS)
    parser.add_argument("--benchmark", action="append", choices=BENCHMARKS)
    parser.add_argument("--ranks-per-host", action="append", type=int, choices=(1, 2, 4))
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the results go")
    parser.add_argument("--again", type=Path, metavar="FOLDER", help="judge the results in it, and measure nothing")
    parser.add_argument("scenario", nargs="*", metavar="SCENARIO", help=f"one of: {', '.join(SCENARIOS)}")
    chosen = parser.parse_args()
    if unknown := set(chosen.scenario) - set(SCENARIOS):
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    chosen.network = chosen.network or list(NETWORKS)
    chosen.benchmark = chosen.benchmark or list(BENCHMARKS)
    chosen.ranks_per_host = chosen.ranks_per_host or [1, 4]
    chosen.scenario = chosen.scenario or list(SCENARIOS)
    for number in SIGNALS:
        signal.signal(number, leave)
    begin = time.monotonic()
    print(f"{'network':8}{'benchmark':11}ranks  {'scenario':34}right        false   s a run   load", flush=True)
    cells = all_cells(chosen)
    if chosen.again:
        kept = {cell: sorted(chosen.again.glob(f"{cell.file_name}-[0-9]*.h5")) for cell in cells}
        cells = [cell for cell in cells if kept[cell]]
    num_wrong = 0
    for cell in cells:
        try:
            is_right = judge_again(cell, kept[cell]) if chosen.again else run_cell(cell, chosen.times, chosen.keep)
            num_wrong += not is_right
        except NotHereError as reason:
            print(f"{cell} cannot be made here: {reason}", flush=True)
            return 3
    seconds = time.monotonic() - begin
    print(f"{len(cells) - num_wrong} of {len(cells)} cells right in all of their runs, in {seconds:.0f} s")
    return 1 if num_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

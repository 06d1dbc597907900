# SPDX-License-Identifier: Apache-2.0
"""Eight hosts with one fault or two, and what `leadline link` says of them; as a program: how often it is right.

python tests/hosts/verdicts.py [TIMES [SCENARIO ...]]      needs root, takes minutes; prints a table
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from network import Network
from ranks import finish, started
from result import summary_of

NUM_HOSTS, RANKS_PER_HOST = 8, 2
# One pair at a time and without spinning, since all hosts share the cores of one machine: what another pair takes from
# them would look like a fault. All ranks are on one core, too: a message to another core takes twice as long, and who
# sits where stays so for many messages. 16 KiB see a rate; a message a batch keeps the medians clear of few long ones.
WORDS = ["--serial", "--message-size", "16KiB", "--warmup", "2", "--retest", "0"]
SHORT_BATCHES = ("--messages", "20", "--batches", "20")
# Each so long that a busy host has stood still several times.
LONG_BATCHES = ("--messages", "800", "--batches", "5")
# Sixteen kibibytes take 0.66 ms, many times what they take without a limit; less would only take longer.
RATE = "200mbit"
CORE = min(os.sched_getaffinity(0))
CABLES = "".join(f"node{host} switch{'AB'[host // 4]}\n" for host in range(NUM_HOSTS)) + "switchA switchB\n"


@dataclass(frozen=True)
class Place:
    """What a finding must be: one of these kinds, and about these hosts."""

    kinds: tuple[str, ...]
    hosts: tuple[int, ...] = ()

    def is_named_by(self, fault: dict[str, Any]) -> bool:
        """Whether a finding means this place."""
        hosts = {int(number) for number in re.findall(r"node(\d+)", fault["name"])}
        return fault["kind"] in self.kinds and hosts == set(self.hosts)


@dataclass(frozen=True)
class Scenario:
    """What is done to sound hosts, and what should come first among the findings, in any order."""

    damage: Callable[[Network], None]
    places: Sequence[Place] = ()
    words: Sequence[str] = ()
    batches: Sequence[str] = SHORT_BATCHES

    def is_right(self, faults: Sequence[dict[str, Any]]) -> bool:
        """Without damage nothing may be found."""
        first = faults[: len(self.places)]
        if not self.places:
            return not faults
        return all(any(place.is_named_by(fault) for fault in first) for place in self.places)


def _host_and_link(hosts: Network) -> None:
    hosts.slow_down(2, RATE)
    hosts.lengthen_between(5, 7, delay_us=200)


def _uplink_and_link(hosts: Network) -> None:
    hosts.plug_into_second_switch(range(4, 8), RATE)
    hosts.lengthen_between(0, 2, delay_us=200)


# A cable cannot be told from the port that it ends in, nor can who sees its pairs inside a host alone.
HOST_2, LINK, UPLINK = Place(("port", "host"), (2,)), Place(("link",), (1, 4)), Place(("cable", "uplink"))
TOPOLOGY = ("--topology", "cables")
SCENARIOS = {
    "nothing": Scenario(lambda _: None),
    "a host is limited": Scenario(lambda hosts: hosts.slow_down(2, RATE), [HOST_2]),
    "a link is limited": Scenario(lambda hosts: hosts.slow_down_between(1, 4, RATE), [LINK]),
    "the uplink is limited": Scenario(
        lambda hosts: hosts.plug_into_second_switch(range(4, 8), RATE), [UPLINK], TOPOLOGY
    ),
    "a link is longer": Scenario(lambda hosts: hosts.lengthen_between(1, 4, delay_us=200), [LINK]),
    "a link loses": Scenario(lambda hosts: hosts.lengthen_between(1, 4, loss=0.01), [LINK]),
    "a cable is longer": Scenario(lambda hosts: hosts.lengthen(2, delay_us=200), [HOST_2]),
    "a host is busy": Scenario(lambda hosts: hosts.keep_busy(2), [HOST_2], batches=LONG_BATCHES),
    "a host and a link": Scenario(_host_and_link, [HOST_2, Place(("link",), (5, 7))]),
    "the uplink and a link": Scenario(_uplink_and_link, [UPLINK, Place(("link",), (0, 2))], TOPOLOGY),
}


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """What is started inside stays on one core."""
    usual = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {CORE})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usual)


def findings(hosts: Network, scenario: Scenario, folder: Path, times: int = 1) -> list[list[dict[str, Any]]]:
    """What is found each time that the test is made, in one run; the damage must be done already."""
    (folder / "cables").write_text(CABLES)
    host_of = [host for host in range(NUM_HOSTS) for _ in range(RANKS_PER_HOST)]
    words = [*WORDS, *scenario.batches, *scenario.words, "--repeat", str(times), "--overwrite"]
    with on_one_core(), started(hosts, host_of, folder, *words, timeout=60 + 60 * times, wait="block") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * len(host_of), [end.err for end in ends]
    diagnoses = [one["diagnosis"] for one in summary_of(folder / "r.h5")["slices"]]
    return [[fault for fault in one["faults"] if counts(fault)] for one in diagnoses]


def counts(fault: dict[str, Any]) -> bool:
    """Whether a finding accuses: it is no note on how the machine is built, and it was there the second time, too."""
    return not fault["is_note"] and fault["persistence"] != "transient"


def main() -> None:
    """Prints a line a scenario, and what was found where that was wrong."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(4))  # what was made is removed then
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for name in sys.argv[2:] or SCENARIOS:
        scenario = SCENARIOS[name]
        with tempfile.TemporaryDirectory() as text, Network(NUM_HOSTS, Path(text)) as hosts:
            scenario.damage(hosts)
            found = findings(hosts, scenario, Path(text), times)
        print(f"{name:24}{sum(map(scenario.is_right, found)):4} of {len(found)}", flush=True)
        for faults in found:
            if not scenario.is_right(faults):
                first = [f"{one['name']} {one['symptom']} {one['ratio']:.2f} {one['persistence']}" for one in faults]
                print("    " + ("; ".join(first[:3]) or "nothing"), flush=True)


if __name__ == "__main__":
    main()

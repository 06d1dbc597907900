# SPDX-License-Identifier: Apache-2.0
"""What is run in the virtual machine: five devices rxe0 to rxe4 over v0 to v4 (10.88.0.1 and on), the last one down."""

from __future__ import annotations

import shlex

import program
from machine import BUILD, Job

PROGRAM = f"{BUILD}/bin/{program.PROGRAM.name}"
FOUR_DEVICES = ("--interface", "v0,v1,v2,v3")
# A call that moves 5 MiB between four ranks may take a minute on an emulated machine.
CONTRACT = f"LEADLINE_CONTRACT_SECONDS=100 {BUILD}/tests/contract_verbs --gtest_brief=1 --gtest_filter="


# On a machine that is held up for long, packets are sent again for nothing, and devices in software count that as
# retries in vain. Seven are for ever there.
PATIENT = ("--transport-option", "retries=7")


def leadline(*words: str, benchmark: str = "link", transport: str = "verbs", ranks: int = 2) -> str:
    """A run in the job's own folder, its file r.h5."""
    run = (benchmark, "--local", str(ranks), "--transport", transport, "--quiet", "--output", "r.h5", *PATIENT, *words)
    return shlex.join((PROGRAM, *run))


def option(*settings: str) -> tuple[str, ...]:
    """Settings of the transport."""
    return tuple(word for setting in settings for word in ("--transport-option", setting))


def _on_hosts(num: int, *more: str, absent: int = -1) -> str:
    """A rank on each of so many simulated hosts, each with a device of its own; but for one."""
    addresses = " ".join(f"LEADLINE_ADDRESS_{i}=10.88.0.{i + 1} LEADLINE_PORT_{i}={60000 + i}" for i in range(num))
    words = ("link", *FEW, *SMALL, "--verify", "--transport", "verbs", "--quiet", "--output", "r.h5", *PATIENT)
    ranks = " ".join(str(rank) for rank in range(num) if rank != absent)
    return f"""
export LEADLINE_SIZE={num} LEADLINE_SECRET=0123456789abcdef0123456789abcdef {addresses}
for i in {ranks}; do
  LEADLINE_RANK=$i unshare --uts sh -c 'hostname "$0"; exec "$@"' "node$i" \
    {shlex.join((PROGRAM, *words, *ASLEEP, *more))} --interface "v$i" &
  started="${{started:-}} $!"
done
status=0
for one in $started; do wait "$one" || status=$?; done
exit $status"""


# More ranks than the machine has cores: who waits must leave them to the kernel, whose threads move the data.
ASLEEP = ("--wait", "block")
YIELDING = ("--wait", "yield")
FEW = ("--messages", "10", "--warmup", "2", "--batches", "5", "--retest", "2")
SMALL = ("--message-size", "1KiB")
SIZES = ("--message-size", "0,1,8,4KiB,300KiB")
CHECKED = ("--verify", "--check-buffers", "--buffers", "3")

# Devices in software say that they carry messages up to 8 MiB, so one test of the suite is not for them.
_NOT_HERE = "-*CarriesALargeMessage*"


def _with_fault(fault: str, benchmark: str, begun: str, *words: str) -> str:
    """A run of four ranks, with a fault as soon as `begun` is on standard error; $! is its launcher."""
    more = ("--local", "4", "--transport", "verbs", "--output", "r.h5", "--timeout", "8s", *FOUR_DEVICES)
    return f"""{shlex.join((PROGRAM, benchmark, *words, *more))} &
until grep -q {shlex.quote(begun)} stderr; do kill -0 $! || exit; sleep 0.2; done
{fault}
wait $!"""


def _to_rank(rank: int, signal: str) -> str:
    return f'kill -{signal} "$(pgrep -P $! | sed -n {rank + 1}p)"'


FOUR_SIZES = ("--message-size", "1000-1003+1", "--messages", "80", "--batches", "20", "--retest", "0")
FUNNEL = (
    *("--movement", "N-M-M", "--io-ranks", "1", "--no-file", "--object-size", "64KiB", "--objects", "1000000"),
    *("--buffer-size", "1MiB", "--time-limit", "2s"),
)
RANDOM_PATTERNS = ("--message-size", "1KiB", "--precision", "0", "--rounds", "100000", "--time-limit", "12s")
FOUR_CELLS = ("--message-size", "1KiB-4KiB+1KiB", "--iterations", "200", "--pattern", "complete2")


# The timed jobs first: what is refused needs no quiet machine.
JOBS = [
    Job("contract-links", f"{CONTRACT}'*TransportContract*/yield_semi*:*TransportContract*/block_*{_NOT_HERE}'", 300),
    Job(
        "contract-many",
        f"{CONTRACT}'*AllToAll*/block*:*Messages*/*_2:*Messages*/block_4:*Neighbour*/block_[23]:VerbsLinks*'",
        300,
    ),
    Job("matrix", leadline(*FEW, *SIZES, *CHECKED, *FOUR_DEVICES, *ASLEEP, "--all-to-all", "around", ranks=4)),
    Job("yielding", leadline(*FEW, *SIZES, *CHECKED, *FOUR_DEVICES, "--wait", "yield")),
    Job("spinning", leadline(*FEW, *SIZES, *CHECKED, "--wait", "spin")),
    *(
        Job(
            f"write-{direction}",
            leadline(*FEW, *SIZES, *CHECKED, *FOUR_DEVICES, *ASLEEP, *option("write=yes"), "--direction", direction),
        )
        for direction in ("semidirectional", "unidirectional", "bidirectional")
    ),
    Job(
        "write-many",
        leadline(*FEW, *SMALL, *FOUR_DEVICES, *ASLEEP, *option("write=yes"), "--all-to-all", "around", ranks=4),
    ),
    Job(
        "large-window",
        leadline(
            *("--message-size", "1KiB", "--messages", "1100", "--window", "1000", "--batches", "2"),
            *("--warmup", "0", "--retest", "0"),
            *("--direction", "unidirectional", *CHECKED, *ASLEEP),
        ),
    ),
    Job(
        "topologies",
        leadline(
            *("--message-size", "1KiB,64KiB", "--iterations", "5", "--traced", "2", "--verify", *FOUR_DEVICES, *ASLEEP),
            benchmark="topology",
            ranks=4,
        ),
    ),
    Job(
        "topologies-written",
        leadline(
            *("--message-size", "1KiB", "--iterations", "5", "--verify", *FOUR_DEVICES, *ASLEEP, *option("write=yes")),
            benchmark="topology",
            ranks=4,
        ),
    ),
    Job("hosts", _on_hosts(4)),
    Job("host-absent", _on_hosts(4, "--start-timeout", "6s", absent=2)),
    Job(
        "lossy",
        "tc qdisc add dev v0 root netem loss 2% seed 1 2>/dev/null || tc qdisc add dev v0 root netem loss 2%\n"
        + leadline(*FEW, "--message-size", "64KiB", "--verify", *FOUR_DEVICES, *ASLEEP)
        + "\nstatus=$?; tc qdisc del dev v0 root; exit $status",
    ),
    Job(
        "small-mtu",
        leadline(
            *FEW, *SMALL, *CHECKED, *ASLEEP, *option("mtu=256", "gid-index=1", "traffic-class=8", "ack-timeout=18")
        ),
    ),
    *(
        Job(f"link-without-{how}", _with_fault(_to_rank(2, signal), "link", "(2 of 4)", *FOUR_SIZES, *ASLEEP))
        for how, signal in (("killed", "KILL"), ("stopped", "STOP"))
    ),
    Job("topology-without-killed", _with_fault(_to_rank(2, "KILL"), "topology", " 1/4 ", *FOUR_CELLS, *YIELDING)),
    Job(
        "topology-without-stopped",
        _with_fault(_to_rank(2, "STOP"), "topology", " 1/4 ", *FOUR_CELLS, *ASLEEP, *option("write=yes")),
    ),
    Job(
        "bisection-without-rank-0", _with_fault(_to_rank(0, "KILL"), "bisection", " random ", *RANDOM_PATTERNS, *ASLEEP)
    ),
    Job("funnel-without-killed", _with_fault(_to_rank(2, "KILL"), "io", "write: ", *FUNNEL, *ASLEEP)),
    Job(
        "device-cut-off",
        _with_fault("tc qdisc add dev v2 root netem loss 100%", "link", "(2 of 4)", *FOUR_SIZES, *ASLEEP)
        + "\nstatus=$?; tc qdisc del dev v2 root; exit $status",
    ),
    Job(
        "killed",
        leadline("--messages", "100000000", "--strict-ranks")
        + ' & sleep 5; kill -KILL "$(pgrep -P $! | tail -1)"; wait $!',
    ),
    Job("too-long", leadline("--message-size", "16MiB", "--messages", "1")),
    Job("facts", f"{PROGRAM} transports --verbose"),
    Job("no-such-device", leadline(transport="verbs:nosuch")),
    Job("device-down", leadline(transport="verbs:rxe4")),
    Job("network-down", leadline("--interface", "v4")),
    Job("no-such-port", leadline(*option("port=2"), transport="verbs:rxe0")),
    Job("no-such-gid", leadline(*option("gid-index=77"))),
    Job("no-such-mtu", leadline(*option("mtu=300"))),
    Job("no-such-timeout", leadline(*option("ack-timeout=32"))),
    Job("no-such-setting", leadline(*option("frobnicate=1"))),
    Job(
        "little-memory",
        "ulimit -l 64; exec setpriv --bounding-set -ipc_lock " + leadline("--message-size", "1MiB", *FOUR_DEVICES),
    ),
]

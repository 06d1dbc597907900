# SPDX-License-Identifier: Apache-2.0
# Row "transports": two bound ranks over UCX, libfabric, PSM2 and TCP, beside bare loops and the libraries' own tools.
"""Launches alternate, each pair in the other order than the pair before, and count where one_place.py says so. Each
side of a line is a function that makes one launch and returns the time of a message in ns."""

import csv
import dataclasses
import itertools
import json
import pathlib
import statistics
from collections.abc import Callable

from .launch import FailedError, NotMeasuredError, need, run
from .one_place import OnePlace
from .pairs import Side, bound, free_ports, run_both, two_cores
from .table import Row, absent, quartiles, time_text, verdict_of

KEY = "transports"
LIMIT, LIMIT_TCP = 0.97, 1.0
NUM_BATCHES = 20
UCX_WINDOW = 32  # of ucx_perftest, which is told so too
NETPIPE_TRIALS = 3  # NPtcp makes so many and tells the fastest
LIMIT_S = 180
SECRET = "ranks of a benchmark"
HFI = pathlib.Path("/dev/hfi1_0")
# What goes over sockets goes over loopback, for both sides.
UCX_DEVICES, LIBFABRIC_DEVICE = {"UCX_NET_DEVICES": "lo"}, {"FI_TCP_IFACE": "lo"}
# ucx_perftest never writes to the memory that it sends, which the kernel then keeps as one page of zeros, always in the
# cache; so the C library is told to write to all that it hands out.
WRITTEN = {"UCX_ALLOC_PRIO": "heap", "MALLOC_PERTURB_": "85"}


@dataclasses.dataclass(frozen=True)
class Shape:
    """What is measured; warm-up is a tenth of the messages."""

    quantity: str
    size_bytes: int
    messages: int

    @property
    def warmup(self):
        return max(1, self.messages // 10)

    @property
    def words(self):
        return f"{self.quantity} at {'1 MiB' if self.size_bytes == 1 << 20 else f'{self.size_bytes} B'}"

    def text(self, time_ns):
        if self.quantity == "latency":
            return time_text(time_ns)
        return f"{self.size_bytes / time_ns * 1e9 / 2**30:.4g} GiB/s"


def shapes(num_small, num_large, is_quick):
    """Latency and bandwidth."""
    share = 20 if is_quick else 1
    return Shape("latency", 8, num_small // share), Shape("bandwidth", 1 << 20, max(10, num_large // share))


@dataclasses.dataclass
class Contest:
    """One line of the table: two functions that launch, and what was typed for either."""

    what: str
    shape: Shape
    ours: Callable
    other: Callable
    other_name: str
    limit: float
    commands: list
    note: str = ""


def ours(bench, transport, words, extra=None):
    """A function that launches two bound ranks of ours and returns the slices of the result; and the command. Each
    rank is a process of its own, as the built-in launcher binds nobody."""
    cores = two_cores()
    program = [bench.leadline, "link", "--transport", transport, "--wait", "spin", *words]
    program += ["--retest", 0, "--output", "-", "--quiet"]
    folder = bench.scratch("transports")

    def rank_at(ports, rank):
        variables = {"LEADLINE_SIZE": "2", "LEADLINE_RANK": str(rank), "LEADLINE_SECRET": SECRET}
        for index, port in enumerate(ports):
            variables |= {f"LEADLINE_ADDRESS_{index}": "127.0.0.1", f"LEADLINE_PORT_{index}": str(port)}
        return Side(bound(cores[rank], program), variables)

    def launch():
        ports = free_ports(2)
        told, _ = run_both(rank_at(ports, 0), rank_at(ports, 1), limit_s=LIMIT_S, extra=extra, cwd=folder)
        return json.loads(told.stdout)["slices"]

    typed = rank_at(("PORT0", "PORT1"), 0).text(extra or {})
    return launch, f"{typed} & (the same as LEADLINE_RANK=1 on core {cores[1]})"


def exchange(shape, num_batches, *more):
    return ["--message-size", f"{shape.size_bytes}B", "--messages", shape.messages, "--warmup", shape.warmup,
            "--batches", num_batches, *more]  # fmt: skip


def median_of_both(slices):
    """Both ranks lead; of the two the middle."""
    return slices[0]["all"]["time_ns_median"]


def served(bench, program, server_words, client_words, extra=None):
    """A function that launches a program twice, as server and as client of the port, and returns what the client
    wrote, the client on either of the two cores; the command; and the folder in which both run. `PORT` among the words
    stands for a free one."""
    need(program)
    cores = two_cores()
    folder = bench.scratch(program)

    def sides(at, client=1):
        def filled(core, words):
            return Side(bound(core, [program, *(at if word == "PORT" else word for word in words)]))

        return filled(cores[1 - client], server_words), filled(cores[client], client_words)

    def launch(client=1):
        at = free_ports(1)[0]
        first, second = sides(at, client)
        _, told = run_both(first, second, limit_s=LIMIT_S, port=at, extra=extra, cwd=folder)
        return told.stdout

    typed = " & ".join(side.text(extra or {}) for side in sides("PORT"))
    return launch, typed, folder


def ucx_contests(bench):
    """ucx_perftest means over all messages of a launch, first message to last; so one batch of ours does the same.
    Both ranks of ours send in turn; so its client, which sends, runs on either core in turn."""
    for tls, num_small, num_large in (("posix,self", 100_000, 2_000), ("sm,self", 100_000, 2_000),
                                      ("tcp,self", 20_000, 1_000)):  # fmt: skip
        for shape in shapes(num_small, num_large, bench.is_quick):
            is_latency = shape.quantity == "latency"
            words = () if is_latency else ("--direction", "unidirectional", "--window", UCX_WINDOW)
            own, own_text = ours(bench, f"ucx:{tls}", exchange(shape, 1, *words), UCX_DEVICES)
            task = ["-t", "tag_lat"] if is_latency else ["-t", "tag_bw", "-O", UCX_WINDOW]
            task += ["-s", shape.size_bytes, "-n", shape.messages, "-w", shape.warmup, "-f", "-v"]
            clients = itertools.cycle((1, 0))
            other, other_text, _ = served(
                bench,
                "ucx_perftest",
                ["-p", "PORT"],
                ["127.0.0.1", "-p", "PORT", *task],
                UCX_DEVICES | WRITTEN | {"UCX_TLS": tls},
            )

            def perftest_ns(launch=other, clients=clients):
                """By messages a second one way: its times have three decimals of a microsecond."""
                return 1e9 / float(list(csv.DictReader(launch(next(clients)).splitlines()))[-1]["overall_mr"])

            yield Contest(
                f"{shape.words}, ucx {tls}",
                shape,
                lambda launch=own: median_of_both(launch()),
                perftest_ns,
                "ucx_perftest",
                LIMIT,
                [own_text, other_text],
            )


def need_header(name):
    need("cc")
    try:
        run(["cc", "-E", "-include", name, "-x", "c", "/dev/null"], limit_s=60)
    except FailedError:
        raise NotMeasuredError(f"{name} is not installed") from None


def bare_side(bench, program, shape, more, extra):
    command = [program, shape.size_bytes, shape.messages, shape.warmup, NUM_BATCHES, *two_cores(), *more]
    folder = bench.scratch("bare")

    def launch_ns():
        return statistics.median(
            json.loads(run(command, limit_s=LIMIT_S, extra=extra, cwd=folder).stdout)["time_ns_medians"]
        )

    return launch_ns, Side(command).text(extra)


def bare_contest(bench, what, shape, transport, bare, more, extra):
    own, own_text = ours(bench, transport, exchange(shape, NUM_BATCHES), extra)
    other, other_text = bare_side(bench, bare, shape, more, extra)
    return Contest(what, shape, lambda: median_of_both(own()), other, "bare loop", LIMIT, [own_text, other_text])


def libfabric_contests(bench):
    need_header("rdma/fabric.h")
    bare = bench.compile(
        "cc", "bare/libfabric_ping_pong.c", "libfabric.ping_pong", ["-O2", "-D_GNU_SOURCE"], ["-lfabric"]
    )
    for provider, num_small, num_large in (("shm", 50_000, 1_000), ("tcp;ofi_rxm", 10_000, 500)):
        for shape in shapes(num_small, num_large, bench.is_quick):
            contest = bare_contest(
                bench,
                f"{shape.words}, libfabric {provider}",
                shape,
                f"libfabric:{provider}",
                bare,
                [provider],
                LIBFABRIC_DEVICE,
            )
            contest.note = pingpong_note(bench, provider, shape)
            yield contest


def pingpong_note(bench, provider, shape):
    """For information: it looks into its queues otherwise than any of the two, and its mean is over everything."""
    task = ["-p", provider, "-e", "rdm", "-m", "tagged", "-S", shape.size_bytes, "-I", shape.messages]
    try:
        launch, typed, _ = served(
            bench, "fi_pingpong", [*task, "-B", "PORT"], [*task, "-P", "PORT", "127.0.0.1"], LIBFABRIC_DEVICE
        )
        times_ns = [1e3 * float(launch().splitlines()[-1].split()[-2]) for _ in range(3)]
    except NotMeasuredError as why:
        return f"fi_pingpong: {why}"
    return f"fi_pingpong, median of 3 launches: {shape.text(statistics.median(times_ns))} ({typed})"


def psm2_contests(bench):
    need_header("psm2.h")
    bare = bench.compile("cc", "bare/psm2_ping_pong.c", "psm2.ping_pong", ["-O2", "-D_GNU_SOURCE"], ["-lpsm2"])
    extra = {"PSM2_DEVICES": "self,shm"}
    if not HFI.exists():
        present = bench.build / "hfi1_0"
        present.mkdir(exist_ok=True)
        stat = bench.compile(
            "cc", "bare/hfi_stat.c", "hfi_stat.so", ["-O2", "-D_GNU_SOURCE", "-shared", "-fPIC"], ["-ldl"]
        )
        extra |= {"HFI_SYSFS_PATH": str(present), "LD_PRELOAD": str(stat)}
    for shape in shapes(50_000, 1_000, bench.is_quick):
        yield bare_contest(bench, f"{shape.words}, psm2 shm", shape, "psm2", bare, [], extra)


def tcp_contests(bench):
    """NetPIPE takes the mean of a trial, and of some trials the fastest; so do our repeats."""
    for shape in shapes(10_000, 1_000, bench.is_quick):
        words = exchange(shape, 1, "--repeat", NETPIPE_TRIALS)
        own, own_text = ours(bench, "tcp", words)
        task = ["-l", shape.size_bytes, "-u", shape.size_bytes, "-p", 0, "-n", shape.messages, "-P", "PORT"]
        other, other_text, folder = served(
            bench, "NPtcp", [*task, "-o", "server.out"], ["-h", "127.0.0.1", *task, "-o", "client.out"]
        )

        def own_ns(launch=own):
            return min(median_of_both([one]) for one in launch())

        def netpipe_ns(launch=other, file=folder / "client.out"):
            launch()
            return 1e9 * float(file.read_text().split()[2])

        yield Contest(f"{shape.words}, tcp", shape, own_ns, netpipe_ns, "NPtcp", LIMIT_TCP, [own_text, other_text])


def compared(key, contest, own, beside):
    """The line of a contest, from the times of all launches of either side."""
    ratio = statistics.median(beside) / statistics.median(own)
    low, high = quartiles([b / a for a, b in zip(own, beside, strict=True)])
    note = f"fastest launches {min(beside) / min(own):.3f}; neighbouring launches {low:.3f}..{high:.3f}"
    return Row(
        key,
        contest.what,
        contest.shape.text(statistics.median(own)),
        f"{contest.shape.text(statistics.median(beside))} {contest.other_name}",
        ratio,
        f">= {contest.limit}",
        verdict_of(ratio >= contest.limit),
        note="; ".join(part for part in (note, contest.note) if part),
        commands=contest.commands,
        numbers={"ours_ns": own, "beside_ns": beside},
    )


def row(bench, contest):
    own, beside = OnePlace(bench).in_turn(bench.num_launches, (contest.ours, contest.other))
    return compared(KEY, contest, own, beside)


PARTS = (("ucx", ucx_contests), ("libfabric", libfabric_contests), ("psm2", psm2_contests), ("tcp", tcp_contests))


def rows(bench):
    for transport, contests in PARTS:
        try:
            need("taskset")
            for contest in contests(bench):
                try:
                    yield row(bench, contest)
                except NotMeasuredError as why:
                    yield absent(KEY, contest.what, f">= {contest.limit}", why)
        except NotMeasuredError as why:
            yield absent(KEY, transport, f">= {LIMIT}", why)

# SPDX-License-Identifier: Apache-2.0
# Starts two programs that need each other, each bound to a core of its own.
"""run_both(), and the cores and ports that it takes."""

import dataclasses
import os
import pathlib
import socket
import time

from .launch import FailedError, NotMeasuredError, finish, started, text_of

LISTENING = "0A"
PATIENCE_S = 10


@dataclasses.dataclass(frozen=True)
class Side:
    """One of the two programs, and the variables that it alone gets."""

    words: list
    extra: dict = dataclasses.field(default_factory=dict)

    def text(self, common):
        """What a person would type."""
        variables = {**common, **self.extra}
        return " ".join([*(text_of([f"{name}={value}"]) for name, value in variables.items()), text_of(self.words)])


def two_cores():
    """The first processor that may be used, and the next one that is not its other hardware thread."""
    first, *others = sorted(os.sched_getaffinity(0))
    siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{first}/topology/core_cpus_list")
    same_core = processors_of(siblings.read_text()) if siblings.exists() else {first}
    for other in others:
        if other not in same_core:
            return first, other
    raise NotMeasuredError("two ranks need two cores")


def processors_of(text):
    """ "0,64" or "0-1" as a set of numbers."""
    found = set()
    for part in text.strip().split(","):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found


def bound(core, words):
    return ["taskset", "-c", core, *words]


def order_of(number):
    """Which side of a pair of launches comes first: each pair in the other order than the pair before."""
    return (0, 1) if number % 2 == 0 else (1, 0)


def free_ports(number):
    """Ports of loopback that nobody has at this moment."""
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def is_heard(port):
    """Whether somebody listens. Asked of the kernel: a connection would be taken for the partner's."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if not pathlib.Path(table).exists():
            continue
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            if state == LISTENING and int(local.rpartition(":")[2], 16) == port:
                return True
    return False


def has_ended(pid):
    """Leaves it to be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def run_both(first, second, *, limit_s, port=None, extra=None, cwd=None):
    """Runs both to their ends, the second from when the first listens on `port`, if there is one; what each wrote."""
    common = extra or {}
    with started(first.words, extra=common | first.extra, cwd=cwd) as server:
        deadline_s = time.perf_counter() + PATIENCE_S
        while port is not None and not is_heard(port):
            if has_ended(server.process.pid) or time.perf_counter() > deadline_s:
                raise FailedError(f"it never listened: {text_of(first.words)}")
            time.sleep(0.01)
        with started(second.words, extra=common | second.extra, cwd=cwd) as client:
            ended = finish(client, limit_s)
        return finish(server, limit_s), ended

# SPDX-License-Identifier: Apache-2.0
"""Runs the program as its users do, with a deadline on every wait, and sees to it that no process is left over."""

from __future__ import annotations

import atexit
import functools
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("LEADLINE_PROGRAM") or ROOT / "build" / "release" / "bin" / "leadline").resolve()
ANALYSIS_COMMANDS = Path(sys.executable).parent

# Children inherit it, whatever sessions and groups a launcher puts them into.
MARK = "LEADLINE_TEST_MARK"
_OF_A_LAUNCHER = re.compile(r"(OMPI|PMI|PMIX|SLURM|HYD|MPI|LEADLINE)[A-Z0-9]*_")
_GRAMMAR = re.compile(r"leadline: [^\n]+")


@dataclass(frozen=True)
class Done:
    """How a run ended."""

    status: int
    out: str
    err: str
    seconds: float

    @property
    def complaints(self) -> list[str]:
        """What leadline itself said went wrong; a launcher's own words are not among it."""
        return [line for line in self.err.splitlines() if line.startswith("leadline: ")]

    @property
    def complaint(self) -> str:
        """The one line; it is a mistake if there is another, or none.

        What the local launcher adds of a rank that was killed is not another one.
        """
        lines = [line for line in self.complaints if "died (killed by signal" not in line] or self.complaints
        assert len(lines) == 1, f"not one line of complaint but {len(lines)}:\n{self.err}"
        assert _GRAMMAR.fullmatch(lines[0])
        return lines[0]

    def assert_refused(self, status: int, *named: str) -> None:
        """It said one line that has all these words and nothing else, and measured nothing."""
        assert self.status == status, self.err
        assert (self.out, self.err) == ("", self.complaint + "\n"), "something beside the one line"
        for word in named:
            assert word in self.complaint


def heed_signals() -> None:
    """What was started in the background by a shell ignores SIGINT, and so would every program that a test starts."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@functools.cache
def _library_workarounds() -> dict[str, str]:
    """The variable that preloads library_workarounds.c; none where it cannot be compiled."""
    folder = Path(tempfile.mkdtemp(prefix="leadline-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)  # tests run programs as other users, too
    library = folder / "library_workarounds.so"
    source = Path(__file__).with_name("library_workarounds.c")
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    return {"LD_PRELOAD": str(library)}


# For a run with --wait yield whose ranks are to be under way still when a signal comes: each time that one waits for a
# message takes a millisecond or more on any machine (library_workarounds.c), and hardly any processor time.
SLOW_MESSAGES = {"YIELD_SLEEPS_US": "1000"}
# The same for one that writes files, or sends to another that does.
SLOW_FILES = SLOW_MESSAGES | {"FILE_SLEEPS_US": "1000"}


@functools.cache
def _session_folder() -> str:
    """For Open MPI's mpirun, of this process alone: two that make the same folder at the same time fail."""
    folder = tempfile.mkdtemp(prefix="leadline-ompi-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The caller's environment without a launcher's traces; root may use mpirun; the analysis commands are found."""
    kept = {name: value for name, value in os.environ.items() if not _OF_A_LAUNCHER.match(name)}
    kept |= {"LC_ALL": "C.UTF-8", "TERM": "xterm", "COLUMNS": "200"}
    kept |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    kept |= {"OMPI_MCA_orte_tmpdir_base": _session_folder()}
    # Last, since an MPI library of Python's index has its commands there, too.
    kept["PATH"] = f"{PROGRAM.parent}:{kept.get('PATH', '/usr/bin:/bin')}:{ANALYSIS_COMMANDS}"
    return kept | _library_workarounds() | dict(extra or {})


class Run:
    """A command that is under way. To be used in a `with`, at whose end nothing of it may be left."""

    def __init__(
        self,
        command: Sequence[str | Path],
        cwd: Path,
        env: Mapping[str, str] | None = None,
        timeout: float = 60,
        **options: Any,
    ) -> None:
        """Starts it in a session of its own; `options` are those of subprocess.Popen."""
        heed_signals()
        self._mark = uuid.uuid4().hex
        self._ends_by = time.monotonic() + timeout
        self._start = time.monotonic()
        self._text = {"out": "", "err": ""}
        self._changed = threading.Condition()
        settings: dict[str, Any] = {"stdin": subprocess.DEVNULL, "start_new_session": True}
        settings |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        self._process = subprocess.Popen(
            [str(word) for word in command], cwd=cwd, env=clean_environment(env) | {MARK: self._mark}, **settings
        )
        self._readers = [
            threading.Thread(target=self._read, args=(name, stream), daemon=True)
            for name, stream in (("out", self._process.stdout), ("err", self._process.stderr))
            if stream is not None
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, name: str, stream: Any) -> None:
        while piece := os.read(stream.fileno(), 1 << 16):
            with self._changed:
                self._text[name] += piece.decode(errors="replace")
                self._changed.notify_all()
        stream.close()

    @property
    def pid(self) -> int:
        """The first process, which is also the number of the group."""
        return self._process.pid

    @property
    def err(self) -> str:
        """What has come on stderr so far."""
        return self._text["err"]

    @property
    def out(self) -> str:
        """What has come on stdout so far."""
        return self._text["out"]

    def left_s(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self._ends_by - time.monotonic())

    def await_err(self, pattern: str) -> re.Match[str]:
        """Waits until stderr holds this."""
        with self._changed:
            self._changed.wait_for(lambda: re.search(pattern, self.err) or not self._is_read(), self.left_s())
        found = re.search(pattern, self.err)
        assert found, f"never on stderr: {pattern}\n{self.err}"
        return found

    def _is_read(self) -> bool:
        return any(reader.is_alive() for reader in self._readers)

    def send(self, signal_number: int) -> None:
        """A signal to the first process."""
        self._process.send_signal(signal_number)

    def await_status(self) -> int:
        """Waits for the end of the first process alone: others may still be inside the kernel."""
        return self._process.wait(self.left_s())

    def finish(self) -> Done:
        """Waits for the end, also of everything that holds the pipes, and for the last process."""
        try:
            status = self._process.wait(self.left_s())
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not finished in time; stderr so far:\n{self.err}") from None
        seconds = time.monotonic() - self._start
        left = self._left_over(self.left_s())
        assert not left, f"processes are left over: {left}\n{self.err}"
        for reader in self._readers:
            reader.join(self.left_s())
        return Done(status, self._text["out"], self._text["err"], seconds)

    def processes(self) -> list[int]:
        """Everything that was started by this run and is still there."""
        there = (entry.name for entry in Path("/proc").iterdir())
        return [int(name) for name in there if name.isdigit() and self._is_ours(name)]

    def _is_ours(self, pid: str) -> bool:
        try:
            return f"{MARK}={self._mark}".encode() in Path("/proc", pid, "environ").read_bytes().split(b"\0")
        except OSError:
            return False

    def _left_over(self, patience_s: float) -> list[int]:
        until = time.monotonic() + min(patience_s, 12)
        for pid in self.processes():
            await_end(pid, until - time.monotonic())
        return self.processes()

    def __enter__(self) -> Run:
        """It has started already."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Ends whatever is still there; of a test that fails here what the command has said is shown."""
        if kind is not None:
            print(f"so far, after {time.monotonic() - self._start:.1f} s:\n{self.out}\n{self.err}")
        for pid in self.processes():
            for number in (signal.SIGKILL, signal.SIGCONT):
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    break
        self._process.wait(10)
        for reader in self._readers:
            reader.join(10)


def await_end(pid: int, patience_s: float) -> None:
    """Waits until the process has ended, or for so long."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        select.select([descriptor], [], [], max(0.0, patience_s))
    finally:
        os.close(descriptor)


def await_that(is_so: Callable[[], bool], patience_s: float = 20) -> None:
    """For what nothing can wake us up: looks again and again, until the deadline."""
    until = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < until, "it never came about"
        select.select([], [], [], 0.01)


def complete(command: Sequence[str | Path], cwd: Path, **options: Any) -> Done:
    """Runs a command to its end."""
    with Run(command, cwd, **options) as run:
        return run.finish()


# What the fixtures `leadline` and `link` are: words of the command line, and options of Run.
Leadline = Callable[..., Done]


_reserved_ports: deque[socket.socket] = deque(maxlen=256)


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that stay reserved: who asks for any port gets another one.

    A rank that asks for this very one gets it, since a socket that does not listen shares its port with SO_REUSEADDR.
    """
    ports = []
    for _ in range(count):
        reserved = socket.socket()
        reserved.bind(("127.0.0.1", 0))
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # after bind(), which found it unused
        ports.append(reserved.getsockname()[1])
        _reserved_ports.append(reserved)
    return ports


SECRET = "the secret of these tests, long enough"


def environment_with_rank_0(host: str, port: int, rank: int, num_ranks: int) -> dict[str, str]:
    """What a process is given where no launcher starts it: the address or name of the host of rank 0, and its port."""
    return {
        "LEADLINE_SIZE": str(num_ranks),
        "LEADLINE_RANK": str(rank),
        "LEADLINE_ADDRESS": host,
        "LEADLINE_PORT": str(port),
        "LEADLINE_SECRET": SECRET,
    }


def explicit_environment(addresses: Sequence[str], ports: Sequence[int], rank: int) -> dict[str, str]:
    """The same where each process knows where all listen."""
    variables = {"LEADLINE_SIZE": str(len(ports)), "LEADLINE_RANK": str(rank), "LEADLINE_SECRET": SECRET}
    for index, (address, port) in enumerate(zip(addresses, ports, strict=True)):
        variables |= {f"LEADLINE_ADDRESS_{index}": address, f"LEADLINE_PORT_{index}": str(port)}
    return variables


def bytes_told(plan: str) -> float:
    """What the plan says of the file: `file      about 1.5 MiB, ...`, `file      at most 1.5 MiB`."""
    (line,) = (line for line in plan.splitlines() if line.startswith("  file "))
    words = line.split()
    number = next(word for word in words if word[0].isdigit())
    unit = words[words.index(number) + 1].rstrip(",")
    return float(number) * 1024 ** ["B", "KiB", "MiB", "GiB", "TiB"].index(unit)

# SPDX-License-Identifier: Apache-2.0
# Starts programs with a time limit, knows the MPI launchers, and compiles the bare programs.
"""Everything that starts a process. No row calls subprocess itself."""

import contextlib
import dataclasses
import os
import pathlib
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent.parent
SOURCE = FOLDER.parent


class NotMeasuredError(Exception):
    """This row cannot be had here; the text says why."""


class FailedError(NotMeasuredError):
    """A program that should have run did not run to its end."""


@dataclasses.dataclass
class Ended:
    """A process that ended with status 0."""

    stdout: str
    wall_s: float
    max_rss_bytes: int


@dataclasses.dataclass(frozen=True)
class Mpi:
    """One MPI library with its compiler and its launcher."""

    name: str
    compiler: str
    launcher: str
    bind: tuple
    oversubscribe: tuple

    def start(self, num_ranks, *, bound):
        """The words before the program."""
        return [self.launcher, "-n", str(num_ranks), *(self.bind if bound else self.oversubscribe)]


MPIS = (
    Mpi("Open MPI", "mpicc.openmpi", "mpirun.openmpi", ("--bind-to", "core"), ("--oversubscribe", "--bind-to", "none")),
    Mpi("MPICH", "mpicc.mpich", "mpirun.mpich", ("-bind-to", "core"), ()),
)


@dataclasses.dataclass
class Bench:
    """What every row is given."""

    leadline: pathlib.Path
    build: pathlib.Path
    num_launches: int
    is_quick: bool

    def scratch(self, name):
        folder = self.build / "scratch"
        folder.mkdir(parents=True, exist_ok=True)
        return pathlib.Path(tempfile.mkdtemp(prefix=name + "-", dir=folder))

    def compile(self, compiler, source, name, flags=(), libraries=()):
        """A program or library of this folder, in the build folder."""
        need(compiler)
        target = self.build / name
        run([compiler, "-Wall", "-Wextra", *flags, FOLDER / source, *libraries, "-o", target], limit_s=120)
        return target


def need(program):
    if shutil.which(program) is None:
        raise NotMeasuredError(f"{program} is not installed")


def environment(extra):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("LEADLINE_")}
    if os.geteuid() == 0:  # Open MPI wants to be asked twice
        inherited |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return inherited | extra


def text_of(command):
    return shlex.join(str(word) for word in command)


@dataclasses.dataclass
class Started:
    """A process in a process group of its own, with what it writes."""

    command: list
    process: subprocess.Popen
    out: object
    err: object
    start_s: float


@contextlib.contextmanager
def started(command, *, extra=None, cwd=None):
    """Whoever leaves without finish() ends it."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start_s = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=cwd,
            env=environment(extra or {}),
            start_new_session=True,
        )
        try:
            yield Started(command, process, out, err, start_s)
        finally:
            if process.returncode is None:
                wait_for(process, 0)


def finish(program, limit_s):
    """Raises FailedError with the last line that it said on stderr."""
    status, usage = wait_for(program.process, program.start_s + limit_s)
    wall_s = time.perf_counter() - program.start_s
    program.out.seek(0)
    program.err.seek(0)
    if status is None:
        raise FailedError(f"no end within {limit_s} s: {text_of(program.command)}")
    if status != 0:
        said = [line for line in program.err.read().splitlines() if line.strip()]
        raise FailedError(f"status {status}: {text_of(program.command)}: {said[-1] if said else 'no word'}")
    return Ended(program.out.read(), wall_s, usage.ru_maxrss * 1024)


def run(command, *, limit_s, extra=None, cwd=None):
    """Runs to the end."""
    with started(command, extra=extra, cwd=cwd) as program:
        return finish(program, limit_s)


def wait_for(process, deadline_s):
    """Status and resources; the status is None where the time ran out and the group was ended. Sleeps meanwhile: a
    core that looks every millisecond is a core that the ranks do not have."""
    watched = os.pidfd_open(process.pid)
    try:
        ended = select.poll()
        ended.register(watched, select.POLLIN)
        in_time = bool(ended.poll(1000 * max(0, deadline_s - time.perf_counter())))
        if not in_time:
            os.killpg(process.pid, signal.SIGTERM)  # mpirun takes its ranks along
            if not ended.poll(5000):
                os.killpg(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode if in_time else None, usage
    finally:
        os.close(watched)

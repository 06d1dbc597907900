# SPDX-License-Identifier: Apache-2.0
"""File systems that do not answer: the run says who waits for which call and file, and ends in time."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import hanging_files as hanging
import program
import pytest
from io_runs import POSIX, small
from result import status_of

pytestmark = pytest.mark.slow


@pytest.fixture
def frozen(files: Path) -> Iterator[hanging.HangingFiles]:
    """The folder of the files, whose server stops answering when it is told to."""
    try:
        mounted = hanging.HangingFiles(files)
    except hanging.UnavailableError as why:
        pytest.skip(str(why))
    with mounted:
        yield mounted


@dataclass(frozen=True)
class End:
    """How a run ended whose processes may still be there."""

    status: int
    err: str

    @property
    def lines(self) -> list[str]:
        return [line.removeprefix("leadline: ") for line in self.err.splitlines() if line.startswith("leadline: ")]

    @property
    def reason(self) -> str:
        """Why the run failed; without what was told while it lasted, and which processes are left."""
        reasons = [line for line in self.lines if "; the run ends after" not in line and "is still there" not in line]
        assert len(reasons) == 1, self.err
        return reasons[0]


def until_it_gives_up(command: list[str | Path], tmp_path: Path) -> End:
    """The pipes stay open as long as a process is inside the kernel, so what it prints goes to a file."""
    with (tmp_path / "err").open("w") as err, program.Run(command, tmp_path, stdout=err, stderr=err) as run:
        return End(run.await_status(), (tmp_path / "err").read_text(encoding="utf-8"))


HANGS = {
    "looking": (hanging.LOOKUP, (), "looking at"),
    "creating": (hanging.CREATE, (), "opening"),
    "writing": (hanging.WRITE, (), r"writing 64 KiB at \d+ of"),
    "non-blocking": (
        hanging.WRITE,
        ("--calls", "non-blocking"),
        r"waiting for a write of 64 KiB at \d+ of",
    ),
    "syncing": (hanging.FSYNC, (), "syncing"),
    "closing": (hanging.FLUSH, (), "closing"),
    "reading": (hanging.READ, (), r"reading 64 KiB at \d+ of"),
    "deleting": (hanging.UNLINK, ("--delete",), "deleting"),
}

# One such call at a time: the kernel makes rank 0's wait for rank 1's where that came first.
CHANGES_FOLDER = ("looking", "creating", "deleting")


@pytest.mark.parametrize("call", HANGS)
def test_a_call_that_never_returns(call: str, frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    operation, words, doing = HANGS[call]
    frozen.freeze(operation, "f.1")
    end = until_it_gives_up(small(POSIX, files, "--timeout", "2s", "--output", "r.h5", *words), tmp_path)
    assert end.status == 4, end.err
    ranks = "01" if call in CHANGES_FOLDER else "1"
    assert re.match(
        rf"rank ([{ranks}]) on \S+ has waited for a file system for .* {doing} {re.escape(str(files))}/f\.\1 "
        r"since [\d:]{8} UTC \(",
        end.reason,
    )
    assert frozen.num_frozen > 0
    assert any(re.match(r"rank 1 \(process \d+\) was killed and is still there", line) for line in end.lines), end.err
    if call == "looking":
        return  # there is no result file yet
    complete, reason = status_of(tmp_path / "r.h5")
    assert not complete
    assert reason == end.reason
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["io/phases/state"][0] == (1 if call in ("reading", "deleting") else 2), "what was measured is kept"


def test_a_rank_that_writes_for_others_never_returns(frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    """Those that wait for it notice no later than it does, and are not named."""
    frozen.freeze(hanging.WRITE, "f.", after=1)
    words = ("--movement", "N-M-M", "--io-ranks", "1", "--buffer-size", "64KiB", "--timeout", "2s", "--output", "r.h5")
    end = until_it_gives_up(small(POSIX, files, *words, ranks=3), tmp_path)
    told = re.match(
        r"rank 0 on \S+ has waited for a file system for ([\d.]+) s in write .*, writing 64 KiB", end.reason
    )
    assert told, end.err
    assert float(told[1]) >= 2, "since it began, not until somebody first heard of it"


def test_a_stall_is_told_while_it_lasts(frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    """Rank 0 waits for rank 1, and its file system is the one that does not answer."""
    frozen.freeze(hanging.WRITE, "f.1", after=3)
    with program.Run(small(POSIX, files, "--timeout", "20s"), tmp_path) as run:
        told = run.await_err(
            r"leadline: rank 1 on \S+ has waited for a file system for .*; the run ends after 20 s without progress\n"
        )
        assert "write phase 1 of 2, object 3 of 8, writing 64 KiB at 196608 of" in told[0]
        frozen.answer()
        done = run.finish()
    assert done.status == 0, done.err
    assert re.search(r"leadline: rank 1 on \S+ goes on\n", done.err)


def test_a_signal_while_a_call_never_returns(frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    frozen.freeze(hanging.WRITE, "f.", after=3)
    with (tmp_path / "err").open("w") as err:
        command = small(POSIX, files, "--output", "r.h5", "--timeout", "600s")
        with program.Run(command, tmp_path, stdout=err, stderr=err) as run:
            program.await_that(lambda: frozen.num_frozen > 0)
            run.send(signal.SIGINT)
            assert run.await_status() == 4
            end = End(4, (tmp_path / "err").read_text(encoding="utf-8"))
            frozen.answer()
    assert re.search(
        r"told to stop in write phase 1 of 2, .* \(rank \d on \S+ received SIGINT\)",
        end.reason,
    )
    assert status_of(tmp_path / "r.h5") == (False, end.reason)


@pytest.mark.parametrize("name", ["r.h5", "r.json", "r.sion"])
def test_a_result_file_that_is_never_created(
    name: str, frozen: hanging.HangingFiles, tmp_path: Path, files: Path
) -> None:
    """However many calls a library makes for it, each of them has --timeout."""
    frozen.freeze(hanging.WRITE, ".leadline-", after=1 if name == "r.h5" else 0)
    words = ["link", "--local", "2", "--timeout", "2s", "--wait", "yield", "--message-size", "1KiB"]
    end = until_it_gives_up([program.PROGRAM, *words, "--output", files / name], tmp_path)
    assert end.status == 4, end.err
    place = re.escape(str(files / name))
    assert re.match(rf"rank 0 on \S+ has waited for a file system for .*creating {place} since", end.reason)


@pytest.mark.parametrize("benchmark", ["io", "link"])
def test_a_result_file_that_is_never_written(
    benchmark: str, frozen: hanging.HangingFiles, tmp_path: Path, files: Path
) -> None:
    """The run ends though its file cannot be marked."""
    frozen.freeze(hanging.WRITE, "r.h5")
    command: list[str | Path] = [
        program.PROGRAM,
        benchmark,
        "--local",
        "2",
        "--timeout",
        "2s",
        "--wait",
        "yield",
    ]
    command += ["--output", files / "r.h5"]
    words = {
        "io": [
            "--target",
            tmp_path / "f.%r",
            "--object-size",
            "64KiB",
            "--time-limit",
            "100",
            "--objects",
            "1",
        ]
    }
    end = until_it_gives_up(command + list(words.get(benchmark, ["--message-size", "1KiB"])), tmp_path)
    assert end.status == 4, end.err
    place = re.escape(str(files / "r.h5"))
    assert re.match(
        rf"rank \d on \S+ has waited for a file system for .*writing \S+ \S+ at \d+ of {place} since",
        end.reason,
    )

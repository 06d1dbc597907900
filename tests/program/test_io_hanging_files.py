# SPDX-License-Identifier: Apache-2.0
"""File systems that do not answer: the run says who waits for which call and file, and ends in time."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import hanging_files as hanging
import program
import pytest
from io_runs import OMPIO, POSIX, SIZE, small
from result import status_of, text_of

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class End:
    """How a run ended whose processes may still be there."""

    status: int
    err: str  # and out
    seconds: float = 0  # since the file system answered no more

    @property
    def lines(self) -> list[str]:
        return [line.removeprefix("leadline: ") for line in self.err.splitlines() if line.startswith("leadline: ")]

    @property
    def reason(self) -> str:
        """Why the run failed; without what was told while it lasted, and which processes are left."""
        others = ("; the run ends after", "is still there", "has not ended")
        reasons = [line for line in self.lines if not any(words in line for words in others)]
        assert len(reasons) == 1, self.err
        return reasons[0]


def until_it_gives_up(command: list[str | Path], tmp_path: Path, hangs: Callable[[], object] = lambda: True) -> End:
    """The pipes stay open as long as a process is inside the kernel, so what it prints goes to a file."""
    with (tmp_path / "err").open("w") as err, program.Run(command, tmp_path, stdout=err, stderr=err) as run:
        program.await_that(lambda: bool(hangs()))
        begin = time.monotonic()
        status = run.await_status()
        return End(status, (tmp_path / "err").read_text(encoding="utf-8"), time.monotonic() - begin)


# Behind --timeout: until the result is written and the launcher has ended. It is 3 s; twice that on a loaded machine.
PATIENCE_S = 6


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
    "queued writing": (hanging.WRITE, ("--queue-depth", "4"), "writing 64 KiB at 0 of"),
    "queued reading": (hanging.READ, ("--queue-depth", "4"), "reading 64 KiB at 0 of"),
    "deleting": (hanging.UNLINK, ("--delete",), "deleting"),
}

# Calls of rank 1 that are under way at once; the kernel does writes of one file one after the other.
UNDER_WAY = {"reading": 1, "queued reading": 4}

# One such call at a time: the kernel makes rank 0's wait for rank 1's where that came first.
CHANGES_FOLDER = ("looking", "creating", "deleting")


@pytest.mark.parametrize("call", HANGS)
def test_a_call_that_never_returns(call: str, frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    operation, words, doing = HANGS[call]
    frozen.freeze(operation, "f.1")
    command = small(POSIX, files, "--timeout", "2s", "--output", "r.h5", *words)
    end = until_it_gives_up(command, tmp_path, lambda: frozen.num_frozen)
    assert end.status == 4, end.err
    assert 1.5 < end.seconds < 2 + PATIENCE_S, end.err
    ranks = "01" if call in CHANGES_FOLDER else "1"
    assert re.match(
        rf"rank ([{ranks}]) on \S+ has waited for a file system for .* {doing} {re.escape(str(files))}/f\.\1 "
        r"since [\d:]{8} UTC(, in \w+)? \(it does not answer",
        end.reason,
    )
    assert frozen.num_frozen == UNDER_WAY.get(call, frozen.num_frozen)
    is_left = any(re.match(r"rank 1 \(process \d+\) was killed and is still there", line) for line in end.lines)
    assert is_left == (call != "queued reading"), "a call that is only begun keeps no thread inside the kernel"
    if call == "looking":
        return  # there is no result file yet
    complete, reason = status_of(tmp_path / "r.h5")
    assert not complete
    assert reason == end.reason
    with h5py.File(tmp_path / "r.h5") as file:
        is_later = "reading" in call or call == "deleting"
        assert file["io/phases/state"][0] == (1 if is_later else 2), "what was measured is kept"


# Which open of the file does not answer, and whether its time counts.
OPENS = {"opening": (0, True), "reading a block of": (1, False), "looking at the page cache of": (4, False)}


@pytest.mark.parametrize("doing", OPENS)
def test_the_first_open_is_the_one_that_is_timed(
    doing: str, frozen: hanging.HangingFiles, tmp_path: Path, files: Path
) -> None:
    """Whatever else looks at a file does so later, while the clock stands still."""
    after, counts = OPENS[doing]
    written = program.complete(small(POSIX, files, "--op", "write"), tmp_path)
    assert written.status == 0, written.err
    frozen.freeze(hanging.OPEN, "f.1", after)
    with program.Run(small(POSIX, files, "--op", "read", "--timeout", "8s", "--overwrite"), tmp_path) as run:
        run.await_err(
            r"leadline: rank 1 on \S+ has waited for a file system for \d s in read phase 1 of 1, object 0 of 8, "
            rf"{doing} \S+/f.1 since"
        )
        frozen.answer()
        done = run.finish()
    assert done.status == 0, done.err
    result = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    (phase,) = result["phases"]
    assert (phase["times"]["open"]["max"] >= 2e9) == counts
    assert (phase["wall_ns"] >= 2e9) == counts
    assert result["verified_bytes"] == 2 * 8 * SIZE


METADATA_HANGS = {
    "directory": (hanging.MKDIR, "directory.1.", "mkdir phase 1 of 7", "making a directory in"),
    "file": (hanging.CREATE, "file.1.", "create phase 3 of 7", "creating a file in"),
    "removal": (hanging.UNLINK, "file.1.", "unlink phase 7 of 7", "removing a file in"),
}


@pytest.mark.parametrize("case", METADATA_HANGS)
def test_a_metadata_operation_that_never_returns(
    case: str, frozen: hanging.HangingFiles, tmp_path: Path, files: Path
) -> None:
    operation, name, phase, doing = METADATA_HANGS[case]
    frozen.freeze(operation, name, after=3)
    words = ("--metadata", "--objects", "8", "--target", files / "d.%r", "--timeout", "2s", "--output", "r.json")
    end = until_it_gives_up(POSIX.command(2, "--wait", "yield", *words), tmp_path, lambda: frozen.num_frozen)
    assert end.status == 4, end.err
    assert end.seconds < 2 + PATIENCE_S, end.err
    assert re.match(
        rf"rank 1 on \S+ has waited for a file system for .* in {phase}, object 3 of 8, {doing} "
        rf"{re.escape(str(files))}/d\.1 since [\d:]{{8}} UTC(, in \w+)? \(it does not answer",
        end.reason,
    ), end.err
    assert not json.loads((tmp_path / "r.json").read_text())["complete"]


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


def test_a_server_that_comes_back_is_told_of(frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    """Rank 0 waits for rank 1, and its file system is the one that does not answer: after a quarter of the timeout, and
    for good in the result."""
    frozen.freeze(hanging.WRITE, "f.1", after=3)
    with program.Run(small(POSIX, files, "--timeout", "8s"), tmp_path) as run:
        told = run.await_err(
            r"leadline: rank 1 on \S+ has waited for a file system for (.) s in write phase 1 of 2, object 3 of 8, "
            r"writing 64 KiB at 196608 of \S+/f.1 since [\d:]{8} UTC(, in \w+)?; the run ends after 8 s without"
        )
        assert 2 <= int(told[1]) < 7
        frozen.answer()
        done = run.finish()
    assert done.status == 0, done.err
    assert len(re.findall(r"leadline: rank 1 on \S+ has waited", done.err)) == 1, "once a call"
    assert re.search(r"leadline: rank 1 on \S+ goes on\n", done.err)
    result = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [phase["num_mismatches"] for phase in result["phases"]] == [0, 0]
    (finding,) = (one for one in result["findings"] if one["id"] == "stalled_call")
    assert finding["ranks"] == [1]
    assert re.match(r"write: [\d.]+ s in one call, rank 1 on \S+, 64 KiB at 196608 of \S+/f.1", finding["evidence"])
    assert "The file system kept a call waiting" in done.out


def test_rank_0_is_the_one_that_never_returns(frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    """It says so all the same, with what each rank has and where it is."""
    frozen.freeze(hanging.WRITE, "f.0", after=3)
    command = small(POSIX, files, "--timeout", "2s", "--output", "r.h5")
    end = until_it_gives_up(command, tmp_path, lambda: frozen.num_frozen)
    assert end.status == 4, end.err
    assert end.seconds < 2 + PATIENCE_S, end.err
    assert "object 3 of 8, writing 64 KiB at 196608 of" in end.reason
    assert re.search(
        rf"write 0 was interrupted: .*\n.*\n *0 .* 192.0 KiB +writing 64 KiB at 196608 of {files}/f.0", end.err
    )
    assert status_of(tmp_path / "r.h5") == (False, end.reason)
    with h5py.File(tmp_path / "r.h5") as file:
        phase = json.loads(text_of(file["io/phases/summary"][0]))
    assert [one["bytes"] for one in phase["at_interruption"]] == [3 * SIZE, 8 * SIZE]
    assert phase["at_interruption"][0]["call"].startswith("writing 64 KiB at 196608 of")


def test_the_result_lies_where_nothing_answers(frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    """It stays as it is; what it would have had is told."""
    frozen.freeze(hanging.WRITE, "", after=60)
    words = ("--timeout", "2s", "--output", files / "r.h5", "--objects", "1000", "--time-limit", "50")
    end = until_it_gives_up(small(POSIX, files, *words), tmp_path, lambda: frozen.num_frozen)
    assert end.status == 4, end.err
    assert end.seconds < 2 + PATIENCE_S, end.err
    assert re.match(r"rank [01] on \S+ has waited for a file system for .*, writing .*\(it does not answer", end.reason)
    assert "write 0 was interrupted: what 2 of 2 ranks had moved until then" in end.err


def command_that_works(*words: str | Path) -> str:
    """Why it does not; empty where it does."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{words[0]}: {done.stderr.strip()}"


@pytest.fixture
def device(files: Path, tmp_path: Path) -> Iterator[Path]:
    """The folder of the files on a disk of its own, for root."""
    image = tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(64 << 20)
    for tool in ("mkfs.ext4", "mount", "fsfreeze"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    why = command_that_works("mkfs.ext4", "-q", "-F", image) or command_that_works("mount", "-o", "loop", image, files)
    if why:
        pytest.skip(why)
    try:
        yield files
    finally:
        # The kernel lets go of the files of a queue a moment behind the end of its process.
        program.await_that(lambda: not command_that_works("umount", files))


@contextlib.contextmanager
def frozen_device(files: Path) -> Iterator[None]:
    """Nothing is written there until the end."""
    subprocess.run(["fsfreeze", "-f", files], check=True)
    try:
        yield
    finally:
        subprocess.run(["fsfreeze", "-u", files], check=True)


def until_it_gives_up_frozen(command: list[str | Path], device: Path, tmp_path: Path) -> tuple[End, int]:
    """Once something is written the disk freezes; with it go on those of the run that stay inside the kernel, which are
    so many."""
    with (tmp_path / "err").open("w") as err, program.Run(command, tmp_path, stdout=err, stderr=err) as run:
        program.await_that(lambda: any(file.stat().st_size > SIZE for file in device.glob("f*")))
        with frozen_device(device):
            begin = time.monotonic()
            status = run.await_status()
            end = End(status, (tmp_path / "err").read_text(encoding="utf-8"), time.monotonic() - begin)
            left = run.processes()
        for pid in left:
            program.await_end(pid, 10)
        assert run.processes() == []
    return end, len(left)


ENDLESS = ("--wait", "yield", "--object-size", "4KiB", "--objects", "1000000", "--time-limit", "40", "--timeout", "2s")


@pytest.mark.parametrize(("call", "words"), [("pwrite64", ()), ("io_uring_enter", ("--queue-depth", "4"))])
def test_a_frozen_disk(call: str, words: tuple[str, ...], device: Path, tmp_path: Path) -> None:
    """Both ranks are inside the kernel, where no signal ends them."""
    command = POSIX.command(2, *ENDLESS, *words, "--output", "r.h5", "--target", device / "f.%r")
    end, num_left = until_it_gives_up_frozen(command, device, tmp_path)
    assert end.status == 4, end.err
    assert end.seconds < 2 + PATIENCE_S, end.err
    assert re.match(
        rf"rank [01] on \S+ has waited for a file system for .* writing 4 KiB at \d+ of {device}/f.[01] since .*, "
        rf"in {call} \(it does not answer; 1 other rank is in such a call, too\)",
        end.reason,
    )
    assert num_left == 2, end.err
    assert "write 0 was interrupted: what 2 of 2 ranks had moved until then" in end.err
    assert status_of(tmp_path / "r.h5") == (False, end.reason)


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


def test_of_ranks_that_write_together_that_one_is_named_which_is_in_the_kernel(device: Path, tmp_path: Path) -> None:
    """The other two wait for it in the same call of the library, which chooses who writes for all."""
    words = ("--movement", "N-1", "--collective", "--allow-fragile", "--output", "r.json", "--target", device / "f")
    end, num_left = until_it_gives_up_frozen(OMPIO.command(3, *ENDLESS, *words), device, tmp_path)
    assert end.status == 4, end.err
    told = re.match(
        rf"rank (\d) on \S+ has waited for a file system for .* writing collectively 4 KiB at \d+ of {device}/f "
        r"since .*, in p?writev?\w* \(it does not answer; 2 other ranks are in such calls, too\)",
        end.reason,
    )
    assert told, end.err
    assert num_left == 1, "the one that is named"


def test_hosts_of_which_one_waits_for_its_file_system(
    frozen: hanging.HangingFiles, tmp_path: Path, files: Path
) -> None:
    """Their launcher does not wait for it."""
    launch = tmp_path / "launch"
    launch.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n', encoding="utf-8")
    launch.chmod(0o755)
    frozen.freeze(hanging.WRITE, "f.1", after=3)
    start = [program.PROGRAM, "io", "--hosts", "a,b", "--launch", launch, "--backend", "posix", "--wait", "yield"]
    words = ["--objects", "8", "--object-size", "64KiB", "--target", files / "f.%r", "--timeout", "2s"]
    end = until_it_gives_up([*start, *words, "--output", "r.h5"], tmp_path, lambda: frozen.num_frozen)
    assert end.status == 4, end.err
    assert end.seconds < 2 + PATIENCE_S, end.err
    assert re.match(r"rank 1 on \S+ has waited for a file system for .*, writing 64 KiB at 196608 of", end.reason)
    assert "leadline: rank 1 on b has not ended." in end.err
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

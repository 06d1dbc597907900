# SPDX-License-Identifier: Apache-2.0
"""One run of the program under the thread sanitizer, which must have nothing to report.

usage: python tests/threads/run_case.py CASE. LEADLINE_PROGRAM and RACE_PROGRAM are programs of the preset tsan.
Status: 0 no race and the run ended as it should, 1 not so, 77 the sanitizer does not start here.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program

NUM_RANKS = 4
TIMEOUT_S = 240
SHARED = ["--local", str(NUM_RANKS), "--wait", "block", "--output"]
LINK = ["link", "--messages", "20", *SHARED]
# Commands that end by themselves, with rows in the file and verdicts. Each writes into the folder of its own.
SHORT = {
    "link": [
        [*LINK, "r.h5", "--message-size", "1,1KiB", "--all-to-all", "around", "--verify"],
        [*LINK, "r.sion", "--row-path", "funnel"],
        [*LINK, "r.json"],
    ],
    "topology": [["topology", "--message-size", "1KiB", "--iterations", "10", *SHARED, "r.h5"]],
    "bisection": [["bisection", "--message-size", "1KiB", "--rounds", "20", "--baseline-pairs", "1", *SHARED, "r.h5"]],
    "io": [
        ["io", "--movement", "N-M-M", "--io-ranks", "2", "--object-size", "4KiB", "--objects", "100", *SHARED, "r.h5"],
    ],
    "diagnose": [
        ["simulate", "link", "--topology", "fat-tree:8x8", "--random-faults", "2", "--output", "r.h5"],
        ["diagnose", "r.h5"],
    ],
}
# Goes on for a minute.
ENDLESS = {
    "link": ["--message-size", "1000-1060+1", "--messages", "5000", "--batches", "500"],
    "topology": ["--message-size", "1000", "--pattern", "complete2", "--duration", "100s"],
    "bisection": ["--message-size", "1000-1060+1"],
    "io": ["--movement", "N-M-M", "--io-ranks", "2", "--no-file", "--object-size", "4KiB", "--objects", "20000000"],
}
# Whom a kill takes in which run; rank 0 marks the file as incomplete, and rank 1 where rank 0 is gone.
KILLED = [
    ("link", "r.h5", 0),
    ("link", "r.sion", 2),
    ("topology", "r.h5", 2),
    ("bisection", "r.json", 3),
    ("io", "r.h5", 0),
]
# Seconds of work, which go on without a rank.
GOES_ON = {
    "link": ["--message-size", "1000-1007+1", "--messages", "1000", "--retest", "0"],
    "topology": ["--message-size", "1000", "--pattern", "complete2", "--duration", "3s"],
    "bisection": ["--message-size", "1000", "--precision", "0", "--rounds", "20000", "--time-limit", "3s"],
}
# A rank that is stopped is given up soon.
IMPATIENT = ["--timeout", "2s"]
IS_UNDER_WAY = {
    "link": r" 1/3 [^\n]*\n",
    "topology": r"\n +1 +complete2 ",
    "bisection": r"\n +\d+ +random ",
    "io": r"write: ",
}


def ranks_of(run: program.Run) -> list[int]:
    """The processes that the launcher has started, in order of their ranks."""
    return sorted(pid for pid in run.processes() if pid != run.pid)


def wrong_in(
    words: Sequence[str | Path], status: int, folder: Path, act: Callable[[program.Run], None] | None = None
) -> list[str]:
    """What is wrong with this run, on which `act` acts: another exit status, or a report of the sanitizer."""
    reports = Path(tempfile.mkdtemp(dir=folder))
    options = f"log_path={reports}/report:ignore_noninstrumented_modules=1:exitcode=0"
    with program.Run(words, folder, {"TSAN_OPTIONS": options}, timeout=TIMEOUT_S) as run:
        if act:
            act(run)
        done = run.finish()
    wrong = [path.read_text() for path in sorted(reports.iterdir())]
    if "unexpected memory mapping" in "".join([*wrong, done.err]):
        print("the thread sanitizer does not start here: vm.mmap_rnd_bits is above 28")
        sys.exit(77)
    if done.status != status:
        wrong.append(f"{words}: status {done.status}, not {status}:\n{done.err}")
    return wrong


def hit(benchmark: str, folder: Path, act: Callable[[program.Run], None], status: int, *more: str) -> list[str]:
    """What is wrong with a run on which `act` acts in the middle."""

    def wait_and_act(run: program.Run) -> None:
        run.await_err(IS_UNDER_WAY[benchmark])
        act(run)

    (folder / benchmark).mkdir(exist_ok=True)
    return wrong_in(
        [program.PROGRAM, benchmark, *SHARED, *more, "--overwrite"], status, folder / benchmark, wait_and_act
    )


def ended(benchmark: str, folder: Path, act: Callable[[program.Run], None], *more: str) -> list[str]:
    """What is wrong with an endless run that is ended in the middle."""
    return hit(benchmark, folder, act, 4, *more, *ENDLESS[benchmark], "--strict-ranks")


def left_out(folder: Path) -> list[str]:
    """A rank that is killed, and one that is stopped, without which the run goes on."""
    wrong = []
    for benchmark, words in GOES_ON.items():
        for number in (signal.SIGKILL, signal.SIGSTOP) if benchmark == "link" else (signal.SIGKILL,):
            act = lambda run, number=number: os.kill(ranks_of(run)[1], number)  # noqa: E731
            wrong += hit(benchmark, folder, act, 1, "r.h5", *IMPATIENT, *words)
    return wrong


def killed(folder: Path) -> list[str]:
    """A rank in the middle."""
    wrong = []
    for benchmark, output, victim in KILLED:
        wrong += ended(benchmark, folder, lambda run, rank=victim: os.kill(ranks_of(run)[rank], signal.SIGKILL), output)
    return wrong


def stopped(folder: Path) -> list[str]:
    """A rank that says nothing any more."""
    wrong = []
    for benchmark in ENDLESS:
        wrong += ended(benchmark, folder, lambda run: os.kill(ranks_of(run)[1], signal.SIGSTOP), "r.h5", *IMPATIENT)
    return wrong


def interrupted(folder: Path) -> list[str]:
    """Ctrl-C."""
    wrong = []
    for benchmark in ENDLESS:
        wrong += ended(benchmark, folder, lambda run: os.killpg(run.pid, signal.SIGINT), "r.h5")
    return wrong


def race(folder: Path) -> list[str]:
    """The sanitizer sees a race that is there."""
    wrong = wrong_in([os.environ["RACE_PROGRAM"]], 0, folder)
    return [] if any("data race" in report for report in wrong) else [f"no race is reported: {wrong}"]


def finished(case: str, folder: Path) -> list[str]:
    """Commands that end by themselves."""
    return [sentence for words in SHORT[case] for sentence in wrong_in([program.PROGRAM, *words], 0, folder)]


def main() -> int:
    """The program."""
    case = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        special = {"race": race, "killed": killed, "stopped": stopped, "left_out": left_out, "interrupted": interrupted}
        wrong = special[case](Path(folder)) if case in special else finished(case, Path(folder))
    print("\n".join(wrong) or "no race")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

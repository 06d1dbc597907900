# SPDX-License-Identifier: Apache-2.0
"""Damaged copies of small files, made from a seed, and what the commands do with them.

As a program it goes through as many as you like, of the files in a folder that have the names of TRIED below
(link.h5, link.sion, topology.h5, bisection.h5, io.h5 ...), and prints the outcomes that are not fine. For SION files
the program `leadline` has to be on the PATH:

    .venv/bin/python tests/analysis/mutations.py FOLDER --count 20000
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ODD_NUMBERS = (0, 1, 2, 7, 255, 4095, 65535, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1,
               1 << 63, (1 << 64) - 1)  # fmt: skip
MOST_SECONDS = 10.0
MOST_BYTES = 1 << 30
_STUCK_AFTER_S = 120
_LETTERS = ("-a", "-A", "-b", "-B", "-d", "-D", "-g")

# What is tried with a file of each kind: FILE is the damaged one, DIR the folder with the sound ones. Quick ones first.
_LINK = (
    ("export", "FILE", "--csv", "-o", "-"),
    ("export", "FILE", "--bad-links", "-o", "-"),
    ("report", "FILE", "-o", "-"),
    ("cost", "FILE", "--pattern", "ring", "--message-size", "8", "--repeat", "1"),
    ("pingponganalysis", *_LETTERS, "FILE"),
    ("linktest_report", "-i", "FILE", "-o", "sheet.html"),
    ("report", "FILE", "-o", "sheet.pdf", "--overwrite"),
)
TRIED = {
    "link": _LINK,
    "packed": _LINK,
    "linktest": tuple(words for words in _LINK if words[0] != "cost"),
    "topology": (
        ("export", "FILE", "--csv", "-o", "-"),
        ("export", "FILE", "--csv", "--channels", "-o", "-"),
        ("report", "FILE", "-o", "-"),
        ("report", "FILE", "-o", "sheet.png", "--overwrite"),
    ),
    "bisection": (
        ("export", "FILE", "--csv", "-o", "-"),
        ("export", "FILE", "--csv", "--channels", "-o", "-"),
        ("report", "FILE", "-o", "-"),
        ("simulate", "bisection", "--topology", "fat-tree:4x4", "--measured", "FILE"),
        ("report", "FILE", "-o", "sheet.png", "--overwrite"),
    ),
    "io": (
        ("export", "FILE", "--csv", "-o", "-"),
        ("export", "FILE", "--csv", "--ranks", "-o", "-"),
        ("report", "FILE", "-o", "-"),
        ("report", "FILE", "-o", "sheet.ps", "--overwrite"),
    ),
    "simulation": (("report", "DIR/bisection.h5", "--simulated", "FILE", "-o", "-"),),
    "pattern": (
        (
            "cost",
            "DIR/link.h5",
            "--message-size",
            "8",
            "--repeat",
            "1",
            "--pattern",
            "FILE",
        ),
    ),
    "cables": (
        (
            "simulate",
            "bisection",
            "--topology",
            "FILE",
            "--ranks",
            "4",
            "--rounds",
            "5",
        ),
    ),
    "mask": (("pingponganalysis", "-m", "FILE", "DIR/link.h5"),),
}


@dataclass(frozen=True)
class Outcome:
    """What became of one damaged file."""

    seed: int
    words: tuple[str, ...]
    status: int  # -1 = a traceback
    errors: str  # what stood on standard error
    seconds: float

    @property
    def is_fine(self) -> bool:
        """A status that says what there is, in one line or none."""
        lines = [line for line in self.errors.splitlines() if not line.startswith("pingponganalysis: ")]
        return (
            self.status in (0, 2, 3, 4)
            and len(lines) == (0 if self.status == 0 else 1)
            and self.seconds <= MOST_SECONDS
        )


def mutated(contents: bytes, chance: random.Random) -> bytes:
    """A damaged copy: some changes, mostly near the beginning, where files have what describes the rest."""
    damaged = bytearray(contents)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        _damage(damaged, chance)
    return bytes(damaged)


def _damage(damaged: bytearray, chance: random.Random) -> None:
    size = len(damaged)
    if size == 0:
        return
    place = chance.randrange(min(size, chance.choice((512, 4096, 1 << 14, size))))
    kind = chance.randrange(8)
    if kind <= 2:
        damaged[place] ^= chance.randrange(1, 256)
    elif kind == 3:
        width = chance.choice((1, 2, 4, 8))
        number = chance.choice(ODD_NUMBERS) % (1 << 8 * width)
        damaged[place : place + width] = number.to_bytes(width, chance.choice(("little", "big")))
    elif kind == 4:
        length = chance.choice((1, 8, 64, 1024))
        damaged[place : place + length] = bytes([chance.choice((0, 255, 32))]) * len(damaged[place : place + length])
    elif kind == 5:
        source, length = chance.randrange(size), chance.choice((4, 8, 64, 512))
        piece = damaged[source : source + length]
        damaged[place : place + len(piece)] = piece
    elif kind == 6:
        _damage_text(damaged, chance)
    else:
        del damaged[chance.randrange(size) :]


def _damage_text(damaged: bytearray, chance: random.Random) -> None:
    """A digit, a letter or a quote: what is read as JSON, or as a name."""
    start = chance.randrange(len(damaged))
    letter = re.compile(rb"[0-9A-Za-z]").search(damaged, start)
    if letter:
        damaged[letter.start()] = chance.choice(b'0189-.eE"{}[],:\\\x00\xff\x80Zn')


def tried(folder: Path, path: Path, seed: int, names: tuple[str, ...] = ()) -> Outcome:
    """Damages one of the folder's files into `path`, and gives it to one of the commands, in this process and in the
    current folder.
    """
    chance = random.Random(seed)
    files = sorted(file for file in folder.iterdir() if file.stem in TRIED and file.stem in (names or TRIED))
    source = chance.choices(files, [3 if file.suffix == ".h5" else 1 for file in files])[0]
    commands = TRIED[source.stem]
    # The first ones are quick.
    words = commands[min(int(chance.random() ** 1.7 * len(commands)), len(commands) - 1)]
    path.write_bytes(mutated(source.read_bytes(), chance))
    started = time.monotonic()
    status, errors = run(words, path, folder)
    return Outcome(seed, (source.name, *words), status, errors, time.monotonic() - started)


def run(words: Sequence[str], path: Path, folder: Path) -> tuple[int, str]:
    """Status (-1: a traceback) and standard error of a command in this process, and in the current folder."""
    given = [word.replace("FILE", str(path)).replace("DIR", str(folder)) for word in words]
    module = importlib.import_module(f"leadline.cli.{given[0]}")
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            status = module.main(given[1:])
        except Exception as error:
            return -1, f"{type(error).__name__}: {error}"
    return int(status), errors.getvalue()


def _work(folder: Path, first: int, end: int) -> None:
    """Tells each outcome in a line."""
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for seed in range(first, end):
            print(f"begin {seed}", flush=True)
            signal.alarm(_STUCK_AFTER_S)
            outcome = tried(folder, Path(scratch) / "damaged", seed)
            peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
            verdict = "fine" if outcome.is_fine and peak_bytes < MOST_BYTES else "bad"
            is_unforeseen = "something unforeseen" in outcome.errors
            kind = f"{outcome.status}{' unforeseen' if is_unforeseen else ''}"
            print(f"end {verdict}\t{kind}\t{peak_bytes}\t{outcome.seconds:.1f}\t{seed} {' '.join(outcome.words)}: "
                  f"{outcome.errors.strip()!r}", flush=True)  # fmt: skip


def _lines(folder: Path, first: int, end: int) -> Iterator[str]:
    """Those of a worker, and of further ones where it dies or hangs."""
    while first < end:
        words = [
            sys.executable,
            __file__,
            str(folder),
            "--worker",
            str(first),
            str(end),
        ]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, errors="replace") as worker:
            assert worker.stdout is not None
            for line in worker.stdout:
                if line.startswith("begin"):
                    first = int(line.split()[1]) + 1
                else:
                    yield line.rstrip("\n")
        if worker.returncode == 0:
            return
        kind = "hang" if worker.returncode == -signal.SIGALRM else f"died {worker.returncode}"
        yield f"end bad\t{kind}\t0\t0\t{first - 1}"


def main() -> int:
    """Counts outcomes and prints those that are not fine; status 1 where there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--worker", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.folder.absolute()
    if options.worker:
        _work(folder, *options.worker)
        return 0
    counts: Counter[str] = Counter()
    peak, slowest, num_bad = 0, 0.0, 0
    for line in _lines(folder, options.first, options.first + options.count):
        verdict, kind, peak_bytes, seconds, what = line.split("\t", 4)
        counts[kind] += 1
        peak, slowest = max(peak, int(peak_bytes)), max(slowest, float(seconds))
        if verdict != "end fine" or "unforeseen" in kind:
            num_bad += verdict != "end fine"
            print(f"{kind}\t{seconds} s\t{what}", flush=True)
        if counts.total() % 500 == 0:
            print(counts.total(), dict(counts), file=sys.stderr, flush=True)
    print(
        dict(sorted(counts.items())),
        f"peak {peak >> 20} MiB, slowest {slowest:.1f} s, not fine {num_bad}",
    )
    return 1 if num_bad else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The command line of `leadline bisection`: what it refuses, what it plans, what it explains, what it overwrites."""

from __future__ import annotations

import re
from pathlib import Path

import program
import pytest
from program import Leadline

# Words after `leadline bisection`, and what the line must name.
REFUSED = {
    "unknown option": (["--messages", "5"], ["--messages"]),
    "unknown pattern": (["--pattern", "blob"], ["--pattern", "blob", "halves"]),
    "hole in the list": (["--pattern", "random,,halves"], ["--pattern", "''"]),
    "a shift by everybody": (["--local", "4", "--pattern", "shift:4"], ["--pattern", "shift:4"]),
    "a shift by nothing": (["--pattern", "shift:0"], ["--pattern", "shift:0"]),
    "random twice": (["--local", "2", "--pattern", "random,random"], ["random", "twice"]),
    "twice under two names": (["--local", "4", "--pattern", "shift:1,shift-each"], ["shift:1", "twice"]),
    "a tornado of one group": (["--local", "4", "--pattern", "tornado:4"], ["--pattern", "tornado:4"]),
    "one rank": (["--local", "1"], ["1 rank"]),
    "one of one host": (["--local", "4", "--active-ranks-per-host", "1"], ["1 rank", "more ranks of a host"]),
    "no size": (["--message-size", "0"], ["--message-size", "1 B"]),
    "SION": (["--output", "r.sion"], ["r.sion", ".h5"]),
    "a seed of nothing": (["--pattern", "halves", "--seed", "3"], ["--seed", "--pattern"]),
    "a search from nothing": (["--pattern", "halves", "--worst", "3"], ["--worst", "--pattern"]),
    "repeats of random ones": (["--repeat", "3"], ["--repeat", "--rounds"]),
    "more than precise": (["--precision", "101%"], ["--precision", "101%", "100 %"]),
    "precision of a few": (["--precision", "1%", "--rounds", "10"], ["--precision", "--rounds"]),
    "verifying zeros": (["--verify", "--fill", "zero"], ["--verify", "--fill zero"]),
    "verifying on a GPU": (["--verify", "--allocator", "cuda"], ["--verify", "--allocator cuda"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(leadline: Leadline, tmp_path: Path, case: str) -> None:
    words, named = REFUSED[case]
    leadline("bisection", *words).assert_refused(2, *named)
    assert list(tmp_path.iterdir()) == [], "a refused command line left a file"


def test_plan(leadline: Leadline) -> None:
    done = leadline("bisection", "--dry-run", "--ranks", "6", "--ranks-per-host", "2", "--pattern", "random,shift:2")
    assert (done.status, done.err) == (0, "")
    assert "Bisection test of 6 ranks on 3 hosts\n" in done.out
    assert "\n  shift:2: 0>2 1>3 2>4 3>5 4>0 5>1\n" in done.out
    first = re.search(r"\n  random 0: (.*)\n", done.out)
    assert first
    pairs = re.findall(r"(\d)-(\d)", first[1])
    assert sorted(int(rank) for pair in pairs for rank in pair) == list(range(6))
    assert all(int(one) // 2 != int(other) // 2 for one, other in pairs)
    assert all(word in done.out for word in ("time", "memory", "file"))


def test_a_precision_ends_before_what_the_dry_run_tells(leadline: Leadline, tmp_path: Path) -> None:
    more = ["--local", "4", "--wait", "yield", "--message-size", "8", "--precision", "30%", "--rounds", "2000"]
    assert leadline("bisection", *more, "--output", "r.h5").status in (0, 1)
    plan = leadline("bisection", *more, "--dry-run").out
    assert "\n  time      at most " in plan
    assert "\n  file      at most " in plan
    assert (tmp_path / "r.h5").stat().st_size <= program.bytes_told(plan) * 1.1


def test_plan_of_very_many(leadline: Leadline) -> None:
    words = ["--dry-run", "--ranks", "1048576", "--ranks-per-host", "64", "--active-ranks-per-host", "4", "--pattern"]
    done = leadline("bisection", *words, "random,halves,bit-reversal")
    assert (done.status, done.err) == (0, "")
    assert "1048576 ranks on 16384 hosts, of which 65536 take part\n" in done.out
    assert "\n  random 2: 65536 connections, the first from rank 0 to " in done.out

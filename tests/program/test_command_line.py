# SPDX-License-Identifier: Apache-2.0
"""Command lines: what is refused and in which words, help, dispatch to other programs, plans."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from program import Leadline

# Words after `leadline link`, and what the line must name.
REFUSED = {
    "unknown option": (["--frobnicate"], ["--frobnicate"]),
    "unknown short option": (["-z"], ["-z"]),
    "a word too many": (["16MiB"], ["16MiB"]),
    "abbreviated option": (["--mess", "5"], ["--mess"]),
    "missing value": (["--message-size"], ["--message-size"]),
    "value for a switch": (["--verify=maybe"], ["--verify"]),
    "option given twice": (["--messages", "5", "--messages", "6"], ["--messages"]),
    "switch given twice": (["--serial", "--serial"], ["--serial"]),
    "empty value": (["--messages", ""], ["--messages"]),
    "negative size": (["--message-size", "-5"], ["-5"]),
    "negative size, joined": (["--message-size=-5"], ["-5"]),
    "huge size": (["--message-size", "2TiB"], ["2TiB", "1 TiB"]),
    "size beyond 64 bits": (["--message-size", "99999999999999999999999"], ["99999999999999999999999"]),
    "size beyond 64 bits by its unit": (["--message-size", "99999999999999TiB"], ["99999999999999TiB"]),
    "no size at all": (["--message-size", "big"], ["big"]),
    "unknown unit": (["--message-size", "5MiBit"], ["5MiBit"]),
    "half a byte": (["--message-size", "0.5B"], ["0.5B"]),
    "descending range": (["--message-size", "4MiB-1B"], ["4MiB-1B", "descends"]),
    "range from zero": (["--message-size", "0-8"], ["0-8"]),
    "hole in a list": (["--message-size", "1,,2"], ["size"]),
    "no messages": (["--messages", "0"], ["--messages", "from 1"]),
    "negative count": (["--messages", "-3"], ["--messages", "-3"]),
    "fraction of a message": (["--messages", "1.5"], ["--messages", "1.5"]),
    "absurd count": (["--messages", "9999999999999999999999"], ["--messages"]),
    "no window": (["--direction", "unidirectional", "--window", "0"], ["--window"]),
    "no local processes": (["--local", "0"], ["--local"]),
    "too many local processes": (["--local", "5000"], ["--local", "4096"]),
    "no repeats": (["--repeat", "0"], ["--repeat"]),
    "unknown direction": (["--direction", "sideways"], ["--direction", "sideways", "bidirectional"]),
    "both directions at once": (["--direction", "unidirectional,bidirectional"], ["unidirectional,bidirectional"]),
    "direction given twice": (
        ["--direction", "unidirectional", "--direction", "bidirectional"],
        ["--direction"],
    ),
    "unknown wait": (["--wait", "sleep"], ["--wait", "sleep", "spin"]),
    "unknown fill": (["--fill", "ones"], ["--fill", "ones", "ramp"]),
    "unknown allocator": (["--allocator", "heap"], ["heap", "aligned"]),
    "unknown format": (["--format", "csv"], ["--format", "csv", "hdf5"]),
    "negative time": (["--min-time", "-1"], ["--min-time", "-1"]),
    "unknown unit of time": (["--min-time", "3weeks"], ["--min-time", "3weeks"]),
    "infinite time": (["--timeout", "inf"], ["--timeout", "inf"]),
    "timeout too short": (["--timeout", "1ms"], ["--timeout", "1ms"]),
    "round zero": (["--only-rounds", "0"], ["--only-rounds", "'0'"]),
    "descending rounds": (["--only-rounds", "3-1"], ["--only-rounds", "3-1"]),
    "a round that is not there": (["--local", "4", "--only-rounds", "4"], ["4"]),
    "empty output": (["--output", ""], ["--output"]),
    "name without a format": (["--output", "result"], ["result", ".h5"]),
    "contradicting format": (["--output", "result.h5", "--format", "json"], ["result.h5", "json"]),
    "output and no format": (["--output", "result.h5", "--format", "none"], ["result.h5", "none"]),
    # Options without effect.
    "window of a ping-pong": (["--window", "5"], ["--window"]),
    "seed of nothing": (["--seed", "5"], ["--seed"]),
    "ranks of a real run": (["--ranks", "5"], ["--ranks"]),
    "ranks and local": (["--dry-run", "--ranks", "5", "--local", "3"], ["--local"]),
    "output of a plan": (["--dry-run", "--output", "plan.h5"], ["--output"]),
    "overwriting a new name": (["--overwrite"], ["--overwrite"]),
    "JSON twice": (["--json", "--format", "json"], ["--json", "--format"]),
    "JSON and a file": (["--json", "r.json", "--output", "r.h5"], ["--json", "--output"]),
    "JSON of a plan": (["--dry-run", "--json"], ["--dry-run"]),
    "strict without a diagnosis": (["--strict", "--no-diagnosis"], ["--strict", "--no-diagnosis"]),
    "strict beside a health check": (["--strict", "--health-check"], ["--strict", "--health-check"]),
    "more batches than messages": (["--messages", "3", "--batches", "5"], ["--batches", "--messages"]),
    "transport with a stray argument": (["--transport", "tcp:eth0", "--local", "2"], ["tcp"]),
    "model without a file": (["--transport", "model", "--local", "2"], ["model"]),
    "model with a missing file": (["--transport", "model:none.json", "--local", "2"], ["none.json", "No such file"]),
    "unknown transport": (["--transport", "pigeon"], ["pigeon", "tcp"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(leadline: Leadline, tmp_path: Path, case: str) -> None:
    words, named = REFUSED[case]
    leadline("link", *words).assert_refused(2, *named)
    assert list(tmp_path.iterdir()) == [], "a refused command line left a file"


def test_refused_commands(leadline: Leadline) -> None:
    for words in ([], ["lnk"], ["../link"], ["-x"], ["transports", "tcp"]):
        leadline(*words).assert_refused(2)


def test_what_was_meant_is_said(leadline: Leadline) -> None:
    for words, meant in (
        (["link", "--size", "1MiB"], "Did you mean --message-size?"),
        (["diagnose", "--size", "1MiB", "r.h5"], "Did you mean --message-size?"),
        (["compare", "a.h5", "b.h5", "--size=1KiB"], "Did you mean --message-size?"),
        (["link", "--retest-slowest", "3"], "Did you mean --retest?"),
        (["link", "--max-rounds", "3"], "Did you mean --rounds?"),
        (["bisection", "--per-host", "1"], "Did you mean --active-ranks-per-host?"),
        (["bisection", "--slow-below", "80%"], "Did you mean --threshold?"),
        (["io", "--slow-below", "80%"], "Did you mean --threshold?"),
        (["topology", "--topology", "ring"], "Did you mean --pattern?"),
        (["link", "--mesages", "3"], "Did you mean --messages?"),
        (["info", "--jsno", "r.h5"], "Did you mean --json?"),
        (["link", "--frobnicate"], "See leadline link --help"),
        (["lnik"], "Did you mean leadline link?"),
        (["topo"], "Did you mean leadline topology?"),
        (["diagnose", "--json", "r.h5"], "cannot read 'r.h5'"),
        (
            [],
            "There are check, link, topology, bisection, congestion, collective, io, diagnose, compare, profile, "
            "simulate link, convert, info, partners, cables, patterns, schema, ",
        ),
    ):
        done = leadline(*words)
        assert (done.status, done.out) == (2, "")
        assert meant in done.complaint


def test_help(leadline: Leadline) -> None:
    assert "link" in leadline("--help").out
    assert leadline("--help").out == leadline("help").out
    for words in (["link"], ["simulate", "link"], ["transports"]):
        assert leadline("help", *words).out == leadline(*words, "--help").out != ""
    assert "Usage" in leadline("transports", "--help").out
    text = leadline("link", "--help").out
    for words in (["link", "-h"], ["link", "--local", "3", "--help"]):
        assert leadline(*words).out == text
    assert re.fullmatch(r"leadline \d+\.\d+\.\d+( \S+)?\n", leadline("--version").out)
    assert all(leadline(*words).status == 0 for words in (["--help"], ["link", "--help"], ["--version"]))


def test_other_programs_are_commands(leadline: Leadline, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "leadline-sound"
    script.write_text('#!/bin/sh\nprintf "<%s>" "$@"\nexit 7\n')
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    assert leadline("sound", env=path).status == 2, "it is not executable yet"
    script.chmod(0o755)
    done = leadline("sound", "--depth", "a b", "", env=path)
    assert (done.status, done.out) == (7, "<--depth><a b><>")
    assert "sound" in leadline("--help", env=path).out


def test_other_program_that_cannot_start(leadline: Leadline, tmp_path: Path) -> None:
    script = tmp_path / "leadline-broken"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    done = leadline("broken", env={"PATH": str(tmp_path)})
    assert done.status == 3
    assert "leadline-broken (/no/such/interpreter is not on this machine)" in done.complaint


def test_transports_are_listed(leadline: Leadline) -> None:
    done = leadline("transports")
    assert done.status == 0
    names = [line.split()[0] for line in done.out.splitlines() if line[0] != " "]
    assert names == ["tcp", "mpi", "ucx", "libfabric", "verbs", "psm2", "portals4", "cuda", "nccl", "model"]


def test_plan_in_full(leadline: Leadline, tmp_path: Path) -> None:
    done = leadline("link", "--dry-run", "--ranks", "5", "--message-size", "1KiB,1MiB", "--repeat", "2")
    assert (done.status, done.err) == (0, "")
    assert "5 ranks: 5 rounds x 2 message sizes x 2 repeats" in done.out
    pairs = [frozenset(pair) for pair in re.findall(r" (\d)-(\d)", done.out)]
    assert len(pairs) == len(set(pairs)) == 10
    assert all(word in done.out for word in ("time", "memory", "file"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ranks", ["1", "2", "64", "1048576", "67108864"])
def test_plan_of_any_size(leadline: Leadline, ranks: str) -> None:
    done = leadline("link", "--dry-run", "--ranks", ranks, *(["--only-rounds", "1-3"] if len(ranks) > 7 else []))
    assert done.status == 0
    assert f"Link test of {ranks} rank" in done.out


def test_plan_of_local_ranks_follows_the_options(leadline: Leadline) -> None:
    usual = leadline("link", "--dry-run", "--local", "6").out
    assert "6 ranks: 5 rounds" in usual
    assert "15 rounds" in leadline("link", "--dry-run", "--local", "6", "--serial").out
    assert "2 rounds" in leadline("link", "--dry-run", "--local", "6", "--only-rounds", "4,2").out
    shuffled = leadline("link", "--dry-run", "--local", "6", "--shuffle-rounds", "--seed", "3").out
    assert shuffled != usual
    assert shuffled == leadline("link", "--dry-run", "--local", "6", "--shuffle-rounds", "--seed", "3").out

# SPDX-License-Identifier: Apache-2.0
"""Whether the diagnosis names what was planted and nothing else: a few cases of each family, always the same ones.

`benchmarks/diagnosis/judges.py` plays as many as wanted, and families that take too long here.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import program
import pytest
from families import FAMILIES, NEED_NOT_BE_NAMED, SLOW, write_case
from findings import judged
from score import Score, score

NUM_CASES, NUM_SOUND_CASES = 3, 6  # a sound cluster is alarmed seldom

# What the diagnosis cannot do yet. A case that succeeds must be taken from this list: it is strict.
FAILS = {
    "end of a line, not told": "of large messages ranks or groups of a row of switches are named one by one",
    "ports, contention, no tree": "a port of half its width is no slower than sound ones that have several flows",
    "patterns, uplink, not told": "hosts that met few of their neighbours are left out of the group, or named alone",
}


def scores(family: str, folder: Path) -> list[Score]:
    got = []
    num = NUM_SOUND_CASES if family.startswith("clean") else NUM_CASES
    for seed in range(1, num + 1):
        files = write_case(family, seed, folder)
        got.append(score(judged(program.PROGRAM, files).findings, json.loads(files.truth.read_text())))
    return got


def case(family: str) -> Any:
    """Marked where it fails; an error of the simulation is no such failure."""
    fails = pytest.mark.xfail(reason=FAILS.get(family, ""), strict=True, raises=AssertionError)
    return pytest.param(family, marks=[fails] if family in FAILS else [], id=family)


@pytest.mark.parametrize("family", [case(family) for family in FAMILIES if family not in SLOW])
def test_what_is_planted_is_named_and_nothing_else(family: str, tmp_path: Path) -> None:
    got = scores(family, tmp_path)
    assert [one.false for one in got] == [()] * len(got)
    if family not in NEED_NOT_BE_NAMED:
        assert [one.num_named for one in got] == [one.num_planted for one in got]


def test_of_a_core_switch_a_note_says_that_one_of_several_ways_is_slow(tmp_path: Path) -> None:
    num_told = 0
    for seed in range(1, NUM_SOUND_CASES + 1):
        files = write_case("core switch", seed, tmp_path)
        words = [program.PROGRAM, "diagnose", files.result, "--json", "--topology", files.topology]
        said = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, check=False, timeout=60)
        notes = json.loads(said.stdout)["slices"][0]["diagnosis"]["notes"]
        num_told += any("one of several parallel ways (a core switch, its cables)" in note for note in notes)
    assert num_told >= NUM_SOUND_CASES - 1  # one in twenty is told nothing: too few of its pairs are slow enough


def test_the_list_of_failures_names_families() -> None:
    assert set(FAILS) <= set(FAMILIES)

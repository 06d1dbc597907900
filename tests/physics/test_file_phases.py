# SPDX-License-Identifier: Apache-2.0
"""Ranks of a simulated file test share what they use, and the program names what was made slow."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import program
import pytest
from file_phases import (
    BYTES_OF_RANK,
    LAYOUTS,
    RANK_RATE,
    Planted,
    Scatter,
    Storage,
    fair_times,
    median_rule,
    phase_times,
    write,
)

STILL = Scatter(of_elements=0, of_phases=0, of_ranks=0, stall_share=0, first_write=1)
FOUR_TARGETS = Storage(np.repeat(np.arange(8), 4), np.arange(32) % 4, 4, 8 * RANK_RATE, ("host", "rank", "target"))


def test_what_is_full_is_shared_evenly() -> None:
    two = Storage(np.array([0, 0, 1]), np.array([0, 0, 1]), 2, 1e9, ())
    times = fair_times(two, np.full(3, 2e9), np.array([3e9, 3e9]), np.array([1e9, 1e9]))
    assert times == pytest.approx([2 * BYTES_OF_RANK / 1e9] * 2 + [BYTES_OF_RANK / 1e9])


def test_who_is_done_leaves_its_share_to_others() -> None:
    one = Storage(np.array([0, 1]), np.zeros(2, dtype=np.int64), 1, 1e9, ())
    times = fair_times(one, np.array([2e8, 2e9]), np.full(2, 1e10), np.array([1e9]))
    assert times == pytest.approx([BYTES_OF_RANK / 2e8, BYTES_OF_RANK / 8e8])


@pytest.mark.parametrize("kind", ["host", "rank", "target"])
def test_what_is_planted_makes_its_ranks_slow(kind: str) -> None:
    sound = phase_times(FOUR_TARGETS, None, STILL, 1, 1)
    times = phase_times(FOUR_TARGETS, Planted(kind, 2, 3), STILL, 1, 1)
    is_of = {"rank": np.arange(32), "host": FOUR_TARGETS.host_of, "target": FOUR_TARGETS.target_of}[kind] == 2
    assert (times / sound)[0, is_of].max() == pytest.approx(3, rel=0.02)
    assert (times / sound)[0, ~is_of].max() < 1.01
    assert median_rule(FOUR_TARGETS, times) >= {(kind, 2)}


def diagnosed(storage: Storage, planted: Planted | None, folder: Path) -> list[tuple[str, int, str]]:
    write(storage, phase_times(storage, planted, Scatter(), 6, 3), folder / "r.h5")
    words = [program.PROGRAM, "diagnose", folder / "r.h5", "--json"]
    (one,) = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["slices"]
    faults = one["diagnosis"]["faults"]
    return [(fault["kind"], fault["component"]["first"], fault["list"]) for fault in faults]


@pytest.mark.parametrize("kind", ["host", "rank", "target"])
def test_the_program_names_it(kind: str, tmp_path: Path) -> None:
    assert diagnosed(FOUR_TARGETS, Planted(kind, 2, 3), tmp_path) == [(kind, 2, "persistent")]


def test_the_program_names_nobody_where_nothing_is_slow(tmp_path: Path) -> None:
    for seed, layout in enumerate(LAYOUTS.values()):
        assert diagnosed(layout(np.random.default_rng(seed)), None, tmp_path) == []


def test_what_was_slow_in_some_phases_has_passed(tmp_path: Path) -> None:
    (told,) = diagnosed(FOUR_TARGETS, Planted("host", 2, 3, share_of_phases=0.5), tmp_path)
    assert told == ("host", 2, "passed")

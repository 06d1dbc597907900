# SPDX-License-Identifier: Apache-2.0
"""Who is measured: every ordered pair, or exactly those that the options leave."""

from __future__ import annotations

import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from fabrics import fabric_file
from program import Leadline
from result import ResultFile


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8])
def test_every_ordered_pair(link: Leadline, tmp_path: Path, ranks: int) -> None:
    done = link("--local", str(ranks), "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.reason == ""
    assert result.num_ranks == ranks
    assert np.array_equal(result.measured(), result.every_pair())
    assert result.provenance["num_rounds"] == (1 if ranks == 1 else ranks - 1 + ranks % 2)
    assert f"{ranks} rank{'s' if ranks > 1 else ''} on 1 host" in done.out


def test_one_rank_says_that_it_is_a_loop(link: Leadline, tmp_path: Path) -> None:
    done = link("--local", "1", "--output", "r.h5")
    findings = ResultFile(tmp_path / "r.h5").summary["findings"]
    assert "loop_to_itself" in {finding["id"] for finding in findings}
    assert "itself" in done.out


def test_serial(link: Leadline, tmp_path: Path) -> None:
    done = link("--local", "4", "--serial", "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    assert np.array_equal(result.measured(), result.every_pair())
    assert result.provenance["num_rounds"] == 6
    assert "6/6" in done.err


def rounds_of(path: Path) -> np.ndarray:
    """By ordered pair, the number of the round in which it meets."""
    with h5py.File(path, "r") as file:
        return np.asarray(file["repeats/0000/round"])


@pytest.mark.parametrize("options", [["--serial"], ["--shuffle-rounds"], ["--serial", "--shuffle-rounds"]])
def test_numbers_of_rounds_are_those_of_the_plain_order(link: Leadline, tmp_path: Path, options: list[str]) -> None:
    link("--local", "5", "--output", "plain.h5")
    link("--local", "5", *options, "--output", "other.h5")
    plain = rounds_of(tmp_path / "plain.h5")
    assert plain.max() == 5
    assert np.array_equal(plain > 0, ~np.eye(5, dtype=bool))
    assert np.array_equal(rounds_of(tmp_path / "other.h5"), plain)


@pytest.mark.parametrize("serial", [[], ["--serial"]])
def test_all_to_all_before_each_round(link: Leadline, tmp_path: Path, serial: list[str]) -> None:
    link("--local", "4", "--all-to-all", "before-each-round", *serial, "--output", "r.h5")
    with h5py.File(tmp_path / "r.h5", "r") as file:
        times = np.asarray(file["repeats/0000/all_to_all_time_ns"])[0]
    assert (times[:, :3] > 0).all(), "one for each of the three rounds, on every rank"
    assert not times[:, 3:].any(), "and no more, also where the pairs of a round come one by one"
    spread = ResultFile(tmp_path / "r.h5").summary["slices"][0]["all_to_all"]
    assert spread["each_round"]["num"] == 12
    assert spread["before"] is None


def pairs_of_plan(text: str) -> list[set[tuple[int, int]]]:
    """The ordered pairs of each round that --dry-run prints."""
    rounds = []
    for line in re.findall(r"^ +round.*$", text, re.MULTILINE):
        pairs = [tuple(map(int, pair)) for pair in re.findall(r" (\d+)-(\d+)", line.partition(":")[2])]
        rounds.append({(one, other) for one, other in pairs} | {(other, one) for one, other in pairs})
    return rounds


def test_rounds_leave_holes(leadline: Leadline, link: Leadline, tmp_path: Path) -> None:
    words = ["--local", "6", "--only-rounds", "4,1"]
    link(*words, "--output", "r.h5")
    wanted = np.zeros((6, 6), bool)
    rounds = pairs_of_plan(leadline("link", *words, "--dry-run").out)
    assert len(rounds) == 2
    for pair in set().union(*rounds):
        wanted[pair] = True
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete, "a test of some rounds is whole when these are done"
    assert np.array_equal(result.measured(), wanted)
    assert wanted.sum() == 12


def test_the_same_rounds_in_another_order(leadline: Leadline, link: Leadline, tmp_path: Path) -> None:
    words = ["--local", "6", "--shuffle-rounds", "--seed", "5"]
    link(*words, "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    assert np.array_equal(result.measured(), result.every_pair())
    usual = pairs_of_plan(leadline("link", "--local", "6", "--dry-run").out)
    shuffled = pairs_of_plan(leadline("link", *words, "--dry-run").out)
    assert shuffled != usual
    assert sorted(map(sorted, shuffled)) == sorted(map(sorted, usual)), "concurrent pairs stay the same"


def test_shuffled_ranks(link: Leadline, tmp_path: Path) -> None:
    for name, seed in (("a", "9"), ("b", "9"), ("c", "10")):
        link("--local", "5", "--shuffle-ranks", "3", "--seed", seed, "--output", f"{name}.h5")
    first, again, other = (ResultFile(tmp_path / f"{name}.h5") for name in "abc")
    assert len(first.permutations) == len(first.repeats) == 3
    assert first.permutation_of_repeat == [0, 1, 2]
    for permutation in first.permutations:
        assert sorted(permutation) == [0, 1, 2, 3, 4]
    assert len({tuple(permutation) for permutation in first.permutations}) > 1
    assert first.permutations == again.permutations
    assert first.permutations != other.permutations
    for repeat in range(3):
        assert np.array_equal(first.measured(repeat), first.every_pair())


def test_repeats_of_shuffled_ranks(link: Leadline, tmp_path: Path) -> None:
    link("--local", "3", "--shuffle-ranks", "2", "--repeat", "2", "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    assert result.permutation_of_repeat == [0, 1, 0, 1]
    assert len(result.summary["slices"]) == 4


def test_repeats_are_all_kept(link: Leadline, tmp_path: Path) -> None:
    link("--local", "3", "--repeat", "3", "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    assert len(result.repeats) == 3
    assert result.permutations is None
    for repeat in range(3):
        assert np.array_equal(result.measured(repeat), result.every_pair())
    assert not np.array_equal(result.medians(0), result.medians(1))
    assert [one["repeat"] for one in result.summary["slices"]] == [0, 1, 2]


def test_minimum_time_adds_repeats(link: Leadline, tmp_path: Path) -> None:
    # Virtual times, so that a busy machine does not spend all of it in one repeat.
    words = ["--local", "2", "--transport", fabric_file(tmp_path), "--messages", "10", "--message-size", "0"]
    link(*words, "--min-time", "5ms", "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert len(result.repeats) > 1
    assert len(result.summary["slices"]) == len(result.repeats)
    assert sum(one["slowest_pairs_s"] for one in result.summary["slices"]) >= 5e-3
    for repeat in range(len(result.repeats)):
        assert np.array_equal(result.measured(repeat), result.every_pair())


def test_sweep(link: Leadline, tmp_path: Path) -> None:
    link("--local", "3", "--message-size", "0,1B-16B,3KiB", "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    assert result.sizes == [0, 1, 2, 4, 8, 16, 3072]
    assert [one["message_size_bytes"] for one in result.summary["slices"]] == result.sizes
    for size in range(len(result.sizes)):
        assert np.array_equal(result.measured(size=size), result.every_pair())


@pytest.mark.parametrize(("wanted", "given"), [("0", 0), ("3", 3), ("50", 12)])
def test_the_slowest_are_retested(link: Leadline, tmp_path: Path, wanted: str, given: int) -> None:
    done = link("--local", "4", "--retest", wanted, "--output", "r.h5", "--message-size", "8,64", "--verbose")
    result = ResultFile(tmp_path / "r.h5")
    assert done.err.count("\nretest ") == 2 * given
    assert len(result.retest["from"]) == 2 * given
    for size in range(2):
        own = result.retest["size_index"] == size
        times = result.retest["time_ns"][own]
        assert list(times) == sorted(times, reverse=True)
        medians = result.medians(size=size)
        assert list(times) == [
            medians[pair] for pair in zip(result.retest["from"][own], result.retest["to"][own], strict=True)
        ]
        assert list(times) == sorted(medians[medians > 0], reverse=True)[:given]
        assert np.all(result.retest["retest_time_ns"][own] > 0)

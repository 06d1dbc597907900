# SPDX-License-Identifier: Apache-2.0
"""Results that the engine writes: the analysis finds the same numbers as the engine's own summary."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from engine_run import run_of

import leadline
from leadline.bisection import text as bisection_text
from leadline.bisection.analysis import analyse_size
from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.experiments import participants_of_result
from leadline.cli.report import main as report_main
from leadline.diagnosis import diagnose, diagnosed_in
from leadline.stats.interval import MeanInterval


def measured(folder: Path, *arguments: str) -> BisectionResult:
    return leadline.load_bisection(run_of(folder, "bisection", 8, 1, *arguments))


def told(result: BisectionResult, name: str) -> list[dict[str, Any]]:
    assert result.summary is not None
    entries = result.summary[name]
    assert isinstance(entries, list)
    return entries


def same(ours: float, theirs: float | None, tolerance: float = 1e-9) -> bool:
    return math.isnan(ours) if theirs is None else math.isclose(ours, theirs, rel_tol=tolerance)


def expect_interval(ours: MeanInterval, theirs: dict[str, Any], prefix: str = "bytes_per_s_") -> None:
    assert ours.num == theirs["num"]
    assert same(ours.mean, theirs[f"{prefix}mean"])
    assert same(ours.half_width, theirs[f"{prefix}half_width"], 1e-7)


def test_the_same_numbers_as_the_summary(tmp_path: Path):
    result = measured(tmp_path, "--message-size", "64KiB,1MiB", "--rounds", "30", "--precision", "0", "--pattern",
                      "random,halves,shift:3", "--repeat", "2", "--worst", "5", "--baseline-pairs", "2")  # fmt: skip
    sizes = [analyse_size(result, size_index) for size_index in (0, 1)]
    for ours, theirs in zip(sizes, told(result, "sizes"), strict=True):
        assert ours.message_size_bytes == theirs["message_size_bytes"]
        assert (ours.ebb.num, ours.speeds.num_pairs) == (theirs["num_patterns"], theirs["num_connections"]) == (30, 240)
        expect_interval(ours.ebb, theirs["ebb"])
        expect_interval(ours.full_load, theirs["full_load"])
        expect_interval(ours.baseline, theirs["baseline"])
        expect_interval(ours.static_share, theirs["static_share"], "")
        expect_interval(ours.contention_share, theirs["contention_share"], "")
        assert same(ours.tail, theirs["tail"])
        assert same(ours.harmonic, theirs["bytes_per_s_harmonic"])
        for name in ("min", "p01", "p05", "median", "max"):
            assert same(getattr(ours.speeds, name), theirs[f"bytes_per_s_{name}"]), name
        assert [bucket.num for bucket in ours.buckets] == [bucket["num"] for bucket in theirs["buckets"]]
        assert [
            same(bucket.low_ns, other["low_ns"]) for bucket, other in zip(ours.buckets, theirs["buckets"], strict=True)
        ]
        assert ours.stopped_by == theirs["stopped_by"] == "rounds"
        assert ours.connections.num_missing == 0
        slow = [(one.seen.from_rank, one.seen.to_rank, one.seen.number) for one in ours.slow]
        seen = [(one.from_rank, one.to_rank, one.number) for one in ours.connections.slowest]
        assert slow[0] == seen[0]
        assert 2 * len(set(slow) & set(seen)) >= len(seen), "the others are of the ranks that are slow with everybody"


@pytest.mark.usefixtures("real_program")
def test_patterns_are_those_of_the_summary(tmp_path: Path):
    result = measured(tmp_path, "--message-size", "64KiB,1MiB", "--rounds", "12", "--pattern", "random,reversal",
                      "--worst", "3", "--seed", "99")  # fmt: skip
    entries = told(result, "patterns")
    for size_index, size in enumerate(result.message_sizes_bytes):
        patterns, those = result.patterns(size), [one for one in entries if one["size_index"] == size_index]
        assert len(patterns) == len(those)
        for place, one in enumerate(those):
            assert (one["number"], one["index"]) == (place, patterns.index[place])
            assert result.pattern_name(int(patterns.kind[place]), int(patterns.index[place])).startswith(one["name"])
            for which in ("mean", "harmonic", "min", "max", "full_load"):
                assert same(float(getattr(patterns, f"bytes_per_s_{which}")[place]), one[f"bytes_per_s_{which}"])
            found = result.connections(place, size)
            assert len(found.to_rank) == one["num_connections"]
            assert same(float(found.bytes_per_s.mean()), one["bytes_per_s_mean"])
    for number, send_to in participants_of_result(result).random(99, range(12)):
        found = result.connections(number, "64KiB")
        assert send_to[found.from_rank].tolist() == found.to_rank.tolist()


@pytest.mark.usefixtures("real_program")
def test_the_slow_host_is_named(tmp_path: Path):
    result = measured(tmp_path, "--message-size", "1MiB", "--rounds", "40", "--precision", "0")
    assert told(result, "diagnoses")
    sizes = [analyse_size(result, 0)]
    (sentence,) = bisection_text.verdict(result, sizes, diagnosed_in(result))
    assert sentence.startswith("Host node2 is slow: "), sentence
    assert dict(diagnose(result.path)) == result.diagnoses
    assert report_main([str(tmp_path / "run.h5")]) == 0
    assert report_main([str(tmp_path / "run.h5"), "-o", str(tmp_path / "run.pdf")]) == 0


def test_only_named_patterns(tmp_path: Path):
    result = measured(tmp_path, "--message-size", "4KiB", "--pattern", "shift-each,bit-reversal", "--repeat", "3")
    size = analyse_size(result, 0)
    assert [pattern.name for pattern in size.named] == [*(f"shift:{k}" for k in range(1, 8)), "bit-reversal"]
    assert {pattern.num_repeats for pattern in size.named} == {3}
    assert size.ebb.num == 0
    assert report_main([str(tmp_path / "run.h5")]) == 0

# SPDX-License-Identifier: Apache-2.0
"""A score as plain text and as JSON."""

from __future__ import annotations

from typing import Any

from leadline.io.score import GIB_PER_S, KIOPS, Score
from leadline.text_file import json_text

BENCHMARK = "score"
FORMAT_VERSION = 1


def score_lines(score: Score) -> list[str]:
    """A line for each phase, the means and the score, and why it is none of IO500's."""
    lines = [f"{one.name:<17} {one.rate:12.6f} {one.unit:<5}  {one.time_s:10.3f} s" for one in score.phases]
    lines += [f"{name:<17} {'missing':>12}" for name in score.missing_phases]
    nums = {unit: sum(one.unit == unit for one in score.phases) for unit in (GIB_PER_S, KIOPS)}
    means = (("bandwidth", score.bandwidth_gib_per_s, GIB_PER_S), ("metadata", score.metadata_kiops, KIOPS))
    lines += [f"{name:<17} {mean:12.6f} {unit:<5}  geometric mean of {nums[unit]}" for name, mean, unit in means]
    lines.append(f"{'score':<17} {score.score:12.6f}        square root of their product")
    return [*lines, "", "This is no score of IO500:", *(f"- {one}" for one in score.deviations)]


def score_text(score: Score) -> str:
    """The JSON file's contents."""
    values: dict[str, Any] = {
        "benchmark": BENCHMARK,
        "format_version": FORMAT_VERSION,
        "score": score.score,
        "bandwidth_gib_per_s": score.bandwidth_gib_per_s,
        "metadata_kiops": score.metadata_kiops,
        "is_official": False,
        "deviations": score.deviations,
        "missing_phases": score.missing_phases,
        "phases": score.phases,
        "files": score.files,
    }
    return json_text(values)


def is_own_score(ends: str) -> bool:
    """Whether an older file, by its beginning, is one of these."""
    return f'"benchmark": "{BENCHMARK}"' in ends[:200]

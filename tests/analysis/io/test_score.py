# SPDX-License-Identifier: Apache-2.0
"""The score of four presets: its means by hand, and what it says of runs that are not as IO500 has them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from result import wrong_json

from leadline.error import ExitStatus, LeadlineError
from leadline.io.result import IoPhase, IoResult, PhaseState
from leadline.io.score import PRESETS, score_of
from leadline.io.score_file import is_own_score, score_lines, score_text

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs" / "formats" / "score.schema.json").read_text(encoding="utf-8"))
OPERATIONS = {"ior": ("write", "read"), "mdtest": ("create", "stat", "open", "read_file", "unlink")}


class Made(SimpleNamespace):
    """A result, as far as a score looks at it."""

    def phase(self, operation: str) -> IoPhase:
        return next(one for one in self.phases if one.operation == operation)


def made(preset: str, **changes: Any) -> Made:
    """As IO500 asks for, of two hosts: 2 GiB/s, 4000 items a second."""
    operations = OPERATIONS[preset.partition("-")[0]]
    summary = {
        "bytes_per_s": 2.0 * 2**30, "operations_per_s": 4000.0, "wall_ns": 400e9, "num_objects": 2_000_000,
        "source": "storage",
    }  # fmt: skip
    phases = [IoPhase(index, name, 0, PhaseState.COMPLETE, dict(summary)) for index, name in enumerate(operations)]
    usual = {
        "path": Path(f"{preset}.h5"), "options": {"preset": preset, "repeat": "1", **PRESETS[preset]},
        "phases": phases, "provenance": SimpleNamespace(num_hosts=2), "num_ranks": 8, "file_system": "lustre",
    }  # fmt: skip
    return Made(**usual | changes)


def four(**changed: Made) -> list[IoResult]:
    """One of each, with some in place of others: ior_easy=..."""
    return [cast(IoResult, changed.get(name.replace("-", "_")) or made(name)) for name in PRESETS]


def with_rate(preset: str, operation: str, **numbers: float | str) -> Made:
    result = made(preset)
    for index, phase in enumerate(result.phases):
        if phase.operation == operation:
            result.phases[index] = replace(phase, summary={**phase.summary, **numbers})
    return result


def with_options(preset: str, /, **options: str) -> Made:
    result = made(preset)
    result.options |= options
    return result


def test_means_and_score_by_hand():
    hard = with_rate("ior-hard", "write", bytes_per_s=32.0 * 2**30)
    create = with_rate("mdtest-easy", "create", operations_per_s=4000.0 * 2**7)
    score = score_of(four(ior_hard=hard, mdtest_easy=create))
    assert score.bandwidth_gib_per_s == pytest.approx(4)  # (2 * 2 * 2 * 32)^(1/4)
    assert score.metadata_kiops == pytest.approx(8)  # 4 * (2^7)^(1/7)
    assert score.score == pytest.approx(math.sqrt(32))
    assert [one.name for one in score.phases] == [
        "ior-easy-write", "mdtest-easy-write", "ior-hard-write", "mdtest-hard-write", "ior-easy-read",
        "mdtest-easy-stat", "ior-hard-read", "mdtest-hard-stat", "mdtest-easy-delete", "mdtest-hard-read",
        "mdtest-hard-delete",
    ]  # fmt: skip
    assert {one.time_s for one in score.phases if one.unit == "GiB/s"} == {400}
    assert {one.time_s for one in score.phases if one.unit == "kIOPS"} == {500, 2_000_000 / (4000 * 2**7)}
    assert score.missing_phases == ("find",)


def test_what_is_as_io500_has_it_leaves_what_always_differs():
    score = score_of(four())
    assert len(score.deviations) == 2
    assert "no find" in score.deviations[0]
    lines = score_lines(score)
    assert lines[0].split() == ["ior-easy-write", "2.000000", "GiB/s", "400.000", "s"]
    assert ["find", "missing"] in [line.split() for line in lines]
    assert any(line.startswith("score ") and "2.828427" in line for line in lines)
    assert "This is no score of IO500:" in lines


DEVIATIONS = {
    "a short phase": ({"ior_hard": with_rate("ior-hard", "write", wall_ns=12e9)}, "ior-hard-write took 12 s"),
    "short creation": ({"mdtest_easy": with_rate("mdtest-easy", "create", num_objects=8)}, "mdtest-easy-write took"),
    "smaller objects": (
        {"ior_easy": with_options("ior-easy", object_size="65536")},
        "ior-easy: --object-size 64 KiB; IO500 has 2 MiB",
    ),
    "no sync": ({"ior_easy": with_options("ior-easy", sync="none")}, "ior-easy: --sync none; IO500 has inside"),
    "again and again": ({"ior_hard": with_options("ior-hard", time_based="true")}, "ior-hard: --time-based true"),
    "a number of other digits": ({"ior_easy": with_options("ior-easy", time_limit="60.0")}, "ior-easy: --time-limit"),
    "from the cache": ({"ior_hard": with_rate("ior-hard", "read", source="cache")}, "came from the page cache"),
    "one host": ({"ior_easy": made("ior-easy", provenance=SimpleNamespace(num_hosts=1))}, "ior-easy: all ranks were"),
    "unequal ranks": ({"mdtest_hard": made("mdtest-hard", num_ranks=4)}, "unequal numbers of ranks"),
    "unequal file systems": ({"mdtest_hard": made("mdtest-hard", file_system="xfs")}, "file systems: lustre, xfs"),
}


@pytest.mark.parametrize("case", DEVIATIONS)
def test_a_deviation_is_told(case: str):
    changed, words = DEVIATIONS[case]
    (told,) = score_of(four(**changed)).deviations[2:]
    assert words in told


def test_a_number_is_the_same_however_it_is_written():
    assert len(score_of(four(ior_easy=with_options("ior-easy", time_limit="300.0"))).deviations) == 2


def without_phase(preset: str, operation: str) -> Made:
    result = made(preset)
    result.phases = [one for one in result.phases if one.operation != operation]
    return result


def failed(preset: str, operation: str) -> Made:
    result = made(preset)
    result.phases = [replace(one, state=PhaseState.FAILED, summary={}) if one.operation == operation else one
                     for one in result.phases]  # fmt: skip
    return result


REFUSED = {
    "one is missing": (four()[:3], 2, ["--preset mdtest-hard", "mdtest-easy"]),
    "all but one are missing": (four()[:1], 2, ["no run of --preset ior-hard, mdtest-easy, mdtest-hard"]),
    "one is there twice": ([*four(), cast(IoResult, made("ior-easy"))], 2, ["ior-easy.h5", "both of --preset"]),
    "no preset": (four(ior_easy=with_options("ior-easy", preset="none")), 2, ["ior-easy.h5", "no run with --preset"]),
    "repeats": (four(ior_hard=with_options("ior-hard", repeat="3")), 2, ["ior-hard.h5", "3 repeats"]),
    "no such phase": (four(ior_hard=without_phase("ior-hard", "read")), 4, ["ior-hard.h5", "read", "not measured"]),
    "a phase that failed": (four(mdtest_hard=failed("mdtest-hard", "stat")), 4, ["mdtest-hard.h5", "stat", "failed"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str):
    results, status, words = REFUSED[case]
    with pytest.raises(LeadlineError) as caught:
        score_of(results)
    assert caught.value.status == ExitStatus(status)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_the_document():
    score = score_of(four(ior_easy=with_options("ior-easy", sync="none")))
    text = score_text(score)
    document = json.loads(text)
    assert wrong_json(document, SCHEMA) == []
    assert document["score"] == score.score
    assert document["files"]["ior-hard"] == "ior-hard.h5"
    assert len(document["phases"]) == 11
    assert is_own_score(text)
    assert not is_own_score('{"benchmark": "io"}')

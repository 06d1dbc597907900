# SPDX-License-Identifier: Apache-2.0
"""Site profiles: `leadline profile` learns them from good runs, `leadline diagnose --profile` judges by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from program import Leadline
from result import schema_of, wrong_json

NETWORK = "fat-tree:8x2"
SLOW = {"between": [{"latency_ns": 2100, "bandwidth_bytes_per_s": 12.5e9}]}


@pytest.fixture
def simulated(leadline: Leadline, tmp_path: Path) -> Any:
    """Writes a result of 16 hosts of 2 ranks each."""

    def simulate(name: str, seed: int, *words: str, ranks_per_host: int = 2) -> Path:
        options = ("--topology", NETWORK, "--ranks-per-host", ranks_per_host, "--seed", seed)
        done = leadline("simulate", "link", *options, *words, "--output", name)
        assert done.status == 0, done.err
        return tmp_path / name

    return simulate


@pytest.fixture
def profile(leadline: Leadline, simulated: Any, tmp_path: Path) -> Path:
    """Of three good runs."""
    runs = [simulated(f"good{seed}.h5", seed) for seed in (1, 2, 3)]
    done = leadline("profile", *runs, "--output", "site.json")
    assert done.status == 0, done.err
    return tmp_path / "site.json"


def test_a_profile_is_what_its_schema_says(profile: Path) -> None:
    document = json.loads(profile.read_text())
    assert wrong_json(document, schema_of("profile")) == []
    assert (document["num_runs"], document["ranks_per_host"]) == (3, 2)
    assert [one["name"] for one in document["classes"]] == ["same socket", "between hosts"]
    assert all(one["num_runs"] == 3 and one["scatter"] > 0 for one in document["classes"])


def test_all_pairs_alike_are_slower_than_the_profile(leadline: Leadline, simulated: Any, profile: Path) -> None:
    (profile.parent / "slow.json").write_text(json.dumps(SLOW))
    run = simulated("slow.h5", 9, "--faults", str(profile.parent / "slow.json"))
    assert leadline("diagnose", run, "--strict").status == 0, "nothing differs from the others"
    told = leadline("diagnose", run, "--profile", profile, "--strict")
    assert told.status == 1
    assert "1. all pairs between hosts take 1.36 times as long as in the site profile (" in told.out
    document = json.loads(leadline("diagnose", run, "--profile", profile, "--json").out)
    assert wrong_json(document, schema_of("diagnosis")) == []
    inside, between = document["slices"][0]["diagnosis"]["profile"]
    assert (inside["change"], between["change"]) == ("none", "slower")
    low, high = between["ratio_interval"]
    assert 1.25 < low < between["ratio"] < high


def test_another_good_run_is_as_in_the_profile(leadline: Leadline, simulated: Any, profile: Path) -> None:
    told = leadline("diagnose", simulated("good.h5", 4), "--profile", profile, "--strict")
    assert (told.status, told.err) == (0, "")
    assert told.out.startswith("verdict: no fault found")
    assert "note" not in told.out


def test_what_is_not_comparable_is_told(leadline: Leadline, simulated: Any, profile: Path) -> None:
    cases = {
        "the site profile 'site.json': 2 and 4 ranks a host": simulated("more.h5", 4, ranks_per_host=4),
        "the site profile: it has no pairs 'between hosts' with 1 MiB": simulated(
            "big.h5", 4, "--message-size", "1MiB"
        ),
    }
    for note, run in cases.items():
        told = leadline("diagnose", run, "--profile", profile.name, "--strict")
        assert told.status == 0, told.err
        assert f"note: not comparable with {note}" in told.out


def test_one_run_has_no_scatter(leadline: Leadline, simulated: Any) -> None:
    assert leadline("profile", simulated("one.h5", 1), "--output", "one.json").status == 0
    told = leadline("diagnose", simulated("two.h5", 2), "--profile", "one.json")
    assert "the site profile is of one run" in told.out


def test_what_no_profile_is_made_of(leadline: Leadline, simulated: Any, tmp_path: Path) -> None:
    one, other = simulated("one.h5", 1), simulated("other.h5", 1, ranks_per_host=4)
    done = leadline("profile", one, other)
    assert (done.status, done.out) == (2, "")
    assert "do not belong to one profile (2 and 4 ranks a host)" in done.complaint
    (tmp_path / "text.json").write_text('{"document": "diagnosis"}')
    done = leadline("diagnose", one, "--profile", "text.json")
    assert (done.status, done.out) == (2, "")
    assert "'text.json' is no site profile (it is another document)" in done.complaint
    done = leadline("topology", "--local", "2", "--pattern", "ring", "--iterations", "2", "--output", "ring.h5")
    assert done.status == 0, done.err
    done = leadline("profile", "ring.h5")
    assert (done.status, done.out) == (2, "")

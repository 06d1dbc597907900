# SPDX-License-Identifier: Apache-2.0
"""Site profiles: `leadline profile` learns them from good runs; `diagnose` and `link` judge by them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import h5py
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
        with h5py.File(tmp_path / name, "r+") as file:
            del file["network"]  # as of a run that was told of none
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
    assert re.search(r"^times beside the site profile: same \w+ x[\d.]+, between hosts x[\d.]+$", told.out, re.M)
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
        assert "\nnothing could be judged by the site profile: see the notes\n" in told.out


@pytest.mark.parametrize("knows_network", ["the profile", "the run"])
def test_of_who_does_not_know_the_network_all_pairs_between_hosts_are_judged(
    leadline: Leadline, simulated: Any, knows_network: str
) -> None:
    runs = [simulated(f"good{seed}.h5", seed) for seed in (1, 2, 3)]
    (runs[0].parent / "slow.json").write_text(json.dumps(SLOW))
    slow = simulated("slow.h5", 9, "--faults", str(runs[0].parent / "slow.json"))
    of_profile, of_run = ((), ("--topology", NETWORK))[:: 1 if knows_network == "the run" else -1]
    assert leadline("profile", *runs, *of_profile, "--output", "site.json").status == 0
    told = leadline("diagnose", slow, *of_run, "--profile", "site.json", "--strict")
    assert told.status == 1
    assert "all pairs between hosts take 1.36 times as long as in the site profile (" in told.out
    assert "not comparable" not in told.out


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


def rescaled(path: Path, factor: float, **changes: object) -> Path:
    """A copy of a profile whose times are so many times as long."""
    document = json.loads(path.read_text()) | changes
    for one in document["classes"]:
        one["time_ns_median"] *= factor
    copy = path.with_name("rescaled.json")
    copy.write_text(json.dumps(document))
    return copy


@pytest.fixture
def measured(leadline: Leadline, tmp_path: Path) -> Path:
    """A profile of one run on this machine."""
    done = leadline("link", "--local", "3", "--messages", "20", "--output", "good.h5")
    assert done.status == 0, done.err
    assert leadline("profile", "good.h5", "--output", "site.json").status == 0
    return tmp_path / "site.json"


def test_a_run_judges_itself_as_a_diagnosis_of_its_file_does(leadline: Leadline, measured: Path) -> None:
    site = rescaled(measured, 0.01)
    for run, sizes in (("one.h5", "1KiB"), ("two.h5", "1KiB,2KiB")):
        words = ("--message-size", sizes)
        done = leadline("link", "--local", "3", "--messages", "20", "--profile", site, "--strict", *words, "-o", run)
        assert done.status == 1, done.err
        told = leadline("diagnose", run, "--profile", site, "--strict")
        assert told.status == 1
        assert "times as long as in the site profile" in done.out
        verdict = done.out[done.out.index("verdict:") :]
        if "," in sizes:
            assert "; in 1 of 2 sizes and repeats, here with 1 KiB" in verdict
            assert "note: not comparable with the site profile: it has no pairs" in verdict
        else:
            assert told.out.strip() in verdict
        assert "% of the speed of the site profile with 1 KiB" in done.complaint or "reaches" in done.complaint
        with h5py.File(measured.with_name(run)) as file:
            slices = json.loads(file["summary"][()])["slices"]
        document = json.loads(leadline("diagnose", run, "--profile", site, "--json").out)
        assert [one["diagnosis"]["profile"] for one in slices] == [
            one["diagnosis"]["profile"] for one in document["slices"]
        ]


def test_a_run_that_is_faster_or_as_usual_is_fine(leadline: Leadline, measured: Path) -> None:
    site = rescaled(measured, 100)
    done = leadline("link", "--local", "3", "--profile", site, "--messages", "20", "--format", "json")
    assert done.status == 0, done.err
    assert wrong_json(json.loads(done.out), schema_of("link")) == []
    assert [one["change"] for one in json.loads(done.out)["slices"][0]["diagnosis"]["profile"]] == ["faster"]


def test_a_health_check_names_classes_that_are_slower(leadline: Leadline, measured: Path) -> None:
    site = rescaled(measured, 0.01)
    done = leadline("link", "--local", "3", "--health-check", "--rounds", "2", "--profile", site)
    assert done.status == 1
    assert done.out.startswith("bad: ")
    assert "times as long as in the site profile" in done.out


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"transport": "mpi"}, "(transport mpi and tcp)"),
        ({"ranks_per_host": 9}, "(9 and 2 ranks a host)"),
        ({"classes": []}, "(it has none of the message sizes)"),
    ],
)
def test_a_profile_that_does_not_fit_ends_the_run_before_it_measures(
    leadline: Leadline, profile: Path, changes: dict[str, object], why: str
) -> None:
    fitting = {"transport": "tcp", "direction": "semidirectional"}
    site = rescaled(profile, 1, **(fitting | changes))
    done = leadline("link", "--local", "2", "--profile", site, "--output", "run.h5")
    assert (done.status, done.out) == (2, "")
    assert f"nothing of this run can be judged by the site profile '{site}' {why}" in done.complaint
    assert not (profile.parent / "run.h5").exists()


def test_what_is_no_profile_ends_the_run_before_it_measures(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "text.json").write_text('{"document": "diagnosis"}')
    for name, why in (("text.json", "is no site profile"), ("none.json", "cannot be read")):
        done = leadline("link", "--local", "2", "--profile", name, "--output", "run.h5")
        assert (done.status, done.out) == (2, "")
        assert name in done.complaint
        assert why in done.complaint
        assert not (tmp_path / "run.h5").exists()
        planned = leadline("link", "--local", "2", "--profile", name, "--dry-run")
        assert (planned.status, planned.out, planned.err) == (2, "", done.err)
    done = leadline("link", "--local", "2", "--profile", "text.json", "--no-diagnosis")
    assert done.status == 2
    assert "there is no diagnosis with --no-diagnosis" in done.complaint

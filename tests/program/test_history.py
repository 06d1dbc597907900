# SPDX-License-Identifier: Apache-2.0
"""`leadline history`: months of results in one store, what changed, and stores and results that cannot be used."""

from __future__ import annotations

import datetime
import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import program
import pytest
from program import Done, Leadline
from result import schema_of, wrong_json

NETWORK = ("--topology", "fat-tree:4x2", "--ranks-per-host", "2")
SLOW_HOST = {"slow_port": "host3", "factor": 1.6}
SLOW_LINK = {"slow_link": ["host1", "host6"], "factor": 2}

Make = Callable[..., list[str]]


@pytest.fixture
def make(leadline: Leadline, tmp_path: Path) -> Make:
    """So many results of a simulated machine, one a week; `faults` says those of each by its number."""
    if not (program.ANALYSIS_COMMANDS / "leadline-history").exists():
        pytest.skip("the analysis package is not installed where this Python is")

    def made(
        num: int, faults: Callable[[int], list[dict[str, Any]]] = lambda _: [],
        speeds: Callable[[int], dict[str, Any]] = lambda _: {},
    ) -> list[str]:  # fmt: skip
        names = []
        for number in range(num):
            names.append(f"run{number:02}.h5")
            (tmp_path / "faults.json").write_text(json.dumps({"faults": faults(number)} | speeds(number)))
            words = (
                *NETWORK,
                "--faults",
                "faults.json",
                "--seed",
                str(number + 1),
                "-o",
                names[-1],
                "--overwrite",
            )
            done = leadline("simulate", "link", *words)
            assert done.status == 0, done.err
            day = datetime.datetime(2026, 1, 5) + datetime.timedelta(days=7 * number)
            with h5py.File(tmp_path / names[-1], "r+") as file:
                file["provenance"].attrs["start_utc"] = f"{day:%Y-%m-%dT%H:%M:%SZ}"
        return names

    return made


def document_of(done: Done) -> dict[str, Any]:
    assert done.status == 0, done.err
    document: dict[str, Any] = json.loads(done.out)
    assert wrong_json(document, schema_of("history")) == []
    return document


def test_a_host_that_became_slow(make: Make, leadline: Leadline, tmp_path: Path) -> None:
    names = make(19, lambda number: [SLOW_HOST] * (number >= 10) + [SLOW_LINK] * (number % 6 == 2))
    done = leadline("history", "months", *names, "--output", "page.html")
    assert done.status == 0, done.err
    assert "added 19 runs" in done.err
    lines = done.out.splitlines()
    assert lines[:2] == [
        "CHANGED  1 host or target, last on 2026-03-16",
        "  19 runs on 8 hosts, 2026-01-05 to 2026-05-11",
    ]
    assert any(line.startswith("  2026-03-16  host3, 1 KiB: ") and "times slower" in line for line in lines)
    assert any(line.startswith("  the port of host3: found in 9 of 19 runs, last on 2026-05-11") for line in lines)
    assert any("the link between host1 and host6: found in 3 of 19 runs" in line for line in lines)

    document = document_of(leadline("history", "months", "--json"))
    (group,) = document["groups"]
    (change,) = [change for one in group["series"] for change in one["changes"]]
    assert (change["run_index"], change["start_utc"]) == (10, "2026-03-16T00:00:00Z")
    assert 1.4 < change["time_ratio"] < 1.7
    assert {one["part"] for one in group["series"] if one["kind"] == "link"} == {"host1,host6"}
    assert [len(one["values"]) for one in group["series"]] == [19] * len(group["series"])

    page = (tmp_path / "page.html").read_text("utf-8")
    for words in (
        "<strong>Changed.</strong>",
        "the port of host3",
        "2026-03-16T00:00:00Z: ",
        'class="change slower"',
    ):
        assert words in page
    assert "<script" not in page
    assert page.count("<polyline") == 4 + 1 + 1, "numbers of runs, the host, and the link"

    of_host = leadline("history", "months", "--host", "host3").out
    assert of_host.startswith("CHANGED  1 host or target")
    assert "host1" not in of_host
    of_link = leadline("history", "months", "--link", "host6,host1").out
    assert of_link.startswith("TOO FEW RUNS  a change can be told from 20 ")
    assert "host1 - host6, 1 KiB, the last of 19 values:" in of_link
    assert "18 runs" in leadline("history", "months", "--since", "2026-01-06").out


def test_the_same_result_is_kept_once(make: Make, leadline: Leadline, tmp_path: Path) -> None:
    (name,) = make(1)
    shutil.copy(tmp_path / name, tmp_path / "copy.h5")
    assert "added 1 run\n" in leadline("history", "months", name).err
    again = leadline("history", "months", name, "copy.h5")
    assert (again.status, again.err) == (0, "added 0 runs, 2 there already\n")
    assert document_of(leadline("history", "months", "--json"))["num_runs"] == 1


def test_all_benchmarks_and_checks(make: Make, leadline: Leadline) -> None:
    make(0)
    few = ("--local", "4", "--wait", "yield")
    runs = {
        "link": ("--messages", "2", "--message-size", "8"),
        "topology": ("--pattern", "ring", "--iterations", "3", "--message-size", "8"),
        "bisection": ("--rounds", "3", "--precision", "0", "--message-size", "8"),
        "congestion": ("--rounds", "2", "--test-time", "5ms", "--intensity", "100"),
        "collective": ("--rounds", "2", "--batches", "2", "--iterations", "2", "--message-size", "8"),
        "io": ("--objects", "2", "--object-size", "4KiB", "--delete"),
    }
    for name, words in runs.items():
        done = leadline(name, *few, *words, "-o", f"{name}.h5")
        assert done.status == 0, done.err
    checked = leadline("check", *few, "--budget", "2s", "--congestion", "-o", "checked")
    assert checked.status in (0, 1, 3), checked.err
    document = document_of(leadline("history", "months", *(f"{name}.h5" for name in runs), "checked", "--json"))
    assert {group["benchmark"] for group in document["groups"]} == set(runs)
    numbers = {one["name"] for group in document["groups"] for one in group["series"]}
    expected = {"same host, median", "exchange, ring", "eBB", "latency median, incast 100 %", "allreduce", "write"}
    assert expected <= numbers
    assert document["num_runs"] == len(runs) + 4, "those of the check, too"


def test_several_processes_add_at_once(make: Make, leadline: Leadline, tmp_path: Path) -> None:
    names = make(5)
    command = [program.PROGRAM, "history", "months", "--quiet"]
    running = [subprocess.Popen([*command, *part], cwd=tmp_path) for part in (names[:3], names[1:4], names[2:])]
    assert [one.wait() for one in running] == [0, 0, 0]
    document = document_of(leadline("history", "months", "--json"))
    assert document["num_runs"] == 5
    (group,) = document["groups"]
    assert all(one["num_values"] == 5 for one in group["series"])


def test_what_cannot_be_added_is_told_and_the_others_are_added(make: Make, leadline: Leadline, tmp_path: Path) -> None:
    good, damaged, other = make(3)
    with (tmp_path / damaged).open("r+b") as file:
        file.truncate(2000)
    with h5py.File(tmp_path / other, "r+") as file:
        del file["provenance"].attrs["start_utc"]
        file["provenance"].attrs["start_utc"] = "yesterday"
    done = leadline("history", "months", damaged, "none.h5", "faults.json", other, good)
    assert done.status == 1
    assert "4 results of 5 could not be added" in done.complaint
    told = [line for line in done.err.splitlines() if line.startswith("not added: ")]
    assert [line.split(": ")[1] for line in told] == [
        damaged,
        "none.h5",
        "faults.json",
        other,
    ]
    assert "when it was measured" in told[3]
    assert document_of(leadline("history", "months", "--json"))["num_runs"] == 1


def test_results_of_another_cluster_are_refused(make: Make, leadline: Leadline) -> None:
    names = make(1)
    assert leadline("history", "months", *names).status == 0
    local = leadline("link", "--local", "2", "--wait", "yield", "--messages", "2", "-o", "l.h5")
    assert local.status == 0, local.err
    done = leadline("history", "months", "l.h5")
    assert done.status == 1
    assert "is of another cluster" in done.err
    assert document_of(leadline("history", "months", "--json"))["num_runs"] == 1


def test_a_run_that_is_complete_takes_the_place_of_what_it_had_before(
    make: Make, leadline: Leadline, tmp_path: Path
) -> None:
    (name,) = make(1)
    with h5py.File(tmp_path / name, "r+") as file:
        file["status/complete"][()] = 0
    (group,) = document_of(leadline("history", "months", name, "--json"))["groups"]
    assert (group["runs"][0]["complete"], group["series"]) == (False, [])
    with h5py.File(tmp_path / name, "r+") as file:
        file["status/complete"][()] = 1
    (group,) = document_of(leadline("history", "months", name, "--json"))["groups"]
    assert group["runs"][0]["complete"]
    assert group["series"]


def test_a_site_profile_of_good_runs(make: Make, leadline: Leadline, tmp_path: Path) -> None:
    names = make(4, lambda number: [SLOW_HOST] * (number == 3))
    assert leadline("history", "months", *names).status == 0
    (tmp_path / names[1]).unlink()
    done = leadline("history", "months", "--profile", "site.json")
    assert done.status == 0, done.err
    assert "profile of 2 good runs: link · model" in done.err
    assert f"the files of 1 more are gone, the first was {tmp_path / names[1]}" in done.err
    profile = json.loads((tmp_path / "site.json").read_text("utf-8"))
    assert wrong_json(profile, schema_of("profile")) == []
    assert profile["num_runs"] == 2
    assert "times beside the site profile" in leadline("diagnose", names[3], "--profile", "site.json").out
    for name in names:
        (tmp_path / name).unlink(missing_ok=True)
    gone = leadline("history", "months", "--profile", "other.json")
    assert (gone.status, "no file of the 3 good runs is there" in gone.complaint) == (
        2,
        True,
    )


def test_stores_that_cannot_be_used(make: Make, leadline: Leadline, tmp_path: Path) -> None:
    names = make(1)
    assert leadline("history", "months", *names).status == 0
    store = tmp_path / "months" / "history.sqlite"
    whole = store.read_bytes()
    (tmp_path / "empty").mkdir()
    for words, named in (
        (["none"], "no folder"), (["empty"], "has no history"), (names, "has no history"),
        (["months", "--host", "h", "--link", "a,b"], "do not go together"), (["months", "--link", "a"], "--link"),
        (["months", "--since", "May"], "--since"), (["months", "--host", "nobody"], "nothing of the host nobody"),
        (["months", "--output", "page.txt"], "End it in .html"),
    ):  # fmt: skip
        done = leadline("history", *words)
        assert (done.status, done.out) == (2, ""), done.err
        assert named in done.complaint
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA user_version = 99")
    later = leadline("history", "months", *names)
    assert (later.status, "a later leadline" in later.complaint) == (2, True)
    store.write_bytes(b"no database at all, but long enough for one" * 100)
    for words in ([], names):
        done = leadline("history", "months", *words)
        assert (done.status, "no history of leadline" in done.complaint) == (2, True)
    store.write_bytes(whole[:6000] + b"\xff" * 20000 + whole[26000:])
    damaged = leadline("history", "months")
    assert damaged.status == 4
    assert "damaged" in damaged.complaint
    other = sqlite3.connect(tmp_path / "empty" / "history.sqlite")
    other.execute("CREATE TABLE mine (x)")
    other.close()
    assert leadline("history", "empty", *names).status == 2


def test_a_full_disk_loses_nothing(make: Make, leadline: Leadline, tmp_path: Path) -> None:
    names = make(2)
    assert leadline("history", "months", names[0]).status == 0
    limited = f"ulimit -f 8; exec {program.PROGRAM} history months {names[1]}"
    done = program.complete(["bash", "-c", f"trap '' XFSZ; {limited}"], tmp_path)
    assert (done.status, "history.sqlite" in done.complaint) == (4, True), done.err
    assert document_of(leadline("history", "months", "--json"))["num_runs"] == 1
    assert leadline("history", "months", names[1]).status == 0

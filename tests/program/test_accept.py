# SPDX-License-Identifier: Apache-2.0
"""`leadline accept`: limits that are kept, that are not, and that could not be tested; and wrong specifications."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import program
import pytest
from program import Done, Leadline
from result import schema_of, wrong_json

# Four hosts with two ranks each. Times are virtual: they do not depend on this machine.
FABRIC = {
    "ranks_per_host": 2, "host_name": "node", "jitter": 0.02,
    "same_host": {"latency_ns": 400, "bandwidth_bytes_per_s": 18e9},
    "between_hosts": {"latency_ns": 1400, "bandwidth_bytes_per_s": 12e9},
}  # fmt: skip
MODEL = "--local 8 --transport model:fabric.json"
LINK = f"link {MODEL} --message-size 8,1MiB --messages 20"
BETWEEN = "slices.between_hosts.time_ns_median"

Limits = list[dict[str, Any]]
Accept = Callable[..., Done]


@pytest.fixture
def accept(leadline: Leadline, tmp_path: Path) -> Accept:
    """Of parts, each a command line and its limits; all stays in the folder `kept`."""
    if not (program.ANALYSIS_COMMANDS / "leadline-accept").exists():
        pytest.skip("the analysis package is not installed where this Python is")
    (tmp_path / "fabric.json").write_text(json.dumps(FABRIC))

    def run(parts: dict[str, tuple[str, Limits]], *words: str, time_of: str = "", **head: Any) -> Done:
        all_parts: dict[str, dict[str, Any]] = {
            name: {"run": line, "limits": limits} for name, (line, limits) in parts.items()
        }
        if time_of:
            all_parts[time_of]["time"] = "1 s"
        spec = {"parts": all_parts} | head
        (tmp_path / "spec.yaml").write_text(json.dumps(spec))  # JSON is YAML
        return leadline("accept", "spec.yaml", "--output", "kept", *words)

    return run


def document_of(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "kept" / "accept.json").read_text("utf-8"))
    assert wrong_json(document, schema_of("acceptance")) == []
    return document


def limits_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [limit for part in document["parts"] for limit in part["limits"]]


FOUR_PARTS: dict[str, tuple[str, Limits]] = {
    "latency": (LINK, [{"title": "Small", "value": BETWEEN, "where": {"message_size_bytes": 8}, "at most": "1.6 us"},
                       {"count": "slices.diagnosis.faults", "where": {"list": "persistent"}, "at most": 0}]),
    "ring": (f"topology {MODEL} --pattern ring --iterations 5 --message-size 8",
             [{"value": "cells.exchange.time_ns_median", "at most": "1 ms"}]),
    "bisection": (f"bisection {MODEL} --rounds 4 --precision 0 --message-size 1MiB",
                  [{"value": "sizes.ebb.bytes_per_s_mean", "at least": "10 GB/s", "at most": "12.5 GB/s"}]),
    "files": ("io --local 2 --wait yield --object-size 4KiB --objects 2 --delete --target x.%r",
              [{"value": "phases.num_mismatches", "at most": 0}]),
}  # fmt: skip


def test_a_machine_that_keeps_all_limits_is_accepted(accept: Accept, leadline: Leadline, tmp_path: Path) -> None:
    done = accept(FOUR_PARTS, title="Four hosts", time="5 min")
    assert done.status == 0, done.err
    assert done.out.startswith("ACCEPTED  Four hosts\n  all 5 limits kept; ")
    document = document_of(tmp_path)
    assert (document["state"], document["time_s"]) == ("passed", 300)
    small, faults, *others = limits_of(document)
    assert 1400 <= small["value"] <= 1600
    assert (small["limit_text"], small["num_values"]) == ("at most 1.6 us", 1)
    assert (faults["value"], faults["num_values"]) == (0, 2), "of each message size"
    assert [one["state"] for one in others] == ["passed"] * 3

    made = leadline("report", "kept", "--json")
    assert made.status == 0, made.err
    pages = [Path(one["path"]).name for one in json.loads(made.out)["files"]]
    assert pages == ["report.html", *(f"{name}.html" for name in FOUR_PARTS)]
    page = (tmp_path / "kept" / "report.html").read_text("utf-8")
    for words in ("<strong>Accepted.</strong>", "Four hosts", "Small", "at most 1.6 us", 'href="ring.html"'):
        assert words in page


CONGESTION = "congestion --local 4 --wait yield --rounds 2 --test-time 20ms --intensity 0,100%"


def test_what_a_load_does_has_limits(accept: Accept, leadline: Leadline, tmp_path: Path) -> None:
    """Of this machine it is only known that times are above 0."""
    median = "impacts.median.estimate"
    under = {"load": "incast", "intensity_percent": "100 %"}
    limits: Limits = [
        {"title": "Median under load", "value": median, "where": under | {"test": "latency"}, "at most": 1e9},
        {"value": "impacts.loaded.time_ns_median", "where": under | {"test": "allreduce"}, "at most": "1 min"},
        {"value": "loads.bytes_per_s", "at least": "1 B/s"},
        {"value": median, "where": {"test": "latency", "load": "incast"}, "at most": "0.000001 %"},
    ]
    done = accept({"others": (CONGESTION, limits)})
    assert done.status == 1, done.err
    told = limits_of(document_of(tmp_path))
    assert [one["state"] for one in told] == ["passed"] * 3 + ["failed"]
    assert told[0]["num_values"] == 1
    assert told[3]["place"] == "100 %"
    assert (told[1]["unit"], told[2]["unit"]) == ("nanoseconds", "bytes per second")
    assert leadline("report", "kept", "--json").status == 0
    assert (tmp_path / "kept" / "others.html").exists()


def test_the_worst_number_is_told_where_a_limit_is_not_kept(accept: Accept, leadline: Leadline, tmp_path: Path) -> None:
    done = accept({"latency": (LINK, [{"title": "Time", "value": BETWEEN, "at most": "1.6 us"},
                                      {"value": "slices.same_host.time_ns_median", "at most": "1 s"}])})  # fmt: skip
    assert done.status == 1
    assert done.complaint == "leadline: spec: 1 of 2 limits is not kept."
    time, _ = limits_of(document_of(tmp_path))
    assert (time["state"], time["place"], time["num_values"]) == ("failed", "1 MiB", 2)
    assert time["value"] > 1600
    assert any(line.split()[0] == "FAIL" and "(1 MiB)" in line for line in done.out.splitlines()[2:])
    assert "Not accepted" in leadline("report", "kept", "-o", "-").out


def test_what_has_no_number_is_not_tested(accept: Accept, tmp_path: Path) -> None:
    on_one_host = "link --local 2 --wait yield --message-size 8 --messages 5"
    done = accept({"latency": (on_one_host, [{"value": BETWEEN, "at most": "1 s"}])})
    assert done.status == 3
    (limit,) = limits_of(document_of(tmp_path))
    assert (limit["state"], limit["why_untested"], limit["value"]) == ("untested", "it has no value", None)


def test_a_part_whose_time_is_over_is_ended_and_the_next_one_measured(accept: Accept, tmp_path: Path) -> None:
    endless = "link --local 2 --wait yield --message-size 8 --messages 100000000"
    limits = [{"value": "slices.all.time_ns_median", "at most": "1 s"}]
    done = accept({"endless": (endless, limits), "short": (LINK, limits)}, time_of="endless")
    assert done.status == 3
    assert [one["state"] for one in limits_of(document_of(tmp_path))] == ["untested", "passed"]
    assert "its time was over" in done.out
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in running or "--messages 100000000" not in running


def test_parts_are_not_begun_after_the_time_of_all(accept: Accept, tmp_path: Path) -> None:
    endless = "link --local 2 --wait yield --message-size 8 --messages 100000000"
    limits = [{"value": "slices.all.time_ns_median", "at most": "1 s"}]
    assert accept({"endless": (endless, limits), "late": (LINK, limits)}, time="1 s").status == 3
    late = document_of(tmp_path)["parts"][1]
    assert "was over before" in late["why_not"]
    assert not (tmp_path / "kept" / "late.h5").exists()


def test_a_machine_that_lost_a_rank_is_not_accepted(accept: Accept, tmp_path: Path) -> None:
    launcher = tmp_path / "launch"
    launcher.write_text("""#!/bin/sh
"$@" &
until grep -q ' random ' kept/all.txt; do kill -0 $! || exit; sleep 0.1; done
kill -KILL "$(pgrep -P $! | tail -1)"
wait $!
""")
    launcher.chmod(0o755)
    line = "bisection --local 4 --wait yield --message-size 8 --precision 0 --time-limit 4s --timeout 4s"
    done = accept({"all": (line, [{"value": "sizes.ebb.num", "at least": 1}])}, "--launcher", str(launcher))
    assert done.status == 3, done.out
    (part,) = document_of(tmp_path)["parts"]
    assert "1 rank was lost" in part["why_not"]
    assert part["command"][0] == str(launcher)


def test_what_a_run_refuses_is_told(accept: Accept, tmp_path: Path) -> None:
    line = "link --local 2 --transport model:none.json"
    done = accept({"latency": (line, [{"value": BETWEEN, "at most": "1 s"}])})
    assert done.status == 3
    assert "none.json" in document_of(tmp_path)["parts"][0]["why_not"]
    assert "none.json" in (tmp_path / "kept" / "latency.txt").read_text("utf-8")


def test_the_same_results_are_judged_by_other_limits(accept: Accept, tmp_path: Path) -> None:
    assert accept({"latency": (LINK, [{"value": BETWEEN, "at most": "1 s"}])}).status == 0
    before = (tmp_path / "kept" / "latency.h5").stat().st_mtime_ns
    strict = accept({"latency": (LINK, [{"value": BETWEEN, "at most": "1 ns"}])}, "--judge-only")
    assert strict.status == 1
    assert "judged by earlier results" in strict.out
    assert (tmp_path / "kept" / "latency.h5").stat().st_mtime_ns == before
    other = accept({"latency": (LINK + " --warmup 3", [{"value": BETWEEN, "at most": "1 s"}])}, "--judge-only")
    assert other.status == 3
    assert "another command" in document_of(tmp_path)["parts"][0]["why_not"]
    assert accept({"none": (LINK, [{"value": BETWEEN, "at most": "1 s"}])}, "--judge-only").status == 3


def test_a_folder_with_something_in_it_is_left_alone(accept: Accept, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "latency.h5").write_text("mine")
    parts = {"latency": (LINK, [{"value": BETWEEN, "at most": "1 s"}])}
    done = accept(parts)
    assert (done.status, "not empty" in done.complaint) == (2, True)
    assert (tmp_path / "kept" / "latency.h5").read_text() == "mine"
    assert accept(parts, "--overwrite").status == 0


def test_a_plan_measures_nothing(accept: Accept, tmp_path: Path) -> None:
    done = accept(FOUR_PARTS, "--dry-run", "--launcher", "srun --nodes 4")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert len(lines) == len(FOUR_PARTS)
    assert all(line.startswith("srun --nodes 4 ") for line in lines)
    assert not (tmp_path / "kept").exists()


GOOD: Limits = [{"value": BETWEEN, "at most": "1 s"}]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("parts: [", "no YAML"),
        ("parts: {a: 1, a: 2}", "'a' stands twice"),
        ("[]", "here must be title, time, parts"),
        ("parts: {}", "at least one run"),
        ({"part": {}}, "Did you mean parts?"),
        ({"parts": {"A b": {}}}, "cannot be the name of a part"),
        ({"parts": {"a": {"run": "link"}}}, "'limits' is missing"),
        ({"parts": {"a": {"run": "link", "limits": []}}}, "a list of at least one"),
        ({"parts": {"a": {"run": "diagnose", "limits": GOOD}}}, "must be a benchmark"),
        ({"parts": {"a": {"run": "link 'x", "limits": GOOD}}}, "part a, run"),
        ({"parts": {"a": {"run": "link --output x", "limits": GOOD}}}, "--output cannot stand here"),
        ({"parts": {"a": {"run": "link --frobnicate", "limits": GOOD}}}, "part a cannot be run"),
        ({"parts": {"a": {"run": "link", "time": "soon", "limits": GOOD}}}, "'soon' is no such limit"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("accept")
def test_a_wrong_specification_is_refused(leadline: Leadline, tmp_path: Path, text: Any, named: str) -> None:
    (tmp_path / "wrong.yaml").write_text(text if isinstance(text, str) else json.dumps(text))
    done = leadline("accept", "wrong.yaml", "--output", "kept")
    assert (done.status, done.out) == (2, "")
    assert named in done.complaint
    assert not (tmp_path / "kept").exists(), "nothing was measured"


@pytest.mark.parametrize(
    ("limit", "named"),
    [
        ({"at most": 1}, "either 'value' or 'count'"),
        ({"value": BETWEEN}, "'at least' or 'at most' is missing"),
        ({"value": BETWEEN, "at mots": "1 us"}, "Did you mean at most?"),
        ({"value": "slices.between_hosts.time_ns_p98", "at most": "1 us"}, "no 'time_ns_p98' in slices.between_hosts"),
        ({"value": "slices.between_hosts", "at most": "1 us"}, "slices.between_hosts is no number"),
        ({"count": BETWEEN, "at most": 1}, "is no list"),
        ({"value": BETWEEN, "at most": "1 GiB/s"}, "Write a number with one of ns"),
        ({"value": BETWEEN, "at most": "fast"}, "'fast' is no such limit"),
        ({"value": BETWEEN, "at most": 5}, "Write a number with one of ns"),
        ({"value": BETWEEN, "at most": "1 us", "where": {"size": 8}}, "no list on this way has 'size'"),
        ({"value": BETWEEN, "at most": "1 us", "where": {"message_size_bytes": "8 MB"}}, "cannot be '8 MB'"),
        ({"count": "slices.diagnosis.faults", "at most": 0, "where": {"list": "bad"}}, "list is never 'bad'"),
    ],
)  # fmt: skip
def test_a_wrong_limit_is_refused(accept: Accept, limit: dict[str, Any], named: str) -> None:
    done = accept({"latency": (LINK, [limit])})
    assert (done.status, done.out) == (2, "")
    assert named in done.complaint
    assert "latency, limit 1" in done.complaint


def test_a_wrong_intensity_is_refused(accept: Accept) -> None:
    limit = {"value": "impacts.p99.low", "where": {"intensity_percent": "half"}, "at most": 10}
    done = accept({"others": (CONGESTION, [limit])})
    assert (done.status, done.out) == (2, "")
    assert "intensity_percent cannot be 'half'" in done.complaint


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--judge-only"], "--judge-only needs the folder"),
        (["--launcher", ""], "--launcher is empty"),
        (["--launcher", "srun", "--judge-only"], "--launcher has no effect"),
        (["--json", "none/there"], "none/there"),
    ],
)
def test_wrong_options(accept: Accept, words: list[str], named: str) -> None:
    done = accept({"latency": (LINK, GOOD)}, *words)
    assert done.status == 2
    assert named in done.complaint

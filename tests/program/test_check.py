# SPDX-License-Identifier: Apache-2.0
"""`leadline check`: what it answers of simulated hosts, in each form, and what it leaves behind."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import program
import pytest
from program import Done, Leadline
from result import schema_of, wrong_json

# Eight hosts on two switches, a rank each. Times are virtual: they do not depend on this machine.
FABRIC = {
    "same_host": {"latency_ns": 400, "bandwidth_bytes_per_s": 18e9},
    "between_hosts": {"latency_ns": 1400, "bandwidth_bytes_per_s": 24e9},
    "between_switches": {"latency_ns": 1900, "bandwidth_bytes_per_s": 24e9},
    "hosts_per_switch": 4,
    "jitter": 0.02,
    "host_name": "node",
}
SLOW_HOSTS = [{"slow_host": 2, "factor": 3}, {"slow_host": 5, "factor": 3}]
BUDGET = ["--budget", "2s", "--wait", "yield"]
STATUS = {"good": 0, "warning": 0, "bad": 1, "untested": 3}


@pytest.fixture
def check(leadline: Leadline, tmp_path: Path):
    """Of hosts with these faults; by default it keeps no files."""

    def run(faults: list[dict[str, object]], *words: str, files: tuple[str, ...] = ("--no-files",)) -> Done:
        (tmp_path / "fabric.json").write_text(json.dumps(FABRIC | {"faults": faults}))
        where = ["--local", "8", "--transport", "model:fabric.json", "--topology", "fat-tree:4x2"]
        return leadline("check", *where, *BUDGET, *files, *words)

    return run


def document_of(done: Done) -> dict:
    document = json.loads(done.out)
    assert wrong_json(document, schema_of("check")) == []
    assert done.status == document["exit_status"] == STATUS[document["state"]], done.err
    return document


def test_sound_hosts_are_good(check, tmp_path: Path):
    before = {*tmp_path.iterdir()}
    done = check([])
    assert (done.status, done.complaints) == (0, [])
    assert done.out.startswith("GOOD  8 ranks on 8 hosts, ")
    assert {*tmp_path.iterdir()} - before == {tmp_path / "fabric.json"}, "no file is kept"


def test_slow_hosts_are_named_first(check):
    done = check(SLOW_HOSTS)
    lines = done.out.splitlines()
    assert done.status == 1
    assert lines[0].startswith("BAD  8 ranks on 8 hosts, ")
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 80
    assert " drain: node[2,5]" in lines
    (finding,) = [line for line in lines if line.startswith(" 1  ")]
    assert re.match(r" 1  hosts node\[2,5\] +x(3|2\.9\d?|3\.0\d?)", finding)
    assert done.complaint == "leadline: 1 fault found"


def test_json_has_what_the_text_has(check, tmp_path: Path):
    document = document_of(check(SLOW_HOSTS, "--json"))
    assert document["drain"] == ["node2", "node5"]
    assert document["drain_list"] == "node[2,5]"
    bad = [one for one in document["problems"] if one["grade"] == "bad"]
    assert [(one["kind"], one["host_list"]) for one in bad] == [("host", "node[2,5]")]
    assert bad[0]["ratio"] == pytest.approx(3, rel=0.1)
    numbers = {one["name"]: one for one in document["numbers"]}
    far = numbers["different leaf switches"]
    assert far["time_ns"] == pytest.approx(1900, rel=0.05)
    assert far["bytes_per_s"] == pytest.approx(23e9, rel=0.1)
    assert [part["name"] for part in document["parts"]] == ["latency", "bandwidth", "bisection"]
    beside = check(SLOW_HOSTS, "--json", "said.json")
    assert beside.out.startswith("BAD  "), "the text is printed, too"
    assert json.loads((tmp_path / "said.json").read_text())["drain"] == ["node2", "node5"]


def test_files_of_all_parts_are_results(check, leadline: Leadline, tmp_path: Path):
    done = check(SLOW_HOSTS, files=("--output", "kept"))
    assert {one.name for one in (tmp_path / "kept").iterdir()} == {
        "latency.h5",
        "bandwidth.h5",
        "bisection.h5",
        "check.json",
    }
    assert json.loads((tmp_path / "kept" / "check.json").read_text())["state"] == "bad"
    (named,) = re.findall(r"^ report: leadline report (\S+)$", done.out, re.M)
    assert named == "kept"
    for part in ("latency", "bandwidth", "bisection"):
        told = leadline("diagnose", f"kept/{part}.h5", "--topology", "fat-tree:4x2", "--strict")
        assert told.status == 1
        assert "hosts node[2,5]" in told.out
    again = check([], files=("--output", "kept"))
    assert again.status == 2
    assert "'kept' is not empty" in again.complaint
    assert check([], files=("--output", "kept", "--overwrite")).status == 0
    assert json.loads((tmp_path / "kept" / "check.json").read_text())["state"] == "good"


def test_forms_for_programs(check):
    assert check(SLOW_HOSTS, "--format", "hostlist").out == "node[2,5]\n"
    assert check([], "--format", "hostlist").out == ""
    commands = check(SLOW_HOSTS, "--format", "slurm").out.splitlines()
    assert [line.split(" Reason=")[0] for line in commands] == [
        f"scontrol update NodeName={host} State=DRAIN" for host in ("node2", "node5")
    ]


def test_the_status_may_be_that_of_the_own_host(leadline: Leadline, tmp_path: Path):
    """Ranks that are started one by one, as in a prolog: each has its own status."""
    (tmp_path / "fabric.json").write_text(json.dumps(FABRIC | {"faults": SLOW_HOSTS}))
    ports = program.free_ports(8)
    words = ["check", "--transport", "model:fabric.json", *BUDGET, "--no-files", "--status-of-host"]
    with contextlib.ExitStack() as stack:
        environments = [program.explicit_environment(["127.0.0.1"] * 8, ports, rank) for rank in range(8)]
        runs = [stack.enter_context(program.Run([program.PROGRAM, *words], tmp_path, one)) for one in environments]
        ends = [run.finish() for run in runs]
    assert [done.status for done in ends] == [0, 0, 1, 0, 0, 1, 0, 0]
    assert ends[0].complaint == "leadline: 1 fault found"
    for rank in (2, 5):
        assert ends[rank].complaint.startswith(f"leadline: node{rank} is to be drained (hosts node[2,5] x")
    assert ends[1].complaints == []
    done = leadline("check", "--local", "3", *BUDGET, "--status-of-host", "--format", "nagios")
    assert (done.status, "--status-of-host has no effect" in done.complaint) == (3, True)


def test_nagios_has_its_own_status(check):
    bad, good = check(SLOW_HOSTS, "--format", "nagios"), check([], "--format", "nagios")
    assert (bad.status, good.status) == (2, 0)
    assert bad.out.startswith("LEADLINE CRITICAL - hosts node[2,5] x")
    assert good.out.startswith("LEADLINE OK - no fault found |")
    for done in (bad, good):
        (line,) = done.out.splitlines()
        text, data = line.split(" | ")
        assert re.fullmatch(r"('[^'=]+'|\w+)=[\d.e+-]+(us|B|s)?(;;0)?( ('[^'=]+'|\w+)=[\d.e+-]+(us|B|s)?(;;0)?)*", data)
        assert "|" not in text


@pytest.mark.parametrize("words", [["--frobnicate"], ["--output", "none/there"]])
def test_what_nagios_gets_of_a_check_that_cannot_begin(check, words: list[str]):
    done = check([], "--format", "nagios", *words, files=())
    assert done.status == 3, "2 would be CRITICAL"
    assert words[-1] in done.complaint


def test_junit_has_a_case_for_each_host(check):
    suite = ET.fromstring(check(SLOW_HOSTS, "--format", "junit").out).find("testsuite")
    failed = {case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None}
    assert failed == {"host node2", "host node5"}
    assert suite.get("failures") == "2"
    assert int(suite.get("tests")) == len(list(suite.iter("testcase"))) == 8 + 3 + 1


def test_metrics_are_read_by_prometheus(check, tmp_path: Path):
    parser = pytest.importorskip("prometheus_client.openmetrics.parser", reason="prometheus_client is not installed")
    check(SLOW_HOSTS, "--prom", "leadline.prom")
    check(SLOW_HOSTS, "--prom", "leadline.prom")  # replaced
    families = {
        one.name: one for one in parser.text_string_to_metric_families((tmp_path / "leadline.prom").read_text())
    }
    states = {sample.labels["state"]: sample.value for sample in families["leadline_check_state"].samples}
    assert states == {"good": 0, "warning": 0, "bad": 1, "untested": 0}
    drained = {sample.labels["host"] for sample in families["leadline_check_drain"].samples}
    assert drained == {"node2", "node5"}
    (slow,) = families["leadline_check_slowdown_ratio"].samples
    assert slow.labels["hosts"] == "node[2,5]"
    assert slow.value == pytest.approx(3, rel=0.1)


def test_limits_say_what_is_bad(check):
    faults = [{"slow_host": 2, "factor": 1.5}]
    assert check(faults).status == 1
    document = document_of(check(faults, "--fail", "0.5", "--warn", "0.8", "--json"))
    assert document["state"] == "warning"
    assert document["drain"] == []


def test_a_site_profile_says_what_it_should_give(check, leadline: Leadline):
    assert check([], files=("--output", "good")).status == 0
    made = leadline("profile", "good/latency.h5", "good/bandwidth.h5", "--topology", "fat-tree:4x2", "-o", "site.json")
    assert made.status == 0, made.err
    good = document_of(check([], "--profile", "site.json", "--json"))
    assert good["state"] == "good"
    shares = {one["name"]: one["share"] for one in good["numbers"] if one["yardstick"] == "profile"}
    assert shares["different leaf switches"] == pytest.approx(1, abs=0.05)
    # All hosts alike are slow: nobody differs.
    everybody = [{"slow_host": host, "factor": 2} for host in range(8)]
    assert document_of(check(everybody, "--json"))["state"] == "good"
    bad = document_of(check(everybody, "--profile", "site.json", "--json"))
    assert bad["state"] == "bad"
    assert {one["kind"] for one in bad["problems"] if one["grade"] == "bad"} == {"class"}
    other = check([], "--profile", "site.json", "--latency-size", "16", "--bandwidth-size", "1MiB")
    assert other.status == 2
    assert "neither --latency-size nor --bandwidth-size" in other.complaint


def test_a_file_system_is_tested_too(leadline: Leadline, tmp_path: Path):
    (tmp_path / "scratch").mkdir()
    done = leadline(
        "check", "--local", "3", *BUDGET, "--no-files", "--target", "scratch", "--target-size", "2MiB", "--json"
    )
    document = json.loads(done.out)
    assert wrong_json(document, schema_of("check")) == []
    assert [part["name"] for part in document["parts"]][-1] == "files"
    rates = {one["name"].split()[0]: one["bytes_per_s"] for one in document["numbers"]}
    assert rates["write"] > 0
    assert rates["read"] > 0
    assert list((tmp_path / "scratch").iterdir()) == [], "its files are removed"


def test_what_load_does_to_others_is_measured_too(leadline: Leadline, tmp_path: Path):
    """Over loopback on a busy machine a load may have an effect or none; never one of a million."""
    words = ["--local", "4", *BUDGET, "--congestion", "--fail-above", "1000000"]
    done = leadline("check", *words, "--output", "kept", "--json", "--prom", "leadline.prom")
    assert done.status in (0, 1), done.err
    document = json.loads(done.out)
    assert wrong_json(document, schema_of("check")) == []
    assert [part["name"] for part in document["parts"]] == ["latency", "bandwidth", "bisection", "congestion"]
    assert document["parts"][-1]["why_not"] is None
    of_load = {one["name"]: one["impact"] for one in document["numbers"] if one["name"].endswith(", incast")}
    assert {name.split()[0] for name in of_load} == {"latency", "bandwidth", "allreduce"}
    impacts = {name: impact for name, impact in of_load.items() if impact}
    assert impacts, "in a round of a busy machine a stream may be too short for a factor, but not all tests"
    assert all(0 < one["estimate"] < 1e6 for one in impacts.values())
    assert not any(one["kind"] == "congestion" for one in document["problems"])
    metrics = (tmp_path / "leadline.prom").read_text()
    assert all(f'leadline_check_impact_ratio{{of="{name}"}}' in metrics for name in impacts)
    assert "congestion test" in leadline("info", "kept/congestion.h5").out
    if not (program.ANALYSIS_COMMANDS / "leadline-report").exists():
        pytest.skip("the analysis package is not installed where this Python is")
    made = leadline("report", "kept", "--json")
    assert "congestion.html" in [Path(one["path"]).name for one in json.loads(made.out)["files"]], made.err
    page = (tmp_path / "kept" / "report.html").read_text("utf-8")
    assert all(f"<td>{name}</td>" in page for name in impacts)
    assert "alone: " in page


def test_the_part_of_congestion_is_planned(leadline: Leadline):
    words = ["--dry-run", "--ranks", "8", "--ranks-per-host", "1"]
    assert "leadline congestion" in leadline("check", "--congestion", *words).out
    assert "leadline congestion" not in leadline("check", *words).out


def test_too_few_ranks_for_congestion(leadline: Leadline, tmp_path: Path):
    leadline("check", "--local", "3", *BUDGET, "--congestion").assert_refused(2, "at least 4 ranks")
    assert list(tmp_path.iterdir()) == []


def test_the_page_says_which_hosts_were_chosen(check, leadline: Leadline, tmp_path: Path):
    """The hosts of a simulated fabric are one host, of which nothing can be chosen: the document is made up of one."""
    assert check([], files=("--output", "kept")).status == 0
    path = tmp_path / "kept" / "check.json"
    document = json.loads(path.read_text())
    assert document["sample"] is None
    document["options"]["sample"] = "2%"
    document["sample"] = {
        "num_hosts_started": 420, "host_names": [f"node{host}" for host in range(8)], "host_list": "node[0-7]",
        "not_tested": ["node8"], "not_tested_list": "node[8-419]",
    }  # fmt: skip
    assert wrong_json(document, schema_of("check")) == []
    path.write_text(json.dumps(document))
    page = leadline("report", "kept", "-o", "-").out
    assert "<h1>8 ranks on 8 of 420 hosts</h1>" in page
    assert "Tested, chosen at random: node[0-7]. Not tested: node[8-419]." in page
    assert "--sample 2% --seed 1" in page
    del document["sample"], document["options"]["sample"]  # of an earlier version
    path.write_text(json.dumps(document))
    assert "<h1>8 ranks on 8 hosts</h1>" in leadline("report", "kept", "-o", "-").out


def test_of_one_host_nothing_can_be_chosen(check, leadline: Leadline):
    done = check([], "--sample", "50%")
    assert done.status == 2
    assert "all ranks are on one host" in done.complaint
    plan = leadline("check", "--sample", "5%", "--dry-run", "--ranks", "840", "--ranks-per-host", "2").out
    assert plan.startswith("840 ranks, 2 a host on 21 of 420 hosts: ")


def test_two_ranks_cannot_be_judged(leadline: Leadline):
    done = leadline("check", "--local", "2", "--budget", "2s", "--wait", "yield", "--no-files")
    assert done.status == 3
    assert done.out.startswith("UNTESTED  2 ranks on 1 host")
    assert "of two ranks it cannot be decided" in done.complaint


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--output", "none/there"], "none/there"),
        (["--no-files", "--json", "none/there.json"], "none/there.json"),
        (["--no-files", "--prom", "none/there.prom"], "none/there.prom"),
        (["--no-files", "--target", "fabric.json"], "fabric.json"),
        (["--no-files", "--profile", "fabric.json"], "fabric.json"),
        (["--no-files", "--routes", "none.lfts"], "ibnetdiscover"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_measured(check, words: list[str], named: str):
    done = check([], *words, files=())
    assert done.status == 2
    assert named in done.complaint
    assert "measuring bandwidth" not in done.err


def test_a_folder_in_which_nothing_may_be_made(leadline: Leadline) -> None:
    done = leadline("check", "--local", "2", "--wait", "yield", "--output", "/sys/leadline-check")
    done.assert_refused(3, "the folder '/sys/leadline-check' cannot be made", "--output", "--no-files")


def test_the_page_of_a_check_says_the_same(check, leadline: Leadline, tmp_path: Path):
    if not (program.ANALYSIS_COMMANDS / "leadline-report").exists():
        pytest.skip("the analysis package is not installed where this Python is")
    assert check(SLOW_HOSTS, files=("--output", "kept")).status == 1
    made = leadline("report", "kept", "--json")
    assert made.status == 0, made.err
    written = json.loads(made.out)
    assert wrong_json(written, schema_of("written")) == []
    pages = [Path(one["path"]).name for one in written["files"]]
    assert pages == ["report.html", "latency.html", "bandwidth.html", "bisection.html"]
    page = (tmp_path / "kept" / "report.html").read_text("utf-8")
    assert '<strong id="drain">node[2,5]</strong>' in page
    assert "hosts node[2,5]" in page
    (picture,) = re.findall(r'<img src="data:image/png;base64,([^"]+)" alt="times between all ranks: (\w+)"', page)
    assert base64.b64decode(picture[0]).startswith(b"\x89PNG\r\n")
    assert picture[1] in ("latency", "bandwidth")
    assert "img-src data:" in page
    for name in pages[1:]:
        assert f'href="{name}"' in page
        assert (tmp_path / "kept" / name).is_file()
    assert leadline("report", "kept/check.json", "-o", "-").out.count("node[2,5]") >= 2

    document = tmp_path / "kept" / "check.json"
    text = document.read_text("utf-8")
    document.write_text(text.replace("node[2,5]", "<script>node</script>"), "utf-8")
    assert "<script" not in leadline("report", "kept", "-o", "-").out
    for content, status, named in (
        ("{", 4, "no JSON"),
        ('{"benchmark": "link"}', 2, "not the document of leadline check"),
        ('{"benchmark": "check", "parts": []}', 4, "not as leadline check writes it"),
        ('{"benchmark": "check"}', 4, "not as leadline check writes it"),
    ):
        document.write_text(content, "utf-8")
        refused = leadline("report", "kept", "-o", "-")
        assert refused.status == status, refused.err
        assert named in refused.complaint
    document.write_text(text, "utf-8")
    for words, named in ((["-o", "x.pdf"], "x.pdf"), (["--statistic", "p99"], "--statistic")):
        refused = leadline("report", "kept", *words)
        assert refused.status == 2
        assert named in refused.complaint

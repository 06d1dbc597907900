# SPDX-License-Identifier: Apache-2.0
"""The list of the faults of one result with several sizes is the same wherever it is shown."""

from __future__ import annotations

import csv
import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import program
import pytest
from fabrics import fabric_file
from program import Leadline
from result import schema_of, summary_of, wrong_json

import leadline as package
from leadline.cli.export import main as export_main
from leadline.cli.report import main as report_main

FAULTS = ({"slow_host": 5, "factor": 1.8}, {"slow_link": [6, 1], "factor": 4}, {"slow_rank": 4, "factor": 2.5})
KEYS = ("kind", "name", "list", "num_found", "num_slices")


@pytest.fixture
def measured(link: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """8 hosts of 2 ranks with three faults, measured with three sizes."""
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))
    monkeypatch.chdir(tmp_path)
    fabric = fabric_file(tmp_path, *FAULTS, host_name="node", hosts_per_switch=4, jitter=0.02)
    link("--transport", fabric, "--local", "16", "--message-size", "8,1KiB,64KiB", "--output", "r.h5")
    return tmp_path / "r.h5"


def test_one_list_on_all_surfaces(measured: Path, leadline: Leadline) -> None:
    document = json.loads(leadline("diagnose", measured, "--json").out)
    assert wrong_json(document, schema_of("diagnosis")) == []
    listed = document["faults"]
    names = [one["name"] for one in listed]
    assert {"host node5", "the link between node1 and node6", "rank 4 on node2"} <= set(names)
    assert len(set(names)) == len(names), "each once"
    for one in listed:
        (part,) = (part for part in document["slices"] if part["size_index"] == one["size_index"])
        of_slice = part["diagnosis"]["faults"][one["fault_index"]]
        assert all(of_slice[key] == one[key] for key in ("kind", "name", "list", "ratio"))

    in_file = summary_of(measured)["faults"]
    assert [[one[key] for key in KEYS] for one in in_file] == [[one[key] for key in KEYS] for one in listed]

    text = leadline("diagnose", measured).out.partition("faults of all slices, each once\n")[2]
    told = re.findall(r"^  (?:\d+\.|-) (.+?) is (?:slow|unsteady).*; in (\d) of (\d), here with", text, re.MULTILINE)
    assert told == [(one["name"], str(one["num_found"]), str(one["num_slices"])) for one in listed]

    assert export_main([str(measured), "--bad-links", "-o", "bad.tsv"]) == 0
    lines = csv.DictReader(Path("bad.tsv").read_text().splitlines(), delimiter="\t")
    rows = [line for line in lines if line["what"] == "fault"]
    assert [[row[key] for key in KEYS] for row in rows] == [[str(one[key]) for key in KEYS] for one in in_file]
    assert [float(row["ratio"]) for row in rows] == pytest.approx([one["ratio"] for one in in_file], abs=6e-4)

    result = package.load(measured)
    assert isinstance(result, package.LinkResult)
    assert result.faults is not None
    assert [one.fault.name for one in result.faults] == names

    assert report_main([str(measured), "-o", "r.html"]) == 0
    page = html.unescape(re.sub(r"<[^>]*>", "", "\n".join(re.findall("<h2>.*?</h2>", Path("r.html").read_text()))))
    titles = re.findall(r"^(?:\w[\w ]*: )?(.+) is (?:slow|unsteady)", page, re.MULTILINE)
    assert [title.lower() for title in titles] == names


def test_the_sheet_has_it(measured: Path) -> None:
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed")
    names = [one["name"] for one in summary_of(measured)["faults"]]
    assert report_main([str(measured), "-o", "r.pdf"]) == 0
    done = subprocess.run(["pdftotext", "r.pdf", "-"], check=True, capture_output=True, text=True)
    text = " ".join(done.stdout.split()).lower()
    places = [text.find(f"{name} is ") for name in names]
    assert -1 not in places
    assert places == sorted(places)


ALIKE = ({"slow_host": 5, "factor": 1.8}, {"slow_host": 2, "factor": 2.2}, {"slow_link": [6, 1], "factor": 4})
NAMES = ["hosts node[2,5]", "the link between node1 and node6"]


def told_of(listed: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """What texts say of the faults of a document: each group with its range of factors."""
    ratios: dict[str, list[float]] = {}
    for one in listed:
        ratios.setdefault(one["group_name"], []).append(one["ratio"])
    ranges = [dict.fromkeys((f"{min(of_group):.3g}", f"{max(of_group):.3g}")) for of_group in ratios.values()]
    return [(name, " to ".join(one)) for name, one in zip(ratios, ranges, strict=True)]


@pytest.fixture(params=["8", "8,1KiB,64KiB"])
def with_alike(
    request: pytest.FixtureRequest,
    link: Leadline,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[Path, str]:
    """Two slow hosts and a slow link, and what the run says of them; the factor of each host is its own."""
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))
    monkeypatch.chdir(tmp_path)
    fabric = fabric_file(tmp_path, *ALIKE, host_name="node", hosts_per_switch=4, jitter=0.02)
    words = (
        "--transport",
        fabric,
        "--local",
        "16",
        "--message-size",
        request.param,
        "--output",
        "r.h5",
    )
    return tmp_path / "r.h5", link(*words).out


def test_alike_places_are_told_as_one(with_alike: tuple[Path, str], leadline: Leadline) -> None:
    measured, run_text = with_alike
    listed = json.loads(leadline("diagnose", measured, "--json").out)["faults"]
    assert summary_of(measured)["faults"] == listed, "the document has each"
    assert {one["name"] for one in listed} == {"host node2", "host node5", NAMES[1]}
    told = told_of(listed)
    assert [name for name, _ in told] == NAMES
    assert told[0][1].count(" to ") == 1

    told_in_text = re.compile(r"^  \d+\. (.+?) (?:is|are) slow: (.+?) times as long", re.MULTILINE)
    assert told_in_text.findall(run_text) == told
    num_lists = len(summary_of(measured)["slices"])
    diagnosed = leadline("diagnose", measured).out
    assert diagnosed.count("verdict: 2 faults found") == num_lists
    assert told_in_text.findall(diagnosed)[-2:] == told
    assert [name for name, _ in told_in_text.findall(diagnosed)] == NAMES * (num_lists + (num_lists > 1))

    assert export_main([str(measured), "--bad-links", "-o", "bad.tsv"]) == 0
    lines = csv.DictReader(Path("bad.tsv").read_text().splitlines(), delimiter="\t")
    assert [line["name"] for line in lines if line["what"] == "fault"] == [one["name"] for one in listed]

    assert report_main([str(measured), "-o", "r.html"]) == 0
    page = html.unescape(re.sub(r"<[^>]*>", "", Path("r.html").read_text().partition('id="faults"')[2]))
    titles = re.findall(r"^(\w.+?) (?:is|are) slow\s+×([\d.]+(?: to [\d.]+)?)", page, re.MULTILINE)
    short = [(name[0].lower() + name[1:], re.sub(r"\.?0+\b", "", factors)) for name, factors in titles]
    assert short == told


def test_the_sheet_tells_alike_places_as_one(with_alike: tuple[Path, str]) -> None:
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed")
    measured, _ = with_alike
    (_, factors), _ = told_of(summary_of(measured)["faults"])
    assert report_main([str(measured), "-o", "r.pdf"]) == 0
    done = subprocess.run(["pdftotext", "r.pdf", "-"], check=True, capture_output=True, text=True)
    text = " ".join(done.stdout.split())
    assert "2 faults found" in text
    (shown,) = re.findall(r"Hosts node\[2,5\] are slow: (.+?) times as long as usual", text)
    assert re.sub(r"\.?0+\b", "", shown) == factors
    assert "Host node5 is slow" not in text


def test_the_list_of_one_size_is_of_that_size(measured: Path, leadline: Leadline) -> None:
    document = json.loads(leadline("diagnose", measured, "--json", "--message-size", "8").out)
    (only,) = document["slices"]
    assert {one["size_index"] for one in document["faults"]} == {0}
    assert {one["num_slices"] for one in document["faults"]} == {1}
    assert len(document["faults"]) == len(only["diagnosis"]["faults"]) > 0

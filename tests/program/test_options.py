# SPDX-License-Identifier: Apache-2.0
"""What the tables of options and of result files tell: the pages made from them are current, and mistakes get help."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import program
import pytest
from built_program import needs_analysis
from program import Leadline
from result import schema_of, wrong_json

BENCHMARKS = ("link", "topology", "bisection", "congestion", "collective", "io")


@pytest.mark.parametrize("script", ["document_options.py", "document_formats.py"])
def test_the_page_is_as_the_tables_say(script: str):
    needs_analysis()
    done = subprocess.run(
        [sys.executable, program.ROOT / "packaging" / script, "--check", "--program", program.PROGRAM],
        capture_output=True, encoding="utf-8", timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


QUICK = {
    "link": ["--messages", "2"], "topology": ["--pattern", "ring", "--iterations", "2"],
    "bisection": ["--rounds", "2", "--precision", "0"],
    "congestion": ["--rounds", "2", "--test-time", "5ms", "--intensity", "0,100"],
    "collective": ["--rounds", "2", "--batches", "2", "--iterations", "2", "--message-size", "64"],
    "io": ["--objects", "2", "--object-size", "4KiB"],
}  # fmt: skip


LOCAL = {"congestion": "4"}  # ranks; the others: 2


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_file_has_what_is_described(leadline: Leadline, tmp_path: Path, benchmark: str):
    leadline(benchmark, "--local", LOCAL.get(benchmark, "2"), "--wait", "yield", *QUICK[benchmark], "--output", "r.h5")
    described = json.loads(leadline("schema", "hdf5").out)
    page = (program.ROOT / "docs" / "formats" / "hdf5.md").read_text(encoding="utf-8")
    with h5py.File(tmp_path / "r.h5") as file:
        known: set[str] = set()
        for group in described:
            if group["group"] in file:
                known |= {expect_described(file[group["group"]], member) for member in group["members"]}
        assert len(known) > 5
        others: list[str] = []
        file.visititems(lambda name, found: others.append(name) if isinstance(found, h5py.Dataset) else None)
        assert [name for name in others if f"/{name}" not in known and name.split("/")[-1] not in page] == []


def expect_described(group: h5py.Group, member: dict[str, Any]) -> str:
    """Where it lies. The type is as in "float64 [S,N]"; a list that is empty is not there."""
    name, kind = member["name"], member["type"].split(" ")
    path = f"{group.name}/{name}"
    if member["kind"] == "attribute":
        assert name in group.attrs, path
    elif kind[-1] != "[list]" or name in group:
        dataset = group[name]
        assert dataset.attrs.get("unit", "") == member["unit"], path
        assert dataset.attrs["meaning"] == member["meaning"], path
        if kind[-1] != "[list]":
            assert (dataset.dtype.name, dataset.ndim) == (kind[0], kind[1].count(",") + 1), path
    return path


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_result_has_the_options_of_the_table(leadline: Leadline, tmp_path: Path, benchmark: str):
    quick = QUICK[benchmark]
    done = leadline(
        benchmark,
        "--local",
        LOCAL.get(benchmark, "2"),
        "--wait",
        "yield",
        "--output",
        "r.json",
        "--quiet",
        *quick,
    )
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "r.json").read_text())
    assert wrong_json(document, schema_of(benchmark)) == []
    schema = schema_of(benchmark)["properties"]["options"]
    assert list(document["options"]) == list(schema["properties"])
    # Documents of earlier versions lack these.
    later = {"verbose", "hosts", "launch", "bind"} | {
        "link": {"statistics", "profile", "routes", "like", "messages_by_size", "shift"},
        "bisection": {"topology", "false_discovery_rate"},
        "topology": {"retest", "topology", "threshold", "false_discovery_rate"},
        "io": {
            "preset",
            "like",
            "block_size_bytes",
            "random",
            "metadata",
            "items",
            "mix",
            "rate_limit_bytes",
            "time_based",
            "ramp_time_s",
            "queue_depth",
            "new_files",
            "topology",
            "false_discovery_rate",
        },
    }.get(benchmark, set())
    assert schema["required"] == [name for name in schema["properties"] if name not in later]

    told = {one["long"][2:]: one for one in json.loads(leadline(benchmark, "--describe-options").out)["options"]}
    recorded = {re.sub("(_bytes|_s)$", "", name).replace("_", "-"): name for name in schema["properties"]}
    assert set(told) - {"help", "json"} == set(recorded)
    for option, name in recorded.items():
        if told[option]["choices"]:
            assert schema["properties"][name]["enum"] == told[option]["choices"]


def test_all_commands_tell_of_their_options(leadline: Leadline):
    commands = {one["command"]: one for one in json.loads(leadline("--describe-options").out)["commands"]}
    assert {
        *BENCHMARKS,
        "simulate link",
        "diagnose",
        "compare",
        "convert",
        "info",
        "schema",
        "transports",
    } <= set(commands)
    for name, command in commands.items():
        if "options" not in command:
            continue
        assert command["purpose"], name
        for option in command["options"]:
            assert {
                "long",
                "short",
                "value",
                "choices",
                "default",
                "help",
                "is_file",
                "group",
            } <= set(option)
    link = {option["long"]: option for option in commands["link"]["options"]}
    assert link["--ranks"]["needs"] == ["--dry-run"]
    assert link["--message-size"]["default"] == "1KiB,1MiB"


@pytest.mark.parametrize(
    ("words", "help_"),
    {
        "link --size 1MiB": "Did you mean --message-size?",
        "topology --topology ring": "Did you mean --pattern?",
        "lnik": "Did you mean leadline link?",
        "simulate foo": "simulate link",
        "schema results": "it must be one of link, topology, bisection, congestion, collective, io, diagnosis, ",
        "help lnik": "Did you mean leadline link?",
        "": "link, topology, bisection",
    }.items(),
)
def test_mistakes_get_help(leadline: Leadline, words: str, help_: str):
    done = leadline(*words.split())
    assert done.status == 2
    assert help_ in done.complaint


@pytest.mark.parametrize("words", [("help", "simulate"), ("simulate", "--help"), ("simulate", "-h")])
def test_help_of_a_word_with_several_commands(leadline: Leadline, words: tuple[str, ...]):
    done = leadline(*words)
    assert done.status == 0
    assert "leadline simulate link" in done.out

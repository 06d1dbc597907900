# SPDX-License-Identifier: Apache-2.0
"""The options that all commands have: each does what docs/options.md says of it, in every command that has it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
from pathlib import Path

import program
import pytest
from built_program import needs_analysis
from io_runs import SCORED, run_presets
from program import Leadline
from result import schema_of, wrong_json

SHARED = {"--output": "-o", "--json": "", "--overwrite": "", "--quiet": "-q", "--verbose": "-v"}
FEW = ["--local", "2", "--wait", "yield"]

# A command line of each command, without the shared options. view does not end by itself.
WORDS: dict[str, list[str]] = {
    "check": ["--local", "4", "--wait", "yield", "--budget", "2s"],
    "link": [*FEW, "--messages", "2"],
    "topology": [*FEW, "--pattern", "ring", "--iterations", "2", "--message-size", "8"],
    "bisection": [*FEW, "--rounds", "2", "--precision", "0", "--message-size", "8"],
    "congestion": ["--local", "4", "--wait", "yield", "--rounds", "2", "--test-time", "5ms", "--intensity", "100"],
    "collective": [*FEW, "--rounds", "1", "--batches", "2", "--iterations", "2", "--message-size", "8"],
    "io": [*FEW, "--objects", "2", "--object-size", "4KiB", "--delete"],
    "diagnose": ["run.h5"],
    "compare": ["run.h5", "run.h5"],
    "profile": ["run.h5"],
    "simulate link": ["--topology", "fat-tree:4x2"],
    "convert": ["run.h5"],
    "info": ["run.h5"],
    "partners": ["sampled.h5"],
    "cables": ["network.txt"],
    "patterns": ["hosts.txt", "--pattern", "halves"],
    "schema": ["diagnosis"],
    "transports": [],
    "completion": ["bash"],
    "accept": ["accept.yaml"],
    "cost": ["run.h5", "--pattern", "ring"],
    "export": ["run.h5", "--csv"],
    "history": ["kept", "run.h5"],
    "report": ["run.h5"],
    "score": ["ior-easy.h5", "ior-hard.h5", "mdtest-easy.h5", "mdtest-hard.h5"],
    "simulate bisection": ["--topology", "fat-tree:4x2", "--rounds", "3"],
    "view": ["run.h5"],
}
ACCEPTANCE = """
parts:
  ring:
    run: topology --local 2 --wait yield --pattern ring --iterations 2 --message-size 8
    limits: [{value: cells.exchange.num, at least: 1}]
"""
DOCUMENTS = {
    "accept": "acceptance", "check": "check", "history": "history",
    "link": "link", "topology": "topology", "bisection": "bisection", "congestion": "congestion",
    "collective": "collective",
    "io": "io", "diagnose": "diagnosis",
    "compare": "comparison", "profile": "profile", "info": "info", "transports": "transports", "cost": "pattern-cost",
    "score": "score",
    "simulate bisection": "bisection-simulation", "view": "view", "convert": "written", "partners": "written",
    "cables": "written", "patterns": "written",
    "simulate link": "written", "report": "written", "export": "written",
}  # fmt: skip
# --output names what the command is for: a file, beside which --json says what was written.
WRITERS = {"convert": "w.sion", "partners": "w.npy", "cables": "c.txt", "patterns": "p.npy", "simulate link": "w.h5",
           "report": "w.html", "export": "w.csv", "cost": "w.json", "score": "w.json",
           "history": "w.html",
           "simulate bisection": "w.json"}  # fmt: skip
BENCHMARKS = ("link", "topology", "bisection", "congestion", "collective", "io")
RUNS = ("check", *BENCHMARKS)
MEASURING = ("accept", *RUNS)  # their texts have times in them
ENDING = sorted(set(WORDS) - {"view"})


@pytest.fixture(scope="module")
def presets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_presets(tmp_path_factory.mktemp("presets"))


@pytest.fixture
def results(leadline: Leadline, tmp_path: Path, presets: Path) -> None:
    needs_analysis()
    for name in SCORED:
        shutil.copy(presets / name, tmp_path)
    for name, *words in (["run.h5"], ["sampled.h5", "--rounds", "3", "--statistics", "compact", "--ranks", "40"]):
        done = leadline("simulate", "link", "--topology", "fat-tree:40x2", *(words or ["--ranks", "6"]), "-o", name)
        assert done.status == 0, done.err
    (tmp_path / "accept.yaml").write_text(ACCEPTANCE)
    (tmp_path / "hosts.txt").write_text("a\nb\n")
    (tmp_path / "network.txt").write_text("a switch\nb switch\n")


def command_line(command: str, *more: str) -> list[str]:
    return [*command.split(), *WORDS[command], *more]


def test_every_command_has_them_or_says_why_not(leadline: Leadline):
    needs_analysis()
    commands = {one["command"]: one for one in json.loads(leadline("--describe-options").out)["commands"]}
    assert {name for name, command in commands.items() if "options" in command} == set(WORDS)
    page = (program.ROOT / "docs" / "options.md").read_text("utf-8")
    for name in WORDS:
        there = {option["long"]: option for option in commands[name]["options"]}
        reasons = {one["long"]: one["why"] for one in commands[name]["without"]}
        assert (set(there) | set(reasons)) >= set(SHARED), name
        for option, short in SHARED.items():
            if option in there:
                assert (there[option]["short"] or "") == short
                assert there[option]["value_is_optional"] == (option == "--json")
                continue
            assert reasons[option] in page
            for word in (option, f"{option}=x", *([short, f"{short}x"] if short else [])):
                done = leadline(*command_line(name, word))
                assert (done.status, done.out) == (2, "")
                assert f"leadline {name} has no {option} ({reasons[option]})" in done.complaint


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize("command", ENDING)
def test_verbose_tells_the_steps(leadline: Leadline, command: str):
    done = leadline(*command_line(command, "-v"))
    assert done.status == 0, done.err
    if command == "transports":  # whose text itself has more
        assert "setting " in done.out
        assert len(done.out) > len(leadline("transports").out)
        return
    told = [line for line in done.err.splitlines() if line.startswith(f"leadline {command}: ")]
    assert told
    plain = leadline(*command_line(command, *(["--overwrite"] if "written" in DOCUMENTS.get(command, "") else [])))
    assert f"leadline {command}: " not in plain.err
    if command not in (*MEASURING, "simulate link"):  # the names of their files have the time in them
        assert done.out == plain.out
    for name in WORDS[command]:
        if name.endswith(".h5"):
            assert any(name in line for line in told), "it says which file is read"
    both = leadline(*command_line(command, "-v", "-q"))
    assert (both.status, both.out) == (2, "")
    assert "--verbose and --quiet do not go together" in both.complaint


@pytest.mark.parametrize("command", RUNS)
def test_verbose_tells_what_a_plan_is_for(leadline: Leadline, command: str):
    plain, done = (
        leadline(command, "--dry-run", "--ranks", "6", "--ranks-per-host", "2", *more) for more in ([], ["-v"])
    )
    assert (plain.status, plain.err, done.out) == (0, "", plain.out)
    assert "a plan for 6 ranks, 2 a host" in done.err
    assert done.complaints == [], "it is no complaint"


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize("command", ENDING)
def test_quiet_leaves_what_was_asked_for(leadline: Leadline, tmp_path: Path, command: str):
    output = WRITERS.get(command, "run-2.h5" if command in RUNS else "w.txt")
    loud, quiet = (leadline(*command_line(command, "-o", output, *more)) for more in ([], ["-q", "--overwrite"]))
    assert (loud.status, quiet.status) == (0, 0), quiet.err
    assert quiet.err == "", "no progress, no notes"
    assert (tmp_path / output).stat().st_size > 0
    assert output in loud.out
    if command not in MEASURING:
        assert output not in quiet.out
        assert quiet.out in ("", loud.out.replace(f"{output}\n", ""))


def test_quiet_leaves_out_notes(leadline: Leadline):
    leadline("simulate", "link", "--topology", "fat-tree:4x2", "--statistics", "compact", "-o", "run.h5")
    loud, quiet = leadline("diagnose", "run.h5"), leadline("diagnose", "run.h5", "--quiet")
    notes = [line for line in loud.out.splitlines() if line.startswith("note: ")]
    assert len(notes) > 1
    assert quiet.out.splitlines() == [line for line in loud.out.splitlines() if line not in notes]
    assert json.loads(leadline("diagnose", "run.h5", "--quiet", "--json").out)["slices"][0]["diagnosis"]["notes"]
    loud, quiet = (leadline("convert", "run.h5", "--json", *more) for more in ([], ["--quiet", "--overwrite"]))
    assert quiet.err == ""
    for done in (loud, quiet):
        assert all(one in loud.err for one in json.loads(done.out)["left_out"])
    failing = {"UCX_TLS": "nosuch"}
    assert "nosuch" in leadline("transports", env=failing).out
    quiet = leadline("transports", "-q", env=failing).out
    assert quiet.startswith("tcp ")
    assert "nosuch" not in quiet


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize("command", sorted(set(DOCUMENTS) & set(ENDING)))
def test_json_is_one_document_with_a_schema(leadline: Leadline, tmp_path: Path, command: str):
    schema = schema_of(DOCUMENTS[command])
    writes = DOCUMENTS[command] == "written"
    on_stdout = leadline(*command_line(command, "--json"))
    assert on_stdout.status == 0, on_stdout.err
    assert wrong_json(json.loads(on_stdout.out), schema) == []
    in_file = leadline(*command_line(command, "--json", "said", *(["--overwrite"] if writes else [])))
    assert in_file.status == 0, in_file.err
    document = json.loads((tmp_path / "said").read_text("utf-8"))
    assert wrong_json(document, schema) == []
    if command in MEASURING:
        return
    assert "said" in in_file.out.splitlines()
    assert list(document) == list(json.loads(on_stdout.out))
    if writes:
        (file,) = document["files"]
        assert (file["size_bytes"], document["command"]) == ((tmp_path / file["path"]).stat().st_size, command)
        assert document["read"] == [word for word in WORDS[command] if word.endswith((".h5", ".txt"))]
        if command not in ("partners", "cables", "patterns", "simulate link"):
            assert file["num_rows"] == {"convert": 6, "export": 30, "report": None}[command]


@pytest.mark.usefixtures("results")
def test_the_schema_of_json_that_is_a_schema_already(leadline: Leadline, tmp_path: Path):
    text = leadline("schema", "view").out
    assert leadline("schema", "view", "--json").out == text
    assert leadline("schema", "view", "--json", "s.json").out == "s.json\n"
    assert (tmp_path / "s.json").read_text("utf-8") == text


@pytest.mark.usefixtures("results")
def test_the_address_of_a_view(leadline: Leadline, tmp_path: Path):
    words = [program.PROGRAM, "view", "run.h5", "--no-browser"]
    with program.Run([*words, "--json", "v.json", "--verbose"], tmp_path) as run:
        run.await_err("listening on 127.0.0.1:")
        program.await_that((tmp_path / "v.json").exists)
        document = json.loads((tmp_path / "v.json").read_text("utf-8"))
        os.kill(document["pid"], signal.SIGTERM)
        done = run.finish()
    assert (done.status, done.out) == (0, "v.json\n")
    assert "leadline view: opened " in done.err
    assert wrong_json(document, schema_of("view")) == []
    assert stat.S_IMODE((tmp_path / "v.json").stat().st_mode) == 0o600, "its key is for the user alone"
    assert leadline("view", "run.h5", "--json", "run.h5").status == 2

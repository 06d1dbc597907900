# SPDX-License-Identifier: Apache-2.0
"""`leadline cost`: its text, its files, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import program
import pytest
from made_up_bisection import even, write_bisection
from made_up_topology import under_load, write_topologies
from result import wrong_json

from conftest import (
    MadeUp,
    hostile,
    one_per_host,
    one_rank,
    partial,
    slow_host,
    sweep,
    times_of,
    two_hosts,
    write_result,
)
from leadline.cli.cost import main

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs" / "formats" / "pattern-cost.schema.json").read_text(encoding="utf-8"))
Files = Callable[[MadeUp], str]


@pytest.fixture
def file_of(tmp_path: Path) -> Files:
    return lambda made: str(write_result(tmp_path / "run.h5", made))


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0, capsys.readouterr().err
    found = capsys.readouterr()
    assert found.err == ""
    return found.out


def refused(capsys: pytest.CaptureFixture[str], status: int, *words: str) -> str:
    assert main(words) == status
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith("leadline: ")
    assert found.err.count("\n") == 1
    return found.err


def test_the_text(capsys: pytest.CaptureFixture[str], file_of: Files):
    text = ran(capsys, file_of(two_hosts()), "--pattern", "all-to-all", "--top", "2")
    lines = text.splitlines()
    assert lines[0] == "all-to-all, 8 ranks on 2 hosts: 56 messages of 1 KiB in 7 stages; median of each pair"
    assert re.fullmatch(r"cost: \d+\.?\d* µs", lines[1])
    assert re.search(r"^ +2 +6  node01\.cluster → node02\.cluster +1 +160\.0 +160\.0 +\d+\.\d %$", text, re.MULTILINE)
    assert re.search(r"^ +2  node01\.cluster +\S+ +\S+ +\d of 7$", text, re.MULTILINE)
    assert "no search for a better placement: in all-to-all every pair is used" in lines[-1]
    assert len([line for line in lines if line.startswith("  ")]) == 2 * (1 + 2)


def test_a_better_placement(capsys: pytest.CaptureFixture[str], file_of: Files):
    hosts = [f"n{rank % 4}" for rank in range(16)]
    path = file_of(MadeUp(hosts, [[times_of(hosts, 3)]]))
    text = ran(capsys, path, "--pattern", "halo-2d:2x8", "--effort", "5000", "--top", "0")
    found = re.search(r"^better placement: \S+ µs, (\S+) % less, with \d+ of 16 ranks elsewhere \((.*)\)$", text, re.M)
    assert found
    assert float(found[1]) > 30
    assert re.match(r"5,\d{3} swaps tried, seed 1; lower bound \S+ µs", found[2])
    assert "pairs with most" not in text
    assert "placement" not in ran(capsys, path, "--pattern", "halo-2d:2x8", "--no-placement")
    assert ran(capsys, path, "--pattern", "halo-2d:2x8", "--effort", "5000", "--top", "0") == text
    late = ran(capsys, path, "--pattern", "halo-2d", "--time-limit", "1e-9")
    assert "the time limit was reached" in late


def test_small_and_even_patterns(capsys: pytest.CaptureFixture[str], file_of: Files):
    assert "the optimum: all were tried" in ran(capsys, file_of(two_hosts()), "--pattern", "ring")
    even_times = np.full((12, 12), 1000.0) * (1 - np.eye(12))
    text = ran(capsys, file_of(MadeUp(["one"] * 12, [[even_times]])), "--pattern", "ring")
    assert "12 ranks on one: " in text
    assert text.splitlines()[-1] == "no placement is better (the optimum: it reaches the lower bound)"


def test_a_lower_bound(capsys: pytest.CaptureFixture[str], file_of: Files):
    text = ran(capsys, file_of(partial()), "--pattern", "ring", "--message-size", "8")
    assert "cost: at least " in text
    assert "1 of its 8 pairs was not measured and counts 0" in text or "not measured and count 0" in text
    assert "no search for a better placement: pairs without a time" in text
    assert "was measured" in refused(capsys, 4, file_of(partial()), "--pattern", "ring", "--message-size", "1KiB")
    assert "was measured" in refused(capsys, 4, file_of(one_per_host()), "--pattern", "ring")


def test_the_file_is_as_documented(capsys: pytest.CaptureFixture[str], tmp_path: Path, file_of: Files):
    output = tmp_path / "cost.json"
    path = file_of(slow_host())
    for words, has_placement in (
        (("halo-3d,periodic", "--effort", "1000"), True),
        (("tree", "--no-placement"), False),
        (("all-to-all",), False),
    ):
        text = ran(capsys, path, "--pattern", *words, "--output", str(output))
        assert text.splitlines()[-1] == str(output)
        values = json.loads(output.read_text())
        assert wrong_json(values, SCHEMA) == []
        assert sum(values["stage_ns"]) == pytest.approx(values["cost_ns"])
        assert (values["placement"] is not None) == has_placement == (values["why_no_placement"] == "")
        if has_placement:
            assert sorted(values["placement"]["place_of_rank"]) == list(range(64))
            assert values["placement"]["identity_ns"] == pytest.approx(values["cost_ns"])
            hosts = [values["hosts"][place] for place in values["placement"]["place_of_rank"]]
            assert hosts == values["placement"]["host_of_rank"]
            assert values["pattern"] == "halo-3d:4x4x4,periodic"


def test_sizes_without_a_bound_are_null(capsys: pytest.CaptureFixture[str], tmp_path: Path, file_of: Files):
    hosts = ["a", "b"] * 5
    made = MadeUp(hosts, [[times_of(hosts, 1), times_of(hosts, 2)]], [8, 1024])
    messages, output = tmp_path / "messages", tmp_path / "cost.json"
    messages.write_text("0 1 3 8\n1 2 1 1KiB\n")
    text = ran(capsys, file_of(made), "--pattern", str(messages), "-o", str(output))
    assert "4 messages of 8 B and 1 KiB in 1 stage" in text
    assert re.search(r"3 of 8 B ", text)
    values = json.loads(output.read_text())
    assert wrong_json(values, SCHEMA) == []
    assert values["placement"]["bound_ns"] is None


def test_a_line_for_each_rank(capsys: pytest.CaptureFixture[str], tmp_path: Path, file_of: Files):
    output, placed = tmp_path / "cost.csv", tmp_path / "hosts"
    path = file_of(two_hosts())
    ran(capsys, path, "--pattern", "ring", "--output", str(output), "--write-placement", str(placed))
    rows = list(csv.DictReader(io.StringIO(output.read_text())))
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(8)]
    times = two_hosts().times[0][0]
    assert float(rows[3]["send_ns"]) == times[3, 4]
    assert float(rows[3]["receive_ns"]) == times[2, 3]
    assert placed.read_text().splitlines() == [row["placed_on_host"] for row in rows]
    assert sorted(placed.read_text().splitlines()) == ["node01.cluster"] * 4 + ["node02.cluster"] * 4
    assert {row["placed_at_rank"] for row in rows} == {str(rank) for rank in range(8)}
    ran(capsys, path, "--pattern", "all-to-all", "--output", str(output))
    assert [row["placed_on_host"] for row in csv.DictReader(io.StringIO(output.read_text()))] == [""] * 8


def test_only_its_own_files_are_replaced(capsys: pytest.CaptureFixture[str], tmp_path: Path, file_of: Files):
    path = file_of(two_hosts())
    for name in ("cost.json", "cost.csv"):
        output = tmp_path / name
        words = (path, "--pattern", "ring", "--output", str(output))
        ran(capsys, *words)
        ran(capsys, *words)
        output.write_text("mine")
        assert "was not written by this command" in refused(capsys, 2, *words)
        ran(capsys, *words, "--overwrite")
    placed = tmp_path / "hosts"
    words = (path, "--pattern", "ring", "--write-placement", str(placed))
    ran(capsys, *words)
    assert "was not written by this command" in refused(capsys, 2, *words)
    ran(capsys, *words, "--overwrite")


def test_what_is_read_is_never_written(capsys: pytest.CaptureFixture[str], tmp_path: Path, file_of: Files):
    path = file_of(two_hosts())
    messages = tmp_path / "messages.csv"
    messages.write_text("0 1\n")
    words = (path, "--pattern", str(messages), "--overwrite")
    assert "what is to be read" in refused(capsys, 2, *words, "--write-placement", path)
    assert "what is to be read" in refused(capsys, 2, *words, "--output", str(messages))
    same = str(tmp_path / "same.csv")
    assert "the same file" in refused(capsys, 2, *words, "--output", same, "--write-placement", same)
    assert messages.read_text() == "0 1\n"


def test_hostile_names(capsys: pytest.CaptureFixture[str], tmp_path: Path, file_of: Files):
    made = hostile()
    made.hosts = ["\x1b[2Jone", "=2+3", "two words", "four"]
    path = file_of(made)
    output = tmp_path / "cost.csv"
    text = ran(capsys, path, "--pattern", "ring", "--output", str(output))
    assert "\x1b" not in text + output.read_text()
    assert "'=2+3" in output.read_text()
    words = (path, "--pattern", "ring", "--write-placement", str(tmp_path / "hosts"))
    assert main(words) == 4
    assert "is no name of a host" in capsys.readouterr().err


def test_other_results(capsys: pytest.CaptureFixture[str], tmp_path: Path, file_of: Files):
    bisection = write_bisection(tmp_path / "bisection.h5", even())
    assert "a result of leadline bisection" in refused(capsys, 2, str(bisection), "--pattern", "ring")
    topology = write_topologies(tmp_path / "topology.h5", under_load())
    assert "a result of leadline topology" in refused(capsys, 2, str(topology), "--pattern", "ring")
    assert "No such file" in refused(capsys, 2, str(tmp_path / "absent.h5"), "--pattern", "ring")
    (tmp_path / "garbage.h5").write_text("garbage")
    refused(capsys, 2, str(tmp_path / "garbage.h5"), "--pattern", "ring")
    assert "no other rank to send to" in refused(capsys, 2, file_of(one_rank()), "--pattern", "ring")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "required: --pattern"),
        (("--pattern", "circle"), "there is no pattern 'circle'"),
        (("--pattern", "halo-2d:3x3"), "3 x 3 is 9"),
        (("--pattern", "ring", "--pattern", "ring"), "given twice"),
        (("--pattern", "ring"), "several repeats"),
        (("--pattern", "ring", "--repeat", "1"), "several message sizes"),
        (("--pattern", "ring", "--repeat", "0"), "--repeat cannot be '0'"),
        (("--pattern", "ring", "--repeat", "3", "--message-size", "8"), "no such repeat"),
        (("--pattern", "ring", "--repeat", "1", "--message-size", "9"), "no message size 9 B"),
        (("--pattern", "ring", "--repeat", "1", "--message-size", "big"), "--message-size big is not a size"),
        (("--pattern", "ring", "--statistic", "mode"), "invalid choice"),
        (("--pattern", "ring", "--top", "-1"), "--top"),
        (("--pattern", "ring", "--top", "many"), "--top cannot be 'many'"),
        (("--pattern", "ring", "--repeat", "1", "--message-size", "8", "--effort", "0"), "--effort cannot be '0'"),
        (("--pattern", "ring", "--repeat", "1", "--message-size", "8", "--seed", "x"), "--seed cannot be 'x'"),
        (
            ("--pattern", "ring", "--repeat", "1", "--message-size", "8", "--time-limit", "0"),
            "--time-limit cannot be '0'",
        ),
        (
            ("--pattern", "ring", "--repeat", "1", "--message-size", "8", "--time-limit", "nan"),
            "--time-limit cannot be 'nan'",
        ),
        (("--pattern", "ring", "--no-placement", "--seed", "1"), "--seed has no effect here (--no-placement)"),
        (("--pattern", "ring", "--no-placement", "--write-placement", "x"), "--write-placement has no effect here"),
        (
            ("--pattern", "all-to-all", "--repeat", "1", "--message-size", "8", "--effort", "9"),
            "--effort has no effect here",
        ),
        (("--pattern", "ring", "--overwrite"), "--overwrite has no effect"),
        (("--pattern", "ring", "--output", "cost.txt"), "End it in .json or .csv"),
        (("--pattern", "ring", "--output", "absent/cost.json"), "no such folder"),
        (("--pattern", "ring", "--write-placement", "absent/hosts"), "no such folder"),
    ],
)  # fmt: skip
def test_wrong_command_lines(capsys: pytest.CaptureFixture[str], file_of: Files, words: tuple[str, ...], why: str):
    assert why in refused(capsys, 2, file_of(sweep()), *words)


def test_files_with_mistakes(capsys: pytest.CaptureFixture[str], tmp_path: Path, file_of: Files):
    messages = tmp_path / "messages"
    path = file_of(two_hosts())
    for text, why in (("0 9\n", "no rank 9"), ("1 1\n", "rank 1 sends to itself"), ("0 1 -1\n", "'-1' is no number")):
        messages.write_text(text)
        assert f"line 1: {why}" in refused(capsys, 2, path, "--pattern", str(messages)).replace("there is ", "")
    messages.write_text("0 1 1 1KiB\n")
    ran(capsys, path, "--pattern", str(messages))
    assert "has no effect" in refused(capsys, 2, path, "--pattern", str(messages), "--message-size", "1KiB")


def test_a_measured_fabric(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """One of eight hosts is slow: in a ring dealt out host by host it has the cost."""
    if not program.PROGRAM.is_file():
        pytest.skip(f"{program.PROGRAM.name} is not built")
    fabric = ROOT / "examples" / "fabrics" / "slow-host.json"
    path = tmp_path / "run.h5"
    words = ["link", "--local", "8", "--transport", f"model:{fabric}", "--output", str(path), "--quiet"]
    done = program.complete([program.PROGRAM, *words, "--message-size", "1KiB"], tmp_path)
    assert done.status == 0, done.err
    output = tmp_path / "cost.json"
    ran(capsys, str(path), "--pattern", "halo-2d", "--output", str(output))
    values = json.loads(output.read_text())
    assert values["num_unmeasured_pairs"] == 0
    worst = values["pairs"][0]
    assert "node2" in (values["hosts"][worst["from_rank"]], values["hosts"][worst["to_rank"]])
    assert values["placement"]["is_best"]

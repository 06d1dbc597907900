# SPDX-License-Identifier: Apache-2.0
"""The comparison with golden files itself: it notices what differs, and nothing else."""

from __future__ import annotations

from pathlib import Path

import golden
import pytest


def test_placeholders_stand_for_numbers() -> None:
    line = "avg: {time} ({bw}) [iter {n} ] {{text}}"
    assert golden.pattern("avg: {time} ({bw})").fullmatch("avg:    3.41977 us (  285.5639 MiB/s)")
    assert not golden.pattern("avg: {time} ({bw})").fullmatch("avg:    3.41977 us (  285.5639 MB/s)")
    assert not golden.pattern("avg: {time}").fullmatch("avg: not measured")
    assert golden.pattern("a.b*c").fullmatch("a.b*c")
    assert not golden.pattern("a.b*c").fullmatch("aXbbc")
    with pytest.raises(KeyError):
        golden.pattern(line)


def test_differences_are_found() -> None:
    assert golden.first_difference(["a", "{n}"], ["a", "7"]) == ""
    assert "line 2" in golden.first_difference(["a", "{n}"], ["a", "b"])
    assert "missing from line 2" in golden.first_difference(["a", "b"], ["a"])
    assert "too much from line 2" in golden.first_difference(["a"], ["a", "b"])
    assert golden.difference_in_any_order(["a", "{n}"], ["7", "a"]) == ""
    assert "missing: a" in golden.difference_in_any_order(["a", "a"], ["a", "b"])
    assert "too much: b" in golden.difference_in_any_order(["a"], ["b", "a"])


def test_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "case.txt"
    path.write_text("# for a test\ncommand: linktest -v\nstatus: 3\nenvironment: A=1 B=x=y\n--- stdout\none\n\ntwo\n")
    case = golden.read(path)
    assert case.name == "case"
    assert case.head["command"] == "linktest -v"
    assert case.status == 3
    assert case.environment == {"A": "1", "B": "x=y"}
    assert case.stdout == ["one", "", "two"]
    assert case.stderr == []
    path.write_text(
        "command: pingponganalysis a.sion\n--- stdout\none\n--- file mapping.dat\n     0 vm\n--- stderr\ntwo\n"
    )
    case = golden.read(path)
    assert (case.stdout, case.stderr, case.files) == (["one"], ["two"], {"mapping.dat": ["     0 vm"]})
    path.write_text("comand: linktest -v\n")
    with pytest.raises(AssertionError):
        golden.read(path)


def test_refused_command_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "refused.txt"
    one, two = "== one: Why.\ncommand: a -b\nleadline: no\n", "== two: Why.\ncommand: c\nstatus: 1\nx\n\ny: z\n"
    path.write_text(f"# for a test\nstatus: 2\n\n{one}\n{two}")
    cases = golden.read_all(tmp_path)
    assert [(name, case.head["command"], case.status, case.stderr) for name, case in cases.items()] == [
        ("one", "a -b", 2, ["leadline: no"]),
        ("two", "c", 1, ["x", "", "y: z"]),
    ]

# SPDX-License-Identifier: Apache-2.0
"""However a command ends, there is one line and a status, and a traceback only where it was asked for."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from leadline.error import LeadlineError

# Of each command: the module that does its work, the function there, and a command line.
COMMANDS = {
    "report": ("leadline.cli.report_run", "report", ["FILE"]),
    "export": ("leadline.cli.export_run", "export", ["FILE", "--csv"]),
    "view": ("leadline.cli.view_run", "view", ["FILE"]),
    "cost": ("leadline.cli.cost_run", "cost", ["FILE", "--pattern", "ring"]),
    "score": ("leadline.cli.score_run", "score", ["FILE"]),
    "simulate": ("leadline.cli.simulate_run", "simulate_bisection", ["bisection", "--topology", "FILE"]),
    "linktest_report": ("leadline.compat.linktest_report", "linktest_report", ["-i", "FILE", "-o", "page.html"]),
    "pingponganalysis": ("leadline.compat.pingponganalysis", "pingponganalysis", ["FILE"]),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.h5"
    path.write_bytes(b"nothing that is read here")
    return path


def end_of(name: str, file: Path, error: Exception, monkeypatch: pytest.MonkeyPatch, *further: str) -> int:
    module, function, words = COMMANDS[name]

    def work(*_: object) -> None:
        raise error

    monkeypatch.setattr(importlib.import_module(module), function, work)
    main = importlib.import_module(f"leadline.cli.{name}").main
    given = [str(file) if word == "FILE" else word for word in words]
    # The last word of pingponganalysis is the file.
    return int(main([*given[:-1], *further, given[-1]] if name == "pingponganalysis" else [*given, *further]))


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (KeyError("gap"), 4, "leadline: something unforeseen happened with 'FILE' (KeyError: 'gap'). Is the file "
         "damaged? If not, report what --debug shows\n"),
        (RecursionError(), 4, "leadline: something unforeseen happened with 'FILE' (RecursionError). Is the file "
         "damaged? If not, report what --debug shows\n"),
        (ModuleNotFoundError("No module named 'jinja2'"), 3, "leadline: a part of the program is missing here "
         "(ModuleNotFoundError: No module named 'jinja2'). Install it for "
         f"{sys.executable}, or leadline's Python package again\n"),
        (MemoryError(), 3, "leadline: the result does not fit into the memory. Choose a part with --message-size and "
         "--repeat\n"),
        (LeadlineError("no", "why", "hint"), 4, "leadline: no (why). hint\n"),
    ],
    ids=["a bug", "without a text", "a missing module", "no memory", "an error of ours"],
)  # fmt: skip
def test_one_line_and_a_status(
    name: str, error: Exception, status: int, line: str, file: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):  # fmt: skip
    assert end_of(name, file, error, monkeypatch) == status
    assert capsys.readouterr().err == line.replace("FILE", str(file))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_traceback_where_it_is_asked_for(
    name: str, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert end_of(name, file, KeyError("gap"), monkeypatch, "--debug") == 4
    errors = capsys.readouterr().err
    assert errors.startswith("Traceback (most recent call last):")
    assert "in work" in errors
    assert errors.splitlines()[-1].startswith("leadline: something unforeseen happened")

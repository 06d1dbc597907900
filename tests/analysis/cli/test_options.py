# SPDX-License-Identifier: Apache-2.0
"""Options of all commands: one spelling each, what is said of an unknown one, and what --describe-options prints."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from conftest import two_hosts, write_result
from leadline.cli.cost import cost_parser
from leadline.cli.cost import main as cost_main
from leadline.cli.export import export_parser
from leadline.cli.options import SHARED, Parser, closest, described, seconds, share, whole
from leadline.cli.report import report_parser
from leadline.cli.score import score_parser
from leadline.cli.simulate import main as simulate_main
from leadline.cli.simulate import simulate_parser
from leadline.cli.view import view_parser
from leadline.error import LeadlineError

PARSERS: dict[str, Callable[[], Parser]] = {
    "report": report_parser, "view": view_parser, "export": export_parser, "cost": cost_parser,
    "simulate": simulate_parser, "score": score_parser,
}  # fmt: skip

WANTED = {"report": ["r.h5"], "view": ["r.h5"], "export": ["r.h5", "--csv"], "cost": ["r.h5", "--pattern", "ring"],
          "score": ["r.h5"],
          "simulate bisection": ["--topology", "torus:2x2"]}  # fmt: skip
KEYS = {
    "long", "short", "value", "value_is_optional", "may_repeat", "choices", "default", "help", "is_file", "group"
}  # fmt: skip


def test_an_option_that_a_command_cannot_have():
    for word in ("--output", "--output=x", "-o", "-ox"):
        with pytest.raises(LeadlineError) as caught:
            view_parser().parsed(["run.h5", word])
        assert str(caught.value).startswith("leadline view has no --output (it shows a page and writes none")
    assert [one["long"] for one in described(view_parser())["without"]] == ["--output"]


def test_less_or_more_to_be_said():
    for parser in PARSERS.values():
        with pytest.raises(LeadlineError, match="--verbose and --quiet do not go together"):
            parser().parsed([*WANTED[described(parser())["command"]], "-q", "-v"])


@pytest.mark.parametrize("name", PARSERS)
def test_described_options_are_those_of_the_parser(name: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        import_module(f"leadline.cli.{name}").main(["--describe-options"])
    assert ended.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert told == described(PARSERS[name]())
    assert told["command"].split()[0] == name
    assert told["purpose"]
    names = [option["long"] for option in told["options"]]
    assert len(set(names)) == len(names)
    assert "--describe-options" not in names
    with pytest.raises(SystemExit):
        PARSERS[name]().parsed(["--help"])
    shown = capsys.readouterr().out
    for option in told["options"]:
        assert option["long"] in shown
        assert set(option) == KEYS


def test_what_is_told_of_an_option():
    told = {option["long"]: option for option in described(cost_parser())["options"]}
    assert told["--output"] | {"help": ""} == {
        "long": "--output", "short": "-o", "value": "FILE", "value_is_optional": False, "may_repeat": False,
        "choices": [], "default": None, "help": "", "is_file": True, "group": "options",
    }  # fmt: skip
    of_report = {option["long"]: option for option in described(report_parser())["options"]}
    assert [name for name, option in of_report.items() if option["may_repeat"]] == ["--baseline"]
    assert told["--json"]["value_is_optional"]
    assert told["--statistic"]["choices"] == ["median", "min", "mean", "p99", "p999", "max"]
    assert told["--statistic"]["default"] == "median"
    assert told["--seed"]["default"] == "1"
    assert (told["--time-limit"]["default"], told["--message-size"]["default"]) == ("60s", "the only one")
    assert told["--seed"]["help"] == "seed of the random numbers"
    assert told["--quiet"]["value"] is None
    (argument,) = described(cost_parser())["arguments"]
    assert argument | {"help": ""} == {"name": "RESULT", "help": "", "is_file": True, "min": 1, "max": 1}
    simulated = described(simulate_parser())
    assert (simulated["command"], simulated["arguments"]) == ("simulate bisection", [])
    assert "95 % interval" in next(one["help"] for one in simulated["options"] if one["long"] == "--precision")


def test_what_several_commands_have_is_the_same_everywhere():
    for parser in PARSERS.values():
        for option in described(parser())["options"]:
            if shared := SHARED.get(option["long"]):
                assert (option["short"] or "", option["value"] or "") == (shared.short, shared.value)


def test_help_does_not_wait_for_numpy():
    code = (
        "import sys\n"
        f"for name in {list(PARSERS)!r}: __import__(f'leadline.cli.{{name}}')\n"
        "assert not {'numpy', 'h5py', 'matplotlib', 'jinja2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("name", "word", "meant"),
    [("report", "--size", "--message-size"), ("export", "--sizes", ""), ("view", "--size=1KiB", "--message-size"),
     ("cost", "--size", "--message-size"), ("simulate", "--per-host", "--ranks-per-host"),
     ("simulate", "--max-rounds", "--rounds"), ("report", "--out", "--output"), ("report", "--ouptut", "--output"),
     ("report", "--topolgy", "--topology"), ("view", "--verbos", "--verbose"), ("report", "-x", "")],
)  # fmt: skip
def test_the_option_that_was_meant(name: str, word: str, meant: str):
    with pytest.raises(LeadlineError) as caught:
        PARSERS[name]().parsed([word, "1MiB"])
    name = word.partition("=")[0]
    assert caught.value.problem == f"unknown option {name}"
    if meant:
        assert caught.value.hint == f"Did you mean {meant}?"


def test_values_are_no_options():
    assert cost_parser().parsed(["run.h5", "--pattern", "ring", "--output=-x.csv"]).output == "-x.csv"
    assert report_parser().parsed(["--", "--size"]).result == "--size"
    with pytest.raises(LeadlineError, match="unknown option -7x"):
        report_parser().parsed(["run.h5", "-7x"])


def test_closest():
    assert closest("--sed", ["--seed", "--size"]) == "--seed"
    assert closest("--completely-different", ["--seed", "--size"]) == ""


def test_kinds():
    assert whole(1, 9)("--n", "9") == 9
    for text in ("0", "10", "x", "1.0", "", "²"):
        with pytest.raises(LeadlineError, match="--n cannot be"):
            whole(1, 9)("--n", text)
    for text, value in {"30": 30, "30s": 30, "500ms": 0.5, "5m": 300, "2h": 7200, "1e-9": 1e-9}.items():
        assert seconds(1e4)("--time", text) == value
    for text in ("0", "-1", "nan", "3weeks", "s", "3h", "1sm", ""):
        with pytest.raises(LeadlineError, match="--time cannot be"):
            seconds(1e4)("--time", text)
    assert (share("--share", "5%"), share("--share", "0.05")) == (0.05, 0.05)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "does not say what to simulate. There are leadline simulate bisection ("),
        (("--topology", "x"), "does not say what to simulate"),
        (("foo",), "cannot simulate 'foo'. There are leadline simulate bisection ("),
        (("bisecton",), "Did you mean leadline simulate bisection?"),
        (("link",), "Call it as leadline simulate link"),
    ],
)
def test_what_can_be_simulated(words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]):
    assert simulate_main(words) == 2
    err = capsys.readouterr().err
    assert why in err
    assert err.count("\n") == 1


def test_json_of_a_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, file = str(write_result(tmp_path / "run.h5", two_hosts())), tmp_path / "cost.json"
    assert cost_main([path, "--pattern", "ring", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["benchmark"] == "pattern-cost"
    assert cost_main([path, "--pattern", "ring", "--json", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    assert json.loads(file.read_text())["cost_ns"] == document["cost_ns"]
    table = tmp_path / "cost.csv"
    assert cost_main([path, "--pattern", "ring", "--json", "-o", str(table)]) == 0
    assert json.loads(capsys.readouterr().out)["cost_ns"] == document["cost_ns"]
    assert table.read_text().startswith("rank,")
    assert cost_main([path, "--pattern", "ring", "--json", str(file), "-o", str(file)]) == 2
    assert "name the same file" in capsys.readouterr().err
    assert cost_main(["--json", path, "--pattern", "ring"]) == 2
    assert f"required: RESULT. {path} was read as the value of --json" in capsys.readouterr().err


@pytest.mark.usefixtures("real_program")
def test_json_of_a_simulation(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    words = ["bisection", "--topology", "fat-tree:4x4", "--rounds", "3"]
    assert simulate_main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["benchmark"] == "bisection-simulation"
    file = tmp_path / "model"
    assert simulate_main([*words, "--json", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    assert json.loads(file.read_text()) == document

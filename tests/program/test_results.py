# SPDX-License-Identifier: Apache-2.0
"""What comes out: HDF5, JSON, text, and the report that is made of a file."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shlex
import signal
import subprocess
import termios
from pathlib import Path
from typing import Any, Self

import h5py
import program
import pytest
from fabrics import fabric_file
from program import Leadline, Run, await_that
from result import ResultFile, schema_of, wrong_json


def test_json_is_what_the_schema_says(link: Leadline, tmp_path: Path) -> None:
    done = link("--local", "3", "--output", "r.json", "--message-size", "8,1KiB", "--repeat", "2")
    document = json.loads((tmp_path / "r.json").read_text())
    assert wrong_json(document, schema_of("link")) == []
    assert document["complete"] is True
    assert document["provenance"]["num_ranks"] == 3
    assert document["provenance"]["command_line"][1:4] == ["link", "--local", "3"]
    assert len(document["slices"]) == 4
    assert "r.json" in done.out


@pytest.mark.parametrize("words", [["--output", "-"], ["--format", "json"]])
def test_json_on_stdout(link: Leadline, tmp_path: Path, words: list[str]) -> None:
    done = link("--local", "2", *words)
    assert wrong_json(json.loads(done.out), schema_of("link")) == []
    assert list(tmp_path.iterdir()) == []


def test_an_unusual_run_fits_the_schema_too(link: Leadline, tmp_path: Path) -> None:
    transport = fabric_file(tmp_path, host_name='a "host" <&')
    link("--local", "5", "--transport", transport, "--retest", "2", "--shuffle-ranks", "2", "--verify",
         "--seed", "18446744073709551615", "--only-rounds", "1-2", "--output", "r.json")  # fmt: skip
    document = json.loads((tmp_path / "r.json").read_text())
    assert wrong_json(document, schema_of("link")) == []
    assert document["options"]["seed"] == 18446744073709551615
    assert [host["ranks"] for host in document["hosts"]] == ["0-1", "2-3", "4"]
    link("--local", "1", "--output", "one.json")
    one = json.loads((tmp_path / "one.json").read_text())
    assert wrong_json(one, schema_of("link")) == []
    assert one["slices"][0]["between_hosts"]["time_ns_median"] is None


def test_the_summary_in_hdf5_is_the_same_document(link: Leadline, tmp_path: Path) -> None:
    link("--local", "4", "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    assert wrong_json(result.summary, schema_of("link")) == []
    medians = result.medians()[result.every_pair()]
    every = result.summary["slices"][0]["all"]
    assert every["num_pairs"] == 12
    assert every["time_ns_min"] == pytest.approx(medians.min())
    assert every["time_ns_max"] == pytest.approx(medians.max())
    assert every["time_ns_mean"] == pytest.approx(medians.mean())
    options = dict(result.summary["options"])
    assert {name.removesuffix("_bytes").removesuffix("_s") for name in options} == set(result.options)
    assert options["messages"] == int(result.options["messages"]) == 5


def test_no_file(link: Leadline, tmp_path: Path) -> None:
    done = link("--local", "2", "--format", "none")
    assert list(tmp_path.iterdir()) == []
    assert "median" in done.out
    assert "leadline report" not in done.out


def test_quiet(link: Leadline) -> None:
    done = link("--local", "3", "--format", "none", "--quiet")
    assert done.err == ""
    assert "median" in done.out


def test_progress_lines(link: Leadline) -> None:
    words = ("--local", "4", "--format", "none", "--message-size", "8,16", "--retest", "1")
    done = link(*words)
    lines = done.err.splitlines()
    assert all(re.fullmatch(r" *\d+ %  .*, round \d/3 after .*, .* left, mean .*", line) for line in lines)
    shares = [int(line.split()[0]) for line in lines]
    assert shares == sorted(shares)
    assert shares[-1] == 100
    assert "\x1b" not in done.err + done.out, "colours and cursors are for terminals"
    assert "\r" not in done.err
    loud = link(*words, "--verbose")
    for number in ("1/3", "2/3", "3/3"):
        assert loud.err.count(number) == 2
    assert loud.err.count("\nretest ") == 2


def test_all_details_are_there_if_wanted(link: Leadline) -> None:
    words = ("--local", "3", "--format", "none")
    brief, full = link(*words).out, link(*words, "--verbose").out
    for details in ("p99.9", "max (slowest pair)", "slowest pairs", "slowest halves of the rounds"):
        assert details not in brief
        assert details in full
    assert brief.startswith("verdict: ")
    table, _, _ = brief[brief.index("  message  pairs") :].partition("\n\n")
    assert max(len(line) for line in table.splitlines()) <= 80


class Terminal:
    """A terminal of its own."""

    def __enter__(self) -> Self:
        self._main, self.end = os.openpty()
        os.set_blocking(self._main, False)
        self._said = ""
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._main)
        os.close(self.end)

    def standard_output(self) -> dict[str, Any]:
        """Options of a process that has it as standard output, and is controlled by it."""
        return {"stdout": self.end, "preexec_fn": lambda: fcntl.ioctl(self.end, termios.TIOCSCTTY, 0)}

    def said(self) -> str:
        """All so far."""
        with contextlib.suppress(BlockingIOError):
            self._said += os.read(self._main, 1 << 20).decode()
        return self._said


def test_progress_bar_on_a_terminal(link: Leadline) -> None:
    with Terminal() as terminal:
        link("--local", "4", "--format", "none", "--messages", "2000", stderr=terminal.end, stdout=subprocess.DEVNULL)
        said = terminal.said()
    assert "\r" in said
    assert "round 0/3" in said, "before the first one ends"
    assert said.endswith("\x1b[K"), "the bar is wiped away at the end"
    assert "\n" not in said


@pytest.mark.parametrize(
    ("env", "is_coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colours_on_a_terminal(link: Leadline, env: dict[str, str], is_coloured: bool) -> None:
    with Terminal() as terminal:
        link("--local", "2", "--format", "none", "--quiet", env=env, **terminal.standard_output())
        said = terminal.said()
    assert re.match("(\x1b\\[1;3.m)?verdict: ", said)
    assert ("\x1b" in said) == is_coloured


def test_the_table_is_as_wide_as_the_terminal(link: Leadline) -> None:
    for columns, has_range, has_extremes in (("50", False, False), ("80", True, False), ("120", True, True)):
        with Terminal() as terminal:
            link("--local", "2", "--format", "none", "--quiet", env={"COLUMNS": columns}, **terminal.standard_output())
            said = terminal.said()
        (titles,) = re.findall("^  message .*", said, re.MULTILINE)
        assert ("95 %" in titles, "slowest" in titles) == (has_range, has_extremes)


def test_a_terminal_of_a_launcher_is_none(link: Leadline) -> None:
    """Open MPI's mpirun has one for each rank, also where it writes into a file."""
    with Terminal() as terminal:
        link("--local", "2", "--format", "none", "--quiet", stdout=terminal.end, env={"COLUMNS": "120"})
        said = terminal.said()
    assert said.startswith("verdict: ")
    assert "\x1b" not in said
    assert "slowest" not in said.partition("  message  pairs")[2]


def test_an_interrupt_takes_the_place_of_the_progress_line(tmp_path: Path) -> None:
    words = (program.PROGRAM, "link", "--local", "2", "--format", "none", "--messages", "100000000")
    with Terminal() as terminal, Run(words, tmp_path, stderr=terminal.end) as run:
        await_that(lambda: "round 0/1" in terminal.said())
        run.send(signal.SIGINT)
        assert run.finish().status == 4
        said = terminal.said()
    assert re.search("round 0/1[^\n]*\r\x1b\\[Kleadline: ", said)


@pytest.mark.parametrize("name", ["r", "a \u00fc b's"])
def test_the_program_tells_what_comes_next(link: Leadline, leadline: Leadline, tmp_path: Path, name: str) -> None:
    done = link("--local", "3", "--output", f"{name}.h5")
    last = shlex.split(done.out.splitlines()[-1])
    assert last[:1] == ["next:"]
    report = leadline(*last[2:])
    assert (report.status, report.err) == (0, "")
    assert (tmp_path / f"{name}.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html>")


def whole_file(link: Leadline, folder: Path) -> bytes:
    link("--local", "4", "--output", "whole.h5")
    return (folder / "whole.h5").read_bytes()


def damaged_files(whole: bytes) -> dict[str, bytes]:
    """Files that are no results, by their name."""
    flipped = bytearray(whole)
    flipped[:4096] = bytes(reversed(flipped[:4096]))
    noise = bytearray(whole)
    noise[64:2048] = b"\xa5" * (2048 - 64)
    return {
        "empty": b"",
        "short": whole[:100],
        "half": whole[: len(whole) // 2],
        "nearly": whole[:-1000],
        "other kind": b"\x89PNG\r\n\x1a\n" + bytes(1000),
        "text": b"message size 1 KiB\n" * 100,
        "shuffled head": bytes(flipped),
        "noise": bytes(noise),
    }


def test_reports_of_what_is_no_result(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    for name, contents in damaged_files(whole_file(link, tmp_path)).items():
        (tmp_path / "bad.h5").write_bytes(contents)
        done = leadline("report", "bad.h5")
        assert done.status == (2 if name in ("other kind", "text", "shuffled head") else 4), name
        assert done.err == done.complaint + "\n", name
        assert "bad.h5" in done.complaint, name
        assert not (tmp_path / "bad.html").exists(), name


def test_the_highest_quantile_is_everywhere(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    link("--local", "3", "--messages", "50", "--output", "r.h5")
    with h5py.File(tmp_path / "r.h5") as file:
        measured = file["repeats/0000/count"][0] > 0
        p99, p999, most = (file[f"repeats/0000/time_ns_{name}"][0][measured] for name in ("p99", "p999", "max"))
        (of_run,) = json.loads(file["summary"][()])["slices"]
    assert measured.sum() == 6
    assert (p99 <= p999).all()
    assert (p999 <= most).all()
    assert of_run["all"]["time_ns_p99"] <= of_run["all"]["time_ns_p999"] <= of_run["all"]["time_ns_max"]
    (shown,) = json.loads(leadline("info", "r.h5", "--json").out)["result"]["slices"]
    assert shown["time_ns_p999"] == of_run["all"]["time_ns_p999"]
    assert " p99.9 " in leadline("info", "r.h5").out
    leadline("report", "r.h5", "--output", "r.html")
    assert ">99.9 %<" in (tmp_path / "r.html").read_text()
    leadline("export", "r.h5", "--csv", "--output", "r.csv")
    header, *rows = (tmp_path / "r.csv").read_text().splitlines()
    place = header.split(",").index("time_ns_p999")
    assert sorted(float(row.split(",")[place]) for row in rows) == sorted(p999)


def test_report_of_another_hdf5_file(leadline: Leadline, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["temperature"] = [1.0, 2.0]
    done = leadline("report", "other.h5")
    assert done.status == 2
    assert done.err == done.complaint + "\n"


@pytest.mark.parametrize("command", ["report", "info"])
def test_what_a_later_format_has_is_shown(link: Leadline, leadline: Leadline, tmp_path: Path, command: str) -> None:
    whole_file(link, tmp_path)
    with h5py.File(tmp_path / "whole.h5", "r+") as file:
        file.attrs["format_version"] = 99
        file["new_group/new_list"] = [1, 2]
    done = leadline(command, "whole.h5")
    assert (done.status, done.err) == (0, ""), done.err
    with h5py.File(tmp_path / "whole.h5", "r+") as file:
        del file["message_size_bytes"]
    done = leadline(command, "whole.h5")
    assert done.status == 4
    assert "format version 99; this program knows up to 3" in done.complaint


def test_report_of_nothing(leadline: Leadline, tmp_path: Path) -> None:
    for words in (["missing.h5"], [], ["--frobnicate"]):
        done = leadline("report", *words)
        assert done.status == 2
        assert done.err == done.complaint + "\n"
    done = leadline("report", ".")
    assert done.status in (2, 4)
    assert done.complaint
    assert list(tmp_path.iterdir()) == []


def summary_of(path: Path) -> Any:
    return json.loads(path.read_text())


def test_every_finding_has_its_advice(link: Leadline, tmp_path: Path) -> None:
    link("--local", "1", "--output", "r.json")
    findings = summary_of(tmp_path / "r.json")["findings"]
    assert findings
    assert all(finding["message"] and finding["advice"] for finding in findings)


def test_a_reader_disturbs_nothing(tmp_path: Path) -> None:
    words = ["link", "--local", "3", "--messages", "40", "--repeat", "5", "--wait", "yield", "--output", "r.h5"]
    with program.Run([program.PROGRAM, *words], tmp_path, program.SLOW_MESSAGES) as run:
        run.await_err("1/3")
        with h5py.File(tmp_path / "r.h5", "r") as file:
            assert file["status/complete"][()] == 0
            done = run.finish()
    assert done.status == 0, done.err
    assert ResultFile(tmp_path / "r.h5").complete

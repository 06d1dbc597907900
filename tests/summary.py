#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up the reports of CTest, GoogleTest and pytest: the failed, the skipped with their reasons, and the counts."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace
from pathlib import Path

# CTest calls a test "skipped" also when it could not run it at all; only these two are the test's own word.
CTEST_SKIP_MESSAGES = ("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION_MATCHED")


# What a GoogleTest program prints of each of its tests.
TEST_BEGINS = re.compile(r"^\[ RUN {6}\] ([\w/.]+)", re.MULTILINE)
TEST_ENDS = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] ([\w/.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """One test of one run: passed, passed again (it failed first), failed or skipped, with the reason if any."""

    name: str
    verdict: str
    reason: str = ""


def outcomes_of(path: Path, programs: Path | None = None) -> list[Outcome]:
    """All tests in PATH.xml; a report that is not there is one failure, since its runner must have died.

    A CTest test of leadline_test() counts as the tests in it, with reports in the folder `programs`. PATH-again.xml
    has the failed tests that ran once more; its word is the last.
    """
    run = path.name
    report = path.with_name(run + ".xml")
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError) as error:
        return [Outcome(f"{run} (all of it)", "failed", f"no readable report: {error}")]
    outcomes = [outcome for case in root.iter("testcase") for outcome in _outcomes_of_case(run, case, programs)]
    again = path.with_name(run + "-again")
    if not again.with_name(again.name + ".xml").exists():
        return outcomes
    passed = {one.name.partition(": ")[2] for one in outcomes_of(again) if one.verdict == "passed"}
    return [
        replace(one, verdict="passed again")
        if one.verdict == "failed" and one.name.partition(": ")[2] in passed
        else one
        for one in outcomes
    ]


def _outcomes_of_case(run: str, case: ElementTree.Element, programs: Path | None) -> list[Outcome]:
    if programs and case.get("name", "").startswith("unit."):
        return _outcomes_of_program(run, case, programs)
    return [_outcome(run, case)]


def _outcomes_of_program(run: str, case: ElementTree.Element, programs: Path) -> list[Outcome]:
    """The single tests of a GoogleTest program: from its own report, else from what it printed."""
    try:
        report = ElementTree.parse(programs / (case.get("name", "?") + ".xml")).getroot()
    except (OSError, ElementTree.ParseError):
        return _printed_outcomes(run, case)
    outcomes = [_outcome_in_program(run, test) for test in report.iter("testcase")]
    whole = _outcome(run, case)
    if whole.verdict == "failed" and not any(outcome.verdict == "failed" for outcome in outcomes):
        outcomes.append(whole)
    return outcomes


def _outcome_in_program(run: str, test: ElementTree.Element) -> Outcome:
    failure, skipped = test.find("failure"), test.find("skipped")
    name = f"{run}: {test.get('classname')}.{test.get('name')}"
    if failure is not None:
        return Outcome(name, "failed", _one_line(failure.get("message", "")))
    if skipped is not None:
        lines = (skipped.get("message") or skipped.text or "").splitlines()
        if len(lines) > 1 and re.search(r":\d+$", lines[0]):
            del lines[0]  # the place in the source
        return Outcome(name, "skipped", _one_line(" ".join(lines)) or "no reason given")
    return Outcome(name, "skipped", "disabled") if test.get("status") == "notrun" else Outcome(name, "passed")


def _printed_outcomes(run: str, case: ElementTree.Element) -> list[Outcome]:
    """What the log tells of a program without a report: the test that was running at its end has failed."""
    whole = _outcome(run, case)
    output = case.findtext("system-out", "")
    begun = TEST_BEGINS.findall(output)
    ended = {name: verdict for verdict, name in TEST_ENDS.findall(output)}
    verdicts = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
    outcomes = []
    for name in begun:
        if name in ended:
            outcomes.append(Outcome(f"{run}: {name}", verdicts[ended[name]], "see the log"))
        else:
            reason = f"{case.get('name')} ended in this test, and those that follow did not run: {whole.reason}"
            outcomes.append(Outcome(f"{run}: {name}", "failed", reason))
    if all(outcome.verdict != "failed" for outcome in outcomes):
        outcomes.append(Outcome(whole.name, "failed", f"no report of its tests: {whole.reason}"))
    return outcomes


def _outcome(run: str, case: ElementTree.Element) -> Outcome:
    name = f"{run}: {_full_name(case)}"
    for tag in ("failure", "error"):
        found = case.find(tag)
        if found is not None:
            return Outcome(name, "failed", _one_line(found.get("message", "")))
    skipped = case.find("skipped")
    if skipped is None:
        is_disabled = case.get("status") == "disabled"
        return Outcome(name, "skipped", "disabled") if is_disabled else Outcome(name, "passed")
    message = skipped.get("message", "")
    if not run.startswith("ctest"):
        return Outcome(name, "skipped", _one_line(message))
    if message.startswith(CTEST_SKIP_MESSAGES):
        return Outcome(name, "skipped", _reason_in(case.findtext("system-out", "")) or "no reason given")
    return Outcome(name, "skipped" if case.get("status") == "disabled" else "failed", _one_line(message))


def _full_name(case: ElementTree.Element) -> str:
    name, module = case.get("name", "?"), case.get("classname", "")
    return f"{module}.{name}" if module and module != name else name


def _reason_in(output: str) -> str:
    """The words behind "Skipped" in a test's output: on the same line (our scripts) or below it (GoogleTest)."""
    match = re.search(r"Skipped: (.+)", output) or re.search(r": Skipped\n(.+)", output)
    return _one_line(match[1]) if match else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def report(outcomes: list[Outcome]) -> str:
    """What a person reads at the end; the line of counts is the last."""
    lines = []
    for verdict, title in (
        ("failed", "failed tests:"),
        ("passed again", "tests that failed, and passed when run again:"),
    ):
        found = [outcome for outcome in outcomes if outcome.verdict == verdict]
        if found:
            lines += [title, *(f"  {outcome.name}  {outcome.reason}".rstrip() for outcome in found), ""]
    skipped: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.verdict == "skipped":
            skipped.setdefault(outcome.reason, []).append(outcome.name)
    if skipped:
        lines.append("skipped tests:")
        for reason, names in skipped.items():
            lines += [f"  {reason}", *(f"    {name}" for name in names)]
        lines.append("")
    verdicts = ("passed", "passed again", "failed", "skipped")
    count = {verdict: sum(o.verdict == verdict for o in outcomes) for verdict in verdicts}
    lines.append(", ".join(f"{n} {verdict}" for verdict, n in count.items() if n or verdict != "passed again"))
    return "\n".join(lines)


def main() -> int:
    """summary.py PATH[=FOLDER]...: status 1 when a test failed or none ran.

    PATH names a run, its report is PATH.xml; in FOLDER are those of its unit tests.
    """
    outcomes = []
    for argument in sys.argv[1:]:
        path, _, programs = argument.partition("=")
        outcomes += outcomes_of(Path(path), Path(programs) if programs else None)
    print(report(outcomes))
    return 1 if any(o.verdict == "failed" for o in outcomes) or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())

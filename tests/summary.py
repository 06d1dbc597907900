#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up what CTest and pytest wrote in JUnit's form: the failed, the skipped with their reasons, and the counts."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

# CTest calls a test "skipped" also when it could not run it at all; only these two are the test's own word.
CTEST_SKIP_MESSAGES = ("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION_MATCHED")


@dataclass(frozen=True)
class Outcome:
    """One test of one run: passed, failed or skipped, with the reason where there is one."""

    name: str
    verdict: str
    reason: str = ""


def outcomes_of(path: Path) -> list[Outcome]:
    """All tests in PATH.xml; a report that is not there is one failure, since its runner must have died."""
    run = path.name
    report = path.with_name(run + ".xml")
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError) as error:
        return [Outcome(f"{run} (all of it)", "failed", f"no readable report: {error}")]
    return [_outcome(run, case) for case in root.iter("testcase")]


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
    failed = [outcome for outcome in outcomes if outcome.verdict == "failed"]
    if failed:
        lines += ["failed tests:", *(f"  {outcome.name}  {outcome.reason}".rstrip() for outcome in failed), ""]
    skipped: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.verdict == "skipped":
            skipped.setdefault(outcome.reason, []).append(outcome.name)
    if skipped:
        lines.append("skipped tests:")
        for reason, names in skipped.items():
            lines += [f"  {reason}", *(f"    {name}" for name in names)]
        lines.append("")
    count = {verdict: sum(o.verdict == verdict for o in outcomes) for verdict in ("passed", "failed", "skipped")}
    lines.append(", ".join(f"{number} {verdict}" for verdict, number in count.items()))
    return "\n".join(lines)


def main() -> int:
    """summary.py PATH...: each names a run, its report is PATH.xml. Status 1 when a test failed or none ran."""
    outcomes = [outcome for path in sys.argv[1:] for outcome in outcomes_of(Path(path))]
    print(report(outcomes))
    return 1 if any(o.verdict == "failed" for o in outcomes) or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())

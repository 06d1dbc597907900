#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The counts at the end of ./test: what each runner calls skipped or failed, and what it means."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import summary

GOOGLETEST_SKIP = "[ RUN      ] A.b\n/x/a_test.cpp:7: Skipped\nno second host\n\n[  SKIPPED ] A.b (0 ms)\n"
NOT_RUN = '<testcase name="E" status="notrun"><skipped message="{}"/><system-out>{}</system-out></testcase>'


class Summary(unittest.TestCase):
    def outcome_of(self, run: str, case: str) -> summary.Outcome:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, run + ".xml").write_text(f"<testsuite>{case}</testsuite>")
            (outcome,) = summary.outcomes_of(Path(folder, run))
        return outcome

    def test_ctest(self) -> None:
        for case, verdict, reason in (
            ('<testcase name="A" status="run"/>', "passed", ""),
            ('<testcase name="B" status="fail"><failure message="Failed"/></testcase>', "failed", "Failed"),
            ('<testcase name="C" status="disabled"/>', "skipped", "disabled"),
            (NOT_RUN.format("SKIP_RETURN_CODE=77", "mypy: Skipped: no mypy"), "skipped", "no mypy"),
            (NOT_RUN.format("SKIP_REGULAR_EXPRESSION_MATCHED", GOOGLETEST_SKIP), "skipped", "no second host"),
            (NOT_RUN.format("Unable to find executable: /x", ""), "failed", "Unable to find executable: /x"),
        ):
            outcome = self.outcome_of("ctest-release", case)
            self.assertEqual((outcome.verdict, outcome.reason), (verdict, reason), case)

    def test_program(self) -> None:
        report = """<testsuites><testsuite name="S">
            <testcase name="a" status="run" result="completed" classname="S" />
            <testcase name="b" status="run" result="completed" classname="S">
              <failure message="/x.cpp:3&#x0A;1 is 2"/></testcase>
            <testcase name="c" status="run" result="skipped" classname="S">
              <skipped message="/x.cpp:7&#x0A;no host&#x0A;"/></testcase>
            <testcase name="d" status="notrun" result="suppressed" classname="S" /></testsuite></testsuites>"""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "unit.p.xml").write_text(report)
            outcomes = self.outcomes_of_program(
                '<testcase name="unit.p" status="fail"><failure message="Failed"/></testcase>', folder
            )
        self.assertEqual(
            [(outcome.name, outcome.verdict, outcome.reason) for outcome in outcomes],
            [
                ("ctest-release: S.a", "passed", ""),
                ("ctest-release: S.b", "failed", "/x.cpp:3 1 is 2"),
                ("ctest-release: S.c", "skipped", "no host"),
                ("ctest-release: S.d", "skipped", "disabled"),
            ],
        )

    def test_program_that_fails_after_its_tests(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "unit.p.xml").write_text(
                '<testsuite><testcase name="a" status="run" classname="S"/></testsuite>'
            )
            outcomes = self.outcomes_of_program(
                '<testcase name="unit.p" status="fail"><failure message="SEGFAULT"/></testcase>', folder
            )
        self.assertEqual([outcome.verdict for outcome in outcomes], ["passed", "failed"])

    def test_program_that_crashes(self) -> None:
        output = "[ RUN      ] S.a\n[       OK ] S.a (0 ms)\n[ RUN      ] All/S.b/1\n"
        inside = f'<failure message="SEGFAULT"/><system-out>{output}</system-out>'
        case = f'<testcase name="unit.p" status="fail">{inside}</testcase>'
        with tempfile.TemporaryDirectory() as folder:
            passed, crashed = self.outcomes_of_program(case, folder)
        self.assertEqual((passed.name, passed.verdict), ("ctest-release: S.a", "passed"))
        self.assertEqual((crashed.name, crashed.verdict), ("ctest-release: All/S.b/1", "failed"))
        self.assertIn("SEGFAULT", crashed.reason)

    def test_program_without_a_report(self) -> None:
        output = "[ RUN      ] S.a\n[       OK ] S.a (0 ms)\n"
        case = f'<testcase name="unit.p" status="run"><system-out>{output}</system-out></testcase>'
        with tempfile.TemporaryDirectory() as folder:
            outcomes = self.outcomes_of_program(case, folder)
        self.assertEqual([outcome.verdict for outcome in outcomes], ["passed", "failed"])

    def outcomes_of_program(self, case: str, programs: str) -> list[summary.Outcome]:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "ctest-release.xml").write_text(f"<testsuite>{case}</testsuite>")
            return summary.outcomes_of(Path(folder, "ctest-release"), Path(programs))

    def test_pytest(self) -> None:
        case = '<testcase classname="tests.a" name="b">{}</testcase>'
        for inside, verdict, reason in (
            ("", "passed", ""),
            ('<failure message="assert 1 == 2"/>', "failed", "assert 1 == 2"),
            ('<error message="fixture"/>', "failed", "fixture"),
            ('<skipped type="pytest.skip" message="no browser"/>', "skipped", "no browser"),
        ):
            outcome = self.outcome_of("pytest", case.format(inside))
            self.assertEqual((outcome.verdict, outcome.reason), (verdict, reason))

    def test_the_second_try_counts(self) -> None:
        case = '<testcase classname="tests.a" name="{}">{}</testcase>'
        failure = '<failure message="too late"/>'
        with tempfile.TemporaryDirectory() as folder:
            for run, second in (("pytest-a", failure), ("pytest-a-again", "")):
                cases = case.format("b", failure) + case.format("c", second) + case.format("d", "")
                Path(folder, run + ".xml").write_text(f"<testsuite>{cases}</testsuite>")
            outcomes = summary.outcomes_of(Path(folder, "pytest-a"))
        self.assertEqual([outcome.verdict for outcome in outcomes], ["failed", "passed again", "passed"])
        lines = summary.report(outcomes).splitlines()
        self.assertIn("  pytest-a: tests.a.c  too late", lines)
        self.assertEqual(lines[-1], "1 passed, 1 passed again, 1 failed, 0 skipped")

    def test_runner_died(self) -> None:
        (outcome,) = summary.outcomes_of(Path("nowhere", "pytest"))
        self.assertEqual(outcome.verdict, "failed")

    def test_report_ends_with_counts(self) -> None:
        outcomes = [summary.Outcome("a", "passed"), summary.Outcome("b", "skipped", "no mpi")]
        lines = summary.report(outcomes).splitlines()
        self.assertEqual(lines[-1], "1 passed, 0 failed, 1 skipped")
        self.assertIn("  no mpi", lines)


if __name__ == "__main__":
    unittest.main()

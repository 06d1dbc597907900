#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The functions of packaging/set-up where the path is odd, under any locale and umask, without HOME and a terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Longer than a first line with an interpreter may be, and than the buffers of some tools.
ODD_PATH = Path("a \u00fc b") / Path(*["a-rather-long-name-of-a-folder"] * 10) / "checkout"
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH "${PROJECT_SOURCE_DIR}/cmake")
include(leadline_commit)
leadline_commit(commit)
file(WRITE "${CMAKE_BINARY_DIR}/commit" "${commit}")
add_custom_target(programs COMMAND "${CMAKE_COMMAND}" -E make_directory bin)
"""
COMMANDS = ("leadline-report", "linktest-report", "pingponganalysis")
STEPS = "set -euo pipefail; . packaging/set-up; built release programs; commands_joined"
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.org")
COMMIT = (*AUTHOR, "commit", "--quiet", "--allow-empty", "--message", "one")


class SetUp(unittest.TestCase):
    def setUp(self) -> None:
        for needed in ("cmake", "ninja", "git"):
            if shutil.which(needed) is None:
                self.skipTest(f"{needed} is not installed")
        folder = tempfile.TemporaryDirectory(prefix="leadline-test-")
        self.addCleanup(folder.cleanup)
        self.outside = Path(folder.name)
        self.checkout = self.outside / ODD_PATH
        for name in ("packaging/set-up", "cmake/leadline_commit.cmake", "CMakePresets.json"):
            (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.checkout / name)
        (self.checkout / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        for name in COMMANDS:
            path = self.checkout / ".venv" / "bin" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def run_in(self, folder: Path, *words: str, **variables: str) -> None:
        environment = {"PATH": os.environ["PATH"]} | variables
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr).decode(errors="replace"))

    def commit(self) -> str:
        return (self.checkout / "build" / "release" / "commit").read_text(encoding="utf-8")

    def test_locales_and_masks(self) -> None:
        locales = ({}, {"LANG": "C"}, {"LC_ALL": "POSIX"}, {"LC_ALL": "C.UTF-8"}, {"LC_ALL": "xx_XX.UTF-8"})
        for mask, variables in zip(("022", "077", "0027", "000", "022"), locales, strict=True):
            with self.subTest(umask=mask, **variables):
                shutil.rmtree(self.checkout / "build", ignore_errors=True)
                self.run_in(self.checkout, "bash", "-c", f"umask {mask}; {STEPS}", **variables)
                for name in COMMANDS:
                    self.assertTrue(
                        (self.checkout / "build" / "release" / "bin" / name).exists(),
                        f"{name} is not beside the programs",
                    )

    def steps(self, script: str) -> str:
        words = ("bash", "-c", f"set -euo pipefail; . packaging/set-up; {script}")
        done = subprocess.run(words, cwd=self.checkout, capture_output=True, timeout=100, check=True)
        return done.stderr.decode()

    def test_steps_are_plain_lines_without_a_terminal(self) -> None:
        shown = self.steps("num_steps=2; step one; counted log echo '[1/9] a'; step two; cat build/log/log.log >&2")
        self.assertEqual(shown, "== [1/2] one\n== [2/2] two\n[1/9] a\n")

    def test_steps_and_counts_share_one_line_of_a_terminal(self) -> None:
        apt = "0 upgraded, 2 newly installed, 0 to remove\\nGet:1 http://a b\\nSetting up a (1)\\nSetting up b (1)\\n"
        script = f"step get; counted log printf '{apt}'; step build; counted log echo '[3/7] c'"
        get, build = "<[1/9] get", "<[2/9] build"
        counts = f"{get}: fetched 1 of 2{get}: installed 1 of 2{get}: installed 2 of 2"
        self.assertEqual(
            self.steps(f"clear_line='<'; num_steps=9; {script}"), f"{get}{counts}{get}{build}{build}: 3 of 7{build}"
        )

    def test_a_step_that_fails_shows_the_end_of_its_log(self) -> None:
        shown = self.steps("clear_line='<'; step build; counted log sh -c 'echo bad; exit 3' || echo \"status $?\" >&2")
        self.assertIn("bad\n<== the whole of it is in build/log/log.log\nstatus 3\n", shown)

    def test_nothing_is_asked_and_nothing_is_read(self) -> None:
        self.run_in(self.checkout, "bash", "-c", f"exec <&-; {STEPS}")

    def test_a_tar_ball_in_another_checkout_has_no_commit(self) -> None:
        self.run_in(self.outside, "git", "init", "--quiet")
        self.run_in(self.outside, "git", *COMMIT)
        self.run_in(self.checkout, "bash", "-c", STEPS)
        self.assertEqual(self.commit(), "")

    def test_a_checkout_of_somebody_else_has_its_commit(self) -> None:
        self.run_in(self.checkout, "git", "init", "--quiet")
        self.run_in(self.checkout, "git", *COMMIT)
        self.run_in(self.checkout, "bash", "-c", STEPS, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
        self.assertRegex(self.commit(), "^[0-9a-f]{7,}$")

    def test_a_second_work_tree_has_its_commit(self) -> None:
        self.run_in(self.outside, "git", "init", "--quiet", "first")
        self.run_in(self.outside / "first", "git", *COMMIT)
        self.run_in(self.outside / "first", "git", "worktree", "add", "--quiet", str(self.outside / "second"))
        (self.outside / "second" / ".git").rename(self.checkout / ".git")
        self.run_in(self.checkout, "bash", "-c", STEPS)
        self.assertRegex(self.commit(), "^[0-9a-f]{7,}$")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""`linktest-report`: the command line of LinkTest 2.x's report program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from leadline.cli.options import Option, Parser
from leadline.cli.support import ended, say


def _parser() -> Parser:
    parser = Parser(
        "linktest-report",
        description="Makes a report of a result: one A4 page with the matrix, the histogram, the slowest pairs and how "
        "it was measured. This is the front end of Leadline for the command line of LinkTest 2.x.",
        epilog="Status: 0 fine, 2 wrong command line, no such file or no result, 3 a permission is missing, 4 the "
        "result is damaged, or the disk is full.",
        version_options=("-v", "--version"),
    )
    parser.option(
        Option("--input", "SION file of LinkTest 1.2, SION or HDF5 of Leadline", "FILE", "-i", is_file=True,
               is_required=True)
    )  # fmt: skip
    parser.shared("--output", help="the report: a .pdf, .ps or .png, or the page as .html; replaces an older one",
                  is_required=True)  # fmt: skip
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """`linktest-report -i RESULT -o REPORT`; the exit status is the return value."""

    def command(words: Sequence[str]) -> None:
        options = _parser().parsed(words)
        from leadline.compat.linktest_report import linktest_report

        linktest_report(Path(options.input), Path(options.output))
        say(f"{options.output}\n")

    return ended(command, arguments)

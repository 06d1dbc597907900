# SPDX-License-Identifier: Apache-2.0
"""`linktest-report`: the command line of LinkTest 2.x's report program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from leadline import __version__
from leadline.cli.support import Once, Parser, ended, say
from leadline.compat.linktest_report import linktest_report

_PROGRAM = "linktest-report"


def _parser() -> Parser:
    parser = Parser(
        prog=_PROGRAM,
        allow_abbrev=False,
        description="Makes a report of a result: one A4 page with the matrix, the histogram, the slowest pairs and how "
        "it was measured. This is the front end of Leadline for the command line of LinkTest 2.x.",
        epilog="Status: 0 fine, 2 wrong command line or no such file, 3 a permission is missing, 4 the file is not a "
        "readable result, or the disk is full.",
    )
    parser.add_argument(
        "-i",
        "--input",
        action=Once,
        required=True,
        metavar="FILE",
        help="SION file of LinkTest 1.2, SION or HDF5 of Leadline",
    )
    parser.add_argument(
        "-o", "--output", action=Once, required=True, metavar="FILE",
        help="the report: a .pdf, .ps or .png, or the page as .html; an older one is replaced",
    )  # fmt: skip
    parser.add_argument("-v", "--version", action="version", version=f"{_PROGRAM} (leadline {__version__})")
    return parser


def _run(words: Sequence[str]) -> None:
    options = _parser().parse_args(words)
    linktest_report(Path(options.input), Path(options.output))
    say(f"{options.output}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """`linktest-report -i RESULT -o REPORT`; the exit status is the return value."""
    return ended(_run, arguments)

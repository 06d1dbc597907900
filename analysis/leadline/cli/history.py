# SPDX-License-Identifier: Apache-2.0
"""The command line of `leadline history`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leadline.cli.options import Option, Parser
from leadline.cli.support import run_command
from leadline.error import wrong


def _date(name: str, text: str) -> str:
    """A day, or a moment of it, as results have it."""
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}Z)?", text, re.ASCII):
        raise wrong(f"{name} cannot be '{text}'", "Write it as 2026-01-31 or 2026-01-31T12:00:00Z")
    return text


def _two_hosts(name: str, text: str) -> tuple[str, str]:
    one, _, other = text.partition(",")
    if not one or not other or "," in other or one == other:
        raise wrong(f"{name} cannot be '{text}'", "Name two hosts, as node1,node4")
    return one, other


def history_parser() -> Parser:
    """Its options."""
    parser = Parser(
        "leadline history",
        purpose="follow a machine over months: what changed and when, which hosts are bad how often",
        description="Keeps the numbers and findings of results in FOLDER (one SQLite file) and says what they show "
        "over time: when a number, a host or a link became slower or faster, which components were found most "
        "often, best and worst. RESULTs are added first: files of leadline link, topology, bisection, congestion, "
        "collective and io, and folders of leadline check and accept; one that is there already is not added again. "
        "Only runs with the same conditions are compared. Whether a change is more than chance is asked as "
        "docs/methods/months.md says.",
        epilog="Status: 0 fine, also where something changed, 1 a RESULT could not be added, and the others were, 2 "
        "wrong command line or no history, 3 a permission is missing, 4 the history is damaged or the disk is full. "
        "Example: leadline history months run.h5 --output months.html",
    )
    parser.argument("FOLDER", "where the history is; a new one where RESULTs are named")
    parser.several("RESULT", "results to add, and folders of leadline check or accept")
    parser.option(Option("--since", "only runs from this day on, as 2026-01-31", "DATE", kind=_date))
    parser.option(Option("--host", "only what is of this host: its changes, findings and last values", "NAME"))
    parser.option(Option("--link", "the same of the link between two hosts", "HOST,HOST", kind=_two_hosts))
    parser.option(
        Option(
            "--profile", "write a site profile of the good runs of the link test as 'leadline profile' does; their "
            "files must still be there", "FILE", is_file=True,
        )
    )  # fmt: skip
    parser.shared("--output", help="write a page with the course of all numbers; ends in .html")
    parser.shared("--json")
    parser.shared("--overwrite", help="replace files also if they are not of this command")
    parser.shared("--quiet")
    parser.shared("--verbose")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline history FOLDER [RESULT...]`; the exit status is the return value."""
    return run_command(history_parser, "history_run.history", arguments)

# SPDX-License-Identifier: Apache-2.0
"""The command line of `leadline view`."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.cli.options import Option, Parser, whole
from leadline.cli.support import run_command

_LAST_PORT = 65535


def view_parser() -> Parser:
    """Its options."""
    parser = Parser(
        "leadline view",
        purpose="look at a large result in the browser",
        description="Shows the report of a result of leadline link in the browser, with every pair in it, however many "
        "there are. The report comes from a server on this machine that only this machine can reach. Ctrl-C ends it.",
        epilog="Status: 0 fine, 2 wrong command line, no such file or no result of leadline link, 3 a permission is "
        "missing or the port is in use, 4 the result is damaged.",
    )
    parser.argument("RESULT", "result file")
    parser.option(
        Option(
            "--port", "port on 127.0.0.1 to listen on", "N", kind=whole(0, _LAST_PORT), default=0,
            default_text="a free one",
        )
    )  # fmt: skip
    parser.shared("--message-size")
    parser.shared("--repeat")
    parser.option(Option("--no-browser", "print the address only, do not open a browser"))
    parser.without("--output", "it shows a page and writes none; --json FILE has the address")
    parser.shared("--json", help="print the address as JSON, or write it into FILE, which only you can read")
    parser.shared("--overwrite", help="replace FILE also if it is not an earlier address")
    parser.shared("--quiet")
    parser.shared("--verbose", help="tell on standard error what is done, and every request")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline view RESULT`; the exit status is the return value."""
    return run_command(view_parser, "view_run.view", arguments)

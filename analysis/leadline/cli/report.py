# SPDX-License-Identifier: Apache-2.0
"""The command line of `leadline report`."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.cli.options import WRITTEN_AS_JSON, Option, Parser
from leadline.cli.support import run_command
from leadline.settings import Statistic


def report_parser() -> Parser:
    """Its options."""
    parser = Parser(
        "leadline report",
        purpose="make a page, a sheet or a picture of a result",
        description="Makes a report of a result of leadline link (what is at fault, the matrix, the histogram, the "
        "slowest pairs, hosts and ranks), leadline topology (rates over message size, when each message arrives, the "
        "slowest ranks), leadline bisection (the effective bisection bandwidth and its interval, distributions, slow "
        "hosts, ranks and connections, measured against simulated) or leadline io (rates, the timeline of ranks, "
        "latencies, the page cache, who is slow, wrong data), and how it was measured. Of the folder of a leadline "
        "check or leadline accept it makes a page with the answer, and one for each part. The name of FILE selects the "
        "format: .html is a page that works offline and can be sent by mail, .pdf and .ps are one A4 sheet with the "
        "same contents, .png is that sheet for a topology or bisection test, and the matrix alone for a link test.",
        epilog="Status: 0 fine, 2 wrong command line, no such file or no result, 3 a permission is missing, 4 the "
        "result is damaged or the report cannot be written.",
    )
    parser.argument("RESULT", "result file, or the folder of a check or an acceptance test")
    parser.shared("--output", help="file to write: .html, .pdf, .png or .ps; - = a page to standard output",
                  default_text="RESULT with .html")  # fmt: skip
    parser.shared("--json", help=WRITTEN_AS_JSON)
    parser.shared("--overwrite", help="replace FILE also if it is not an earlier report of leadline")
    parser.option(
        Option(
            "--statistic", "link test: what the matrix shows of each pair, on a page at first", "NAME",
            choices=[one.value for one in Statistic], default=Statistic.MEDIAN.value,
        )
    )  # fmt: skip
    parser.shared("--message-size")
    parser.shared("--repeat", help="link test: only this repeat; the first is 1")
    parser.option(
        Option(
            "--topology", "the physical network, as for leadline diagnose: a file, a formula or pattern:REGEX over "
            "host names", "WORD", default_text="what the result says",
        )
    )  # fmt: skip
    parser.option(
        Option(
            "--routes", "link test: forwarding tables of the switches, as for leadline diagnose, beside --topology",
            "FILE", is_file=True,
        )
    )  # fmt: skip
    parser.option(
        Option(
            "--baseline", "link test: compare with this earlier result, as leadline compare does; may be given several "
            "times, and chance is then how much these differ", "FILE", is_file=True, may_repeat=True,
        )
    )  # fmt: skip
    parser.option(
        Option(
            "--simulated", "bisection test: show this output of leadline simulate bisection --json, of the same "
            "patterns, beside the result", "FILE", is_file=True,
        )
    )  # fmt: skip
    parser.shared("--quiet")
    parser.shared("--verbose")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline report RESULT`; the exit status is the return value."""
    return run_command(report_parser, "report_run.report", arguments)

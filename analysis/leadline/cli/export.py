# SPDX-License-Identifier: Apache-2.0
"""The command line of `leadline export`."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.cli.options import WRITTEN_AS_JSON, Option, Parser
from leadline.cli.support import run_command

KINDS = {
    "csv": "the table as CSV with a header",
    "parquet": "the table as Parquet; needs pyarrow",
    "bad-links": "link test: the faults, as leadline diagnose lists them, separated by tabs",
}


def export_parser() -> Parser:
    """Its options."""
    parser = Parser(
        "leadline export",
        purpose="write a result for other tools: CSV, Parquet, the list of bad links",
        description="Writes a result as a table for other tools. For a result of leadline link or LinkTest, --csv and "
        "--parquet write one line for each ordered pair of the schedule: ranks, hosts, size, repeat, round, number of "
        "batches, times in ns, bandwidth in bytes/s; what was not measured is empty. --bad-links writes the "
        "faults, each once, as leadline diagnose lists them, with some of their pairs. For a result "
        "of leadline topology, --csv and --parquet write one line for each pattern, size and repeat: times, rates, "
        "slowest rank; with --channels one line for each message of an exchange, with its time to arrival; for a load "
        "with --duration one line for each of its points. For a result of leadline bisection they write one line for "
        "each pattern; with --channels one for each connection of each pattern. For a result of leadline io they write "
        "one line for each phase; with --ranks one for each rank in each phase.",
        epilog="Status: 0 fine, 2 wrong command line, no such file or no result, 3 a permission or pyarrow is missing, "
        "4 the result is damaged or the table cannot be written.",
    )
    parser.argument("RESULT", "result file (HDF5 or SION)")
    kinds = parser.add_mutually_exclusive_group(required=True)
    for name, text in KINDS.items():
        parser.option(Option(f"--{name}", text), kinds)
    parser.option(
        Option("--channels", "topology test: one line for each message; bisection test: one for each connection")
    )
    parser.option(Option("--ranks", "parallel file test: one line for each rank"))
    parser.shared("--output", help="file to write; - = standard output, not for Parquet",
                  default_text="RESULT with .csv, .parquet or .bad-links.tsv")  # fmt: skip
    parser.shared("--json", help=WRITTEN_AS_JSON)
    parser.shared("--overwrite", help="replace FILE also if it is not an earlier table of the same kind")
    parser.shared("--message-size")
    parser.shared("--repeat", help="link test: only this repeat; the first is 1")
    parser.shared("--quiet")
    parser.shared("--verbose")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline export RESULT`; the exit status is the return value."""
    return run_command(export_parser, "export_run.export", arguments)

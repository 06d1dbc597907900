# SPDX-License-Identifier: Apache-2.0
"""The command line of `leadline accept`."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.cli.options import Option, Parser
from leadline.cli.support import run_command


def accept_parser() -> Parser:
    """Its options."""
    parser = Parser(
        "leadline accept",
        purpose="run the acceptance test of a machine: benchmarks with limits for their numbers",
        description="Runs the acceptance test of a machine as SPEC describes it (YAML, docs/formats/acceptance.md): "
        "parts, each a command line of leadline link, topology, bisection or io, and limits for the numbers of their "
        "results. Says of each limit whether it is kept, by which number, and where that was measured. All results "
        "stay in one folder, of which 'leadline report' makes one page. Inside of an allocation each part is started "
        "with --launcher; without it on this host.",
        epilog="Status: 0 all limits are kept, 1 a limit is not kept, 2 wrong command line or SPEC, 3 a limit could "
        "not be tested and none failed, or something is missing here, 4 a file cannot be written. Example: "
        'leadline accept cluster.yaml --launcher "srun --nodes 32 --ntasks-per-node 4"',
    )
    parser.argument("SPEC", "file that describes the test")
    parser.shared("--output", help="folder for results, logs and the document accept.json", value="FOLDER",
                  default_text="leadline-accept-TIME")  # fmt: skip
    parser.option(
        Option(
            "--launcher", "words before each command, which start its ranks: \"srun\", \"mpirun -n 64\"", "WORDS",
            default_text="none: processes on this host",
        )
    )  # fmt: skip
    parser.option(Option("--judge-only", "measure nothing: judge the results that lie in FOLDER"))
    parser.option(Option("--dry-run", "check SPEC and each command line, print what would be run, measure nothing"))
    parser.shared("--json", help="print the document as JSON instead of text, or write it into FILE, too")
    parser.shared("--overwrite", help="use FOLDER also if something is in it, and replace what has the same name")
    parser.shared("--quiet")
    parser.shared("--verbose")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline accept SPEC`; the exit status is the return value."""
    return run_command(accept_parser, "accept_run.accept", arguments)

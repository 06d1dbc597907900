# SPDX-License-Identifier: Apache-2.0
"""The command line of `leadline cost`."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.cli.options import SHARED, Option, Parser, seconds, whole
from leadline.cli.support import run_command
from leadline.settings import (
    EFFORT_PER_PAIR,
    MOST_EFFORT,
    MOST_RANKS_EXHAUSTIVE,
    PLACEMENT_TIME_LIMIT_S,
    Statistic,
)

_MOST_PAIRS = 1_000_000

_PATTERNS = (
    "ring: every rank sends to the next one; halo-2d, halo-3d: to its neighbours in a grid, as halo-2d:8x4 or "
    "halo-3d:4x4x2,periodic (without extents the most cubic grid); all-to-all: pairwise, one stage for each distance "
    "of ranks; tree: from rank 0 to all, binomial, or tree:K with K children each; or a file with one message a line: "
    "FROM TO [MESSAGES [BYTES]]"
)
SEARCH_OPTIONS = (
    SHARED["--seed"],
    Option(
        "--effort", "number of swaps of two ranks that the search tries; for up to "
        f"{MOST_RANKS_EXHAUSTIVE} ranks it tries all placements", "N", kind=whole(1, 10**12),
        default_text=f"{EFFORT_PER_PAIR} times the ranks squared, at most {MOST_EFFORT:,}",
    ),
    Option(
        "--time-limit", "end the search after this time, also if it has tried less; then its result depends on the "
        "machine", "TIME", kind=seconds(1e6), default=PLACEMENT_TIME_LIMIT_S,
        default_text=f"{PLACEMENT_TIME_LIMIT_S:g}s",
    ),
    Option(
        "--write-placement", "write the hosts of the better placement, one a line in the order of ranks, as "
        "SLURM_HOSTFILE and mpirun --map-by seq --hostfile read it", "FILE", is_file=True,
    ),
)  # fmt: skip


def cost_parser() -> Parser:
    """Its options."""
    parser = Parser(
        "leadline cost",
        purpose="say what a communication pattern costs on a measured matrix, and where its ranks would cost less",
        description="Says what a communication pattern costs on the measured matrix of a result of leadline link or "
        "LinkTest: in total and for every rank, which pairs cost most, and how much another placement of the ranks "
        "would save. A message takes as long as was measured between its two ranks; a rank sends one message after "
        "another and receives at the same time; a stage ends when its slowest rank is done. Contention of the "
        "pattern's own messages is not included.",
        epilog="Status: 0 fine, 2 wrong command line, no such file, no result of a link test or no pattern, 3 a "
        "permission is missing, 4 the result is damaged, or no pair of the pattern was measured.",
    )
    parser.argument("RESULT", "result file (HDF5 or SION)")
    parser.option(Option("--pattern", _PATTERNS, "PATTERN", is_required=True))
    parser.shared("--message-size", help="message size, for example 16MiB", default_text="the only one")
    parser.shared("--repeat", help="repeat; the first is 1", default_text="the only one")
    parser.option(
        Option(
            "--statistic", "which statistic of a pair is its time", "NAME",
            choices=[one.value for one in Statistic], default=Statistic.MEDIAN.value,
        )
    )  # fmt: skip
    parser.option(Option("--top", "number of pairs and ranks to list", "N", kind=whole(0, _MOST_PAIRS), default=10))
    search = parser.add_argument_group("search for a better placement")
    parser.option(Option("--no-placement", "do not search for a better placement of the ranks"), search)
    for option in SEARCH_OPTIONS:
        parser.option(option, search)
    parser.shared("--output", help="also write the numbers: .json has all, .csv one line for each rank")
    parser.shared("--json")
    parser.shared("--overwrite", help="replace files also if they are not of this command")
    parser.shared("--quiet")
    parser.shared("--verbose")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline cost RESULT --pattern PATTERN`; the exit status is the return value."""
    return run_command(cost_parser, "cost_run.cost", arguments)

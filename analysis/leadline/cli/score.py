# SPDX-License-Identifier: Apache-2.0
"""The command line of `leadline score`."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.cli.options import Parser
from leadline.cli.support import run_command


def score_parser() -> Parser:
    """Its options."""
    parser = Parser(
        "leadline score",
        purpose="put runs of the four presets of leadline io together as IO500 does",
        description="Takes four results of leadline io, one each of --preset ior-easy, ior-hard, mdtest-easy and "
        "mdtest-hard, in any order. Prints the rate and the time of each phase, the geometric means of the bandwidths "
        "and of the metadata rates, and the score, the square root of their product, as IO500 does. It is no score "
        "of IO500: the text says which phases are missing and which rules were not kept.",
        epilog="Status: 0 fine, 2 wrong command line, no such file, no result of a preset, a preset is missing or "
        "there twice, 3 a permission is missing, 4 a result is damaged, or a phase has no rate. "
        "Example: leadline score ior-easy.h5 ior-hard.h5 mdtest-easy.h5 mdtest-hard.h5",
    )
    parser.argument("RESULT", "result of leadline io --preset (HDF5)")
    parser.several("OTHERS", "the other three")
    parser.shared("--output", help="also write the numbers; ends in .json")
    parser.shared("--json")
    parser.shared("--overwrite", help="replace files also if they are not of this command")
    parser.shared("--quiet")
    parser.shared("--verbose")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline score RESULT...`; the exit status is the return value."""
    return run_command(score_parser, "score_run.score", arguments)

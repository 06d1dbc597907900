# SPDX-License-Identifier: Apache-2.0
"""`leadline cost`: what a communication pattern costs on the measured matrix, and where its ranks would cost less."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from leadline import __version__
from leadline.cli.support import (
    Once,
    Parser,
    ProgressLine,
    check_output,
    ended,
    replacing,
    say,
    whole_number,
    write,
    wrong,
)
from leadline.cost import MeasuredTimes, Pattern, Placement, better_placement, measured_times, parse_pattern
from leadline.cost import pattern_cost as cost_of
from leadline.cost.placement import MOST_EFFORT, TIME_LIMIT_S, usual_effort, why_no_placement
from leadline.cost.result_file import cost_text, hosts_text, is_own_json
from leadline.export import pattern_cost as table
from leadline.load import load_link
from leadline.model import Statistic
from leadline.model.pattern_cost import PatternCost
from leadline.text_file import utf8
from leadline.units import parse_bytes
from leadline.words.cost import cost_lines, no_placement_line, placement_lines

# What is about a search for placements alone.
_OF_SEARCH = ("seed", "effort", "time_limit", "write_placement")
_MOST_PAIRS = 1_000_000

_PATTERNS = (
    "ring: every rank sends to the next one; halo-2d, halo-3d: to its neighbours in a grid, as halo-2d:8x4 or "
    "halo-3d:4x4x2,periodic (without extents the most cubic grid); all-to-all: pairwise, a stage for each distance of "
    "ranks; tree: from rank 0 to all, binomial, or tree:K with K children each; or a file with messages in each line: "
    "FROM TO [MESSAGES [BYTES]]"
)


def _cost_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="leadline cost",
        allow_abbrev=False,
        description="Says what a communication pattern costs on the measured matrix of a result of leadline link or "
        "LinkTest: in all and for every rank, which pairs have most of it, and how much another placement of the ranks "
        "would save. A message takes as long as was measured between its two ranks; a rank sends one after another and "
        "receives at the same time; a stage ends when its slowest rank is done. The load of the network by the pattern "
        "itself is not in it.",
        epilog="Status: 0 fine, 2 wrong command line, no such file or no pattern, 3 a permission is missing, 4 the "
        "file is not a readable result of a link test, or no pair of the pattern was measured.",
    )
    parser.add_argument("result", metavar="RESULT", help="result file (HDF5 or SION)")
    parser.add_argument("--pattern", action=Once, required=True, metavar="PATTERN", help=_PATTERNS)
    parser.add_argument(
        "--size", action=Once, metavar="BYTES", help="message size, such as 16MiB (default: the only one)"
    )
    parser.add_argument(
        "--repeat", action=Once, metavar="NUMBER", help="repeat; the first is 1 (default: the only one)"
    )
    parser.add_argument(
        "--statistic", action=Once, choices=[one.value for one in Statistic], default="median",
        help="what of each pair its time is (default: median)",
    )  # fmt: skip
    parser.add_argument("--top", action=Once, metavar="K", help="pairs and ranks to list (default: 10; 0 = none)")
    _add_search(parser)
    parser.add_argument(
        "-o", "--output", action=Once, metavar="FILE",
        help="also write the numbers: .json has all, .csv a line for each rank",
    )  # fmt: skip
    parser.add_argument(
        "--overwrite", action="store_true", help="replace files even where they are not of this command"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--version", action="version", version=f"leadline cost {__version__}")
    return parser


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-placement", action="store_true", help="do not look for a better placement of the ranks")
    parser.add_argument("--seed", action=Once, metavar="N", help="of the search (default: 1)")
    parser.add_argument(
        "--effort", action=Once, metavar="N",
        help="swaps of two ranks that the search tries (default: 100 times the ranks squared, at most "
        f"{MOST_EFFORT:,}); up to 8 ranks all placements are tried",
    )  # fmt: skip
    parser.add_argument(
        "--time-limit", action=Once, metavar="SECONDS",
        help="end the search then, even if it has not tried so many; what it finds then depends on the machine "
        f"(default: {TIME_LIMIT_S:.0f})",
    )  # fmt: skip
    parser.add_argument(
        "--write-placement", action=Once, metavar="FILE",
        help="write the hosts of the better placement, one a line in the order of ranks, as SLURM_HOSTFILE and "
        "mpirun --map-by seq --hostfile take it",
    )  # fmt: skip


def _time_limit(text: str | None) -> float:
    if text is None:
        return TIME_LIMIT_S
    try:
        limit_s = float(text)
    except ValueError:
        limit_s = math.nan
    if not 0 < limit_s <= 1e6:
        raise wrong(f"--time-limit cannot be '{text}'", "Write seconds, above 0 and up to 1000000")
    return limit_s


def _size(text: str | None) -> int | None:
    try:
        return None if text is None else parse_bytes(text)
    except ValueError:
        raise wrong(f"--size {text} is not a size", "Write it as 512, 1KiB or 16MiB") from None


def _output_path(options: argparse.Namespace) -> Path | None:
    """Checked, with that of the placement."""
    outputs = [Path(name) for name in (options.output, options.write_placement) if name is not None]
    for path in outputs:
        for name in (options.result, options.pattern):
            if path.exists() and Path(name).exists() and path.samefile(name):
                raise wrong(f"cannot write '{path}' (it is what is to be read)", "Name another file")
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise wrong("--output and --write-placement name the same file")
    if options.write_placement is not None:
        check_output(Path(options.write_placement), options.overwrite, lambda _: False)
    if options.output is None:
        if options.overwrite and options.write_placement is None:
            raise wrong("--overwrite has no effect without --output or --write-placement")
        return None
    path = Path(options.output)
    if path.suffix.lower() not in (".json", ".csv"):
        raise wrong(f"cannot write '{path}' (the end of its name says how)", "End it in .json or .csv")
    is_json = path.suffix.lower() == ".json"
    check_output(path, options.overwrite, is_own_json if is_json else lambda ends: ends.startswith(table.HEADER))
    return path


def _expect_search(options: argparse.Namespace, reason: str) -> None:
    """What is about the search has no effect without one."""
    for name in _OF_SEARCH:
        if getattr(options, name) is not None:
            raise wrong(f"--{name.replace('_', '-')} has no effect here ({reason})")


def _placement(options: argparse.Namespace, pattern: Pattern, cost: PatternCost, times: MeasuredTimes) -> Placement:
    seed = whole_number(options, "seed", 1, 0, (1 << 64) - 1)
    effort = whole_number(options, "effort", usual_effort(pattern.num_ranks), 1, 10**12)
    progress = None if options.quiet else ProgressLine("looking for a better placement")
    try:
        return better_placement(pattern, cost, times, seed, effort, _time_limit(options.time_limit), progress)
    finally:
        if progress:
            progress.end()


def _cost(arguments: Sequence[str]) -> None:
    options = _cost_parser().parse_args(arguments)
    top = whole_number(options, "top", 10, 0, _MOST_PAIRS)
    if options.no_placement:
        _expect_search(options, "--no-placement")
    path = _output_path(options)
    result = load_link(options.result)
    repeat = None if options.repeat is None else whole_number(options, "repeat", 0, 1, 1 << 31) - 1
    pattern = parse_pattern(options.pattern, result.num_ranks)
    times = measured_times(result, pattern, _size(options.size), repeat, options.statistic)
    progress = None if options.quiet else ProgressLine("reading the result")
    try:
        cost = cost_of(result, pattern, times, top, progress)
    finally:
        if progress:
            progress.end()
    lines = cost_lines(cost, top)
    reason = "it was not asked for" if options.no_placement else why_no_placement(pattern, cost, times)
    placement = None
    if reason:
        _expect_search(options, reason)
        lines += [] if options.no_placement else [no_placement_line(reason)]
    else:
        placement = _placement(options, pattern, cost, times)
        lines += placement_lines(placement)
    lines += _written(options, path, cost, placement, reason)
    say("\n".join(lines) + "\n")


def _written(
    options: argparse.Namespace, path: Path | None, cost: PatternCost, placement: Placement | None, reason: str
) -> list[str]:
    """The names of the files that are written now."""
    if path and path.suffix.lower() == ".json":
        write(path, cost_text(cost, placement, reason))
    elif path:
        with replacing(path) as stream:
            for line in table.pattern_cost_csv(cost, placement):
                stream.write(utf8(line))
    lines = [f"{path}"] if path else []
    if placement and options.write_placement is not None:
        write(Path(options.write_placement), hosts_text(cost, placement))
        lines.append(options.write_placement)
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline cost RESULT --pattern PATTERN`; the exit status is the return value."""
    return ended(_cost, arguments)

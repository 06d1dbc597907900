# SPDX-License-Identifier: Apache-2.0
"""`leadline simulate bisection`: the bandwidth to expect of patterns, from a model of the network.

`leadline simulate link` is a command of the engine.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from leadline import __version__
from leadline.cli.support import Once, Parser, ProgressLine, check_output, ended, say, whole_number, write, wrong
from leadline.error import ExitStatus, LeadlineError
from leadline.load import load
from leadline.model import BisectionResult, IntArray, PatternKind
from leadline.model.simulation import SimulatedBisection
from leadline.simulate.bisection import Extent, simulate
from leadline.simulate.compare import compare_patterns
from leadline.simulate.measured import PatternCheck, measured_indices, measured_named
from leadline.simulate.named_patterns import named_pattern, parse_patterns
from leadline.simulate.network import ROUTINGS
from leadline.simulate.places import MOST_RANKS, experiment_of_ranks, experiment_of_result
from leadline.simulate.result_file import is_own_simulation, simulation_text
from leadline.simulate.topology import parse_topology
from leadline.words.simulation import comparison_lines, expectation_lines, named_lines

_MOST_ROUNDS = 10_000_000
# What a result tells by itself.
_OF_RESULT = ("ranks", "hosts", "per_host", "rounds", "precision", "seed", "pattern")

_NETWORKS = (
    "fat-tree:HOSTSxLEAVES (a link from every leaf to every spine) or fat-tree:HOSTSxLEAVESxPODS, both also with "
    ",spines=N (of a pod) and ,cores=N (that a spine has); dragonfly:H (H hosts and H global links a router, 2H "
    "routers a group), also with ,groups=G; torus:4x4x4; or a file with a cable in each line: NODE NODE [CAPACITY]"
)


def _simulate_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="leadline simulate",
        usage="leadline simulate bisection --topology NETWORK [OPTIONS]",
        allow_abbrev=False,
        description="Says what a network can do for a bisection test, from a model of it: every connection of a "
        "pattern gets 1/c of the bandwidth of a pair alone, where c is the number of connections that share the "
        "busiest link of its route. The same seed gives the same patterns as in leadline bisection, so with --measured "
        "it compares pattern by pattern.",
        epilog="'leadline simulate link --help' explains the other kind: results of a link test that nobody measured. "
        "Status: 0 fine, 2 wrong command line, no such file or no network, 3 a permission is missing, 4 the "
        "file is not a readable result of leadline bisection, or its patterns are others.",
    )
    parser.add_argument("benchmark", metavar="bisection", choices=["bisection"], help="what to simulate")
    parser.add_argument("--topology", action=Once, required=True, metavar="NETWORK", help=_NETWORKS)
    parser.add_argument(
        "--routing", action=Once, metavar="NAME",
        help="; ".join(f"{name}: {what}" for name, what in ROUTINGS.items())
        + ". Fat trees: d-mod-k or ecmp; dragonflies: minimal or valiant; tori: dimension-order or valiant; files: "
        "shortest or ecmp (default: the first of these)",
    )  # fmt: skip
    _add_patterns(parser)
    parser.add_argument(
        "--measured", action=Once, metavar="RESULT",
        help="result of leadline bisection: its ranks, hosts, seed and patterns, and a comparison with what it "
        "measured",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", action=Once, metavar="FILE", help="also write the numbers as JSON, for leadline report"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace FILE even where it is not an earlier simulation"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--version", action="version", version=f"leadline simulate {__version__}")
    return parser


def _add_patterns(parser: argparse.ArgumentParser) -> None:
    """Who takes part, and in what; all of it stands in a result."""
    number = parser.add_mutually_exclusive_group()
    number.add_argument("--ranks", action=Once, metavar="N", help="so many ranks")
    number.add_argument("--hosts", action=Once, metavar="N", help="ranks on the first N hosts (default: on all)")
    parser.add_argument("--per-host", action=Once, metavar="K", help="ranks on each host (default: 1)")
    parser.add_argument(
        "--pattern", action=Once, metavar="LIST",
        help="names with commas between: random, halves, reversal, neighbour, bit-reversal, transpose, shift:K, "
        "shift-each, tornado:G (default: random)",
    )  # fmt: skip
    parser.add_argument("--seed", action=Once, metavar="N", help="of random patterns (default: 1)")
    parser.add_argument("--rounds", action=Once, metavar="N", help="at most so many random patterns (default: 1000)")
    parser.add_argument(
        "--precision", action=Once, metavar="SHARE",
        help="enough, from 20 patterns on, when the 95 %% interval is the mean ± so much; 0 = never (default: 1%%)",
    )  # fmt: skip


def _share(text: str | None) -> float:
    if text is None:
        return 0.01
    digits, percent, behind = text.partition("%")
    try:
        share = float(digits) * (0.01 if percent else 1)
    except ValueError:
        share = -1
    if behind or not 0 <= share <= 1:
        raise wrong(f"--precision cannot be '{text}'", "It is a share from 0 % to 100 %; write for example 1% or 0.01")
    return share


def _simulation(options: argparse.Namespace, progress: ProgressLine | None) -> SimulatedBisection:
    """Without a measurement."""
    network = parse_topology(options.topology)
    per_host = whole_number(options, "per_host", 1, 1, MOST_RANKS)
    num_ranks = None if options.ranks is None else whole_number(options, "ranks", 0, 2, MOST_RANKS)
    num_hosts = None if options.hosts is None else whole_number(options, "hosts", 0, 1, MOST_RANKS)
    extent = Extent(whole_number(options, "rounds", 1000, 1, _MOST_ROUNDS), _share(options.precision))
    seed = whole_number(options, "seed", 1, 0, (1 << 64) - 1)
    experiment = experiment_of_ranks(network, options.routing, num_ranks, num_hosts, per_host, seed)
    ranks = experiment.players.ranks()
    names, has_random = parse_patterns("--pattern", options.pattern or "random", len(ranks))
    if not has_random:
        _expect_no_effectless(
            options, ("rounds", "precision"), "it has random patterns only", "Add random to --pattern"
        )
    named = {name: named_pattern(name, experiment.players.num_ranks, ranks) for name in names}
    return simulate(experiment, extent if has_random else (), named, progress=progress)


def _expect_no_effectless(options: argparse.Namespace, names: Sequence[str], why: str, hint: str = "") -> None:
    for name in names:
        if getattr(options, name) is not None:
            raise LeadlineError(
                f"--{name.replace('_', '-')} has no effect here", why, hint, ExitStatus.BAD_COMMAND_LINE
            )


def _measured(options: argparse.Namespace) -> BisectionResult:
    _expect_no_effectless(options, _OF_RESULT, "--measured takes it from the result")
    result = load(options.measured)
    if not isinstance(result, BisectionResult):
        why = "a result of another benchmark, and this is about results of leadline bisection"
        raise LeadlineError(f"cannot use '{result.path}'", why, status=ExitStatus.RUN_FAILED)
    return result


def _simulation_of(
    options: argparse.Namespace, result: BisectionResult, progress: ProgressLine | None
) -> SimulatedBisection:
    """Of the patterns of a measurement, each of which is checked."""
    experiment = experiment_of_result(parse_topology(options.topology), options.routing, result)
    indices, named = measured_indices(result), measured_named(result)
    checks = [PatternCheck(result, size_index) for size_index in range(len(result.message_sizes_bytes))]

    def expect(index: int, send_to: IntArray) -> None:
        for check in checks:
            check.expect(index, send_to)

    return simulate(experiment, indices, named, expect, progress, result.nonce)


def _compared(result: BisectionResult, simulated: SimulatedBisection) -> list[str]:
    lines: list[str] = []
    for size_index in range(len(result.message_sizes_bytes)):
        if len(result.reader.patterns(size_index).of_kind(PatternKind.RANDOM)):
            comparison = compare_patterns(result, simulated, size_index)
            lines += ["", *comparison_lines(comparison), *named_lines(result, comparison, simulated)]
    return lines


def _simulate(arguments: Sequence[str]) -> None:
    options = _simulate_parser().parse_args(arguments)
    path = None if options.output is None else Path(options.output)
    if path is None and options.overwrite:
        raise wrong("--overwrite has no effect without --output")
    if path:
        if path.suffix.lower() != ".json":
            raise wrong(f"cannot write '{path}' (a simulation is JSON)", "End its name in .json")
        check_output(path, options.overwrite, is_own_simulation)
    progress = None if options.quiet else ProgressLine("simulating")
    try:
        if options.measured is None:
            simulated = _simulation(options, progress)
            lines = expectation_lines(simulated)
        else:
            result = _measured(options)
            simulated = _simulation_of(options, result, progress)
            lines = expectation_lines(simulated) + _compared(result, simulated)
    finally:
        if progress:
            progress.end()
    if path:
        write(path, simulation_text(simulated))
        lines += [f"{path}"]
    say("\n".join(lines) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline simulate bisection`; the exit status is the return value."""
    return ended(_simulate, arguments)

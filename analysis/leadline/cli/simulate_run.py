# SPDX-License-Identifier: Apache-2.0
"""What `leadline simulate bisection` does: the bandwidth to expect of patterns, from a model of the network."""

from __future__ import annotations

import argparse
from pathlib import Path

from leadline.bisection.reader import load_bisection
from leadline.bisection.result import BisectionResult, PatternKind
from leadline.bisection.simulate.compare import PatternCheck, compare_patterns, measured_indices, measured_named
from leadline.bisection.simulate.contention import Extent, simulate
from leadline.bisection.simulate.experiments import experiment_of_ranks, experiment_of_result
from leadline.bisection.simulate.model import SimulatedBisection
from leadline.bisection.simulate.result_file import is_own_simulation, simulation_text
from leadline.bisection.simulate.text import comparison_lines, expectation_lines, named_lines
from leadline.bisection.simulate.topology import parse_topology
from leadline.cli.options import STANDARD_OUTPUT, expect_no_effectless
from leadline.cli.support import ProgressLine, StepLog, check_output, say, write
from leadline.error import wrong
from leadline.model import IntArray

# Options that a result determines.
_OF_RESULT = ("ranks", "hosts", "ranks_per_host", "rounds", "precision", "seed", "pattern")


def _simulation(options: argparse.Namespace, progress: ProgressLine) -> SimulatedBisection:
    """Without a measurement."""
    network = parse_topology(options.topology)
    extent = Extent(options.rounds, options.precision)
    experiment = experiment_of_ranks(
        network, options.routing, options.ranks, options.hosts, options.ranks_per_host, options.seed
    )
    drawn = experiment.participants.drawn(options.pattern, rounds=0)
    if not drawn.has_random:
        why = "it has random patterns only"
        expect_no_effectless(options, ("rounds", "precision"), why, "Add random to --pattern")
    return simulate(experiment, extent if drawn.has_random else (), drawn.named, progress=progress)


def _measured(options: argparse.Namespace) -> BisectionResult:
    expect_no_effectless(options, _OF_RESULT, "--measured takes it from the result")
    return load_bisection(options.measured)


def _simulation_of(options: argparse.Namespace, result: BisectionResult, progress: ProgressLine) -> SimulatedBisection:
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


def simulate_bisection(options: argparse.Namespace) -> None:
    """`leadline simulate bisection`, with its options."""
    names = [name for name in (options.output, options.json) if name is not None and name != STANDARD_OUTPUT]
    if options.overwrite and not names:
        raise wrong("--overwrite has no effect without --output or --json FILE")
    if options.output is not None and Path(options.output).suffix.lower() != ".json":
        raise wrong(f"cannot write '{options.output}' (a simulation is JSON)", "End its name in .json")
    if len({Path(name).resolve() for name in names}) < len(names):
        raise wrong("--output and --json name the same file")
    for name in names:
        check_output(Path(name), options.overwrite, is_own_simulation)
    steps = StepLog("leadline simulate bisection", options.verbose)
    with ProgressLine("simulating", options.quiet) as progress:
        if options.measured is None:
            simulated = _simulation(options, progress)
            lines = expectation_lines(simulated)
        else:
            result = _measured(options)
            steps.opened(result)
            simulated = _simulation_of(options, result, progress)
            lines = expectation_lines(simulated) + _compared(result, simulated)
    steps.done(
        f"simulated {len(simulated.pattern_index)} random and {len(simulated.named)} named patterns of "
        f"{len(simulated.hosts)} ranks, routed by {simulated.routing}"
    )
    for name in names:
        write(Path(name), simulation_text(simulated))
        steps.done(f"wrote {name}")
    if options.json == STANDARD_OUTPUT:
        say(simulation_text(simulated))
    else:
        say("".join(f"{line}\n" for line in ([] if options.json else lines) + ([] if options.quiet else names)))

# SPDX-License-Identifier: Apache-2.0
"""What `leadline cost` does: the cost of a communication pattern on the measured matrix, and a better placement."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

from leadline.cli.cost import SEARCH_OPTIONS
from leadline.cli.options import STANDARD_OUTPUT, expect_no_effectless
from leadline.cli.support import ProgressLine, StepLog, check_output, replacing, say, write
from leadline.cost import better_placement, measured_times, parse_pattern
from leadline.cost import pattern_cost as cost_of
from leadline.cost import result_file as table
from leadline.cost.model import PatternCost, Placement
from leadline.cost.placement import usual_effort, why_no_placement
from leadline.cost.result_file import cost_text, hosts_text, is_own_json
from leadline.cost.text import cost_lines, no_placement_line, placement_lines
from leadline.error import wrong
from leadline.link.reader import load_link
from leadline.text_file import utf8


def _expect_outputs(options: argparse.Namespace) -> None:
    """That each file may be written, before any work."""
    outputs = {name: Path(text) for name in ("output", "json", "write_placement")
               if (text := getattr(options, name)) is not None and text != STANDARD_OUTPUT}  # fmt: skip
    for path in outputs.values():
        for name in (options.result, options.pattern):
            if path.exists() and Path(name).exists() and path.samefile(name):
                raise wrong(f"cannot write '{path}' (it is what is to be read)", "Name another file")
    for (one, path), (other, other_path) in itertools.combinations(outputs.items(), 2):
        if path.resolve() == other_path.resolve():
            raise wrong(f"--{one} and --{other.replace('_', '-')} name the same file")
    if options.overwrite and not outputs:
        raise wrong("--overwrite has no effect without --output, --json FILE or --write-placement")
    if options.output is not None and not _is_json(options.output) and Path(options.output).suffix.lower() != ".csv":
        raise wrong(
            f"cannot write '{options.output}' (the end of its name selects the format)", "End it in .json or .csv"
        )
    for name, path in outputs.items():
        is_json = name == "json" or (name == "output" and _is_json(path))
        is_own = is_own_json if is_json else _is_own_csv if name == "output" else lambda _: False
        check_output(path, options.overwrite, is_own)


def _is_json(name: str | Path) -> bool:
    return Path(name).suffix.lower() == ".json"


def _is_own_csv(ends: str) -> bool:
    return ends.startswith(table.HEADER)


def _expect_no_search(options: argparse.Namespace, reason: str) -> None:
    names = (option.name[2:].replace("-", "_") for option in SEARCH_OPTIONS)
    expect_no_effectless(options, names, reason)


def cost(options: argparse.Namespace) -> None:
    """`leadline cost`, with its options."""
    if options.no_placement:
        _expect_no_search(options, "--no-placement")
    _expect_outputs(options)
    steps = StepLog("leadline cost", options.verbose)
    result = load_link(options.result)
    steps.opened(result)
    pattern = parse_pattern(options.pattern, result.num_ranks)
    repeat = None if options.repeat is None else options.repeat - 1
    times = measured_times(result, pattern, options.message_size, repeat, options.statistic)
    with ProgressLine("reading the result", options.quiet) as progress:
        costs = cost_of(result, pattern, times, options.top, progress)
    steps.done(f"added up {costs.num_messages} messages in {len(costs.stage_ns)} stages of {costs.pattern}")
    lines = cost_lines(costs, options.top)
    reason = "it was not asked for" if options.no_placement else why_no_placement(pattern, costs, times)
    placement = None
    if reason:
        _expect_no_search(options, reason)
        lines += [] if options.no_placement else [no_placement_line(reason)]
    else:
        effort = usual_effort(pattern.num_ranks) if options.effort is None else options.effort
        with ProgressLine("searching for a better placement", options.quiet) as progress:
            placement = better_placement(pattern, costs, times, options.seed, effort, options.time_limit, progress)
        lines += placement_lines(placement)
        steps.done(f"searched with seed {options.seed}, at most {effort} swaps and {options.time_limit:g} s")
    if reason:
        steps.tell(f"no search for a better placement: {reason}")
    written = _written(options, costs, placement, reason)
    for name in written:
        steps.done(f"wrote {name}")
    if options.json == STANDARD_OUTPUT:
        say(cost_text(costs, placement, reason))
    else:
        say("".join(f"{line}\n" for line in ([] if options.json else lines) + ([] if options.quiet else written)))


def _written(options: argparse.Namespace, costs: PatternCost, placement: Placement | None, reason: str) -> list[str]:
    """The names of the files that are written now."""
    names = []
    for name in (options.output, options.json):
        if name is None or name == STANDARD_OUTPUT:
            continue
        if name is options.json or _is_json(name):
            write(Path(name), cost_text(costs, placement, reason))
        else:
            with replacing(Path(name)) as stream:
                for line in table.pattern_cost_csv(costs, placement):
                    stream.write(utf8(line))
        names.append(name)
    if placement and options.write_placement is not None:
        write(Path(options.write_placement), hosts_text(costs, placement))
        names.append(options.write_placement)
    return names

# SPDX-License-Identifier: Apache-2.0
"""What `leadline score` does: the phases of four presets put together as IO500 does."""

from __future__ import annotations

import argparse
from pathlib import Path

from leadline.cli.options import STANDARD_OUTPUT
from leadline.cli.support import StepLog, check_output, say, write
from leadline.error import wrong
from leadline.io.reader import load_io
from leadline.io.score import score_of
from leadline.io.score_file import is_own_score, score_lines, score_text


def score(options: argparse.Namespace) -> None:
    """`leadline score`, with its options."""
    names = [name for name in (options.output, options.json) if name is not None and name != STANDARD_OUTPUT]
    if options.overwrite and not names:
        raise wrong("--overwrite has no effect without --output or --json FILE")
    if options.output is not None and Path(options.output).suffix.lower() != ".json":
        raise wrong(f"cannot write '{options.output}' (the numbers are JSON)", "End its name in .json")
    if len({Path(name).resolve() for name in names}) < len(names):
        raise wrong("--output and --json name the same file")
    for name in names:
        check_output(Path(name), options.overwrite, is_own_score)
    steps = StepLog("leadline score", options.verbose)
    results = []
    for path in (options.result, *options.others):
        result = load_io(path)
        steps.opened(result)
        results.append(result)
    found = score_of(results)
    steps.done(f"took {len(found.phases)} phases of {len(results)} results")
    for name in names:
        write(Path(name), score_text(found))
        steps.done(f"wrote {name}")
    if options.json == STANDARD_OUTPUT:
        say(score_text(found))
    else:
        lines = [] if options.json else score_lines(found)
        say("".join(f"{line}\n" for line in [*lines, *([] if options.quiet else names)]))

# SPDX-License-Identifier: Apache-2.0
"""What `leadline accept` does: runs each part, judges its numbers, and says what was found."""

from __future__ import annotations

import argparse
import itertools
import json
import math
import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.accept.document import DOCUMENT, Acceptance, document_of, text_of, text_of_document
from leadline.accept.judge import MeasuredPart, State, judged
from leadline.accept.measure import measured, summary_of, tried
from leadline.accept.spec import PartSpec, Spec, read_spec
from leadline.cli.options import STANDARD_OUTPUT, expect_no_effectless
from leadline.cli.support import StepLog, check_output, say, write
from leadline.error import ExitStatus, LeadlineError, from_os_error, wrong
from leadline.program import find_program, output_of
from leadline.units import time_text

_SCHEMA_S = 60.0
_STATUS = {State.FAILED: ExitStatus.BELOW_THRESHOLD, State.UNTESTED: ExitStatus.SOMETHING_MISSING}


def accept(options: argparse.Namespace) -> None:
    """`leadline accept`, with its options."""
    steps = StepLog("leadline accept", options.verbose)
    spec = read_spec(Path(options.spec), _schema_of)
    steps.done(f"read {options.spec}: {len(spec.parts)} parts")
    launcher = _launcher(options)
    program = find_program()
    assert program is not None, "it has printed schemas"
    if not options.judge_only:
        for part in spec.parts:
            tried(program, part.name, part.words)
            steps.done(f"tried the command line of {part.name}")
    folder = Path(options.output or _fresh_name())
    commands = {part.name: (*launcher, str(program), *part.words, *_own_words(part, folder)) for part in spec.parts}
    if options.dry_run:
        expect_no_effectless(options, ("json", "judge_only"), "nothing is measured", "Leave it out")
        say("".join(f"{shlex.join(one)}\n" for one in commands.values()))
        return
    _expect_writable(options, folder)
    begin_utc, begin = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), time.monotonic()
    parts: list[MeasuredPart] = []
    facts: Mapping[str, Any] | None = None
    for part in spec.parts:
        done = MeasuredPart(part, commands[part.name])
        if not options.judge_only:
            _measure(options, spec, done, folder, spec.time_s - (time.monotonic() - begin))
        summary, why = (None, done.why_not) if done.why_not else summary_of(folder / f"{part.name}.h5", part.words)
        done.judged, done.why_not = judged(part, summary, why), why
        facts = facts or (summary or {}).get("provenance")
        parts.append(done)
        steps.done(f"judged {part.name}")
    elapsed_s = None if options.judge_only else time.monotonic() - begin
    _tell(options, Acceptance(spec, parts, elapsed_s, begin_utc, facts), folder)


def _fresh_name() -> str:
    """With the time in it, and a number where another one was begun in the same second."""
    name = time.strftime("leadline-accept-%Y%m%dT%H%M%SZ", time.gmtime())
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(one for one in names if not Path(one).exists())


def _schema_of(benchmark: str) -> Mapping[str, Any]:
    program, text = output_of(["schema", benchmark], f"cannot ask for the keys of {benchmark}", _SCHEMA_S)
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise LeadlineError("cannot read the specification", f"{program} prints no schema: {error}") from error
    assert isinstance(schema, dict), "a schema is an object"
    return schema


def _launcher(options: argparse.Namespace) -> list[str]:
    if options.launcher is None:
        return []
    if options.judge_only:
        raise wrong("--launcher has no effect with --judge-only", "Leave one of them out")
    try:
        words = shlex.split(options.launcher)
    except ValueError as error:
        raise wrong(f"--launcher cannot be '{options.launcher}' ({error})") from error
    if not words:
        raise wrong("--launcher is empty", 'Write for example --launcher "srun --nodes 4"')
    return words


def _own_words(part: PartSpec, folder: Path) -> tuple[str, ...]:
    return ("--output", str(folder / f"{part.name}.h5"), "--overwrite")


def _expect_writable(options: argparse.Namespace, folder: Path) -> None:
    """Before anything is measured."""
    if options.judge_only:
        if options.output is None or not folder.is_dir():
            raise wrong("--judge-only needs the folder of an earlier test", "Name it with --output")
    else:
        try:
            folder.mkdir(exist_ok=True)
            is_empty = next(folder.iterdir(), None) is None
        except OSError as error:
            raise from_os_error(f"cannot use the folder '{folder}'", error) from error
        if not is_empty and not options.overwrite:
            raise wrong(f"the folder '{folder}' is not empty", "Name another one, or add --overwrite")
    if options.json not in (None, STANDARD_OUTPUT):
        check_output(Path(options.json), options.overwrite, lambda ends: '"document": "acceptance"' in ends)


def _measure(options: argparse.Namespace, spec: Spec, part: MeasuredPart, folder: Path, left_s: float) -> None:
    if left_s <= 0:
        part.why_not = f"the time of all, {time_text(1e9 * spec.time_s, 3)}, was over before"
        return
    time_s = min(part.spec.time_s, left_s)
    if not options.quiet:
        at_most = f", at most {time_text(1e9 * time_s, 3)}" if math.isfinite(time_s) else ""
        print(f"measuring {part.spec.name} (leadline {part.spec.benchmark}{at_most})", file=sys.stderr, flush=True)
    (folder / f"{part.spec.name}.h5").unlink(missing_ok=True)  # what an earlier test has left must not be judged
    begin = time.monotonic()
    part.why_not = measured(part.command, folder / f"{part.spec.name}.txt", time_s)
    part.elapsed_s = time.monotonic() - begin


def _tell(options: argparse.Namespace, test: Acceptance, folder: Path) -> None:
    text = text_of_document(document_of(test))
    say(text if options.json == STANDARD_OUTPUT else text_of(test, folder))
    write(folder / DOCUMENT, text)
    if options.json not in (None, STANDARD_OUTPUT):
        write(Path(options.json), text)
    if test.state in _STATUS:
        raise LeadlineError(f"{test.spec.title}: {test.why}", status=_STATUS[test.state])

# SPDX-License-Identifier: Apache-2.0
"""Asks the program `leadline`: where it is found, how long it may take, and the document that it prints."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.error import ExitStatus, LeadlineError

_NAME = "leadline"


@dataclass(frozen=True)
class Ask:
    """What is asked of the program."""

    words: Sequence[str]  # its arguments
    document: str  # the kind of document that it is to print
    problem: str  # how an error begins: "cannot diagnose the result"
    deadline_s: float


def answer(ask: Ask) -> tuple[Path, Mapping[str, object]]:
    """The program that was asked, and its document. LeadlineError as output_of()."""
    program, output = output_of(ask.words, ask.problem, ask.deadline_s)
    try:
        document = json.loads(output)
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.get("document") != ask.document:
        raise LeadlineError(ask.problem, f"{program} does not print a {ask.document}", "Are both of one release?")
    return program, document


def output_of(words: Sequence[str], problem: str, deadline_s: float) -> tuple[Path, bytes]:
    """The program that was called with these arguments, and what it printed. LeadlineError where there is no program,
    or where it refuses; with its words, or where it has none, or none came until the deadline, with this problem.
    """
    program = find_program()
    if program is None:
        named = os.environ.get("LEADLINE_PROGRAM")
        why = f"there is no program {_NAME} beside this one or on the PATH"
        why = f"LEADLINE_PROGRAM is '{named}', which is no program" if named else why
        hint = "Set LEADLINE_PROGRAM to where the program is"
        raise LeadlineError(problem, why, hint, ExitStatus.SOMETHING_MISSING)
    try:
        done = subprocess.run(
            [program, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=deadline_s, check=False
        )
    except subprocess.TimeoutExpired:
        raise LeadlineError(problem, f"{program} took longer than {deadline_s:.0f} s") from None
    except OSError as error:
        why = f"{program}: {os.strerror(error.errno) if error.errno else error}"
        hint = "It is for another kind of processor, or damaged: install Leadline for this machine"
        hint = hint if error.errno == errno.ENOEXEC else ""
        raise LeadlineError(problem, why, hint, ExitStatus.SOMETHING_MISSING) from error
    if done.returncode != 0:
        raise _refusal(str(program), done.returncode, done.stderr.decode("utf-8", "replace"))
    return program, done.stdout


def unusable(program: Path, error: Exception) -> LeadlineError:
    """What to raise for an answer that cannot be."""
    return LeadlineError(f"cannot use the answer of {program}", str(error), "Are both of one release?")


def find_program() -> Path | None:
    """LEADLINE_PROGRAM where that is set, else in the folder of the running script, else on the PATH."""
    if named := os.environ.get("LEADLINE_PROGRAM"):
        return Path(named) if _is_program(Path(named)) else None
    script = Path(sys.argv[0])
    for beside in (script.absolute().with_name(_NAME), script.resolve().with_name(_NAME)):
        if _is_program(beside):
            return beside
    on_path = shutil.which(_NAME)
    return Path(on_path) if on_path else None


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _refusal(program: str, status: int, errors: str) -> LeadlineError:
    """Its own line; `leadline: ` stands before it again where the command ends."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    said = lines[-1].removeprefix(f"{_NAME}: ") if lines else f"{program} ended with status {status}"
    problem, _, hint = said.partition(". ")
    known = [one.value for one in ExitStatus]
    told = ExitStatus(status if status in known else ExitStatus.RUN_FAILED)
    return LeadlineError(problem.rstrip("."), hint=hint, status=told)

# SPDX-License-Identifier: Apache-2.0
"""Runs the parts of an acceptance test, one after the other, each as a process group of its own."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leadline.benchmarks import load
from leadline.error import ExitStatus, LeadlineError, from_os_error, wrong
from leadline.readers.contents import DamagedError

# What a run gets to write down what it has, and then to end.
_SIGNALS = ((signal.SIGTERM, 30.0), (signal.SIGKILL, 10.0))
_TRIAL_S = 60.0
# Findings about who did not take part to the end.
_LOSSES = ("ranks_lost", "ranks_absent", "pairs_not_measured")


def tried(program: Path, name: str, words: Sequence[str]) -> None:
    """Whether the command line of a part can be understood; nothing is measured. LeadlineError where it cannot."""
    try:
        done = subprocess.run(
            [program, *words, "--dry-run"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_TRIAL_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return  # the run itself will tell
    if done.returncode == ExitStatus.BAD_COMMAND_LINE:
        raise wrong(f"part {name} cannot be run: {_said(done.stderr.decode('utf-8', 'replace'), done.returncode)}")


def measured(command: Sequence[str], log: Path, time_s: float) -> str:
    """Runs it, with all that it says in `log`. Why it did not come to its end, or empty. LeadlineError where it cannot
    begin at all.
    """
    begin = time.monotonic()
    try:
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, start_new_session=True
            )
    except OSError as error:
        raise from_os_error(f"cannot run '{command[0]}'", error) from error
    try:
        status = process.wait(None if math.isinf(time_s) else max(time_s, 0))
    except subprocess.TimeoutExpired:
        _end(process)
        return f"it was ended after {time.monotonic() - begin:.0f} s: its time was over"
    except BaseException:
        _end(process)
        raise
    if status in (ExitStatus.OK, ExitStatus.BELOW_THRESHOLD):  # what it found slow is for the limits to say
        return ""
    return _said(log.read_text(encoding="utf-8", errors="replace"), status)


def summary_of(path: Path, words: Sequence[str]) -> tuple[Mapping[str, Any] | None, str]:
    """The document of a result, and why it cannot be judged, or empty: it must come from this command line, and a
    machine that lost somebody is not accepted by what the others have measured.
    """
    try:
        with load(path) as result:
            said = result.provenance.command_line[1:]
            if tuple(said[: len(words)]) != tuple(words):
                return None, f"{path} was measured by another command: leadline {shlex.join(said)}"
            lost = next((one.message.rstrip(".") for one in result.findings if one.id in _LOSSES), "")
            why = "" if result.complete else result.incomplete_reason or "its result is not complete"
            return result.summary, why or lost
    except (LeadlineError, DamagedError) as error:
        return None, str(error).rstrip(".")


def _end(process: subprocess.Popen[bytes]) -> None:
    """First so that a launcher and its ranks end in order, and write down what they have. Not as Ctrl-C does: srun
    takes the first one for a question.
    """
    for number, patience_s in _SIGNALS:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
            return


def _said(text: str, status: int) -> str:
    """The program's own line, or else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line.removeprefix("leadline: ") for line in lines if line.startswith("leadline: ")]
    said = (own or lines or [""])[-1].rstrip(".")
    ended = f"it ended with status {status}" if status >= 0 else f"it was ended by signal {-status}"
    return f"{ended}: {said}" if said else ended

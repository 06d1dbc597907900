# SPDX-License-Identifier: Apache-2.0
"""Errors as a user reads them, `problem (why). hint`, and the exit status that goes with each."""

from __future__ import annotations

import errno
import os
from enum import IntEnum
from pathlib import Path


class ExitStatus(IntEnum):
    """The program's exit statuses; the same as the engine's."""

    OK = 0
    BELOW_THRESHOLD = 1
    BAD_COMMAND_LINE = 2
    SOMETHING_MISSING = 3
    RUN_FAILED = 4


# Names come from files and command lines of others: control characters are no commands for the terminal, and line
# separators and marks of direction do not change where our own words stand.
_MARKS = (0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_OBEYED = (*range(0x20), *range(0x7F, 0xA0), *_MARKS)
_SHOWN = {code: "?" for code in _OBEYED if chr(code) not in "\t\n"}
_SHOWN_IN_NAMES = dict.fromkeys(_OBEYED, "\ufffd")


def printable(text: str) -> str:
    """With a question mark for each such character but ends of lines and tabs, as in the engine's text."""
    return text.translate(_SHOWN)


def printable_name(text: str) -> str:
    """With a replacement character for each of them, ends of lines and tabs, too."""
    return text.translate(_SHOWN_IN_NAMES)


class LeadlineError(Exception):
    """Something wrong outside the program: a user's word, a file. Caught only where a command ends."""

    def __init__(self, problem: str, why: str = "", hint: str = "", status: ExitStatus = ExitStatus.RUN_FAILED) -> None:
        """`why` and `hint` may be empty; `status` is what the command ends with."""
        self.problem, self.why, self.hint, self.status = problem, why, hint, status
        text = problem + (f" ({why})" if why else "") + "." + (f" {hint}" if hint else "")
        super().__init__(printable(" ".join(text.split())))


def wrong(problem: str, hint: str = "") -> LeadlineError:
    """The user's mistake, to be raised."""
    return LeadlineError(problem, hint=hint, status=ExitStatus.BAD_COMMAND_LINE)


def from_os_error(problem: str, error: OSError, hint: str = "") -> LeadlineError:
    """The system's refusal in our words: a file that is not there is the user's word, a permission is missing."""
    status = ExitStatus.RUN_FAILED
    if isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError):
        status = ExitStatus.BAD_COMMAND_LINE
    elif isinstance(error, PermissionError) or error.errno == errno.EROFS:
        status = ExitStatus.SOMETHING_MISSING
    return LeadlineError(problem, os.strerror(error.errno) if error.errno else str(error), hint, status)


def closed_result(path: Path) -> LeadlineError:
    """The error for reading from a result that was closed."""
    return LeadlineError(f"cannot read '{path}'", "the result was closed", "Read it inside the with statement")

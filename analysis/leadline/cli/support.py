# SPDX-License-Identifier: Apache-2.0
"""What the commands of the package have in common: sizes and repeats, files to write, progress, errors at the end."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from leadline.cli.options import DEBUG, wrong
from leadline.error import ExitStatus, LeadlineError, from_os_error, printable
from leadline.text_file import utf8
from leadline.units import bytes_text

if TYPE_CHECKING:
    from leadline.model import LinkResult, RunResult, Slice

_END_BYTES = 4096
_QUICK_S = 0.5


def chosen_parts(result: LinkResult, size_bytes: int | None, repeat: int | None) -> tuple[Slice, ...]:
    """The slices of a size and a repeat (the first is 1), None = of all; at least one."""
    parts = result.slices
    if size_bytes is not None:
        expect_size(result, size_bytes)
        parts = tuple(part for part in parts if part.message_size_bytes == size_bytes)
    if repeat is not None:
        last = max(part.repeat for part in result.slices) + 1
        parts = tuple(part for part in parts if part.repeat + 1 == repeat)
        if not parts:
            raise wrong(f"the result has no repeat {repeat}", f"It has 1 to {last}")
    return parts


def chosen_sizes(result: RunResult, size_bytes: int | None) -> tuple[int, ...]:
    """Indices of a message size in a result, None = of all."""
    if size_bytes is None:
        return tuple(range(len(result.message_sizes_bytes)))
    expect_size(result, size_bytes)
    return tuple(index for index, one in enumerate(result.message_sizes_bytes) if one == size_bytes)


def expect_size(result: RunResult, size_bytes: int) -> None:
    """LeadlineError where a result does not have a message size."""
    if size_bytes not in result.message_sizes_bytes:
        there = ", ".join(bytes_text(one) for one in result.message_sizes_bytes)
        raise wrong(f"the result has no message size {bytes_text(size_bytes)}", f"It has {there}")


def check_output(path: Path, overwrite: bool, is_own: Callable[[str], bool]) -> None:
    """Before any work: a file that may not be written, or may not be replaced. `is_own` tells an earlier output of the
    same command from its first 4 KiB and (of a longer file, right behind them) its last 4 KiB.
    """
    if path.is_dir():
        raise wrong(f"cannot write '{path}' (it is a folder)")
    if not path.parent.is_dir():
        raise wrong(f"cannot write '{path}' (no such folder)")
    if not path.exists() or overwrite:
        return
    try:
        with path.open("rb") as stream:
            ends = stream.read(_END_BYTES)
            stream.seek(max(path.stat().st_size - _END_BYTES, len(ends)))
            ends += stream.read(_END_BYTES)
    except OSError as error:
        raise from_os_error(f"cannot write '{path}'", error) from error
    if not is_own(ends.decode("utf-8", errors="replace")):
        raise wrong(f"cannot write '{path}' (it is there and was not written by this command)", "Use --overwrite")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` at the end, if all went well: whoever has the old one open never
    sees half of the new one.
    """
    try:
        # Not tempfile: its files are for the owner alone, and a report is for others.
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with fresh.open("xb") as stream:
                yield stream
            fresh.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise
    except OSError as error:
        raise from_os_error(f"cannot write '{path}'", error) from error


def write(path: Path, content: str | bytes) -> None:
    """All or nothing, as replacing(). Text becomes UTF-8."""
    with replacing(path) as stream:
        stream.write(utf8(content) if isinstance(content, str) else content)


class ProgressLine:
    """The share of the work that is done, on one line of stderr that goes away at the end; only on a terminal, and not
    for what is done at once.
    """

    def __init__(self, what: str, quiet: bool = False) -> None:
        """`what` is being done: `reading the result`. Quiet: shows nothing."""
        self._what, self._begin, self._last = what, time.monotonic(), -1
        self._is_shown = sys.stderr.isatty() and not quiet

    def __enter__(self) -> ProgressLine:
        """Takes the line away when the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """As end()."""
        self.end()

    def __call__(self, share: float) -> None:
        """From 0 to 1."""
        percent = int(100 * share)
        if percent >= 100:
            self.end()
        if not self._is_shown or percent in (self._last, 100) or time.monotonic() - self._begin < _QUICK_S:
            return
        self._last = percent
        print(f"\r{self._what}: {percent} %", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Takes the line away."""
        if self._last >= 0:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._last = -1


def say(text: str) -> None:
    """To stdout, at once; an error is reported now and not when Python closes the stream."""
    try:
        _write_to_stdout(text)
        sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise from_os_error("cannot write to standard output", error) from error


def _write_to_stdout(text: str) -> None:
    """Where the terminal's encoding lacks a letter, or would obey it, a question mark stands for it."""
    text = printable(text)
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError as error:
        sys.stdout.write(text.encode(error.encoding, "replace").decode(error.encoding))


def ended(command: Callable[[Sequence[str]], None], arguments: Sequence[str] | None) -> int:
    """Runs a command; whatever goes wrong is one line on stderr and a status, below the traceback with --debug."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        with warnings.catch_warnings():
            # Of numbers that no measurement gives, as damaged files have them: numpy would add lines to ours.
            warnings.simplefilter("default" if DEBUG in words else "ignore", RuntimeWarning)
            command(words)
    except BrokenPipeError:
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:
        if DEBUG in words:
            traceback.print_exc()
        told = error if isinstance(error, LeadlineError) else _told(error, words)
        print(f"leadline: {told}", file=sys.stderr)
        return int(told.status)
    return int(ExitStatus.OK)


def _told(error: Exception, words: Sequence[str]) -> LeadlineError:
    """What no part of the program expects, as a user reads it."""
    lines = str(error).splitlines()
    why = type(error).__name__ + (f": {lines[0]}" if lines else "")
    if isinstance(error, MemoryError):
        problem, hint = "the result does not fit into the memory", "Choose a part with --message-size and --repeat"
        return LeadlineError(problem, hint=hint, status=ExitStatus.SOMETHING_MISSING)
    if isinstance(error, ImportError):
        hint = "Install leadline's Python package again"
        return LeadlineError("a part of the program is missing here", why, hint, ExitStatus.SOMETHING_MISSING)
    files = " and ".join(f"'{word}'" for word in words if Path(word).is_file())
    problem = "something unforeseen happened" + (f" with {files}" if files else "")
    return LeadlineError(problem, why, f"Is the file damaged? If not, report what {DEBUG} shows")

# SPDX-License-Identifier: Apache-2.0
"""What the commands of the package have in common: sizes and repeats, files to write, progress, errors at the end."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import json
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from leadline.cli.options import DEBUG, STANDARD_OUTPUT, Parser, is_given
from leadline.error import ExitStatus, LeadlineError, from_os_error, printable, printable_name, wrong
from leadline.text_file import utf8
from leadline.units import bytes_text

if TYPE_CHECKING:
    from leadline.model import RunResult

_END_BYTES = 4096
_QUICK_S = 0.5


def expect_options(
    options: argparse.Namespace, have: Mapping[str, str], accepted: Set[str], hints: Mapping[str, str]
) -> None:
    """LeadlineError for the first option that is given although the result is of a benchmark that does not have it.
    `have`: by each option that not all have, whose results do.
    """
    for name, whose in have.items():
        if name not in accepted and is_given(options, name):
            raise wrong(f"--{name.replace('_', '-')} is for results {whose}", hints[name])


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
def replacing(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file to write that takes the place of `path` at the end, if all went well: whoever has the old one open never
    sees half of the new one. `mode` is what the umask leaves permissions of.
    """
    try:
        # Not tempfile: its files are for the owner alone, and a report is for others.
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            fresh.touch(mode, exist_ok=False)
            with fresh.open("wb") as stream:
                yield stream
            fresh.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise
    except OSError as error:
        is_forbidden = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        hint = "Name another one, in a folder that you may write to" if is_forbidden else ""
        raise from_os_error(f"cannot write '{path}'", error, hint) from error


def write(path: Path, content: str | bytes, mode: int = 0o666) -> None:
    """All or nothing, as replacing(). Text becomes UTF-8."""
    with replacing(path, mode) as stream:
        stream.write(utf8(content) if isinstance(content, str) else content)


@dataclass(frozen=True)
class Written:
    """A file that a command has written, as `leadline schema written` describes it."""

    path: str
    format: str
    size_bytes: int
    num_rows: int | None = None  # of a table, without its title


def expect_json_apart(options: argparse.Namespace, output: Path | None) -> None:
    """Before any work: that the document of --json does not go where the file `output` goes (None = standard output),
    and that it may be written.
    """
    if options.json is None:
        return
    if options.json == STANDARD_OUTPUT:
        if output is None:
            raise wrong("--output and --json both go to standard output", "Name a file with one of them")
        return
    path = Path(options.json)
    if output is not None and path.resolve() == output.resolve():
        raise wrong("--output and --json name the same file")
    check_output(path, options.overwrite, lambda ends: '"document": "written"' in ends[:_END_BYTES])


def say_written(
    options: argparse.Namespace, command: str, read: Sequence[str], files: Sequence[Written], left_out: Sequence[str]
) -> None:
    """What was written: the names of the files unless --quiet, or the document of --json."""
    document = {
        "document": "written", "format_version": 1, "command": command, "read": list(read),
        "files": [asdict(one) for one in files], "left_out": list(left_out),
    }  # fmt: skip
    names = [one.path for one in files]
    say_document(options, document, names, is_heard=STANDARD_OUTPUT not in names)


def say_document(
    options: argparse.Namespace, document: dict[str, Any], names: Sequence[str], mode: int = 0o666,
    is_heard: bool = True,
) -> None:  # fmt: skip
    """The document where --json wants it. Where that is not standard output, the names of the files that were written,
    unless --quiet, or something else is on standard output.
    """
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if options.json == STANDARD_OUTPUT:
        say(text)
        return
    if options.json is not None:
        write(Path(options.json), text, mode)
        names = [*names, options.json]
    if is_heard and not options.quiet:
        say("".join(f"{name}\n" for name in names))


def left_out(options: argparse.Namespace, result: RunResult) -> list[str]:
    """What a file does not have of a result, in words."""
    parts = []
    if options.message_size is not None and len(result.message_sizes_bytes) > 1:
        parts.append(f"message sizes other than {bytes_text(options.message_size)}")
    if options.repeat is not None:
        parts.append(f"repeats other than {options.repeat}")
    if not result.complete:
        parts.append(f"what was not measured: {result.incomplete_reason}")
    return parts


class StepLog:
    """What --verbose tells: a line on standard error for each step that is done, with how long it took."""

    def __init__(self, command: str, is_verbose: bool) -> None:
        """`command` as in "leadline report"."""
        self._command, self._is_verbose, self._last = command, is_verbose, time.monotonic()

    def tell(self, text: str) -> None:
        """A fact, or a decision."""
        if self._is_verbose:
            print(f"{self._command}: {printable_name(text)}", file=sys.stderr, flush=True)

    def done(self, step: str) -> None:
        """The same, with the time since the last step."""
        now = time.monotonic()
        self.tell(f"{step} ({now - self._last:.3f} s)")
        self._last = now

    def opened(self, result: RunResult) -> None:
        """That a result was read so far, and what it is."""
        what = " ".join(f"{result!r}".split())
        self.done(f"opened {what}")


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


def run_command(parser: Callable[[], Parser], work: str, arguments: Sequence[str] | None) -> int:
    """Parses the command line; what does the work, `report_run.report` of this package, is loaded only then. The exit
    status is the return value.
    """

    def command(words: Sequence[str]) -> None:
        options = parser().parsed(words)
        module, _, name = work.partition(".")
        getattr(importlib.import_module(f"leadline.cli.{module}"), name)(options)

    return ended(command, arguments)


def _told(error: Exception, words: Sequence[str]) -> LeadlineError:
    """What no part of the program expects, as a user reads it."""
    lines = str(error).splitlines()
    why = type(error).__name__ + (f": {lines[0]}" if lines else "")
    if isinstance(error, MemoryError):
        problem, hint = "the result does not fit into the memory", "Choose a part with --message-size and --repeat"
        return LeadlineError(problem, hint=hint, status=ExitStatus.SOMETHING_MISSING)
    if isinstance(error, ImportError):
        hint = f"Install it for {sys.executable}, or leadline's Python package again"
        return LeadlineError("a part of the program is missing here", why, hint, ExitStatus.SOMETHING_MISSING)
    files = " and ".join(f"'{word}'" for word in words if Path(word).is_file())
    problem = "something unforeseen happened" + (f" with {files}" if files else "")
    return LeadlineError(problem, why, f"Is the file damaged? If not, report what {DEBUG} shows")

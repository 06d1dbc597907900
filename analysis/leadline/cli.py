# SPDX-License-Identifier: Apache-2.0
"""The commands of the package: `leadline-report`, which `leadline report` starts."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from leadline import __version__
from leadline.error import ExitStatus, LeadlineError, from_os_error
from leadline.load import load
from leadline.model import Result, Slice, Statistic
from leadline.report import is_own_report, render
from leadline.units import bytes_text, parse_bytes


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _wrong(message, f"See {self.prog} --help")


class _Once(argparse.Action):
    """An option that is given twice is a mistake, not a correction."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        given: set[str] = namespace.__dict__.setdefault("_given", set())
        if self.dest in given:
            parser.error(f"{option} is given twice")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def _wrong(problem: str, hint: str = "") -> LeadlineError:
    return LeadlineError(problem, hint=hint, status=ExitStatus.BAD_COMMAND_LINE)


def _report_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="leadline report",
        allow_abbrev=False,
        description="Makes one HTML page of a result of leadline link: the matrix, the histogram, the slowest pairs, "
        "hosts and ranks, and how it was measured. The page works offline and can be mailed.",
        epilog="Status: 0 fine, 2 wrong command line or no such file, 3 a permission is missing, 4 the file is not a "
        "readable result.",
    )
    parser.add_argument("result", metavar="RESULT", help="result file (HDF5)")
    parser.add_argument(
        "-o",
        "--output",
        action=_Once,
        metavar="FILE",
        help="the page to write (default: RESULT with .html; - = stdout)",
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace the page even where it is not an earlier report of leadline"
    )
    parser.add_argument(
        "--statistic",
        action=_Once,
        choices=[statistic.value for statistic in Statistic],
        default=Statistic.MEDIAN.value,
        help="what of each pair the matrix shows first (default: median)",
    )
    parser.add_argument("--size", action=_Once, metavar="BYTES", help="only this message size, such as 16MiB")
    parser.add_argument("--repeat", action=_Once, metavar="NUMBER", help="only this repeat; the first is 1")
    parser.add_argument("--version", action="version", version=f"leadline report {__version__}")
    return parser


def _chosen_parts(result: Result, size: str | None, repeat: str | None) -> tuple[Slice, ...]:
    parts = result.slices
    if size is not None:
        try:
            size_bytes = parse_bytes(size)
        except ValueError:
            raise _wrong(f"--size {size} is not a size", "Write it as 512, 1KiB or 16MiB") from None
        parts = tuple(part for part in parts if part.message_size_bytes == size_bytes)
        if not parts:
            there = ", ".join(bytes_text(one) for one in result.message_sizes_bytes)
            raise _wrong(f"the result has no message size {size}", f"It has {there}")
    if repeat is not None:
        last = max(part.repeat for part in result.slices) + 1
        parts = tuple(part for part in parts if str(part.repeat + 1) == repeat)
        if not parts:
            raise _wrong(f"the result has no repeat {repeat}", f"It has 1 to {last}")
    return parts


def _output_path(result: Path, output: str | None) -> Path:
    if not output and result.is_dir():
        raise _wrong(f"cannot read '{result}' (it is a folder)")
    path = Path(output) if output else result.with_suffix(".html")
    if path.suffix.lower() not in (".html", ".htm"):
        raise _wrong(f"cannot write '{path}' (a report is an HTML page)", "End its name in .html")
    return path


def _check_output(path: Path, overwrite: bool) -> None:
    """Before any work: a page that may not be written or replaced."""
    if path.is_dir():
        raise _wrong(f"cannot write '{path}' (it is a folder)")
    if not path.parent.is_dir():
        raise _wrong(f"cannot write '{path}' (no such folder)")
    if not path.exists() or overwrite:
        return
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise from_os_error(f"cannot write '{path}'", error) from error
    if not is_own_report(head):
        raise _wrong(f"cannot write '{path}' (it is there and no report of leadline)", "Use --overwrite")


def _write(path: Path, text: str) -> None:
    """All or nothing: whoever has the old page open never sees half of the new one."""
    try:
        # Not tempfile: its files are for the owner alone, and a report is for others.
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with fresh.open("x", encoding="utf-8") as stream:
                stream.write(text)
            fresh.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                fresh.unlink()
            raise
    except OSError as error:
        raise from_os_error(f"cannot write '{path}'", error) from error


def _report(arguments: Sequence[str]) -> None:
    options = _report_parser().parse_args(arguments)
    source = Path(options.result)
    to_stdout = options.output == "-"
    path = None if to_stdout else _output_path(source, options.output)
    result = load(source)
    parts = _chosen_parts(result, options.size, options.repeat)
    if path:
        _check_output(path, options.overwrite)
    page = render(result, parts, Statistic(options.statistic))
    if path:
        _write(path, page)
        _say(f"{path}\n")
    else:
        _say(page)


def _say(text: str) -> None:
    """To stdout, at once; what goes wrong there is told now and not when Python closes the stream."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise
        raise from_os_error("cannot write the report", error) from error


def _ended(command: Callable[[Sequence[str]], None], arguments: Sequence[str] | None) -> int:
    """Runs a command; whatever goes wrong is one line on stderr and a status."""
    try:
        command(sys.argv[1:] if arguments is None else arguments)
    except LeadlineError as error:
        print(f"leadline: {error}", file=sys.stderr)
        return int(error.status)
    except MemoryError:
        print(
            "leadline: the result does not fit into the memory. Choose with --size and --repeat",
            file=sys.stderr,
        )
        return int(ExitStatus.SOMETHING_MISSING)
    except BrokenPipeError:
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return int(ExitStatus.OK)


def report_main(arguments: Sequence[str] | None = None) -> int:
    """`leadline report RESULT`; the exit status is the return value."""
    return _ended(_report, arguments)

# SPDX-License-Identifier: Apache-2.0
"""Files with fixed names in one folder, which replace older ones only when all of them are written to their end."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from leadline.error import ExitStatus, LeadlineError, from_os_error


@contextlib.contextmanager
def output_files(folder: Path, names: Sequence[str], source: Path) -> Iterator[Mapping[str, BinaryIO]]:
    """Streams to write to, by name. They get their names when the block ends well; else nothing is changed. `source` is
    what is being read: no output may replace it. LeadlineError: the folder or the disk refuses.
    """
    for name in names:
        _check(folder / name, source)
    with contextlib.ExitStack() as undo:
        streams: dict[str, BinaryIO] = {}
        with _as_our_error(folder):
            for name in names:
                fresh = folder / f".{name}.{os.getpid()}"
                streams[name] = undo.enter_context(_dropped(fresh))
            yield streams
            for stream in streams.values():
                stream.close()
            for name in names:
                (folder / f".{name}.{os.getpid()}").replace(folder / name)


def _check(path: Path, source: Path) -> None:
    if path.is_dir():
        raise LeadlineError(f"cannot write '{path}'", "it is a folder", status=ExitStatus.BAD_COMMAND_LINE)
    if path.exists() and source.exists() and path.samefile(source):
        why, hint = "it is the result that is to be read", "Give it another name"
        raise LeadlineError(f"cannot write '{path}'", why, hint, ExitStatus.BAD_COMMAND_LINE)


@contextlib.contextmanager
def _dropped(fresh: Path) -> Iterator[BinaryIO]:
    """A new file that is gone at the end, unless it was given another name."""
    # Not tempfile: its files are for the owner alone.
    stream = fresh.open("xb")
    try:
        yield stream
    finally:
        # On a full disk closing fails again; the first refusal is the one to tell.
        with contextlib.suppress(OSError):
            stream.close()
        with contextlib.suppress(OSError):
            fresh.unlink()


@contextlib.contextmanager
def _as_our_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # stdout, not one of these files
    except OSError as error:
        raise from_os_error(f"cannot write into '{folder.absolute()}'", error) from error

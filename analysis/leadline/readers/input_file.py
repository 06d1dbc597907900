# SPDX-License-Identifier: Apache-2.0
"""A result file open for positioned reads, by several threads at once, and its errors."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.error import ExitStatus, LeadlineError, closed_result, from_os_error
from leadline.model import FloatArray

# Cells that are converted and checked at a time: they stay in a core's cache.
CELLS_AT_A_TIME = 1 << 17
# Pieces of data between holes that are counted; who makes so many pays for them.
_MOST_EXTENTS = 10_000

# Flags of a read that fails where it would wait for a disk; 0 = the system has none, and it waits.
_ONLY_AT_ONCE: int = getattr(os, "RWF_NOWAIT", 0)


def unreadable(path: Path, why: str, hint: str = "Copy it again, or measure anew") -> LeadlineError:
    """The error for a result that is damaged."""
    return LeadlineError(f"cannot read '{path}'", why, hint)


def another_kind(path: Path, why: str, hint: str = "") -> LeadlineError:
    """The error for a file that is not damaged, but not what was asked for: the user named the wrong one."""
    return LeadlineError(f"cannot read '{path}'", why, hint, ExitStatus.BAD_COMMAND_LINE)


def truncated(path: Path) -> LeadlineError:
    """The error for a file that ends too early."""
    return unreadable(path, "the file is truncated", "Copy it again; was the disk full?")


class ImpossibleValueError(ValueError):
    """A cell that no measurement gives."""


def check_cells(cells: FloatArray) -> None:
    """Checks numbers in place and makes holes NaN: a hole is 0, which no measured time, count or round can be."""
    if cells.size == 0:
        return
    least, most = cells.min(), cells.max()
    # A NaN fails both.
    if not (least >= 0 and most < np.inf):
        raise ImpossibleValueError
    if most == 0:
        cells.fill(np.nan)
    elif least == 0:
        np.putmask(cells, cells == 0, np.nan)


class InputFile:
    """A regular file, open until the last reader of it is gone."""

    def __init__(self, path: Path, contents: Path | None = None) -> None:
        """Errors name `path`, also where the contents are those of another file. LeadlineError where there is no such
        file, no permission, or something that is no regular file.
        """
        self.path, self.contents = path, contents or path
        self._descriptor = -1
        try:
            # Without O_NONBLOCK a pipe would keep us until somebody writes into it.
            self._descriptor = os.open(self.contents, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            status = os.fstat(self._descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        except (OSError, ValueError) as error:
            if isinstance(error, OSError):
                raise from_os_error(f"cannot read '{path}'", error) from error
            raise LeadlineError(f"cannot read {str(path)!r}", str(error), status=ExitStatus.BAD_COMMAND_LINE) from error
        if not stat.S_ISREG(status.st_mode):
            raise LeadlineError(f"cannot read '{path}'", "it is no regular file", status=ExitStatus.BAD_COMMAND_LINE)
        self.size_bytes = status.st_size

    def close(self) -> None:
        """Nobody reads from it any more: LeadlineError for whoever does."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    __del__ = close

    def read_at(self, offset: int, num_bytes: int) -> bytes:
        """As many bytes as there are, up to `num_bytes`."""
        pieces = []
        while num_bytes > 0:
            piece = self._pread(num_bytes, offset)
            if not piece:
                break
            pieces.append(piece)
            offset += len(piece)
            num_bytes -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _pread(self, num_bytes: int, offset: int) -> bytes:
        try:
            return os.pread(self._descriptor, num_bytes, offset)
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> LeadlineError:
        if self._descriptor < 0:
            return closed_result(self.path)
        return from_os_error(f"cannot read '{self.path}'", error)

    def read_pieces(self, offsets: Sequence[int], into: NDArray[np.generic]) -> bool:
        """Fills every row of a contiguous array [len(offsets), ...] with the bytes at its offset; False where the file
        ends before that. What is not in the system's memory is asked for all at once: many small pieces come from a
        disk together in half the time that they take one after the other.
        """
        room, num_bytes = memoryview(into.reshape(-1).view(np.uint8).data), into[0].nbytes
        late: list[tuple[int, memoryview]] = []
        for index, offset in enumerate(offsets):
            piece = room[index * num_bytes : (index + 1) * num_bytes]
            try:
                got = os.preadv(self._descriptor, [piece], offset, _ONLY_AT_ONCE)
            except OSError:  # it would have to wait, or this file system cannot say so; what is wrong comes again
                got = 0
            if got < num_bytes:
                late.append((offset, piece))
        for offset, _ in late:
            self._will_read(offset, num_bytes)
        return all(self._fill(offset, piece) for offset, piece in late)

    def _will_read(self, offset: int, num_bytes: int) -> None:
        if hasattr(os, "posix_fadvise"):
            with contextlib.suppress(OSError):  # it is advice
                os.posix_fadvise(self._descriptor, offset, num_bytes, os.POSIX_FADV_WILLNEED)

    def read_into(self, offset: int, into: NDArray[np.generic]) -> bool:
        """Fills a contiguous array with the bytes at `offset`; False where the file ends before that."""
        return self._fill(offset, memoryview(into.reshape(-1).view(np.uint8).data))

    def _fill(self, offset: int, left: memoryview) -> bool:
        while len(left) > 0:
            try:
                got = os.preadv(self._descriptor, [left], offset)
            except OSError as error:
                raise self._failed(error) from error
            if got == 0:
                return False
            left = left[got:]
            offset += got
        return True

    def read_cells(self, offset: int, kind: np.dtype[Any], into: FloatArray) -> bool:
        """Fills a contiguous float64 array with numbers of a kind that lie at `offset`, through the cache of a core;
        each piece as check_cells() has it. False where the file ends before that.
        """
        cells = into.reshape(-1)
        is_direct = kind == cells.dtype
        for start in range(0, len(cells), CELLS_AT_A_TIME):
            piece = cells[start : start + CELLS_AT_A_TIME]
            stored = piece if is_direct else np.empty(len(piece), dtype=kind)
            if not self.read_into(offset + start * kind.itemsize, stored):
                return False
            if not is_direct:
                piece[...] = stored
            check_cells(piece)
        return True

    def stored_bytes(self) -> int:
        """What the disk holds of the file: one that is nearly all a hole costs its maker nothing."""
        stored, offset = 0, 0
        for _ in range(_MOST_EXTENTS):
            try:
                data = os.lseek(self._descriptor, offset, os.SEEK_DATA)
                offset = os.lseek(self._descriptor, data, os.SEEK_HOLE)
            except OSError as error:
                # ENXIO: there is no more data. Others: this file system does not tell.
                return stored if error.errno == errno.ENXIO else self.size_bytes
            stored += offset - data
        return self.size_bytes

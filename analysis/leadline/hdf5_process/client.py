# SPDX-License-Identifier: Apache-2.0
"""An HDF5 file that another process reads for this one."""

from __future__ import annotations

import atexit
import errno
import json
import math
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.error import ExitStatus, LeadlineError, closed_result
from leadline.hdf5_process.messages import (
    SMALL_BYTES,
    TABLE_BYTES_A_STORED_BYTE,
    Head,
    TooLongError,
    receive_head,
    receive_into,
    send,
)

# A file system may answer after minutes, while another server takes over. Work is limited by its processor time.
_STUCK_AFTER_S = 900.0
# Larger parts are read in pieces.
_PIECE_BYTES = 16 << 20
# Deflate packs at most 1032 bytes into one.
_UNPACKED_BYTES_A_STORED_BYTE = 1032

_NEEDED = "Reading HDF5 needs h5py in this Python, and leave to start a process"
_MORE_DESCRIPTORS = "Raise the limit of open files (ulimit -n)"

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import leadline.hdf5_process.server as s; s.main()"


class LibraryError(RuntimeError):
    """The HDF5 library cannot read something, or does not survive it: the file is damaged."""


@dataclass(frozen=True)
class Dataset:
    """A dataset of the file itself, by its name without a slash at the beginning."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]  # void = neither numbers nor text
    offset: int | None  # where its values lie in the file; None = in chunks, packed, or of variable length

    @property
    def num_bytes(self) -> int:
        """What its values take in memory, the text of variable length apart."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class Group:
    """A group, or something that is not in the file itself."""

    name: str
    is_elsewhere: bool = False  # the file says that it is a part of another one


class Hdf5File:
    """For several threads at once. LibraryError for whatever is wrong with the file, LeadlineError for whatever is
    missing here. The process ends when the last reference to this is gone.
    """

    def __init__(self, path: Path, stored_bytes: int, contents: Path | None = None) -> None:
        """Opens a file of which the disk holds so many bytes; `contents` where it is another one than errors name."""
        self._path, self._stored_bytes = path.absolute(), stored_bytes
        self._contents = (contents or path).absolute()
        self._lock = threading.RLock()
        self._groups: dict[str, Head] = {}
        self._damage, self._is_closed = "", False
        self._stream: socket.socket | None = None
        self._connect()

    def close(self) -> None:
        """Nobody reads from it any more: LeadlineError for whoever does."""
        with self._lock:
            self._is_closed = True
            self._end()

    def __del__(self) -> None:
        """Nobody refers to it any more."""
        if getattr(self, "_stream", None) is not None:
            self._end()

    @property
    def most_table_bytes(self) -> int:
        """The largest table that may be read as a whole."""
        return SMALL_BYTES + TABLE_BYTES_A_STORED_BYTE * self._stored_bytes

    def has_room_for(self, dataset: Dataset) -> bool:
        """Whether the file can hold so many values, packed as well as can be."""
        return dataset.num_bytes <= SMALL_BYTES + _UNPACKED_BYTES_A_STORED_BYTE * self._stored_bytes

    def find(self, name: str) -> Dataset | Group | None:
        """What has this name; None where there is nothing, or neither a dataset nor a group."""
        folder, _, last = name.rpartition("/")
        group = self.find(folder) if folder else Group("")
        if not isinstance(group, Group):
            return None
        if group.is_elsewhere:
            return Group(name, is_elsewhere=True)
        facts = self._look(folder)["members"].get(last, {"kind": "none"})
        kind = facts["kind"]
        if kind == "broken":
            raise LibraryError(f"/{name}: {facts['why']}")
        if kind == "dataset":
            return Dataset(name, tuple(facts["shape"]), np.dtype(facts["type"]), facts["offset"])
        return Group(name, is_elsewhere=kind == "elsewhere") if kind in ("group", "elsewhere") else None

    def attributes(self, name: str = "") -> Mapping[str, Any]:
        """Of a group or dataset that find() has found: text, numbers, lists of these, None for an empty one."""
        head = self._look(name)
        if "broken" in head:
            raise LibraryError(f"/{name}: {head['broken']}")
        return dict(head["attributes"])

    def members(self, group: str) -> list[str]:
        """Names of what is in a group that find() has found."""
        return list(self._look(group)["members"])

    def _look(self, group: str) -> Head:
        """Asks once: every question takes as long as the system needs to let the other process answer."""
        if group not in self._groups:
            self._groups[group] = self._asked({"do": "look", "name": group})
        return self._groups[group]

    def read(self, dataset: Dataset, ranges: Sequence[tuple[int, int]] = ()) -> NDArray[Any]:
        """The values in a range (the first, and the one behind the last) of each of the first dimensions, and in all of
        the others. Text of variable length is an array of objects.
        """
        if dataset.dtype.kind == "V":
            raise LibraryError(f"/{dataset.name} has neither numbers nor text")
        whole = [(0, length) for length in dataset.shape[len(ranges) :]]
        parts = [*((int(first), int(end)) for first, end in ranges), *whole]
        values = np.empty([max(end - first, 0) for first, end in parts], dtype=dataset.dtype)
        if values.size == 0:
            return values
        if dataset.dtype.kind == "O":
            texts = self._asked({"do": "read", "name": dataset.name, "ranges": parts})["values"]
            if len(texts) != values.size:
                raise LibraryError(f"/{dataset.name} has {len(texts)} values")
            values.reshape(-1)[:] = texts
            return values
        # All dimensions before this one have one place.
        axis = next((index for index, length in enumerate(values.shape) if length > 1), values.ndim)
        if axis == values.ndim:
            self._fill(values, dataset.name, parts)
            return values
        rows = values.reshape(values.shape[axis:])
        num_rows = max(_PIECE_BYTES // rows[0].nbytes, 1) if rows[0].nbytes else len(rows)
        first, end = parts[axis]
        for start in range(first, end, num_rows):
            parts[axis] = (start, min(start + num_rows, end))
            self._fill(rows[start - first : parts[axis][1] - first], dataset.name, parts)
        return values

    def _fill(self, values: NDArray[Any], name: str, parts: Sequence[tuple[int, int]]) -> None:
        self._asked({"do": "read", "name": name, "ranges": list(parts)}, values)

    def _asked(self, request: Head, into: NDArray[Any] | None = None) -> Head:
        """The answer; its bytes fill a contiguous array."""
        with self._lock:
            if self._is_closed:
                raise closed_result(self._path)
            if self._damage:
                raise LibraryError(self._damage)
            # A fork of this process has the same socket: answers would come to either of the two.
            if self._stream is None or self._owner != os.getpid():
                self._connect()
            try:
                return self._answer(request, into)
            except LibraryError:
                raise
            except (EOFError, OSError, ValueError, RuntimeError) as error:
                self._end()
                raise self._broken(error) from error
            except BaseException:
                # Ctrl-C: what still comes would be taken for the next answer.
                self._end()
                raise

    def _broken(self, error: Exception) -> Exception:
        if isinstance(error, TimeoutError):
            why = f"nothing was read for {_STUCK_AFTER_S / 60:.0f} minutes"
            return LeadlineError(f"cannot read '{self._path}'", why, "Does its file system answer?")
        self._damage = "the HDF5 library crashes on what is in it, or comes to no end"
        if isinstance(error, TooLongError):
            self._damage = "it has more text than the file has room for"
        return LibraryError(self._damage)

    def _answer(self, request: Head, into: NDArray[Any] | None) -> Head:
        assert self._stream is not None
        send(self._stream, request)
        # Numbers and quotes around each text come on top of the texts.
        head, num_bytes = receive_head(self._stream, 8 * self.most_table_bytes, self._expect_progress)
        if "error" in head:
            raise LibraryError(str(head["error"]))
        if num_bytes != (0 if into is None else into.nbytes):
            raise ValueError("another number of bytes")
        if into is not None:
            receive_into(self._stream, memoryview(into.reshape(-1).view(np.uint8).data), self._expect_progress)
        return head

    def _connect(self) -> None:
        ours, theirs = socket.socketpair()
        ours.settimeout(_STUCK_AFTER_S)
        self._stream, self._owner, self._pid, self._progress = ours, os.getpid(), 0, b""
        try:
            with theirs:
                _server().hand_over(theirs)
            head, _ = receive_head(ours, SMALL_BYTES, self._expect_progress)
        except (EOFError, OSError, ValueError) as error:
            self._end()
            why = "the process that reads HDF5 files does not start"
            if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
                raise self._missing(f"{why}: {os.strerror(error.errno)}", _MORE_DESCRIPTORS) from error
            raise self._missing(why) from error
        if "cannot" in head:
            self._end()
            raise self._missing(str(head["cannot"]))
        self._pid = int(head["pid"])
        self._asked({"do": "open", "path": os.fspath(self._contents), "stored_bytes": self._stored_bytes})

    def _end(self) -> None:
        """The process reads the end of its input, where it still reads."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _expect_progress(self) -> None:
        """Called when nothing came for long: TimeoutError where the process has read nothing either."""
        try:
            progress = Path(f"/proc/{self._pid}/io").read_bytes() + Path(f"/proc/{self._pid}/schedstat").read_bytes()
        except OSError:  # this system does not tell
            progress = self._progress
        if progress == self._progress:
            raise TimeoutError
        self._progress = progress

    def _missing(self, why: str, hint: str = _NEEDED) -> LeadlineError:
        return LeadlineError(f"cannot read '{self._path}'", why, hint, ExitStatus.SOMETHING_MISSING)


class _Server:
    """The process out of which one is forked for each file. It ends with this one."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._control, theirs = socket.socketpair()
        # Where this package was found, however that was.
        path = [str(Path(__file__).parents[2]), *sys.path]
        words = [sys.executable, "-I", "-S", "-c", _START, json.dumps(path)]
        # Threads of numpy would take address space, and a fork would not have them.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        nowhere = subprocess.DEVNULL
        with theirs:
            self._process = subprocess.Popen(
                words, stdin=theirs.fileno(), stdout=nowhere, stderr=nowhere, env=environment
            )
        atexit.register(self._end)

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def hand_over(self, stream: socket.socket) -> None:
        """Gives it the other end of a reader's socket."""
        socket.send_fds(self._control, [b"!"], [stream.fileno()])

    def _end(self) -> None:
        if self.owner == os.getpid():
            self._process.kill()
            self._process.wait()
            self._control.close()


_servers: list[_Server] = []
_servers_lock = threading.Lock()


def _server() -> _Server:
    """That of this process; a new one where it was killed."""
    with _servers_lock:
        if not _servers or _servers[-1].owner != os.getpid() or not _servers[-1].is_alive():
            _servers.append(_Server())
        return _servers[-1]

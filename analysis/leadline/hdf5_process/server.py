# SPDX-License-Identifier: Apache-2.0
"""The process that imports h5py, and those that it forks: each reads one file, within limits, for one reader."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from leadline.hdf5_process.messages import SMALL_BYTES, TABLE_BYTES_A_STORED_BYTE, Head, receive_head, send

try:
    import h5py
    import numpy as np

    MISSING = ""
except ImportError as error:
    MISSING = str(error)

# Of an open file without its tables: caches of the library, a piece of rows, and its copies.
_LEAST_MEMORY_BYTES = 384 << 20
# Looking at an object takes less than a millisecond, and some hundred bytes of the file. Unpacking runs at 100 MB/s and
# more.
_LEAST_WORK_S = 1
_LEAST_BYTES_PER_S = 10_000_000
_LEAST_BYTES_OF_OBJECTS_PER_S = 1_000_000
_MOST_BYTES_OF_OBJECTS = 20_000_000
_MOST_REQUEST_BYTES = 1 << 20

_NUMBERS_AND_BYTES = "biufS"


def main() -> None:
    """Forks a process for each socket that arrives at standard input, until that is closed."""
    # Ctrl-C is for the command; where that ends, this process reads the end of its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control = socket.socket(fileno=os.dup(0))
    while True:
        word, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not word:
            return
        stream = socket.socket(fileno=descriptors[0])
        try:
            child = os.fork()
        except OSError as error:
            _tell(stream, {"cannot": f"no process can be started: {os.strerror(error.errno or 0)}"})
            child = -1
        if child == 0:
            control.close()
            os.close(0)
            # Whatever happens here, only one of the two may go on with the loop.
            try:
                _serve(stream)
            finally:
                os._exit(0)
        stream.close()


def _tell(stream: socket.socket, head: Head) -> None:
    with contextlib.suppress(OSError):
        send(stream, head)


def _serve(stream: socket.socket) -> None:
    """Answers one request after the other until nobody asks any more."""
    if MISSING:
        _tell(stream, {"cannot": MISSING})
        return
    _tell(stream, {"pid": os.getpid()})
    library = _Library()
    requests: dict[str, Callable[..., tuple[Head, Any]]] = {
        "open": library.open,
        "look": library.look,
        "read": library.read,
    }
    while True:
        try:
            request, _ = receive_head(stream, _MOST_REQUEST_BYTES)
        except (EOFError, OSError):
            return
        _allow_work(0)
        try:
            head, data = requests[request.pop("do")](**request)
        # A damaged file makes h5py and numpy raise almost anything.
        except MemoryError:
            head, data = {"error": "it wants more memory than a file of its size can need"}, b""
        except Exception as error:
            head, data = {"error": _reason(error)}, b""
        try:
            send(stream, head, data)
        except OSError:
            return


def _limit(kind: int, most: int) -> None:
    """The kernel enforces it; where a lower one holds already, that stays."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    with contextlib.suppress(OSError, ValueError):  # a system without this limit
        resource.setrlimit(kind, (most, hard))


def _allow_work(num_bytes: int) -> None:
    """So much processor time from now on; a process that needs more is ended by the kernel."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed_s = _LEAST_WORK_S + num_bytes / _LEAST_BYTES_PER_S
    _limit(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime + allowed_s))


def _address_space_bytes() -> int:
    """What this process has now."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 1 << 30


class _Library:
    """One open file. Names are those of objects, without a slash at the beginning."""

    def __init__(self) -> None:
        self._latest_name = ""
        self._latest: Any = None

    def open(self, path: str, stored_bytes: int) -> tuple[Head, Any]:
        """`stored_bytes`: what the disk holds of the file."""
        self._stored_bytes = stored_bytes
        _limit(resource.RLIMIT_CORE, 0)
        memory_bytes = _LEAST_MEMORY_BYTES + TABLE_BYTES_A_STORED_BYTE * stored_bytes
        _limit(resource.RLIMIT_AS, min(_address_space_bytes() + memory_bytes, (1 << 62)))
        # A run may still be writing its rows into the file: reading must not depend on locks.
        self._file = h5py.File(path, "r", locking=False)
        self._file_number = h5py.h5o.get_info(self._file.id).fileno
        return {}, b""

    def look(self, name: str) -> tuple[Head, Any]:
        """The attributes of a group or dataset, and what is in it. What cannot be read says why: perhaps nobody wants
        it.
        """
        of_objects = min(self._stored_bytes, _MOST_BYTES_OF_OBJECTS)
        _allow_work(of_objects * (_LEAST_BYTES_PER_S // _LEAST_BYTES_OF_OBJECTS_PER_S))
        found = self._file[f"/{name}"]
        keys = found if isinstance(found, h5py.Group) else ()
        head: Head = {"members": {key: self._facts(found, key) for key in keys}}
        try:
            head["attributes"] = {key: _plain(value) for key, value in found.attrs.items()}
        except Exception as error:
            head["broken"] = _reason(error)
        return self._head(head), b""

    def _facts(self, group: Any, key: str) -> Head:
        try:
            # The library would open the file that a link leads to, which may be a pipe.
            if group.get(key, getclass=True, getlink=True) is h5py.ExternalLink:
                return {"kind": "elsewhere"}
            found = group[key]
            if h5py.h5o.get_info(found.id).fileno != self._file_number:
                return {"kind": "elsewhere"}
            if not isinstance(found, h5py.Dataset):
                return {"kind": "group" if isinstance(found, h5py.Group) else "other"}
            if found.external or found.is_virtual:
                return {"kind": "elsewhere"}
            is_readable = found.shape is not None and found.dtype.kind in _NUMBERS_AND_BYTES + "O"
            return {
                "kind": "dataset",
                "shape": list(found.shape or ()),
                "type": found.dtype.str if is_readable else "V",
                "offset": found.id.get_offset(),
            }
        except Exception as error:
            return {"kind": "broken", "why": _reason(error)}

    def read(self, name: str, ranges: list[tuple[int, int]]) -> tuple[Head, Any]:
        """The part of a dataset that each range of its first dimensions leaves."""
        if self._latest_name != name:
            self._latest_name, self._latest = name, self._file[f"/{name}"]
        dataset = self._latest
        extents = [end - first for first, end in ranges]
        num_bytes = math.prod([*extents, *dataset.shape[len(ranges) :]]) * dataset.dtype.itemsize
        _allow_work(num_bytes + min(dataset.id.get_storage_size(), self._stored_bytes))
        values = np.asarray(dataset[tuple(slice(first, end) for first, end in ranges)], dtype=dataset.dtype)
        if values.dtype.kind == "O":
            return self._head({"values": [_plain(value) for value in values.reshape(-1).tolist()]}), b""
        return {}, memoryview(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)

    def _head(self, head: Head) -> Head:
        """The head itself, where a file of this size can have so much text."""
        num_bytes = sum(len(value) for value in _texts(head))
        if num_bytes > SMALL_BYTES + TABLE_BYTES_A_STORED_BYTE * self._stored_bytes:
            return {"error": "it has more text than the file has room for"}
        return head


def _plain(value: Any) -> Any:
    """As JSON has it: text, a number, None for nothing, or a list of these."""
    if isinstance(value, np.ndarray):
        values = [_plain(one) for one in value.reshape(-1).tolist()]
        return values[0] if len(values) == 1 else values
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        # h5py hands on bytes that are no UTF-8 as surrogates, which cannot be written anywhere.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, np.longdouble):
        return float(value)
    return None if isinstance(value, h5py.Empty) else str(value)


def _reason(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    values = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for one in values for text in _texts(one)]

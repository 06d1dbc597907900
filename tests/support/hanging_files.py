# SPDX-License-Identifier: Apache-2.0
"""A file system in memory whose server can be told to answer chosen calls no more, as one whose server is gone. A
process in such a call sleeps in the kernel and no signal ends it. The protocol is the kernel's own, of
include/uapi/linux/fuse.h."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import stat
import struct
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

LOOKUP, FORGET, GETATTR, SETATTR, UNLINK, RENAME, OPEN, READ, WRITE, STATFS, RELEASE = (
    1,
    2,
    3,
    4,
    10,
    12,
    14,
    15,
    16,
    17,
    18,
)
(
    FSYNC,
    FLUSH,
    INIT,
    OPENDIR,
    READDIR,
    RELEASEDIR,
    CREATE,
    INTERRUPT,
    BATCH_FORGET,
    RENAME2,
) = 20, 25, 26, 27, 28, 29, 35, 36, 42, 45
MKDIR, RMDIR = 9, 11
ROOT = 1
MNT_DETACH = 2
REQUEST = struct.Struct("<IIQQIIII")  # length, operation, request, node, user, group, process, padding
MAX_WRITE = 1 << 17
ASYNC_DIO = 1 << 15  # a call that a process has only started does not keep it


class UnavailableError(Exception):
    """Why such a file system cannot be had here."""


@dataclass
class File:
    name: str
    contents: bytearray = field(default_factory=bytearray)
    is_directory: bool = False  # it looks empty; names in it are known without it


class HangingFiles:
    """Mounted on a folder, for root; a context."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[int, File] = {}
        self._next_node = ROOT + 1
        self._lock = threading.Lock()
        self._frozen: tuple[int, str] | None = None
        self._error = 0
        self._num_to_answer = 0
        self._unanswered: list[bytes] = []
        self.num_frozen = 0
        try:
            self._device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise UnavailableError(f"/dev/fuse: {error.strerror}") from error
        self._libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self._device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other"
        if self._libc.mount(b"hanging_files", os.fsencode(folder), b"fuse", 0, options.encode()) != 0:
            os.close(self._device)
            raise UnavailableError(f"mounting a file system: {os.strerror(ctypes.get_errno())}")
        self._stopped, self._stop = os.pipe()
        self._server = threading.Thread(target=self._serve, daemon=True)
        self._server.start()

    def __enter__(self) -> HangingFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Whoever waits for an answer gets an error."""
        self._libc.umount2(os.fsencode(self.folder), MNT_DETACH)
        os.write(self._stop, b"x")
        self._server.join()
        for end in (self._device, self._stopped, self._stop):
            os.close(end)

    def freeze(self, operation: int, name: str, after: int = 0) -> None:
        """From now on, such calls for files whose names begin like this get no answer, but for the first few."""
        self._choose(operation, name, after, 0)

    def fail(self, operation: int, name: str, after: int = 0) -> None:
        """The same, with an error of the device for an answer."""
        self._choose(operation, name, after, errno.EIO)

    def _choose(self, operation: int, name: str, after: int, error: int) -> None:
        with self._lock:
            self._num_to_answer = after
            self._error = error
            self._frozen = (operation, name)

    def answer(self) -> None:
        """All calls, also those that wait."""
        with self._lock:
            self._frozen = None
            waiting, self._unanswered = self._unanswered, []
        for message in waiting:
            self._serve_one(message)

    # The server

    def _serve(self) -> None:
        while True:
            ready, _, _ = select.select([self._device, self._stopped], [], [])
            if self._stopped in ready:
                return
            try:
                message = os.read(self._device, MAX_WRITE + 4096)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                    continue
                return  # unmounted
            self._serve_one(message)

    def _serve_one(self, message: bytes) -> None:
        _, operation, request, node, *_ = REQUEST.unpack_from(message)
        body = message[REQUEST.size :]
        if operation in (FORGET, BATCH_FORGET, INTERRUPT):
            return
        try:
            if not self._is_frozen(operation, node, message):
                self._reply(request, 0, self._answer(operation, node, body))
        except OSError as error:
            self._reply(request, -(error.errno or errno.EIO), b"")

    def _reply(self, request: int, error: int, body: bytes) -> None:
        with contextlib.suppress(OSError):  # the caller may have gone
            os.write(self._device, struct.pack("<IiQ", 16 + len(body), error, request) + body)

    def _is_frozen(self, operation: int, node: int, message: bytes) -> bool:
        with self._lock:
            if self._frozen is None or operation != self._frozen[0]:
                return False
            name = self._name_in(operation, message[REQUEST.size :]) or (
                self.files[node].name if node in self.files else ""
            )
            if not name.startswith(self._frozen[1]):
                return False
            if self._num_to_answer > 0:
                self._num_to_answer -= 1
                return False
            if self._error:
                raise OSError(self._error, name)
            self.num_frozen += 1
            self._unanswered.append(message)
            return True

    @staticmethod
    def _name_in(operation: int, body: bytes) -> str:
        offset = {LOOKUP: 0, UNLINK: 0, RMDIR: 0, MKDIR: 8, CREATE: 16}.get(operation)
        return "" if offset is None else os.fsdecode(body[offset:].split(b"\0", 1)[0])

    def _attributes(self, node: int) -> bytes:
        size = 0 if node == ROOT else len(self.files[node].contents)
        is_directory = node == ROOT or self.files[node].is_directory
        mode = stat.S_IFDIR | 0o777 if is_directory else stat.S_IFREG | 0o666
        return struct.pack(
            "<6Q10I",
            node,
            size,
            (size + 511) // 512,
            0,
            0,
            0,
            0,
            0,
            0,
            mode,
            1,
            os.getuid(),
            os.getgid(),
            0,
            4096,
            0,
        )

    def _entry(self, node: int) -> bytes:
        return struct.pack("<4Q2I", node, 0, 0, 0, 0, 0) + self._attributes(node)

    def _node_of(self, name: str) -> int:
        for node, file in self.files.items():
            if file.name == name:
                return node
        raise OSError(errno.ENOENT, name)

    def _answer(self, operation: int, node: int, body: bytes) -> bytes:
        if operation == INIT:
            return struct.pack("<4I2H2I2H8I", 7, 31, 0, ASYNC_DIO, 12, 9, MAX_WRITE, 1, 0, 0, *([0] * 8))
        if operation == LOOKUP:
            return self._entry(self._node_of(self._name_in(operation, body)))
        if operation == CREATE:
            self.files[self._next_node] = File(self._name_in(operation, body))
            self._next_node += 1
            return self._entry(self._next_node - 1) + self._opened()
        if operation == MKDIR:
            self.files[self._next_node] = File(self._name_in(operation, body), is_directory=True)
            self._next_node += 1
            return self._entry(self._next_node - 1)
        if operation in (OPEN, OPENDIR):
            return self._opened()
        if operation == STATFS:
            return struct.pack(
                "<5Q4I6I",
                1 << 20,
                1 << 20,
                1 << 20,
                1 << 20,
                1 << 20,
                4096,
                255,
                4096,
                0,
                *([0] * 6),
            )
        if operation in (RELEASE, RELEASEDIR, FLUSH, FSYNC, READDIR):
            return b""
        if operation in (UNLINK, RMDIR):
            del self.files[self._node_of(self._name_in(operation, body))]
            return b""
        if operation in (RENAME, RENAME2):
            return self._rename(body[8 if operation == RENAME else 16 :])
        return self._about_file(operation, node, body)

    @staticmethod
    def _opened() -> bytes:
        direct_io = 1
        return struct.pack("<Q2I", 0, direct_io, 0)

    def _rename(self, names: bytes) -> bytes:
        old, new = (os.fsdecode(name) for name in names.split(b"\0")[:2])
        node = self._node_of(old)
        for other in [other for other, file in self.files.items() if file.name == new]:
            del self.files[other]
        self.files[node].name = new
        return b""

    def _about_file(self, operation: int, node: int, body: bytes) -> bytes:
        if operation == GETATTR:
            return struct.pack("<Q2I", 0, 0, 0) + self._attributes(node)
        if operation not in (SETATTR, READ, WRITE):
            raise OSError(errno.ENOSYS, "not there")
        contents = bytearray() if node == ROOT else self.files[node].contents
        if operation == SETATTR:
            valid, _, _, size = struct.unpack_from("<2I2Q", body)
            has_size = 1 << 3
            if valid & has_size:
                del contents[size:]
                contents.extend(bytes(size - len(contents)))
            return struct.pack("<Q2I", 0, 0, 0) + self._attributes(node)
        _, offset, size = struct.unpack_from("<2QI", body)
        if operation == READ:
            return bytes(contents[offset : offset + size])
        data = body[40 : 40 + size]
        contents.extend(bytes(max(0, offset + size - len(contents))))
        contents[offset : offset + size] = data
        return struct.pack("<2I", size, 0)

# SPDX-License-Identifier: Apache-2.0
"""Messages between a reader and the process that reads for it: a head as JSON, then bytes."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable
from typing import Any

Head = dict[str, Any]

# Memory and tables that a file may cost, as a multiple of what the disk holds of it, and what even a small one may.
TABLE_BYTES_A_STORED_BYTE = 64
SMALL_BYTES = 1 << 20

_LENGTHS = struct.Struct("=QQ")  # of the head, of the bytes behind it


class TooLongError(ValueError):
    """The head of a message is longer than the receiver allows."""


def _give_up() -> None:
    raise TimeoutError


def send(stream: socket.socket, head: Head, data: memoryview | bytes = b"") -> None:
    """OSError where nobody receives it any more."""
    text = json.dumps(head).encode("ascii")
    stream.sendall(_LENGTHS.pack(len(text), len(data)) + text)
    if len(data):
        stream.sendall(data)


def receive_head(stream: socket.socket, most_bytes: int, in_silence: Callable[[], None] = _give_up) -> tuple[Head, int]:
    """The head of the next message and the number of bytes behind it, which the caller receives. EOFError at the end,
    TooLongError, or ValueError for what is no message.
    """
    lengths = bytearray(_LENGTHS.size)
    receive_into(stream, memoryview(lengths), in_silence)
    head_bytes, data_bytes = _LENGTHS.unpack(lengths)
    if head_bytes > most_bytes:
        raise TooLongError
    text = bytearray(head_bytes)
    receive_into(stream, memoryview(text), in_silence)
    head = json.loads(text)
    if not isinstance(head, dict):
        raise ValueError("no message")
    return head, data_bytes


def receive_into(stream: socket.socket, room: memoryview, in_silence: Callable[[], None] = _give_up) -> None:
    """Fills all of it; EOFError where the other end closes before. Calls `in_silence` where nothing came until the
    timeout of the socket, and goes on where that returns.
    """
    while len(room) > 0:
        try:
            got = stream.recv_into(room)
        except TimeoutError:
            in_silence()
            continue
        if got == 0:
            raise EOFError
        room = room[got:]

# SPDX-License-Identifier: Apache-2.0
"""The server's side of the network: loopback only, GET only, bounded in every respect, for its own pages only."""

from __future__ import annotations

import io
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, cast

from leadline.view.answers import Answer, Answers, error_answer

ADDRESS = "127.0.0.1"
_MOST_CONNECTIONS = 64
_REQUEST_WITHIN_S = 10.0  # the whole request, from the moment in which the last answer was sent
_SENT_WITHIN_S = 30.0
_LONGEST_REQUEST_BYTES = 16384
_LONGEST_ADDRESS = 2048
# Written out in full because the page's own policy, in its head, is the narrower one: both hold.
_PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A thread a connection, at most 64; more are turned away."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, answers: Answers, port: int, log: Callable[[str], None] | None) -> None:
        """Listens at once; port 0 = a free one. OSError where that cannot be."""
        self.answers, self.log = answers, log
        self._connections = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        super().__init__((ADDRESS, port), _Handler)

    @property
    def port(self) -> int:
        """The one it listens on."""
        return int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own, where there is one left."""
        if not self._connections.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # the system has no thread left
            self._connections.release()
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """All requests of one connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """A client that disconnects is not an error."""
        if self.log:
            self.log(f"a connection ended: {sys.exc_info()[1]!r}")


class _BoundedReader(io.RawIOBase):
    """Bytes of a client, for so long and so many; then as if it had closed the connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.begin()

    def begin(self) -> None:
        """Time and bytes for the next request."""
        self._deadline_s = time.monotonic() + _REQUEST_WITHIN_S
        self._num_bytes_left = _LONGEST_REQUEST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left_s = self._deadline_s - time.monotonic()
        wanted = min(len(buffer), self._num_bytes_left)
        if left_s <= 0 or wanted <= 0:
            return 0
        self._connection.settimeout(left_s)
        try:
            num_bytes = self._connection.recv_into(memoryview(buffer)[:wanted])
        except OSError:
            return 0
        self._num_bytes_left -= num_bytes
        return num_bytes


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "leadline", ""

    def setup(self) -> None:
        """Reads through our own bounds in place of the library's."""
        super().setup()
        self._reader = _BoundedReader(self.connection)
        self.rfile = io.BufferedReader(self._reader)
        self._server = cast(Server, self.server)

    def handle_one_request(self) -> None:
        """With new bounds."""
        self._reader.begin()
        super().handle_one_request()

    def do_GET(self) -> None:
        """The one method that there is."""
        answer = self._refusal()
        if answer is None:
            path, _, query = self.path.partition("?")
            answer = self._server.answers.answer(path, query)
        self._send(answer)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """What the library refuses, in our form: above all methods that we do not have."""
        self.close_connection = True
        if code == HTTPStatus.NOT_IMPLEMENTED:
            self._send(error_answer(405, "only GET", {"Allow": "GET"}))
        else:
            self._send(error_answer(code, "this request cannot be understood"))

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Only where it was asked for; never the key."""
        if self._server.log:
            self._server.log(format % arguments)

    def _refusal(self) -> Answer | None:
        """Whatever a browser on this machine sends to us only because another page made it."""
        hosts = self.headers.get_all("Host", [])
        port = self._server.port
        if len(hosts) != 1 or hosts[0].lower() not in {f"{ADDRESS}:{port}", f"localhost:{port}"}:
            return error_answer(403, "this server answers under its own name only")
        # A person may follow the link from wherever it was pasted; that is a new document.
        is_visit = self.headers.get("Sec-Fetch-Mode") == "navigate" and self.headers.get("Sec-Fetch-Dest") == "document"
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and not is_visit:
            return error_answer(403, "this server answers to its own page only")
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            # What follows would be taken for the next request.
            self.close_connection = True
            return error_answer(400, "a request has no content here")
        if len(self.path) > _LONGEST_ADDRESS:
            return error_answer(414, "the address is too long")
        return None

    def _send(self, answer: Answer) -> None:
        policy = _PAGE_POLICY if answer.kind.startswith("text/html") else _DATA_POLICY
        headers = {
            "Content-Type": answer.kind, "Content-Length": str(len(answer.body)), "Cache-Control": "no-store",
            "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
            **answer.headers,
        }  # fmt: skip
        if answer.status == HTTPStatus.NO_CONTENT:
            del headers["Content-Length"], headers["Content-Type"]
        if self.close_connection:
            headers["Connection"] = "close"
        self.log_request(answer.status, len(answer.body))
        self.send_response_only(answer.status)
        for name, value in headers.items():
            self.send_header(name, value)
        # The deadline is for all of what is sent, not for each piece.
        self.connection.settimeout(_SENT_WITHIN_S)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Without what is behind the question mark."""
        path = str(getattr(self, "path", "?")).partition("?")[0][:80]
        self.log_message("%s", f"{getattr(self, 'command', None) or '?'} {path!r} {code} {size}")

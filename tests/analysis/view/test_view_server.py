# SPDX-License-Identifier: Apache-2.0
"""Tests of the server of `leadline view`: whom it answers, what load it withstands, and how the command ends."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import numpy as np
import pytest
from served import DEADLINE_S, GOOD, KEY, answers_of, tile

from conftest import two_hosts, write_result
from leadline.cli.view import main
from leadline.view.server import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests: none may leave it in another state. The page itself is not what is tested here."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("leadline.view.state.render", lambda *_, **__: "the page")
        answers = answers_of(write_result(tmp_path_factory.mktemp("served") / "run.h5", two_hosts()))
        server = Server(answers, 0, None)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        server.server_close()
        thread.join(DEADLINE_S)
        answers.stop(DEADLINE_S)


def request(server: Server, target: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE_S)
    connection.putrequest(method, target, skip_host="Host" in headers, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    response = connection.getresponse()
    answer = response.status, dict(response.getheaders()), response.read()
    connection.close()
    return answer


def tile_target(key: str = KEY) -> str:
    return f"/tile?{urlencode({'key': key, **GOOD['/tile']})}"


def test_tile_over_the_network(server: Server) -> None:
    status, headers, body = request(server, tile_target())
    assert status == 200
    assert headers["Content-Type"] == "application/octet-stream"
    np.testing.assert_array_equal(np.frombuffer(body, "<f4").reshape(256, 256), tile(server.answers, 1))
    for name, value in {
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
    }.items():  # fmt: skip
        assert headers[name] == value
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers
    assert "Python" not in headers.get("Server", "")


def test_server_listens_on_loopback_only(server: Server) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "target",
    ["/", "/tile", tile_target(""), tile_target("x"), tile_target(KEY[:-1]), tile_target(KEY + "x"), tile_target("ü"),
     f"/?Key={KEY}", "/nothing"],
)  # fmt: skip
def test_nobody_without_the_key(server: Server, target: str) -> None:
    status, headers, body = request(server, quote(target, safe="/?&=%"))
    assert status == 403
    assert headers["Content-Type"] == "application/json"
    assert KEY.encode() not in body


def test_pages_of_others_get_nothing(server: Server) -> None:
    port = server.port
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        "",
        f"127.0.0.1:{port}.evil",
    ):
        assert request(server, tile_target(), Host=host)[0] == 403, host
    assert request(server, tile_target(), Host=f"localhost:{port}")[0] == 200
    for site in ("cross-site", "same-site"):
        assert request(server, tile_target(), Sec_Fetch_Site=site)[0] == 403
    assert request(server, tile_target(), Sec_Fetch_Site="same-origin")[0] == 200
    visit = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert request(server, f"/?key={KEY}", **visit, Sec_Fetch_Dest="document")[0] == 200
    assert request(server, f"/?key={KEY}", **visit, Sec_Fetch_Dest="iframe")[0] == 403


def test_icon_that_every_browser_asks_for_is_no_error(server: Server) -> None:
    status, _, body = request(server, "/favicon.ico")
    assert (status, body) == (204, b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "HEAD"])
def test_only_get(server: Server, method: str) -> None:
    status, headers, _ = request(server, tile_target(), method)
    assert status == 405
    assert headers["Allow"] == "GET"


@pytest.mark.parametrize(
    "path",
    ["/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/..%2f..%2fetc/passwd", "/tile/", "/tile/..", "/tile%00",
     "/TILE", "/./tile", "/templates/report.css", "/run.h5"],
)  # fmt: skip
def test_no_path_leads_anywhere(server: Server, path: str) -> None:
    status, headers, body = request(server, f"{path}?key={KEY}")
    assert status == 404
    assert headers["Content-Type"] == "application/json"
    assert b"root:" not in body


def raw(server: Server, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE_S) as connection:
        received = b""
        # The server closes on what it has not read to its end.
        with contextlib.suppress(OSError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            while piece := connection.recv(65536):
                received += piece
    return received


def test_requests_are_bounded(server: Server) -> None:
    host = f"Host: 127.0.0.1:{server.port}\r\n".encode()
    assert request(server, f"/?key={KEY}&x={'a' * 3000}")[0] == 414
    assert request(server, "/?" + "&".join(f"a{i}=1" for i in range(100)))[0] == 400
    assert request(server, f"/?key={KEY}&key={KEY}")[0] == 400
    for data in (
        b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n" + host + b"\r\n",
        b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 40_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + host + b"X: a\r\n" * 20_000 + b"\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /?key=" + KEY.encode() + b" HTTP/1.1\r\n" + host + b"Content-Length: 5\r\n\r\nGET /",
        b"\r\n",
        b"GET",
    ):
        status_line = raw(server, data).partition(b"\r\n")[0]
        assert status_line == b"" or status_line[9:12].startswith(b"4") or b"error" in status_line, data[:60]
    assert request(server, tile_target())[0] == 200


def test_silent_clients_block_nobody(server: Server) -> None:
    silent = [socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE_S) for _ in range(20)]
    for connection in silent[::2]:
        connection.sendall(b"GET /tile HTTP/1.1\r\nHost: ")
    assert request(server, tile_target())[0] == 200
    for connection in silent:
        connection.close()


def test_client_that_sends_nothing_is_left_alone_at_last(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    monkeypatch.setattr("leadline.view.server._REQUEST_WITHIN_S", 0.05)
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE_S) as connection:
        connection.sendall(b"GET /")
        connection.settimeout(DEADLINE_S)
        while connection.recv(4096):
            pass


def test_too_many_connections_are_turned_away_and_come_back(server: Server) -> None:
    many = [socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE_S) for _ in range(80)]
    refused = many[-1]
    assert refused.recv(1) == b""
    for connection in many:
        connection.close()
    deadline_s = time.monotonic() + DEADLINE_S
    while True:
        try:
            assert request(server, tile_target())[0] == 200
            return
        except (ConnectionError, http.client.HTTPException):
            assert time.monotonic() < deadline_s


def test_connection_is_kept_for_the_next_request(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE_S)
    for _ in range(3):
        connection.request("GET", tile_target())
        response = connection.getresponse()
        assert response.status == 200
        assert len(response.read()) == 4 * 256 * 256
        assert not response.will_close
    connection.close()


# The command.


def started(*arguments: str, **environment: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; from leadline.cli.view import main; sys.exit(main())", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )  # fmt: skip
    assert process.stdout
    return process, process.stdout.readline()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_prints_its_address_and_ends_on_a_signal(result_file: Path, number: signal.Signals) -> None:
    process, url = started(str(result_file), "--no-browser")
    try:
        scheme, _, rest = url.strip().partition("://")
        host, _, target = rest.partition("/")
        address, _, port = host.partition(":")
        assert (scheme, address) == ("http", "127.0.0.1")
        assert target.startswith("?key=")
        assert len(target) >= len("?key=") + 32
        connection = http.client.HTTPConnection(address, int(port), timeout=DEADLINE_S)
        connection.request("GET", f"/{target}")
        assert connection.getresponse().status == 200
        process.send_signal(number)
        out, err = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (0, "", "")


def test_verbose_tells_of_requests_without_the_key(result_file: Path) -> None:
    process, url = started(str(result_file), "--no-browser", "--verbose")
    try:
        host, _, target = url.strip().removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(host, timeout=DEADLINE_S)
        connection.request("GET", f"/nothing{target}&x=%1b")
        assert connection.getresponse().status == 404
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
    assert "GET '/nothing' 404" in err
    assert target.partition("=")[2] not in err


def test_port_in_use_is_said(result_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main([str(result_file), "--no-browser", "--port", str(port)]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"leadline: cannot listen on 127.0.0.1:{port} (Address already in use). Choose another --port\n"


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        ([], 2, "required: RESULT"),
        (["nothing.h5"], 2, "cannot read 'nothing.h5' (No such file or directory)"),
        (["RUN", "--port", "65536"], 2, "--port cannot be '65536'"),
        (["RUN", "--port", "-1"], 2, "--port"),
        (["RUN", "--port", "http"], 2, "--port cannot be 'http'"),
        (["RUN", "--port", "1", "--port", "2"], 2, "--port is given twice"),
        (["RUN", "--message-size", "3"], 2, "the result has no message size 3"),
        (["RUN", "--repeat", "2"], 2, "the result has no repeat 2"),
        (["RUN", "--host", "0.0.0.0"], 2, "unknown option --host"),
        (["TEXT"], 2, "cannot read"),
    ],
)
def test_wrong_command_lines(
    tmp_path: Path, result_file: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, text: str
) -> None:
    other = tmp_path / "text"
    other.write_text("text\n")
    words = [{"RUN": str(result_file), "TEXT": str(other)}.get(word, word) for word in arguments]
    assert main(words) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("leadline: ")
    assert text in err
    assert err.count("\n") == 1

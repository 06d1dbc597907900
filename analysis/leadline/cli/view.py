# SPDX-License-Identifier: Apache-2.0
"""`leadline view`: the report of a result of any size, from a small local server."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import signal
import sys
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from pathlib import Path

from leadline import __version__
from leadline.cli.support import Once, Parser, ProgressLine, chosen_parts, ended, say, wrong
from leadline.error import ExitStatus, from_os_error
from leadline.load import load_link
from leadline.model import Result, Slice
from leadline.view.answers import Answers
from leadline.view.server import ADDRESS, Server

_LAST_PORT = 65535
_STOPPED_WITHIN_S = 0.5


def _view_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="leadline view",
        allow_abbrev=False,
        description="Shows the report of a result of leadline link in the browser, with every pair of it, however many "
        "they are: from a server on this machine that only this machine reaches. Ctrl-C ends it.",
        epilog="Status: 0 fine, 2 wrong command line or no such file, 3 a permission is missing or the port is in use, "
        "4 the file is not a readable result.",
    )
    parser.add_argument("result", metavar="RESULT", help="result file")
    parser.add_argument(
        "--port",
        action=Once,
        metavar="NUMBER",
        default="0",
        help="port to listen on, on 127.0.0.1 (default: a free one)",
    )
    parser.add_argument("--size", action=Once, metavar="BYTES", help="only this message size, such as 16MiB")
    parser.add_argument("--repeat", action=Once, metavar="NUMBER", help="only this repeat; the first is 1")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--verbose", action="store_true", help="tell of every request on stderr")
    parser.add_argument("--version", action="version", version=f"leadline view {__version__}")
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(_LAST_PORT)) and int(text) <= _LAST_PORT):
        raise wrong(f"--port {text} is not a port", f"Write a number from 1 to {_LAST_PORT}")
    return int(text)


def _log(line: str) -> None:
    # A client chooses what is in it: no control characters for the terminal.
    print("leadline view: " + line.encode("ascii", "backslashreplace").decode(), file=sys.stderr, flush=True)


@contextlib.contextmanager
def _until_signal() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; a second one ends the program as ever."""
    stop = threading.Event()
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in signals}

    def stopped(*_: object) -> None:
        stop.set()
        for number in signals:
            signal.signal(number, signal.SIG_DFL)

    for number in signals:
        signal.signal(number, stopped)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _has_display() -> bool:
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _view(arguments: Sequence[str]) -> None:
    options = _view_parser().parse_args(arguments)
    port, path = _port(options.port), Path(options.result)

    def loaded() -> tuple[Result, tuple[Slice, ...]]:
        result = load_link(path)
        return result, chosen_parts(result, options.size, options.repeat)

    key = secrets.token_urlsafe(24)
    with _until_signal() as stop:
        answers = Answers(path, loaded, key, ProgressLine("reading the result"))
        try:
            server = Server(answers, port, _log if options.verbose else None)
        except OSError as error:
            refused = from_os_error(f"cannot listen on {ADDRESS}:{port}", error, "Choose another --port")
            refused.status = ExitStatus.SOMETHING_MISSING
            raise refused from error
        threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
        url = f"http://{ADDRESS}:{server.port}/?key={key}"
        say(f"{url}\n")
        if not options.no_browser and _has_display():
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        stop.wait()
        server.shutdown()
        server.server_close()
        answers.stop(_STOPPED_WITHIN_S)


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline view RESULT`; the exit status is the return value."""
    return ended(_view, arguments)

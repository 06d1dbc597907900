# SPDX-License-Identifier: Apache-2.0
"""What `leadline view` does: the report of a result of any size, from a small local server."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import signal
import sys
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leadline.cli.options import STANDARD_OUTPUT
from leadline.cli.support import ProgressLine, StepLog, check_output, say, say_document
from leadline.error import ExitStatus, from_os_error, wrong
from leadline.link.commands import chosen_parts
from leadline.link.reader import load_link
from leadline.link.result import LinkResult
from leadline.model import Slice
from leadline.view.answers import Answers
from leadline.view.server import ADDRESS, Server

_STOPPED_WITHIN_S = 0.5


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


def _say_address(options: argparse.Namespace, document: dict[str, Any]) -> None:
    """What was asked for: --quiet leaves it. Its key is for the user alone, so others cannot read its file."""
    if options.json is None:
        say(f"{document['url']}\n")
    else:
        say_document(options, document, [], 0o600)


def _has_display() -> bool:
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def view(options: argparse.Namespace) -> None:
    """`leadline view`, with its options."""
    port, path = options.port, Path(options.result)
    steps = StepLog("leadline view", options.verbose)
    if options.json not in (None, STANDARD_OUTPUT):
        check_output(Path(options.json), options.overwrite, lambda ends: '"document": "view"' in ends)
    elif options.overwrite:
        raise wrong("--overwrite has no effect without --json FILE")

    def loaded() -> tuple[LinkResult, tuple[Slice, ...]]:
        result = load_link(path)
        steps.opened(result)
        return result, chosen_parts(result, options.message_size, options.repeat)

    key = secrets.token_urlsafe(24)
    with _until_signal() as stop:
        answers = Answers(path, loaded, key, ProgressLine("reading the result", options.quiet))
        try:
            server = Server(answers, port, _log if options.verbose else None)
        except OSError as error:
            refused = from_os_error(f"cannot listen on {ADDRESS}:{port}", error, "Choose another --port")
            refused.status = ExitStatus.SOMETHING_MISSING
            raise refused from error
        threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
        url = f"http://{ADDRESS}:{server.port}/?key={key}"
        steps.done(f"listening on {ADDRESS}:{server.port}")
        document = {
            "document": "view", "format_version": 1, "url": url, "port": server.port, "pid": os.getpid(),
            "result": options.result,
        }  # fmt: skip
        _say_address(options, document)
        if not options.no_browser and _has_display():
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        stop.wait()
        server.shutdown()
        server.server_close()
        answers.stop(_STOPPED_WITHIN_S)

# SPDX-License-Identifier: Apache-2.0
"""What the server answers to each address, before there is any network: view/__init__.py as functions."""

from __future__ import annotations

import hmac
import html
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leadline.error import LeadlineError
from leadline.link.result import LinkResult, PairClass
from leadline.model import Progress, Slice
from leadline.scan import AxisName
from leadline.text_file import utf8
from leadline.view.query import Query, WrongParameterError
from leadline.view.reduction import Reduction
from leadline.view.state import NotReadyError, State, version_of
from leadline.view.tiles import SIDE, Layer, Tile, largest_edge

JSON = "application/json"
_HTML = "text/html; charset=utf-8"
# A small result has its page before this, and the waiting page is never shown.
_PATIENCE_S = 1.5
_COMPUTING_AT_ONCE = max(os.cpu_count() or 1, 2)
_BUSY_AFTER_S = 20.0


@dataclass(frozen=True)
class Answer:
    """An HTTP response without the headers that all have."""

    status: int
    kind: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def error_answer(status: int, message: str, headers: dict[str, str] | None = None) -> Answer:
    """One line of why not."""
    return Answer(status, JSON, json.dumps({"error": message}).encode(), headers or {})


def _json(value: Any) -> Answer:
    return Answer(200, JSON, json.dumps(value, allow_nan=False, separators=(",", ":")).encode())


class Answers:
    """For several threads at once."""

    def __init__(
        self, path: Path, load: Callable[[], tuple[LinkResult, tuple[Slice, ...]]], key: str, tell: Progress
    ) -> None:
        """Loads the result, now and whenever the page is asked for and the file has changed."""
        self._path, self._load, self._key, self._tell = path, load, key, tell
        self._state = self._loaded()
        self._lock = threading.Lock()
        self._computing = threading.BoundedSemaphore(_COMPUTING_AT_ONCE)
        self._routes: dict[str, Callable[[Query], Answer]] = {
            "/": self._page, "/preview": self._preview, "/index": self._index, "/tile": self._tile,
            "/cell": self._cell, "/pairs": self._pairs,
        }  # fmt: skip

    def stop(self, timeout_s: float = 0.0) -> None:
        """Ends what runs in the background."""
        self._state.stop(timeout_s)

    def answer(self, path: str, query_text: str) -> Answer:
        """To GET; never raises."""
        if path == "/favicon.ico":  # every browser asks, of itself and without the key
            return Answer(204, JSON, b"")
        try:
            query = Query(query_text)
            if not hmac.compare_digest(query.text("key").encode(), self._key.encode()):
                return error_answer(403, "this address needs the key of the line that leadline view printed")
            route = self._routes.get(path)
            return route(query) if route else error_answer(404, "there is no such address")
        except WrongParameterError as error:
            return error_answer(400, str(error))
        except NotReadyError as error:
            return error_answer(503, f"{error}: {error.progress:.0%}", {"Retry-After": "1"})
        except LeadlineError as error:
            return error_answer(500, str(error))
        except MemoryError:
            return error_answer(500, "there is not enough memory")
        except Exception as error:  # our own errors are reported, too; the server goes on
            return error_answer(500, f"an internal error: {type(error).__name__}: {error}")

    def _loaded(self) -> State:
        version = version_of(self._path)
        result, parts = self._load()
        return State(version, result, parts, self._key, self._tell)

    def _page(self, query: Query) -> Answer:
        query.done()
        try:
            state = self._latest()
        except LeadlineError as error:
            return _apology(str(error))
        if not state.page.wait(_PATIENCE_S):
            return _waiting(self._key, state)
        state.page_was_sent = True
        if state.page.error is not None:
            return _apology(_what_failed(state.page.error))
        return Answer(200, _HTML, state.page.value)

    def _latest(self) -> State:
        """A waiting client gets its page, also where a run has written more meanwhile: else it would wait for ever."""
        with self._lock:
            old = self._state
            if not _is_of_this_run(old) or (old.page_was_sent and version_of(self._path) != old.version):
                new = self._loaded()
                old.stop()
                self._state = new
            return self._state

    def _preview(self, query: Query) -> Answer:
        query.done()
        with self._turn():
            return Answer(200, "image/png", self._state.preview())

    def _index(self, query: Query) -> Answer:
        state = self._state
        layer = _layer(state, query)
        query.done()
        edge = state.edge_of_index(layer.axis)
        try:
            span = state.index(layer).range
        except NotReadyError as error:
            return _json({"ready": False, "progress": error.progress, "edge": edge, "range": None})
        return _json({"ready": True, "progress": 1.0, "edge": edge, "range": span})

    def _tile(self, query: Query) -> Answer:
        state = self._state
        layer = _layer(state, query)
        reduction = query.choice("reduction", Reduction)
        edge, num_cells = _edge(state, layer, query)
        last = (num_cells - 1) // SIDE
        tile = Tile(layer, reduction, edge, query.integer("row", 0, last), query.integer("column", 0, last))
        query.done()
        with self._turn():
            return Answer(200, "application/octet-stream", state.tile(tile))

    def _cell(self, query: Query) -> Answer:
        state = self._state
        layer = _layer(state, query)
        edge, num_cells = _edge(state, layer, query)
        row, column = (query.integer(name, 0, num_cells - 1) for name in ("row", "column"))
        query.done()
        with self._turn():
            return _json(state.cell(layer, edge, row, column))

    def _pairs(self, query: Query) -> Answer:
        state = self._state
        part = _part(state, query)
        pair_class = query.choice("class", PairClass)
        low_ns, high_ns = query.time_ns("low_ns"), query.time_ns("high_ns")
        query.done()
        return _json(state.pairs(part, pair_class, low_ns, high_ns))

    def _turn(self) -> _Turn:
        return _Turn(self._computing)


def _is_of_this_run(state: State) -> bool:
    try:
        state.current_version()
    except LeadlineError:
        return False
    return True


class _Turn:
    """Only so many threads compute at a time: more would take memory and not be faster."""

    def __init__(self, computing: threading.BoundedSemaphore) -> None:
        self._computing = computing

    def __enter__(self) -> None:
        if not self._computing.acquire(timeout=_BUSY_AFTER_S):
            raise NotReadyError(0.0)

    def __exit__(self, *_: object) -> None:
        self._computing.release()


def _part(state: State, query: Query) -> Slice:
    last_repeat, last_size = state.last()
    part = state.part(query.integer("repeat", 0, last_repeat), query.integer("size_index", 0, last_size))
    if part is None:
        raise WrongParameterError("repeat and size_index: this slice is not shown")
    return part


def _layer(state: State, query: Query) -> Layer:
    part, axis = _part(state, query), query.choice("axis", AxisName)
    return Layer(part, axis, query.choice("statistic", state.result.statistics))


def _edge(state: State, layer: Layer, query: Query) -> tuple[int, int]:
    """The edge, and the cells on a side of the picture with it."""
    positions = state.positions[layer.axis]
    edge = query.integer("edge", 1, largest_edge(positions.num_positions))
    if edge & (edge - 1):
        raise WrongParameterError("edge must be a power of two")
    return edge, positions.num_cells(edge)


def _what_failed(error: Exception) -> str:
    if isinstance(error, LeadlineError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory. Choose a part with --message-size and --repeat."
    return f"An internal error: {type(error).__name__}: {error}"


_PLAIN_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:12vh auto;padding:0 1rem;color:#1f2328}"
    "progress{width:100%;height:.75rem}img{width:100%;max-width:512px;image-rendering:pixelated}"
    "p.small{color:#57606a;font-size:14px}"
)


def _plain_page(title: str, head: str, body: str) -> bytes:
    return utf8(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>{head}'
        f"<style>{_PLAIN_STYLE}</style></head><body>{body}</body></html>"
    )


def _apology(message: str) -> Answer:
    body = f"<h1>The result cannot be shown</h1><p>{html.escape(message)}</p>"
    return Answer(500, _HTML, _plain_page("leadline view", "", body))


def _waiting(key: str, state: State) -> Answer:
    """Loads itself again; the picture comes once it is there."""
    num_ranks, share = state.result.num_ranks, state.page.progress
    body = (
        f"<h1>Reading {num_ranks:,} × {num_ranks:,} pairs</h1>"
        f'<p><progress max="100" value="{100 * share:.0f}">{share:.0%}</progress></p>'
        f'<p><img src="/preview?key={html.escape(key)}" alt="A sample of the matrix"></p>'
        '<p class="small">Meanwhile a sample: some of the rows (from), and of each few columns (to) the worst. '
        "Bright is slow. The page appears when it is ready.</p>"
    )
    head = '<meta http-equiv="refresh" content="2">'
    return Answer(200, _HTML, _plain_page(f"{share:.0%} read", head, body))

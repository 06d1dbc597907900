# SPDX-License-Identifier: Apache-2.0
"""How the tests ask what `leadline view` serves."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from leadline import load
from leadline.view.answers import Answers

KEY = "the-key_0"
DEADLINE_S = 20.0


def answers_of(path: Path) -> Answers:
    """All slices of a result, served without a network."""

    def loaded() -> Any:
        result = load(path)
        return result, result.slices

    return Answers(path, loaded, KEY, lambda _: None)


def ask(answers: Answers, address: str, **parameters: object) -> tuple[int, Any]:
    """As the page does: again for as long as the index is not ready."""
    deadline_s = time.monotonic() + DEADLINE_S
    while True:
        answer = answers.answer(address, urlencode({"key": KEY, **parameters}))
        if answer.status != 503 or time.monotonic() > deadline_s:
            return answer.status, json.loads(answer.body) if answer.kind == "application/json" else answer.body
        assert answer.headers["Retry-After"] == "1"
        threading.Event().wait(0.005)


def layer(axis: str = "ranks", statistic: str = "median", repeat: int = 0, size_index: int = 0) -> dict[str, Any]:
    """The parameters that say which matrix."""
    return {"repeat": repeat, "size_index": size_index, "axis": axis, "statistic": statistic}


def tile(answers: Answers, edge: int, row: int = 0, column: int = 0, reduction: str = "worst", **of: Any) -> np.ndarray:
    """A tile, [256, 256]."""
    status, body = ask(answers, "/tile", reduction=reduction, edge=edge, row=row, column=column, **layer(**of))
    assert status == 200, body
    return np.frombuffer(body, "<f4").reshape(256, 256)


def page(answers: Answers) -> tuple[int, str]:
    """The page itself, after those that wait for it."""
    deadline_s = time.monotonic() + DEADLINE_S
    while True:
        answer = answers.answer("/", f"key={KEY}")
        text = answer.body.decode()
        if 'http-equiv="refresh"' not in text or time.monotonic() > deadline_s:
            return answer.status, text


GOOD = {
    "/tile": {**layer(), "reduction": "worst", "edge": 1, "row": 0, "column": 0},
    "/cell": {**layer(), "edge": 1, "row": 7, "column": 7},
    "/index": layer(),
    "/pairs": {"repeat": 0, "size_index": 0, "class": "same host", "low_ns": 0, "high_ns": 1},
}

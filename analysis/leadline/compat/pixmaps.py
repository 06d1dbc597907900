# SPDX-License-Identifier: Apache-2.0
"""The pictures of LinkTest 1.2's analysis: a pixel for each pair (PPM), and what its colours mean (PostScript)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leadline.draw import colours
from leadline.model import BoolArray, FloatArray

NUM_STEPS = 240
_SPECIAL = {
    "own": (colours.DIAGONAL, "a task with itself"),
    "below": (colours.BELOW, "below the range"),
    "above": (colours.ABOVE, "above the range"),
    "missing": (colours.MISSING, "not measured"),
    "outside": (colours.OUTSIDE, "not in this test"),
}


def _rgb(hexadecimal: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(hexadecimal.removeprefix("#"))
    return red, green, blue


def _palette() -> NDArray[np.uint8]:
    stops = np.array([_rgb(colour) for colour in colours.MAP], dtype=np.float64)
    at = np.linspace(0, len(stops) - 1, NUM_STEPS)
    steps = np.column_stack([np.interp(at, np.arange(len(stops)), stops[:, channel]) for channel in range(3)])
    special = [_rgb(colour) for colour, _ in _SPECIAL.values()]
    return np.concatenate([np.rint(steps).astype(np.uint8), np.array(special, dtype=np.uint8)])


PALETTE = _palette()  # [NUM_STEPS + the special ones, 3]
_INDEX = {name: NUM_STEPS + index for index, name in enumerate(_SPECIAL)}


@dataclass(frozen=True)
class Scale:
    """One scale for the whole picture; what lies beyond it has colours of its own."""

    low: float
    high: float
    logarithmic: bool = False

    def values(self) -> FloatArray:
        """The value in the middle of each step of the colours, [240]."""
        share = (np.arange(NUM_STEPS) + 0.5) / NUM_STEPS
        if self.logarithmic:
            return np.asarray(self.low * (self.high / self.low) ** share)
        return self.low + (self.high - self.low) * share

    def steps(self, values: FloatArray) -> NDArray[np.uint8]:
        """Which step of the colours each value has; finite values, of any shape."""
        if self.high == self.low:
            return np.full(values.shape, NUM_STEPS // 2, dtype=np.uint8)
        if self.logarithmic:
            share = np.log(values / self.low) / np.log(self.high / self.low)
        else:
            share = (values - self.low) / (self.high - self.low)
        return np.asarray(np.clip(share * NUM_STEPS, 0, NUM_STEPS - 1), dtype=np.uint8)

    def indices(self, first_row: int, values: FloatArray, to_measure: BoolArray) -> NDArray[np.uint8]:
        """Into PALETTE, for rows from `first_row` on, [some, N]; NaN = not measured."""
        there = np.isfinite(values)
        found = self.steps(np.where(there, values, self.low))
        found[values < self.low] = _INDEX["below"]
        found[values > self.high] = _INDEX["above"]
        found[~there] = np.where(to_measure[~there], _INDEX["missing"], _INDEX["outside"])
        own = np.arange(len(values))
        own = own[~there[own, own + first_row]]
        found[own, own + first_row] = _INDEX["own"]
        return found


def ppm_header(num_ranks: int) -> bytes:
    """Binary PPM, N x N, from ranks downwards, to ranks to the right."""
    return f"P6 {num_ranks:5d} {num_ranks:5d} 255\n".encode()


def pixels(indices: NDArray[np.uint8]) -> bytes:
    """Three bytes a cell."""
    return PALETTE[indices].tobytes()


@dataclass(frozen=True)
class ColourTable:
    """What the colours of one picture mean; at most 240 values fit."""

    title: str
    scale: Scale
    values: FloatArray
    label: Callable[[float], str]


_PROLOG = """%!PS-Adobe-3.0
%%BoundingBox: 0 0 595 842
%%Pages: {num_pages}
%%EndComments
% red green blue x y (text) box
/box {{
  /text exch def /y exch def /x exch def
  setrgbcolor x y 12 10 rectfill
  0.6 setgray 0.2 setlinewidth x y 12 10 rectstroke
  0 setgray x 16 add y 2.5 add moveto text show
}} bind def
"""
_BOXES_A_COLUMN = 60


def colortab(tables: Sequence[ColourTable]) -> Iterator[str]:
    """colortab.ps: an A4 page of boxes for each picture."""
    yield _PROLOG.format(num_pages=len(tables))
    for number, table in enumerate(tables, start=1):
        yield f"%%Page: {number} {number}\n/Helvetica-Bold findfont 11 scalefont setfont\n"
        yield f"40 805 moveto ({table.title}) show\n/Helvetica findfont 7 scalefont setfont\n"
        steps = table.scale.steps(table.values).tolist()
        for position, (step, value) in enumerate(zip(steps, table.values.tolist(), strict=True)):
            column, row = divmod(position, _BOXES_A_COLUMN)
            yield _box(step, 40 + 132 * column, 780 - 12 * row, table.label(value))
        for position, (name, (_, text)) in enumerate(_SPECIAL.items()):
            yield _box(_INDEX[name], 40 + 106 * position, 40, text)
        yield "showpage\n"
    yield "%%EOF\n"


def _box(index: int, x: int, y: int, text: str) -> str:
    red, green, blue = (PALETTE[index] / 255).tolist()
    return f"{red:.3f} {green:.3f} {blue:.3f} {x} {y} ({text}) box\n"

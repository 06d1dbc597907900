# SPDX-License-Identifier: Apache-2.0
"""A first picture of a large result within a second: some of its rows, while all of them are still being read."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from leadline.draw import colours
from leadline.link.result import LinkResult
from leadline.model import Slice, Statistic
from leadline.scan import AxisName
from leadline.scan.picture import Float32Array
from leadline.view.reduction import Reduction, reduced_columns
from leadline.view.tiles import Layer, Span, reduced_pairs, sampled_rows

_SIDE = 512  # rows that are read, and at most as many columns of the picture
_LARGE_SIDE_PX = 1 << 14


def preview_png(result: LinkResult, part: Slice) -> bytes:
    """Medians of evenly spread rows; a column of the picture is the worst of several. At most 512 x 512 dots."""
    num_ranks = result.num_ranks
    rows = np.unique(np.linspace(0, num_ranks - 1, min(_SIDE, num_ranks)).astype(np.int64))
    edge = -(-num_ranks // _SIDE)
    sizes = np.diff(np.append(np.arange(0, num_ranks, edge), num_ranks))
    layer = Layer(part, AxisName.RANKS, Statistic.MEDIAN)
    if result.read_pairs is not None:
        every_row, columns = Span(rows, np.ones_like(rows)), Span(np.arange(num_ranks), sizes)
        return png(_painted(reduced_pairs(result, layer, every_row, columns, Reduction.WORST)))
    cells = np.concatenate([
        reduced_columns(strip, sizes, Reduction.WORST) for strip in sampled_rows(result, layer, rows)
    ])  # fmt: skip
    return png(_painted(cells))


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture [rows, columns, 3] of red, green and blue as a PNG."""
    height, width = pixels.shape[:2]
    if max(height, width) > _LARGE_SIDE_PX:
        raise ValueError(f"{width} x {height} dots")

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each line begins with the number of its filter: none
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6))
        + chunk(b"IEND", b"")
    )


def _painted(cells: Float32Array) -> NDArray[np.uint8]:
    painted = np.empty((*cells.shape, 3), dtype=np.uint8)
    painted[:] = _rgb(colours.OUTSIDE)
    painted[cells == -1] = _rgb(colours.MISSING)
    there = cells > 0
    if there.any():
        logs = np.log(cells[there].astype(np.float64))
        low, high = np.quantile(logs, [0.01, 0.99])
        place = np.clip((logs - low) / max(high - low, 1e-9), 0, 1) * (len(colours.MAP) - 1)
        steps = np.array([_rgb(one) for one in colours.MAP])
        rgb = np.stack([np.interp(place, np.arange(len(steps)), steps[:, channel]) for channel in range(3)], axis=-1)
        # Far beyond the others, as on the page; how far the page itself decides from all cells.
        rgb[logs > high + max(high - low, np.log(1.5))] = _rgb(colours.ABOVE)
        painted[there] = rgb
    return painted


def _rgb(colour: str) -> list[int]:
    return [int(colour[first : first + 2], 16) for first in (1, 3, 5)]

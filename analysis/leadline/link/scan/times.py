# SPDX-License-Identifier: Apache-2.0
"""Times of one class of pairs in some rows, and the 16-bit codes by which they are counted and looked up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leadline.link.scan.blocks import Float32Array
from leadline.model import FloatArray, IntArray

Codes = NDArray[np.uint16]
CODES_AN_OCTAVE = 256
NUM_CODES = 1 << 16
# The bits of a positive float32 grow with it; the first 16 of them behind the sign are its code.
_SHIFT = 15


@dataclass(frozen=True)
class Times:
    """Times in ns of some rows, [rows, M], NaN = none; those of a row by the rank that they are to."""

    times: FloatArray
    codes: Codes
    ranks_at: Callable[[IntArray, IntArray], tuple[IntArray, IntArray]]  # row, column of the array -> from, to


def codes_of(times: Float32Array) -> Codes:
    """A number for every time that grows with it, 256 an octave; NaN is above all times."""
    return (times.view(np.uint32) >> _SHIFT).astype(np.uint16)


def time_of_code(codes: IntArray) -> FloatArray:
    """The lowest time with that code, float64 in ns."""
    return (np.asarray(codes).astype(np.uint32) << _SHIFT).view(np.float32).astype(np.float64)


NAN_CODE = int(codes_of(np.array([np.nan], dtype=np.float32))[0])

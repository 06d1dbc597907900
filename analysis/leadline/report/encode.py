# SPDX-License-Identifier: Apache-2.0
"""Arrays as the page carries them: whole numbers in two planes of bytes, deflated, in base64."""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.model import FloatArray, IntArray
from leadline.scan.picture import Float32Array, Int32Array

# One code is left for "no time", and the page's script needs one more for "nothing to measure".
LARGEST_CODE = 65_000
# Half a step is the largest error. Four digits of nearly all values are right with the first, and with the second
# the colours are, and three digits.
FINE_STEP = 4e-5
COARSE_STEP = 1e-3


@dataclass(frozen=True)
class Packed:
    """An array for the page's JSON, and what it takes of the page's budget."""

    fields: dict[str, Any]
    num_bytes: int  # before base64


def rounded(value: float, digits: int = 6) -> float | None:
    """As a page's script has a number: with so many digits, None where it is not known."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _deflated(data: bytes) -> bytes:
    """Measured on pictures of times that scatter: runs alone are found eight times faster than repeats, and make it no
    larger. Schedules and simulated times have repeats.
    """
    runs = zlib.compressobj(6, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_RLE)
    return min(runs.compress(data) + runs.flush(), zlib.compress(data, 1), key=len)


def packed_ints(values: IntArray | Int32Array) -> Packed:
    """Whole numbers from 0 to 65,535 (what is larger is cut), any shape."""
    small = np.clip(values, 0, 65_535).astype(np.uint16).ravel()
    planes = np.concatenate([(small & 0xFF).astype(np.uint8), (small >> 8).astype(np.uint8)])
    deflated = _deflated(planes.tobytes())
    return Packed({"data": base64.b64encode(deflated).decode("ascii")}, len(deflated))


def packed_times(times_ns: FloatArray | Float32Array, step: float) -> Packed:
    """Times in equal steps of their logarithm, NaN = none: time_ns = low * exp((code - 1) * step), 0 = none. The step
    is larger than asked for where the times reach too far for it.
    """
    there = np.isfinite(times_ns) & (times_ns > 0)
    codes = np.zeros(times_ns.shape, dtype=np.int64)
    low = 1.0
    if there.any():
        values = times_ns[there].astype(np.float64)
        low = float(values.min())
        step = max(step, math.log(float(values.max()) / low) / (LARGEST_CODE - 1))
        codes[there] = np.rint(np.log(values / low) / step).astype(np.int64) + 1
    packed = packed_ints(codes)
    return Packed({**packed.fields, "low": low, "step": step}, packed.num_bytes)

# SPDX-License-Identifier: Apache-2.0
"""The range of values that the colours of a matrix cover."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leadline.model import FloatArray

# High to low end of the colours at least, so that noise of a per cent does not look like a fault.
_LEAST_SPAN = 1.1
# A value within this factor of the range belongs to it.
NEAR = 1.5


@dataclass(frozen=True)
class ColourRange:
    """The stretch of values that the colour map is spread over; what lies outside gets a colour of its own."""

    low: float
    high: float
    logarithmic: bool
    num_below: int
    num_above: int


def colour_range(values: FloatArray) -> ColourRange:
    """A range that few values cannot stretch: 1 to 99 % (more is cut where there are few values), widened to all
    values that are near. Logarithmic where the high end is three times the low one or more.
    """
    if not values.size:
        return ColourRange(math.nan, math.nan, False, 0, 0)
    # Four values, the two directions of two pairs, must not stretch the range of a small matrix.
    cut = min(max(0.01, 4 / values.size), 0.25)
    low, high = (float(q) for q in np.quantile(values, [cut, 1 - cut]))
    near = min(max(NEAR, math.sqrt(high / low)), 3.0)
    low = float(values[values >= low / near].min())
    high = float(values[values <= high * near].max())
    if high / low < _LEAST_SPAN:
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(_LEAST_SPAN), middle * math.sqrt(_LEAST_SPAN)
    below, above = int(np.count_nonzero(values < low)), int(np.count_nonzero(values > high))
    return ColourRange(low, high, high / low >= 3, below, above)


def widened(span: ColourRange, low: float) -> ColourRange:
    """A range that begins at `low` where that is lower; NaN changes nothing."""
    if not low < span.low:
        return span
    return ColourRange(low, span.high, span.high / low >= 3, span.num_below, span.num_above)

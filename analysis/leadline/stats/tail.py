# SPDX-License-Identifier: Apache-2.0
"""Where the tail of many values ends, so that noise with a long tail is not taken for faults."""

from __future__ import annotations

import numpy as np

from leadline.model import FloatArray

# So many of the largest values may be faults; what lies behind twice as many is taken for the tail.
MOST_FAULTS = 200
# How far beyond the tail's own largest value one must lie: a guess, tried on tails that fall with the 2nd to 4th power.
_CLEAR_FACTOR = 1.5


def end_of_tail(values: FloatArray) -> float:
    """Above this no value is expected from the tail of the others: their logarithm is continued along the logarithm of
    the rank, from the 4000th largest value over the 400th to the largest (a straight line for a power law, and too far
    out for any lighter tail). NaN where there are fewer than 4 values; all must be positive.
    """
    if values.size < 4:
        return float("nan")
    near = min(2 * MOST_FAULTS, values.size // 4)
    far = min(10 * near, values.size)
    ordered = np.partition(values, [values.size - near, values.size - far])
    at_near, at_far = float(ordered[values.size - near]), float(ordered[values.size - far])
    slope = np.log(at_near / at_far) / np.log(far / near)
    return float(_CLEAR_FACTOR * at_near * near**slope)

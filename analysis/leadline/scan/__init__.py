# SPDX-License-Identifier: Apache-2.0
"""Matrices of ranks as pictures, and pairs that stand out in them."""

from leadline.scan.axis import Axis, AxisName, axis_of
from leadline.scan.picture import Grid, Picture, edge_for, picture_range
from leadline.scan.standout import FEWEST_PARTNERS, MOST_CIRCLES, SLOW_FACTOR, Cell, Standout, num_circled

__all__ = [
    "FEWEST_PARTNERS",
    "MOST_CIRCLES",
    "SLOW_FACTOR",
    "Axis",
    "AxisName",
    "Cell",
    "Grid",
    "Picture",
    "Standout",
    "axis_of",
    "edge_for",
    "num_circled",
    "picture_range",
]

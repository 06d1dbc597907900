# SPDX-License-Identifier: Apache-2.0
"""Passes over a whole matrix, however large: distributions, rows and columns, and reduced pictures."""

from leadline.scan.axis import Axis, AxisName, axis_of
from leadline.scan.found import Scan
from leadline.scan.messages import MessageScan, scan_messages
from leadline.scan.one_pass import pictures, scan
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
    "MessageScan",
    "Picture",
    "Scan",
    "Standout",
    "axis_of",
    "edge_for",
    "num_circled",
    "picture_range",
    "pictures",
    "scan",
    "scan_messages",
]

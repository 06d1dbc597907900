# SPDX-License-Identifier: Apache-2.0
"""Passes over a whole matrix, however large: distributions, rows and columns, and reduced pictures."""

from leadline.scan.axis import Axis, AxisName, axis_of
from leadline.scan.examples import Cell
from leadline.scan.found import Progress, Scan
from leadline.scan.messages import MessageScan, scan_messages
from leadline.scan.one_pass import pictures, scan
from leadline.scan.picture import Grid, Picture, edge_for, picture_range

__all__ = [
    "Axis",
    "AxisName",
    "Cell",
    "Grid",
    "MessageScan",
    "Picture",
    "Progress",
    "Scan",
    "axis_of",
    "edge_for",
    "picture_range",
    "pictures",
    "scan",
    "scan_messages",
]

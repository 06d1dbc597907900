# SPDX-License-Identifier: Apache-2.0
"""Passes over a whole matrix of a link test, however large: distributions, rows and columns, and reduced pictures."""

from leadline.link.scan.found import Scan
from leadline.link.scan.one_pass import pictures, scan

__all__ = [
    "Scan",
    "pictures",
    "scan",
]

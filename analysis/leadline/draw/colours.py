# SPDX-License-Identifier: Apache-2.0
"""The colours of a matrix, the same on the page, on the sheet and in the picture."""

from __future__ import annotations

from typing import Any

# Sixteen steps of viridis (van der Walt and Smith, 2015): perceptually uniform, and told apart by the colour-blind.
# The first is fast, the last slow.
MAP = (
    "#440154", "#481a6c", "#472f7d", "#414487", "#39568c", "#31688e", "#2a788e", "#23888e",
    "#1f988b", "#22a884", "#35b779", "#54c568", "#7ad151", "#a5db36", "#d2e21b", "#fde725",
)  # fmt: skip
ABOVE = "#e0102b"  # slower than the range
BELOW = "#a6dcff"  # faster
MISSING = "#d5d9dd"  # to be measured, and not
HATCH = "#8b949e"  # lines across missing cells
DIAGONAL = "#ffffff"
OUTSIDE = "#eef1f4"  # not in this test


def page_colours() -> dict[str, Any]:
    """All of them, as the page's script reads them."""
    return {"map": list(MAP), "above": ABOVE, "below": BELOW, "missing": MISSING, "hatch": HATCH,
            "diagonal": DIAGONAL, "outside": OUTSIDE}  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""The colours of a matrix, the same on the page, on the sheet and in the picture."""

from __future__ import annotations

from typing import Any

# Sixteen steps of viridis (van der Walt and Smith, 2015): perceptually uniform, also for the colour-blind.
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
# Of a time by its expected time, from the factor on: as expected, then one hue that darkens (ColorBrewer, Oranges).
FACTORS = ((0.0, "#b4c6d4"), (1.1, "#fdd0a2"), (1.5, "#fd8d3c"), (2.0, "#d94801"), (5.0, "#7f2704"))


def map_colour(share: float) -> str:
    """The colour of a share of the map, 0 fast and 1 slow, between its steps too."""
    at = min(max(share, 0.0), 1.0) * (len(MAP) - 1)
    step = min(int(at), len(MAP) - 2)
    ends = ([int(name[place : place + 2], 16) for place in (1, 3, 5)] for name in MAP[step : step + 2])
    mixed = (round(a + (at - step) * (b - a)) for a, b in zip(*ends, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def page_colours() -> dict[str, Any]:
    """All of them, as the page's script reads them."""
    return {"map": list(MAP), "above": ABOVE, "below": BELOW, "missing": MISSING, "hatch": HATCH,
            "diagonal": DIAGONAL, "outside": OUTSIDE, "factors": [list(one) for one in FACTORS]}  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""What stands out in a result: `link` judges hosts, ranks, links and pairs, `topology` hosts, ranks and messages."""

from leadline.analyse.link import (
    FEWEST_PAIRS_OF_LINK,
    LOAD_FACTOR,
    MOST_LINKS,
    MOST_STANDOUTS,
    HostLink,
    JudgedPair,
    Side,
    SliceAnalysis,
    Verdict,
    analyse,
)

__all__ = [
    "FEWEST_PAIRS_OF_LINK",
    "LOAD_FACTOR",
    "MOST_LINKS",
    "MOST_STANDOUTS",
    "HostLink",
    "JudgedPair",
    "Side",
    "SliceAnalysis",
    "Verdict",
    "analyse",
]

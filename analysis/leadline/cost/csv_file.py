# SPDX-License-Identifier: Apache-2.0
"""What a pattern costs, rank by rank, as CSV."""

from __future__ import annotations

from collections.abc import Iterator

from leadline.cost.model import PatternCost, Placement
from leadline.export.csv_table import row_text
from leadline.export.table import plain_name

HEADER = "rank,host,send_ns,receive_ns,placed_at_rank,placed_on_host\n"


def pattern_cost_csv(cost: PatternCost, placement: Placement | None) -> Iterator[str]:
    """The header, then a line for each rank: where it was measured, what all its messages take, and where the better
    placement has it; the last two are empty where there is none.
    """
    yield HEADER
    for rank in range(cost.num_ranks):
        place = int(placement.place_of_rank[rank]) if placement else None
        host = plain_name(cost.hosts[place]) if place is not None else None
        sums = float(cost.send_ns[rank]), float(cost.receive_ns[rank])
        yield row_text((rank, plain_name(cost.hosts[rank]), *sums, place, host))

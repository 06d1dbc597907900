# SPDX-License-Identifier: Apache-2.0
"""What `leadline cost` writes: a cost as JSON, rank by rank as CSV, the hosts of a placement."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from leadline.cost.model import PatternCost, Placement
from leadline.error import LeadlineError
from leadline.export.csv_table import row_text
from leadline.export.table import plain_name
from leadline.text_file import json_text, plain

BENCHMARK = "pattern-cost"
FORMAT_VERSION = 1
HEADER = "rank,host,send_ns,receive_ns,placed_at_rank,placed_on_host\n"


def cost_text(cost: PatternCost, placement: Placement | None, why_no_placement: str) -> str:
    """The JSON file's contents; numbers read back exactly, NaN is null."""
    values: dict[str, Any] = {"benchmark": BENCHMARK, "format_version": FORMAT_VERSION, "cost_ns": cost.cost_ns}
    values |= {one.name: getattr(cost, one.name) for one in dataclasses.fields(cost)}
    values["placement"] = placement and {
        **plain(placement),
        "host_of_rank": placed_hosts(cost, placement),
        "saving": placement.saving,
        "is_best": placement.is_best,
    }
    return json_text(values | {"why_no_placement": why_no_placement})


def hosts_text(cost: PatternCost, placement: Placement) -> str:
    """One host a line, for the ranks in their order. LeadlineError for a host whose name no line can hold."""
    for host in cost.hosts:
        if not host.isprintable() or not host or len(host.split()) > 1:
            raise LeadlineError("cannot write a list of hosts", f"{host!r} is no name of a host")
    return "".join(f"{host}\n" for host in placed_hosts(cost, placement))


def placed_hosts(cost: PatternCost, placement: Placement) -> list[str]:
    """[N]: the host on which each rank is to run."""
    return [cost.hosts[place] for place in placement.place_of_rank.tolist()]


def is_own_json(ends: str) -> bool:
    """Whether an older file, by its beginning, is one of these."""
    return f'"benchmark": "{BENCHMARK}"' in ends[:200]


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

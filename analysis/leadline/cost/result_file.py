# SPDX-License-Identifier: Apache-2.0
"""The cost of a pattern in files: JSON (docs/formats/pattern-cost.schema.json) and a list of hosts."""

from __future__ import annotations

import dataclasses
from typing import Any

from leadline.cost.model import PatternCost, Placement
from leadline.error import LeadlineError
from leadline.text_file import json_text, plain

BENCHMARK = "pattern-cost"
FORMAT_VERSION = 1


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

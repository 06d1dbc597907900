# SPDX-License-Identifier: Apache-2.0
"""What stands along both sides of a matrix: ranks as they are, ranks ordered by host, or hosts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from leadline.model import IntArray, RunResult


class AxisName(str, Enum):
    """The matrices that can be shown."""

    RANKS = "ranks"
    RANKS_BY_HOST = "ranks-by-host"
    HOSTS = "hosts"


@dataclass(frozen=True)
class Axis:
    """Every rank has a position; several ranks share one where positions are hosts."""

    name: AxisName
    position_of: IntArray  # [N], position of each rank
    num_positions: int


def axis_of(result: RunResult, name: AxisName) -> Axis:
    """An axis by its name."""
    host_of = result.host_index
    if name is AxisName.HOSTS:
        return Axis(name, host_of, len(result.hosts))
    position_of = np.arange(result.num_ranks, dtype=np.int64)
    if name is AxisName.RANKS_BY_HOST:
        position_of[np.argsort(host_of, kind="stable")] = np.arange(result.num_ranks)
    return Axis(name, position_of, result.num_ranks)

# SPDX-License-Identifier: Apache-2.0
"""Numbers from all ranks to all ranks, with their name, unit and hosts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.model.run import FloatArray, no_choice


@dataclass(frozen=True)
class LabelledArray:
    """Numbers of all pairs of ranks for one message size of one repeat, with what one must know to use them. NaN = not
    measured.
    """

    name: str  # "time_ns_median", "bandwidth_bytes_per_s", "count", "arrival_time_ns"
    unit: str  # "ns", "bytes/s", "1"
    dims: tuple[str, str]  # what rows and columns are: ("from_rank", "to_rank") or ("from_host", "to_host")
    values: FloatArray  # [len(hosts), len(hosts)], row = from
    hosts: tuple[str, ...]  # the host of each row, and of the column with the same number
    message_size_bytes: int
    repeat: int  # 0-based

    def by_host(self, reduction: str = "median") -> LabelledArray:
        """Hosts to hosts: of the measured pairs of two hosts the `median`, `mean`, `min` or `max`. Hosts in the order
        of their lowest ranks; the diagonal has the pairs inside a host.
        """
        if reduction not in _REDUCTIONS:
            raise no_choice("reduction", reduction, _REDUCTIONS)
        hosts = tuple(dict.fromkeys(self.hosts))
        index = {host: position for position, host in enumerate(hosts)}
        of_row = np.array([index[host] for host in self.hosts])
        members = [np.flatnonzero(of_row == position) for position in range(len(hosts))]
        values = np.full((len(hosts), len(hosts)), np.nan)
        for row, ranks in enumerate(members):
            for column, partners in enumerate(members):
                cells = self.values[np.ix_(ranks, partners)]
                measured = cells[np.isfinite(cells)]
                if measured.size:
                    values[row, column] = _REDUCTIONS[reduction](measured)
        return replace(self, dims=("from_host", "to_host"), values=values, hosts=hosts)

    def to_table(self) -> dict[str, NDArray[np.generic]]:
        """The measured pairs as columns of one length, row after row; `pandas.DataFrame(array.to_table())` takes them.
        Ranks and both hosts where rows are ranks, else both hosts, then the numbers under their name.
        """
        from_index, to_index = np.nonzero(np.isfinite(self.values))
        hosts = np.array(self.hosts)
        table: dict[str, NDArray[np.generic]] = {}
        if self.dims == ("from_rank", "to_rank"):
            table |= {"from_rank": from_index, "to_rank": to_index}
        numbers = self.values[from_index, to_index]
        return table | {"from_host": hosts[from_index], "to_host": hosts[to_index], self.name: numbers}


_REDUCTIONS: dict[str, Callable[[FloatArray], Any]] = {
    "median": np.median,
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
}

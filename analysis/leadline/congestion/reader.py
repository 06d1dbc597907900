# SPDX-License-Identifier: Apache-2.0
"""From an HDF5 result of the congestion test (docs/formats/hdf5.md) to a CongestionResult."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from leadline.benchmarks import load_as
from leadline.congestion.result import (
    TESTS,
    CongestionCell,
    CongestionResult,
    Factor,
    Impact,
    LoadRate,
    Times,
    VictimTest,
)
from leadline.error import printable_name
from leadline.model.run import FloatArray
from leadline.readers.contents import DamagedError, facts_of, real_of, text_of
from leadline.readers.hdf5_file import FileReader
from leadline.readers.hdf5_numbers import NumberReader

_TIMES = ("mean", "median", "p99", "p999", "max")


def load_congestion(path: str | os.PathLike[str]) -> CongestionResult:
    """As load(), for results of the congestion test: LeadlineError for one of another benchmark."""
    return load_as(path, CongestionResult)


class Reader(FileReader):
    """Reads all but the times of rounds, and checks that those are there."""

    def result(self) -> CongestionResult:
        """LeadlineError or a bad value for whatever is not one."""
        head = self._head()
        cells = self._cells()
        facts = facts_of(self._attributes("congestion"), CongestionResult)
        victims = np.asarray(self._array("congestion/victims", 1), dtype=np.int64)
        if victims.size and not 0 <= victims.min() <= victims.max() < len(head["ranks"]):
            raise self._damaged("/congestion/victims names a rank that is not there")
        shape = (len(cells), len(TESTS), facts["num_rounds"])
        kinds = {f"{state}_time_ns_{name}": "f" for state in ("alone", "loaded") for name in _TIMES}
        self._add_all("congestion/rounds", shape, kinds)
        num_buckets = self._shape("congestion/distribution/alone")[-1]
        self._add_all("congestion/distribution", (*shape[:2], num_buckets), {"alone": "iu", "loaded": "iu"})
        numbers = NumberReader(self._input, self._file, self._datasets)
        widths = {"rounds": shape[2], "distribution": num_buckets}

        def column(table: str, first: int, second: int) -> FloatArray:
            width = widths[table.partition("/")[0]]
            begin = (first * len(TESTS) + second) * width
            return numbers.times(f"congestion/{table}", begin, begin + width)

        return CongestionResult(
            **head,
            **facts,
            cells=cells,
            victims=victims,
            impacts=tuple(_impact(one) for one in _entries(head["summary"], "impacts")),
            loads=tuple(_load(one) for one in _entries(head["summary"], "loads")),
            column=column,
        )

    def _cells(self) -> tuple[CongestionCell, ...]:
        names = [printable_name(text_of(name)) for name in self._array("congestion/loads", 1)]
        loads = self._array("congestion/cell_load", 1).tolist()
        intensities = self._array("congestion/cell_intensity_percent", 1, len(loads)).tolist()
        if not loads or not all(-1 <= load < len(names) for load in loads):
            raise self._damaged("/congestion/cell_load names a load that is not there")
        return tuple(
            CongestionCell(index, names[load] if load >= 0 else "", int(intensity))
            for index, (load, intensity) in enumerate(zip(loads, intensities, strict=True))
        )


def _entries(summary: Mapping[str, object] | None, name: str) -> list[Mapping[str, Any]]:
    found = summary.get(name) if summary else None
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _times(entry: Mapping[str, Any]) -> Times:
    return Times(int(entry["num"]), *(real_of(entry[f"time_ns_{name}"]) for name in _TIMES))


def _factor(entry: Mapping[str, Any]) -> Factor:
    return Factor(*(real_of(entry[name]) for name in ("estimate", "low", "high")))


def _impact(entry: Mapping[str, Any]) -> Impact:
    try:
        test = VictimTest(entry["test"])
    except ValueError as error:
        raise DamagedError(f"/summary has the test {entry['test']}") from error
    return Impact(
        printable_name(str(entry["load"] or "")), int(entry["intensity_percent"]), test,
        printable_name(str(entry["shared"])), int(entry["num_rounds"]), _times(entry["alone"]), _times(entry["loaded"]),
        *(_factor(entry[name]) for name in ("mean", "median", "p99", "p999")),
    )  # fmt: skip


def _load(entry: Mapping[str, Any]) -> LoadRate:
    numbers = (real_of(entry[name]) for name in ("bytes_per_s", "alone_bytes_per_s", "fairness", "recovery_s"))
    return LoadRate(printable_name(str(entry["load"] or "")), int(entry["intensity_percent"]), *numbers)

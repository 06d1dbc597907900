# SPDX-License-Identifier: Apache-2.0
"""From an HDF5 result of the collective test (docs/formats/hdf5.md) to a CollectiveResult."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from leadline.benchmarks import load_as
from leadline.collective.result import CollectiveCell, CollectiveResult
from leadline.error import printable_name
from leadline.model.run import FloatArray
from leadline.readers.contents import facts_of, real_of, text_of
from leadline.readers.hdf5_file import FileReader
from leadline.readers.hdf5_numbers import NumberReader

_NUMBERS = tuple(one.name for one in dataclasses.fields(CollectiveCell))[3:]


def load_collective(path: str | os.PathLike[str]) -> CollectiveResult:
    """As load(), for results of the collective test: LeadlineError for one of another benchmark."""
    return load_as(path, CollectiveResult)


class Reader(FileReader):
    """Reads all but the times of batches, and checks that those are there."""

    def result(self) -> CollectiveResult:
        """LeadlineError or a bad value for whatever is not one."""
        head = self._head()
        operations = tuple(printable_name(text_of(name)) for name in self._array("collective/operations", 1))
        facts = facts_of(self._attributes("collective"), CollectiveResult)
        facts["algorithm"] = printable_name(facts["algorithm"])
        num_ranks, rounds = len(head["ranks"]), facts["num_rounds"]
        cells = (rounds, len(operations), len(head["message_sizes_bytes"]))
        self._add_all("collective/groups", (*cells, facts["num_groups"], facts["num_batches"]), {"time_ns": "f"})
        kinds = {f"time_ns_{name}": "f" for name in ("min", "median", "max")}
        self._add_all("collective/ranks", (*cells, num_ranks), kinds)
        membership = np.asarray(self._array("collective/membership/group", 2, rounds), dtype=np.int64)
        if membership.shape[1] != num_ranks or membership.min(initial=0) < 0:
            raise self._damaged("/collective/membership/group has impossible groups")
        numbers = NumberReader(self._input, self._file, self._datasets)
        widths = {"groups": facts["num_groups"] * facts["num_batches"], "ranks": num_ranks}

        def column(table: str, one: int, operation: int, size: int) -> FloatArray:
            width = widths[table.partition("/")[0]]
            begin = ((one * cells[1] + operation) * cells[2] + size) * width
            return numbers.times(f"collective/{table}", begin, begin + width)

        return CollectiveResult(
            **head,
            **facts,
            operations=operations,
            cells=tuple(_cell(one) for one in _entries(head["summary"])),
            membership=membership,
            column=column,
        )


def _entries(summary: Mapping[str, object] | None) -> list[Mapping[str, Any]]:
    found = summary.get("cells") if summary else None
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _cell(entry: Mapping[str, Any]) -> CollectiveCell:
    numbers = (real_of(entry[name]) for name in _NUMBERS)
    name = printable_name(str(entry["operation"]))
    return CollectiveCell(name, int(entry["message_size_bytes"]), int(entry["num"]), *numbers)

# SPDX-License-Identifier: Apache-2.0
"""A link test as other tools read it: its ordered pairs as columns, some rows at a time, and what stands out."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence

import numpy as np

from leadline.diagnosis import diagnosed, found_faults
from leadline.error import ExitStatus, LeadlineError
from leadline.export.table import ENDS, REPEAT, SIZE, Block, Table, Words, plain_name
from leadline.link.commands import chosen_parts
from leadline.link.result import LinkResult
from leadline.model import Column, FloatArray, FoundFault, IntArray, Progress, Slice, Symptom
from leadline.model.run import with_progress

# As text a cell takes about 700 bytes of memory.
_BLOCK_CELLS = 1 << 16

_PLACE_COLUMNS = (
    *ENDS,
    SIZE,
    REPEAT,
    Column("round", "1", "number of the round in which the pair meets, from 1; empty where the file does not say"),
)
_BANDWIDTH = Column("bandwidth_bytes_per_s", "bytes/s", "from the median; both directions where both send at once")


# Of the other columns the unit tells.
_KINDS = {"from": "int32", "to": "int32", "message_size_bytes": "uint64", "repeat": "int32", "round": "int64",
          "count": "uint32"}  # fmt: skip
_COLUMNS = ("number", "what", "list", "kind", "name", "symptom", "direction", "hosts", "ranks", "message_size_bytes",
            "repeat", "ratio", "ratio_low", "ratio_high", "share", "num_pairs", "num_found", "num_slices", "from", "to",
            "measured", "expected")  # fmt: skip
HEADER = "\t".join(_COLUMNS) + "\n"


def table_of(result: LinkResult, options: argparse.Namespace) -> tuple[Table[LinkResult], Sequence[Slice]]:
    """Whose pair it is, what the file has of it, and its bandwidth: a row for each ordered pair that the run was to
    measure, by from, then to; and the slices that it is of.
    """
    kinds = {column.name: "float64" for column in result.pair_columns} | _KINDS
    table = Table((*_PLACE_COLUMNS, *result.pair_columns, _BANDWIDTH), _blocks, kinds)
    return table, chosen_parts(result, options.message_size, options.repeat)


def _blocks(result: LinkResult, parts: Sequence[Slice], progress: Progress | None = None) -> Iterator[Block]:
    """The pairs of some slices, about _BLOCK_CELLS of them at a time (a row at least)."""
    names, host_of = [plain_name(host) for host in result.hosts], result.host_index
    cells_of_rank = result.num_ranks if result.read_pairs is None else max(result.provenance.num_rounds, 1)
    num_rows = max(_BLOCK_CELLS // cells_of_rank, 1)
    blocks = [(part, first) for part in parts for first in range(0, result.num_ranks, num_rows)]
    for part, first in with_progress(blocks, progress):
        from_rank, to_rank, values = _pairs(result, part, first, min(first + num_rows, result.num_ranks))
        yield (
            from_rank, to_rank, Words(host_of[from_rank], names), Words(host_of[to_rank], names),
            np.full(len(to_rank), part.message_size_bytes, dtype=np.uint64), np.full(len(to_rank), part.repeat + 1),
            *values.values(),
            np.asarray(result.bandwidth_bytes_per_s(values["time_ns_median"], part.message_size_bytes)),
        )  # fmt: skip


def _pairs(result: LinkResult, part: Slice, first: int, end: int) -> tuple[IntArray, IntArray, dict[str, FloatArray]]:
    """From, to, and the numbers of the round and of each pair column; NaN = not measured, or not known."""
    names = ("round", *(column.name for column in result.pair_columns))
    if result.read_pairs is not None:
        pairs = result.read_pairs(part, names, first, end)
        return pairs.from_rank, pairs.to_rank, {name: pairs.values[name] for name in names}
    to_measure = result.rows_to_measure(part, first, end)
    row, to_rank = np.nonzero(to_measure)
    values = {"round": np.full(len(row), np.nan)}
    for name in names if part.repeat in result.repeats_with_rounds else names[1:]:
        values[name] = result.read_rows(part, name, first, end)[to_measure]
    return row + first, to_rank, values


def bad_links_pieces(result: LinkResult, parts: Sequence[Slice]) -> Iterator[str]:
    """The header, then the faults of these slices in the order of `leadline diagnose`: a line for each, and one for
    each pair that it shows. Empty = does not apply, or not known. LeadlineError where nothing was diagnosed.
    """
    said = diagnosed(result, parts)
    if not said.found and result.num_ranks > 1:
        raise LeadlineError("cannot tell which links are bad", said.absent, status=ExitStatus.SOMETHING_MISSING)
    yield HEADER
    for number, one in enumerate(found_faults(said, parts), 1):
        for row in _rows(one):
            yield "\t".join((row | {"number": str(number)}).get(name, "") for name in _COLUMNS) + "\n"


def _rows(one: FoundFault) -> Iterator[dict[str, str]]:
    fault, part = one.fault, one.part
    yield {
        "what": "fault", "list": fault.listed_as.value, "kind": fault.component.kind.value,
        "name": plain_name(fault.name), "symptom": fault.symptom.value, "direction": fault.direction.value,
        "hosts": ",".join(plain_name(host) for host in fault.host_names), "ranks": ",".join(map(str, fault.ranks)),
        "message_size_bytes": str(part.message_size_bytes), "repeat": str(part.repeat + 1),
        "ratio": _number(fault.ratio, 3), "ratio_low": _number(fault.ratio_low, 3),
        "ratio_high": _number(fault.ratio_high, 3), "share": _number(fault.share, 3),
        "num_pairs": str(fault.num_pairs), "num_found": str(one.num_found), "num_slices": str(one.num_slices),
    }  # fmt: skip
    decimals = 3 if fault.symptom is Symptom.UNSTEADY else 1
    for pair in fault.pairs:
        yield {
            "what": "pair", "from": str(pair.from_rank), "to": str(pair.to_rank),
            "message_size_bytes": str(part.message_size_bytes), "repeat": str(part.repeat + 1),
            "measured": _number(pair.measured, decimals), "expected": _number(pair.expected, decimals),
        }  # fmt: skip


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if math.isfinite(value) else ""


# How each table of pairs begins.
TABLES: tuple[Table[LinkResult], ...] = (
    Table((*_PLACE_COLUMNS, Column("count", "1", "timed batches")), _blocks, _KINDS),
)

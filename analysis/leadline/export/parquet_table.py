# SPDX-License-Identifier: Apache-2.0
"""The tables of a result as Parquet, a row group at a time; columns know their units."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from leadline.error import ExitStatus, LeadlineError
from leadline.export.csv_table import Of, Table
from leadline.export.pairs import PairBlock, Progress, columns_of, pair_blocks, plain_name
from leadline.model import LinkResult, RunResult, Slice

# Bytes of the file's metadata under which what is known of the run stands, as JSON.
METADATA_KEY = b"leadline"

_BLOCK_CELLS = 1 << 19
_BLOCK_ROWS = 1 << 16
_WHOLE_NUMBERS = {"from": "int32", "to": "int32", "message_size_bytes": "uint64", "repeat": "int32", "round": "int64",
                  "count": "uint32"}  # fmt: skip


def expect_pyarrow() -> Any:
    """The library's modules, `(pyarrow, pyarrow.parquet)`; LeadlineError where it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise LeadlineError(
            "cannot write Parquet",
            "the Python package pyarrow is not installed",
            "Install it with: pip install 'leadline[parquet]'; or use --csv",
            ExitStatus.SOMETHING_MISSING,
        ) from error
    return pyarrow, pyarrow.parquet


def num_rows(path: Path) -> int:
    """Of a file that was written."""
    return int(expect_pyarrow()[1].read_metadata(path).num_rows)


def write_parquet(
    result: LinkResult, parts: Sequence[Slice], stream: BinaryIO, progress: Progress | None = None
) -> None:
    """All pairs of some slices; null = not measured, or not known."""
    arrow, parquet = expect_pyarrow()
    schema = _schema(arrow, result)
    codec = "zstd" if arrow.Codec.is_available("zstd") else "snappy"
    names = arrow.array([plain_name(host) for host in result.hosts], arrow.string())
    host_of = result.host_index.astype(np.int32)
    with parquet.ParquetWriter(stream, schema, compression=codec) as writer:
        for block in pair_blocks(result, parts, _BLOCK_CELLS, progress):
            writer.write_table(_table(arrow, schema, block, names, host_of))


def write_table_parquet(
    result: Of, sizes: Sequence[int], table: Table[Of], stream: BinaryIO, progress: Progress | None = None
) -> None:
    """A table of rows, of some message sizes; null = not measured."""
    arrow, parquet = expect_pyarrow()
    # A host, topology or pattern by its number, names once.
    kinds = {"1": arrow.int64(), "bytes": arrow.uint64(), "": arrow.dictionary(arrow.int32(), arrow.string())}
    fields = [
        arrow.field(column.name, kinds.get(column.unit, arrow.float64()),
                    metadata={"unit": column.unit, "description": column.meaning})
        for column in table.columns
    ]  # fmt: skip
    schema = arrow.schema(fields, metadata=_run_metadata(result))
    codec = "zstd" if arrow.Codec.is_available("zstd") else "snappy"
    with parquet.ParquetWriter(stream, schema, compression=codec) as writer:
        for rows in _gathered(table.rows(result, sizes, progress)):
            columns = zip(*rows, strict=True)
            arrays = [arrow.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def _gathered(pieces: Iterator[list[list[Any]]]) -> Iterator[list[list[Any]]]:
    """Rows in groups that are worth one in the file."""
    rows: list[list[Any]] = []
    for piece in pieces:
        rows += piece
        if len(rows) >= _BLOCK_ROWS:
            yield rows
            rows = []
    if rows:
        yield rows


def is_own_parquet(path: Path) -> bool:
    """Whether a file was written by write_parquet()."""
    arrow, parquet = expect_pyarrow()
    try:
        return METADATA_KEY in (parquet.read_schema(path).metadata or {})
    except (OSError, arrow.ArrowException):
        return False


def _schema(arrow: Any, result: LinkResult) -> Any:
    fields = []
    for column in columns_of(result):
        if column.name in _WHOLE_NUMBERS:
            kind = getattr(arrow, _WHOLE_NUMBERS[column.name])()
        else:
            kind = arrow.float64() if column.unit else arrow.dictionary(arrow.int32(), arrow.string())
        fields.append(arrow.field(column.name, kind, metadata={"unit": column.unit, "description": column.meaning}))
    metadata = _run_metadata(result, direction=result.provenance.direction)
    return arrow.schema(fields, metadata=metadata)


def _run_metadata(result: RunResult, **more: str) -> dict[bytes, bytes]:
    origin = result.provenance
    run = {
        "nonce": result.nonce, "complete": result.complete, "start_utc": origin.start_utc,
        "transport": origin.transport, "num_ranks": origin.num_ranks, "version": origin.version,
    }  # fmt: skip
    return {METADATA_KEY: json.dumps(run | more).encode()}


def _table(arrow: Any, schema: Any, block: PairBlock, names: Any, host_of: Any) -> Any:
    num = len(block.from_rank)
    whole = {
        "from": block.from_rank,
        "to": block.to_rank,
        "message_size_bytes": np.full(num, block.part.message_size_bytes, dtype=np.uint64),
        "repeat": np.full(num, block.part.repeat + 1),
    }
    columns = []
    for field in schema:
        if field.name in ("from_host", "to_host"):
            ranks = block.from_rank if field.name == "from_host" else block.to_rank
            columns.append(arrow.DictionaryArray.from_arrays(host_of[ranks], names))
        elif field.name in whole:
            columns.append(arrow.array(whole[field.name].astype(_WHOLE_NUMBERS[field.name])))
        else:
            columns.append(_with_nulls(arrow, block.values[field.name], field))
    return arrow.Table.from_arrays(columns, schema=schema)


def _with_nulls(arrow: Any, values: Any, field: Any) -> Any:
    missing = np.isnan(values)
    if field.name in _WHOLE_NUMBERS:
        values = np.where(missing, 0, values).astype(_WHOLE_NUMBERS[field.name])
    return arrow.array(values, mask=missing)

# SPDX-License-Identifier: Apache-2.0
"""Tables as Parquet, a row group at a time; columns know their units."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from leadline.error import ExitStatus, LeadlineError
from leadline.export.table import Of, Table, Values, Words, num_rows_of
from leadline.model import Progress, RunResult

# Bytes of the file's metadata under which what is known of the run stands, as JSON.
METADATA_KEY = b"leadline"

_GROUP_ROWS = 1 << 19


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
    result: Of, parts: Sequence[Any], table: Table[Of], stream: BinaryIO, progress: Progress | None = None
) -> None:
    """The rows of some parts of a result; null = not there."""
    arrow, parquet = expect_pyarrow()
    text = arrow.dictionary(arrow.int32(), arrow.string())
    fields = [
        arrow.field(column.name, text if kind == "text" else getattr(arrow, kind)(),
                    metadata={"unit": column.unit, "description": column.meaning})
        for column, kind in ((column, table.kind_of(column)) for column in table.columns)
    ]  # fmt: skip
    schema = arrow.schema(fields, metadata=_run_metadata(result))
    codec = "zstd" if arrow.Codec.is_available("zstd") else "snappy"
    with parquet.ParquetWriter(stream, schema, compression=codec) as writer:
        group: list[Any] = []
        for block in table.blocks(result, parts, progress):
            if num_rows_of(block):
                arrays = [_array(arrow, values, one.type) for values, one in zip(block, fields, strict=True)]
                group.append(arrow.Table.from_arrays(arrays, schema=schema))
            if sum(map(len, group)) >= _GROUP_ROWS:
                writer.write_table(arrow.concat_tables(group).unify_dictionaries())
                group = []
        if group:
            writer.write_table(arrow.concat_tables(group).unify_dictionaries())


def is_own_parquet(path: Path) -> bool:
    """Whether a file was written by write_parquet()."""
    arrow, parquet = expect_pyarrow()
    try:
        return METADATA_KEY in (parquet.read_schema(path).metadata or {})
    except (OSError, arrow.ArrowException):
        return False


def _run_metadata(result: RunResult) -> dict[bytes, bytes]:
    origin = result.provenance
    run = {
        "nonce": result.nonce, "complete": result.complete, "start_utc": origin.start_utc,
        "transport": origin.transport, "num_ranks": origin.num_ranks, "version": origin.version,
    }  # fmt: skip
    if hasattr(origin, "direction"):  # where the benchmark has one
        run["direction"] = origin.direction
    return {METADATA_KEY: json.dumps(run).encode()}


def _array(arrow: Any, values: Values, kind: Any) -> Any:
    if isinstance(values, Words):
        return arrow.DictionaryArray.from_arrays(
            values.number.astype(np.int32), arrow.array(values.words, arrow.string())
        )
    if not isinstance(values, np.ndarray):
        return arrow.array(values, kind, from_pandas=True)  # NaN is null
    missing = np.isnan(values) if values.dtype.kind == "f" else None
    if kind != arrow.float64():
        values = (values if missing is None else np.where(missing, 0, values)).astype(kind.to_pandas_dtype())
    return arrow.array(values, mask=missing)

# SPDX-License-Identifier: Apache-2.0
"""What `leadline export` does: a result as a table for other tools."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from leadline.cli.export import KINDS
from leadline.cli.options import STANDARD_OUTPUT, wrong
from leadline.cli.support import (
    ProgressLine,
    StepLog,
    Written,
    check_output,
    chosen_parts,
    chosen_sizes,
    expect_json_apart,
    left_out,
    replacing,
    say,
    say_written,
)
from leadline.export import bad_links, bisection, csv_table, io, pairs, parquet_table, topology
from leadline.export.csv_table import Of, Table
from leadline.model import BisectionResult, IoResult, LinkResult, TopologyResult
from leadline.readers import load
from leadline.text_file import utf8

# The pieces of a text, and what writes Parquet into a stream.
Tables = tuple[Callable[[], Iterable[str]], Callable[[BinaryIO], None]]

_ENDINGS = {"csv": ".csv", "parquet": ".parquet", "bad-links": ".bad-links.tsv"}


def _output_path(source: Path, kind: str, output: str | None) -> Path | None:
    """None = stdout."""
    if output == STANDARD_OUTPUT:
        if kind == "parquet":
            raise wrong("Parquet cannot be written to stdout", "Name a file with -o")
        return None
    if not output and source.is_dir():
        raise wrong(f"cannot read '{source}' (it is a folder)")
    path = Path(output) if output else source.with_suffix(_ENDINGS[kind])
    if path.exists() and source.exists() and path.samefile(source):
        raise wrong(f"cannot write '{path}' (it is the result itself)", "Name another file with -o")
    return path


def _link_tables(result: LinkResult, kind: str, options: argparse.Namespace, progress: ProgressLine) -> Tables:
    if options.channels:
        hint = "Every line is a pair already"
        raise wrong("--channels is for results of leadline topology and leadline bisection", hint)
    parts = chosen_parts(result, options.message_size, options.repeat)
    make = bad_links.bad_links_pieces if kind == "bad-links" else csv_table.csv_pieces
    return (
        partial(make, result, parts, progress),
        lambda stream: parquet_table.write_parquet(result, parts, stream, progress),
    )


def _expect_of_rows(kind: str, options: argparse.Namespace) -> None:
    """What results whose tables have rows of their own do not have."""
    if kind == "bad-links":
        raise wrong("--bad-links is for results of leadline link", "leadline report tells what stands out")
    if options.repeat is not None:
        raise wrong("--repeat is for results of leadline link", "The table has a column of that name")


def _row_tables(result: Of, table: Table[Of], options: argparse.Namespace, progress: ProgressLine) -> Tables:
    sizes = chosen_sizes(result, options.message_size)
    return (
        partial(csv_table.table_csv_pieces, result, sizes, table, progress),
        lambda stream: parquet_table.write_table_parquet(result, sizes, table, stream, progress),
    )


def _tables(
    result: LinkResult | TopologyResult | BisectionResult | IoResult, kind: str, options: argparse.Namespace,
    progress: ProgressLine,
) -> Tables:  # fmt: skip
    if options.ranks and not isinstance(result, IoResult):
        raise wrong("--ranks is for results of leadline io", "Leave it out")
    if isinstance(result, LinkResult):
        return _link_tables(result, kind, options, progress)
    _expect_of_rows(kind, options)
    if isinstance(result, IoResult):
        if options.channels:
            raise wrong("--channels is for results of leadline topology and leadline bisection", "Use --ranks")
        return _row_tables(result, io.table_of(result, options.ranks), options, progress)
    if isinstance(result, BisectionResult):
        return _row_tables(result, bisection.table_of(result, options.channels), options, progress)
    if options.channels and result.is_load:
        raise wrong("the result has no --channels", "It is of a load, in which no message is traced")
    return _row_tables(result, topology.table_of(result, options.channels), options, progress)


def _is_own(path: Path, kind: str, ends: str) -> bool:
    if kind == "parquet":
        return parquet_table.is_own_parquet(path)
    if kind == "csv":
        tables = (*topology.TABLES, *bisection.TABLES, *io.TABLES)
        headers = [csv_table.header_of(table.columns).rstrip() for table in tables]  # files may have more columns
        return ends.startswith((pairs.HEADER_BEGINNING, *headers))
    return ends.startswith(bad_links.HEADER)


class _Counted:
    """Bytes and lines of a text that goes where `put` puts it."""

    def __init__(self, put: Callable[[str], object]) -> None:
        self._put, self.num_bytes, self.num_lines = put, 0, 0

    def __call__(self, piece: str) -> None:
        self._put(piece)
        self.num_bytes += len(utf8(piece))
        self.num_lines += piece.count("\n")

    def written(self, name: str, kind: str) -> Written:
        return Written(name, "tsv" if kind == "bad-links" else kind, self.num_bytes, self.num_lines - 1)


def export(options: argparse.Namespace) -> None:
    """`leadline export`, with its options."""
    source = Path(options.result)
    kind = next(name for name in KINDS if getattr(options, name.replace("-", "_")))
    path = _output_path(source, kind, options.output)
    steps = StepLog("leadline export", options.verbose)
    if kind == "parquet":
        steps.tell(f"pyarrow {parquet_table.expect_pyarrow()[0].__version__} writes Parquet")
    expect_json_apart(options, path)
    with ProgressLine("writing the table", options.quiet) as progress:
        result = load(source)
        steps.opened(result)
        pieces, write_parquet = _tables(result, kind, options, progress)
        if path is None:
            text = _Counted(say)
            for piece in pieces():
                text(piece)
            written = text.written(STANDARD_OUTPUT, kind)
        else:
            check_output(path, options.overwrite, lambda ends: _is_own(path, kind, ends))
            with replacing(path) as stream:
                text = _Counted(lambda piece: stream.write(utf8(piece)))
                if kind == "parquet":
                    write_parquet(stream)
                else:
                    for piece in pieces():
                        text(piece)
            written = text.written(str(path), kind)
            if kind == "parquet":
                written = Written(str(path), kind, path.stat().st_size, parquet_table.num_rows(path))
    steps.done(f"wrote {written.num_rows} rows, {written.size_bytes} bytes")
    say_written(options, "export", [options.result], [written], left_out(options, result))

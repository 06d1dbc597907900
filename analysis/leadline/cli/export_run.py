# SPDX-License-Identifier: Apache-2.0
"""What `leadline export` does: a result as a table for other tools."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import cast

from leadline.benchmarks import BENCHMARKS, commands_of, export_of, load
from leadline.cli.export import KINDS
from leadline.cli.options import STANDARD_OUTPUT
from leadline.cli.support import (
    ProgressLine,
    StepLog,
    Written,
    check_output,
    expect_json_apart,
    expect_options,
    left_out,
    replacing,
    say,
    say_written,
)
from leadline.error import wrong
from leadline.export import parquet_table
from leadline.export.csv_table import csv_pieces, header_of
from leadline.link.export import HEADER, bad_links_pieces
from leadline.link.result import LinkResult
from leadline.text_file import utf8

# Options that not all results have, whose results do, and what else is to be said.
_HAVE = {
    "ranks": "of leadline io", "channels": "of leadline topology and leadline bisection",
    "bad_links": "of leadline link", "repeat": "of leadline link",
}  # fmt: skip
_HINTS = {
    "ranks": "Leave it out", "channels": "Leave it out", "bad_links": "leadline report tells what stands out",
    "repeat": "The table has a column of that name",
}  # fmt: skip
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


def _is_own(path: Path, kind: str, ends: str) -> bool:
    if kind == "parquet":
        return parquet_table.is_own_parquet(path)
    if kind == "csv":
        tables = [table for name in BENCHMARKS for table in export_of(name).TABLES]
        return ends.startswith(tuple(header_of(table.columns).rstrip() for table in tables))
    return ends.startswith(HEADER)


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
        commands = commands_of(result.benchmark)
        expect_options(options, _HAVE, commands.OPTIONS, _HINTS | dict(commands.HINTS))
        table, parts = export_of(result.benchmark).table_of(result, options)
        if kind == "bad-links":
            pieces = bad_links_pieces(cast(LinkResult, result), parts)
        else:
            pieces = csv_pieces(result, parts, table, progress)
        if path is None:
            text = _Counted(say)
            for piece in pieces:
                text(piece)
            written = text.written(STANDARD_OUTPUT, kind)
        else:
            check_output(path, options.overwrite, lambda ends: _is_own(path, kind, ends))
            with replacing(path) as stream:
                text = _Counted(lambda piece: stream.write(utf8(piece)))
                if kind == "parquet":
                    parquet_table.write_parquet(result, parts, table, stream, progress)
                else:
                    for piece in pieces:
                        text(piece)
            written = text.written(str(path), kind)
            if kind == "parquet":
                written = Written(str(path), kind, path.stat().st_size, parquet_table.num_rows(path))
    steps.done(f"wrote {written.num_rows} rows, {written.size_bytes} bytes")
    say_written(options, "export", [options.result], [written], left_out(options, result))

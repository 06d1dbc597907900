# SPDX-License-Identifier: Apache-2.0
"""What `leadline export` does: a result as a table for other tools."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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
from leadline.export.table import Table
from leadline.model import BisectionResult, IoResult, LinkResult, TopologyResult
from leadline.readers import load
from leadline.text_file import utf8

AnyResult = LinkResult | TopologyResult | BisectionResult | IoResult

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


def _parts(result: AnyResult, kind: str, options: argparse.Namespace) -> Sequence[Any]:
    """Of which the table has rows: slices of a link test, message sizes of others. What they do not have is refused."""
    if options.ranks and not isinstance(result, IoResult):
        raise wrong("--ranks is for results of leadline io", "Leave it out")
    if options.channels and isinstance(result, (LinkResult, IoResult)):
        hint = "Every line is a pair already" if isinstance(result, LinkResult) else "Use --ranks"
        raise wrong("--channels is for results of leadline topology and leadline bisection", hint)
    if isinstance(result, LinkResult):
        return chosen_parts(result, options.message_size, options.repeat)
    if kind == "bad-links":
        raise wrong("--bad-links is for results of leadline link", "leadline report tells what stands out")
    if options.repeat is not None:
        raise wrong("--repeat is for results of leadline link", "The table has a column of that name")
    if options.channels and isinstance(result, TopologyResult) and result.is_load:
        raise wrong("the result has no --channels", "It is of a load, in which no message is traced")
    return chosen_sizes(result, options.message_size)


def _table(result: AnyResult, options: argparse.Namespace) -> Table[Any]:
    if isinstance(result, LinkResult):
        return pairs.table_of(result)
    if isinstance(result, IoResult):
        return io.table_of(result, options.ranks)
    if isinstance(result, BisectionResult):
        return bisection.table_of(result, options.channels)
    return topology.table_of(result, options.channels)


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
        parts = _parts(result, kind, options)
        if kind == "bad-links" and isinstance(result, LinkResult):
            pieces = bad_links.bad_links_pieces(result, parts, progress)
        else:
            pieces = csv_table.csv_pieces(result, parts, _table(result, options), progress)
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
                    parquet_table.write_parquet(result, parts, _table(result, options), stream, progress)
                else:
                    for piece in pieces:
                        text(piece)
            written = text.written(str(path), kind)
            if kind == "parquet":
                written = Written(str(path), kind, path.stat().st_size, parquet_table.num_rows(path))
    steps.done(f"wrote {written.num_rows} rows, {written.size_bytes} bytes")
    say_written(options, "export", [options.result], [written], left_out(options, result))

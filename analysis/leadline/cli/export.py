# SPDX-License-Identifier: Apache-2.0
"""`leadline export`: a result as a table for other tools."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from leadline import __version__
from leadline.cli.support import (
    Once,
    Parser,
    ProgressLine,
    check_output,
    chosen_parts,
    chosen_sizes,
    ended,
    replacing,
    say,
    wrong,
)
from leadline.export import bad_links, bisection, csv_table, io, parquet_table, topology
from leadline.export.rows import Of, Table
from leadline.load import load
from leadline.model import BisectionResult, IoResult, Result, TopologyResult
from leadline.text_file import utf8

# The pieces of a text, and what writes Parquet into a stream.
Tables = tuple[Callable[[], Iterable[str]], Callable[[BinaryIO], None]]

_ENDINGS = {"csv": ".csv", "parquet": ".parquet", "bad-links": ".bad-links.tsv"}


def _export_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="leadline export",
        allow_abbrev=False,
        description="Writes a result of leadline link or LinkTest as a table for other tools. --csv and --parquet have "
        "one line for each ordered pair that the run was to measure: ranks, hosts, size, repeat, round, number of "
        "batches, times in ns, bandwidth in bytes/s; what was not measured is empty. --bad-links has what stands out: "
        "slow hosts, ranks and links, and slow pairs with the verdict of the second measurement. Of a result of "
        "leadline topology --csv and --parquet have one line for each topology, size and repeat: times, rates, slowest "
        "rank; with --channels one for each message of an exchange, with its time to arrival; of a load with "
        "--duration one for each of its points. Of a result of leadline bisection they have one line for each pattern; "
        "with --channels one for each connection of each pattern. Of a result of leadline io they have one line for "
        "each phase; with --ranks one for each rank in each phase.",
        epilog="Status: 0 fine, 2 wrong command line or no such file, 3 a permission or pyarrow is missing, 4 the file "
        "is not a readable result.",
    )
    parser.add_argument("result", metavar="RESULT", help="result file (HDF5 or SION)")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--csv", dest="kind", action="store_const", const="csv", help="the table as CSV with a header")
    kind.add_argument(
        "--parquet", dest="kind", action="store_const", const="parquet", help="the table as Parquet (needs pyarrow)"
    )
    kind.add_argument(
        "--bad-links", dest="kind", action="store_const", const="bad-links",
        help="link test: what stands out, with tabs between",
    )  # fmt: skip
    parser.add_argument(
        "--channels", action="store_true",
        help="topology test: one line for each message; bisection test: for each connection",
    )  # fmt: skip
    parser.add_argument("--ranks", action="store_true", help="parallel file test: one line for each rank")
    parser.add_argument(
        "-o",
        "--output",
        action=Once,
        metavar="FILE",
        help="the table to write (default: RESULT with .csv, .parquet or .bad-links.tsv; - = stdout, not for Parquet)",
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace FILE even where it is not an earlier table of the same kind"
    )
    parser.add_argument("--size", action=Once, metavar="BYTES", help="only this message size, such as 16MiB")
    parser.add_argument("--repeat", action=Once, metavar="NUMBER", help="link test: only this repeat; the first is 1")
    parser.add_argument("--version", action="version", version=f"leadline export {__version__}")
    return parser


def _output_path(source: Path, kind: str, output: str | None) -> Path | None:
    """None = stdout."""
    if output == "-":
        if kind == "parquet":
            raise wrong("Parquet cannot be written to stdout", "Name a file with -o")
        return None
    if not output and source.is_dir():
        raise wrong(f"cannot read '{source}' (it is a folder)")
    path = Path(output) if output else source.with_suffix(_ENDINGS[kind])
    if path.exists() and source.exists() and path.samefile(source):
        raise wrong(f"cannot write '{path}' (it is the result itself)", "Name another file with -o")
    return path


def _link_tables(result: Result, options: argparse.Namespace, progress: ProgressLine) -> Tables:
    if options.channels:
        hint = "Every line is a pair already"
        raise wrong("--channels is for results of leadline topology and leadline bisection", hint)
    parts = chosen_parts(result, options.size, options.repeat)
    make = bad_links.bad_links_pieces if options.kind == "bad-links" else csv_table.csv_pieces
    return (
        partial(make, result, parts, progress),
        lambda stream: parquet_table.write_parquet(result, parts, stream, progress),
    )


def _expect_of_rows(options: argparse.Namespace) -> None:
    """What results whose tables have rows of their own do not have."""
    if options.kind == "bad-links":
        raise wrong("--bad-links is for results of leadline link", "leadline report tells what stands out")
    if options.repeat is not None:
        raise wrong("--repeat is for results of leadline link", "The table has a column of that name")


def _row_tables(result: Of, table: Table[Of], options: argparse.Namespace, progress: ProgressLine) -> Tables:
    sizes = chosen_sizes(result, options.size)
    return (
        partial(csv_table.table_csv_pieces, result, sizes, table, progress),
        lambda stream: parquet_table.write_table_parquet(result, sizes, table, stream, progress),
    )


def _tables(
    result: Result | TopologyResult | BisectionResult | IoResult, options: argparse.Namespace, progress: ProgressLine
) -> Tables:
    if options.ranks and not isinstance(result, IoResult):
        raise wrong("--ranks is for results of leadline io", "Leave it out")
    if isinstance(result, Result):
        return _link_tables(result, options, progress)
    _expect_of_rows(options)
    if isinstance(result, IoResult):
        if options.channels:
            raise wrong("--channels is for results of leadline topology and leadline bisection", "Use --ranks")
        return _row_tables(result, io.table_of(options.ranks), options, progress)
    if isinstance(result, BisectionResult):
        return _row_tables(result, bisection.table_of(options.channels), options, progress)
    if options.channels and result.is_load:
        raise wrong("the result has no --channels", "It is of a load, in which no message is traced")
    return _row_tables(result, topology.table_of(result, options.channels), options, progress)


def _is_own(path: Path, kind: str, ends: str) -> bool:
    if kind == "parquet":
        return parquet_table.is_own_parquet(path)
    if kind == "csv":
        headers = [table.header for table in (*topology.TABLES, *bisection.TABLES, *io.TABLES)]
        return ends.startswith((csv_table.HEADER, *headers))
    return ends.startswith(bad_links.HEADER)


def _export(arguments: Sequence[str]) -> None:
    options = _export_parser().parse_args(arguments)
    source, kind = Path(options.result), options.kind
    path = _output_path(source, kind, options.output)
    if kind == "parquet":
        parquet_table.expect_pyarrow()
    progress = ProgressLine("writing the table")
    result = load(source)
    pieces, write_parquet = _tables(result, options, progress)
    if path:
        check_output(path, options.overwrite, lambda ends: _is_own(path, kind, ends))
    try:
        if path is None:
            for piece in pieces():
                say(piece)
            return
        with replacing(path) as stream:
            if kind == "parquet":
                write_parquet(stream)
            else:
                for piece in pieces():
                    stream.write(utf8(piece))
    finally:
        progress.end()
    say(f"{path}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline export RESULT`; the exit status is the return value."""
    return ended(_export, arguments)

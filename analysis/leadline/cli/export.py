# SPDX-License-Identifier: Apache-2.0
"""`leadline export`: a result as a table for other tools."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from leadline import __version__
from leadline.cli.support import Once, Parser, ProgressLine, check_output, chosen_parts, ended, replacing, say, wrong
from leadline.export import bad_links, csv_table, parquet_table
from leadline.load import load
from leadline.model import Result, Slice

_ENDINGS = {"csv": ".csv", "parquet": ".parquet", "bad-links": ".bad-links.tsv"}


def _export_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="leadline export",
        allow_abbrev=False,
        description="Writes a result of leadline link or LinkTest as a table for other tools. --csv and --parquet have "
        "one line for each ordered pair that the run was to measure: ranks, hosts, size, repeat, round, number of "
        "batches, times in ns, bandwidth in bytes/s; what was not measured is empty. --bad-links has what stands out: "
        "slow hosts, ranks and links, and slow pairs with the verdict of the second measurement.",
        epilog="Status: 0 fine, 2 wrong command line or no such file, 3 a permission or pyarrow is missing, 4 the file "
        "is not a readable result.",
    )
    parser.add_argument("result", metavar="RESULT", help="result file (HDF5 or SION)")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--csv", dest="kind", action="store_const", const="csv", help="all pairs, as CSV with a header")
    kind.add_argument(
        "--parquet", dest="kind", action="store_const", const="parquet", help="all pairs, as Parquet (needs pyarrow)"
    )
    kind.add_argument(
        "--bad-links", dest="kind", action="store_const", const="bad-links", help="what stands out, with tabs between"
    )
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
    parser.add_argument("--repeat", action=Once, metavar="NUMBER", help="only this repeat; the first is 1")
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


def _pieces(result: Result, parts: Sequence[Slice], kind: str, progress: ProgressLine) -> Iterable[str]:
    make = csv_table.csv_pieces if kind == "csv" else bad_links.bad_links_pieces
    return make(result, parts, progress)


def _is_own(path: Path, kind: str, ends: str) -> bool:
    if kind == "parquet":
        return parquet_table.is_own_parquet(path)
    return ends.startswith(csv_table.HEADER if kind == "csv" else bad_links.HEADER)


def _export(arguments: Sequence[str]) -> None:
    options = _export_parser().parse_args(arguments)
    source, kind = Path(options.result), options.kind
    path = _output_path(source, kind, options.output)
    if kind == "parquet":
        parquet_table.expect_pyarrow()
    result = load(source)
    parts = chosen_parts(result, options.size, options.repeat)
    if path:
        check_output(path, options.overwrite, lambda ends: _is_own(path, kind, ends))
    progress = ProgressLine("writing the table")
    try:
        if path is None:
            for piece in _pieces(result, parts, kind, progress):
                say(piece)
            return
        with replacing(path) as stream:
            if kind == "parquet":
                parquet_table.write_parquet(result, parts, stream, progress)
            else:
                for piece in _pieces(result, parts, kind, progress):
                    stream.write(piece.encode("utf-8"))
    finally:
        progress.end()
    say(f"{path}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline export RESULT`; the exit status is the return value."""
    return ended(_export, arguments)

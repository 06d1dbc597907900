# SPDX-License-Identifier: Apache-2.0
"""`leadline report`: a page, a sheet or a picture of a result."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from leadline import __version__
from leadline.cli.support import (
    Once,
    Parser,
    ProgressLine,
    check_output,
    chosen_parts,
    chosen_sizes,
    ended,
    say,
    write,
    wrong,
)
from leadline.compare import compared
from leadline.diagnose import diagnosed
from leadline.load import load
from leadline.model import BisectionResult, IoResult, Result, Slice, Statistic, TopologyResult
from leadline.model.simulation import SimulatedBisection
from leadline.report.bisection_page import render_bisection
from leadline.report.frame import is_own_report
from leadline.report.io_page import render_io
from leadline.report.page import render
from leadline.report.topology_page import render_topology
from leadline.simulate.result_file import load_simulation

_SHEETS = (".pdf", ".ps", ".png")
_PAGES = (".html", ".htm")


def _report_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="leadline report",
        allow_abbrev=False,
        description="Makes a report of a result of leadline link (what is at fault, the matrix, the histogram, the "
        "slowest pairs, hosts and ranks), leadline topology (rates over message size, when each message arrives, the "
        "slowest ranks), leadline bisection (the effective bisection bandwidth and its interval, distributions, slow "
        "hosts, ranks and connections, measured against simulated) or leadline io (rates, the timeline of ranks, "
        "latencies, the page cache, stragglers, wrong data), and how it was measured. The name of FILE says which: "
        ".html is a page that works offline and can be mailed, .pdf or .ps the same on one sheet of A4, .png the "
        "sheet of a topology or bisection test, or a picture of the matrix alone.",
        epilog="Status: 0 fine, 2 wrong command line or no such file, 3 a permission is missing, 4 the file is not a "
        "readable result.",
    )
    parser.add_argument("result", metavar="RESULT", help="result file")
    parser.add_argument(
        "-o",
        "--output",
        action=Once,
        metavar="FILE",
        help="what to write: .html, .pdf, .png or .ps (default: RESULT with .html; - = a page to stdout)",
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace FILE even where it is not an earlier report of leadline"
    )
    parser.add_argument(
        "--statistic",
        action=Once,
        choices=[statistic.value for statistic in Statistic],
        help="link test: what of each pair the matrix shows, on a page at first (default: median)",
    )
    parser.add_argument("--size", action=Once, metavar="BYTES", help="only this message size, such as 16MiB")
    parser.add_argument("--repeat", action=Once, metavar="NUMBER", help="link test: only this repeat; the first is 1")
    parser.add_argument(
        "--topology", action=Once, metavar="WORD",
        help="link test: what the hosts hang on, as of leadline diagnose: a file, a formula or pattern:REGEX over host "
        "names (default: what the run was told)",
    )  # fmt: skip
    parser.add_argument(
        "--baseline", action=Once, metavar="FILE",
        help="link test: an earlier result, with which this one is compared as by leadline compare",
    )  # fmt: skip
    parser.add_argument(
        "--simulated", action=Once, metavar="FILE",
        help="bisection test: what leadline simulate bisection --output wrote of the same patterns, beside it",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"leadline report {__version__}")
    return parser


def _output_path(result: Path, output: str | None) -> Path:
    if not output and result.is_dir():
        raise wrong(f"cannot read '{result}' (it is a folder)")
    path = Path(output) if output else result.with_suffix(".html")
    if path.suffix.lower() not in (*_PAGES, *_SHEETS):
        why = "a report is a page, a sheet or a picture, as the end of its name says"
        raise wrong(f"cannot write '{path}' ({why})", "End it in .html, .pdf, .png or .ps")
    return path


def _content(
    result: Result, parts: tuple[Slice, ...], path: Path | None, statistic: Statistic, topology: str | None,
    baseline: str | None,
) -> str | bytes:  # fmt: skip
    """The file's contents; drawing is loaded only where something is drawn."""
    found = diagnosed(result, parts, topology)
    changes = compared(baseline, result, parts, topology) if baseline is not None else None
    progress = ProgressLine("reading the result")
    try:
        if path is None or path.suffix.lower() in _PAGES:
            return render(result, parts, statistic, progress=progress, diagnosed=found, compared=changes)
        from leadline.report.sheet import analyses_for_sheet, write_sheet

        analyses = analyses_for_sheet(result, parts, progress)
        stream, num_not_begun = io.BytesIO(), len(parts) - len(analyses)
        kind = path.suffix.lower()[1:]
        write_sheet(result, analyses, stream, kind, statistic, num_not_begun, diagnosed=found, compared=changes)
        return stream.getvalue()
    finally:
        progress.end()


def _expect_no_effectless(options: argparse.Namespace, test: str, repeats: str) -> None:
    """Options that say nothing to a test that has no matrix of pairs."""
    for name in ("statistic", "repeat", "topology", "baseline"):
        if getattr(options, name) is not None:
            raise wrong(f"--{name} is for results of leadline link", f"A report of a {test} test has all {repeats}")


def _expect_no_simulation(options: argparse.Namespace) -> None:
    if options.simulated is not None:
        raise wrong("--simulated is for results of leadline bisection", "Leave it out")


def _topology_content(result: TopologyResult, sizes: tuple[int, ...], path: Path | None) -> str | bytes:
    progress = ProgressLine("reading the result")
    try:
        if path is None or path.suffix.lower() in _PAGES:
            return render_topology(result, sizes, progress)
        from leadline.report.topology_sheet import topology_sheet

        return topology_sheet(result, sizes, path.suffix.lower()[1:], progress)
    finally:
        progress.end()


def _bisection_content(
    result: BisectionResult, sizes: tuple[int, ...], simulated: SimulatedBisection | None, path: Path | None
) -> str | bytes:
    progress = ProgressLine("reading the result")
    try:
        if path is None or path.suffix.lower() in _PAGES:
            return render_bisection(result, sizes, simulated, progress)
        from leadline.report.bisection_sheet import bisection_sheet

        return bisection_sheet(result, sizes, path.suffix.lower()[1:], simulated, progress)
    finally:
        progress.end()


def _io_content(result: IoResult, path: Path | None) -> str | bytes:
    progress = ProgressLine("reading the result")
    try:
        if path is None or path.suffix.lower() in _PAGES:
            return render_io(result, progress)
        from leadline.report.io_sheet import io_sheet

        return io_sheet(result, path.suffix.lower()[1:], progress)
    finally:
        progress.end()


def _is_own(ends: str) -> bool:
    from leadline.report.paper import is_own_sheet

    return is_own_report(ends) or is_own_sheet(ends)


def _maker(
    result: Result | TopologyResult | BisectionResult | IoResult, options: argparse.Namespace, path: Path | None
) -> Callable[[], str | bytes]:
    """What makes the file's contents, once all options are checked."""
    if isinstance(result, BisectionResult):
        _expect_no_effectless(options, "bisection", "patterns")
        simulated = load_simulation(options.simulated) if options.simulated is not None else None
        return partial(_bisection_content, result, chosen_sizes(result, options.size), simulated, path)
    _expect_no_simulation(options)
    if isinstance(result, IoResult):
        _expect_no_effectless(options, "parallel file", "phases")
        if options.size is not None:
            raise wrong("--size is for results with message sizes", "A parallel file test has objects of one size")
        return partial(_io_content, result, path)
    if isinstance(result, TopologyResult):
        _expect_no_effectless(options, "topology", "repeats")
        return partial(_topology_content, result, chosen_sizes(result, options.size), path)
    parts = chosen_parts(result, options.size, options.repeat)
    if options.baseline is not None and path and path.suffix.lower() == ".png":
        raise wrong("--baseline says nothing in a picture of the matrix", "Write a page, .pdf or .ps")
    statistic = Statistic(options.statistic or Statistic.MEDIAN)
    return partial(_content, result, parts, path, statistic, options.topology, options.baseline)


def _report(arguments: Sequence[str]) -> None:
    options = _report_parser().parse_args(arguments)
    source = Path(options.result)
    path = None if options.output == "-" else _output_path(source, options.output)
    result = load(source)
    make = _maker(result, options, path)
    if path:
        check_output(path, options.overwrite, _is_own)
    content = make()
    if path:
        write(path, content)
        say(f"{path}\n")
    elif isinstance(content, str):
        say(content)


def main(arguments: Sequence[str] | None = None) -> int:
    """`leadline report RESULT`; the exit status is the return value."""
    return ended(_report, arguments)

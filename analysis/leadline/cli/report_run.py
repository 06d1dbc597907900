# SPDX-License-Identifier: Apache-2.0
"""What `leadline report` does: a page, a sheet or a picture of a result."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

from leadline.cli.options import STANDARD_OUTPUT, is_given, wrong
from leadline.cli.support import (
    ProgressLine,
    StepLog,
    Written,
    check_output,
    chosen_parts,
    chosen_sizes,
    expect_json_apart,
    left_out,
    say,
    say_written,
    write,
)
from leadline.compare import compared
from leadline.diagnosis import diagnosed
from leadline.model import BisectionResult, IoResult, LinkResult, Progress, Slice, Statistic, TopologyResult
from leadline.model.run import no_choice
from leadline.model.simulation import SimulatedBisection
from leadline.readers import load
from leadline.report.bisection_page import render_bisection
from leadline.report.frame import is_own_report
from leadline.report.io_page import render_io
from leadline.report.link_page import render
from leadline.report.topology_page import render_topology
from leadline.simulate.result_file import load_simulation
from leadline.text_file import utf8

_SHEETS = (".pdf", ".ps", ".png")
_PAGES = (".html", ".htm")


def _output_path(result: Path, output: str | None) -> Path:
    if not output and result.is_dir():
        raise wrong(f"cannot read '{result}' (it is a folder)")
    path = Path(output) if output else result.with_suffix(".html")
    if path.suffix.lower() not in (*_PAGES, *_SHEETS):
        why = "a report is a page, a sheet or a picture, as the end of its name says"
        raise wrong(f"cannot write '{path}' ({why})", "End it in .html, .pdf, .png or .ps")
    return path


def _is_page(path: Path | None) -> bool:
    """Whether a page is to be written, as to standard output."""
    return path is None or path.suffix.lower() in _PAGES


def _kind(path: Path) -> str:
    return path.suffix.lower()[1:]


def _link_content(
    result: LinkResult, parts: tuple[Slice, ...], options: argparse.Namespace, path: Path | None, steps: StepLog,
    progress: Progress,
) -> str | bytes:  # fmt: skip
    """The file's contents; drawing is loaded only where something is drawn."""
    statistic = Statistic(options.statistic)
    if statistic not in result.statistics:
        raise no_choice("statistic", options.statistic, (one.value for one in result.statistics))
    found = diagnosed(result, parts, options.topology)
    source = "the result" if found.found is result.diagnoses else "leadline diagnose"
    steps.done(f"no verdict: {found.absent}" if not found.found else f"the verdict is that of {source}")
    changes = compared(options.baseline, result, parts, options.topology) if options.baseline is not None else None
    if path is None or _is_page(path):
        return render(result, parts, statistic, progress=progress, diagnosed=found, compared=changes)
    from leadline.report.link_sheet import analyses_for_sheet, write_sheet

    analyses = analyses_for_sheet(result, parts, progress)
    stream, num_not_begun = io.BytesIO(), len(parts) - len(analyses)
    write_sheet(result, analyses, stream, _kind(path), statistic, num_not_begun, diagnosed=found, compared=changes)
    return stream.getvalue()


def _topology_content(
    result: TopologyResult, sizes: tuple[int, ...], path: Path | None, progress: Progress
) -> str | bytes:
    if path is None or _is_page(path):
        return render_topology(result, sizes, progress)
    from leadline.report.topology_sheet import topology_sheet

    return topology_sheet(result, sizes, _kind(path), progress)


def _bisection_content(
    result: BisectionResult, sizes: tuple[int, ...], simulated: SimulatedBisection | None, topology: str | None,
    path: Path | None, progress: Progress,
) -> str | bytes:  # fmt: skip
    if path is None or _is_page(path):
        return render_bisection(result, sizes, simulated, progress, topology)
    from leadline.report.bisection_sheet import bisection_sheet

    return bisection_sheet(result, sizes, _kind(path), simulated, progress, topology)


def _io_content(result: IoResult, path: Path | None, progress: Progress) -> str | bytes:
    if path is None or _is_page(path):
        return render_io(result, progress)
    from leadline.report.io_sheet import io_sheet

    return io_sheet(result, _kind(path), progress)


def _is_own(ends: str) -> bool:
    from leadline.report.paper import is_own_sheet

    return is_own_report(ends) or is_own_sheet(ends)


def _expect_no_link_options(
    options: argparse.Namespace, test: str, repeats: str, names: tuple[str, ...] = ("topology",)
) -> None:
    """Options that say nothing to a test that has no matrix of pairs."""
    for name in ("statistic", "repeat", *names, "baseline"):
        if is_given(options, name):
            raise wrong(f"--{name} is for results of leadline link", f"A report of a {test} test has all {repeats}")


def _maker(
    result: LinkResult | TopologyResult | BisectionResult | IoResult,
    options: argparse.Namespace,
    path: Path | None,
    steps: StepLog,
) -> Callable[[Progress], str | bytes]:
    """What makes the file's contents, once all options are checked."""
    if isinstance(result, BisectionResult):
        _expect_no_link_options(options, "bisection", "patterns", ())
        simulated = load_simulation(options.simulated) if options.simulated is not None else None
        sizes = chosen_sizes(result, options.message_size)
        return partial(_bisection_content, result, sizes, simulated, options.topology, path)
    if options.simulated is not None:
        raise wrong("--simulated is for results of leadline bisection", "Leave it out")
    if isinstance(result, IoResult):
        _expect_no_link_options(options, "parallel file", "phases")
        if options.message_size is not None:
            hint = "A parallel file test has objects of one size"
            raise wrong("--message-size is for results with message sizes", hint)
        return partial(_io_content, result, path)
    if isinstance(result, TopologyResult):
        _expect_no_link_options(options, "topology", "repeats")
        return partial(_topology_content, result, chosen_sizes(result, options.message_size), path)
    parts = chosen_parts(result, options.message_size, options.repeat)
    if options.baseline is not None and path and path.suffix.lower() == ".png":
        raise wrong("--baseline has no effect on a picture of the matrix", "Write a page, .pdf or .ps")
    return partial(_link_content, result, parts, options, path, steps)


def report(options: argparse.Namespace) -> None:
    """`leadline report`, with its options."""
    source = Path(options.result)
    path = None if options.output == STANDARD_OUTPUT else _output_path(source, options.output)
    steps = StepLog("leadline report", options.verbose)
    result = load(source)
    steps.opened(result)
    make = _maker(result, options, path, steps)
    if path:
        check_output(path, options.overwrite, _is_own)
    expect_json_apart(options, path)
    with ProgressLine("reading the result", options.quiet) as progress:
        content = make(progress)
    kind = "html" if path is None or _is_page(path) else _kind(path)
    steps.done(f"made it as {kind}")
    num_bytes = len(utf8(content)) if isinstance(content, str) else len(content)
    if path:
        write(path, content)
        steps.done(f"wrote {path}, {num_bytes} bytes")
    elif isinstance(content, str):
        say(content)
    read = [name for name in (options.result, options.baseline, options.simulated) if name is not None]
    written = Written(options.output or str(path), kind, num_bytes)
    say_written(options, "report", read, [written], left_out(options, result))

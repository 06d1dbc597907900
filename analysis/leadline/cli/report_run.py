# SPDX-License-Identifier: Apache-2.0
"""What `leadline report` does: a page, a sheet or a picture of a result."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from leadline.benchmarks import commands_of, load
from leadline.cli.options import STANDARD_OUTPUT
from leadline.cli.support import (
    ProgressLine,
    StepLog,
    Written,
    check_output,
    expect_json_apart,
    expect_options,
    left_out,
    say,
    say_written,
    write,
)
from leadline.error import wrong
from leadline.report.folder import FolderKind, kind_of, page_of, part_to_draw, parts_of, read_document
from leadline.report.frame import is_own_report
from leadline.text_file import utf8

_SHEETS = (".pdf", ".ps", ".png")
_PAGES = (".html", ".htm")
# Options that not all results have, and whose results do.
_HAVE = {
    "simulated": "of leadline bisection", "statistic": "of leadline link", "repeat": "of leadline link",
    "baseline": "of leadline link", "routes": "of leadline link", "message_size": "with message sizes",
}  # fmt: skip


def _output_path(result: Path, output: str | None) -> Path:
    if not output and result.is_dir():
        raise wrong(f"cannot read '{result}' (it is a folder)")
    path = Path(output) if output else result.with_suffix(".html")
    if path.suffix.lower() not in (*_PAGES, *_SHEETS):
        why = "a report is a page, a sheet or a picture, as the end of its name says"
        raise wrong(f"cannot write '{path}' ({why})", "End it in .html, .pdf, .png or .ps")
    return path


def _kind(path: Path | None) -> str:
    """What is written: html, also to standard output, pdf, png or ps."""
    return "html" if path is None or path.suffix.lower() in _PAGES else path.suffix.lower()[1:]


def _is_own(ends: str) -> bool:
    from leadline.report.paper import is_own_sheet

    return is_own_report(ends) or is_own_sheet(ends)


def _pictures(
    options: argparse.Namespace, kind: FolderKind, document: Mapping[str, object], parts: Mapping[str, Path]
) -> dict[str, bytes]:
    """A matrix for the page, as PNG by the name of its part."""
    name = part_to_draw(document, kind, parts)
    if name is None:
        return {}
    result = load(parts[name])
    make = commands_of(result.benchmark).report(result, options, "png", lambda _: None)
    with ProgressLine(f"drawing {name}", options.quiet) as progress:
        picture = make(progress)
    assert isinstance(picture, bytes), "a picture is no text"
    return {name: picture}


def _report_folder(options: argparse.Namespace, source: Path, kind: FolderKind) -> None:
    """The page of a check or an acceptance test, and beside it those of its parts."""
    hints = dict.fromkeys(_HAVE, f"Make a report of one part, as {source}/latency.h5")
    expect_options(options, _HAVE, set(), hints)
    document_path = source / kind.document if source.is_dir() else source
    folder = document_path.parent
    path = None if options.output == STANDARD_OUTPUT else Path(options.output or folder / "report.html")
    if _kind(path) != "html":
        raise wrong(f"cannot write '{path}' (a report of several runs is a page)", "End it in .html")
    steps = StepLog("leadline report", options.verbose)
    document = read_document(document_path, kind)
    steps.done(f"read {document_path}")
    # Beside the page lie those of the parts; on standard output it is alone.
    parts = parts_of(document, folder) if path else {}
    pages = {name: f"{name}.html" for name in parts}
    targets = {name: path.parent / pages[name] for name in parts} if path else {}
    for target in (path, *targets.values()):
        if target:
            check_output(target, options.overwrite, is_own_report)
    expect_json_apart(options, path)
    content = page_of(document_path, kind, document, pages, _pictures(options, kind, document, parts))
    written: list[Written] = []

    def put(target: Path, text: str) -> None:
        write(target, text)
        steps.done(f"wrote {target}")
        written.append(Written(str(target), "html", len(utf8(text))))

    if path is None:
        say(content)
        written.append(Written(STANDARD_OUTPUT, "html", len(utf8(content))))
    else:
        put(path, content)
    for name, file in parts.items():
        result = load(file)
        make = commands_of(result.benchmark).report(result, options, "html", steps.done)
        with ProgressLine(f"reading {name}", options.quiet) as progress:
            page = make(progress)
        assert isinstance(page, str), "a page is text"
        put(targets[name], page)
    read = [str(document_path), *(str(file) for file in parts.values())]
    say_written(options, "report", read, written, [])


def report(options: argparse.Namespace) -> None:
    """`leadline report`, with its options."""
    source = Path(options.result)
    kind = kind_of(source)
    if kind:
        _report_folder(options, source, kind)
    else:
        _report_result(options, source)


def _report_result(options: argparse.Namespace, source: Path) -> None:
    """A page, a sheet or a picture of a result."""
    path = None if options.output == STANDARD_OUTPUT else _output_path(source, options.output)
    steps = StepLog("leadline report", options.verbose)
    result = load(source)
    steps.opened(result)
    commands, kind = commands_of(result.benchmark), _kind(path)
    hints = dict.fromkeys(_HAVE, commands.HINTS.get("", "Leave it out")) | {"simulated": "Leave it out"}
    expect_options(options, _HAVE, commands.OPTIONS, hints | dict(commands.HINTS))
    if options.routes is not None and options.topology is None:
        raise wrong("--routes has no effect without --topology", "Name the output of ibnetdiscover with --topology")
    make = commands.report(result, options, kind, steps.done)
    if path:
        check_output(path, options.overwrite, _is_own)
    expect_json_apart(options, path)
    with ProgressLine("reading the result", options.quiet) as progress:
        content = make(progress)
    steps.done(f"made it as {kind}")
    num_bytes = len(utf8(content)) if isinstance(content, str) else len(content)
    if path:
        write(path, content)
        steps.done(f"wrote {path}, {num_bytes} bytes")
    elif isinstance(content, str):
        say(content)
    read = [name for name in (options.result, *options.baseline, options.routes, options.simulated) if name is not None]
    written = Written(options.output or str(path), kind, num_bytes)
    say_written(options, "report", read, [written], left_out(options, result))

# SPDX-License-Identifier: Apache-2.0
"""What the A4 sheets of all benchmarks have in common: head, tables, findings and foot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from leadline import __version__
from leadline.model import RunResult
from leadline.report.paper import (
    ALARM,
    FAINT,
    GREY,
    INK,
    PALE_ALARM,
    PALE_NOTE,
    RULE,
    Kind,
    Paper,
    drawing,
    line_mm,
    shortened,
    width_mm,
    wrapped,
)
from leadline.report.plot_frame import Area
from leadline.text import run as run_text

WIDTH_MM, HEIGHT_MM = 210.0, 297.0
MARGIN_X, TOP, BOTTOM, FOOT_HEIGHT = 14.0, 10.0, 10.0, 10.5
GAP = 3.0  # between sections
PIXELS_PER_INCH = 200.0
MOST_FAULTS = 4
ROW = 3.25  # mm from row to row of a table
HEADING = 4.6  # mm from the top of a section to its first line
SIZE = 6.5  # points of a table
_COLUMN_GAP = 1.6  # mm between columns, half of it on either side of a number
_MOST_FINDING_LINES = 6
_INSET = 1.6  # more before text behind a number


@dataclass(frozen=True)
class Column:
    """One of a table: its heading and width, numbers to the right; text behind a number keeps away from it."""

    title: str
    width: float
    is_number: bool = True


@dataclass(frozen=True)
class Line:
    """A row of a table; what is alarming is red."""

    cells: tuple[str, ...]
    is_alarming: bool = False


def heading(paper: Paper, x: float, y: float, width: float, text: str) -> float:
    """The name of a section over its rule; returns the baseline of the first line below."""
    paper.text(x, y + 2.4, shortened(text, width, 7.5, bold=True), 7.5, bold=True)
    paper.line([x, x + width], [y + 3.5, y + 3.5], colour=RULE, width=0.6)
    return y + HEADING + 2.2


def table(paper: Paper, x: float, y: float, columns: Sequence[Column], lines: Sequence[Line]) -> float:
    """Headings with their baseline at y, then the rows; cells that are too long lose their middle."""
    _row(paper, x, y, columns, [column.title for column in columns], GREY)
    for line in lines:
        y += ROW
        _row(paper, x, y, columns, line.cells, ALARM if line.is_alarming else INK)
    return y + ROW


def fitted(titles: Sequence[tuple[str, bool]], lines: Sequence[Line], width: float) -> list[Column]:
    """Columns (title, whether of numbers) as wide as what stands in them, with the room that is left shared out; where
    there is too little, the widest columns of text lose some.
    """
    wanted = []
    for place, (title, is_number) in enumerate(titles):
        inset = _INSET if place and titles[place - 1][1] and not is_number else 0.0
        texts = [title, *(line.cells[place] for line in lines)]
        wanted.append(max(width_mm(text, SIZE) for text in texts) + _COLUMN_GAP + inset + 0.1)
    of_text = [place for place, (_, is_number) in enumerate(titles) if not is_number]
    over = sum(wanted) - width
    while over > 0.01 and of_text:
        widest = max(wanted[place] for place in of_text)
        those = [place for place in of_text if wanted[place] > widest - 0.05]
        step = min(over / len(those), 0.5)
        for place in those:
            wanted[place] -= step
        over -= step * len(those)
    spare = max(-over, 0.0) / len(titles)
    return [Column(title, room + spare, is_number) for (title, is_number), room in zip(titles, wanted, strict=True)]


def _row(paper: Paper, x: float, y: float, columns: Sequence[Column], cells: Sequence[str], colour: str) -> None:
    is_behind_number = False
    for column, text in zip(columns, cells, strict=True):
        room = column.width - _COLUMN_GAP
        if column.is_number:
            paper.text(x + room + _COLUMN_GAP / 2, y, shortened(text, room, SIZE), SIZE, colour=colour, align="right")
        else:
            inset = _INSET if is_behind_number else 0.0
            paper.text(x + inset, y, shortened(text, room - inset, SIZE), SIZE, colour=colour)
        x, is_behind_number = x + column.width, column.is_number


@dataclass(frozen=True)
class Head:
    """The words at the top of a sheet."""

    benchmark: str
    title: str
    problems: tuple[str, ...]  # what is missing
    headline: tuple[str, ...]
    facts: Sequence[tuple[str, str]]
    faults: tuple[tuple[str, str, bool], ...] = ()  # each in a sentence, what to do, and whether it counts
    num_more_faults: int = 0
    remark: str = ""  # below the headline, in small type
    compared: str = ""  # what changed since an earlier result


def problems_of(result: RunResult, missing: str) -> tuple[str, ...]:
    """What is missing, and of a run that did not finish, why."""
    if result.complete:
        return (f"{missing}.",) if missing else ()
    return (f"Incomplete: {result.incomplete_reason}." + (f" {missing}." if missing else ""),)


def sheet_of(
    result: RunResult, kind: Kind | str, head: Head, no_findings: str, definitions: str,
    draw: Callable[[Paper, Area], None],
) -> bytes:  # fmt: skip
    """A sheet as a file's contents: its head, what `draw` puts into the room that is left, findings, and foot."""
    x, width, foot = MARGIN_X, WIDTH_MM - 2 * MARGIN_X, HEIGHT_MM - BOTTOM - FOOT_HEIGHT
    with drawing():
        paper = Paper(WIDTH_MM, HEIGHT_MM, PIXELS_PER_INCH)
        y = draw_head(paper, x, TOP, width, result, head) + GAP - 1.5
        below = findings_height(result, no_findings, width, _MOST_FINDING_LINES)
        draw(paper, Area(x, y, width, foot - below - GAP - y))
        draw_findings(paper, x, foot - below, width, result, no_findings, _MOST_FINDING_LINES)
        draw_foot(paper, x, foot, width, result, definitions)
        return paper.rendered(Kind(kind), f"{head.benchmark.capitalize()}: {head.title}", moment_of(result))


def draw_head(paper: Paper, x: float, y: float, width: float, result: RunResult, head: Head) -> float:
    """Title, banners, verdict and what was run; returns where the rest may begin."""
    paper.text(x, y + 2, f"leadline · {head.benchmark}", 7, colour=GREY)
    about = run_text.file_and_start(result)
    paper.text(x + width, y + 2, shortened(about, width * 0.7, 7), 7, colour=GREY, align="right")
    paper.text(x, y + 9, shortened(head.title, width, 15, bold=True), 15, bold=True)
    y += 12.2
    y = _draw_banners(paper, x, y, width, result, head)
    y += line_mm(9) * 0.8
    y = paper.paragraph(x, y, wrapped(" ".join(head.headline), width, 9, 4, bold=True), 9, bold=True)
    y = _draw_faults(paper, x, y, width, head)
    if head.compared:
        y = paper.paragraph(x, y, wrapped(head.compared, width, 7.5, 3), 7.5)
    num_warnings = sum(finding.severity == "warning" for finding in result.findings)
    if num_warnings:
        care = f"Read with care: {num_warnings} warning{'s' if num_warnings > 1 else ''} about the measurement, below."
        y = paper.paragraph(x, y, [care], 8, colour=ALARM)
    return _draw_facts(paper, x, y - 1.2, width, head.facts)


def _draw_faults(paper: Paper, x: float, y: float, width: float, head: Head) -> float:
    """A line each, or two with what to do; returns where the next line would be."""
    if head.remark:
        y = paper.paragraph(x, y, wrapped(head.remark, width, SIZE, 2), SIZE, colour=GREY)
    for index, (sentence, advice, counts) in enumerate(head.faults):
        paper.box(x, y - 2.5, 3.2, 3.2, fill=ALARM if counts else GREY)
        if counts:
            paper.text(x + 1.6, y, str(index + 1), 7, colour="white", bold=True, align="center")
        y = paper.paragraph(x + 4.8, y, [shortened(sentence, width - 4.8, 7.5, bold=True)], 7.5, bold=True)
        if advice:
            text = shortened(f"{advice}.", width - 4.8, SIZE)
            y = paper.paragraph(x + 4.8, y - 0.3, [text], SIZE, colour=GREY) + 0.4
    if head.num_more_faults:
        text = f"and {head.num_more_faults:,} more, which leadline diagnose lists"
        y = paper.paragraph(x + 4.8, y, [text], SIZE, colour=GREY)
    return y


def _draw_banners(paper: Paper, x: float, y: float, width: float, result: RunResult, head: Head) -> float:
    texts = [(text, PALE_ALARM, ALARM) for text in head.problems]
    if result.provenance.simulated:
        texts.append(("Simulated: the times come from a model, not from hardware.", PALE_NOTE, INK))
    for text, fill, colour in texts:
        lines = wrapped(text, width - 6, 8, 2)
        height = len(lines) * line_mm(8) + 1.6
        paper.box(x, y, width, height, fill=fill)
        paper.box(x, y, 0.8, height, fill=colour)
        paper.paragraph(x + 3, y + 3.4, lines, 8, colour=colour)
        y += height + 1.2
    return y


def _draw_facts(paper: Paper, x: float, y: float, width: float, facts: Sequence[tuple[str, str]]) -> float:
    """In two columns, the long ones over both."""
    label, gap = 21.0, 4.0
    column = (width - gap) / 2
    paper.line([x, x + width], [y, y], colour=RULE, width=0.6)
    y += 3.4
    narrow = []
    for name, value in facts:
        if name == "command" or width_mm(value, SIZE) > column - label:
            paper.text(x, y, name, SIZE, colour=GREY)
            most_lines = 2 if name == "command" else 1
            y = paper.paragraph(x + label, y, wrapped(value, width - label, SIZE, most_lines), SIZE)
        else:
            narrow.append((name, value))
    half = (len(narrow) + 1) // 2
    for index, (name, value) in enumerate(narrow):
        left, at = x + (column + gap) * (index >= half), y + (index % half) * line_mm(SIZE)
        paper.text(left, at, name, SIZE, colour=GREY)
        paper.text(left + label, at, shortened(value, column - label, SIZE), SIZE)
    return y + half * line_mm(SIZE)


def _finding_lines(result: RunResult, width: float, most: int) -> list[tuple[list[str], bool]]:
    """The first findings, wrapped, with whether each is a warning; in at most so many lines."""
    found: list[tuple[list[str], bool]] = []
    for finding in result.findings:
        said, why, advice = (text.strip().rstrip(".") for text in (finding.message, finding.evidence, finding.advice))
        text = f"{said}: {why}." if why else f"{said}."
        text += f" {advice}." if advice else ""
        lines = wrapped(text, width - 3, SIZE, 4)
        if sum(len(others) for others, _ in found) + len(lines) > most:
            break
        found.append((lines, finding.severity == "warning"))
    return found


def findings_height(result: RunResult, no_findings: str, width: float, most: int) -> float:
    """mm that draw_findings takes."""
    found = [lines for lines, _ in _finding_lines(result, width, most)] or [wrapped(no_findings, width, SIZE, 3)]
    has_more = len(found) < len(result.findings)
    return HEADING + 2.2 + line_mm(SIZE) * (sum(len(lines) for lines in found) + has_more) + 0.8 * len(found)


def draw_findings(
    paper: Paper, x: float, y: float, width: float, result: RunResult, no_findings: str, most: int
) -> None:
    """What the run itself found, in at most so many lines; `no_findings` says why there are none."""
    y = heading(paper, x, y, width, "Findings of the run")
    if not result.findings:
        paper.paragraph(x, y, wrapped(no_findings, width, SIZE, 3), SIZE, colour=GREY)
    found = _finding_lines(result, width, most)
    for lines, is_warning in found:
        paper.box(x, y - 2.1, 0.8, len(lines) * line_mm(SIZE) - 0.3, fill=ALARM if is_warning else FAINT)
        y = paper.paragraph(x + 3, y, lines, SIZE) + 0.8
    if len(found) < len(result.findings):
        paper.text(x, y, f"and {len(result.findings) - len(found):,} more", SIZE, colour=GREY)


def draw_foot(paper: Paper, x: float, y: float, width: float, result: RunResult, definitions: str) -> None:
    """Definitions in short, and where the sheet comes from."""
    paper.line([x, x + width], [y, y], colour=RULE, width=0.6)
    y = paper.paragraph(x, y + 2.9, wrapped(definitions, width, 6, 2), 6, colour=GREY)
    made = f"Made by leadline report {__version__} from {run_text.file_text(result)}."
    paper.text(x, y, shortened(made, width, 6), 6, colour=GREY)


def moment_of(result: RunResult) -> datetime | None:
    """When the run began, where the file tells it."""
    return run_text.moment(result.provenance.start_utc)

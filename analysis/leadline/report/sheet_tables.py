# SPDX-License-Identifier: Apache-2.0
"""The words and tables of the sheet: title, verdict, what was run, classes, retested pairs, hosts, findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leadline import __version__, words
from leadline.analyse import SLOW_FACTOR, SliceAnalysis
from leadline.diagnosis import Diagnosed
from leadline.model import Comparison, LinkResult, RunResult
from leadline.report.faults import sentence_of
from leadline.report.matrix_image import Matrix, draw_legend_mark, legend, short_names
from leadline.report.paper import (
    ALARM,
    FAINT,
    GREY,
    INK,
    PALE_ALARM,
    PALE_NOTE,
    RULE,
    Paper,
    line_mm,
    shortened,
    width_mm,
    wrapped,
)

MOST_HOSTS = 8
MOST_FAULTS = 4
ROW = 3.25  # mm from row to row of a table
HEADING = 4.6  # mm from the top of a section to its first line
SIZE = 6.5  # points of a table
_GAP = 1.6  # mm between columns, half of it on either side of a number
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
        wanted.append(max(width_mm(text, SIZE) for text in texts) + _GAP + inset + 0.1)
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
        room = column.width - _GAP
        if column.is_number:
            paper.text(x + room + _GAP / 2, y, shortened(text, room, SIZE), SIZE, colour=colour, align="right")
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
    faults: tuple[tuple[str, str], ...] = ()  # each in a sentence, and what to do
    num_more_faults: int = 0
    remark: str = ""  # below the headline, in small type
    compared: str = ""  # what changed since an earlier result


def head_of(
    result: LinkResult, analyses: list[SliceAnalysis], num_not_begun: int, diagnosed: Diagnosed,
    compared: Comparison | None = None,
) -> Head:  # fmt: skip
    """That of a link test."""
    lost = words.missing(result, analyses)
    problems = (f"{lost}.",) if lost else ()
    if not result.complete:
        begun = f" Of the sizes and repeats, {num_not_begun} had not begun." if num_not_begun else ""
        problems = (f"Incomplete: {result.incomplete_reason}." + (f" {lost}." if lost else "") + begun,)
    headline = tuple(words.verdict(result, analyses, diagnosed))
    found = words.faults_of(analyses, diagnosed) if words.is_diagnosed(analyses, diagnosed) else []
    faults = tuple((sentence_of(one), one.fault.advice) for one in found[:MOST_FAULTS])
    return Head(
        "link test", words.title(result, analyses), problems, headline, words.run_facts(result), faults,
        len(found) - len(faults), words.without_diagnosis(analyses, diagnosed),
        " ".join((*words.compared_verdict(compared), *words.compared_notes(compared))) if compared else "",
    )  # fmt: skip


def draw_head(paper: Paper, x: float, y: float, width: float, result: RunResult, head: Head) -> float:
    """Title, banners, verdict and what was run; returns where the rest may begin."""
    paper.text(x, y + 2, f"leadline · {head.benchmark}", 7, colour=GREY)
    about = words.file_and_start(result)
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
    for index, (sentence, advice) in enumerate(head.faults):
        paper.box(x, y - 2.5, 3.2, 3.2, fill=ALARM)
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


def draw_legend(paper: Paper, x: float, y: float, width: float, matrix: Matrix) -> float:
    """A mark and its meaning on each line; returns where the next line would be."""
    for mark, text in legend(matrix):
        draw_legend_mark(paper, x, y, mark)
        paper.text(x + 4.6 * bool(mark), y, shortened(text, width - 4.6 * bool(mark), SIZE), SIZE, colour=GREY)
        y += 3.5
    return y


def classes_height(tables: dict[str, Any]) -> float:
    """mm that draw_classes takes."""
    return HEADING + 2.2 + ROW * (1 + len(tables["rows"]) + len(tables["together"]))


def draw_classes(paper: Paper, x: float, y: float, width: float, tables: dict[str, Any]) -> None:
    """The distribution of all pairs and of each class, and what was measured of many pairs together."""
    unit = tables["unit"]
    y = heading(paper, x, y, width, f"Pairs: time of a message in {unit}")
    titles = ("pairs", "min", "5 %", "median", "95 % interval", "mean", "95 %", "99 %", "max",
              f"bandwidth, {tables['bandwidth_unit']}")  # fmt: skip
    parts = (17, 13, 13, 14, 24, 14, 14, 14, 15, 24)
    first = 22.0
    share = (width - first) / sum(parts)
    columns = [Column("class", first, False), *(Column(t, w * share) for t, w in zip(titles, parts, strict=True))]
    names = ("min", "p05", "median", "interval", "mean", "p95", "p99", "max", "bandwidth")
    lines = [Line((row["name"], f"{row['num_pairs']:,}", *(row[name] for name in names))) for row in tables["rows"]]
    y = table(paper, x, y, columns, lines)
    for row in tables["together"]:
        values = (
            f"{row['min']} to {row['max']} {row['unit']}, mean {row['mean']}, over {row['over']} with {row['size']}"
        )
        paper.text(x, y, row["name"], SIZE)
        paper.text(x + 36, y, shortened(values, width - 36, SIZE), SIZE)
        y += ROW


def draw_retests(
    paper: Paper, x: float, y: float, width: float, result: LinkResult, tables: dict[str, Any], most: int
) -> None:
    """The slowest pairs, in company and alone, at most so many."""
    y = heading(paper, x, y, width, f"The slowest pairs, measured again alone ({tables['unit']})")
    if not tables["pairs"]:
        text = "None was measured again" + ("." if result.complete else ": the run did not come so far.")
        paper.text(x, y, text, SIZE, colour=GREY)
        return
    names = dict(zip(result.hosts(), short_names(result.hosts()), strict=True))
    rest = width - 84
    columns = [
        Column("from", 10), Column("host", rest / 2, False), Column("to", 10), Column("host", rest / 2, False),
        Column("in company", 15), Column("alone", 12), Column("usual", 12), Column("verdict", 25, False),
    ]  # fmt: skip
    lines = [
        Line((str(row["from"]), names[row["from_host"]], str(row["to"]), names[row["to_host"]], row["time"],
              row["again"], row["usual"], row["verdict"]), row["alarming"])
        for row in tables["pairs"][:most]
    ]  # fmt: skip
    y = table(paper, x, y, columns, lines)
    num_more = len(tables["pairs"]) - most + tables["num_pairs_left_out"]
    if num_more > 0:
        paper.text(x, y, f"and {num_more:,} more", SIZE, colour=GREY)


def retests_height(tables: dict[str, Any], most: int) -> float:
    """mm that draw_retests takes."""
    num_pairs = len(tables["pairs"])
    num_rows = min(num_pairs, most) + (num_pairs > most) + (num_pairs > 0)
    return HEADING + 2.2 + ROW * max(num_rows, 1)


def hosts_height(result: LinkResult) -> float:
    """mm that draw_hosts takes."""
    num_hosts = len(result.hosts())
    return HEADING + 2.2 + ROW * (2 + min(num_hosts if num_hosts > 1 else result.num_ranks, MOST_HOSTS))


def legend_height(matrix: Matrix) -> float:
    """mm that draw_legend takes, with its heading."""
    return HEADING + 2.2 + 3.5 * len(legend(matrix))


def draw_hosts(paper: Paper, x: float, y: float, width: float, result: LinkResult, analysis: SliceAnalysis) -> None:
    """The slowest hosts as senders and receivers, times what is usual; ranks where there is one host only."""
    are_hosts = len(result.hosts()) > 1
    sides = analysis.hosts if are_hosts else analysis.ranks
    names = short_names(result.hosts()) if are_hosts else tuple(f"rank {rank}" for rank in range(result.num_ranks))
    y = heading(paper, x, y, width, "Slowest hosts" if are_hosts else "Slowest ranks")
    columns = [Column("host" if are_hosts else "rank", width - 26, False), Column("to others", 13), Column("from", 13)]
    slow = analysis.slow_hosts if are_hosts else analysis.slow_ranks
    slowest = sorted(sides, key=lambda side: -side.ratio)[:MOST_HOSTS]
    lines = [
        Line((names[side.index], words.ratio_text(side.from_ratio), words.ratio_text(side.to_ratio)),
             side.index in slow if analysis.is_diagnosed else side.is_judged and side.ratio >= SLOW_FACTOR)
        for side in slowest
    ]  # fmt: skip
    y = table(paper, x, y, columns, lines)
    note = "times usual, of the middle " + ("host" if are_hosts else "rank")
    paper.text(x, y, shortened(note, width, SIZE), SIZE, colour=GREY)


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


def definitions_of(result: LinkResult, analysis: SliceAnalysis) -> str:
    """What the numbers of a link test's sheet are, in short."""
    ways = {
        "semidirectional": "half a round trip", "unidirectional": "a stream of messages by their number",
        "bidirectional": "both sides send at once",
    }  # fmt: skip
    slow = "" if analysis.is_diagnosed else f" Slow: {SLOW_FACTOR} × usual or more."
    return (
        f"Row = sender, column = receiver. Time of a message ({result.provenance.direction}): "
        f"{ways.get(result.provenance.direction, 'as measured')}; of a pair the median of its batches. Usual: median "
        f"of the pairs of its class.{slow} 95 % interval: of the median, from the "
        "binomial distribution. 1 MiB = 1,048,576 bytes. Every number is defined in docs/metrics.md."
    )


def draw_foot(paper: Paper, x: float, y: float, width: float, result: RunResult, definitions: str) -> None:
    """Definitions in short, and where the sheet comes from."""
    paper.line([x, x + width], [y, y], colour=RULE, width=0.6)
    y = paper.paragraph(x, y + 2.9, wrapped(definitions, width, 6, 2), 6, colour=GREY)
    made = f"Made by leadline report {__version__} from {words.file_text(result)}."
    paper.text(x, y, shortened(made, width, 6), 6, colour=GREY)

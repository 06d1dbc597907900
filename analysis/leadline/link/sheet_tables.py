# SPDX-License-Identifier: Apache-2.0
"""The head and the tables of a link test's sheet: verdict, classes, retested pairs, hosts, legend."""

from __future__ import annotations

from typing import Any

from leadline.diagnosis import Diagnosed
from leadline.link import comparison as comparison_text
from leadline.link import text as link_text
from leadline.link.analysis import SliceAnalysis
from leadline.link.compare import Comparison
from leadline.link.matrix_image import Matrix, draw_legend_mark, legend, short_names
from leadline.link.result import LinkResult
from leadline.link.tables import SHOWN_NUMBERS
from leadline.report.paper import (
    GREY,
    Paper,
    shortened,
)
from leadline.report.sheet import HEADING, MOST_FAULTS, ROW, SIZE, Column, Head, Line, heading, table
from leadline.scan import SLOW_FACTOR
from leadline.text import run as run_text
from leadline.text.diagnosis import fault_sentence

MOST_HOSTS = 8


def head_of(
    result: LinkResult, analyses: list[SliceAnalysis], num_not_begun: int, diagnosed: Diagnosed,
    compared: Comparison | None = None,
) -> Head:  # fmt: skip
    """That of a link test."""
    lost = link_text.missing(result, analyses)
    problems = (f"{lost}.",) if lost else ()
    if not result.complete:
        begun = f" Of the sizes and repeats, {num_not_begun} had not begun." if num_not_begun else ""
        problems = (f"Incomplete: {result.incomplete_reason}." + (f" {lost}." if lost else "") + begun,)
    headline = tuple(link_text.verdict(result, analyses, diagnosed))
    found = link_text.faults_of(analyses, diagnosed) if link_text.is_diagnosed(analyses, diagnosed) else []
    faults = tuple((fault_sentence(one), one.fault.advice, one.fault.counts) for one in found[:MOST_FAULTS])
    return Head(
        "link test", link_text.title(result, analyses), problems, headline, link_text.run_facts(result), faults,
        len(found) - len(faults), link_text.without_diagnosis(analyses, diagnosed),
        _what_changed(compared) if compared else "",
    )  # fmt: skip


def _what_changed(compared: Comparison) -> str:
    return " ".join((*comparison_text.compared_verdict(compared), *comparison_text.compared_notes(compared)))


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
    titles = ("pairs", *(title for _, title, _ in SHOWN_NUMBERS), f"bandwidth, {tables['bandwidth_unit']}")
    parts = (17, *(24 if name == "interval" else 14 for name, _, _ in SHOWN_NUMBERS), 24)
    first = 22.0
    share = (width - first) / sum(parts)
    columns = [Column("class", first, False), *(Column(t, w * share) for t, w in zip(titles, parts, strict=True))]
    names = (*(name for name, _, _ in SHOWN_NUMBERS), "bandwidth")
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
    """The slowest pairs, under load and alone, at most so many."""
    y = heading(paper, x, y, width, f"The slowest pairs, measured again alone ({tables['unit']})")
    if not tables["pairs"]:
        text = "None was measured again" + ("." if result.complete else ": the run did not get that far.")
        paper.text(x, y, text, SIZE, colour=GREY)
        return
    names = dict(zip(result.hosts, short_names(result.hosts), strict=True))
    rest = width - 84
    columns = [
        Column("from", 10), Column("host", rest / 2, False), Column("to", 10), Column("host", rest / 2, False),
        Column("under load", 15), Column("alone", 12), Column("usual", 12), Column("verdict", 25, False),
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
    num_hosts = len(result.hosts)
    return HEADING + 2.2 + ROW * (2 + min(num_hosts if num_hosts > 1 else result.num_ranks, MOST_HOSTS))


def legend_height(matrix: Matrix) -> float:
    """mm that draw_legend takes, with its heading."""
    return HEADING + 2.2 + 3.5 * len(legend(matrix))


def draw_hosts(paper: Paper, x: float, y: float, width: float, result: LinkResult, analysis: SliceAnalysis) -> None:
    """The slowest hosts as senders and receivers, times what is usual; ranks where there is one host only."""
    are_hosts = len(result.hosts) > 1
    sides = analysis.hosts if are_hosts else analysis.ranks
    names = short_names(result.hosts) if are_hosts else tuple(f"rank {rank}" for rank in range(result.num_ranks))
    y = heading(paper, x, y, width, "Slowest hosts" if are_hosts else "Slowest ranks")
    columns = [Column("host" if are_hosts else "rank", width - 26, False), Column("to others", 13), Column("from", 13)]
    slow = analysis.slow_hosts if are_hosts else analysis.slow_ranks
    slowest = sorted(sides, key=lambda side: -side.ratio)[:MOST_HOSTS]
    lines = [
        Line((names[side.index], run_text.ratio_text(side.from_ratio), run_text.ratio_text(side.to_ratio)),
             side.index in slow if analysis.is_diagnosed else side.is_judged and side.ratio >= SLOW_FACTOR)
        for side in slowest
    ]  # fmt: skip
    y = table(paper, x, y, columns, lines)
    note = "times usual, of the median " + ("host" if are_hosts else "rank")
    paper.text(x, y, shortened(note, width, SIZE), SIZE, colour=GREY)


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

# SPDX-License-Identifier: Apache-2.0
"""One page of A4 about a link test, as PDF or PostScript, and the matrix alone as a PNG picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from leadline.diagnosis import Diagnosed, diagnosed_in
from leadline.link import text as link_text
from leadline.link.analysis import SliceAnalysis, analyse
from leadline.link.compare import Comparison
from leadline.link.figures import Curves, Sweep
from leadline.link.first_screen import expected_ns
from leadline.link.judged import judged
from leadline.link.matrix_image import (
    BAR_ROOM_MM,
    LABEL_ROOM_MM,
    TICK_ROOM_MM,
    Frame,
    draw_colour_bar,
    draw_matrix,
    legend,
    matrix_of,
    pixel_factor,
)
from leadline.link.plots import draw_distribution, draw_sweep
from leadline.link.result import LinkResult
from leadline.link.scan import pictures
from leadline.link.sheet_tables import (
    classes_height,
    definitions_of,
    draw_classes,
    draw_hosts,
    draw_legend,
    draw_retests,
    head_of,
    hosts_height,
    legend_height,
    retests_height,
)
from leadline.link.tables import tables_of, units_of
from leadline.model import Progress, Slice, Statistic
from leadline.model.run import stretch_of
from leadline.report.paper import GREY, Kind, Paper, drawing, line_mm, shortened, wrapped
from leadline.report.plot_frame import Area
from leadline.report.sheet import (
    BOTTOM,
    FOOT_HEIGHT,
    GAP,
    HEADING,
    HEIGHT_MM,
    MARGIN_X,
    PIXELS_PER_INCH,
    TOP,
    WIDTH_MM,
    draw_findings,
    draw_foot,
    draw_head,
    findings_height,
    heading,
    moment_of,
)
from leadline.scan import AxisName, Picture, picture_range
from leadline.stats.colour_range import ColourRange, widened
from leadline.text import run as run_text
from leadline.units import bytes_text

_PLOT_HEIGHT = 36.0
_LARGEST_SIDE, _GOOD_SIDE, _LEAST_SIDE = 101.0, 82.0, 50.0  # of the matrix
_ROWS_BELOW = (10, 8, 6, 4)  # of the tables at the bottom, fewer where the matrix would become small
_COLUMN = 46.0  # beside the matrix
_LEAST_HOSTS_SIDE = 20.0  # of the hosts' matrix, which is left out where there is no room
_PNG_SIDE = 1024  # pixels that the matrix of a picture has at least


def analyses_for_sheet(
    result: LinkResult, parts: Sequence[Slice], progress: Progress | None = None
) -> list[SliceAnalysis]:
    """Of the slices in their order, read one after the other; slices without any value are left out where another has
    some. Only the first one of the list keeps its pictures.
    """
    found: list[SliceAnalysis] = []
    for index, part in enumerate(parts):
        tell = stretch_of(progress, index / len(parts), (index + 1) / len(parts))
        one = analyse(result, part, (AxisName.RANKS, AxisName.HOSTS), progress=tell)
        if not one.overall.num_pairs and (found or index < len(parts) - 1):
            continue
        if found:
            one = dataclasses.replace(one, pictures={}, scan=dataclasses.replace(one.scan, pictures=()))
        found.append(one)
    return found


def write_sheet(
    result: LinkResult, analyses: Sequence[SliceAnalysis], stream: BinaryIO, kind: Kind | str,
    statistic: Statistic = Statistic.MEDIAN, num_not_begun: int = 0, span: ColourRange | None = None,
    diagnosed: Diagnosed | None = None, compared: Comparison | None = None,
) -> None:  # fmt: skip
    """Writes the page about the first of the analyses, with the sweep over all of them; `kind` is pdf, ps or png. The
    matrix shows the statistic, everything else the medians. `num_not_begun`: slices without any value. `span`: other
    ends of the colours than the values suggest; not in a PNG. `diagnosed`: what is at fault, where that is not what the
    file says. `compared`: what changed since an earlier result; not in a PNG.
    """
    diagnosed = diagnosed or diagnosed_in(result)
    with drawing():
        if Kind(kind) is Kind.PNG:
            paper = _picture_page(result, list(analyses), statistic, diagnosed)
        else:
            paper = sheet_page(result, list(analyses), statistic, num_not_begun, span, diagnosed, compared)
        stream.write(
            paper.rendered(Kind(kind), f"Link test: {link_text.title(result, list(analyses))}", moment_of(result))
        )


def sheet_page(
    result: LinkResult, analyses: list[SliceAnalysis], statistic: Statistic = Statistic.MEDIAN, num_not_begun: int = 0,
    span: ColourRange | None = None, diagnosed: Diagnosed | None = None, compared: Comparison | None = None,
) -> Paper:  # fmt: skip
    """The page before it becomes a file; inside drawing()."""
    diagnosed = diagnosed or diagnosed_in(result)
    analyses = _judged(result, analyses, diagnosed)
    analysis, x, width = analyses[0], MARGIN_X, WIDTH_MM - 2 * MARGIN_X
    paper, sweep = Paper(WIDTH_MM, HEIGHT_MM, PIXELS_PER_INCH), Sweep()
    for one in analyses:
        sweep.add(one)
    points = sweep.times()
    tables = tables_of(result, analysis)
    head = head_of(result, analyses, num_not_begun, diagnosed, compared)
    y = draw_head(paper, x, TOP, width, result, head) + GAP - 1.5
    left = width * (0.66 if result.findings else 0.74)
    findings_width = width - left - 6
    classes, no_findings = classes_height(tables), link_text.no_findings(result)
    foot = HEIGHT_MM - BOTTOM - FOOT_HEIGHT
    around = HEADING + 2.0 + TICK_ROOM_MM + BAR_ROOM_MM
    others = classes + _PLOT_HEIGHT + HEADING + 3 * GAP + 1 + around
    for most in _ROWS_BELOW:
        below = max(retests_height(tables, most), findings_height(result, no_findings, findings_width, most))
        matrix_room = foot - y - below - others
        if matrix_room >= _GOOD_SIDE:
            break
    side = min(max(matrix_room, _LEAST_SIDE), _LARGEST_SIDE)
    plots = _PLOT_HEIGHT + min(max(matrix_room - side, 0.0), 14.0)
    is_by_expected = statistic is Statistic.MEDIAN and span is None
    expected = _expected(result, analysis, diagnosed) if is_by_expected else None
    _draw_matrix_block(paper, Area(x, y, width, side + around), side, result, analysis, statistic, span, expected)
    y += side + around + GAP
    heading(paper, x, y, width, "How many pairs take how long" + (", and how time grows with size" if points else ""))
    _draw_plots(paper, Area(x, y + HEADING + 1.5, width, plots - 1.5), result, analysis, points)
    y += HEADING + plots + GAP
    draw_classes(paper, x, y, width, tables)
    y += classes + GAP
    draw_retests(paper, x, y, left, result, tables, most)
    draw_findings(paper, x + left + 6, y, findings_width, result, no_findings, most)
    draw_foot(paper, x, foot, width, result, definitions_of(result, analysis))
    return paper


def _judged(result: LinkResult, analyses: list[SliceAnalysis], diagnosed: Diagnosed) -> list[SliceAnalysis]:
    return [judged(result, analysis, diagnosed.found.get(analysis.part)) for analysis in analyses]


def _draw_matrix_block(
    paper: Paper, area: Area, side: float, result: LinkResult, analysis: SliceAnalysis, statistic: Statistic,
    chosen_span: ColourRange | None, expected: tuple[float, float] | None,
) -> None:  # fmt: skip
    """The matrix with its axes and colour bar; beside it the hosts' matrix, the legend and the slowest hosts."""
    picture, span = _picture(result, analysis, statistic)
    span = chosen_span or span
    of_hosts = analysis.pictures.get(AxisName.HOSTS)
    if of_hosts is not None and np.isfinite(of_hosts.median).any():
        # One range for both matrices; medians of hosts may lie below the worst of cells.
        span = widened(span, float(np.nanmin(of_hosts.median)))
    matrix = matrix_of(result, analysis, picture, span, expected)
    column_x = area.x + area.width - _COLUMN
    room = column_x - 6 - area.x - LABEL_ROOM_MM
    side = min(side, room)
    heading(
        paper,
        area.x,
        area.y,
        column_x - 6 - area.x,
        _matrix_title(result, analysis, statistic) + (", by expected" if expected else ""),
    )
    frame = Frame(matrix, area.x + LABEL_ROOM_MM + (room - side) / 2, area.y + HEADING + 2 + TICK_ROOM_MM, side)
    draw_matrix(paper, frame, pixel_factor(matrix.size))
    draw_colour_bar(paper, frame)
    y = area.y
    extent = min(_COLUMN - 2, area.height - legend_height(matrix) - hosts_height(result) - HEADING - 2.4 - GAP)
    if of_hosts is not None and 1 < len(result.hosts) < result.num_ranks and extent >= _LEAST_HOSTS_SIDE:
        heading(paper, column_x, y, _COLUMN, "Hosts to hosts, median")
        small = matrix_of(result, analysis, of_hosts, span, expected)
        at = Frame(small, column_x + (_COLUMN - extent) / 2, y + HEADING + 2.4, extent)
        draw_matrix(paper, at, pixel_factor(small.size), labelled=False)
        y += HEADING + 2.4 + extent + GAP
    if legend(matrix):
        y = draw_legend(paper, column_x, heading(paper, column_x, y, _COLUMN, "Legend"), _COLUMN, matrix)
    if result.num_ranks > 1:
        draw_hosts(paper, column_x, y, _COLUMN, result, analysis)


def _expected(result: LinkResult, analysis: SliceAnalysis, diagnosed: Diagnosed) -> tuple[float, float] | None:
    """The times inside a host and between hosts that cells are compared with, as the page does at first; None where
    nothing was diagnosed, or a class with pairs has no such time.
    """
    diagnosis = diagnosed.found.get(analysis.part)
    if diagnosis is None:
        return None
    inside, between = expected_ns(result, analysis, diagnosis)[Statistic.MEDIAN.value]
    known = inside or between
    return (inside or known, between or known) if known else None  # a class without time has no cells


def _draw_plots(
    paper: Paper, area: Area, result: LinkResult, analysis: SliceAnalysis,
    points: Curves,
) -> None:  # fmt: skip
    gap = 5.0
    shares = (0.31, 0.2, 0.245, 0.245) if points else (0.62, 0.38)
    free, places, x = area.width - gap * (len(shares) - 1), [], area.x
    for share in shares:
        places.append(Area(x, area.y, free * share, area.height))
        x += free * share + gap
    draw_distribution(paper, places[0], places[1], analysis, units_of(result, analysis)[0])
    if points:
        draw_sweep(paper, places[2], places[3], result, points)


def _picture(result: LinkResult, analysis: SliceAnalysis, statistic: Statistic) -> tuple[Picture, ColourRange]:
    picture = analysis.pictures[AxisName.RANKS]
    if statistic is not Statistic.MEDIAN:
        picture = pictures(result, analysis.part, statistic, [picture.grid])[0]
    return picture, picture_range(picture)


def _matrix_title(result: LinkResult, analysis: SliceAnalysis, statistic: Statistic) -> str:
    has_several = len(result.slices) > 1
    which = link_text.part_name(result, analysis.part) if has_several else bytes_text(analysis.part.message_size_bytes)
    return f"{statistic.value.capitalize()} of every pair, {which}"


def _picture_page(
    result: LinkResult, analyses: list[SliceAnalysis], statistic: Statistic, diagnosed: Diagnosed
) -> Paper:
    """The matrix with title, verdict, axes, colour bar and legend; every cell is as many whole pixels as any other."""
    analyses = _judged(result, analyses, diagnosed)
    analysis = analyses[0]
    picture, span = _picture(result, analysis, statistic)
    expected = _expected(result, analysis, diagnosed) if statistic is Statistic.MEDIAN else None
    matrix = matrix_of(result, analysis, picture, span, expected)
    factor = max(-(-_PNG_SIDE // matrix.size), 1)
    pixel = 25.4 / PIXELS_PER_INCH
    side, margin = factor * matrix.size * pixel, 10.0
    x = _whole(margin + LABEL_ROOM_MM, pixel)
    width = x + side + margin
    title = wrapped(link_text.title(result, analyses), width - 2 * margin, 13, 2, bold=True)
    sentences = wrapped(" ".join(link_text.headline(result, analyses, diagnosed)), width - 2 * margin, 9, 4)
    by_expected = ", by expected" if expected else ""
    what = f"{_matrix_title(result, analysis, statistic)}{by_expected} · {run_text.file_and_start(result)}"
    y = margin + 2 + (len(title) - 1) * line_mm(13)
    marks = legend(matrix)
    top = _whole(y + 2 + len(sentences) * line_mm(9) + line_mm(7) + TICK_ROOM_MM + 3, pixel)
    height = top + side + BAR_ROOM_MM + 7 + 3.5 * len(marks) + 4
    paper = Paper(_whole(width, pixel), _whole(height, pixel), PIXELS_PER_INCH)
    y = paper.paragraph(margin, margin + 3, title, 13, bold=True) - 0.8
    y = paper.paragraph(margin, y, sentences, 9)
    paper.text(margin, y, shortened(what, width - 2 * margin, 7), 7, colour=GREY)
    frame = Frame(matrix, x, top, side)
    draw_matrix(paper, frame, factor)
    draw_colour_bar(paper, frame)
    draw_legend(paper, x, top + side + BAR_ROOM_MM + 7, side, matrix)
    return paper


def _whole(length: float, pixel: float) -> float:
    return round(length / pixel) * pixel

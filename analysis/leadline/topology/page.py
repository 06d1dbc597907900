# SPDX-License-Identifier: Apache-2.0
"""From a TopologyResult to one self-contained HTML page that works offline."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from leadline.diagnosis import Diagnosed, ToldFault, diagnosed, found_faults
from leadline.model import Progress
from leadline.model.run import with_progress
from leadline.report.faults import Row, fault_row, fault_rows, headline_colour
from leadline.report.frame import html_page
from leadline.scan import SLOW_FACTOR, edge_for
from leadline.text import run as run_text
from leadline.topology import text as topology_text
from leadline.topology.analysis import GroupAnalysis, analyse_group, groups_of
from leadline.topology.data import MOST_ROWS, axes_of, charts_of, page_of, part_of, picture_size
from leadline.topology.load import LoadSeries, series_of
from leadline.topology.result import TopologyResult
from leadline.topology.tables import centre_rows, key_figures, load_rows, number_table
from leadline.units import bytes_text

_STYLES = ("report.css", "faults.css", "matrix.css", "chart.css", "topology.css")
# The parts of the page's script, in the order in which they stand in its one function.
_SCRIPTS = ("page.js", "numbers.js", "tooltip.js", "chart.js", "units.js", "topology_charts.js")
_MATRIX_SCRIPTS = (
    "page.js", "numbers.js", "colours.js", "source.js", "heatmap.js", "labels.js", "axes.js", "legend.js",
    "expected.js", "marks.js", "findings.js", "tooltip.js", "matrix_view.js", "view_state.js", "report.js",
    "chart.js", "units.js", "topology_charts.js", "topology_lists.js",
)  # fmt: skip
_WITHOUT_SCRIPT = (
    "Charts and the matrix are drawn by a script inside this page, and scripts are switched off. The tables have the "
    "numbers."
)


def render_topology(
    result: TopologyResult, size_indices: Sequence[int] | None = None, progress: Progress | None = None,
    topology: str | None = None,
) -> str:  # fmt: skip
    """The page about some message sizes of a result, all by default. Everything from the file is escaped.
    `topology`: the physical network, for the diagnosis.
    """
    sizes = range(len(result.message_sizes_bytes)) if size_indices is None else size_indices
    groups = groups_of(result)
    largest_size = picture_size(result, groups)
    axes = axes_of(result, largest_size)
    analyses: list[GroupAnalysis] = []
    wanted = [] if result.is_load else [(group, size_index) for group in groups for size_index in sizes]
    found = diagnosed(result, [part for part in result.slices if part.size_index in sizes], topology)
    parts: list[dict[str, Any]] = []
    for group, size_index in with_progress(wanted, progress):
        analysis = analyse_group(result, group, size_index, axes, largest_size)
        if analysis.num_messages:
            of_part = topology_text.parts_of(result, [analysis])
            faults = [one.fault for one in found_faults(found, of_part)]
            parts.append(part_of(analysis, groups, faults))
        analyses.append(dataclasses.replace(analysis, pictures=()))
    load = tuple(one for one in series_of(result) if one.size_index in sizes)
    centres = [(one.group.name, centre_rows(result, one, MOST_ROWS)) for one in _largest_of_families(analyses)]
    return html_page(
        "topology.html.j2",
        result,
        styles=_STYLES,
        scripts=_MATRIX_SCRIPTS if parts else _SCRIPTS,
        data={"data": page_of(result, parts), "charts": charts_of(result, groups, analyses, load)},
        benchmark="Topology test",
        title=topology_text.title(result),
        run_line=topology_text.run_line(result, tuple(group.name for group in groups)),
        no_findings=run_text.no_findings(result),
        headline=topology_text.headline(result, analyses, load, found),
        verdict=_verdict(result, analyses, load, found),
        missing=topology_text.missing(result, analyses),
        without_script=_WITHOUT_SCRIPT,
        run=topology_text.run_facts(result),
        figures=key_figures(result, analyses, load),
        numbers=number_table(result, analyses),
        sizes=[(index, bytes_text(result.message_sizes_bytes[index])) for index in sizes],
        centres=centres,
        load=load_rows(load),
        has_rates_chart=len({one.size_index for one in analyses if one.num_measured}) > 1,
        has_topologies=True,
        has_matrix=bool(parts),
        is_traced=topology_text.is_traced(analyses),
        has_answers=any(one.group.first.has_answers for one in analyses),
        notes=_notes(result, largest_size) if parts else [],
        limit=SLOW_FACTOR,
        faults=_faults(result, analyses, found),
    )


def _largest_of_families(analyses: Sequence[GroupAnalysis]) -> list[GroupAnalysis]:
    """Each family's analysis with the largest size that was measured."""
    found = {one.group.name: one for one in analyses if one.group.is_family and one.num_measured}
    return list(found.values())


def _notes(result: TopologyResult, largest_size: int) -> list[str]:
    edge = edge_for(result.num_ranks, largest_size)
    if edge == 1:
        return []
    return [f"A cell of the matrix is {edge} × {edge} ranks and shows the latest of their messages, which it names."]


def _faults(result: TopologyResult, analyses: Sequence[GroupAnalysis], found: Diagnosed) -> Row:
    def row(one: ToldFault) -> Row:
        return fault_row(one, f"{one.part.pattern}, {bytes_text(one.part.message_size_bytes)}")

    return fault_rows(found, topology_text.parts_of(result, analyses), row)


def _verdict(
    result: TopologyResult, analyses: Sequence[GroupAnalysis], load: Sequence[LoadSeries], found: Diagnosed
) -> str:
    """The colour of the headline."""
    parts = topology_text.parts_of(result, analyses)
    faults = [one.fault for one in found_faults(found, parts)]
    is_known = any(part in found.found and not found.found[part].untested for part in parts)
    is_known = bool(load) if result.is_load else is_known
    is_whole = result.complete and not topology_text.missing(result, analyses)
    return headline_colour(faults, is_alarming=bool(topology_text.unevenness(load)), is_known=is_known and is_whole)

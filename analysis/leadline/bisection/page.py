# SPDX-License-Identifier: Apache-2.0
"""From a BisectionResult to one self-contained HTML page that works offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.bisection import tables
from leadline.bisection import text as bisection_text
from leadline.bisection.analysis import ComponentsAnalysis, SizeAnalysis, analyse_components, analyse_size
from leadline.bisection.data import page_of
from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.compare import compare_patterns
from leadline.bisection.simulate.model import PatternComparison, SimulatedBisection
from leadline.diagnosis import Diagnosed, ToldFault, diagnosed, told_faults
from leadline.model import Fault, FindingList, Progress
from leadline.model.run import stretch_of
from leadline.report.faults import Row, fault_row, fault_rows, headline_colour
from leadline.report.frame import html_page
from leadline.scan import FEWEST_PARTNERS
from leadline.text import run as run_text
from leadline.units import bytes_text, plain

_STYLES = ("report.css", "faults.css", "matrix.css", "chart.css", "bars.css", "bisection.css")
# The parts of the page's script, in the order in which they stand in its one function.
_SCRIPTS = (
    "page.js",
    "numbers.js",
    "tooltip.js",
    "chart.js",
    "units.js",
    "plot.js",
    "host_matrix.js",
    "bisection_charts.js",
)


@dataclass(frozen=True)
class BisectionAnalysis:
    """All that page and sheet say."""

    sizes: list[SizeAnalysis]
    components: ComponentsAnalysis
    diagnosed: Diagnosed
    simulated: SimulatedBisection | None
    comparison: PatternComparison | None


def analyse_bisection(
    result: BisectionResult, size_indices: Sequence[int] | None = None, simulated: SimulatedBisection | None = None,
    progress: Progress | None = None, topology: str | None = None,
) -> BisectionAnalysis:  # fmt: skip
    """Of some message sizes, all by default; with a simulation, measured against it with the largest of them.
    `topology`: the physical network, for the diagnosis.
    """
    wanted = range(len(result.message_sizes_bytes)) if size_indices is None else size_indices
    sizes = []
    for done, size_index in enumerate(wanted):
        tell = stretch_of(progress, done / (len(wanted) + 1), (done + 1) / (len(wanted) + 1))
        sizes.append(analyse_size(result, size_index, progress=tell))
    components = analyse_components(result, sizes)
    comparison = compare_patterns(result, simulated, tables.shown_first(sizes).size_index) if simulated else None
    if progress:
        progress(1)
    found = diagnosed(result, bisection_text.parts_of(result, sizes), topology)
    return BisectionAnalysis(sizes, components, found, simulated, comparison)


def render_bisection(
    result: BisectionResult, size_indices: Sequence[int] | None = None, simulated: SimulatedBisection | None = None,
    progress: Progress | None = None, topology: str | None = None,
) -> str:  # fmt: skip
    """The page about some message sizes of a result, all by default. Everything from the file is escaped."""
    analysis = analyse_bisection(result, size_indices, simulated, progress, topology)
    by_size = [_of_size(result, one) for one in analysis.sizes if len(one.patterns)]
    return html_page(
        "bisection.html.j2",
        result,
        styles=_STYLES,
        scripts=_SCRIPTS,
        data={
            "data": page_of(result, analysis.sizes, analysis.components, _found(result, analysis), analysis.comparison)
        },
        benchmark="Bisection test",
        title=bisection_text.title(result),
        run_line=bisection_text.run_line(result),
        no_findings=run_text.no_findings(result),
        headline=bisection_text.headline(result, analysis.sizes, analysis.diagnosed, analysis.comparison),
        verdict=verdict(result, analysis),
        missing=bisection_text.missing(result, analysis.sizes),
        run=bisection_text.run_facts(result),
        figures=tables.key_figures(analysis.sizes),
        numbers=tables.size_table(result, analysis.sizes),
        by_size=by_size,
        faults=_faults(result, analysis),
        has_hosts=any(one.hosts for one in analysis.sizes),
        has_components=bool(analysis.components.of_ranks.num.any()),
        threshold=plain(100 * result.threshold),
        simulated=bisection_text.what_was_simulated(simulated) if simulated else "",
        comparison=analysis.comparison,
        compared=tables.comparison_facts(analysis.comparison) if analysis.comparison else [],
        deviating=tables.deviating_rows(analysis.comparison) if analysis.comparison else [],
    )


def _faults(result: BisectionResult, analysis: BisectionAnalysis) -> Row:
    parts = bisection_text.parts_of(result, analysis.sizes)

    def row(one: ToldFault) -> Row:
        return fault_row(one, bytes_text(one.part.message_size_bytes) if len(parts) > 1 else "")

    return fault_rows(analysis.diagnosed, parts, row)


def _of_size(result: BisectionResult, one: SizeAnalysis) -> tables.Row:
    """The tables of one message size."""
    return {
        "size_index": one.size_index, "name": bytes_text(one.message_size_bytes),
        "stopped": bisection_text.stopped_text(result, one), "named": tables.named_rows(one),
        "slow": tables.slow_rows(result, one), "slowest_patterns": tables.pattern_rows(result, one),
        "buckets": tables.bucket_rows(one), "num_steps": len(one.worst),
        "hosts_note": _hosts_note(one),
    }  # fmt: skip


def _hosts_note(one: SizeAnalysis) -> str:
    """What of the matrix of hosts is not all."""
    if not one.hosts:
        return ""
    size, notes = bytes_text(one.message_size_bytes), []
    if one.hosts.num_patterns < len(one.random):
        notes.append(f"Of {size}: of the first {one.hosts.num_patterns:,} of {len(one.random):,} patterns.")
    if one.hosts.edge > 1:
        notes.append(f"Of {size}: a cell is {one.hosts.edge} × {one.hosts.edge} hosts.")
    return " ".join(notes)


def verdict(result: BisectionResult, analysis: BisectionAnalysis) -> str:
    """The colour of the headline, which is not fine where something is slow only under load."""
    faults = faults_of(result, analysis)
    is_judged = bool(analysis.diagnosed.found) and result.num_participants >= FEWEST_PARTNERS
    is_whole = result.complete and not bisection_text.missing(result, analysis.sizes)
    is_loaded = any(one.listed_as is FindingList.ONLY_UNDER_LOAD for one in faults)
    return headline_colour(faults, is_known=is_judged and is_whole and not is_loaded)


def faults_of(result: BisectionResult, analysis: BisectionAnalysis) -> list[Fault]:
    """Each once, the gravest first."""
    return [place.fault for one in _found(result, analysis) for place in one.places]


def _found(result: BisectionResult, analysis: BisectionAnalysis) -> list[ToldFault]:
    return told_faults(analysis.diagnosed, bisection_text.parts_of(result, analysis.sizes))

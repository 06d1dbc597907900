# SPDX-License-Identifier: Apache-2.0
"""From an IoResult to one self-contained HTML page that works offline."""

from __future__ import annotations

from leadline.diagnosis import Diagnosed, ToldFault, diagnosed, found_faults
from leadline.io import tables
from leadline.io import text as io_text
from leadline.io.analysis import MOST_ROWS, PhaseAnalysis, analyse_phase
from leadline.io.data import page_of
from leadline.io.result import METADATA, IoPhase, IoResult
from leadline.model import Progress
from leadline.model.run import with_progress
from leadline.report.faults import Row, fault_row, fault_rows, headline_colour
from leadline.report.frame import html_page

_STYLES = ("report.css", "faults.css", "matrix.css", "chart.css", "bars.css", "io.css")
# The parts of the page's script, in the order in which they stand in its one function.
_SCRIPTS = ("page.js", "numbers.js", "tooltip.js", "chart.js", "units.js", "plot.js", "timeline.js", "io_charts.js")


def analyse_io(result: IoResult, progress: Progress | None = None) -> list[PhaseAnalysis]:
    """Of all phases that were measured; what an interrupted one has is in the tables."""
    return [analyse_phase(result, phase) for phase in with_progress(_whole(result), progress)]


def _whole(result: IoResult) -> list[IoPhase]:
    return [phase for phase in result.measured_phases if not phase.is_interrupted]


def render_io(result: IoResult, progress: Progress | None = None, topology: str | None = None) -> str:
    """The page about all phases of a result. Everything from the file is escaped. `topology`: the physical network, for
    the diagnosis.
    """
    analyses, phases = analyse_io(result, progress), result.measured_phases
    drawn = [one for one in analyses if one.rows.has_row.any()]
    found = diagnosed(result, result.slices, topology)
    return html_page(
        "io.html.j2",
        result,
        styles=_STYLES,
        scripts=_SCRIPTS,
        data={"data": page_of(result, drawn, found)},
        benchmark="Parallel file test",
        title=io_text.title(result),
        run_line=io_text.run_line(result),
        no_findings=io_text.no_findings(result),
        headline=io_text.headline(result, found),
        verdict=verdict(result, found),
        missing=io_text.missing(result),
        run=io_text.run_facts(result),
        figures=tables.key_figures(result),
        phases=tables.phase_table(result, phases),
        latencies=tables.latency_table(phases),
        times=[tables.time_table(one.phase) for one in drawn],
        cache=tables.cache_rows(result, [one for one in _whole(result) if one.operation not in METADATA])
        if result.files
        else [],
        faults=_faults(result, found),
        slow_calls=tables.slow_call_rows(phases),
        wrong=tables.wrong_rows(phases),
        hints=tables.hint_rows(result),
        most_rows=MOST_ROWS,
    )


def _faults(result: IoResult, found: Diagnosed) -> Row:
    def row(one: ToldFault) -> Row:
        return fault_row(one, "")

    return fault_rows(found, result.slices, row)


def verdict(result: IoResult, found: Diagnosed) -> str:
    """The colour of the headline."""
    measured = result.measured_phases
    faults = [one.fault for one in found_faults(found, result.slices)]
    is_wrong = any(phase.value("num_mismatches") > 0 for phase in measured)
    is_judged = not result.files or any(not one.untested for one in found.found.values())
    is_whole = result.complete and bool(measured) and not io_text.missing(result)
    return headline_colour(faults, is_alarming=is_wrong, is_known=is_judged and is_whole)

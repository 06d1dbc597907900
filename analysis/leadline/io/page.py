# SPDX-License-Identifier: Apache-2.0
"""From an IoResult to one self-contained HTML page that works offline."""

from __future__ import annotations

from leadline.io import tables
from leadline.io import text as io_text
from leadline.io.analysis import MOST_ROWS, PhaseAnalysis, analyse_phase
from leadline.io.data import page_of
from leadline.io.result import IoPhase, IoResult
from leadline.model import Progress
from leadline.model.run import with_progress
from leadline.report.frame import html_page
from leadline.units import plain

_STYLES = ("report.css", "matrix.css", "chart.css", "bars.css", "io.css")
# The parts of the page's script, in the order in which they stand in its one function.
_SCRIPTS = ("page.js", "numbers.js", "tooltip.js", "chart.js", "units.js", "plot.js", "timeline.js", "io_charts.js")


def analyse_io(result: IoResult, progress: Progress | None = None) -> list[PhaseAnalysis]:
    """Of all phases that were measured; what an interrupted one has is in the tables."""
    return [analyse_phase(result, phase) for phase in with_progress(_whole(result), progress)]


def _whole(result: IoResult) -> list[IoPhase]:
    return [phase for phase in result.measured_phases if not phase.is_interrupted]


def render_io(result: IoResult, progress: Progress | None = None) -> str:
    """The page about all phases of a result. Everything from the file is escaped."""
    analyses, phases = analyse_io(result, progress), result.measured_phases
    return html_page(
        "io.html.j2",
        result,
        styles=_STYLES,
        scripts=_SCRIPTS,
        data={"data": page_of(result, analyses)},
        benchmark="Parallel file test",
        title=io_text.title(result),
        run_line=io_text.run_line(result),
        no_findings=io_text.no_findings(result),
        headline=io_text.headline(result),
        verdict=verdict(result),
        missing=io_text.missing(result),
        run=io_text.run_facts(result),
        figures=tables.key_figures(result),
        phases=tables.phase_table(phases),
        latencies=tables.latency_table(phases),
        times=[tables.time_table(phase) for phase in _whole(result)],
        cache=tables.cache_rows(_whole(result)) if result.files else [],
        stragglers=tables.straggler_rows(phases),
        slow_calls=tables.slow_call_rows(phases),
        wrong=tables.wrong_rows(phases),
        hints=tables.hint_rows(result),
        threshold=plain(100 * result.threshold),
        most_rows=MOST_ROWS,
    )


def verdict(result: IoResult) -> str:
    """The colour of the headline: alarming, fine, or neither where not all is known."""
    measured = result.measured_phases
    if any(phase.value("num_mismatches") > 0 or phase.summary.get("stragglers") for phase in measured):
        return "alarming"
    return "fine" if result.complete and measured and not io_text.missing(result) else ""

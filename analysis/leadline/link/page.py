# SPDX-License-Identifier: Apache-2.0
"""From a LinkResult to one self-contained HTML page that works offline."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from leadline.diagnosis import Diagnosed, diagnosed_in, told_faults
from leadline.link import text as link_text
from leadline.link.analysis import FEWEST_PAIRS_OF_LINK, LOAD_FACTOR, SliceAnalysis, analyse
from leadline.link.compare import Comparison
from leadline.link.comparison import comparison_for_page
from leadline.link.data import SCRIPTS, PagePlan, page_data, plan_page
from leadline.link.faults import faults_for_page
from leadline.link.figures import MOST_PAIRS_OF_BIN, Sweep, bins_for_script, distribution_figures
from leadline.link.first_screen import expected_ns
from leadline.link.judged import judged
from leadline.link.result import LinkResult
from leadline.link.tables import tables_of
from leadline.model import Progress, Slice, Statistic
from leadline.model.run import stretch_of
from leadline.report.faults import headline_colour
from leadline.report.findings import findings_for_script
from leadline.report.frame import html_page
from leadline.scan import FEWEST_PARTNERS, SLOW_FACTOR, AxisName, picture_range
from leadline.stats.colour_range import ColourRange
from leadline.units import bytes_text

_STYLES = ("report.css", "faults.css", "matrix.css", "first_screen.css")
_OWN_SCRIPTS = ("bins.js",)  # behind those of the matrix
_WITHOUT_SCRIPT = (
    "The matrix is drawn by a script inside this page, and scripts are switched off. The rest of the page does not "
    "need it."
)
_SHARE_OF_ANALYSIS = 0.5  # of the work on a slice; the other statistics are the rest

Analysed = Callable[[LinkResult, Slice, Sequence[AxisName], int, Progress | None], SliceAnalysis]


def render(
    result: LinkResult, parts: tuple[Slice, ...], first_statistic: Statistic = Statistic.MEDIAN,
    served_key: str | None = None, progress: Progress | None = None, analysed: Analysed = analyse,
    diagnosed: Diagnosed | None = None, compared: Comparison | None = None,
) -> str:  # fmt: skip
    """The page about these slices of a result; the first one is shown first. Everything from the file is escaped. With
    the key of a server (leadline.view) the page asks that for matrices and pairs, and carries none. Slices are read one
    after the other, and of each only what the page says is kept. `analysed` is for a server that wants what the
    analysis finds for itself; its pictures may have more cells than it is asked for. `diagnosed`: what the page says is
    at fault, where that is not what the file says. `compared`: what changed since an earlier result.
    """
    diagnosed = diagnosed or diagnosed_in(result)
    plan = plan_page(result, len(parts), first_statistic, served_key)
    content = _Content(result, plan, len(parts), progress, analysed, diagnosed)
    for part in parts:
        content.add(part)
    content.finish()
    return _html(result, content, len(parts) - len(content.analyses), plan, compared)


class _Content:
    """What the page says, collected slice by slice. A slice without any value is left out where another has some."""

    def __init__(
        self, result: LinkResult, plan: PagePlan, num_parts: int, progress: Progress | None, analysed: Analysed,
        diagnosed: Diagnosed,
    ) -> None:  # fmt: skip
        self._result, self._plan, self._num_parts, self._progress = result, plan, num_parts, progress
        self._analysed, self.diagnosed = analysed, diagnosed
        self._num_done = 0
        self._first_empty: SliceAnalysis | None = None
        self.analyses: list[SliceAnalysis] = []  # without their pictures and tallies
        self.tables: list[dict[str, Any]] = []
        self.data: dict[str, Any] = {}  # of the page's script
        self.bins: list[dict[str, Any]] = []
        self.sweep = Sweep()
        self.spans: dict[Slice, ColourRange] = {}  # of the colours of each slice

    def add(self, part: Slice) -> None:
        """Analyses the slice and keeps what the page says about it."""
        plan = self._plan
        share = self._part_of(0, _SHARE_OF_ANALYSIS if plan.served_key is None else 1)
        analysis = self._analysed(self._result, part, plan.axes, plan.largest_size, share)
        analysis = judged(self._result, analysis, self.diagnosed.found.get(part))
        if analysis.overall.num_pairs:
            self._keep(analysis)
        elif self._first_empty is None:
            self._first_empty = analysis
        self._num_done += 1

    def finish(self) -> None:
        """After the last slice: where none has a value, the page is about the first."""
        if not self.analyses and self._first_empty:
            self._keep(self._first_empty)

    def _keep(self, analysis: SliceAnalysis) -> None:
        figures = distribution_figures(self._result, analysis)
        data = page_data(self._result, [analysis], self._plan, self._part_of(_SHARE_OF_ANALYSIS, 1))
        data["parts"][0]["expected_ns"] = expected_ns(self._result, analysis, self.diagnosed.found.get(analysis.part))
        if self.data:
            self.data["parts"] += data["parts"]
        else:
            self.data = data
        has_pairs = self._plan.served_key is None
        self.bins.append(bins_for_script(analysis, figures.bins, self._num_parts, has_pairs))
        self.tables.append(tables_of(self._result, analysis)
                           | {"histogram": figures.histogram, "cumulative": figures.cumulative})  # fmt: skip
        self.sweep.add(analysis)
        self.spans[analysis.part] = picture_range(analysis.pictures[AxisName.RANKS])
        scan = dataclasses.replace(analysis.scan, classes={}, slowest={}, examples={}, pictures=())
        self.analyses.append(dataclasses.replace(analysis, pictures={}, scan=scan))

    def _part_of(self, begin: float, end: float) -> Progress:
        """Of a stretch of the work on this slice."""
        first, last = ((self._num_done + share) / self._num_parts for share in (begin, end))
        return stretch_of(self._progress, first, last)


def _html(
    result: LinkResult, content: _Content, num_not_begun: int, plan: PagePlan, compared: Comparison | None
) -> str:
    analyses, data = content.analyses, content.data
    faults = faults_for_page(result, analyses, content.diagnosed, content.spans)
    parts = [analysis.part for analysis in analyses]
    if faults.get("shown"):
        data["findings"] = findings_for_script(told_faults(content.diagnosed, parts)[: len(faults["shown"])], parts)
    return html_page(
        "link.html.j2",
        result,
        styles=_STYLES,
        scripts=(*SCRIPTS, *_OWN_SCRIPTS),
        data={"data": data, "bins": {"most": MOST_PAIRS_OF_BIN, "parts": content.bins}},
        is_served=plan.served_key is not None,
        benchmark="Link test",
        title=link_text.title(result, analyses),
        run_line=link_text.run_line(result),
        no_findings=link_text.no_findings(result),
        headline=[one.replace(" ×", "\u00a0×") for one in link_text.verdict(result, analyses, content.diagnosed)],
        verdict=_verdict(result, analyses, content.diagnosed),
        without_diagnosis=link_text.without_diagnosis(analyses, content.diagnosed),
        is_diagnosed=link_text.is_diagnosed(analyses, content.diagnosed),
        faults=faults,
        has_findings="findings" in data,
        compared=comparison_for_page(analyses, compared) if compared else None,
        missing=_missing(result, analyses, num_not_begun),
        without_script=_WITHOUT_SCRIPT,
        run=link_text.run_facts(result),
        has_topologies=False,
        parts=content.tables,
        sizes=[(index, bytes_text(size)) for index, size in enumerate(result.message_sizes_bytes)
               if any(analysis.part.size_index == index for analysis in analyses)],
        repeats=sorted({(analysis.part.repeat, link_text.repeat_name(result, analysis.part)) for analysis in analyses}),
        sweep=content.sweep.figures(result),
        statistics=data["statistics"],
        notes=data["notes"],
        loop_to_itself=link_text.is_loop_to_itself(analyses),
        limit=SLOW_FACTOR,
        load_limit=LOAD_FACTOR,
        fewest_partners=FEWEST_PARTNERS,
        fewest_pairs_of_link=FEWEST_PAIRS_OF_LINK,
    )  # fmt: skip


def _missing(result: LinkResult, analyses: list[SliceAnalysis], num_not_begun: int) -> str:
    """What is not there, and in a run that was interrupted how much had not begun."""
    text = link_text.missing(result, analyses)
    if not text or result.complete or not num_not_begun:
        return text
    num_parts = num_not_begun + len(analyses)
    return f"{text}; of the {num_parts} sizes and repeats, {num_not_begun} had not begun"


def _verdict(result: LinkResult, analyses: list[SliceAnalysis], diagnosed: Diagnosed) -> str:
    """The colour of the headline."""
    faults = [one.fault for one in link_text.faults_of(analyses, diagnosed)]
    is_alarming = link_text.is_alarming(result, analyses, diagnosed)
    is_whole = result.complete and not any(analysis.scan.num_missing for analysis in analyses)
    return headline_colour(faults, is_alarming=is_alarming, is_known=is_whole)

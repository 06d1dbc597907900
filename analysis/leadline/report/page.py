# SPDX-License-Identifier: Apache-2.0
"""From a Result to one self-contained HTML page that works offline."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import jinja2
from markupsafe import Markup

from leadline import words
from leadline.analyse import COMPANY_FACTOR, FEWEST_PAIRS_OF_LINK, FEWEST_PARTNERS, SLOW_FACTOR, SliceAnalysis, analyse
from leadline.model import Result, Slice, Statistic
from leadline.report.figures import MOST_PAIRS_OF_BIN, Sweep, bins_for_script, distribution_figures
from leadline.report.page_data import SCRIPTS, PagePlan, page_data, plan_page
from leadline.report.tables import tables_of
from leadline.scan import AxisName, Progress
from leadline.units import bytes_text

GENERATOR = "leadline report"
_STYLES = ("report.css", "matrix.css")
_OWN_SCRIPTS = ("bins.js",)  # behind those of the matrix
_SHARE_OF_ANALYSIS = 0.5  # of the work on a slice; the other statistics are the rest

Analysed = Callable[[Result, Slice, Sequence[AxisName], int, Progress | None], SliceAnalysis]


def render(
    result: Result, parts: tuple[Slice, ...], first_statistic: Statistic = Statistic.MEDIAN,
    served_key: str | None = None, progress: Progress | None = None, analysed: Analysed = analyse,
) -> str:  # fmt: skip
    """The page about these slices of a result; the first one is shown first. Everything from the file is escaped. With
    the key of a server (leadline.view) the page asks that for matrices and pairs, and carries none. Slices are read one
    after the other, and of each only what the page says is kept. `analysed` is for a server that wants what the
    analysis finds for itself; its pictures may have more cells than it is asked for.
    """
    plan = plan_page(result, len(parts), first_statistic, served_key)
    content = _Content(result, plan, len(parts), progress, analysed)
    for part in parts:
        content.add(part)
    content.finish()
    return _html(result, content, len(parts) - len(content.analyses), plan)


def is_own_report(head: str) -> bool:
    """Whether a file that begins so is an earlier report, which a new one may replace."""
    return f'<meta name="generator" content="{GENERATOR}' in head


class _Content:
    """What the page says, collected slice by slice. A slice without any value is left out where another has some."""

    def __init__(
        self, result: Result, plan: PagePlan, num_parts: int, progress: Progress | None, analysed: Analysed
    ) -> None:
        self._result, self._plan, self._num_parts, self._progress = result, plan, num_parts, progress
        self._analysed = analysed
        self._num_done = 0
        self._first_empty: SliceAnalysis | None = None
        self.analyses: list[SliceAnalysis] = []  # without their pictures and tallies
        self.tables: list[dict[str, Any]] = []
        self.data: dict[str, Any] = {}  # of the page's script
        self.bins: list[dict[str, Any]] = []
        self.sweep = Sweep()

    def add(self, part: Slice) -> None:
        """Analyses the slice and keeps what the page says about it."""
        plan = self._plan
        share = self._part_of(0, _SHARE_OF_ANALYSIS if plan.served_key is None else 1)
        analysis = self._analysed(self._result, part, plan.axes, plan.largest_size, share)
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
        if self.data:
            self.data["parts"] += data["parts"]
        else:
            self.data = data
        has_pairs = self._plan.served_key is None
        self.bins.append(bins_for_script(analysis, figures.bins, self._num_parts, has_pairs))
        self.tables.append(tables_of(self._result, analysis)
                           | {"histogram": figures.histogram, "cumulative": figures.cumulative})  # fmt: skip
        self.sweep.add(analysis)
        scan = dataclasses.replace(analysis.scan, classes={}, slowest={}, examples={}, pictures=())
        self.analyses.append(dataclasses.replace(analysis, pictures={}, scan=scan))

    def _part_of(self, begin: float, end: float) -> Progress:
        """Tells progress of a stretch of the work on this slice as that of all the work."""

        def tell(share: float) -> None:
            if self._progress:
                self._progress((self._num_done + begin + (end - begin) * share) / self._num_parts)

        return tell


def _html(result: Result, content: _Content, num_not_begun: int, plan: PagePlan) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("leadline.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    analyses, data = content.analyses, content.data
    script = _script(environment)
    return environment.get_template("report.html.j2").render(
        generator=GENERATOR,
        style=Markup("\n".join(_source(environment, name) for name in _STYLES)),
        script=Markup(script),
        policy=_policy(script, plan.served_key is not None),
        data=Markup(_json_for_html(data)),
        bins=Markup(_json_for_html({"most": MOST_PAIRS_OF_BIN, "parts": content.bins})),
        title=words.title(result, analyses),
        run_line=words.run_line(result),
        no_findings=words.no_findings(result),
        result=result,
        headline=[sentence.replace(" ×", "\u00a0×") for sentence in words.headline(result, analyses)],
        verdict=_verdict(result, analyses),
        missing=words.missing(result, analyses),
        num_not_begun=num_not_begun,
        provenance=words.provenance_facts(result),
        run=words.run_facts(result),
        parts=content.tables,
        sizes=[(index, bytes_text(size)) for index, size in enumerate(result.message_sizes_bytes)
               if any(analysis.part.size_index == index for analysis in analyses)],
        repeats=sorted({(analysis.part.repeat, words.repeat_name(result, analysis.part)) for analysis in analyses}),
        sweep=content.sweep.figures(result),
        statistics=data["statistics"],
        notes=data["notes"],
        loop_to_itself=words.is_loop_to_itself(analyses),
        limit=SLOW_FACTOR,
        company_limit=COMPANY_FACTOR,
        fewest_partners=FEWEST_PARTNERS,
        fewest_pairs_of_link=FEWEST_PAIRS_OF_LINK,
        warnings=[finding for finding in result.findings if finding.severity == "warning"],
        is_served=plan.served_key is not None,
    )  # fmt: skip


def _verdict(result: Result, analyses: list[SliceAnalysis]) -> str:
    """The colour of the headline: alarming, fine, or neither where not all is known."""
    if words.what_stands_out(result, analyses):
        return "alarming"
    is_whole = result.complete and not any(analysis.scan.num_missing for analysis in analyses)
    return "fine" if is_whole else ""


def _source(environment: jinja2.Environment, name: str) -> str:
    loader = environment.loader
    assert loader is not None
    return loader.get_source(environment, name)[0]


def _script(environment: jinja2.Environment) -> str:
    """All scripts in one function: what one declares, those behind it see, and nobody else."""
    rooms = "\n".join(_source(environment, name) for name in (*SCRIPTS, *_OWN_SCRIPTS))
    return f'"use strict";\n(function () {{\n{rooms}\n}})();\n'


def _policy(script: str, is_served: bool) -> str:
    """Nothing is fetched, and only this script is run; a served page may ask its server."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    rules = ["default-src 'none'", "style-src 'unsafe-inline'", f"script-src 'sha256-{digest}'", "base-uri 'none'",
             "form-action 'none'"]  # fmt: skip
    return "; ".join([*rules, *(["connect-src 'self'"] if is_served else [])])


def _json_for_html(value: object) -> str:
    """JSON that cannot end a script element, whatever the strings in it are."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")

# SPDX-License-Identifier: Apache-2.0
"""From a Result to one self-contained HTML page that works offline."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
from dataclasses import asdict
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from leadline import draw, words
from leadline.analyse import (
    COMPANY_FACTOR,
    FEWEST_PARTNERS,
    SLOW_FACTOR,
    JudgedPair,
    Side,
    SliceAnalysis,
    Verdict,
    analyse,
)
from leadline.model import BoolArray, Result, Slice, Spread, Statistic
from leadline.stats import (
    PairClass,
    any_of_tiles,
    colour_range,
    describe,
    histogram,
    host_cells,
    host_matrices,
    measured,
    worst_of_tiles,
)
from leadline.units import (
    Unit,
    bandwidth_text,
    bandwidth_unit,
    bytes_text,
    in_unit,
    interval_text,
    number,
    time_text,
    time_unit,
)

GENERATOR = "leadline report"
_MOST_ROWS = 32  # of a table of ranks or hosts; the slowest ones are kept
_SHOWN_NUMBERS = ("min", "p05", "median", "mean", "p95", "p99", "max")
_LITTLE = (Statistic.MEDIAN, Statistic.MAX)


def render(result: Result, parts: tuple[Slice, ...], first_statistic: Statistic = Statistic.MEDIAN) -> str:
    """The page about these slices of a result; the first one is shown first. Everything from the file is escaped."""
    analyses = [analyse(result, part) for part in parts]
    analyses = [one for one in analyses if one.num_missing < one.num_to_measure] or analyses[:1]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("leadline", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    loader = environment.loader
    assert loader is not None
    style, matrix, rest = (loader.get_source(environment, name)[0] for name in ("report.css", "matrix.js", "report.js"))
    script = f'"use strict";\n(function () {{\n{matrix}\n{rest}\n}})();\n'
    page, notes = _page_data(result, analyses, first_statistic)
    return environment.get_template("report.html.j2").render(
        generator=GENERATOR,
        style=Markup(style),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
        data=Markup(_json_for_html(page)),
        title=words.title(result, analyses),
        result=result,
        headline=words.headline(result, analyses),
        missing=words.missing(analyses),
        not_begun=len(parts) - len(analyses),
        provenance=words.provenance_facts(result),
        run=words.run_facts(result),
        parts=[_part(result, analysis) for analysis in analyses],
        sizes=[(index, bytes_text(size)) for index, size in enumerate(result.message_sizes_bytes)
               if any(analysis.part.size_index == index for analysis in analyses)],
        repeats=sorted({(analysis.part.repeat, words.repeat_name(result, analysis.part)) for analysis in analyses}),
        sweep=_sweep(result, analyses),
        notes=notes,
        statistics=page["statistics"],
        loop_to_itself=words.is_loop_to_itself(analyses),
        own_cells=page["edge"] == 1 and not page["has_loop"],
        can_reorder=page["edge"] == 1 and len(_runs(result)) > len(result.hosts()),
        has_host_matrix="hosts_median" in page["parts"][0],
        limit=SLOW_FACTOR,
        company_limit=COMPANY_FACTOR,
        fewest_partners=FEWEST_PARTNERS,
        warnings=[finding for finding in result.findings if finding.severity == "warning"],
    )  # fmt: skip


def is_own_report(head: str) -> bool:
    """Whether a file that begins so is an earlier report, which a new one may replace."""
    return f'<meta name="generator" content="{GENERATOR}' in head


def _json_for_html(value: object) -> str:
    """JSON that cannot end a script element, whatever the strings in it are."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _runs(result: Result) -> list[tuple[int, int]]:
    """Stretches of ranks in a row on the same host: first rank, rank behind the last."""
    host_of = result.host_of()
    starts = [0, *(int(i) + 1 for i in np.flatnonzero(np.diff(host_of))), len(host_of)]
    return list(itertools.pairwise(starts))


def _page_data(
    result: Result, analyses: list[SliceAnalysis], first_statistic: Statistic
) -> tuple[dict[str, Any], list[str]]:
    """What the page's script draws from, and notes about what was left out of it."""
    notes = []
    statistics = list(Statistic)
    if draw.tile_edge(result.num_ranks, len(analyses) * (len(statistics) + 1)) > 1:
        statistics = list(dict.fromkeys((first_statistic, *_LITTLE)))
        notes.append(f"To keep the page small it has only these statistics of each pair: "
                     f"{', '.join(s.value for s in statistics)}.")  # fmt: skip
    edge = draw.tile_edge(result.num_ranks, len(analyses) * (len(statistics) + 1))
    if edge > 1:
        notes.append(f"The matrix is reduced: one cell of the picture is the slowest of {edge} × {edge} pairs.")
    hosts, host_of = result.hosts(), result.host_of()
    page: dict[str, Any] = {
        "statistics": [statistic.value for statistic in statistics],
        "first_statistic": first_statistic.value,
        "num_ranks": result.num_ranks,
        "edge": edge,
        "has_loop": words.is_loop_to_itself(analyses),
        "hosts": list(hosts),
        "host_of": host_of.tolist(),
        "num_directions": 2 if result.provenance.direction == "bidirectional" else 1,
        "parts": [_part_data(result, analysis, statistics, edge) for analysis in analyses],
    }
    return page, notes


def _part_data(result: Result, analysis: SliceAnalysis, statistics: list[Statistic], edge: int) -> dict[str, Any]:
    part, hosts = analysis.part, result.hosts()
    unit, speed_unit = _units(result, analysis)
    data: dict[str, Any] = {
        "repeat": part.repeat, "size_index": part.size_index, "message_size_bytes": part.message_size_bytes,
        "time_unit": asdict(unit), "bandwidth_unit": asdict(speed_unit), "times": {}, "ranges": {},
    }  # fmt: skip
    for statistic in statistics:
        matrix = analysis.median_ns if statistic is Statistic.MEDIAN else result.matrix(part, statistic)
        matrix = worst_of_tiles(matrix, edge) if edge > 1 else matrix
        data["times"][statistic.value] = draw.packed(matrix)
        data["ranges"][statistic.value] = draw.range_for_script(colour_range(measured(matrix)))
    _add_cells(data, "cells", any_of_tiles(analysis.to_measure, edge) if edge > 1 else analysis.to_measure)
    if edge == 1:
        counts = result.count(part)
        same = np.unique(measured(counts))
        data["count"] = int(same[0]) if same.size == 1 else draw.packed(counts)
    if 1 < len(hosts) < result.num_ranks and len(hosts) <= draw.LARGEST_PICTURE:
        for name, matrix in zip(
            ("median", "worst"), host_matrices(analysis.median_ns, result.host_of(), len(hosts)), strict=True
        ):
            data[f"hosts_{name}"] = draw.packed(matrix)
            data["ranges"][f"hosts_{name}"] = draw.range_for_script(colour_range(measured(matrix)))
        _add_cells(data, "host_cells", host_cells(analysis.to_measure, result.host_of(), len(hosts)))
    return data


def _add_cells(data: dict[str, Any], name: str, cells: BoolArray) -> None:
    """Which cells of a picture are of the test; nothing where all are."""
    if not cells.all():
        data[name] = draw.packed_bits(cells)


def _units(result: Result, analysis: SliceAnalysis) -> tuple[Unit, Unit]:
    """One unit for all times of a slice, and one for all its bandwidths."""
    values = measured(analysis.median_ns)
    typical = float(np.median(values)) if values.size else math.nan
    speed = result.bandwidth_bytes_per_s(typical, analysis.part.message_size_bytes)
    return time_unit(typical), bandwidth_unit(float(speed))


def _part(result: Result, analysis: SliceAnalysis) -> dict[str, Any]:
    """All that the template says about one slice, as text."""
    unit, speed_unit = _units(result, analysis)
    size = analysis.part.message_size_bytes
    groups = {"all pairs": measured(analysis.median_ns)}
    if len(analysis.classes) > 1:
        groups |= {pair_class.value: values for pair_class, values in analysis.classes.items()}
    distributions = {name: describe(values) for name, values in groups.items()}
    panels = {name.value: values for name, values in analysis.classes.items()}
    medians_ns = {name: describe(values).median for name, values in panels.items()}
    figure = draw.histogram_figure(histogram(panels), medians_ns, unit)
    rows = []
    for name, numbers in distributions.items():
        speed = float(result.bandwidth_bytes_per_s(numbers.median, size))
        rows.append({
            "name": name, "num_pairs": numbers.num_pairs, "bandwidth": in_unit(speed, speed_unit),
            "interval": interval_text(numbers.median_interval_low, numbers.median_interval_high, unit),
            **{key: in_unit(getattr(numbers, key), unit) for key in _SHOWN_NUMBERS},
        })  # fmt: skip
    overall = distributions["all pairs"]
    return {
        "repeat": analysis.part.repeat, "size_index": analysis.part.size_index,
        "name": f"{bytes_text(size)}, repeat {words.repeat_name(result, analysis.part)}",
        "unit": unit.name, "bandwidth_unit": speed_unit.name, "rows": rows, "histogram": figure,
        "median": time_text(overall.median), "p99": time_text(overall.p99), "max": time_text(overall.max),
        "interval": f"{rows[0]['interval']} {unit.name}" if overall.num_pairs else "–",
        "bandwidth": bandwidth_text(float(result.bandwidth_bytes_per_s(overall.median, size))),
        "num_pairs": overall.num_pairs,
        "slowdown": number(overall.max / overall.median, 3),
        "missing": analysis.num_missing,
        "num_others": int(np.count_nonzero(~(analysis.to_measure | np.eye(result.num_ranks, dtype=bool)))),
        "together": _together_rows(result, analysis.part),
        "pairs": [_pair_row(result, pair, unit) for pair in analysis.pairs],
        "ranks": _rank_rows(result, analysis, unit), "num_ranks_left_out": max(result.num_ranks - _MOST_ROWS, 0),
        "hosts": _host_rows(result, analysis, unit), "num_hosts_left_out": max(len(result.hosts()) - _MOST_ROWS, 0),
        "slowest_sender": _slowest(result, analysis.ranks, "from_ratio"),
        "slowest_receiver": _slowest(result, analysis.ranks, "to_ratio"),
    }  # fmt: skip


def _together_rows(result: Result, part: Slice) -> list[dict[str, Any]]:
    """What only some runs measure, of many pairs together: bandwidth across a cut, exchanges of all with all."""
    rows = []
    if across := result.bisection_bytes_per_s.get(part):
        rows.append(_together_row("bisection", "bisection bandwidth", part.message_size_bytes, across, "round"))
    if exchanges := result.all_to_all.get(part):
        for when, spread, value_of in (
            ("before the rounds", exchanges.before, "rank"),
            ("after the rounds", exchanges.after, "rank"),
            ("before each round", exchanges.each_round, "exchange"),
        ):
            if spread:
                size = exchanges.message_size_bytes
                rows.append(_together_row("all-to-all", f"all-to-all {when}", size, spread, value_of))
    return rows


def _together_row(term: str, name: str, size: int, spread: Spread, value_of: str) -> dict[str, Any]:
    unit = bandwidth_unit(spread.mean) if term == "bisection" else time_unit(spread.mean)
    return {
        "term": term, "name": name, "size": bytes_text(size), "unit": unit.name,
        "over": f"{spread.num:,} {value_of}{'s' if spread.num != 1 else ''}",
        **{key: in_unit(getattr(spread, key), unit) for key in ("min", "mean", "max")},
    }  # fmt: skip


def _pair_row(result: Result, pair: JudgedPair, unit: Unit) -> dict[str, Any]:
    retest = pair.retest
    return {
        "from": retest.from_rank, "to": retest.to_rank,
        "from_host": result.ranks[retest.from_rank].host, "to_host": result.ranks[retest.to_rank].host,
        "time": in_unit(retest.time_ns, unit), "again": in_unit(retest.retest_time_ns, unit),
        "usual": in_unit(pair.usual_ns, unit), "ratio": number(pair.ratio, 3), "verdict": pair.verdict.value,
        "alarming": pair.verdict is Verdict.SLOW_ALONE_TOO,
    }  # fmt: skip


def _slowest(result: Result, sides: tuple[Side, ...], name: str) -> str:
    known = [side for side in sides if math.isfinite(getattr(side, name))]
    if not known:
        return ""
    side = max(known, key=lambda side: float(getattr(side, name)))
    return f"rank {side.index} on {result.ranks[side.index].host}, {number(getattr(side, name), 3)} × usual"


def _shown(sides: tuple[Side, ...]) -> list[Side]:
    """All where they are few, else the slowest, slowest first."""
    return list(sides) if len(sides) <= _MOST_ROWS else sorted(sides, key=lambda side: -side.ratio)[:_MOST_ROWS]


def _side_cells(side: Side, unit: Unit) -> dict[str, Any]:
    cells: dict[str, Any] = {"from": in_unit(side.from_ns, unit), "to": in_unit(side.to_ns, unit)}
    for name, ratio in (("from", side.from_ratio), ("to", side.to_ratio)):
        cells[f"{name}_ratio"] = number(ratio, 3)
        cells[f"{name}_width"] = min(round(ratio * 24), 96) if math.isfinite(ratio) else 0  # px; 24 = usual
        cells[f"{name}_alarming"] = ratio >= SLOW_FACTOR
    return cells


def _rank_rows(result: Result, analysis: SliceAnalysis, unit: Unit) -> list[dict[str, Any]]:
    return [asdict(result.ranks[side.index]) | _side_cells(side, unit) for side in _shown(analysis.ranks)]


def _host_rows(result: Result, analysis: SliceAnalysis, unit: Unit) -> list[dict[str, Any]]:
    hosts, host_of = result.hosts(), result.host_of()
    rows = []
    for side in _shown(analysis.hosts):
        ranks = np.flatnonzero(host_of == side.index)
        inside = describe(measured(analysis.median_ns[np.ix_(ranks, ranks)])).median
        rows.append({"host": hosts[side.index], "ranks": words.ranks_text(ranks.tolist()), "num_ranks": len(ranks),
                     "inside": in_unit(inside, unit)} | _side_cells(side, unit))  # fmt: skip
    return rows


def _sweep(result: Result, analyses: list[SliceAnalysis]) -> list[draw.CurveFigure]:
    """Latency and bandwidth over message size, all repeats together; nothing where there is one size only."""
    sizes = sorted({analysis.part.message_size_bytes for analysis in analyses})
    if len(sizes) < 2:
        return []
    times: dict[str, list[tuple[float, float, float]]] = {}
    for pair_class in PairClass:
        if not any(pair_class in analysis.classes for analysis in analyses):
            continue
        times[pair_class.value] = [
            draw.spread(describe(np.concatenate([
                analysis.classes.get(pair_class, np.empty(0))
                for analysis in analyses if analysis.part.message_size_bytes == size
            ])))
            for size in sizes
        ]  # fmt: skip
    speeds = {
        name: [tuple(float(result.bandwidth_bytes_per_s(t, size)) for t in (row[0], row[2], row[1]))
               for size, row in zip(sizes, rows, strict=True)]
        for name, rows in times.items()
    }  # fmt: skip
    there = [row[0] for rows in times.values() for row in rows if row[0] > 0]
    fastest = [row[0] for rows in speeds.values() for row in rows if row[0] > 0]
    # The unit for the middle of a logarithmic axis.
    unit = time_unit(math.sqrt(min(there) * max(there)) if there else math.nan)
    speed_unit = bandwidth_unit(math.sqrt(min(fastest) * max(fastest)) if fastest else math.nan)
    return [
        draw.curve_figure(f"time of a message in {unit.name}", unit, sizes, times),
        draw.curve_figure(f"bandwidth in {speed_unit.name}", speed_unit, sizes, speeds),  # type: ignore[arg-type]
    ]

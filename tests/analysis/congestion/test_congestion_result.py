# SPDX-License-Identifier: Apache-2.0
"""Results of the congestion test: what is read, the page, the table, and files that are damaged."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np
import pytest
from damage import Change, attribute, changed, put, remove, replace
from made_up_congestion import (
    MADE_UP_CONGESTIONS,
    even,
    hostile_names,
    killed,
    loaded,
    many_loads,
    unfelt,
    write_congestion,
)
from page_source import Page

import leadline
from leadline.cli.export import main as export_main
from leadline.cli.report import main as report_main
from leadline.congestion.page import headline, render_congestion, worst_of

Capture = pytest.CaptureFixture[str]


def test_what_is_read(tmp_path: Path) -> None:
    result = loaded(even(), tmp_path)
    assert [cell.name for cell in result.cells] == ["no load", "incast 50 %", "incast 100 %"]
    assert result.victims.tolist() == [0, 1]
    assert (result.num_load_ranks, result.victims_are_hosts, result.num_rounds) == (6, True, 4)
    assert len(result.impacts) == 9
    impact = result.impacts[-3]
    assert (impact.load, impact.intensity_percent, impact.test, impact.shared) == ("incast", 100, "latency", "all")
    assert impact.p99.estimate == pytest.approx(40)
    assert math.isnan(impact.p999.estimate)
    assert result.loads[0].recovery_s == pytest.approx(0.004)
    assert "congestion test under no load, incast 50 %, incast 100 %" in repr(result)


def test_times_by_round_and_their_distribution(tmp_path: Path) -> None:
    result = loaded(killed(), tmp_path)
    rounds = result.rounds(2, "latency")
    np.testing.assert_allclose(rounds["alone_time_ns_median"], [20e3, 20e3, np.nan, np.nan])
    np.testing.assert_allclose(rounds["loaded_time_ns_p99"][:2], 40 * 60e3)
    edges, alone, under_load = result.distribution(2, "latency")
    assert (edges[0], edges[128], edges[-1]) == (32, 64, 2.0**37)
    assert alone.sum() == under_load.sum() == 2000
    at = int(alone.argmax())
    assert edges[at] <= 20e3 <= edges[at + 128]
    with pytest.raises(leadline.LeadlineError, match="there is no victimtest speed"):
        result.rounds(0, "speed")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("even", "Under incast 100 % the 99 % quantile of latency is 40 times as long as alone (95 % interval 39.2 to"),
        ("unfelt", "No load surely makes"),
        ("killed", "Nothing was measured."),
        ("never_begun", "Nothing was measured."),
    ],
)
def test_the_headline(name: str, first: str, tmp_path: Path) -> None:
    assert headline(loaded(MADE_UP_CONGESTIONS[name](), tmp_path))[0].startswith(first)


def test_the_worst_is_the_surest(tmp_path: Path) -> None:
    worst = worst_of(loaded(many_loads(), tmp_path).impacts)
    assert worst is not None
    assert (worst[0].intensity_percent, worst[0].shared, worst[1]) == (100, "all", "p99")
    assert worst_of(loaded(unfelt(), tmp_path).impacts) is None


def test_the_page(tmp_path: Path) -> None:
    page = Page(render_congestion(loaded(many_loads(), tmp_path)))
    lines = [attributes for tag, attributes in page.elements if tag == "polyline"]
    assert len(lines) == 3 * 4 * 2, "of each test and load the median and the 99 % quantile"
    rows = [row for row in page.rows if row and row[0] == "complete 100 %"]
    assert ["complete 100 %", "latency", "switch", "4", "1.50", "40.0", "39.2 to 40.8"] in rows
    assert any(row[1:4] == ["953.7 MiB/s", "1.024 GiB/s", "0.970"] for row in rows)


def test_the_table(tmp_path: Path, capsys: Capture) -> None:
    path = write_congestion(tmp_path / "run.h5", hostile_names())
    assert export_main([str(path), "--csv", "-o", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out), strict=True))
    assert len(rows) == 9
    assert rows[-1]["test"] == "allreduce"
    assert float(rows[-1]["factor_p99"]) == pytest.approx(40)
    assert rows[-1]["factor_p999"] == ""
    assert rows[0]["load"] == ""


def test_there_is_no_sheet(tmp_path: Path, capsys: Capture) -> None:
    path = write_congestion(tmp_path / "run.h5", even())
    assert report_main([str(path), "-o", str(tmp_path / "run.pdf")]) == 2
    assert "a congestion test has no sheet. End the name of its page in .html" in capsys.readouterr().err
    assert not (tmp_path / "run.pdf").exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (remove("congestion/victims"), "/congestion/victims is missing"),
        (put("congestion/victims", 0, 99), "/congestion/victims names a rank that is not there"),
        (put("congestion/cell_load", 0, 7), "/congestion/cell_load names a load that is not there"),
        (
            replace("congestion/cell_intensity_percent", np.zeros(2, dtype="<i4")),
            "cell_intensity_percent has the shape",
        ),
        (
            replace("congestion/rounds/alone_time_ns_p99", np.zeros((1, 3, 4))),
            "alone_time_ns_p99 is float64 of the shape",
        ),
        (attribute("congestion/num_rounds", np.int32(5)), "of the shape"),
        (remove("congestion/distribution"), "/congestion/distribution/alone is missing"),
    ],
)
def test_damage_is_told_in_one_line(change: Change, why: str, tmp_path: Path) -> None:
    path = changed(write_congestion(tmp_path / "run.h5", even()), change)
    with pytest.raises(leadline.LeadlineError, match=why):
        leadline.load(path)

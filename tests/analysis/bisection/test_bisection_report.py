# SPDX-License-Identifier: Apache-2.0
"""The report of a bisection test: what page and sheet say, and that nothing from the file gets out of place."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from made_up import nodes
from made_up_bisection import (
    MadeUpBisection,
    even,
    hostile_names,
    killed,
    like_a_fat_tree,
    loaded,
    many_sizes,
    never_begun,
    only_named,
    slow_host,
    two_ranks,
    write_bisection,
)
from page_source import Page, expect_whole_and_alone

import leadline
from leadline.bisection.analysis import analyse_size
from leadline.bisection.page import render_bisection
from leadline.cli.report import main as report_main
from leadline.cli.simulate import main as simulate_main


def page_of(made: MadeUpBisection, folder: Path) -> tuple[str, Page]:
    source = render_bisection(loaded(made, folder))
    return source, Page(source)


@pytest.fixture
def simulated(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    real_program: None,  # noqa: ARG001 -- draws the patterns
) -> tuple[Path, Path]:
    """A result, and the simulation that fits it."""
    path = write_bisection(tmp_path / "run.h5", like_a_fat_tree())
    model = tmp_path / "model.json"
    arguments = ["bisection", "--topology", "fat-tree:8x8", "--measured", str(path), "-o", str(model), "--quiet"]
    assert simulate_main(arguments) == 0
    capsys.readouterr()
    return path, model


@pytest.mark.usefixtures("real_program")
def test_the_parts_of_a_page(tmp_path: Path):
    source, page = page_of(slow_host(), tmp_path)
    for words in (
        "64 ranks on 16 hosts, tcp, 64 KiB to 1 MiB",
        "leadline bisection --output 'a b.h5'",
        "random patterns, halves, reversal, shift:1, tornado:8 · 20 exchanges of each · started by local",
        "eBB with 1 MiB: ",
        "Host node05 is slow: ",
        "1 MiB ended after 85 patterns: the time limit was reached.",
        "Ranks are not bound.",
        "85random patterns: the time limit was reached",
    ):
        assert words in page.text, words
    assert {"numbers", "patterns", "named", "worst", "slow"} <= set(page.ids())
    assert not {"simulated", "incomplete", "missing"} & set(page.ids())
    assert 'class="verdict alarming"' in source


def test_heads_of_numbers_lead_to_their_definitions(tmp_path: Path):
    _, page = page_of(slow_host(), tmp_path)
    assert {"eBB", "half-width", "of pairs alone", "median", "5 %", "harmonic", "full load"} <= {
        head.split(" in ")[0] for head, is_linked in page.number_heads.items() if is_linked
    }


def test_the_table_of_sizes(tmp_path: Path):
    result = loaded(slow_host(), tmp_path)
    rows = {row[0]: row for row in Page(render_bisection(result)).rows if len(row) == 16}
    assert set(rows) == {"message size", "64 KiB", "1 MiB"}
    row, means = rows["1 MiB"], result.patterns("1MiB", "random").bytes_per_s_mean / 2**30
    assert row[1] == "85"
    mean, half_width = (float(text) for text in row[2].split(" ± "))
    assert mean == pytest.approx(means.mean(), abs=0.001)
    assert half_width == pytest.approx(1.9886 * means.std(ddof=1) / math.sqrt(85), rel=0.01)
    assert float(row[3].strip("± %")) == pytest.approx(100 * half_width / mean, rel=0.05)
    least = result.patterns("1MiB", "random").bytes_per_s_min.min() / 2**30
    assert float(row[8]) == pytest.approx(least, rel=1e-3)


@pytest.mark.usefixtures("real_program")
def test_the_data_of_the_charts(tmp_path: Path):
    result = loaded(slow_host(), tmp_path)
    data = Page(render_bisection(result)).data()
    assert data["first_size"] == 1
    first, second = data["sizes"]
    means = result.patterns("64KiB", "random").bytes_per_s_mean
    assert first["ebb"]["mean"] == pytest.approx(means.mean(), rel=1e-5)
    assert sum(first["patterns"]["counts"]) == 124
    assert sum(first["connections"]["counts"]) == 124 * 64
    assert first["patterns"]["edges"][0] == pytest.approx(means.min(), rel=1e-5)
    assert [num for num, _, _ in first["converged"]][-1] == 124
    assert [step for step, _, _ in second["worst"]] == list(range(1, 13))
    hosts = data["components"]["hosts"]
    assert [bar["name"] for bar in hosts if bar["slow"]] == ["node05"]
    assert hosts[5]["share"] == 1
    assert [bar["begin"] for bar in data["components"]["ranks"] if bar["slow"]] == [20, 21, 22, 23]
    assert data["simulated"] is None


def test_named_patterns_are_bars_beside_the_number(tmp_path: Path):
    source, page = page_of(slow_host(), tmp_path)
    rows = [row for row in page.rows if row[0] in ("halves", "reversal", "shift:1", "tornado:8")]
    assert len(rows) == 8, "of two sizes"
    assert [float(row[2]) for row in rows[:4]] == sorted(float(row[2]) for row in rows[:4])
    assert source.count('<b style="left:150px">') == 8


def test_a_killed_run(tmp_path: Path):
    source, page = page_of(killed(), tmp_path)
    assert "Incomplete. rank 5 on node02 was lost in pattern random 30, 64 KiB." in page.text
    assert "71 patterns are there; none of 1 MiB; 1 connection has no time." in page.text
    assert "The file has no summary" in page.text
    assert 'class="verdict "' in source, "neither fine nor alarming"
    assert [one["patterns"] is None for one in page.data()["sizes"]] == [False, False, True]


def test_a_run_that_had_not_begun(tmp_path: Path):
    _, page = page_of(never_begun(), tmp_path)
    assert "Nothing was measured." in page.text
    assert not {"numbers", "patterns", "named", "slow"} & set(page.ids())


def test_only_named_patterns(tmp_path: Path):
    _, page = page_of(only_named(), tmp_path)
    assert "named" in page.ids()
    assert not {"numbers", "patterns", "slow", "worst"} & set(page.ids())


@pytest.mark.usefixtures("real_program")
def test_a_run_without_faults_is_fine(tmp_path: Path):
    source, _ = page_of(even(), tmp_path)
    assert 'class="verdict fine"' in source
    source, _ = page_of(two_ranks(), tmp_path)
    assert 'class="verdict "' in source, "of two ranks nobody knows"


def test_nothing_from_the_file_becomes_markup(tmp_path: Path):
    source, page = page_of(hostile_names(), tmp_path)
    for markup in ("<script>alert", "<img", "<u>", "<b>x", "<i>x"):
        assert markup not in source
    assert "</script><script>alert(1)</script>" in page.text
    assert "<b>x</b>:1" in page.text
    assert "49" not in page.text.partition("4 ranks on")[2].partition("\n")[0]


def test_only_one_size(tmp_path: Path):
    data = Page(render_bisection(loaded(many_sizes(), tmp_path), [2])).data()
    assert [one["bytes"] for one in data["sizes"]] == [1024]


@pytest.mark.usefixtures("real_program")
def test_many_ranks_have_a_small_page(tmp_path: Path):
    made = MadeUpBisection(nodes(256, 16), num_random=[30], rounds=32, slow_hosts={"node77": 4.0}, is_replayable=False)
    source = render_bisection(loaded(made, tmp_path))
    assert len(source) < 300_000
    places = Page(source).data()["components"]
    assert [bar["name"] for bar in places["hosts"] if bar["slow"]] == ["node77"]
    assert len(places["ranks"]) <= 400
    assert sum(bar["slow"] for bar in places["ranks"]) in (2, 3)
    assert places["ranks"][0]["name"].startswith("worst of 11: rank ")


def test_measured_against_simulated(simulated: tuple[Path, Path], capsys: pytest.CaptureFixture[str]):
    path, model = simulated
    assert report_main([str(path), "-o", "-", "--simulated", str(model)]) == 0
    page = expect_whole_and_alone(capsys.readouterr().out)
    assert "simulated" in page.ids()
    assert "fat-tree:8x8, d-mod-k routing: expected 0.7" in page.text
    assert "over the same 90 patterns; measured with 1 MiB: 0.7" in page.text
    data = page.data()["simulated"]
    assert [index for index, _, _ in data["points"]] == list(range(90))
    result = leadline.load_bisection(path)
    means = result.patterns(kind="random").bytes_per_s_mean
    of_alone = means / means.mean() * analyse_size(result, 0).contention_share.mean
    assert [measured for _, _, measured in data["points"]] == pytest.approx(of_alone.tolist(), rel=1e-5)
    expected = np.array([simulated for _, simulated, _ in data["points"]])
    assert np.corrcoef(expected, means)[0, 1] > 0.95, "the made-up network is of this kind"
    assert len(data["deviating"]) == 5
    assert report_main([str(path), "--simulated", str(model), "-o", str(path.with_suffix(".png"))]) == 0


def test_a_simulation_of_something_else(simulated: tuple[Path, Path], capsys: pytest.CaptureFixture[str]):
    _, model = simulated
    path = write_bisection(model.parent / "other.h5", even())
    assert report_main([str(path), "--simulated", str(model)]) == 2
    assert "16 ranks were measured, 64 simulated" in capsys.readouterr().err

# SPDX-License-Identifier: Apache-2.0
"""The page of a bisection test in a real browser: charts and tables follow their controls, the mouse finds bars."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser import TOOLTIP, Opened, expect_nothing_wide, pages_of, point_at
from made_up_bisection import MADE_UP_BISECTIONS, like_a_fat_tree, write_bisection

import leadline
from leadline.bisection.page import render_bisection
from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.contention import Extent, simulate
from leadline.bisection.simulate.experiments import experiment_of_result
from leadline.bisection.simulate.topology import parse_topology

pytest_plugins = ["browser"]
pytestmark = pytest.mark.browser
Open = Callable[..., Opened]

BARS = "(id) => [...document.querySelectorAll(`#${id} > div > svg .bar`)].map((bar) => bar.getAttribute('height'))"
TEXTS = "(id) => [...document.querySelectorAll(`#${id} > div > svg text`)].map((text) => text.textContent)"


def page_of(result: leadline.BisectionResult, path: Path, **options: Any) -> Path:
    page = path.with_suffix(".html")
    page.write_text(render_bisection(result, **options), encoding="utf-8")
    return page


def loaded(path: Path) -> BisectionResult:
    return leadline.load_bisection(path)


pytestmark = pytest.mark.usefixtures("real_program")  # pages are kept for all tests here


@pytest.fixture(scope="module")
def bisection_pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    return pages_of(write_bisection, MADE_UP_BISECTIONS, render_bisection, tmp_path_factory)


@pytest.fixture
def open_bisection(open_file: Callable[..., Opened], bisection_pages: Callable[[str], Path]) -> Open:
    """Opens the page about a made-up result by its name; what it complains about or asks for fails the test."""
    return lambda name, **options: open_file(bisection_pages(name), **options)


@pytest.mark.parametrize("name", sorted(MADE_UP_BISECTIONS))
def test_every_page_is_drawn(open_bisection: Open, name: str):
    page = open_bisection(name)
    assert page.ask("() => document.documentElement.dataset.error") is None
    expect_nothing_wide(page, (1440, 1000, 700, 400), ".chart > div > svg text:not(.mark)")


def test_all_charts_and_tables_follow_the_size(open_bisection: Open):
    page = open_bisection("slow_host")
    first = {chart: page.ask(BARS, chart) for chart in ("patterns-chart", "connections-chart")}
    assert "1 MiB ended after 85 patterns" in page.tab.locator("#patterns").inner_text()
    assert page.tab.locator("#named [data-size]:visible").count() == 1
    controls = page.tab.locator("select.of-size")
    assert [controls.nth(at).input_value() for at in range(controls.count())] == ["1"] * 4
    controls.nth(1).select_option("0")
    page.settle()
    assert [controls.nth(at).input_value() for at in range(controls.count())] == ["0"] * 4
    for chart, bars in first.items():
        assert page.ask(BARS, chart) != bars
    assert "64 KiB ended after 124 patterns" in page.tab.locator("#patterns").inner_text()
    assert "1 MiB ended" not in page.tab.locator("#patterns").inner_text()


def test_sizes_without_random_patterns_have_no_empty_charts(open_bisection: Open):
    page = open_bisection("killed")
    assert page.tab.locator("#patterns-chart").is_visible()
    page.tab.locator("select.of-size").first.select_option("2")
    page.settle()
    assert not page.tab.locator("#patterns-chart").is_visible()
    assert not page.tab.locator("#convergence-chart").is_visible()


def test_the_mouse_finds_bars(open_bisection: Open):
    page = open_bisection("slow_host")
    title, *rows = point_at(page, "connections-chart", 0.93)
    assert title.endswith("GiB/s")
    assert rows[0] == "connections"
    title, *rows = point_at(page, "components-chart", 0.39)
    assert (title, rows[1], rows[3]) == ("node05", "836 of 836", "100 %")


def test_hosts_or_ranks(open_bisection: Open):
    page = open_bisection("slow_host")
    assert page.tab.locator("#components-chart .slow").count() == 1
    page.tab.select_option("#components-kind", "ranks")
    assert page.tab.locator("#components-chart .slow").count() == 4
    assert point_at(page, "components-chart", 0.38)[0].startswith("rank 2")
    assert not open_bisection("like_a_fat_tree").tab.locator("#components-kind").is_visible()


def test_the_interval_narrows(open_bisection: Open):
    page = open_bisection("slow_host")
    title, name, words = point_at(page, "convergence-chart", 0.99)
    assert (title, name) == ("after 85 patterns", "mean so far")
    assert " ± " in words
    assert page.tab.locator("#convergence-chart .band").count() == 1


def test_steps_of_the_search(open_bisection: Open):
    page = open_bisection("slow_host")
    title, *rows = point_at(page, "worst-chart", 0.95)
    assert title == "step 12"
    assert rows[0::2] in (["a step", "eBB"], ["eBB", "a step"])
    assert "of the eBB" in rows[1]


@pytest.mark.usefixtures("real_program")
def test_measured_against_simulated(open_file: Callable[..., Opened], tmp_path: Path):
    result = loaded(write_bisection(tmp_path / "run.h5", like_a_fat_tree()))
    experiment = experiment_of_result(parse_topology("fat-tree:8x8"), "d-mod-k", result)
    model = simulate(experiment, Extent(60), {})
    page = open_file(page_of(result, tmp_path / "run.h5", simulated=model))
    assert page.tab.locator("#simulated-chart .point").count() == 60
    assert page.tab.locator("#simulated-chart .point.slow").count() == 5
    page.tab.locator("#simulated-chart").scroll_into_view_if_needed()
    box = page.tab.locator("#simulated-chart .point.slow").first.bounding_box()
    page.tab.mouse.move(box["x"] + 4, box["y"] + 4)
    page.tab.locator("#tooltip").wait_for()
    title, *rows = page.ask(TOOLTIP)
    assert title.startswith("random pattern ")
    assert rows[0::2] == ["simulated", "measured", "measured ÷ simulated, by that of all"]


def test_the_page_works_without_scripts(browser: Any, bisection_pages: Callable[[str], Path]):
    context = browser.opened.new_context(java_script_enabled=False, offline=True)
    tab = context.new_page()
    tab.goto(bisection_pages("slow_host").as_uri())
    assert tab.locator(".sizes tbody tr:visible").count() == 2
    assert tab.locator("#named [data-size]:visible").count() == 2
    assert tab.locator(".chart-controls:visible").count() == 0
    assert "scripts are switched off" in tab.locator("noscript").inner_text()
    context.close()

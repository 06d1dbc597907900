# SPDX-License-Identifier: Apache-2.0
"""The page of a topology test in a real browser: charts follow their controls, the matrix tells of messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browser import Opened, expect_nothing_wide, pages_of, point_at
from made_up_topology import MADE_UP_TOPOLOGIES, write_topologies

from leadline.topology.page import render_topology

pytest_plugins = ["browser"]
pytestmark = pytest.mark.browser
Open = Callable[..., Opened]

LINES = """(id) => [...document.querySelectorAll(`#${id} > div > svg g[data-name]`)].map((group) => [group.dataset.name,
  group.querySelector("polyline").getAttribute("points")])"""
TEXTS = "(id) => [...document.querySelectorAll(`#${id} > div > svg text`)].map((text) => text.textContent)"


@pytest.fixture(scope="module")
def topology_pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    return pages_of(write_topologies, MADE_UP_TOPOLOGIES, render_topology, tmp_path_factory)


@pytest.fixture
def open_topologies(open_file: Callable[..., Opened], topology_pages: Callable[[str], Path]) -> Open:
    """Opens the page about a made-up result by its name; what it complains about or asks for fails the test."""
    return lambda name, **options: open_file(topology_pages(name), **options)


def lines(page: Opened, chart: str = "rates-chart") -> dict[str, str]:
    return dict(page.ask(LINES, chart))


@pytest.mark.parametrize("name", sorted(MADE_UP_TOPOLOGIES))
def test_every_page_is_drawn(open_topologies: Open, name: str):
    page = open_topologies(name)
    assert page.ask("() => document.documentElement.dataset.error") is None
    assert page.ask("() => document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("name", ["slow_host_of_eight", "each_star", "under_load", "killed", "hostile_names"])
def test_nothing_is_wider_than_the_window(open_topologies: Open, name: str):
    page = open_topologies(name)
    expect_nothing_wide(page, (1440, 1000, 700, 400), ".chart > div > svg text")


def test_the_chart_shows_the_rate_that_is_chosen(open_topologies: Open):
    page = open_topologies("slow_host_of_eight")
    total = lines(page)
    assert list(total) == ["star", "star2", "complete", "complete2", "ring", "ring2"]
    assert "all bytes transferred, GiB/s" in page.ask(TEXTS, "rates-chart")
    page.tab.locator('#rate button[data-rate="average"]').click()
    average = lines(page)
    assert average != total
    assert "bytes of a channel, MiB/s" in page.ask(TEXTS, "rates-chart")
    page.tab.locator('#rate button[data-rate="local"]').click()
    assert lines(page) not in (total, average)
    assert page.tab.locator('#rate button[aria-pressed="true"]').inner_text() == "busiest rank"


def test_the_chart_shows_the_definition_and_scale_that_are_chosen(open_topologies: Open):
    page = open_topologies("slow_host_of_eight")
    ours = lines(page)
    assert page.tab.locator("#rates-chart .band").count() == 6
    page.tab.select_option("#rates-definition", "with_barrier median")
    assert lines(page) != ours
    page.tab.select_option("#rates-definition", "with_barrier mean")
    assert page.tab.locator("#rates-chart .band, #rates-chart .dot").count() == 0
    page.tab.select_option("#rates-definition", "exchange median")
    assert lines(page) == ours
    page.tab.select_option("#rates-scale", "linear")
    assert lines(page) != ours
    assert "0" in page.ask(TEXTS, "rates-chart")


def test_repeats_are_points(open_topologies: Open):
    page = open_topologies("even")
    assert page.tab.locator("#rates-chart .dot").count() == 2 * 18


def test_the_legend_hides_lines(open_topologies: Open):
    page = open_topologies("slow_host_of_eight")
    button = page.tab.locator("#rates-chart .chart-legend button", has_text="complete2")
    button.click()
    assert "complete2" not in lines(page)
    assert button.get_attribute("aria-pressed") == "false"
    buttons = page.tab.locator("#rates-chart .chart-legend button")
    for other in ("star", "star2", "complete", "ring", "ring2"):
        buttons.filter(has=page.tab.get_by_text(other, exact=True)).click()
    assert "nothing is chosen" in page.ask(TEXTS, "rates-chart")
    button.click()
    assert list(lines(page)) == ["complete2"]


def test_the_mouse_finds_all_rates_of_a_size(open_topologies: Open):
    page = open_topologies("slow_host_of_eight")
    title, *rows = point_at(page, "rates-chart", 0.99)
    assert title == "1 MiB"
    assert sorted(rows[::2]) == ["complete", "complete2", "ring", "ring2", "star", "star2"]
    assert rows[0] in ("complete2", "ring2"), "the largest first"
    assert rows[1].count("iB/s") == 3
    assert point_at(page, "rates-chart", 0.1)[0] == "64 B"


def test_the_table_shows_one_size_or_all(open_topologies: Open):
    page = open_topologies("slow_host_of_eight")
    rows = page.tab.locator("table.numbers tbody tr:visible")
    assert rows.count() == 6
    page.tab.select_option("#numbers-size", "all")
    assert rows.count() == 30
    page.tab.select_option("#numbers-size", "0")
    assert rows.count() == 6
    assert "64 B" in rows.first.inner_text()


def test_the_matrix_tells_of_messages(open_topologies: Open):
    page = open_topologies("slow_message")
    page.tab.select_option("#topology", "1")
    page.tab.select_option("#size", "2")
    page.wait_until("() => document.documentElement.dataset.drawn === '5 median'")
    page.settle()
    page.tab.locator("#rank-matrix").scroll_into_view_if_needed()
    text = page.hover(3, 4)
    assert text.startswith("from rank 3 (node01) to rank 4 (node02) arrives after ")
    assert "× the median 6." in text
    assert "size ÷ time" in text
    assert page.hover(3, 9).endswith("no channel –")
    assert page.hover(3, 3).endswith("no channel")


def test_the_matrix_and_its_lists_follow_the_choice(open_topologies: Open):
    page = open_topologies("slow_host_of_eight")
    first = page.tab.locator(".shown-part").first.inner_text()
    page.tab.select_option("#topology", "3")
    page.tab.select_option("#size", "1")
    page.wait_until("() => document.querySelector('.shown-part').textContent === 'complete2, 1 KiB'")
    assert first != "complete2, 1 KiB"
    rows = page.tab.locator("#slowest-messages tbody tr")
    assert rows.count() == 16
    assert "node05" in rows.first.inner_text()
    assert page.tab.locator("#slowest-ranks tbody tr.alarming").count() == 8
    assert page.tab.locator("#slowest-hosts tbody tr.alarming").inner_text().startswith("node05")


def test_lists_lead_into_the_matrix(open_topologies: Open):
    page = open_topologies("slow_host_of_eight")
    button = page.tab.locator("#slowest-messages .go").first
    button.click()
    page.wait_until("() => Number(document.getElementById('rank-matrix').dataset.span) < 64")
    page.tab.locator("#slowest-hosts .go", has_text="node05").click()
    page.wait_until("() => document.querySelector('.axes .marked')")
    assert "node05" in page.tab.locator(".axes .marked").first.text_content()


def test_hosts_as_a_matrix(open_topologies: Open):
    page = open_topologies("slow_host_of_eight")
    page.tab.locator('#axes button[data-axis="hosts"]').click()
    page.wait_until("() => document.getElementById('rank-matrix').dataset.axis === 'hosts'")
    page.settle()
    page.tab.locator("#rank-matrix").scroll_into_view_if_needed()
    assert "worst of " in page.hover(5, 5)


def test_the_star_round_each_centre(open_topologies: Open):
    page = open_topologies("each_star")
    arrivals = lines(page, "centres-chart")
    title, *rows = point_at(page, "centres-chart", 0.99)
    assert title == "centre 15 (node03)"
    assert rows[0] == "16 stars"
    page.tab.select_option("#centres-value", "times_ns")
    assert lines(page, "centres-chart") != arrivals
    assert "all bytes transferred, MiB/s" in page.ask(TEXTS, "centres-chart")
    before = lines(page, "centres-chart")
    page.tab.select_option("#centres-size", "0")
    assert lines(page, "centres-chart") != before


def test_throughput_over_time(open_topologies: Open):
    page = open_topologies("under_load")
    large = lines(page, "load-chart")
    assert list(large) == ["complete2", "ring2"]
    title, *rows = point_at(page, "load-chart", 0.95)
    assert title.endswith(" s")
    assert "longest exchange" in rows[1]
    page.tab.select_option("#load-size", "0")
    assert lines(page, "load-chart") != large


def test_the_page_works_without_scripts(browser: Any, topology_pages: Callable[[str], Path]):
    context = browser.opened.new_context(java_script_enabled=False, offline=True)
    tab = context.new_page()
    tab.goto(topology_pages("slow_host_of_eight").as_uri())
    assert tab.locator("table.numbers tbody tr:visible").count() == 30
    assert tab.locator(".chart-controls:visible, #lists:visible").count() == 0
    assert "scripts are switched off" in tab.locator("noscript").inner_text()
    context.close()

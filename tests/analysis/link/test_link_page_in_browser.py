# SPDX-License-Identifier: Apache-2.0
"""The page around the matrix in a real browser: bins lead to their pairs, tables into the matrix, nothing overlaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from browser import Opened, overlaps

from conftest import MadeUp, times_of

pytest_plugins = ["browser"]
pytestmark = pytest.mark.browser
Open = Callable[..., Opened]

SHOWN_ROWS = """() => [...document.querySelectorAll(".bin-pairs:not([hidden]) li button")]
  .map((row) => [...row.children].map((cell) => cell.textContent))"""
CENTRE = """() => { const told = document.getElementById('rank-matrix').dataset;
  return [told.row, told.column].map((begin) => Number(begin) + Number(told.span) / 2); }"""


def title_of_list(page: Opened) -> str:
    return str(page.tab.locator(".bin-pairs:not([hidden]) p").inner_text())


def is_zoomed_to(page: Opened, row: int, column: int) -> None:
    # As a function: the page's policy allows no text that is evaluated again and again.
    page.wait_until(f"() => {{ const [r, c] = ({CENTRE})(); return Math.hypot(r - {row}, c - {column}) < 5; }}")
    assert float(page.told()["span"]) < 64


def test_a_bin_lists_its_pairs_and_they_lead_into_the_matrix(open_page: Open):
    page = open_page("slow_host")
    assert page.tab.locator(".bin-pairs:visible").count() == 0
    page.tab.locator('.bin[data-class="between hosts"]').last.click()
    page.tab.locator(".bin-pairs:visible").wait_for()
    assert title_of_list(page).startswith("between hosts, ")
    assert ": 1 pair" in title_of_list(page)
    assert page.ask(SHOWN_ROWS) == [["5 → 60", "node01 → node15", "170.0 µs"]]
    page.tab.locator(".bin-pairs:visible li button").click()
    is_zoomed_to(page, 5, 60)


def test_a_full_bin_shows_twenty_of_its_pairs(open_page: Open):
    page = open_page("slow_host")
    fullest = page.tab.locator('.bin[data-class="between hosts"]', has_text=",").first
    number = fullest.get_attribute("aria-label").split()[0]
    fullest.click()
    page.tab.locator(".bin-pairs:visible").wait_for()
    assert f": 20 of {number} pairs" in title_of_list(page)
    rows = page.ask(SHOWN_ROWS)
    assert len(rows) == 20
    times = [float(row[2].split()[0]) for row in rows]
    assert times == sorted(times, reverse=True)


def test_bins_work_by_keyboard(open_page: Open):
    page = open_page("slow_host")
    last = page.tab.locator('.bin[data-class="between hosts"]').last
    last.focus()
    page.tab.keyboard.press("ArrowLeft")
    page.tab.keyboard.press("Enter")
    page.tab.locator(".bin-pairs:visible").wait_for()
    chosen = page.tab.locator(".bin.chosen")
    assert chosen.count() == 1
    assert chosen.get_attribute("data-bin") != last.get_attribute("data-bin")
    page.tab.keyboard.press("End")
    page.tab.keyboard.press(" ")
    page.wait_until("() => document.querySelector('.bin-pairs:not([hidden]) li').innerText.includes('5 → 60')")
    assert page.tab.locator('.bin[data-class="between hosts"][tabindex="0"]').count() == 1
    for _ in range(2):  # the way to close, then the pair
        page.tab.keyboard.press("Tab")
    page.tab.keyboard.press("Enter")
    is_zoomed_to(page, 5, 60)
    page.tab.locator(".bin-pairs:visible .close").click()
    assert page.tab.locator(".bin-pairs:visible, .bin.chosen").count() == 0


def test_each_size_has_its_own_bins(open_page: Open):
    page = open_page("sweep")
    page.choose("size", "3")
    page.tab.locator(".bin:visible").last.click()
    page.tab.locator(".bin-pairs:visible").wait_for()
    assert all(200 < float(row[2].split()[0]) < 230 for row in page.ask(SHOWN_ROWS))
    page.choose("size", "0")
    assert page.tab.locator(".bin-pairs:visible").count() == 0


def test_the_cumulative_distribution_tells_its_shares(open_page: Open):
    page = open_page("slow_host")
    titles = page.ask("() => [...document.querySelectorAll('.cumulative-strip title')].map((one) => one.textContent)")
    assert titles[-1].endswith("same host: all 192\nbetween hosts: all 3,840")
    assert "between hosts: 99.97 %, 1 slower" in titles[-2]
    top = page.tab.locator(".cumulative polyline.curve-1").bounding_box()
    assert top["height"] > 150


def slow_link() -> MadeUp:
    hosts = [f"node{index:02d}" for index in range(16) for _ in range(4)]
    times = times_of(hosts, 2)
    at = np.array(hosts)
    times[np.ix_(at == "node03", at == "node07")] *= 2.5
    return MadeUp(hosts, [[times]])


@pytest.mark.parametrize(
    ("made", "target", "row", "column"),
    [("slow_host", "#standouts td .go", 5, 60), ("slow_host", "#slowest td .go", 5, 60),
     (slow_link(), "#links td .go", 13.5, 29.5)],
)  # fmt: skip
def test_tables_lead_into_the_matrix(open_page: Open, made: Any, target: str, row: float, column: float):
    page = open_page(made)
    page.tab.locator(target).first.click()
    is_zoomed_to(page, row, column)
    page.tab.locator("#rank-matrix canvas").wait_for()
    assert page.ask("() => document.getElementById('rank-matrix').getBoundingClientRect().top < window.innerHeight")


def test_a_host_of_the_table_is_marked(open_page: Open):
    page = open_page("slow_host")
    page.tab.locator("#hosts .go", has_text="node11").click()
    page.wait_until("() => document.querySelector('.axes .marked')")
    assert "node11" in page.tab.locator(".axes .marked").first.text_content()


@pytest.mark.parametrize("name", ["slow_host", "sweep", "cyclic", "hostile"])
def test_nothing_is_wider_than_the_window(open_page: Open, name: str):
    page = open_page(name)
    for width in (1440, 1000, 900):
        page.tab.set_viewport_size({"width": width, "height": 900})
        page.settle()
        assert page.ask("() => document.documentElement.scrollWidth <= window.innerWidth")
        assert overlaps([box for box in page.boxes(".plot text") if box["right"] > box["left"]]) == []


def test_the_matrix_is_on_the_first_screen(open_page: Open):
    page = open_page("slow_host", width=1440, height=900)
    box = page.tab.locator("#rank-matrix canvas").bounding_box()
    assert box["y"] + box["height"] <= 900
    assert box["y"] <= 300
    assert box["width"] >= 350


def test_definitions_are_marked_where_a_link_leads(open_page: Open):
    page = open_page("two_hosts")
    page.tab.locator("a.term", has_text="95 % interval of the median").click()
    page.wait_until("() => location.hash === '#def-interval'")
    # The view's own address is written a moment after it is drawn.
    page.ask("() => { dispatchEvent(new Event('resize')); return new Promise((done) => setTimeout(done, 500)); }")
    assert page.ask("() => location.hash") == "#def-interval"
    assert (
        page.ask("() => getComputedStyle(document.getElementById('def-interval')).backgroundColor")
        != "rgba(0, 0, 0, 0)"
    )

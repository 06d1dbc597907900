# SPDX-License-Identifier: Apache-2.0
"""The page of a parallel file test in a real browser: charts and tables follow the phase, the mouse finds ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from browser import Opened, expect_nothing_wide, pages_of, point_at
from made_up_io import MADE_UP_IOS, write_io

from leadline.io.page import render_io

pytest_plugins = ["browser"]
pytestmark = pytest.mark.browser
Open = Callable[..., Opened]

WIDTHS = "(id) => [...document.querySelectorAll(`#${id} > div > svg rect`)].map((one) => one.getAttribute('width'))"


@pytest.fixture(scope="module")
def io_pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    return pages_of(write_io, MADE_UP_IOS, render_io, tmp_path_factory)


@pytest.fixture
def open_io(open_file: Callable[..., Opened], io_pages: Callable[[str], Path]) -> Open:
    """Opens the page about a made-up result by its name; what it complains about or asks for fails the test."""
    return lambda name, **options: open_file(io_pages(name), **options)


@pytest.mark.parametrize("name", sorted(MADE_UP_IOS))
def test_every_page_is_drawn(open_io: Open, name: str):
    page = open_io(name)
    assert page.ask("() => document.documentElement.dataset.error") is None
    expect_nothing_wide(page, (1440, 700, 400), ".chart > div > svg text:not(.mark)")


def test_charts_and_tables_follow_the_phase(open_io: Open):
    page = open_io("straggling")
    assert page.tab.locator("#time [data-phase]:visible").count() == 1
    assert "Times of ranks, write," in page.tab.locator("#time").inner_text()
    first = page.ask(WIDTHS, "use-chart")
    page.tab.locator("select.of-phase").select_option("3")
    page.settle()
    assert page.ask(WIDTHS, "use-chart") != first
    assert "Times of ranks, read 2," in page.tab.locator("#time").inner_text()
    kinds = page.tab.locator("#use-legend li").all_inner_texts()
    assert "verify" in kinds
    assert "sync" not in kinds, "a read has none"


def test_the_mouse_finds_a_straggler(open_io: Open):
    page = open_io("straggling")
    # Row 13 of 32, in its call.
    box = page.tab.locator("#use-chart > div > svg").bounding_box()
    title, *rows = point_at(page, "use-chart", 0.5, (8 + 13.5 * (box["height"] - 48) / 32) / box["height"])
    assert title.startswith("rank 13: call")
    assert rows[2:4] == ["host", "node01"]
    assert page.tab.locator("#use-chart text.slow").all_text_contents() == ["rank 13"]


def test_only_some_of_many_ranks(open_io: Open):
    page = open_io("many_ranks")
    assert page.tab.locator("#time .only-part").first.is_visible()
    assert not open_io("even").tab.locator("#time .only-part").first.is_visible()


def test_nothing_is_drawn_of_nothing(open_io: Open):
    page = open_io("never_begun")
    assert page.tab.locator("#time").count() == 0

# SPDX-License-Identifier: Apache-2.0
"""A real browser for the tests of the page: one for all of them, without a network; and what a reader does in it."""

from __future__ import annotations

import functools
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import leadline
from conftest import MADE_UP, MadeUp, write_result
from leadline.link.page import render

# The one without windows draws pages in half of the time.
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for found in map(shutil.which, _BROWSERS) if found), None)
WIDTH, HEIGHT = 1280, 900
DEADLINE_MS = 20_000
COLOURS = """() => {
  const canvas = document.querySelector("#rank-matrix canvas");
  if (!canvas.width) return [];
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const found = new Set();
  for (let i = 0; i < data.length; i += 4) found.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return [...found];
}"""


@dataclass
class Opened:
    """A page in a tab. problems: what it wrote to the console as an error, and errors nobody caught; requests: what it
    asked for beside itself.
    """

    tab: Any
    problems: list[str]
    requests: list[str]

    def ask(self, expression: str, argument: object = None) -> Any:
        """The value of a JavaScript expression or function; the page's own policy does not hold for it."""
        return self.tab.evaluate(expression, argument)

    def wait_until(self, expression: str) -> None:
        """Until the JavaScript expression, or what the function returns, is true; fails after the deadline. Not as the
        browser's driver waits: the page's own policy would not have it.
        """
        self.ask(
            f"""async () => {{
              const end = performance.now() + {DEADLINE_MS};
              const is_true = (found) => (typeof found === "function" ? found() : found);
              while (!is_true({expression})) {{
                if (performance.now() > end) throw new Error({json.dumps(f"not in time: {expression}")});
                await new Promise((again) => setTimeout(again, 10));
              }}
            }}"""
        )

    def told(self) -> dict[str, str]:
        """What the viewer says about itself: row, column and span in sight, side in pixels, axis, statistic ..."""
        told: dict[str, str] = self.ask("() => ({...document.getElementById('rank-matrix').dataset})")
        return told

    def choose(self, name: str, value: str) -> None:
        """Chooses in one of the controls; waits until the viewer has drawn that, where it tells of it."""
        self.tab.select_option(f"#{name}", value)
        if name in {"statistic", "reduction"}:
            self.wait_until(f"document.getElementById('rank-matrix').dataset['{name}'] === '{value}'")
        self.settle()

    def settle(self) -> None:
        """Until what was asked for is drawn: tasks that wait, and then two frames."""
        self.ask(
            "() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 0))"
        )

    def place(self, row: float, column: float) -> tuple[float, float]:
        """The pixel of the window where the middle of a cell of one position is."""
        told = self.told()
        box = self.tab.locator("#rank-matrix canvas").bounding_box()
        scale = float(told["side"]) / float(told["span"])
        return (
            box["x"] + (column + 0.5 - float(told["column"])) * scale,
            box["y"] + (row + 0.5 - float(told["row"])) * scale,
        )

    def hover(self, row: float, column: float) -> str:
        """Points at a cell: the text of the tooltip, names and values with a space between."""
        tooltip = "document.getElementById('tooltip')"
        self.tab.mouse.move(1, 1)
        self.wait_until(f"{tooltip}.hidden")
        self.tab.mouse.move(*self.place(row, column))
        self.wait_until(f"!{tooltip}.hidden && {tooltip}.querySelector('dt')")
        return str(self.ask(f"() => [...{tooltip}.querySelectorAll('p, dt, dd')].map((e) => e.textContent).join(' ')"))

    def colours(self) -> set[int]:
        """All colours on the canvas, as 0xrrggbb."""
        return set(self.ask(COLOURS))

    def wait_for_colour(self, colour: int) -> None:
        """Until this colour, 0xrrggbb, is on the canvas: tiles of a server arrive after the page is drawn."""
        self.wait_until(f"() => ({COLOURS})().includes({colour})")

    def colour_at(self, row: float, column: float) -> int:
        """The colour of a cell near its upper left corner, where no mark is."""
        told = self.told()
        scale = float(told["side"]) / float(told["span"])
        x = (column - float(told["column"])) * scale + scale * 0.3
        y = (row - float(told["row"])) * scale + scale * 0.25
        return int(
            self.ask(
                """([x, y]) => {
                  const canvas = document.querySelector("#rank-matrix canvas"), ratio = window.devicePixelRatio;
                  const at = [Math.floor(x * ratio), Math.floor(y * ratio)];
                  const [r, g, b] = canvas.getContext("2d").getImageData(...at, 1, 1).data;
                  return r << 16 | g << 8 | b;
                }""",
                [x, y],
            )
        )

    def boxes(self, selector: str) -> list[dict[str, Any]]:
        """Texts and boxes of elements, in the window's pixels."""
        found: list[dict[str, Any]] = self.ask(
            """(selector) => [...document.querySelectorAll(selector)].map((element) => {
              const { left, right, top, bottom } = element.getBoundingClientRect();
              const title = element.querySelector("title"), text = element.textContent;
              return { text: title ? text.slice(0, -title.textContent.length) : text, left, right, top, bottom };
            })""",
            selector,
        )
        return found


class Browser:
    """The browser without a network, with a context for each number of pixels of its screen."""

    def __init__(self, opened: Any) -> None:
        """Begins without a context."""
        self.opened = opened
        self.contexts: dict[float, Any] = {}

    def context_of(self, pixel_ratio: float) -> Any:
        """Without a network, as all of them."""
        if pixel_ratio not in self.contexts:
            context = self.opened.new_context(device_scale_factor=pixel_ratio, offline=True)
            self.contexts[pixel_ratio] = context
        return self.contexts[pixel_ratio]


def overlaps(boxes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Texts that touch each other."""
    found = []
    for index, a in enumerate(boxes):
        for b in boxes[index + 1 :]:
            wide = min(a["right"], b["right"]) - max(a["left"], b["left"])
            high = min(a["bottom"], b["bottom"]) - max(a["top"], b["top"])
            # The boxes of letters reach beyond their ink.
            if min(wide, high) > 1.5 and max(wide, high) > 4:
                found.append((a["text"], b["text"]))
    return found


TOOLTIP = "() => [...document.querySelectorAll('#tooltip p, #tooltip dt, #tooltip dd')].map((e) => e.textContent)"


def point_at(page: Opened, chart: str, x: float, y: float = 0.5) -> list[str]:
    """The texts of the tooltip where the mouse is at shares of the chart's width and height."""
    svg = page.tab.locator(f"#{chart} > div > svg")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    page.tab.mouse.move(box["x"] + box["width"] * x, box["y"] + box["height"] * y)
    page.tab.locator("#tooltip").wait_for()
    found: list[str] = page.ask(TOOLTIP)
    return found


def pages_of(
    write: Callable[..., Path], made_up: Mapping[str, Callable[[], Any]], render: Callable[..., str],
    factory: pytest.TempPathFactory,
) -> Callable[[str], Path]:  # fmt: skip
    """Pages about made-up results by their names, each made once."""

    def known(name: str) -> Path:
        path = write(factory.mktemp(name) / "run.h5", made_up[name]())
        page = path.with_suffix(".html")
        page.write_text(render(leadline.load(path)), encoding="utf-8")
        return page

    return functools.cache(known)


def expect_nothing_wide(page: Opened, widths: Sequence[int], texts: str) -> None:
    """Fails where the page is wider than a window of one of these widths, or texts in its charts touch each other."""
    for width in widths:
        page.tab.set_viewport_size({"width": width, "height": 900})
        page.settle()
        assert page.ask("() => document.documentElement.scrollWidth <= window.innerWidth"), width
        assert overlaps([box for box in page.boxes(texts) if box["right"] > box["left"]]) == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    if CHROMIUM is None:
        pytest.skip("no chromium here: the page was not opened in a browser")
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright here: the page was not opened")
    with playwright.sync_playwright() as started:
        # As root, as in a container, its sandbox does not start.
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = started.chromium.launch(executable_path=CHROMIUM, args=[*sandbox, "--disable-gpu"])
        yield Browser(opened)
        opened.close()


@pytest.fixture
def open_file(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """Opens pages without a network; what they complain about fails the test, unless it takes it out of problems."""
    opened: list[Opened] = []

    def open_it(path: Path, *, width: int = WIDTH, height: int = HEIGHT, pixel_ratio: float = 1) -> Opened:
        tab = browser.context_of(pixel_ratio).new_page()
        tab.set_viewport_size({"width": width, "height": height})
        page = Opened(tab, [], [])
        opened.append(page)
        page.tab.on("console", lambda one: page.problems.append(one.text) if one.type == "error" else None)
        page.tab.on("pageerror", lambda error: page.problems.append(str(error)))
        page.tab.on("request", lambda request: page.requests.append(request.url))
        page.tab.goto(path.as_uri())
        page.requests.remove(path.as_uri())
        page.wait_until("document.documentElement.dataset.drawn || document.documentElement.dataset.error")
        return page

    yield open_it
    for page in opened:
        page.tab.close()
    assert [problem for page in opened for problem in page.problems] == []
    assert [request for page in opened for request in page.requests if not request.startswith("blob:")] == []


@pytest.fixture
def open_page(
    open_file: Callable[..., Opened], known_pages: Callable[[str], Path], tmp_path: Path
) -> Callable[..., Opened]:
    """Opens the page about a made-up result, as it is or by the name of one of MADE_UP, whose page is made once for all
    tests; further arguments as of open_file.
    """

    def open_it(made: MadeUp | str, **options: Any) -> Opened:
        page = known_pages(made) if isinstance(made, str) else page_of(made, tmp_path)
        return open_file(page, **options)

    return open_it


@pytest.fixture(scope="session")
def known_pages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Pages about the results of MADE_UP by their names."""
    return functools.cache(lambda name: page_of(MADE_UP[name](), tmp_path_factory.mktemp(name)))


def page_of(made: MadeUp, folder: Path) -> Path:
    """The page about all slices of a made-up result, as a file."""
    return page_of_file(write_result(folder / "run.h5", made))


def page_of_file(path: Path) -> Path:
    """The page about all slices of a result, beside it."""
    result = leadline.load(path)
    page = path.with_suffix(".html")
    page.write_text(render(result, result.slices), encoding="utf-8")
    return page

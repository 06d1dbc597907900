# SPDX-License-Identifier: Apache-2.0
"""The page of `leadline view` in a real browser: tiles from the server, down to the right numbers of a single pair."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from browser import HEIGHT, WIDTH, Browser, Opened
from served import DEADLINE_S, KEY, answers_of

from conftest import MadeUp, rounds_of, times_of, write_result
from leadline.view.server import Server

pytest_plugins = ["browser"]
pytestmark = pytest.mark.browser

FROM, TO = 377, 123


def far_apart() -> MadeUp:
    """Three tiles along a side, and a single pair that is 40 times slower."""
    hosts = [f"n{rank // 16:02d}" for rank in range(600)]
    times = times_of(hosts, 1)
    times[FROM, TO] = 160_000.0
    return MadeUp(hosts, [[times]], rounds=[rounds_of(times > 0)])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    answers = answers_of(write_result(tmp_path_factory.mktemp("served") / "run.h5", far_apart()))
    server = Server(answers, 0, None)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(DEADLINE_S)
    answers.stop(DEADLINE_S)


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Opened]:
    """The served page, drawn; it fails the test where it complains, or asks another server."""
    context = browser.opened.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    opened = Opened(context.new_page(), [], [])
    opened.tab.on("console", lambda one: opened.problems.append(one.text) if one.type == "error" else None)
    opened.tab.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.tab.on("request", lambda request: opened.requests.append(request.url))
    own = f"http://127.0.0.1:{server.port}/"
    opened.tab.goto(f"{own}?key={KEY}")
    # The page that waits loads itself again until this one is made.
    opened.tab.wait_for_selector("#rank-matrix", state="attached", timeout=1000 * DEADLINE_S)
    opened.wait_until("document.documentElement.dataset.drawn || document.documentElement.dataset.error")
    yield opened
    context.close()
    assert opened.problems == []
    assert [url for url in opened.requests if not url.startswith((own, "blob:", "data:"))] == []


def zoom_to(page: Opened, span: float) -> None:
    while float(page.told()["span"]) > span:
        page.tab.mouse.move(*page.place(FROM, TO))
        page.tab.mouse.wheel(0, -600)
        page.settle()


def test_wheel_zooms_to_a_single_pair_with_its_numbers(page: Opened) -> None:
    assert float(page.told()["span"]) == 600
    zoom_to(page, 20)
    assert page.told()["edge"] == "1"
    page.hover(FROM, TO)
    page.wait_until("document.getElementById('tooltip').textContent.includes('160.0')")
    text = page.hover(FROM, TO)
    assert text.startswith(f"from rank {FROM} (n23) to rank {TO} (n07)")
    for words in ("median 160.0 µs", "min 144.0 µs", "mean 168.0 µs", "p99 256.0 µs", "max 320.0 µs", "batches 20"):
        assert words in text
    assert f"round {1 + (FROM + TO) % 600}" in text


def test_slow_pair_is_seen_from_afar_and_far_from_the_median(page: Opened) -> None:
    page.choose("times", "expected")  # the first choice only where somebody has diagnosed the result
    page.wait_for_colour(0x7F2704)  # five times the expected time and more
    page.choose("times", "absolute")
    page.wait_for_colour(0xE0102B)  # red
    page.choose("reduction", "median")
    page.wait_until("document.getElementById('rank-matrix').dataset.reduction === 'median'")
    assert page.told()["statistic"] == "median"


def test_statistic_switch_changes_the_numbers_under_the_mouse(page: Opened) -> None:
    zoom_to(page, 20)
    page.choose("statistic", "max")
    text = page.hover(FROM, TO)
    assert "bandwidth at max" in text

# SPDX-License-Identifier: Apache-2.0
"""The first screen of a link test's page: findings beside the matrix, time by expected, outlines, the address, dark."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from browser import Opened, page_of
from made_up_diagnosis import diagnosis, fault, in_slices, slow_component

import leadline
from conftest import write_result
from leadline.diagnosis import diagnosed_in, told_faults
from leadline.draw.colours import FACTORS
from leadline.link.analysis import analyse
from leadline.link.first_screen import expected_ns
from leadline.report.findings import findings_for_script

pytest_plugins = ["browser"]
Open = Callable[..., Opened]
SOUND, SLOW_3 = (int(FACTORS[at][1][1:], 16) for at in (0, 3))
ADDRESS = "() => location.hash"


def expected_of(made: object, folder: Path) -> list[float | None]:
    """Of the only slice: inside a host and between hosts, in ns."""
    result = leadline.load(write_result(folder / "run.h5", made))
    (part,) = result.slices
    return expected_ns(result, analyse(result, part), diagnosed_in(result).found.get(part))["median"]


@pytest.mark.parametrize("kind", ["host", "link", "uplink"])
def test_pairs_of_findings_do_not_shift_what_is_expected(tmp_path: Path, kind: str):
    made = slow_component(kind)
    times, host = made.times[0][0], np.arange(64) // 4
    concerned = {
        "host": (host == 11)[:, None] | (host == 11)[None, :],
        "link": (host == 3)[:, None] & (host == 7)[None, :],
        "uplink": ((host >= 4) & (host < 8))[:, None] | ((host >= 4) & (host < 8))[None, :],
    }[kind]
    is_other = host[:, None] != host[None, :]
    inside, between = expected_of(made, tmp_path)
    assert between == pytest.approx(np.median(times[is_other & ~concerned]), rel=1e-3)
    is_pair = ~is_other & ~np.eye(64, dtype=bool)
    assert inside == pytest.approx(np.median(times[is_pair & ~concerned]), rel=1e-3)


def test_without_a_sound_pair_all_of_the_class_count(tmp_path: Path):
    made = slow_component("host")
    made.summary_slices = in_slices(
        diagnosis(
            fault(
                "uplink",
                "the uplink of everything",
                0,
                2.0,
                level=0,
                hosts=list(range(16)),
            )
        )
    )
    times, host = made.times[0][0], np.arange(64) // 4
    _, between = expected_of(made, tmp_path)
    assert between == pytest.approx(np.median(times[host[:, None] != host[None, :]]), rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "blocks"),
    [("host", [[{"hosts": [11]}, None], [None, {"hosts": [11]}]]),
     ("link", [[{"hosts": [3]}, {"hosts": [7]}]]),
     ("uplink", [[{"hosts": [4, 5, 6, 7]}, None], [None, {"hosts": [4, 5, 6, 7]}]]),
     ("pair", [[{"ranks": [5]}, {"ranks": [60]}]])],
)  # fmt: skip
def test_where_a_finding_is_outlined(tmp_path: Path, kind: str, blocks: list[object]):
    result = leadline.load(write_result(tmp_path / "run.h5", slow_component(kind)))
    found = told_faults(diagnosed_in(result), result.slices)
    (one,) = findings_for_script(found, result.slices)
    assert (one["number"], one["part"], one["is_bad"]) == (1, None, True)
    assert one["blocks"] == blocks


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height", "least"), [(1280, 900, 480), (1920, 1080, 560)])
def test_findings_and_matrix_are_both_on_the_first_screen(open_page: Open, width: int, height: int, least: float):
    page = open_page(slow_component("host"), width=width, height=height)
    (canvas,) = page.boxes("#rank-matrix canvas")
    (finding,) = page.boxes("#finding-1")
    assert finding["right"] < canvas["left"], "on its left"
    assert max(canvas["bottom"], finding["bottom"]) <= height
    assert canvas["right"] - canvas["left"] >= least
    assert page.ask("() => document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["host", "link", "uplink", "pair"])
def test_on_a_narrow_screen_they_stand_below_each_other(open_page: Open, kind: str):
    page = open_page(slow_component(kind), width=400, height=800)
    page.tab.locator("#finding-1 summary").click()
    (finding,) = page.boxes("#finding-1")
    (canvas,) = page.boxes("#rank-matrix canvas")
    assert finding["bottom"] <= canvas["top"]
    assert page.ask("() => document.documentElement.scrollWidth") <= 400
    assert all(box["right"] <= 400 for box in [finding, canvas])


@pytest.mark.browser
def test_the_matrix_shows_the_time_by_expected_at_first(open_page: Open):
    page = open_page(slow_component("host"))
    assert page.told()["times"] == "expected"
    assert page.colour_at(20, 50) == SOUND
    label = page.tab.locator("#rank-matrix canvas").get_attribute("aria-label")
    assert label == "times by expected from every rank to every rank, 1 finding outlined"
    assert page.colour_at(45, 3) == SLOW_3, "three times as long"
    assert page.colours() >= {SOUND, SLOW_3}
    assert re.search(r"by expected ×(2\.[89]|3\.[01])\d* of ", page.hover(45, 3))
    legend = page.tab.locator("svg.axes").text_content()
    assert all(text in legend for text in ("below ×1.1", "×1.1 to ×1.5", "×5 and more", "median of its class"))
    page.choose("times", "absolute")
    assert page.told()["times"] == "absolute"
    assert SLOW_3 not in page.colours()
    assert "bandwidth" in page.tab.locator("svg.axes").text_content()


@pytest.mark.browser
def test_the_ranks_of_findings_can_stand_first(open_page: Open):
    page = open_page(slow_component("link"))
    offered = page.ask("() => [...document.getElementById('order').options].map((one) => one.value)")
    assert offered == ["rank", "findings"], "no network is known, and hosts are in order"
    page.choose("order", "findings")
    page.wait_until("document.getElementById('rank-matrix').dataset.axis === 'ranks-by-findings'")
    told = page.hover(1, 6)
    assert "from rank 13 " in told, "of host 3, which sends"
    assert "to rank 30 " in told, "of host 7, which receives"
    assert "to rank 2 " in page.hover(1, 10), "then the others"
    assert page.colour_at(1, 6) != SOUND
    page.wait_until(f"({ADDRESS})().includes('order=findings')")


@pytest.mark.browser
def test_another_statistic_is_absolute(open_page: Open):
    page = open_page(slow_component("host"))
    page.choose("statistic", "max")
    assert page.told()["times"] == "absolute"
    assert page.tab.locator("#times").is_disabled()
    page.choose("statistic", "median")
    assert page.told()["times"] == "expected"


@pytest.mark.browser
def test_without_a_diagnosis_times_are_absolute(open_page: Open):
    page = open_page("slow_host")
    assert page.told()["times"] == "absolute"
    page.choose("times", "expected")
    assert page.told()["times"] == "expected"
    assert SOUND in page.colours()


@pytest.mark.browser
@pytest.mark.parametrize(("kind", "num_outlines"), [("host", 2), ("link", 1), ("uplink", 2), ("pair", 1)])
def test_findings_and_outlines_lead_to_each_other(open_page: Open, kind: str, num_outlines: int):
    page = open_page(slow_component(kind))
    assert len(page.boxes(".axes rect.finding:not(.halo):not(.catch)")) == num_outlines
    assert {box["text"] for box in page.boxes(".axes .finding-number")} == {"1"}
    page.tab.locator(".axes .finding-number").first.click()
    page.wait_until("() => document.querySelector('#finding-1.chosen details[open]')")
    page.tab.locator("#unmark").evaluate("(button) => button.click()")
    assert page.tab.locator("#finding-1.chosen").count() == 0
    page.tab.locator("#finding-1 h2 .go").click()
    page.wait_until(
        "() => document.querySelector('#finding-1.chosen') && document.querySelector('.axes .finding.chosen')"
    )


@pytest.mark.browser
def test_every_pair_of_the_list_has_its_number_on_top(open_page: Open):
    made = slow_component("host")
    for rank in range(12):
        made.times[0][0][rank, 63 - rank] *= 40
    page = open_page(made)
    signs = page.ask("() => [...document.querySelectorAll('#striking .sign')].map((one) => one.textContent.slice(2))")
    assert signs == [str(number) for number in range(2, 14)], "behind the finding, which is 1"
    numbers = page.ask(
        "() => [...document.querySelectorAll('.axes .number:not(.finding-number)')].map((one) => one.textContent)"
    )
    assert sorted(numbers, key=int) == signs
    drawn = page.ask(
        "() => [...document.querySelectorAll('.axes .rare, .axes .finding, .axes .number')]"
        ".map((one) => one.matches('.number'))"
    )
    assert drawn == sorted(drawn), "numbers are drawn behind all outlines, so that none hides them"


@pytest.mark.browser
def test_the_address_keeps_what_is_shown(open_file: Open, tmp_path: Path):
    path = page_of(slow_component("link"), tmp_path)
    page = open_file(path)
    assert page.ask(ADDRESS) == ""
    page.choose("times", "absolute")
    page.tab.locator("#finding-1 h2 .go").click()
    page.wait_until("() => location.hash.includes('span=') && location.hash.includes('times=absolute')")
    address, told = page.ask(ADDRESS), page.told()
    other = open_file(path)
    other.ask("(address) => { location.hash = address; }", address)
    other.wait_until("() => document.getElementById('rank-matrix').dataset.span < 64")
    assert other.told()["times"] == "absolute"
    for key in ("row", "column", "span"):
        assert float(other.told()[key]) == pytest.approx(float(told[key]), abs=0.1)
    other.ask("() => { location.hash = 'times=nonsense&statistic=none&span=-1'; }")
    other.wait_until("() => document.getElementById('rank-matrix').dataset.times === 'expected'")
    assert float(other.told()["span"]) == 64


@pytest.mark.browser
def test_picture_and_data_can_be_saved(open_page: Open):
    page = open_page(slow_component("host"))
    with page.tab.expect_download() as saved:
        page.tab.locator("#save-data").click()
    lines = Path(saved.value.path()).read_text().splitlines()
    assert lines[0] == "from_rank,to_rank,from_host,to_host,time_ns_median,expected_ns"
    assert len(lines) == 1 + 64 * 63
    with page.tab.expect_download() as saved:
        page.tab.locator("#save-picture").click()
    picture = Path(saved.value.path()).read_text()
    assert picture.startswith("<svg")
    assert "data:image/png;base64," in picture
    assert "time by expected" in picture


def _luminance(colour: str) -> float:
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_are_readable(open_page: Open, scheme: str):
    page = open_page(slow_component("host"))
    page.tab.emulate_media(color_scheme=scheme)
    page.settle()
    paper = _luminance(page.ask("() => getComputedStyle(document.body).backgroundColor"))
    assert (paper < 0.1) == (scheme == "dark")
    for selector in (
        "h1",
        ".run-line",
        "a",
        "#finding-1 h2 .go",
        "#finding-1 .factor",
        "#finding-1 .pairs",
        ".hint",
        "#controls label",
        "td",
    ):
        text = _luminance(page.ask("(one) => getComputedStyle(document.querySelector(one)).color", selector))
        assert (max(text, paper) + 0.05) / (min(text, paper) + 0.05) >= 4.5, selector
    axis = _luminance(page.ask("() => getComputedStyle(document.querySelector('.axes text')).fill"))
    assert (max(axis, paper) + 0.05) / (min(axis, paper) + 0.05) >= 4.5
    assert page.colour_at(20, 50) == SOUND, "the data's colours mean the same"

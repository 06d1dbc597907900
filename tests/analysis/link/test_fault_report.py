# SPDX-License-Identifier: Apache-2.0
"""What reports say of faults: the list on top of the page and of the sheet, its pictures, and where there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from browser import Opened
from made_up_diagnosis import diagnosis, fault, in_slices, joined, program_that_says, slow_component
from page_source import Page, expect_whole_and_alone
from test_link_sheet import assert_well_set, text_boxes

import leadline
from conftest import MadeUp, hostile, one_rank, sweep, times_of, two_hosts, write_result
from leadline.cli.report import main as report_main
from leadline.link.page import render
from leadline.link.result import LinkResult
from leadline.link.sheet import analyses_for_sheet, sheet_page
from leadline.link.strip import StripCells, strip_cells
from leadline.report.paper import drawing

pytest_plugins = ["browser"]


def loaded(made: MadeUp, folder: Path) -> LinkResult:
    return leadline.load_link(write_result(folder / "run.h5", made))


def page_of(made: MadeUp, folder: Path) -> tuple[str, Page]:
    result = loaded(made, folder)
    source = render(result, result.slices)
    return source, expect_whole_and_alone(source)


def test_a_fault_in_words(tmp_path: Path):
    source, page = page_of(slow_component("host"), tmp_path)
    faults = page.between("all about the run", "ranks × ranks")
    for text in (
        "1 fault found.",
        "Host node11 is slow",
        "3 times as long as usual (2.94 to 3.06)",
        "492 ordered pairs, such as 44 → 3 12.00 µs instead of 4.000 µs",
        "not one of its ranks: nearly all of them show it",
        "alone 2.9 times as long, so it is also there without load",
        "Look at it.",
    ):
        assert text in faults, text
    assert 'class="verdict alarming"' in source
    assert "stands out" not in faults
    assert page.data()["parts"][0]["slow_hosts"] == [[11, 3.0]]


def test_one_verdict_everywhere(tmp_path: Path):
    """A link that is a third slower, which no factor finds, and a host that only the factor finds."""
    made = slow_component("link")
    made.times[0][0][20:24, :] *= 1.7
    _, page = page_of(made, tmp_path)
    (part,) = page.data()["parts"]
    assert (part["slow_hosts"], part["slow_ranks"], part["slow_links"]) == ([], [], [[3, 7, 1.3]])
    assert "node03node07" in page.between("Links between hosts that stand out", "measured again alone")
    alarming = [attributes for tag, attributes in page.elements if "ratio alarming" in str(attributes.get("class"))]
    assert len(alarming) == 1, "the link's"


def test_no_fault_is_fine(tmp_path: Path):
    made = two_hosts()
    made.times = [[times_of(made.hosts, 1)]]
    made.summary_slices = in_slices(diagnosis(notes=["One socket is known of none."]))
    source, page = page_of(made, tmp_path)
    assert 'class="verdict fine"' in source
    assert "No fault found: nothing is 10 % slower than comparable components by more than chance." in page.text
    assert "One socket is known of none." in page.text
    assert not [tag for tag, attributes in page.elements if attributes.get("class") == "strip"]


def test_no_fault_is_not_all_well_where_a_suspect_could_not_be_tested(tmp_path: Path):
    made = two_hosts()
    made.times = [[times_of(made.hosts, 1)]]
    made.summary_slices = in_slices(diagnosis(fault("port", "the port of node1", 1, 1.19, list="untested")))
    _, page = page_of(made, tmp_path)
    assert "No fault found, but 1 suspect could not be tested." in page.text


def test_without_a_diagnosis_the_page_says_why(tmp_path: Path):
    _, page = page_of(two_hosts(), tmp_path)
    assert "Without a diagnosis: the result file has none." in page.text
    assert {"without-diagnosis"} <= set(page.ids())
    assert "faults" not in page.ids()
    _, page = page_of(one_rank(), tmp_path)
    assert "diagnosis" not in page.between("all about the run", "Definitions")


def test_faults_of_several_sizes(tmp_path: Path):
    made = sweep()
    made.times, made.permutations = made.times[:1], None
    rank = fault("rank", "rank 3 on node01", 3, 1.6, pairs=[{"from": 3, "to": 1, "measured": 9, "expected": 6}])
    made.summary_slices = in_slices(diagnosis(), diagnosis(rank), diagnosis(rank), diagnosis())
    made.summary_faults = [joined(1, 0, 2, 4)]
    _, page = page_of(made, tmp_path)
    assert "(in 2 of 4 sizes and repeats)" in page.text
    buttons = [
        attributes for tag, attributes in page.elements if tag == "button" and attributes.get("data-rank") == "3"
    ]
    assert buttons[0]["data-part"] == "1"


@pytest.mark.parametrize(("direction", "ends"), [("out", ("5", "60")), ("in", ("60", "5")), ("both", ("5", "60"))])
def test_a_pair_leads_to_its_cell(tmp_path: Path, direction: str, ends: tuple[str, str]):
    made = slow_component("pair")
    made.summary_slices[0]["diagnosis"]["faults"][0]["direction"] = direction
    _, page = page_of(made, tmp_path)
    buttons = [attributes for tag, attributes in page.elements if tag == "button" and "data-from" in attributes]
    assert (buttons[0]["data-from"], buttons[0]["data-to"]) == ends


def test_many_faults_are_cut(tmp_path: Path):
    made = slow_component("host")
    made.summary_slices = in_slices(diagnosis(*(fault("rank", f"rank {one}", one, 2.0) for one in range(40))))
    source, page = page_of(made, tmp_path)
    assert source.count('<figure class="strip"') == 12
    assert "28 more" in page.text
    assert "Rank 39 is slow: 2 times as long as usual" in page.text
    assert len(source) < 1_500_000


def test_nothing_gets_out_of_its_place(tmp_path: Path):
    made, text = hostile(), "</section><script>alert(5)</script>"
    made.summary_slices = in_slices(
        diagnosis(fault("rank", text, 1, 2.0, advice=text, ruled_out=[text]), notes=[text], topology=text)
    )
    source, page = page_of(made, tmp_path)
    assert "<script>alert" not in source
    assert page.text.count("alert(5)") >= 5


def cells_of(made: MadeUp, folder: Path) -> StripCells:
    result = loaded(made, folder)
    (part,) = result.slices
    cells = strip_cells(result, part, result.diagnoses[part].faults[0])
    assert cells is not None
    return cells


@pytest.mark.parametrize(("kind", "factor"), [("host", 3.0), ("link", 1.3), ("uplink", 1.6), ("pair", 10.0)])
def test_a_strip_shows_what_is_slow(tmp_path: Path, kind: str, factor: float):
    cells = cells_of(slow_component(kind), tmp_path)
    assert cells.widths.sum() == 64
    sent = cells.sent
    assert len(sent.times) == {"host": 4, "link": 4, "uplink": 8, "pair": 1}[kind]
    assert sent.concerned.sum() == {"host": 64, "link": 4, "uplink": 48, "pair": 1}[kind]
    ratio = np.nanmedian(sent.times[:, sent.concerned]) / np.nanmedian(sent.others)
    assert ratio == pytest.approx(factor, rel=0.12)
    is_both_ways = kind in ("host", "uplink")
    assert cells.received.concerned.any() == is_both_ways


def large(num_ranks: int, found: dict[str, object], times: Callable[[np.ndarray], np.ndarray]) -> MadeUp:
    hosts = [f"n{rank // 4:04d}" for rank in range(num_ranks)]
    medians = np.full((num_ranks, num_ranks), 4000.0)
    return MadeUp(hosts, [[times(medians)]], summary_slices=in_slices(diagnosis(found)))


def test_a_strip_of_many_ranks_is_small_and_keeps_the_pair(tmp_path: Path):
    def slow(medians: np.ndarray) -> np.ndarray:
        medians[100, 1234] = 90_000.0
        return medians

    made = large(1400, fault("pair", "the pair", 100, 20.0, second=1234, direction="out"), slow)
    cells = cells_of(made, tmp_path)
    assert len(cells.widths) < 150
    assert cells.sent.times[:, cells.sent.concerned].tolist() == [[90_000.0]]
    result = leadline.load(tmp_path / "run.h5")
    figure = re.search(r'<figure class="strip".*?</figure>', render(result, result.slices), re.DOTALL)
    assert figure
    assert len(figure[0]) < 60_000


def test_places_strewn_over_the_ranks_stand_first(tmp_path: Path):
    found = fault("switch", "leaf switch a", 0, 2.0, level=0, hosts=list(range(0, 60, 2)))
    cells = cells_of(large(240, found, lambda medians: medians), tmp_path)
    assert cells.is_reordered or cells.sent.concerned.all()


def test_an_older_program_does_not_say_what_is_below_a_switch(tmp_path: Path):
    made = slow_component("uplink")
    del made.summary_slices[0]["diagnosis"]["faults"][0]["component"]["hosts"]
    source, page = page_of(made, tmp_path)
    assert '<figure class="strip"' not in source
    assert "The uplink of leaf switch leaf1 is slow" in page.text


def test_the_command_asks_with_a_topology(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write_result(tmp_path / "run.h5", slow_component("host"))
    said = diagnosis(fault("uplink", "the uplink of leaf0", 0, 2.0, level=0, hosts=[0]), topology="fat-tree:2x8")
    assert report_main([str(path), "--topology", "fat-tree:2x8"]) == 3, "nobody can be asked"
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program_that_says(tmp_path, said)))
    assert report_main([str(path), "--topology", "fat-tree:2x8"]) == 0
    page = Page(path.with_suffix(".html").read_text(encoding="utf-8"))
    assert "The uplink of leaf0 is slow" in page.text
    assert "Network: fat-tree:2x8." in page.text


def test_cables_of_forwarding_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    path = write_result(tmp_path / "run.h5", slow_component("host"))
    names = ["the cable leaf1 (port 17) - spine2 (port 3)", "the cable leaf1 (port 18) - spine3 (port 3)"]
    told = {"host_names": [], "switch_name": "leaf1"}
    said = diagnosis(*(fault("cable", name, None, 2.0, **told) for name in names), topology="ib.txt")
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program_that_says(tmp_path, said)))
    assert report_main([str(path), "--topology", "ib.txt", "--routes", "/lfts"]) == 0
    arguments = json.loads((tmp_path / "arguments.json").read_text())
    assert arguments[3:] == ["--topology", "ib.txt", "--routes", "/lfts"]
    page = Page(path.with_suffix(".html").read_text(encoding="utf-8"))
    for name in names:
        assert f"{name[0].upper()}{name[1:]} is slow" in page.text, "each of them"
    assert report_main([str(path), "--routes", "/lfts", "--overwrite"]) == 2
    assert "--routes has no effect without --topology" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["host", "link", "uplink", "pair"])
def test_the_sheet_has_the_list(tmp_path: Path, kind: str):
    result = loaded(slow_component(kind), tmp_path)
    with drawing():
        paper = sheet_page(result, analyses_for_sheet(result, result.slices))
        assert_well_set(paper)
    texts = [text for text, *_ in text_boxes(paper)]
    assert "1 fault found." in texts
    assert "Look at it." in texts
    name = next(iter(result.diagnoses.values())).faults[0].name
    assert any(name[1:] in text and "times as long as usual" in text for text in texts)


def test_a_sheet_with_many_faults(tmp_path: Path):
    made = slow_component("host")
    long = "a place with a rather long name " * 6
    made.summary_slices = in_slices(
        diagnosis(*(fault("rank", long, one, 2.0, advice="do it " * 60) for one in range(9)))
    )
    result = loaded(made, tmp_path)
    with drawing():
        paper = sheet_page(result, analyses_for_sheet(result, result.slices))
        assert_well_set(paper)
    assert "and 5 more, which leadline diagnose lists" in [text for text, *_ in text_boxes(paper)]


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["host", "link", "uplink", "pair"])
def test_faults_in_a_browser(open_page: Callable[..., Opened], kind: str):
    page = open_page(slow_component(kind), width=1280)
    page.tab.locator("#faults summary").click()
    (card,) = page.boxes("#faults > ol > li")
    (figure,) = page.boxes(".strip")
    assert card["right"] <= 1280
    assert figure["bottom"] <= card["bottom"]
    assert sum(box["bottom"] - box["top"] for box in page.boxes(".strip .band")) <= 160
    for band in page.boxes(".strip svg"):
        assert band["right"] - band["left"] > 180
    page.tab.set_viewport_size({"width": 400, "height": 900})
    page.settle()
    assert all(box["right"] <= 400 for box in page.boxes("#faults > ol > li, .strip svg"))


@pytest.mark.browser
def test_a_fault_leads_into_the_matrix(open_page: Callable[..., Opened]):
    page = open_page(slow_component("host"))
    page.tab.locator("#faults h2 .go").click()
    page.wait_until("() => document.querySelector('.axes .marked')")
    assert "node11" in page.tab.locator(".axes .marked").first.text_content()
    page.tab.locator("#faults summary").click()
    page.tab.locator("#faults dd .go").first.click()
    page.wait_until("() => Number(document.getElementById('rank-matrix').dataset.span) < 64")

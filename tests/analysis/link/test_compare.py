# SPDX-License-Identifier: Apache-2.0
"""What the program says of two results, and the report's section about it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import program
import pytest
from browser import Opened
from made_up_comparison import compared_class, compared_size, program_that_compares, slower_host
from made_up_diagnosis import fake_program, fault, slow_component
from page_source import Page, expect_whole_and_alone
from test_link_sheet import assert_well_set, text_boxes

import leadline
from conftest import hostile, sweep, write_result
from leadline.cli.report import main as report_main
from leadline.link.compare import compared, comparison_of
from leadline.link.page import render
from leadline.link.result import LinkResult
from leadline.link.sheet import analyses_for_sheet, sheet_page
from leadline.model import Change
from leadline.readers.contents import DamagedError
from leadline.report.paper import drawing

pytest_plugins = ["browser"]


@pytest.fixture
def result(tmp_path: Path) -> LinkResult:
    return leadline.load_link(write_result(tmp_path / "run.h5", slow_component("host")))


def asked(monkeypatch: pytest.MonkeyPatch, folder: Path, *sizes: dict[str, Any]) -> None:
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program_that_compares(folder, *sizes)))


def page_of(result: LinkResult, *words: Any) -> Page:
    source = render(result, result.slices, compared=compared(["earlier.h5"], result, *words))
    return expect_whole_and_alone(source)


def test_the_program_is_asked(tmp_path: Path, result: LinkResult, monkeypatch: pytest.MonkeyPatch):
    asked(monkeypatch, tmp_path, slower_host())
    said = compared([tmp_path / "earlier.h5"], result, topology="fat-tree:4x4")
    (size,) = said.sizes
    assert (said.is_worse, size.is_worse, size.num_pairs, size.message_size_bytes) == (True, True, 4032, 1024)
    assert [(one.name, one.ratio, one.change) for one in size.classes] == [
        ("same host", 1.0, Change.NONE), ("between hosts", 1.2, Change.SLOWER)
    ]  # fmt: skip
    assert [(one.component.first, one.ratio) for one in size.slower] == [(11, 1.5)]
    assert [(one.component.first, one.component.second) for one in size.faster] == [(3, 7)]
    arguments = json.loads((tmp_path / "arguments.json").read_text())
    assert arguments == [
        "compare",
        str(tmp_path / "earlier.h5"),
        str(result.path),
        "--json",
        "--topology",
        "fat-tree:4x4",
    ]


def test_only_what_is_shown_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    result = leadline.load_link(write_result(tmp_path / "run.h5", sweep()))
    asked(monkeypatch, tmp_path, compared_size(65_536))
    compared(["earlier.h5"], result, [part for part in result.slices if part.size_index == 2])
    assert json.loads((tmp_path / "arguments.json").read_text())[4:] == ["--message-size", "65536"]


@pytest.mark.parametrize(
    ("script", "why"),
    [("print('{}')", "does not print a comparison"), ("sys.exit(4)", "ended with status 4"),
     ("print('leadline: they cannot be compared (so)', file=sys.stderr); sys.exit(2)", "cannot be compared (so)")],
)  # fmt: skip
def test_without_an_answer_there_is_a_reason(
    tmp_path: Path, result: LinkResult, script: str, why: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):  # fmt: skip
    monkeypatch.setenv("LEADLINE_PROGRAM", str(fake_program(tmp_path, script)))
    assert report_main([str(result.path), "--baseline", "earlier.h5"]) in (2, 4)
    assert why in capsys.readouterr().err
    assert not result.path.with_suffix(".html").exists()


@pytest.mark.parametrize(
    ("key", "value"),
    [("classes", 3), ("slower", [{"kind": "cat"}]), ("notes", "text"), ("message_size_bytes", None),
     ("classes", [compared_class("same host", 1.0, "sideways")]), ("slower", [fault("host", "host 99", 99, 2.0)])],
)  # fmt: skip
def test_a_damaged_answer_is_an_error(key: str, value: Any):
    document = {"before": "a", "sizes": [slower_host()]}
    comparison_of(document, 64, 16)
    damaged = copy.deepcopy(document)
    damaged["sizes"][0][key] = value
    with pytest.raises(DamagedError):
        comparison_of(damaged, 64, 16)


def test_the_section_of_the_page(tmp_path: Path, result: LinkResult, monkeypatch: pytest.MonkeyPatch):
    asked(monkeypatch, tmp_path, slower_host())
    page = page_of(result)
    section = page.between("Compared with earlier.h5", "Row = sender") if "Row = sender" in page.text else page.text
    for text in (
        "Slower than in earlier.h5: pairs between hosts by +20.0 %; host node11 1.5 times.",
        "Faster: the link between node03 and node07 1.25 times.",
        "1 KiB, 4,032 ordered pairs in both results",
        "+18.8 % to +21.2 %",
        "Host node11 became slower: 1.5 times as long (1.47 to 1.53)",
        "The link between node03 and node07 became faster: 1.25 times as fast",
        "--messages was 100 and is 5",
    ):
        assert text in section, text
    (host,) = [found for tag, found in page.elements if tag == "button" and found.get("class") == "go"
               and found.get("data-host") == "11" and "data-part" in found][-1:]  # fmt: skip
    assert host["data-part"] == "0"
    assert {"compared", "def-compared"} <= set(page.ids())


def test_several_baselines(tmp_path: Path, result: LinkResult, monkeypatch: pytest.MonkeyPatch):
    files = ["/old/march.h5", "/old/april.h5"]
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program_that_compares(tmp_path, slower_host(), baselines=files)))
    output = tmp_path / "report.html"
    words = [str(result.path), *(word for one in files for word in ("--baseline", one)), "--output", str(output)]
    assert report_main(words) == 0
    assert json.loads((tmp_path / "arguments.json").read_text())[:3] == ["compare", *files]
    page = expect_whole_and_alone(output.read_text(encoding="utf-8"))
    for text in (
        "Compared with its 2 baselines",
        "Slower than in its 2 baselines: pairs between hosts by +20.0 %; host node11 1.5 times.",
        "Baselines: march.h5, april.h5.",
        "4,032 ordered pairs in all results",
        "what a single run may show by the scatter of the baselines",
    ):
        assert text in page.text, text


def test_nothing_changed(tmp_path: Path, result: LinkResult, monkeypatch: pytest.MonkeyPatch):
    asked(monkeypatch, tmp_path, compared_size(1024, compared_class("between hosts", 1.01)))
    page = page_of(result)
    assert "Nothing is slower than in earlier.h5 by more than chance." in page.text
    assert "became" not in page.text


def test_without_a_baseline_there_is_no_section(result: LinkResult):
    page = expect_whole_and_alone(render(result, result.slices))
    assert not {"compared", "def-compared"} & set(page.ids())


def test_many_places_are_cut(tmp_path: Path, result: LinkResult, monkeypatch: pytest.MonkeyPatch):
    places = [fault("rank", f"rank {one}", one, 2.0) for one in range(40)]
    asked(monkeypatch, tmp_path, compared_size(1024, compared_class("between hosts", 1.0), slower=places))
    page = page_of(result)
    assert page.text.count("became slower") == 20
    assert "And 20 more" in page.text
    assert "and 37 more" in page.text


def test_nothing_gets_out_of_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    result = leadline.load_link(write_result(tmp_path / "run.h5", hostile()))
    text = "</section><script>alert(5)</script>"
    size = compared_size(1024, compared_class(text, 2.0, "slower"), slower=[fault("rank", text, 1, 2.0)], notes=[text])
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program_that_compares(tmp_path, size, before=text)))
    source = render(result, result.slices, compared=compared(["earlier.h5"], result))
    assert "<script>alert" not in source
    assert expect_whole_and_alone(source).text.count("alert(5)") >= 4


def test_the_sheet_says_it(tmp_path: Path, result: LinkResult, monkeypatch: pytest.MonkeyPatch):
    asked(monkeypatch, tmp_path, slower_host())
    with drawing():
        paper = sheet_page(result, analyses_for_sheet(result, result.slices), compared=compared(["earlier.h5"], result))
        assert_well_set(paper)
    texts = " ".join(text for text, *_ in text_boxes(paper))
    assert "Slower than in earlier.h5: pairs between hosts by +20.0 %; host node11 1.5 times." in texts
    assert "--messages was 100 and is 5." in texts


@pytest.mark.parametrize("end", ["html", "pdf"])
def test_the_command(tmp_path: Path, result: LinkResult, end: str, monkeypatch: pytest.MonkeyPatch):
    asked(monkeypatch, tmp_path, slower_host())
    output = tmp_path / f"report.{end}"
    assert report_main([str(result.path), "--baseline", "earlier.h5", "--output", str(output)]) == 0, "also where worse"
    assert output.stat().st_size > 10_000


def test_what_a_baseline_says_nothing_to(tmp_path: Path, result: LinkResult, capsys: pytest.CaptureFixture[str]):
    words = [str(result.path), "--baseline", "earlier.h5", "--output", str(tmp_path / "matrix.png")]
    assert report_main(words) == 2
    assert "--baseline" in capsys.readouterr().err
    assert report_main([str(result.path), "--baseline", "earlier.h5"]) == 3, "nobody can be asked"


def test_the_real_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if not program.PROGRAM.is_file():
        pytest.skip(f"{program.PROGRAM.name} is not built")
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))
    made = slow_component("host")
    write_result(tmp_path / "after.h5", made)
    earlier = slow_component("link")  # the same machine, with another place at fault
    write_result(tmp_path / "before.h5", earlier)
    result = leadline.load_link(tmp_path / "after.h5")
    said = compared([tmp_path / "before.h5"], result)
    assert [one.name for one in said.sizes[0].slower] == ["host node11"]
    assert [(one.name, one.direction.value) for one in said.sizes[0].faster] == [
        ("the link from node03 to node07", "out")
    ]
    with pytest.raises(leadline.LeadlineError):
        compared([tmp_path / "nothing.h5"], result)


@pytest.mark.browser
def test_a_place_leads_into_the_matrix(
    open_file: Callable[..., Opened], tmp_path: Path, result: LinkResult, monkeypatch: pytest.MonkeyPatch
):
    asked(monkeypatch, tmp_path, slower_host())
    path = tmp_path / "report.html"
    path.write_text(render(result, result.slices, compared=compared(["earlier.h5"], result)), encoding="utf-8")
    page = open_file(path)
    page.tab.locator("#compared .go").first.click()
    page.wait_until("() => document.querySelector('.axes .marked')")
    assert "node11" in page.tab.locator(".axes .marked").first.text_content()
    page.tab.set_viewport_size({"width": 400, "height": 900})
    page.settle()
    shown = page.boxes("#compared p, #compared table, #compared li")
    assert len(shown) == 6
    assert all(box["right"] <= 400 for box in shown)

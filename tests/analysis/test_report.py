# SPDX-License-Identifier: Apache-2.0
"""The page: all parts are there, nothing from the file gets out of its place, and nothing is fetched."""

from __future__ import annotations

import base64
import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import leadline
from conftest import (
    MadeUp,
    between_hosts,
    bisection,
    few_rounds,
    hostile,
    one_per_host,
    partial,
    slow_host,
    sweep,
    two_hosts,
    write_result,
)
from leadline import draw
from leadline.report import is_own_report, render


class Page(HTMLParser):
    """Elements with their attributes, the text outside scripts and styles, and the data inside."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._raw = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._raw = tag
            self.scripts.append("")

    def handle_endtag(self, tag):
        if tag == self._raw:
            self._raw = ""

    def handle_data(self, data):
        if self._raw:
            self.scripts[-1] += data
        else:
            self.text += data

    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.elements if "id" in attributes]

    def data(self) -> dict:
        return json.loads(self.scripts[1])


def page_of(made: MadeUp, folder: Path) -> tuple[str, Page]:
    result = leadline.load(write_result(folder / "run.h5", made))
    source = render(result, result.slices)
    return source, Page(source)


def test_every_page_is_whole_and_alone(any_made: MadeUp, tmp_path: Path):
    source, page = page_of(any_made, tmp_path)
    assert source.startswith("<!DOCTYPE html>")
    assert source.rstrip().endswith("</html>")
    assert is_own_report(source[:4096])
    assert "http:" not in source
    assert "https:" not in source
    fetching = {"src", "srcset", "action", "data", "poster", "background", "formaction", "ping"}
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base", "img")
        assert not fetching & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert str(attributes.get("href", "#")).startswith("#")
    ids = page.ids()
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        if "href" in attributes:
            assert str(attributes["href"])[1:] in ids
    assert {"verdict", "matrix", "distribution", "slowest", "findings", "provenance", "definitions"} <= set(ids)


def test_the_parts_of_a_page(tmp_path: Path):
    _, page = page_of(two_hosts(), tmp_path)
    for words in (
        "8 ranks on 2 hosts, tcp, 1 KiB",
        "leadline link --local 8 --output 'a b.h5'",
        "CLOCK_MONOTONIC (tsc), resolution 1.0 ns, cost 22 ns",
        "Pair 2 → 6 (node01.cluster → node02.cluster) is slow alone too.",
        "8 ranks share 2 cores.",
        "Start fewer ranks.",
        "2026-01-31T23:59:00Z to 2026-01-31T23:59:12Z (12.0 s)",
        "slow alone too",
        "only in company",
        "same host: 24 pairs",
        "between hosts: 32 pairs",
        "Slowest row (as a sender): rank ",
        "host-matrix",
    ):
        assert words in page.text or words in page.ids(), words
    assert "incomplete" not in page.ids()


def test_the_matrix_in_the_page_is_the_matrix_of_the_result(tmp_path: Path):
    made = two_hosts()
    _, page = page_of(made, tmp_path)
    part = page.data()["parts"][0]
    values = np.frombuffer(base64.b64decode(part["times"]["median"]), dtype="<f4").reshape(8, 8)
    expected = np.where(made.times[0][0] > 0, made.times[0][0], np.nan).astype(np.float32)
    np.testing.assert_array_equal(values, expected)
    assert set(part["times"]) == {"median", "min", "mean", "p99", "max"}
    assert part["count"] == 20
    assert part["ranges"]["median"]["above"] == 2


def test_an_incomplete_run_has_a_banner(tmp_path: Path):
    _, page = page_of(partial(), tmp_path)
    assert "incomplete" in page.ids()
    assert "rank 3 on node01.cluster was lost in round 5 (partner 6)" in page.text
    assert "46 of 56 ordered pairs are measured" in page.text
    assert "of the 2 sizes and repeats, 1 had not begun" in page.text
    assert "no end" in page.text


def test_a_run_without_a_single_value(tmp_path: Path):
    made = partial()
    made.times = [[np.zeros((8, 8))] * 2]
    _, page = page_of(made, tmp_path)
    assert "Nothing was measured." in page.text
    assert "nan" not in page.text
    assert "– ns" not in page.text
    assert "0 of 56 ordered pairs are measured" in page.text


def test_a_complete_bisection_misses_nothing(tmp_path: Path):
    source, page = page_of(bisection(), tmp_path)
    assert "banner bad" not in source.replace('id="script-problem" class="banner bad"', "")
    for words in (
        "pairs across the two halves of the ranks",
        "128ordered pairs measured; 112 are not in this test",
        "between hosts: 128 pairs",
    ):
        assert words in page.text, words
    assert "missing" not in page.text
    assert "same host: " not in page.text


def rows_of(page: Page) -> list[str]:
    """The lines of the table of many pairs together, their cells one behind the other."""
    section = page.text.partition("Many pairs together")[2].partition("From every rank")[0]
    return [line for line in section.splitlines() if line.strip()][1:]


def test_bandwidth_across_the_cut(tmp_path: Path):
    _, page = page_of(bisection(), tmp_path)
    assert rows_of(page) == ["bisection bandwidth1 KiB8 rounds2.0002.5003.000GiB/s"]
    assert any(attributes.get("href") == "#def-bisection" for _, attributes in page.elements)


def test_exchanges_of_all_with_all(tmp_path: Path):
    made = between_hosts()
    _, page = page_of(made, tmp_path)
    assert rows_of(page) == [
        "all-to-all before the rounds64 KiB8 ranks20.0030.0040.00µs",
        "all-to-all after the rounds64 KiB8 ranks40.0060.0080.00µs",
    ]
    assert any(attributes.get("href") == "#def-all-to-all" for _, attributes in page.elements)
    its = made.summary_slices[0]["all_to_all"]
    its["before"], its["after"], its["each_round"] = None, None, its["before"] | {"num": 48, "time_ns_max": None}
    _, page = page_of(made, tmp_path)
    assert rows_of(page) == ["all-to-all before each round64 KiB48 exchanges20.0030.00–µs"]


def test_other_runs_have_no_table_of_these(tmp_path: Path):
    _, page = page_of(two_hosts(), tmp_path)
    assert "together" not in page.ids()


def cells_of(part: dict, name: str, n: int) -> np.ndarray:
    bits = np.unpackbits(np.frombuffer(base64.b64decode(part[name]), dtype=np.uint8))
    return bits[: n * n].reshape(n, n).astype(bool)


def test_the_page_knows_the_cells_of_the_test(tmp_path: Path):
    made = bisection()
    _, page = page_of(made, tmp_path)
    part = page.data()["parts"][0]
    assert made.rounds
    np.testing.assert_array_equal(cells_of(part, "cells", 16), made.rounds[0] > 0)
    np.testing.assert_array_equal(cells_of(part, "host_cells", 8), np.kron([[0, 1], [1, 0]], np.ones((4, 4))) > 0)
    assert "host_cells" not in page_of(two_hosts(), tmp_path)[1].data()["parts"][0]


def test_each_repeat_has_its_own_cells(tmp_path: Path):
    made = few_rounds()
    _, page = page_of(made, tmp_path)
    assert made.rounds
    for part, rounds in zip(page.data()["parts"], made.rounds, strict=True):
        np.testing.assert_array_equal(cells_of(part, "cells", 8), rounds > 0)


def test_one_rank_that_takes_part_alone(tmp_path: Path):
    _, page = page_of(one_per_host(1), tmp_path)
    assert page.data()["has_loop"] is True
    assert "the loop to itself, divided by the number of messages" in page.text
    assert "a rank to itself: not a pair" not in page.text


def test_a_sweep_has_curves_and_choices(tmp_path: Path):
    _, page = page_of(sweep(), tmp_path)
    assert {"sweep", "size", "repeat", "statistic"} <= set(page.ids())
    assert len(page.data()["parts"]) == 8
    assert "1 of 2, permutation 1 of the ranks" in page.text
    assert sum(tag == "polyline" for tag, _ in page.elements) == 4


def test_nothing_gets_out_of_its_place(tmp_path: Path):
    source, page = page_of(hostile(), tmp_path)
    assert sum(tag == "script" for tag, _ in page.elements) == 2
    assert "alert(" not in page.scripts[2]
    for tag, _ in page.elements:
        assert tag not in ("u", "i ", "img")
    assert "<script>alert" not in source
    assert "<img" not in source
    for host in hostile().hosts:
        assert host in page.text
    assert page.data()["hosts"] == hostile().hosts


def test_only_the_pages_own_script_may_run(tmp_path: Path):
    source, page = page_of(hostile(), tmp_path)
    policy = next(str(a["content"]) for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "unsafe-inline'; script" not in policy.partition("script-src")[2]
    assert source.count("<script>") == 1


def test_big_results_are_reduced_to_the_worst(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(draw, "PAGE_BUDGET_BYTES", 3 * 4 * 64 * 64 // 4)
    monkeypatch.setattr(draw, "LARGEST_PICTURE", 32)
    made = slow_host()
    made.hosts += [f"more{index}" for index in range(16) for _ in range(4)]
    times = np.full((128, 128), 4000.0)
    times[5, 60] = 170_000.0
    made.times = [[times - np.diag(np.diag(times))]]
    source, page = page_of(made, tmp_path)
    data = page.data()
    assert data["edge"] == 2
    assert set(data["parts"][0]["times"]) == {"median", "max"}
    values = np.frombuffer(base64.b64decode(data["parts"][0]["times"]["median"]), dtype="<f4").reshape(64, 64)
    assert np.argwhere(values > 5000).tolist() == [[2, 30]]
    assert "one cell of the picture is the slowest of 2 × 2 pairs" in page.text
    assert len(source) < 1_000_000

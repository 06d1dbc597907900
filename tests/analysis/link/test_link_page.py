# SPDX-License-Identifier: Apache-2.0
"""The page: all parts are there, nothing from the file gets out of its place, and nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from page_source import Page, expect_whole_and_alone

import leadline
from conftest import (
    MadeUp,
    between_hosts,
    bisection,
    hostile,
    one_per_host,
    partial,
    slow_host,
    sweep,
    times_of,
    two_hosts,
    write_result,
)
from leadline.link.page import render


def page_of(made: MadeUp, folder: Path) -> tuple[str, Page]:
    result = leadline.load(write_result(folder / "run.h5", made))
    source = render(result, result.slices)
    return source, Page(source)


def test_every_page_is_whole_and_alone(any_made: MadeUp, tmp_path: Path):
    source, _ = page_of(any_made, tmp_path)
    assert "http:" not in source
    assert {"matrix", "distribution", "slowest"} <= set(expect_whole_and_alone(source).ids())


def test_the_parts_of_a_page(tmp_path: Path):
    _, page = page_of(two_hosts(), tmp_path)
    for words in (
        "8 ranks on 2 hosts, tcp, 1 KiB",
        "leadline link --local 8 --output 'a b.h5'",
        "CLOCK_MONOTONIC (tsc), resolution 1.0 ns, cost 22 ns",
        "2026-01-31 23:59 UTC, 12.0 s · all pairs of ranks · semidirectional · 100 messages in 20 batches",
        "The single pair 2 → 6 (node01.cluster → node02.cluster) stands out: it takes 40 times as long as usual",
        " as long as usual, alone too.",
        "8 ranks share 2 cores.",
        "Start fewer ranks.",
        "2026-01-31T23:59:00Z to 2026-01-31T23:59:12Z (12.0 s)",
        "slow alone too",
        "only under load",
        "same host: 24 pairs",
        "between hosts: 32 pairs",
        "Slowest row (as a sender): rank ",
        "share of pairs that take at most this time",
    ):
        assert words in page.text or words in page.ids(), words
    assert "incomplete" not in page.ids()


def test_an_incomplete_run_has_a_banner(tmp_path: Path):
    _, page = page_of(partial(), tmp_path)
    assert "incomplete" in page.ids()
    assert "rank 3 on node01.cluster was lost in round 5 (partner 6)" in page.text
    assert "46 of 56 ordered pairs are measured; nothing from rank 3 (on node01.cluster); " in page.text
    assert "; without others 0 → 5, 0 → 6, 0 → 7;" in page.text
    assert "of the 2 sizes and repeats, 1 had not begun" in page.text
    assert "no end" in page.text


def test_hosts_that_were_not_heard_are_named(tmp_path: Path):
    made = slow_host()
    made.times[0][0][44:48] = 0
    made.times[0][0][3] = 0
    _, page = page_of(made, tmp_path)
    assert "3,717 of 4,032 ordered pairs are measured; nothing from ranks 3,44-47 (on node00, node11)." in page.text
    assert "missing" in page.ids()


def test_what_was_never_to_be_measured_is_not_missed(tmp_path: Path):
    made = one_per_host()
    made.times[0][0][4] = 0
    _, page = page_of(made, tmp_path)
    assert "9 of 12 ordered pairs are measured; nothing from rank 4 (on n2)." in page.text


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
    section = page.between("Many pairs at once", "How many pairs take how long")
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
    part = made.summary_slices[0]["all_to_all"]
    part["before"], part["after"], part["each_round"] = None, None, part["before"] | {"num": 48, "time_ns_max": None}
    _, page = page_of(made, tmp_path)
    assert rows_of(page) == ["all-to-all before each round64 KiB48 exchanges20.0030.00–µs"]


def test_other_runs_have_no_table_of_these(tmp_path: Path):
    _, page = page_of(two_hosts(), tmp_path)
    assert "together" not in page.ids()


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
    lines = [attributes["class"] for tag, attributes in page.elements if tag == "polyline"]
    assert lines.count("fastest curve-0") == lines.count("fastest curve-1") == 2
    assert lines.count("line curve-0") == 2 + len(page.data()["parts"])


def test_nothing_gets_out_of_its_place(tmp_path: Path):
    source, page = page_of(hostile(), tmp_path)
    assert sum(tag == "script" for tag, _ in page.elements) == 3
    assert "alert(" not in page.scripts[3]
    for tag, _ in page.elements:
        assert tag not in ("u", "i ", "img")
    assert "<script>alert" not in source
    assert "<img" not in source
    for host in hostile().hosts:
        assert host in page.text
    assert page.data()["hosts"] == hostile().hosts


def policy_of(page: Page) -> str:
    return next(str(a["content"]) for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")


def test_only_the_pages_own_script_may_run(tmp_path: Path):
    source, page = page_of(hostile(), tmp_path)
    policy = policy_of(page)
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    digest = base64.b64encode(hashlib.sha256(page.scripts[3].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy.split("; ")
    assert source.count("<script>") == 1


def test_a_served_page_asks_its_server_alone(tmp_path: Path):
    result = leadline.load(write_result(tmp_path / "run.h5", two_hosts()))
    page = Page(render(result, result.slices, served_key="secret"))
    assert page.data()["served"] == {"key": "secret"}
    assert "connect-src 'self'" in policy_of(page)
    assert all(not one["pairs"] for one in page.data("bins")["parts"][0]["classes"].values())


def test_the_same_result_is_the_same_page(tmp_path: Path):
    result = leadline.load(write_result(tmp_path / "run.h5", sweep()))
    assert render(result, result.slices) == render(result, result.slices)


def test_progress_goes_to_its_end(tmp_path: Path):
    result = leadline.load(write_result(tmp_path / "run.h5", sweep()))
    seen: list[float] = []
    render(result, result.slices, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    assert len(seen) >= 2 * len(result.slices)


def test_every_number_has_its_definition(any_made: MadeUp, tmp_path: Path):
    _, page = page_of(any_made, tmp_path)
    of_many_together = {"message size", "values", "min", "mean", "max"}  # their rows are linked
    plain = {"", "rank", "ranks", "NUMA node", *of_many_together}
    units = re.compile(r"[KMGT]?i?B/s|[nµm]?s")
    without = {head for head, is_linked in page.number_heads.items() if not is_linked and not units.fullmatch(head)}
    assert without <= plain
    assert len(page.number_heads) > 10


def test_a_bin_has_its_pairs(any_made: MadeUp, tmp_path: Path):
    result = leadline.load(write_result(tmp_path / "run.h5", any_made))
    page = Page(render(result, result.slices))
    assert page.data("bins")["parts"]
    for part, data in zip(page.data("bins")["parts"], page.data()["parts"], strict=True):
        slice_ = next(
            one for one in result.slices if (one.repeat, one.size_index) == (data["repeat"], data["size_index"])
        )
        matrix, edges = result.matrix(slice_), part["edges_ns"]
        assert sum(sum(one["counts"]) for one in part["classes"].values()) == np.isfinite(matrix).sum()
        for name, one in part["classes"].items():
            assert [place for place, _ in one["pairs"]] == [place for place, count in enumerate(one["counts"]) if count]
            for place, pairs in one["pairs"]:
                assert len(pairs) == min(one["counts"][place], page.data("bins")["most"])
                for from_rank, to_rank, time_ns in pairs:
                    assert result.class_of(from_rank, to_rank).value == name
                    assert time_ns == pytest.approx(matrix[from_rank, to_rank], rel=1e-5)
                    assert edges[place] * 0.9999 <= time_ns <= edges[place + 1] * 1.0001


def test_every_bar_leads_to_its_bin(tmp_path: Path):
    _, page = page_of(two_hosts(), tmp_path)
    bars = [
        attributes for tag, attributes in page.elements if tag == "g" and attributes.get("class", "").startswith("bin")
    ]
    for name, one in page.data("bins")["parts"][0]["classes"].items():
        found = [int(str(bar["data-bin"])) for bar in bars if bar["data-class"] == name]
        assert found == [place for place, count in enumerate(one["counts"]) if count]
        assert [bar["tabindex"] for bar in bars if bar["data-class"] == name].count("0") == 1


def slow_link() -> MadeUp:
    made = slow_host()
    hosts = np.array(made.hosts)
    times = times_of(made.hosts, 2)
    times[np.ix_(hosts == "node03", hosts == "node07")] *= 2.5
    times[0, 63] = 40.0 * 4000
    return MadeUp(made.hosts, [[times]])


def test_a_slow_link_and_a_single_pair_are_told_apart(tmp_path: Path):
    _, page = page_of(slow_link(), tmp_path)
    assert "The link node03 → node07 stands out: its pairs take 2.5 times as long as usual." in page.text
    assert "The single pair 0 → 63 (node00 → node15) stands out: it takes 40 times as long as usual." in page.text
    assert "node03node07" in page.between("Links between hosts that stand out", "Single pairs")
    assert "0 → 63node00node15between hosts" in page.between("Single pairs that stand out", "measured again alone")
    assert "12 → " not in page.between("Single pairs that stand out", "measured again alone")


def test_a_link_that_is_slow_both_ways_is_one(tmp_path: Path):
    made = slow_link()
    made.times[0][0] = np.maximum(made.times[0][0], made.times[0][0].T)
    _, page = page_of(made, tmp_path)
    assert "The link node03 ⇄ node07 stands out: its pairs take 2.5 times as long as usual." in page.text
    assert "2 single pairs stand out: 0 → 63 (" in page.text


def test_a_headline_stays_short(tmp_path: Path):
    hosts = [f"n{rank // 4:02d}" for rank in range(96)]
    times = times_of(hosts, 2)
    at = np.arange(0, 20)
    times[at, at + 60] = 4000 * np.linspace(20, 40, 20)
    _, page = page_of(MadeUp(hosts, [[times]]), tmp_path)
    sentences = page.between("all about the run", "Median").strip().splitlines()
    assert sentences[0] == (
        "20 single pairs stand out: 19 → 79 (n04 → n19) takes 40 times as long as usual, "
        "18 → 78 (n04 → n19) 39, 17 → 77 (n04 → n19) 38 and 17 more."
    )


def test_chance_is_not_called_out(tmp_path: Path):
    made = two_hosts()
    made.times[0][0][2, 6] = made.times[0][0][3, 7]
    made.times[0][0][1, 5] = 25_000.0
    made.retests = [(0, 0, 6, 2, 31_000.0, 4_100.0)]  # what stands out more is fast alone
    _, page = page_of(made, tmp_path)
    assert "No host or rank stands out, and no pair when alone; 1 is slow under load" in page.text
    assert "1 → 5" in page.between("Single pairs that stand out", "measured again alone")


def test_tables_of_many_are_cut(tmp_path: Path):
    _, page = page_of(slow_host(), tmp_path)
    ranks = page.between("Slowest row", "Findings of the run")
    assert "The slowest are shown; 32 are left out." in ranks
    assert ranks.count("node11") == 4 + 2

# SPDX-License-Identifier: Apache-2.0
"""The report of a topology test: what the page and the sheet say, and that nothing from the file gets out of place."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_topology import (
    MadeUpTopologies,
    corrupted,
    each_star,
    even,
    hostile_names,
    killed,
    loaded,
    never_begun,
    nodes,
    slow_host_of_eight,
    under_load,
    untraced,
    write_topologies,
)
from page_source import Page

from leadline.cli.pingponganalysis import main as pingponganalysis_main
from leadline.cli.report import main as report_main
from leadline.report.paper import width_mm
from leadline.report.sheet import SIZE, Line, fitted
from leadline.topology.page import render_topology


def page_of(made: MadeUpTopologies, folder: Path) -> tuple[str, Page]:
    source = render_topology(loaded(made, folder))
    return source, Page(source)


def test_the_parts_of_a_page(tmp_path: Path):
    _, page = page_of(slow_host_of_eight(), tmp_path)
    for words in (
        "64 ranks on 8 hosts, tcp, 64 B to 1 MiB",
        "leadline topology --output 'a b.h5'",
        "2026-01-31 23:59 UTC, 12.0 s · star, star2, complete, complete2, ring, ring2 · 20 exchanges of each size",
        "The highest total rate is that of complete2 with messages of 1 MiB: ",
        "Host node05 is slow: 3 times as long as usual (2.94 to 3.06) (in 5 of 5 topologies and sizes).",
        "Look at it.",
        "Star, star2, complete, ring, ring2 could not be tested: ranks have few partners.",
        "Ranks are not bound.",
        "60measurements: 6 topologies × 5 sizes × 2 repeats",
        "20 exchanges of each size, 2 repeats, 10 before them, 10 traced after them",
    ):
        assert words in page.text, words
    assert {"rates", "numbers", "channels", "matrix", "lists", "faults"} <= set(page.ids())
    assert not {"load", "centres", "incomplete", "missing"} & set(page.ids())


def test_the_table_of_numbers(tmp_path: Path):
    result = loaded(even(), tmp_path)
    page = Page(render_topology(result))
    rows = {(row[0], row[2]): row for row in page.rows if len(row) == 15}
    assert len(rows) == 19, "18 and the headings"
    cells = [result.cell("ring2", "256KiB", repeat) for repeat in (0, 1)]
    times = np.concatenate([result.exchange_times_ns(cell) for cell in cells])
    with_barrier = np.concatenate([result.exchange_times_ns(cell, "with_barrier") for cell in cells])
    ring = result.topology("ring2")
    row = rows["ring2", "256 KiB"]
    mib = [rate / 2**20 for rate in (ring.rates(1 << 18, float(np.median(times))).total,
                                     ring.rates(1 << 18, float(np.median(times))).local,
                                     ring.rates(1 << 18, float(np.median(times))).average,
                                     ring.rates(1 << 18, float(with_barrier.mean())).total)]  # fmt: skip
    assert row[1] == "8"
    shown = [float(row[at]) for at in (3, 5, 6, 7)]
    unit = mib[0] / shown[0]
    assert unit == pytest.approx(1, rel=1e-3) or unit == pytest.approx(1024, rel=1e-3)
    assert [value * unit for value in shown] == pytest.approx(mib, rel=2e-3)
    rank_rates = np.median([result.rank_rates(cell) for cell in cells], axis=0)
    assert f"rank {np.argmin(1 / np.median([1 / result.rank_rates(c) for c in cells], axis=0))}," in row[9]
    assert len(rank_rates) == 8
    assert float(row[14]) == pytest.approx(1, abs=0.01), "fairness of a ring without faults"


def unpacked(fields: dict[str, Any], size: int) -> np.ndarray:
    planes = np.frombuffer(zlib.decompress(base64.b64decode(fields["data"])), dtype=np.uint8).astype(np.int64)
    low, high = planes.reshape(2, size, size)
    codes = low + 256 * high
    return np.where(codes > 0, fields["low"] * np.exp((codes - 1) * fields["step"]), np.nan)


def test_the_matrices_of_a_page(tmp_path: Path):
    result = loaded(even(), tmp_path)
    data = Page(render_topology(result)).data()
    assert len(data["parts"]) == 18
    for part in data["parts"]:
        name = result.topologies[part["group_index"]].name
        size = part["message_size_bytes"]
        expected = np.median([result.channel_matrix(name, size, repeat).values for repeat in (0, 1)], axis=0)
        times = unpacked(part["matrices"]["ranks"]["pictures"]["median"]["worst"], 8)
        assert np.array_equal(np.isnan(times), np.isnan(expected))
        assert np.nanmax(np.abs(np.log(times / expected))) < 1e-4
        assert part["relative_to_ns"] == np.nanmedian(expected)
        assert part["matrices"]["hosts"]["size"] == 2


def test_the_first_matrix_is_the_most_striking(tmp_path: Path):
    data = Page(render_topology(loaded(slow_host_of_eight(), tmp_path))).data()
    part = data["parts"][data["first_part"]]
    assert [data["hosts"][host] for host, _ in part["slow_hosts"]] == ["node05"]
    assert part["ranks"][0][0] in range(40, 48)
    assert part["group_name"] == "complete2"
    assert len(part["ranks"]) == 16
    assert part["hosts"][0][0] == 5


def test_the_data_of_the_charts(tmp_path: Path):
    result = loaded(even(), tmp_path)
    charts = Page(render_topology(result)).data("charts")
    assert [group["name"] for group in charts["groups"]] == [topology.name for topology in result.topologies]
    assert [group["hue"] for group in charts["groups"]] == [0, 0, 1, 1, 2, 2]
    assert [bool(group["dash"]) for group in charts["groups"]] == [True, False] * 3
    assert len(charts["rates"]) == 18
    one = next(row for row in charts["rates"] if (row["group"], row["size_index"]) == (3, 1))
    times = [result.exchange_times_ns(result.cell("complete2", "16KiB", repeat)) for repeat in (0, 1)]
    assert one["exchange"]["median"] == pytest.approx(np.median(times), rel=1e-4)
    assert one["exchange"]["repeats"] == pytest.approx([np.median(time) for time in times], rel=1e-4)
    assert one["exchange"]["low"] < one["exchange"]["median"] < one["exchange"]["high"]
    assert charts["load"] == charts["centres"] == []


def test_a_killed_run(tmp_path: Path):
    source, page = page_of(killed(), tmp_path)
    assert "incomplete" in page.ids()
    assert "Incomplete. rank 6 on node01 was lost in ring, 16 KiB." in page.text
    assert "20 of 36 measurements (topology, size, repeat) are there; " in page.text
    assert "not all is there from rank 6 (on node01)." in page.text
    assert "The file has no summary" in page.text
    assert 'class="verdict "' in source, "neither fine nor alarming"


def test_a_run_that_had_not_begun(tmp_path: Path):
    _, page = page_of(never_begun(), tmp_path)
    assert "Nothing was measured." in page.text
    assert not {"rates", "numbers", "matrix", "channels"} & set(page.ids())


def test_without_a_trace(tmp_path: Path):
    _, page = page_of(untraced(), tmp_path)
    assert "No message was traced: with --traced a run notes when each one arrives." in page.text
    assert "matrix" not in page.ids()
    assert page.data()["parts"] == []


def test_a_load(tmp_path: Path):
    source, page = page_of(under_load(), tmp_path)
    assert "load" in page.ids()
    assert not {"rates", "numbers", "matrix"} & set(page.ids())
    assert "Every byte was compared with what was sent, and none was wrong." in page.text
    assert sum(len(one["points"]) for one in page.data("charts")["load"]) == 60
    rows = [row for row in page.rows if len(row) == 11]
    assert [row[:3] for row in rows[1:]] == [
        [name, size, "15"] for name in ("complete2", "ring2") for size in ("4 KiB", "64 KiB")
    ]
    assert 'class="verdict alarming"' in source


def test_a_wrong_byte_under_load(tmp_path: Path):
    _, page = page_of(corrupted(), tmp_path)
    assert "Incomplete. rank 3 on node00 received a wrong byte from rank 2 in exchange 812 of ring2" in page.text
    assert "none was wrong" not in page.text


def test_stars_around_each_rank(tmp_path: Path):
    _, page = page_of(each_star(), tmp_path)
    assert "centres" in page.ids()
    charts = page.data("charts")
    assert [group["name"] for group in charts["groups"]] == ["16 stars"]
    rows = [row for row in page.rows if len(row) == 6 and row[1] == "node02"]
    assert sorted(row[0] for row in rows) == ["10", "11", "8", "9"]
    assert len(page.data()["parts"]) == 2, "one matrix for all stars"


def test_nothing_from_the_file_becomes_markup(tmp_path: Path):
    source, page = page_of(hostile_names(), tmp_path)
    assert "<script>alert" not in source
    assert "<img" not in source
    assert "<u>" not in source
    assert "49" not in page.text.partition("As stored in the file")[0].partition("4 ranks on")[2].partition("\n")[0]
    assert "</script><script>alert(1)</script>" in page.text
    assert page.data()["hosts"][0] == "</script><script>alert(1)</script>"


def test_only_one_size(tmp_path: Path):
    result = loaded(even(), tmp_path)
    page = Page(render_topology(result, [1]))
    assert {part["message_size_bytes"] for part in page.data()["parts"]} == {16384}
    assert {row["size_index"] for row in page.data("charts")["rates"]} == {1}


def test_many_ranks_have_a_small_page(tmp_path: Path):
    hosts = nodes(512, 8)
    made = MadeUpTopologies(hosts, ["star2", "ring2"], [65536], 1, 5, slow_hosts={"node77": 4.0})
    result = loaded(made, tmp_path)
    source = render_topology(result)
    assert len(source) < 1_000_000
    data = Page(source).data()
    matrix = data["parts"][1]["matrices"]["ranks"]
    assert (matrix["edge"], matrix["size"]) == (8, 512)
    assert "A cell of the matrix is 8 × 8 ranks" in source


def test_pictures_shrink_until_the_page_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("leadline.topology.data.BUDGET_BYTES", 6_000)
    monkeypatch.setattr("leadline.topology.data.SMALLEST_PICTURE", 4)
    made = MadeUpTopologies(nodes(8, 4), ["complete2"], [1024, 2048, 4096, 8192], 1)
    (part, *_) = Page(render_topology(loaded(made, tmp_path))).data()["parts"]
    matrix = part["matrices"]["ranks"]
    assert matrix["edge"] > 1
    assert 4 * 3.65 * matrix["size"] ** 2 <= 6_000


def test_the_command_writes_one_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_topologies(tmp_path / "run.h5", even())
    assert report_main([str(path), "-o", "-", "--message-size", "16KiB"]) == 0
    page = Page(capsys.readouterr().out)
    assert {part["size_name"] for part in page.data()["parts"]} == {"16 KiB"}


def test_commands_that_are_about_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_topologies(tmp_path / "run.h5", even())
    assert pingponganalysis_main([str(path)]) == 2
    assert "Use leadline report" in capsys.readouterr().err


def test_when_a_load_was_slowest_is_readable(tmp_path: Path):
    made = under_load()
    assert made.load is not None
    index, size_index, repeat, _, elapsed_s, num_exchanges, *rest = made.load[0]
    made.load[0] = (index, size_index, repeat, 2.52e-7, elapsed_s, num_exchanges // 20, *rest)
    page = Page(render_topology(loaded(made, tmp_path)))
    assert [row[8] for row in page.rows if row[:2] == ["complete2", "4 KiB"]] == ["0 s"]
    assert [row[8] for row in page.rows if row[:2] == ["ring2", "64 KiB"]] != ["0 s"]
    assert "iB/s at 0 s." in page.text
    assert "0.0000" not in page.text


def test_columns_of_a_sheet_are_as_wide_as_their_cells():
    heads = [("topology", False), ("message size", True), ("latest message", False)]
    lines = [Line(("12 stars answered", "256 KiB", "a" * 60))]
    wide = fitted(heads, lines, 182)
    assert sum(column.width for column in wide) == pytest.approx(182)
    for column, text in zip(wide, ("12 stars answered", "message size", "a" * 60), strict=True):
        assert column.width > width_mm(text, SIZE) + 1.6
    narrow = fitted(heads, lines, 70)
    assert sum(column.width for column in narrow) == pytest.approx(70)
    assert narrow[0].width > width_mm("12 stars answered", SIZE), "the widest text is the one that is cut"
    assert narrow[1].width > width_mm("message size", SIZE)


def test_one_size_has_no_chart(tmp_path: Path):
    result = loaded(slow_host_of_eight(), tmp_path)
    several, one = (Page(render_topology(result, sizes)) for sizes in ([2, 3], [2]))
    assert "rates-chart" in several.ids()
    assert "rates-chart" not in one.ids()
    assert "What the network sustains" in one.text
    assert {"rates", "numbers", "lists"} <= set(one.ids())

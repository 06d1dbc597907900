# SPDX-License-Identifier: Apache-2.0
"""The matrix of what connections between every two hosts got: its medians, its limits, and its place on the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import Opened
from made_up import nodes
from made_up_bisection import MadeUpBisection, loaded, only_named, slow_host, two_ranks
from made_up_diagnosis import diagnosis, fault
from page_source import Page

from leadline.bisection import hosts as hosts_module
from leadline.bisection import page as page_module
from leadline.bisection.analysis import analyse_size
from leadline.bisection.hosts import host_matrix
from leadline.bisection.page import render_bisection
from leadline.bisection.result import BisectionResult
from leadline.diagnosis import Diagnosed
from leadline.readers.diagnosis import diagnosis_of

pytest_plugins = ["browser"]


def made(network: MadeUpBisection, folder: Path) -> BisectionResult:
    """Its patterns are drawn here, not by the program."""
    return loaded(replace(network, is_replayable=False), folder)


def by_hand(result: BisectionResult, size_index: int, num_patterns: int) -> dict[tuple[int, int], list[float]]:
    """From connection to connection, by hosts: the bandwidths."""
    random = result.patterns(result.message_sizes_bytes[size_index], "random")
    found = defaultdict(list)
    for number in random.number[:num_patterns].tolist():
        one = result.connections(number, result.message_sizes_bytes[size_index])
        for from_rank, to_rank, speed in zip(one.from_rank, one.to_rank, one.bytes_per_s, strict=True):
            found[int(result.host_index[from_rank]), int(result.host_index[to_rank])].append(float(speed))
    return found


def test_a_cell_is_the_median_of_its_connections(tmp_path: Path):
    result = made(slow_host(), tmp_path)
    size = analyse_size(result, 1)
    found, expected = size.hosts, by_hand(result, 1, 10**9)
    assert found is not None
    assert (found.edge, found.num_patterns) == (1, len(size.random))
    assert found.num.sum() == sum(len(one) for one in expected.values())
    for (row, column), speeds in expected.items():
        assert found.num[row, column] == len(speeds)
        assert found.share[row, column] == pytest.approx(np.median(speeds) / size.speeds.median, rel=1e-6)
    others = np.delete(np.arange(len(result.hosts)), 5)
    assert np.nanmax(found.share[5, others]) < np.nanmin(found.share[np.ix_(others, others)])


def test_of_too_many_connections_the_first_patterns_count(tmp_path: Path):
    result = made(slow_host(), tmp_path)
    size = analyse_size(result, 1)
    found = host_matrix(result, size.random, size.speeds.median, most_values=7 * result.num_ranks + 1)
    assert found is not None
    assert found.num_patterns == 7
    assert found.num.sum() == sum(len(one) for one in by_hand(result, 1, 7).values())


def test_of_many_hosts_a_cell_is_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hosts_module, "MOST_CELLS", 6)
    result = made(slow_host(), tmp_path)
    size = analyse_size(result, 1)
    found, expected = size.hosts, by_hand(result, 1, 10**9)
    assert found is not None
    assert (found.edge, found.share.shape) == (3, (6, 6))
    of_cell = [
        speed for (row, column), speeds in expected.items() if (row // 3, column // 3) == (1, 5) for speed in speeds
    ]
    assert found.share[1, 5] == pytest.approx(np.median(of_cell) / size.speeds.median, rel=1e-6)
    assert "a cell is 3 × 3 hosts" in Page(render_bisection(result)).text


def test_where_there_is_none(tmp_path: Path):
    for name, network in (
        ("named", only_named()),
        ("one", MadeUpBisection(nodes(1, 8), within_hosts=True)),
    ):
        folder = tmp_path / name
        folder.mkdir()
        result = made(network, folder)
        assert analyse_size(result, 0).hosts is None
        assert "hosts-chart" not in Page(render_bisection(result)).ids()
    pair = analyse_size(made(two_ranks(), tmp_path), 0).hosts
    assert pair is None or np.isnan(np.diag(pair.share)).all()


@pytest.mark.browser
def test_findings_are_outlined_beside_their_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_file: Callable[..., Opened]
):
    result = made(slow_host(), tmp_path)
    part = result.slices[-1]
    said = diagnosis(
        fault("host", "host node05", 5, 2.5),
        fault("link", "the link between node02 and node09", 2, 1.8, second=9),
    )
    document = {
        "slices": [
            {
                "repeat": 0,
                "size_index": part.size_index,
                "pattern": part.pattern,
                "diagnosis": said,
            }
        ]
    }
    found = Diagnosed(diagnosis_of(document, (part,), result.num_ranks, len(result.hosts)))
    monkeypatch.setattr(page_module, "diagnosed", lambda *_: found)
    path = tmp_path / "page.html"
    path.write_text(render_bisection(result), encoding="utf-8")
    page = open_file(path)
    assert page.tab.locator("#hosts-chart .cell").count() == len(result.hosts) ** 2 + 5, "and the legend"
    assert page.tab.locator("#hosts-chart .finding:not(.halo)").count() == 4
    numbers = page.ask(
        "() => [...document.querySelectorAll('#hosts-chart .finding-number')].map((one) => one.textContent)"
    )
    assert numbers == ["1", "2", "2"]
    place = "({left, top}) => [left, top]"
    left, right, below = (
        page.ask(f"() => ({place})(document.querySelector('{name}').getBoundingClientRect())")
        for name in ("#faults", "#hosts", ".figures")
    )
    assert left[0] < right[0]
    assert right[1] < below[1], "eBB is second"
    page.tab.select_option("#hosts select.of-size", "0")
    assert page.tab.locator("#hosts-chart .finding").count() == 8, "only one size was judged"

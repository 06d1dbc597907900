# SPDX-License-Identifier: Apache-2.0
"""What a history says of made-up runs: groups, changes, findings, its text and its page."""

from __future__ import annotations

import dataclasses
import errno
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline.draw.sparkline import sparkline
from leadline.error import LeadlineError
from leadline.history.document import Choice, document_of
from leadline.history.entry import Entry, Found, Number
from leadline.history.page import history_page
from leadline.history.store import Store
from leadline.history.text import text_of

ALL = Choice()
HOSTS = tuple(f"node{number}" for number in range(6))


def entry(number: int, median_ns: float = 1500.0, **changes: Any) -> Entry:
    """The run of a day, whose hosts and medians scatter by one per cent."""
    random = np.random.default_rng(number)

    def noisy(value: float) -> float:
        return float(value * np.exp(0.01 * random.standard_normal()))

    slow = changes.pop("slow", {})
    numbers = [Number("between hosts, median", 1024, "run", "", "ns", noisy(median_ns))]
    numbers += [Number("its pairs", 1024, "part", host, "1", noisy(slow.get(host, 1.0))) for host in HOSTS]
    whole = Entry(
        identity=f"run {number}", path=f"/results/{number}.h5", benchmark="link",
        start_utc=f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00Z", version="0.1.0",
        conditions={"transport": "tcp", "ranks a host": "1", "simulated": "", "direction": "unidirectional"},
        complete=True, incomplete_reason="", untested="", hosts=HOSTS, num_ranks=6,
        numbers=tuple(numbers), findings=(),
    )  # fmt: skip
    return dataclasses.replace(whole, **changes)


def told(folder: Path, entries: Sequence[Entry], choice: Choice = ALL) -> dict[str, Any]:
    """The document of a store with these runs."""
    with Store(folder / "store", is_new_allowed=True) as store:
        for one in entries:
            assert store.add(one)
        return document_of(store, choice)


def test_a_network_that_was_faster_for_a_while(tmp_path: Path) -> None:
    document = told(tmp_path, [entry(day, 1200 if 15 <= day < 24 else 1500) for day in range(40)])
    (group,) = document["groups"]
    median, *hosts = group["series"]
    assert [(one["run_index"], one["change"]) for one in median["changes"]] == [(15, "faster"), (24, "slower")]
    assert median["changes"][0]["time_ratio"] == pytest.approx(0.8, rel=0.02)
    assert not any(one["changes"] for one in hosts), "no host is blamed for it"
    assert text_of(document).startswith("CHANGED  1 number, last on 2026-01-25\n  40 runs on 6 hosts, ")


def test_less_of_a_rate_is_slower(tmp_path: Path) -> None:
    rates = [
        Number("eBB", 1 << 20, "run", "", "bytes/s", 1e9 * (0.7 if day >= 12 else 1) + day % 5) for day in range(24)
    ]
    entries = [entry(day, benchmark="bisection", numbers=(rate,)) for day, rate in enumerate(rates)]
    (series,) = told(tmp_path, entries)["groups"][0]["series"]
    (change,) = series["changes"]
    assert (change["run_index"], change["change"]) == (12, "slower")
    assert change["time_ratio"] == pytest.approx(1 / 0.7, rel=0.01)
    assert series["best"]["value"] > series["worst"]["value"]


def test_only_comparable_runs_are_compared(tmp_path: Path) -> None:
    """Half of them over another transport, which is faster."""
    other = {"transport": "ucx", "ranks a host": "1", "simulated": "", "direction": "unidirectional"}
    entries = [entry(day, 1500) for day in range(20)] + [entry(day, 900, conditions=other) for day in range(20, 40)]
    document = told(tmp_path, entries)
    assert [len(group["runs"]) for group in document["groups"]] == [20, 20]
    assert not any(one["changes"] for group in document["groups"] for one in group["series"])
    text = text_of(document)
    assert text.startswith("NOTHING CHANGED")
    assert "link · tcp · 1 a host · unidirectional: 20 runs" in text
    assert "link · ucx · 1 a host · unidirectional: 20 runs" in text


def test_few_runs_tell_no_change(tmp_path: Path) -> None:
    document = told(tmp_path, [entry(day, 1500 if day < 4 else 15000) for day in range(8)])
    assert text_of(document).startswith("TOO FEW RUNS  a change can be told from 15 comparable runs on\n")
    assert not any(one["changes"] for one in document["groups"][0]["series"])


def test_a_host_that_takes_part_now_and_then(tmp_path: Path) -> None:
    entries = []
    for day in range(60):
        one = entry(day, slow={"node2": 1.5 if day >= 30 else 1})
        kept = tuple(number for number in one.numbers if number.part != "node2" or day % 2)
        entries.append(dataclasses.replace(one, numbers=kept))
    series = [one for one in told(tmp_path, entries)["groups"][0]["series"] if one["part"] == "node2"]
    assert series[0]["num_values"] == 30
    assert series[0]["values"][0] is None
    assert [change["run_index"] for change in series[0]["changes"]] == [31], "the first run that has it"


def test_findings_are_counted_over_the_runs_that_had_their_hosts(tmp_path: Path) -> None:
    found = Found("host node3", "host", "slow", "persistent", 1.5, ("node3",))
    passed = dataclasses.replace(found, name="host node4", hosts=("node4",), listed_as="passed")
    endless = dataclasses.replace(found, ratio=math.nan)
    document = told(
        tmp_path,
        [
            entry(0, findings=(found, passed)),
            entry(1, findings=(endless,)),
            entry(2),
            entry(3, hosts=HOSTS[:3]),
            entry(4, untested="too few hosts"),
        ],
    )
    (one,) = document["groups"][0]["findings"]
    assert (one["name"], one["num_found"], one["num_runs"]) == ("host node3", 2, 3)
    assert (one["last_utc"], one["last_ratio"]) == ("2026-01-02T00:00:00Z", None)
    of_other = told(tmp_path, [], Choice(host="node4"))
    assert of_other["groups"][0]["findings"] == []
    assert {series["part"] for series in of_other["groups"][0]["series"]} == {"node4"}


def test_thirty_lines_are_enough(tmp_path: Path) -> None:
    """However much changed."""
    slow = dict.fromkeys(HOSTS, 2.0)
    entries = []
    for day in range(60):
        names = [f"host {host}" for host in HOSTS]
        findings = tuple(Found(name, "host", "slow", "persistent", 2.0, HOSTS[:1]) for name in names)
        for transport in ("tcp", "ucx", "mpi"):
            conditions = {"transport": transport, "ranks a host": "1", "simulated": "", "direction": ""}
            one = entry(day, 3000 if day % 30 > 15 else 1000, slow=slow if day >= 30 else {}, findings=findings)
            entries.append(dataclasses.replace(one, identity=f"{transport} {day}", conditions=conditions))
    text = text_of(told(tmp_path, entries))
    assert len(text.splitlines()) <= 30
    assert max(map(len, text.splitlines())) <= 100
    assert "and 1 group more" in text


def test_the_page_escapes_what_comes_from_files(tmp_path: Path) -> None:
    entries = [entry(day, slow={"node1": 2.0 if day >= 20 else 1.0}) for day in range(40)]
    bad = "<b>&</b>"
    findings = (Found(bad, "host", "slow", "persistent", 2.0, ("node1",)),)
    document = told(tmp_path, [*entries[:-1], dataclasses.replace(entries[-1], findings=findings)])
    page = history_page(document, "a<b")
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in page
    assert bad not in page
    assert "default-src &#39;none&#39;" in page
    assert page.count('<circle class="change') == 1


def test_a_store_takes_only_its_cluster(tmp_path: Path) -> None:
    told(tmp_path, [entry(0)])
    with Store(tmp_path / "store", is_new_allowed=True) as store:
        with pytest.raises(LeadlineError, match="another cluster"):
            store.add(entry(1, hosts=("gpu1", "gpu2")))
        assert store.add(entry(1, hosts=("node77.example.org",)))


def test_the_points_of_a_sparkline() -> None:
    figure = sparkline([0, 10, 20, 100], [1.0, 1.0, 2.0, 2.0], list("abcd"), [(0, 1.0), (2, 2.0)])
    xs = [point.x for point in figure.points]
    assert xs == sorted(xs)
    assert [point.is_change for point in figure.points] == [False, False, True, False]
    assert figure.points[0].y > figure.points[-1].y, "more is higher"
    (left, right, y), (_, end, _) = figure.levels
    assert (left, right, y) == (xs[0], xs[1], figure.points[0].y)
    assert end == xs[-1]
    assert sum(point.width for point in figure.points) == pytest.approx(figure.width, abs=0.1)
    assert len(sparkline([5], [3.0], ["only"], []).points) == 1
    of_one_moment = [point.x for point in sparkline([5, 5, 5], [1.0, 2.0, 1.0], list("abc"), []).points]
    assert of_one_moment[0] < of_one_moment[1] < of_one_moment[2]


def test_a_folder_that_may_not_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is for somebody else: root, who runs tests, may look into each."""

    def refused(_: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refused)
    with pytest.raises(LeadlineError, match=r"cannot use the folder .* \(Permission denied\)"):
        Store(tmp_path, is_new_allowed=False)

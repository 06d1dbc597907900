# SPDX-License-Identifier: Apache-2.0
"""Results of the collective test: what is read, the page, the table, and files that are damaged."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from damage import Change, attribute, changed, put, remove, replace
from made_up_collective import MADE_UP_COLLECTIVES, even, in_groups, killed, loaded, write_collective
from page_source import Page

import leadline
from leadline.cli.export import main as export_main
from leadline.collective.page import headline, render_collective

Capture = pytest.CaptureFixture[str]


def test_what_is_read(tmp_path: Path) -> None:
    result = loaded(in_groups(), tmp_path)
    assert result.operations == ("allreduce", "alltoall")
    assert (result.algorithm, result.num_groups, result.group_hosts, result.num_rounds) == ("ring", 2, 2, 3)
    assert [(cell.operation, cell.message_size_bytes) for cell in result.cells] == [
        ("allreduce", 1024), ("allreduce", 4 << 20), ("alltoall", 1024), ("alltoall", 4 << 20)
    ]  # fmt: skip
    assert result.cells[0].num == 3 * 2 * 4
    assert result.membership[0].tolist() == [1, 1, 1, 1, 2, 2, 2, 2, 0, 0]
    assert "collective test of allreduce, alltoall by ring" in repr(result)


def test_times_of_groups_and_ranks(tmp_path: Path) -> None:
    result = loaded(killed(), tmp_path)
    times = result.group_times_ns("alltoall", "1KiB")
    assert times.shape == (3, 1, 4)
    np.testing.assert_allclose(times[:2], 40e3 + 1024)
    assert np.isnan(times[2]).all()
    assert result.rank_times_ns("allreduce", 4 << 20).shape == (3, 4)
    with pytest.raises(leadline.LeadlineError, match="there is no operation scan in the result"):
        result.group_times_ns("scan", 1024)
    with pytest.raises(leadline.LeadlineError, match="no message size 3 B"):
        result.group_times_ns("allreduce", 3)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("even", "allreduce: 1.390 GiB/s on the bus with 4 MiB."),
        ("killed", "Nothing was measured."),
        ("never_begun", "Nothing was measured."),
    ],
)
def test_the_headline(name: str, first: str, tmp_path: Path) -> None:
    assert headline(loaded(MADE_UP_COLLECTIVES[name](), tmp_path))[0].startswith(first)


def test_the_page_has_every_size(tmp_path: Path) -> None:
    text = Page(render_collective(loaded(in_groups(), tmp_path))).text
    assert all(word in text for word in ("allreduce", "alltoall", "1 KiB", "4 MiB", "2 of 2 hosts in each round"))


def test_the_table(tmp_path: Path, capsys: Capture) -> None:
    path = write_collective(tmp_path / "run.h5", even())
    assert export_main([str(path), "--csv", "-o", "-", "--message-size", "4MiB"]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out), strict=True))
    assert [line["operation"] for line in lines] == ["allreduce", "alltoall"]
    assert float(lines[0]["bus_bytes_per_s"]) == pytest.approx(1.5 * float(lines[0]["algorithm_bytes_per_s"]))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (remove("collective/groups/time_ns"), "/collective/groups/time_ns is missing"),
        (replace("collective/membership/group", np.zeros((3, 2), dtype="<i4")), "impossible groups"),
        (put("collective/membership/group", (0, 0), -4), "impossible groups"),
        (attribute("collective/num_groups", np.int32(7)), "/collective/groups/time_ns is float64 of the shape"),
    ],
)
def test_a_damaged_file(change: Change, reason: str, tmp_path: Path) -> None:
    path = changed(write_collective(tmp_path / "run.h5", even()), change)
    with pytest.raises(leadline.LeadlineError, match=reason):
        leadline.load(path)

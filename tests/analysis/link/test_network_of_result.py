# SPDX-License-Identifier: Apache-2.0
"""The network that a result has: which hosts belong together, and how the page orders ranks by it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from made_up_diagnosis import slow_component

import leadline
from conftest import write_result
from leadline.error import LeadlineError
from leadline.link.analysis import analyse
from leadline.link.data import page_data, plan_page
from leadline.link.matrix_image import matrix_of
from leadline.scan import AxisName, picture_range

LEAVES = {"kind": "leaf switch", "names": ["a", "b"], "hosts": ["0-1,4,15", "2-3,5-14"]}


def with_network(folder: Path, network: Any) -> Path:
    """16 hosts of 4 ranks."""
    path = write_result(folder / "run.h5", slow_component("host"))
    with h5py.File(path, "a") as file:
        file["network"] = json.dumps(network)
    return path


def test_groups_of_hosts(tmp_path: Path):
    halves = {"kind": "pod", "names": ["p"], "hosts": ["0-15"]}
    result = leadline.load(with_network(tmp_path, {"source": "x", "levels": [LEAVES, halves]}))
    leaves, pods = result.network_groups
    assert [host for host, leaf in enumerate(leaves) if leaf == 0] == [0, 1, 4, 15]
    assert pods == (0,) * 16


@pytest.mark.parametrize("network", [None, {"source": "x", "why_left_out": "too large"}])
def test_none_where_the_file_has_none(tmp_path: Path, network: Any):
    path = with_network(tmp_path, network) if network else write_result(tmp_path / "run.h5", slow_component("host"))
    assert leadline.load(path).network_groups == ()


@pytest.mark.parametrize("hosts", [["0-1"], ["0-16"], ["5-4,0-15"], ["0-15", "x"]])
def test_what_is_no_network_is_damage(tmp_path: Path, hosts: list[str]):
    with pytest.raises(LeadlineError):
        leadline.load(with_network(tmp_path, {"levels": [LEAVES | {"hosts": hosts}]}))


def test_the_page_has_the_order_by_switches(tmp_path: Path):
    result = leadline.load(with_network(tmp_path, {"source": "x", "levels": [LEAVES]}))
    (part,) = result.slices
    plan = plan_page(result, 1)
    page = page_data(result, [analyse(result, part, plan.axes, plan.largest_size)], plan)
    hosts = result.host_index[page["order_by_network"]]
    assert hosts[::4].tolist() == [0, 1, 4, 15, 2, 3, *range(5, 15)]
    assert sorted(page["order_by_network"]) == list(range(64))


def test_a_matrix_on_paper_by_expected_is_neutral_where_healthy(tmp_path: Path):
    result = leadline.load(write_result(tmp_path / "run.h5", slow_component("host")))
    analysis = analyse(result, result.slices[0])
    picture = analysis.pictures[AxisName.RANKS]
    times = picture.worst
    is_inside = result.host_index[:, None] == result.host_index[None, :]
    inside, between = (float(np.nanmedian(times[kind])) for kind in (is_inside, ~is_inside))
    matrix = matrix_of(result, analysis, picture, picture_range(picture), (inside, between))
    factors = times / np.where(is_inside, inside, between)
    there = np.isfinite(times)
    codes = matrix.codes
    assert len({*codes[there & (factors < 1.1)].tolist()}) == 1
    assert not set(codes[there & (factors >= 1.1)].tolist()) & set(codes[there & (factors < 1.1)].tolist())
    absolute = dataclasses.replace(matrix, expected_ns=None)
    assert len({*absolute.codes[there & (factors < 1.1)].tolist()}) > 1

# SPDX-License-Identifier: Apache-2.0
"""The page's JSON: arrays survive packing, cells of reduced pictures name their worst pair, and a page stays small."""

from __future__ import annotations

import base64
import dataclasses
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline
from conftest import MADE_UP, MadeUp, bisection, cyclic, slow_host, times_of, two_hosts, write_result
from leadline.link.analysis import analyse
from leadline.link.data import PagePlan, page_data, plan_page
from leadline.link.result import LinkResult
from leadline.model import Statistic
from leadline.report.encode import COARSE_STEP, FINE_STEP, LARGEST_CODE, packed_ints, packed_times
from leadline.scan import AxisName, axis_of


def unpacked(fields: dict[str, Any], size: int) -> np.ndarray:
    planes = np.frombuffer(zlib.decompress(base64.b64decode(fields["data"])), dtype=np.uint8).astype(np.int64)
    low, high = planes.reshape(2, size, size)
    return low + 256 * high


def times_in(fields: dict[str, Any], size: int) -> np.ndarray:
    codes = unpacked(fields, size)
    return np.where(codes > 0, fields["low"] * np.exp((codes - 1) * fields["step"]), np.nan)


def loaded(made: MadeUp, folder: Path) -> LinkResult:
    return leadline.load(write_result(folder / "run.h5", made))


def data_of(result: LinkResult, plan: PagePlan) -> dict[str, Any]:
    analyses = [analyse(result, part, plan.axes, plan.largest_size) for part in result.slices]
    return page_data(result, analyses, plan)


@pytest.mark.parametrize("step", [FINE_STEP, COARSE_STEP])
def test_packed_times_are_right_to_half_a_step(step: float):
    times = np.random.default_rng(1).uniform(900, 9_000, (40, 40))
    times[3, :] = np.nan
    found = times_in(packed_times(times, step).fields, 40)
    assert np.array_equal(np.isnan(found), np.isnan(times))
    assert np.nanmax(np.abs(np.log(found / times))) <= step / 2 * (1 + 1e-6)


def test_a_wide_range_of_times_makes_the_step_larger():
    times = np.array([[1.0, 1e9], [np.nan, 5.0]])
    fields = packed_times(times, FINE_STEP).fields
    assert fields["step"] > FINE_STEP
    assert unpacked(fields, 2).max() <= LARGEST_CODE
    assert times_in(fields, 2)[0] == pytest.approx(times[0], rel=1e-3)


def test_no_time_at_all_can_be_packed():
    assert unpacked(packed_times(np.full((3, 3), np.nan), FINE_STEP).fields, 3).sum() == 0


def test_whole_numbers_are_cut_at_what_fits():
    assert unpacked(packed_ints(np.array([[0, 70_000], [255, 256]])).fields, 2).tolist() == [[0, 65_535], [255, 256]]


@pytest.mark.parametrize("name", sorted(MADE_UP))
def test_the_page_data_is_json(name: str, tmp_path: Path):
    result = loaded(MADE_UP[name](), tmp_path)
    data = data_of(result, plan_page(result, len(result.slices)))
    json.dumps(data, allow_nan=False)
    assert data["statistics"] == ["median", "min", "mean", "p99", "max"]


@pytest.mark.parametrize("made", [slow_host, cyclic])
@pytest.mark.parametrize("axis", list(AxisName))
def test_a_cell_of_a_reduced_picture_names_its_worst_pair(made: Any, axis: AxisName, tmp_path: Path):
    result = loaded(made(), tmp_path)
    plan = dataclasses.replace(plan_page(result, 1), largest_size=7, step=COARSE_STEP, axes=tuple(AxisName))
    matrix = data_of(result, plan)["parts"][0]["matrices"][axis.value]
    size, edge, picture = matrix["size"], matrix["edge"], matrix["pictures"]["median"]
    times, position_of = result.matrix(result.slices[0]), axis_of(result, axis).position_of
    ranks_along = np.argsort(position_of, kind="stable")
    worst = times_in(picture["worst"], size)
    at_from, at_to = unpacked(picture["worst_from"], size), unpacked(picture["worst_to"], size)
    for row in range(size):
        for column in range(size):
            senders = ranks_along[position_of[ranks_along] // edge == row]
            receivers = ranks_along[position_of[ranks_along] // edge == column]
            block = times[np.ix_(senders, receivers)]
            assert worst[row, column] == pytest.approx(np.nanmax(block), rel=COARSE_STEP)
            assert block[at_from[row, column], at_to[row, column]] == np.nanmax(block)


def test_a_cell_knows_how_many_of_its_pairs_were_to_be_measured(tmp_path: Path):
    result = loaded(bisection(), tmp_path)
    plan = dataclasses.replace(plan_page(result, 1), largest_size=4, step=COARSE_STEP)
    matrix = data_of(result, plan)["parts"][0]["matrices"]["ranks"]
    measured = unpacked(matrix["measured"], 4)
    assert measured.tolist() == [[0, 0, 16, 16], [0, 0, 16, 16], [16, 16, 0, 0], [16, 16, 0, 0]]
    assert "missing" not in matrix


def test_more_slices_make_smaller_pictures_and_the_page_says_so(tmp_path: Path):
    hosts = [f"n{rank // 8:02d}" for rank in range(320)]
    result = loaded(MadeUp(hosts, [[times_of(hosts, 1)]]), tmp_path)
    one, some, many = (plan_page(result, num_parts) for num_parts in (1, 12, 60))
    assert len(one.statistics) == 5
    assert some.statistics == (Statistic.MEDIAN, Statistic.MAX) and some.largest_size >= 320
    assert many.largest_size < 320
    data = data_of(result, many)
    assert "To keep the page small it has only median and max" in data["notes"][0]
    size = len(json.dumps(data["parts"][0]["matrices"])) * 3 / 4
    assert 60 * size < many.budget_bytes * 1.1


def test_the_first_statistic_is_on_the_page_however_small(tmp_path: Path):
    hosts = [f"n{rank // 8:02d}" for rank in range(160)]
    result = loaded(MadeUp(hosts, [[times_of(hosts, 1)]]), tmp_path)
    plan = plan_page(result, 200, Statistic.P99)
    assert plan.statistics == (Statistic.P99, Statistic.MAX)
    data = data_of(result, plan)
    assert data["first_statistic"] == "p99"
    assert set(data["parts"][0]["matrices"]["ranks"]["pictures"]) == {"p99", "max"}


def test_pairs_inside_a_slow_host_are_not_circled(tmp_path: Path):
    part = data_of(result := loaded(slow_host(), tmp_path), plan_page(result, 1))["parts"][0]
    assert [host for host, _ in part["slow_hosts"]] == [11]
    assert [(one["from"], one["to"]) for one in part["standouts"][: part["num_circled"]]] == [(5, 60)]
    assert part["standouts"][0]["time_ns"]["max"] == 340_000.0
    assert part["standouts"][0]["count"] == 20


def test_a_served_page_carries_no_matrix(tmp_path: Path):
    result = loaded(two_hosts(), tmp_path)
    data = data_of(result, plan_page(result, 1, served_key="secret"))
    matrix = data["parts"][0]["matrices"]["ranks"]
    assert data["served"] == {"key": "secret"}
    assert "pictures" not in matrix
    assert matrix["edges"] == [1]
    assert matrix["ranges"]["median"]["low"] > 0

# SPDX-License-Identifier: Apache-2.0
"""One pass over a matrix finds what a look at the whole matrix finds, in blocks of any size and with any threads."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import leadline
from conftest import MadeUp, times_of, two_hosts, write_result
from leadline.link.result import LinkResult, PairClass
from leadline.link.scan import Scan, blocks, columns, hosts, pictures, scan
from leadline.model import RankLocation, Slice, Statistic
from leadline.scan import AxisName, Cell, Grid, Picture, axis_of, edge_for, picture_range
from leadline.stats.colour_range import colour_range

PART = Slice(0, -1, 0, 1024)


@pytest.fixture(scope="module")
def some_result(tmp_path_factory: pytest.TempPathFactory) -> LinkResult:
    return leadline.load(write_result(tmp_path_factory.mktemp("scan") / "run.h5", two_hosts()))


def result_of(base: LinkResult, host_names: list[str], times: np.ndarray, to_measure: np.ndarray | None) -> LinkResult:
    """A result in memory; max is twice the median, where there is a median of more than 2."""
    places = tuple(RankLocation(rank, host, "", "0", 1, 1, -1) for rank, host in enumerate(host_names))

    def read_rows(_part: Slice, dataset: str, first: int, end: int) -> np.ndarray:
        if dataset == "round":
            return np.where(to_measure, 1.0, np.nan)[first:end]
        rows = times[first:end].copy()
        return rows if dataset == "time_ns_median" else np.where(rows > 2, 2 * rows, np.nan)

    repeats = frozenset([0]) if to_measure is not None else frozenset()
    return dataclasses.replace(base, ranks=places, slices=(PART,), repeats_with_rounds=repeats, read_rows=read_rows)


def made_up(base: LinkResult, seed: int) -> LinkResult:
    """Up to 30 ranks on hosts in a row or dealt out, with equal times, without some rows, cells or whole classes."""
    random = np.random.default_rng(seed)
    num_ranks = int(random.integers(1, 31))
    num_hosts = int(random.integers(1, num_ranks + 1))
    host = {
        0: np.arange(num_ranks) % num_hosts,
        1: np.sort(random.integers(0, num_hosts, num_ranks)),
        2: random.integers(0, num_hosts, num_ranks),
    }[seed % 3]
    times = random.gamma(4, 2, (num_ranks, num_ranks)) + 0.5
    if seed % 4 == 1:
        times = np.ceil(times)
    rank = np.arange(num_ranks)
    to_measure = rank[:, None] != rank[None, :] if num_ranks > 1 else np.ones((1, 1), dtype=bool)
    if seed % 5 == 1:
        to_measure &= random.random(to_measure.shape) < 0.5
    if seed % 7 == 2:
        to_measure &= host[:, None] == host[None, :]
    if seed % 7 == 3:
        to_measure &= host[:, None] != host[None, :]
    times[~to_measure] = np.nan
    if seed % 2:
        times[random.random(times.shape) < random.choice([0.01, 0.3, 0.9, 1.0])] = np.nan
        times[random.random(num_ranks) < 0.2] = np.nan
    return result_of(base, [f"h{one}" for one in host], times, to_measure if seed % 3 or seed % 5 == 1 else None)


def median(values: np.ndarray) -> float:
    there = values[np.isfinite(values)]
    return float(np.median(there)) if there.size else np.nan


def octave(value: float) -> float:
    """Where a value lies between powers of two, evenly in between."""
    mantissa, exponent = math.frexp(float(np.float32(value)))
    return exponent + 2 * mantissa


def check_scan(found: Scan, result: LinkResult) -> None:
    """Against the definitions, cell by cell."""
    matrix, host = result.matrix(PART), result.host_index
    there = np.isfinite(matrix)
    to_measure = result.to_measure(PART) | there
    same = host[:, None] == host[None, :]
    expected = {PairClass.SAME_HOST: same & to_measure, PairClass.BETWEEN_HOSTS: ~same & to_measure}
    assert list(found.classes) == [name for name, cells in expected.items() if cells.any()]
    for name, tally in found.classes.items():
        values = matrix[expected[name] & there]
        assert tally.num_values == values.size
        if values.size:
            assert (tally.distribution().min, tally.distribution().max) == (values.min(), values.max())
            assert tally.quantile(0.5) == pytest.approx(np.median(values), rel=1e-3)
        cells = [Cell(int(i), int(j), float(matrix[i, j])) for i, j in np.argwhere(expected[name] & there)]
        assert list(found.slowest[name]) == sorted(cells, key=lambda cell: -cell.time_ns)[:1000]
        of_stretches: dict[int, list[Cell]] = {}
        for cell in cells:
            of_stretches.setdefault(math.floor(256 * octave(cell.time_ns)), []).append(cell)
        assert set(found.examples[name]) == {cell for stretch in of_stretches.values() for cell in stretch[:8]}
        assert list(found.examples[name]) == sorted(found.examples[name], key=lambda c: (c.time_ns, c.from_rank))
    gaps = np.argwhere(to_measure & ~there)
    assert (found.num_to_measure, found.num_missing) == (np.count_nonzero(to_measure), len(gaps))
    assert found.missing == tuple(map(tuple, gaps[:1000].tolist()))
    side = np.where(same, np.nan, matrix) if (there & ~same).any() else np.where(same, matrix, np.nan)
    np.testing.assert_array_equal(found.rows_ns, [median(row) for row in side])
    np.testing.assert_array_equal(found.inside_ns, [median(row) for row in np.where(same, matrix, np.nan)])
    np.testing.assert_allclose(found.columns_ns, [median(column) for column in side.T], rtol=1e-6)
    met = (there | there.T) & ~np.eye(len(there), dtype=bool)
    assert found.num_partners.tolist() == met.sum(axis=1).tolist()
    for one, num in enumerate(found.num_host_partners):
        assert num == len(set(host[met[host == one].any(axis=0)]) - {one})


def check_picture(picture: Picture, matrix: np.ndarray, to_measure: np.ndarray) -> None:
    group = picture.grid.axis.position_of // picture.grid.edge
    assert picture.worst.shape == (picture.grid.size,) * 2
    for a in range(picture.grid.size):
        for b in range(picture.grid.size):
            senders, receivers = np.flatnonzero(group == a), np.flatnonzero(group == b)
            cells = matrix[np.ix_(senders, receivers)]
            there = np.isfinite(cells)
            assert picture.num_measured[a, b] == there.sum()
            assert picture.num_missing[a, b] == (to_measure[np.ix_(senders, receivers)] & ~there).sum()
            if not there.any():
                assert np.isnan(picture.worst[a, b])
                assert np.isnan(picture.median[a, b])
                assert (picture.worst_from[a, b], picture.worst_to[a, b]) == (-1, -1)
                continue
            i, j = np.unravel_index(np.nanargmax(cells.astype(np.float32)), cells.shape)
            assert picture.worst[a, b] == np.float32(cells[i, j])
            assert (picture.worst_from[a, b], picture.worst_to[a, b]) == (senders[i], receivers[j])
            expected = median(np.array([median(row) for row in cells]))
            assert picture.median[a, b] == pytest.approx(expected, rel=1e-6)


def grids_of(result: LinkResult, largest_size: int) -> list[Grid]:
    axes = [axis_of(result, name) for name in AxisName]
    return [Grid(axis, edge_for(axis.num_positions, largest_size)) for axis in axes]


def same_but_for_means(one: Scan, other: Scan) -> None:
    for field in dataclasses.fields(Scan):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "pictures":
            for left, right in zip(a, b, strict=True):
                for name in ("worst", "worst_from", "worst_to", "median", "num_measured", "num_missing"):
                    np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
        elif field.name == "classes":
            assert list(a) == list(b)
            for left, right in zip(a.values(), b.values(), strict=True):
                numbers = [dataclasses.asdict(tally.distribution()) for tally in (left, right)]
                assert numbers[0].pop("mean") == pytest.approx(numbers[1].pop("mean"), rel=1e-12, nan_ok=True)
                assert str(numbers[0]) == str(numbers[1])
        elif isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b


@pytest.mark.parametrize("seed", range(36))
def test_a_scan_is_what_the_whole_matrix_says(some_result: LinkResult, seed: int, monkeypatch: pytest.MonkeyPatch):
    result = made_up(some_result, seed)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", [1, 100, 1 << 20][seed % 3])
    found = scan(result, PART, grids_of(result, [1, 3, 8, 64][seed % 4]))
    check_scan(found, result)
    to_measure = result.to_measure(PART)
    for picture in found.pictures:
        check_picture(picture, result.matrix(PART), to_measure)
    others = pictures(result, PART, Statistic.MAX, [picture.grid for picture in found.pictures])
    for picture in others:
        check_picture(picture, result.matrix(PART, Statistic.MAX), to_measure)
        assert picture.values.num_values == np.isfinite(result.matrix(PART, Statistic.MAX)).sum()


@pytest.mark.parametrize("seed", [1, 6, 8, 14])
def test_blocks_and_threads_change_nothing(some_result: LinkResult, seed: int, monkeypatch: pytest.MonkeyPatch):
    result = made_up(some_result, seed)
    found = []
    for block_cells, num_threads in ((1, 1), (1, 4), (77, 3), (500, 2), (1 << 20, 1)):
        monkeypatch.setattr(blocks, "BLOCK_CELLS", block_cells)
        monkeypatch.setattr(blocks, "MOST_THREADS", num_threads)
        found.append(scan(result, PART, grids_of(result, 5)))
    for other in found[1:]:
        same_but_for_means(found[0], other)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 9])
def test_columns_are_counted_where_they_are_too_many(
    some_result: LinkResult, seed: int, monkeypatch: pytest.MonkeyPatch
):
    hosts_of_ranks = [f"h{rank % 9}" for rank in range(90)]
    times = times_of(hosts_of_ranks, seed)
    times[times == 0] = np.nan
    times[:, 7] *= 1.9
    times[:, 11] *= 40
    times[:, 12] /= 50
    times[:, 13] = np.nan
    times[np.random.default_rng(seed).random(times.shape) < 0.1 * (seed % 3)] = np.nan
    result = result_of(some_result, hosts_of_ranks, times, None)
    exact = scan(result, PART).columns_ns
    monkeypatch.setattr("leadline.link.scan.one_pass.MOST_KEPT", 10)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 1000)
    monkeypatch.setattr(columns, "_ROWS_COUNTED_AT_ONCE", 32)
    monkeypatch.setattr(columns, "_COLUMNS_COUNTED_AT_ONCE", 40)
    counted = scan(result, PART).columns_ns
    assert np.isnan(counted[13])
    near = np.delete(np.arange(90), [11, 12, 13])
    # So few values do not lie evenly in a bin: no more than the width of one is promised.
    np.testing.assert_allclose(counted[near], exact[near], rtol=0.02)
    np.testing.assert_allclose(counted[[11, 12]], exact[[11, 12]], rtol=0.3)


@pytest.mark.parametrize("seed", range(0, 20, 3))
def test_partners_of_many_ranks(some_result: LinkResult, seed: int, monkeypatch: pytest.MonkeyPatch):
    result = made_up(some_result, seed)
    exact = scan(result, PART)
    monkeypatch.setattr(hosts, "_MOST_RANKS", 0)
    monkeypatch.setattr(hosts, "_MOST_HOSTS", 0)
    found = scan(result, PART)
    there = np.isfinite(result.matrix(PART)) & ~np.eye(result.num_ranks, dtype=bool)
    assert found.num_partners.tolist() == np.maximum(there.sum(axis=0), there.sum(axis=1)).tolist()
    assert np.all(found.num_host_partners <= exact.num_host_partners)
    if exact.num_missing == 0 and seed % 5 != 1:
        assert found.num_host_partners.tolist() == exact.num_host_partners.tolist()


def test_slowest_and_examples_are_the_first_of_many_equal(some_result: LinkResult, monkeypatch: pytest.MonkeyPatch):
    times = np.full((60, 60), 700.0)
    times[50, 3] = 900.0
    times[20, 21] = times[20, 22] = 800.0
    np.fill_diagonal(times, np.nan)
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 240)
    found = scan(result_of(some_result, ["a"] * 60, times, None), PART)
    slowest = found.slowest[PairClass.SAME_HOST]
    assert slowest[:4] == (Cell(50, 3, 900.0), Cell(20, 21, 800.0), Cell(20, 22, 800.0), Cell(0, 1, 700.0))
    assert (len(slowest), slowest[-1]) == (1000, Cell(16, 53, 700.0))
    examples = found.examples[PairClass.SAME_HOST]
    assert [cell.to_rank for cell in examples] == [1, 2, 3, 4, 5, 6, 7, 8, 21, 22, 3]


@pytest.mark.parametrize("times", [1e-300, 1e300, 5.0])
def test_times_that_no_clock_gives_are_survived(some_result: LinkResult, times: float):
    matrix = np.full((6, 6), times)
    matrix[1, 2] = 1e9
    result = result_of(some_result, ["a", "a", "b", "b", "c", "c"], matrix, None)
    found = scan(result, PART, grids_of(result, 2))
    assert all(np.all(np.isfinite(picture.worst) & (picture.worst > 0)) for picture in found.pictures)
    assert found.classes[PairClass.BETWEEN_HOSTS].distribution().median == times


def test_progress_ends_at_all(some_result: LinkResult, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 20)
    shares: list[float] = []
    scan(some_result, some_result.slices[0], progress=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]
    pictures(some_result, some_result.slices[0], Statistic.MAX, [], shares.append)
    assert shares[4:] == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("num_threads", [1, 3])
def test_what_goes_wrong_in_a_thread_comes_out(
    some_result: LinkResult, num_threads: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(blocks, "BLOCK_CELLS", 8)
    monkeypatch.setattr(blocks, "MOST_THREADS", num_threads)

    def broken(part: Slice, dataset: str, first: int, end: int) -> np.ndarray:
        if first == 5:
            raise leadline.LeadlineError("row 5 is damaged")
        return some_result.read_rows(part, dataset, first, end)

    with pytest.raises(leadline.LeadlineError, match="row 5"):
        scan(dataclasses.replace(some_result, read_rows=broken), some_result.slices[0])


def test_schedules_are_read_only_where_something_is_missing(some_result: LinkResult, monkeypatch: pytest.MonkeyPatch):
    times = times_of(["a"] * 6, 1)
    times[times == 0] = np.nan
    times[4, 2] = np.nan
    result = result_of(some_result, ["a"] * 6, times, ~np.eye(6, dtype=bool))
    asked: list[tuple[str, int]] = []

    def read_rows(part: Slice, dataset: str, first: int, end: int) -> np.ndarray:
        asked.append((dataset, first))
        return result.read_rows(part, dataset, first, end)

    monkeypatch.setattr(blocks, "BLOCK_CELLS", 12)
    assert scan(dataclasses.replace(result, read_rows=read_rows), PART).missing == ((4, 2),)
    assert [first for dataset, first in asked if dataset == "round"] == [4]


def test_half_a_file_is_scanned(tmp_path: Path):
    made: Callable[[], MadeUp] = two_hosts
    times = made().times[0][0]
    times[4:] = 0
    half = dataclasses.replace(made(), times=[[times]], retests=[])
    result = leadline.load(write_result(tmp_path / "run.h5", half))
    found = scan(result, result.slices[0], grids_of(result, 4))
    assert (found.num_to_measure, found.num_missing) == (56, 28)
    assert np.isnan(found.rows_ns).tolist() == [False] * 4 + [True] * 4
    assert np.isfinite(found.columns_ns[4:]).all()


def test_the_colours_of_a_reduced_picture_begin_at_the_usual_fast_pairs(some_result: LinkResult):
    times = np.random.default_rng(5).uniform(1000, 1100, (40, 40))
    times[::2] /= 2
    times[3, 5] = 50_000.0
    result = result_of(some_result, [f"h{rank}" for rank in range(40)], times, None)
    axis = axis_of(result, AxisName.RANKS)
    every, reduced = scan(result, PART, [Grid(axis, 1), Grid(axis, 4)]).pictures
    assert picture_range(every) == colour_range(times.ravel().astype(np.float32).astype(np.float64))
    span = picture_range(reduced)
    assert reduced.worst.min() > 1000
    assert 500 < span.low < 510
    assert 1050 < span.high < 1200
    assert (span.num_below, span.num_above) == (0, 1)

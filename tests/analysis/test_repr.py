# SPDX-License-Identifier: Apache-2.0
"""Whatever a result holds shows itself in three lines, however many ranks, faults or patterns there are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import made_up_io
import numpy as np
import pytest
from made_up_bisection import slow_host, write_bisection
from made_up_diagnosis import slow_component
from made_up_topology import even, write_topologies

import leadline
from conftest import hostile, sweep, write_result
from leadline.bisection.analysis import analyse_components, analyse_size
from leadline.cost import measured_times, parse_pattern, pattern_cost
from leadline.model import Record


def of_link(folder: Path) -> list[Any]:
    result = leadline.load_link(write_result(folder / "run.h5", sweep()))
    pattern = parse_pattern("ring", result.num_ranks)
    times = measured_times(result, pattern, size="1KiB", repeat=0)
    record = leadline.LinkTestRecord(3, 8, True, False, True, (1, 2, 3), (1, 2, 3), np.zeros((8, 4), dtype=np.int64))
    arrays = [result.times["median", 8, 0], result.bandwidths["p99", 8, 0].by_host()]
    return [result, result.times, *arrays, record, pattern, times, pattern_cost(result, pattern, times)]


def of_diagnosis(folder: Path) -> list[Any]:
    return [leadline.load_link(write_result(folder / "run.h5", slow_component("host")))]


def of_topology(folder: Path) -> list[Any]:
    result = leadline.load_topology(write_topologies(folder / "run.h5", even()))
    cell = result.cells[0]
    return [result, cell, result.channels("ring2", 1), result.arrivals(cell), result.rates(cell)]


def of_bisection(folder: Path) -> list[Any]:
    result = leadline.load_bisection(write_bisection(folder / "run.h5", slow_host()))
    size = analyse_size(result, 1)
    tables = [result.patterns("1MiB"), result.connections(3, "1MiB"), result.baseline("1MiB")]
    return [result, *tables, size, analyse_components(result, [size])]


def of_io(folder: Path) -> list[Any]:
    result = leadline.load_io(made_up_io.write_io(folder / "run.h5", made_up_io.straggling()))
    return [result, result.rows(result.phases[0]), result.series(result.phases[0])]


def strange(folder: Path) -> list[Any]:
    result = leadline.load_link(write_result(folder / "a\nb.h5", hostile()))
    return [dataclasses.replace(result, complete=False, incomplete_reason="one\ntwo\nthree"), result.times["median"]]


def parts_of(value: Any) -> Iterator[Any]:
    """What consists of fields, and all such in it."""
    if dataclasses.is_dataclass(value):
        yield value
        if isinstance(value, leadline.RunResult | Record) and not isinstance(value, leadline.Table):
            yield enlarged(value)
        yield from (part for one in dataclasses.fields(value) for part in parts_of(getattr(value, one.name)))
    elif isinstance(value, tuple | Mapping):
        yield from (part for one in (value if isinstance(value, tuple) else value.values()) for part in parts_of(one))


def enlarged(value: Any) -> Any:
    grown = {one.name: grown_value(getattr(value, one.name)) for one in dataclasses.fields(value)}
    return dataclasses.replace(value, **grown)


def grown_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.resize(value, (300, *value.shape[1:]))
    if isinstance(value, tuple):
        return value * 99
    return (value + "x" * 99)[:99] if type(value) is str else value


@pytest.mark.parametrize("made", [of_link, of_diagnosis, of_topology, of_bisection, of_io, strange])
def test_three_lines_say_what_it_is(made: Callable[[Path], list[Any]], tmp_path: Path):
    for part in (part for one in made(tmp_path) for part in parts_of(one)):
        assert repr(part).count("\n") <= 2
        assert len(repr(part)) < 1000


def test_long_values_are_cut(tmp_path: Path):
    _, patterns, *_ = of_bisection(tmp_path)
    assert repr(patterns).startswith("Patterns: 105 rows of number, kind, index,")
    fault = next(iter(of_diagnosis(tmp_path)[0].diagnoses.values())).faults[0]
    many = dataclasses.replace(fault, pairs=fault.pairs * 1000)
    assert repr(many).startswith("Fault(component=Component(")
    assert repr(fault.component).startswith("Component(kind=<ComponentKind.HOST: 'host'>, level=")
    assert f"name={fault.name!r}" in repr(many)

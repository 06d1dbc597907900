# SPDX-License-Identifier: Apache-2.0
"""Files of every benchmark that are cut off, changed anywhere, or another benchmark's: a result or one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_up_bisection
import made_up_io
import made_up_topology
import numpy as np
import pytest
from damage import line_of

import leadline
from conftest import two_hosts, write_result
from leadline.error import ExitStatus

READERS = {
    "link": leadline.load_link,
    "topology": leadline.load_topology,
    "bisection": leadline.load_bisection,
    "io": leadline.load_io,
}


@pytest.fixture(params=READERS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(kind: str, tmp_path: Path) -> Path:
    path = tmp_path / "run.h5"
    if kind == "link":
        return write_result(path, two_hosts())
    if kind == "topology":
        return made_up_topology.write_topologies(path, made_up_topology.even())
    if kind == "bisection":
        return made_up_bisection.write_bisection(path, made_up_bisection.even())
    return made_up_io.write_io(path, made_up_io.even())


def read_all(result: Any) -> None:
    """Something of whatever is read only when it is asked for."""
    if isinstance(result, leadline.LinkResult):
        result.matrix(result.slices[0])
    elif isinstance(result, leadline.TopologyResult):
        for cell in result.cells[:1]:
            result.arrivals(cell)
    elif isinstance(result, leadline.BisectionResult):
        made_up_bisection.read_all(result)
    else:
        for phase in result.measured_phases:
            result.rows(phase)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.99])
def test_truncated(path: Path, share: float):
    contents = path.read_bytes()
    path.write_bytes(contents[: int(len(contents) * share)])
    message = line_of(path, read_all, ExitStatus.RUN_FAILED)
    assert "the file is truncated). Copy it again; was the disk full?" in message or "damaged" in message
    assert share < 0.5 or "truncated" in message


def test_any_flipped_byte_is_a_result_or_one_line(path: Path):
    contents = path.read_bytes()
    generator = np.random.default_rng(11)
    # The header and the first objects are where a flip hurts most.
    for place in generator.integers(0, 8000, 150):
        damaged = bytearray(contents)
        damaged[place] ^= int(generator.integers(1, 256))
        path.write_bytes(damaged)
        try:
            read_all(leadline.load(path))
        except leadline.LeadlineError as error:
            assert "\n" not in str(error)


def test_who_wants_another_benchmark_says_so(path: Path, kind: str):
    for other, load in READERS.items():
        if other == kind:
            assert load(path).path == path
            continue
        reason = rf"a result of leadline {kind}, not of leadline {other}\)\. .* in Python leadline\.load_{kind}\(\)"
        with pytest.raises(leadline.LeadlineError, match=reason) as caught:
            load(path)
        assert caught.value.status is ExitStatus.BAD_COMMAND_LINE

# SPDX-License-Identifier: Apache-2.0
"""Files that earlier versions wrote are read, by the program and by the analysis package, with the numbers they had."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import program
import pytest
from program import Leadline
from result import schema_of, summary_of, wrong_json

import leadline as package

SAMPLES = program.ROOT / "tests" / "samples" / "results"
DOCUMENTS = sorted((program.ROOT / "tests" / "samples" / "documents").glob("*.json"))
NAMES = sorted(path.name.removesuffix(".gz") for path in SAMPLES.glob("*.gz"))


@pytest.fixture(autouse=True)
def known_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package, which is imported here, finds it."""
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))


@pytest.fixture
def unpacked(tmp_path: Path) -> Callable[[str], Path]:
    """Puts the sample of this name into the folder of the test."""

    def unpack(name: str) -> Path:
        (tmp_path / name).write_bytes(gzip.decompress((SAMPLES / f"{name}.gz").read_bytes()))
        return tmp_path / name

    return unpack


def numbers(result: Any) -> list[float]:
    """A few that every part of the file goes into."""
    if isinstance(result, package.LinkResult):
        last = result.slices[-1]
        sums = [float(np.nansum(result.matrix(last, one))) for one in package.Statistic if one in result.statistics]
        return [*sums, len(result.retests)]
    if isinstance(result, package.TopologyResult) and result.is_load:
        return [len(result.load), sum(point.num_exchanges for point in result.load)]
    if isinstance(result, package.TopologyResult):
        return [
            float(result.exchange_times_ns(cell).sum() + result.arrivals(cell).time_ns.sum()) for cell in result.cells
        ]
    if isinstance(result, package.BisectionResult):
        return [float(result.patterns(kind=kind).bytes_per_s_mean.sum()) for kind in ("random", "named")]
    return [phase.value("bytes_per_s_io") for phase in result.measured_phases] + [  # their own headline
        float(result.rows(phase).io_ns.sum()) for phase in result.measured_phases
    ]


EXPECTED: dict[str, list[float]] = json.loads((SAMPLES / "numbers.json").read_text(encoding="utf-8"))


def test_there_is_one_of_each_kind() -> None:
    assert sorted(EXPECTED) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_older_result_is_read(name: str, unpacked: Callable[[str], Path], leadline: Leadline) -> None:
    path = unpacked(name)
    with package.load(path) as result:
        assert result.complete
        np.testing.assert_allclose(numbers(result), EXPECTED[name], rtol=1e-12)
    told = leadline("info", name)
    assert (told.status, told.err) == (0, "")
    assert "complete         yes" in told.out
    report = leadline("report", name)
    assert (report.status, report.err) == (0, "")


def test_what_an_older_file_lacks_is_absent(
    unpacked: Callable[[str], Path], leadline: Leadline, tmp_path: Path
) -> None:
    path = unpacked("link.h5")
    with package.load_link(path) as result:
        there = [one.value for one in result.statistics]
        assert there == ["median", "min", "mean", "p99", "max"]
        with pytest.raises(package.LeadlineError, match="there is no statistic p999"):
            result.matrix(result.slices[0], "p999")
    for slice_ in json.loads(leadline("info", "link.h5", "--json").out)["result"]["slices"]:
        assert slice_["time_ns_p999"] is None
        assert slice_["time_ns_p99"] > 0
    leadline("export", "link.h5", "--csv", "--output", "r.csv")
    assert "p999" not in (tmp_path / "r.csv").read_text().partition("\n")[0]


def test_rates_of_an_older_file_test_say_what_they_are(unpacked: Callable[[str], Path], leadline: Leadline) -> None:
    path = unpacked("io.h5")
    with package.load_io(path) as result:
        for phase in result.measured_phases:
            assert phase.is_of_earlier_version
            assert phase.bytes_per_s == 1e9 * phase.value("bytes") / phase.value("wall_ns")
            assert phase.value("bytes_per_s_io") == 1e9 * phase.value("bytes") / phase.summary["io"]["max"]
    assert "whose headline was that of the slowest rank" in leadline("info", "io.h5").out


def keys_not_required(value: Any, schema: dict[str, Any], place: str = "") -> Iterator[str]:
    """The keys of a document that others may lack by the schema."""
    if isinstance(value, list):
        for one in value:
            yield from keys_not_required(one, schema.get("items", {}), place)
    elif isinstance(value, dict):
        for key, part in value.items():
            if key not in schema["required"]:
                yield f"{place}/{key}"
            yield from keys_not_required(part, schema["properties"][key], f"{place}/{key}")


# Keys that documents have no more.
GONE = {"bisection": {"slow_components"}}


def expect_todays_keys(document: dict[str, Any]) -> None:
    gone = GONE.get(document.get("benchmark", ""), set())
    document = {key: value for key, value in document.items() if key not in gone}
    schema = schema_of(document["benchmark" if "benchmark" in document else "document"])
    assert wrong_json(document, schema) == []
    optional = {"/options/statistics", "/topologies/extents", "/phases/is_interrupted", "/phases/at_interruption"}
    optional |= {"/phases/stragglers"}  # the diagnoses say who is slow
    assert set(keys_not_required(document, schema)) <= optional


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".h5")])
def test_an_older_summary_fits_the_schema_and_today_has_its_keys(name: str, unpacked: Callable[[str], Path]) -> None:
    expect_todays_keys(summary_of(unpacked(name)))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_an_older_document_fits_the_schema_and_today_has_its_keys(path: Path) -> None:
    expect_todays_keys(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("link")])
def test_an_older_link_test_is_diagnosed_and_converted(
    name: str, unpacked: Callable[[str], Path], leadline: Leadline
) -> None:
    path = unpacked(name)
    found = json.loads(leadline("diagnose", name, "--json").out)
    named = {fault["name"] for part in found["slices"] for fault in part["diagnosis"]["faults"]}
    assert any("node2" in one for one in named), named
    other = "converted.sion" if path.suffix == ".h5" else "converted.h5"
    assert leadline("convert", name, "--output", other).status == 0
    with package.load(path) as result, package.load(path.parent / other) as converted:
        for statistic in result.statistics:
            expected = result.matrix(result.slices[-1], statistic)
            np.testing.assert_allclose(converted.matrix(converted.slices[-1], statistic), expected, rtol=1e-12)
        assert len(converted.retests) == len(result.retests)

# SPDX-License-Identifier: Apache-2.0
"""Looks into a result file as docs/formats/hdf5.md describes it, also while the run goes on."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import program


def text_of(value: Any) -> str:
    """A string out of a file, whatever kind of string it is there."""
    return (value if isinstance(value, str) else bytes(value).decode()).rstrip("\0")


def status_of(path: Path) -> tuple[bool, str]:
    """Whether the file is complete, and if not, why."""
    with h5py.File(path, "r", locking=False) as file:
        return bool(file["status/complete"][()]), text_of(file["status/reason"][()])


def summary_of(path: Path) -> dict[str, Any]:
    """The summary of a complete file."""
    with h5py.File(path) as file:
        document: dict[str, Any] = json.loads(text_of(file["summary"][()]))
    return document


class ResultFile:
    """All that the tests ask of a file, read at once."""

    def __init__(self, path: Path) -> None:
        """Reads without a lock, so that the program is not disturbed."""
        with h5py.File(path, "r", locking=False) as file:
            self.complete = bool(file["status/complete"][()])
            self.reason = text_of(file["status/reason"][()])
            self.provenance = dict(file["provenance"].attrs)
            self.options = {name: text_of(value) for name, value in file["options"].attrs.items()}
            self.sizes = file["message_size_bytes"][:].tolist()
            self.hosts = [text_of(name) for name in file["ranks/host"][:]]
            self.devices = [text_of(name) for name in file["ranks/device"][:]]
            self.pids = file["ranks/pid"][:].tolist()
            self.permutations = file["permutations"][:].tolist() if "permutations" in file else None
            names = sorted(file["repeats"])
            self.repeats = [{key: file["repeats"][name][key][:] for key in file["repeats"][name]} for name in names]
            self.permutation_of_repeat = [int(file["repeats"][name].attrs["permutation"]) for name in names]
            self.retest = {key: value[:] for key, value in file["retest"].items()} if "retest" in file else {}
            self.summary = json.loads(text_of(file["summary"][()])) if "summary" in file else None

    @property
    def num_ranks(self) -> int:
        """How many ranks the file knows."""
        return len(self.pids)

    def medians(self, repeat: int = 0, size: int = 0) -> np.ndarray:
        """The matrix of medians; 0 = not measured."""
        return np.asarray(self.repeats[repeat]["time_ns_median"][size])

    def measured(self, repeat: int = 0, size: int = 0) -> np.ndarray:
        """Which ordered pairs have been measured; all statistics of a pair are there, or none."""
        there = np.asarray(self.repeats[repeat]["count"][size] > 0)
        for statistic in ("min", "median", "mean", "p99", "max"):
            times = self.repeats[repeat][f"time_ns_{statistic}"][size]
            assert np.array_equal(times > 0, there), f"time_ns_{statistic} and count differ in what was measured"
        return there

    def every_pair(self) -> np.ndarray:
        """What a whole test measures: everything but the diagonal, or the loop of one rank alone."""
        return np.ones((1, 1), bool) if self.num_ranks == 1 else ~np.eye(self.num_ranks, dtype=bool)


def closed(schema: Any) -> Any:
    """The same schema, but objects have no keys that it does not name, as those of later versions may have."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: closed(part) for name, part in schema.items()}
    return (
        {"additionalProperties": False} | parts
        if "object" in schema.get("type", "") and "properties" in schema
        else parts
    )


@functools.cache
def schema_of(document: str) -> dict[str, Any]:
    """What `leadline schema` says of a document: link, topology, bisection, io, diagnosis, comparison."""
    done = program.complete([program.PROGRAM, "schema", document], program.ROOT)
    assert (done.status, done.err) == (0, "")
    return dict(json.loads(done.out))


def wrong_json(document: Any, schema: dict[str, Any]) -> list[str]:
    """What the schema has against this document; a key that it does not name is wrong here."""
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(schema)
    return [error.message for error in jsonschema.Draft202012Validator(closed(schema)).iter_errors(document)]


def expect_topology_without(path: Path, lost: int) -> None:
    """A whole `complete2` test of four ranks that lost this one: channels of all with all, later of those left."""
    with h5py.File(path) as file:
        assert file["status/complete"][()] == 1
        group = file["topologies/0000"]
        served, times = group["num_served"][0], group["rank_time_ns_median"][0]
    left = [rank != lost for rank in range(4)]
    assert served[0][left].tolist() == [3] * 3, served
    # A kill takes along what its rank has not yet written.
    assert served[0][lost] in (0, 3), served
    assert served[-1].tolist() == [2 * is_left for is_left in left]
    assert (times[-1] > 0).tolist() == left

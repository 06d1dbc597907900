# SPDX-License-Identifier: Apache-2.0
"""From a result file (docs/formats/hdf5.md) to a Result, or to one line that says what is wrong with the file."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from leadline.error import LeadlineError, from_os_error
from leadline.model import (
    AllToAll,
    Finding,
    FloatArray,
    Provenance,
    RankPlace,
    Result,
    Retest,
    Slice,
    Spread,
    Statistic,
)

FORMAT_VERSION = 1
_MATRICES = ("count", *(f"time_ns_{statistic.value}" for statistic in Statistic))


def load(path: str | os.PathLike[str]) -> Result:
    """Reads all but the matrices, and checks that those are there; LeadlineError for whatever is not a result."""
    file_path = Path(path)
    _check_kind(file_path)
    with _opened(file_path) as file:
        return _Reader(file_path, file).result()


def _unreadable(path: Path, why: str, hint: str = "") -> LeadlineError:
    return LeadlineError(f"cannot read '{path}'", why, hint)


def _check_kind(path: Path) -> None:
    """Names what a file is when it is not HDF5; the library's own messages do not."""
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise from_os_error(f"cannot read '{path}'", error) from error
    if not head:
        raise _unreadable(path, "the file is empty", "Was the run stopped before it could write?")
    if h5py.is_hdf5(os.fspath(path)):
        return
    if head.startswith(b"sion"):
        target = path.with_suffix(".h5") if path.suffix != ".h5" else path.with_name(f"{path.name}.h5")
        command = shlex.join(["leadline", "convert", os.fspath(path), os.fspath(target)])
        raise _unreadable(path, "this is a SION file; a report needs HDF5", f"Make it with: {command}")
    if head.lstrip()[:1] in (b"{", b"["):
        raise _unreadable(
            path, "this is JSON, which has the summary but no matrix", "Write the result with --format hdf5"
        )
    if head.startswith(b"\x89HDF"):
        raise _unreadable(path, "damaged: the HDF5 header is broken", "Copy the file again")
    raise _unreadable(path, "not an HDF5 file", "A result of leadline link is wanted")


@contextmanager
def _opened(path: Path) -> Iterator[h5py.File]:
    """The file for reading; whatever the library or numpy trips over inside comes out as one line."""
    try:
        # A run may still be writing its rows into the file: reading must not depend on locks.
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except LeadlineError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, IndexError, AttributeError, MemoryError) as error:
        text = str(error)
        if "truncated" in text:
            raise _unreadable(path, "the file is truncated", "Copy it again; was the disk full?") from error
        reason = text.splitlines()[0] if text else type(error).__name__
        raise _unreadable(path, f"damaged: {reason}") from error


class _Reader:
    """One pass over an open file."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        self._path, self._file = path, file

    def result(self) -> Result:
        self._check_format()
        provenance = self._provenance()
        sizes = tuple(int(size) for size in self._array("message_size_bytes", 1))
        ranks = self._ranks()
        if not sizes or not ranks or provenance.num_ranks != len(ranks):
            raise self._damaged(f"{provenance.num_ranks} ranks, {len(ranks)} places, {len(sizes)} message sizes")
        slices = self._slices(sizes, len(ranks))
        complete = bool(self._scalar("status/complete"))
        summary = self._summary()
        return Result(
            path=self._path,
            format_version=int(self._file.attrs["format_version"]),
            nonce=_text(self._file.attrs.get("nonce", "")),
            provenance=provenance,
            options={name: _text(value) for name, value in self._group("options").attrs.items()},
            message_sizes_bytes=sizes,
            ranks=ranks,
            slices=slices,
            retests=self._retests(len(sizes), len(ranks)),
            findings=_findings(summary),
            summary=summary,
            complete=complete,
            incomplete_reason="" if complete else _text(self._scalar("status/reason")) or "no reason given",
            all_to_all=_all_to_all(summary, slices),
            bisection_bytes_per_s=_bisection(summary, slices),
            has_rounds=self._has_rounds(slices, len(ranks)),
            read_rows=_row_reader(self._path),
        )

    def _damaged(self, why: str) -> LeadlineError:
        return _unreadable(self._path, f"damaged: {why}")

    def _check_format(self) -> None:
        attributes = self._file.attrs
        if _text(attributes.get("format", "")) != "leadline":
            raise _unreadable(self._path, "HDF5, but not a result of leadline", "A result of leadline link is wanted")
        version = int(attributes["format_version"])
        if version > FORMAT_VERSION:
            why = f"format version {version}; this program knows up to {FORMAT_VERSION}"
            raise _unreadable(self._path, why, "Use a newer leadline")
        if _text(attributes.get("benchmark", "")) != "link":
            raise _unreadable(self._path, f"a result of '{_text(attributes.get('benchmark', ''))}', not of 'link'")

    def _object(self, name: str, kind: type) -> Any:
        found = self._file.get(name)
        if not isinstance(found, kind):
            raise self._damaged(f"/{name} is missing")
        return found

    def _group(self, name: str) -> h5py.Group:
        return self._object(name, h5py.Group)

    def _scalar(self, name: str) -> Any:
        return np.asarray(self._object(name, h5py.Dataset)[()]).reshape(-1)[0]

    def _array(self, name: str, num_dimensions: int, length: int | None = None) -> Any:
        dataset = self._object(name, h5py.Dataset)
        if dataset.ndim != num_dimensions or (length is not None and dataset.shape[0] != length):
            raise self._damaged(f"/{name} has the shape {dataset.shape}")
        return dataset[()]

    def _provenance(self) -> Provenance:
        attributes = self._group("provenance").attrs
        values: dict[str, Any] = {}
        for name, kind in Provenance.__annotations__.items():
            if name not in attributes and name != "end_utc":
                raise self._damaged(f"/provenance has no {name}")
            value = attributes.get(name, "")
            if kind == "str":
                values[name] = _text(value)
            elif kind == "float":
                values[name] = float(value)
            elif kind == "bool":
                values[name] = _text(value).lower() not in ("0", "false", "")
            elif kind == "int":
                values[name] = int(value)
            else:
                values[name] = tuple(str(word) for word in json.loads(_text(value)))
        return Provenance(**values)

    def _ranks(self) -> tuple[RankPlace, ...]:
        hosts = self._array("ranks/host", 1)
        num_ranks = len(hosts)
        device, cpus, pid, num_cpus, numa_node = (
            self._array(f"ranks/{name}", 1, num_ranks) for name in ("device", "cpus", "pid", "num_cpus", "numa_node")
        )
        return tuple(
            RankPlace(
                rank=rank,
                host=_text(hosts[rank]) or "(unknown host)",
                device=_text(device[rank]),
                cpus=_text(cpus[rank]),
                pid=int(pid[rank]),
                num_cpus=int(num_cpus[rank]),
                numa_node=int(numa_node[rank]),
            )
            for rank in range(num_ranks)
        )

    def _slices(self, sizes: tuple[int, ...], num_ranks: int) -> tuple[Slice, ...]:
        slices: list[Slice] = []
        for name, group in sorted(self._group("repeats").items(), key=lambda item: int(item[0])):
            for matrix in _MATRICES:
                dataset = self._object(f"repeats/{name}/{matrix}", h5py.Dataset)
                if dataset.shape != (len(sizes), num_ranks, num_ranks) or dataset.dtype.kind not in "uif":
                    raise self._damaged(f"/repeats/{name}/{matrix} is {dataset.dtype} of the shape {dataset.shape}")
            repeat, permutation = int(group.attrs["repeat"]), int(group.attrs["permutation"])
            if repeat != int(name):
                raise self._damaged(f"/repeats/{name} says that it is repeat {repeat}")
            slices += [Slice(repeat, permutation, index, size) for index, size in enumerate(sizes)]
        if not slices:
            raise self._damaged("/repeats has none")
        return tuple(slices)

    def _has_rounds(self, slices: tuple[Slice, ...], num_ranks: int) -> bool:
        names = sorted({f"repeats/{part.repeat:04d}/round" for part in slices})
        # Files of older versions have none; their runs met all pairs.
        if not any(name in self._file for name in names):
            return False
        for name in names:
            dataset = self._object(name, h5py.Dataset)
            if dataset.shape != (num_ranks, num_ranks) or dataset.dtype.kind not in "ui":
                raise self._damaged(f"/{name} is {dataset.dtype} of the shape {dataset.shape}")
        return True

    def _retests(self, num_sizes: int, num_ranks: int) -> tuple[Retest, ...]:
        if "retest/from" not in self._file:
            return ()
        num_rows = len(self._array("retest/from", 1))
        names = ("repeat", "size_index", "from", "to", "time_ns", "retest_time_ns")
        columns = [self._array(f"retest/{name}", 1, num_rows) for name in names]
        retests = []
        for repeat, size_index, from_rank, to_rank, time, again in zip(*columns, strict=True):
            if not (0 <= from_rank < num_ranks and 0 <= to_rank < num_ranks and 0 <= size_index < num_sizes):
                raise self._damaged(f"/retest has the pair {from_rank} to {to_rank} of size {size_index}")
            time_ns, retest_time_ns = (float(value) if 0 < value < np.inf else np.nan for value in (time, again))
            retests.append(Retest(int(repeat), int(size_index), int(from_rank), int(to_rank), time_ns, retest_time_ns))
        return tuple(retests)

    def _summary(self) -> Mapping[str, object] | None:
        if "summary" not in self._file:
            return None
        text = _text(self._scalar("summary"))
        if not text:
            return None
        summary = json.loads(text)
        if not isinstance(summary, dict):
            raise self._damaged("/summary is not a JSON object")
        return summary


def _text(value: Any) -> str:
    """A string of whatever kind HDF5 has: fixed or variable, padded, in bytes that may not be UTF-8."""
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[0] if value.size else ""
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    return str(value).rstrip("\0")


def _findings(summary: Mapping[str, object] | None) -> tuple[Finding, ...]:
    entries = summary.get("findings") if summary else None
    names = ("id", "severity", "message", "evidence", "advice")
    return tuple(
        Finding(*(str(entry.get(name, "")) for name in names))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
    )


def _of_slices(
    summary: Mapping[str, object] | None, slices: tuple[Slice, ...], name: str
) -> Iterator[tuple[Slice, Any]]:
    """What the summary says of slices under a name, where it says anything."""
    known = {(part.repeat, part.size_index): part for part in slices}
    entries = summary.get("slices") if summary else None
    for entry in entries if isinstance(entries, list) else []:
        part = known.get((entry["repeat"], entry["size_index"]))
        if part and entry.get(name) is not None:
            yield part, entry[name]


def _spread(entry: Mapping[str, Any], quantity: str) -> Spread:
    values = [entry[f"{quantity}_{which}"] for which in ("min", "mean", "max")]
    return Spread(int(entry["num"]), *(math.nan if value is None else float(value) for value in values))


def _all_to_all(summary: Mapping[str, object] | None, slices: tuple[Slice, ...]) -> dict[Slice, AllToAll]:
    return {
        part: AllToAll(
            int(entry["message_size_bytes"]),
            *(_spread(entry[when], "time_ns") if entry[when] else None for when in ("before", "after", "each_round")),
        )
        for part, entry in _of_slices(summary, slices, "all_to_all")
    }


def _bisection(summary: Mapping[str, object] | None, slices: tuple[Slice, ...]) -> dict[Slice, Spread]:
    return {part: _spread(entry, "bandwidth_bytes_per_s") for part, entry in _of_slices(summary, slices, "bisection")}


def _row_reader(path: Path) -> Any:
    """Reads rows of one matrix, opening the file for as long as that takes. All sizes have the same rounds."""

    def read_rows(part: Slice, dataset: str, first: int, end: int) -> FloatArray:
        name = f"repeats/{part.repeat:04d}/{dataset}"
        with _opened(path) as file:
            cells = (slice(first, end),) if dataset == "round" else (part.size_index, slice(first, end))
            rows = np.asarray(file[name][cells], dtype=np.float64)
            # A hole is 0, which no measured time can be.
            if not np.all(np.isfinite(rows)) or np.any(rows < 0):
                raise _unreadable(path, f"damaged: /{name} has values that no measurement gives")
        rows[rows == 0] = np.nan
        return rows

    return read_rows

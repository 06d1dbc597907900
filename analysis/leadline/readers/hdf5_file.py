# SPDX-License-Identifier: Apache-2.0
"""What the HDF5 files of all benchmarks share: opening one, its head, its tables, the offsets of its arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from leadline.error import LeadlineError
from leadline.hdf5_process import Dataset, Group, Hdf5File
from leadline.model import Column, RankLocation, RunProvenance
from leadline.readers.contents import (
    BAD_VALUES,
    FORMAT_VERSION,
    findings_of,
    provenance_of,
    rank_placement,
    reason_of,
    summary_of,
    text_of,
)
from leadline.readers.input_file import InputFile, another_kind, truncated, unreadable


@contextmanager
def opened(input_file: InputFile) -> Iterator[Hdf5File]:
    """The file for reading; whatever the library or numpy trips over inside comes out as one line. It stays open as
    long as somebody refers to it.
    """
    try:
        yield Hdf5File(input_file.path, input_file.stored_bytes(), input_file.contents)
    except LeadlineError:
        raise
    except BAD_VALUES as error:
        if "truncated" in str(error):
            raise truncated(input_file.path) from error
        raise unreadable(input_file.path, f"damaged: {reason_of(error)}") from error


def benchmark_of(path: Path, file: Hdf5File) -> str:
    """Whose result an open file is; LeadlineError for none of leadline."""
    attributes = file.attributes()
    if text_of(attributes.get("format", "")) != "leadline":
        raise another_kind(path, "HDF5, but not a result of leadline", "A result of leadline is wanted")
    return text_of(attributes.get("benchmark", ""))


@contextmanager
def as_far_as_known(path: Path, file: Hdf5File) -> Iterator[None]:
    """Reading a file, which may be of a later format: where it lacks what this program knows, that is the reason."""
    version = int(file.attributes()["format_version"])
    try:
        yield
    except (LeadlineError, *BAD_VALUES) as error:
        if version <= FORMAT_VERSION:
            raise
        why = error.why if isinstance(error, LeadlineError) else reason_of(error)
        why = f"format version {version}; this program knows up to {FORMAT_VERSION}: {why}"
        raise unreadable(path, why, "Use a newer leadline") from error


class FileReader:
    """One pass over an open file; of a benchmark is what a subclass adds."""

    def __init__(self, input_file: InputFile, file: Hdf5File) -> None:
        """Both are the same file: positioned reads, and what only the library can read."""
        self._input, self._path, self._file = input_file, input_file.path, file
        self._datasets: dict[str, Dataset] = {}  # those that are read later

    def close(self) -> None:
        """Nobody reads from the file any more."""
        self._file.close()
        self._input.close()

    def _head(self, kind_of_provenance: type[RunProvenance] = RunProvenance) -> dict[str, Any]:
        """What every result has, by its name in RunResult."""
        provenance = provenance_of(self._attributes("provenance"), kind_of_provenance)
        sizes = tuple(int(size) for size in self._array("message_size_bytes", 1))
        ranks = self._ranks()
        if not sizes or not ranks or provenance.num_ranks != len(ranks):
            raise self._damaged(f"{provenance.num_ranks} ranks, {len(ranks)} places, {len(sizes)} message sizes")
        summary = summary_of(text_of(self._scalar("summary"))) if self._has("summary") else None
        complete = bool(self._scalar("status/complete"))
        attributes = self._file.attributes()
        return {
            "path": self._path,
            "format_version": int(attributes["format_version"]),
            "nonce": text_of(attributes.get("nonce", "")),
            "options": {name: text_of(value) for name, value in self._attributes("options").items()},
            "message_sizes_bytes": sizes,
            "ranks": ranks,
            "provenance": provenance,
            "findings": findings_of(summary),
            "summary": summary,
            "complete": complete,
            "close": self.close,
            "incomplete_reason": "" if complete else text_of(self._scalar("status/reason")) or "no reason given",
        }

    def _damaged(self, why: str) -> LeadlineError:
        return unreadable(self._path, f"damaged: {why}")

    def _has(self, name: str) -> bool:
        return self._file.find(name) is not None

    def _own(self, name: str) -> Dataset | Group | None:
        """A file may say that a part of it is another file's; the reader wants this file's own."""
        found = self._file.find(name)
        if isinstance(found, Group) and found.is_elsewhere:
            raise self._damaged(f"/{name} lies in another file")
        return found

    def _dataset(self, name: str) -> Dataset:
        found = self._own(name)
        if not isinstance(found, Dataset):
            raise self._damaged(f"/{name} is missing")
        return found

    def _shape(self, name: str) -> tuple[int, ...]:
        return self._dataset(name).shape

    def _group(self, name: str) -> str:
        """Its name, where it is there."""
        if not isinstance(self._own(name), Group):
            raise self._damaged(f"/{name} is missing")
        return name

    def _attributes(self, name: str) -> Mapping[str, Any]:
        return self._file.attributes(self._group(name))

    def _members(self, name: str) -> list[str]:
        return self._file.members(self._group(name))

    def _scalar(self, name: str) -> Any:
        return self._file.read(self._table(name)).reshape(-1)[0]

    def _table(self, name: str) -> Dataset:
        """A dataset to be read as a whole: no larger than the file, which shapes alone may claim to be."""
        dataset = self._dataset(name)
        if dataset.num_bytes > self._file.most_table_bytes:
            raise self._damaged(f"/{name} has the shape {dataset.shape}, more than the file has room for")
        return dataset

    def _array(self, name: str, num_dimensions: int, length: int | None = None) -> Any:
        dataset = self._table(name)
        if len(dataset.shape) != num_dimensions or (length is not None and dataset.shape[0] != length):
            raise self._damaged(f"/{name} has the shape {dataset.shape}")
        return self._file.read(dataset)

    def _columns(self, group: str, kinds: Mapping[str, str]) -> dict[str, Any]:
        """A small table, by the names of its columns, which have the same length and these kinds of values."""
        columns: dict[str, Any] = {}
        for name, kind in kinds.items():
            column = self._array(f"{group}/{name}", 1, len(next(iter(columns.values()))) if columns else None)
            if column.dtype.kind not in kind:
                raise self._damaged(f"/{group}/{name} is {column.dtype}")
            columns[name] = column
        return columns

    def _ranks(self) -> tuple[RankLocation, ...]:
        hosts = self._array("ranks/host", 1)
        names = ("device", "cpus", "pid", "num_cpus", "numa_node")
        columns = [self._array(f"ranks/{name}", 1, len(hosts)).tolist() for name in names]
        has_adapters = self._has("ranks/adapter")  # older files lack it
        adapters = self._array("ranks/adapter", 1, len(hosts)) if has_adapters else [""] * len(hosts)
        return tuple(
            rank_placement(rank, text_of(host), text_of(device), text_of(cpus), pid, num_cpus, node, text_of(adapter))
            for rank, (host, adapter, device, cpus, pid, num_cpus, node) in enumerate(
                zip(hosts, adapters, *columns, strict=True)
            )
        )

    def _add(self, name: str, shape: tuple[int, ...], kinds: str) -> None:
        """A dataset is read later; it must have that shape and kind of numbers."""
        dataset = self._dataset(name)
        if dataset.shape != shape or dataset.dtype.kind not in kinds:
            raise self._damaged(f"/{name} is {dataset.dtype} of the shape {dataset.shape}")
        if dataset.offset is not None and dataset.offset + dataset.num_bytes > self._input.size_bytes:
            raise truncated(self._path)
        if dataset.offset is None and not self._file.has_room_for(dataset):
            raise self._damaged(f"/{name} has the shape {dataset.shape}, more than the file has room for")
        self._datasets[name] = dataset

    def _add_all(self, group: str, shape: tuple[int, ...], kinds: Mapping[str, str]) -> None:
        """Tables of one shape, by their names."""
        for name, kind in kinds.items():
            self._add(f"{group}/{name}", shape, kind)

    def _column(self, name: str, unit: str) -> Column:
        """A dataset as the file describes it; files of the first version do not, and `unit` is right for them."""
        facts = self._file.attributes(name)
        return Column(name.rpartition("/")[2], text_of(facts.get("unit", unit)), text_of(facts.get("meaning", "")))

    def _add_others(self, group: str, shape: tuple[int, ...], known: Collection[str]) -> tuple[Column, ...]:
        """Adds the tables of numbers that a later version has beside those that this one knows."""
        names = [
            name
            for name in sorted(set(self._members(group)) - set(known))
            if isinstance(found := self._own(f"{group}/{name}"), Dataset)
            and found.shape == shape
            and found.dtype.kind in "iuf"
        ]
        for name in names:
            self._add(f"{group}/{name}", shape, "iuf")
        return tuple(self._column(f"{group}/{name}", "1") for name in names)

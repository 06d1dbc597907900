# SPDX-License-Identifier: Apache-2.0
"""What the HDF5 files of all benchmarks share: opening one, its head, its tables, the offsets of its arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from leadline.error import LeadlineError
from leadline.model import RankLocation
from leadline.readers.contents import BAD_VALUES, FORMAT_VERSION, rank_placement, reason_of, summary_of, text_of
from leadline.readers.input_file import InputFile, another_kind, truncated, unreadable


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """The file for reading; whatever the library or numpy trips over inside comes out as one line."""
    try:
        # A run may still be writing its rows into the file: reading must not depend on locks.
        with h5py.File(path, "r", locking=False) as file:
            yield file
    except LeadlineError:
        raise
    except (OSError, *BAD_VALUES) as error:
        if "truncated" in str(error):
            raise truncated(path) from error
        raise unreadable(path, f"damaged: {reason_of(error)}") from error


def benchmark_of(path: Path, file: h5py.File) -> str:
    """Whose result an open file is (`link`, `topology`, `bisection`, `io`); LeadlineError for none, or one too new."""
    attributes = file.attrs
    if text_of(attributes.get("format", "")) != "leadline":
        raise another_kind(path, "HDF5, but not a result of leadline", "A result of leadline is wanted")
    version = int(attributes["format_version"])
    if version > FORMAT_VERSION:
        why = f"format version {version}; this program knows up to {FORMAT_VERSION}"
        raise unreadable(path, why, "Use a newer leadline")
    return text_of(attributes.get("benchmark", ""))


class FileReader:
    """One pass over an open file; of a benchmark is what a subclass adds."""

    def __init__(self, input_file: InputFile, file: h5py.File) -> None:
        """`file` is open during the pass, the other one as long as somebody reads from it."""
        self._input, self._path, self._file = input_file, input_file.path, file
        self._file_number = h5py.h5o.get_info(file.id).fileno

    def _head(self, num_ranks: int) -> dict[str, Any]:
        """What every result has, by its name in RunResult, but provenance and findings; `num_ranks` as stored there."""
        sizes = tuple(int(size) for size in self._array("message_size_bytes", 1))
        ranks = self._ranks()
        if not sizes or not ranks or num_ranks != len(ranks):
            raise self._damaged(f"{num_ranks} ranks, {len(ranks)} places, {len(sizes)} message sizes")
        complete = bool(self._scalar("status/complete"))
        return {
            "path": self._path,
            "format_version": int(self._file.attrs["format_version"]),
            "nonce": text_of(self._file.attrs.get("nonce", "")),
            "options": {name: text_of(value) for name, value in self._group("options").attrs.items()},
            "message_sizes_bytes": sizes,
            "ranks": ranks,
            "summary": summary_of(text_of(self._scalar("summary"))) if "summary" in self._file else None,
            "complete": complete,
            "incomplete_reason": "" if complete else text_of(self._scalar("status/reason")) or "no reason given",
        }

    def _damaged(self, why: str) -> LeadlineError:
        return unreadable(self._path, f"damaged: {why}")

    def _object(self, name: str, kind: type) -> Any:
        found = self._file.get(name)
        if not isinstance(found, kind):
            raise self._damaged(f"/{name} is missing")
        # A file may say that a part of it is another file's; the reader wants this file's own.
        is_elsewhere = h5py.h5o.get_info(self._file[name].id).fileno != self._file_number
        if is_elsewhere or (isinstance(found, h5py.Dataset) and (found.external or found.is_virtual)):
            raise self._damaged(f"/{name} lies in another file")
        return found

    def _group(self, name: str) -> h5py.Group:
        return self._object(name, h5py.Group)

    def _scalar(self, name: str) -> Any:
        return np.asarray(self._table(name)[()]).reshape(-1)[0]

    def _table(self, name: str) -> h5py.Dataset:
        """A dataset to be read as a whole: no larger than the file, which shapes alone may claim to be."""
        dataset = self._object(name, h5py.Dataset)
        if dataset.size is None or dataset.size * dataset.dtype.itemsize > 1024 + 64 * self._input.size_bytes:
            raise self._damaged(f"/{name} has the shape {dataset.shape}, more than the file has room for")
        return dataset

    def _array(self, name: str, num_dimensions: int, length: int | None = None) -> Any:
        dataset = self._table(name)
        if dataset.ndim != num_dimensions or (length is not None and dataset.shape[0] != length):
            raise self._damaged(f"/{name} has the shape {dataset.shape}")
        return dataset[()]

    def _ranks(self) -> tuple[RankLocation, ...]:
        hosts = self._array("ranks/host", 1)
        names = ("device", "cpus", "pid", "num_cpus", "numa_node")
        device, cpus, *numbers = (self._array(f"ranks/{name}", 1, len(hosts)) for name in names)
        return tuple(
            rank_placement(rank, text_of(hosts[rank]), text_of(device[rank]), text_of(cpus[rank]), *of_rank)
            for rank, of_rank in enumerate(zip(*(column.tolist() for column in numbers), strict=True))
        )

    def _checked(self, name: str, shape: tuple[int, ...] | None, kinds: str) -> tuple[h5py.Dataset, int | None]:
        """A dataset that is read later, of that shape (None: of any) and kind of numbers, and where it begins in the
        file; None = in chunks, or packed.
        """
        dataset = self._object(name, h5py.Dataset)
        if (shape is not None and dataset.shape != shape) or dataset.dtype.kind not in kinds:
            raise self._damaged(f"/{name} is {dataset.dtype} of the shape {dataset.shape}")
        offset = dataset.id.get_offset()
        if offset is not None and offset + dataset.size * dataset.dtype.itemsize > self._input.size_bytes:
            raise truncated(self._path)
        return dataset, offset

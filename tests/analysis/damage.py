# SPDX-License-Identifier: Apache-2.0
"""Changes of result files, and the one line that reading them must give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import h5py
import pytest

import leadline
from leadline.error import ExitStatus

Change = Callable[[h5py.File], None]


def attribute(name: str, value: object) -> Change:
    def change(file: h5py.File) -> None:
        group, _, key = name.rpartition("/")
        file[group or "/"].attrs[key] = value

    return change


def remove(*names: str) -> Change:
    def change(file: h5py.File) -> None:
        for name in names:
            del file[name]

    return change


def replace(name: str, value: object) -> Change:
    def change(file: h5py.File) -> None:
        del file[name]
        file[name] = value

    return change


def put(name: str, place: object, value: float) -> Change:
    def change(file: h5py.File) -> None:
        file[name][place] = value

    return change


def later_version_without(name: str) -> Change:
    def change(file: h5py.File) -> None:
        attribute("format_version", 4)(file)
        del file[name]

    return change


def changed(path: Path, *changes: Change) -> Path:
    """The same file."""
    with h5py.File(path, "r+") as file:
        for change in changes:
            change(file)
    return path


def in_chunks(path: Path, names: Iterable[str]) -> Path:
    """A copy in which these datasets are packed."""
    other = path.with_name("chunks.h5")
    other.write_bytes(path.read_bytes())
    with h5py.File(other, "r+") as file:
        for name in names:
            values = file[name][()]
            del file[name]
            file.create_dataset(name, data=values, chunks=True, compression="gzip")
    return other


def line_of(path: Path, read: Callable[[Any], object], status: ExitStatus | None = None) -> str:
    """What reading a file says; it names the file."""
    with pytest.raises(leadline.LeadlineError) as caught:
        read(leadline.load(path))
    assert "\n" not in str(caught.value)
    assert status is None or (caught.value.status, str(path) in str(caught.value)) == (status, True)
    return str(caught.value)

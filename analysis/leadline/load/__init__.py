# SPDX-License-Identifier: Apache-2.0
"""From a result file, HDF5 or SION, to a Result, or to one line that says what is wrong with the file."""

from __future__ import annotations

import os
from pathlib import Path

import h5py

from leadline.load.hdf5 import load_hdf5
from leadline.load.input_file import InputFile, unreadable
from leadline.load.sion import load_sion
from leadline.model import Result

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> Result:
    """Reads all but the matrices, and checks that those are there; which format it is, its first bytes tell.
    LeadlineError for whatever is not a result. The file stays open as long as the Result is in use.
    """
    input_file = InputFile(Path(path))
    head = input_file.read_at(0, 4096)
    if head.startswith(b"sion"):
        return load_sion(input_file)
    if not head:
        raise unreadable(input_file.path, "the file is empty", "Was the run stopped before it could write?")
    if h5py.is_hdf5(os.fspath(input_file.path)):
        return load_hdf5(input_file)
    if head.lstrip()[:1] in (b"{", b"["):
        why = "this is JSON, which has the summary but no matrix"
        raise unreadable(input_file.path, why, "Write the result with --format hdf5")
    if head.startswith(b"\x89HDF"):
        raise unreadable(input_file.path, "damaged: the HDF5 header is broken", "Copy the file again")
    raise unreadable(input_file.path, "neither HDF5 nor SION", "A result of leadline link is wanted")

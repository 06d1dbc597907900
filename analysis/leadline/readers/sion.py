# SPDX-License-Identifier: Apache-2.0
"""A SION result as HDF5: the program `leadline`, which alone knows the format, converts it into a temporary file."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from leadline.error import ExitStatus, LeadlineError
from leadline.program import output_of
from leadline.readers.input_file import InputFile

# Guesses that err on the side of slow disks.
_DEADLINE_S = 60.0
_BYTES_A_SECOND = 2e6


@contextlib.contextmanager
def temporary_folder(problem: str, hint: str) -> Iterator[Path]:
    """For what the program writes for us alone; LeadlineError where there cannot be one."""
    place = os.environ.get("TMPDIR")
    try:
        folder = tempfile.TemporaryDirectory(prefix="leadline-", dir=place, ignore_cleanup_errors=True)
    except OSError as error:
        why = f"cannot make a temporary folder{f' in {place}' if place else ''}: {error.strerror}"
        raise LeadlineError(problem, why, hint, ExitStatus.SOMETHING_MISSING) from error
    with folder:
        yield Path(folder.name)


@contextlib.contextmanager
def as_hdf5(path: Path, size_bytes: int) -> Iterator[InputFile]:
    """The HDF5 file that has the result in a SION file of this size, open until the last reader of it is gone. It lies
    in a folder of its own, which goes away with the block: what is open then has no name any more, so that nothing is
    left however the process ends. LeadlineError that names the SION file.
    """
    problem, hint = f"cannot read '{path}'", "Set TMPDIR to a folder with room for its conversion to HDF5"
    with temporary_folder(problem, hint) as folder:
        converted = folder / "result.h5"
        # Behind -- a name that begins with a dash is a name, too.
        words = ["convert", "--output", os.fspath(converted), "--", os.fspath(path)]
        try:
            output_of(words, problem, _DEADLINE_S + size_bytes / _BYTES_A_SECOND)
        except LeadlineError as error:
            _, is_there, why = error.problem.partition(f"{converted} (")
            if not is_there:
                raise
            why = f"cannot write into {folder.parent}: {why.removesuffix(')')}"
            raise LeadlineError(problem, why, hint, error.status) from error
        yield InputFile(path, converted)

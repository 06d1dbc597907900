# SPDX-License-Identifier: Apache-2.0
# Reads a few datasets of a result file with the HDF5 library itself, so that no Python package is needed.
"""ResultFile: the summary, the ranks' processes and the matrices of one slice."""

import ctypes
import ctypes.util
import json

from .launch import NotMeasuredError

IDENTIFIER = ctypes.c_int64  # hid_t since HDF5 1.10
EVERYTHING = IDENTIFIER(0)  # H5S_ALL; also H5P_DEFAULT


class Library:
    """The calls in use. Types are those of the C header."""

    def __init__(self):
        name = next(filter(None, map(ctypes.util.find_library, ("hdf5_serial", "hdf5"))), None)
        if name is None:
            raise NotMeasuredError("the HDF5 library is not installed")
        self.calls = ctypes.CDLL(name)
        for call in ("H5Fopen", "H5Dopen2", "H5Dget_space", "H5Dget_type"):
            getattr(self.calls, call).restype = IDENTIFIER
        self.calls.H5open()
        self.calls.H5Eset_auto2(EVERYTHING, None, None)  # what goes wrong is told once, by us

    def type_named(self, name):
        return IDENTIFIER.in_dll(self.calls, name)


class ResultFile:
    """An open file; `with` closes it."""

    def __init__(self, path):
        self.library = Library()
        self.calls = self.library.calls
        read_only = ctypes.c_uint(0)
        self.file = IDENTIFIER(self.calls.H5Fopen(str(path).encode(), read_only, EVERYTHING))
        if self.file.value < 0:
            raise NotMeasuredError(f"cannot read {path}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.calls.H5Fclose(self.file)

    def _read(self, name, read):
        dataset = IDENTIFIER(self.calls.H5Dopen2(self.file, name.encode(), EVERYTHING))
        if dataset.value < 0:
            raise NotMeasuredError(f"the result file has no {name}")
        try:
            return read(dataset)
        finally:
            self.calls.H5Dclose(dataset)

    def _numbers(self, name, type_name, element):
        def read(dataset):
            space = IDENTIFIER(self.calls.H5Dget_space(dataset))
            count = self.calls.H5Sget_simple_extent_npoints
            count.restype = ctypes.c_int64
            values = (element * count(space))()
            self.calls.H5Sclose(space)
            if (
                self.calls.H5Dread(
                    dataset, self.library.type_named(type_name), EVERYTHING, EVERYTHING, EVERYTHING, values
                )
                < 0
            ):
                raise NotMeasuredError(f"cannot read {name}")
            return list(values)

        return self._read(name, read)

    def summary(self):
        def read(dataset):
            kind = IDENTIFIER(self.calls.H5Dget_type(dataset))
            text = ctypes.c_char_p()
            status = self.calls.H5Dread(dataset, kind, EVERYTHING, EVERYTHING, EVERYTHING, ctypes.byref(text))
            self.calls.H5Tclose(kind)
            if status < 0 or text.value is None:
                raise NotMeasuredError("cannot read the summary")
            return json.loads(text.value)

        return self._read("summary", read)

    def processes(self):
        """Process of every rank."""
        return self._numbers("ranks/pid", "H5T_NATIVE_INT32_g", ctypes.c_int32)

    def matrix(self, statistic):
        """Rows of `statistic` in the first repeat and size."""
        values = self._numbers(f"repeats/0000/{statistic}", "H5T_NATIVE_DOUBLE_g", ctypes.c_double)
        num_ranks = round(len(values) ** 0.5)
        return [values[rank * num_ranks : (rank + 1) * num_ranks] for rank in range(num_ranks)]

# SPDX-License-Identifier: Apache-2.0
"""From a result file, HDF5 or SION, to a result, or to one line that says what is wrong with the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from leadline.model import BisectionResult, IoResult, LinkResult, TopologyResult
from leadline.readers.hdf5 import LinkReader
from leadline.readers.hdf5_bisection import BisectionReader
from leadline.readers.hdf5_file import as_far_as_known, benchmark_of, opened
from leadline.readers.hdf5_io import IoReader
from leadline.readers.hdf5_topology import TopologyReader
from leadline.readers.input_file import InputFile, another_kind, unreadable
from leadline.readers.sion import as_hdf5

__all__ = ["load", "load_bisection", "load_io", "load_link", "load_topology"]

_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def load(path: str | os.PathLike[str]) -> LinkResult | TopologyResult | BisectionResult | IoResult:
    """Reads all but the matrices, and checks that those are there; which format it is, its first bytes tell, and which
    benchmark, the file. LeadlineError for whatever is not a result. The file stays open as long as the result is in
    use.
    """
    input_file = InputFile(Path(path))
    head = input_file.read_at(0, 4096)
    if head.startswith(b"sion"):
        with as_hdf5(input_file.path, input_file.size_bytes) as converted:
            return _load_hdf5(converted)
    if not head:
        raise unreadable(input_file.path, "the file is empty", "Was the run stopped before it could write?")
    if _has_signature(input_file):
        return _load_hdf5(input_file)
    if head.lstrip()[:1] in (b"{", b"["):
        if b'"benchmark": "bisection-simulation"' in head:
            hint = "Use --simulated of leadline report, or in Python leadline.simulate.result_file.load_simulation()"
            raise another_kind(input_file.path, "a simulation of a bisection test, not a result", hint)
        why = "this is JSON, which has the summary but no matrix"
        raise another_kind(input_file.path, why, "Write the result with --format hdf5")
    if head.startswith(b"\x89HDF"):
        raise unreadable(input_file.path, "damaged: the HDF5 header is broken", "Copy the file again")
    raise another_kind(input_file.path, "neither HDF5 nor SION", "A result of leadline is wanted")


def _has_signature(input_file: InputFile) -> bool:
    """Whether it is HDF5: the signature is at 0, 512, or twice as far, as often as you like."""
    offset = 0
    while offset < input_file.size_bytes:
        if input_file.read_at(offset, len(_SIGNATURE)) == _SIGNATURE:
            return True
        offset = max(512, 2 * offset)
    return False


def load_link(path: str | os.PathLike[str]) -> LinkResult:
    """As load(), for results of the link test: LeadlineError for one of another benchmark, as in the next ones."""
    return _load_kind(path, LinkResult)


def load_topology(path: str | os.PathLike[str]) -> TopologyResult:
    """As load(), for results of the topology test."""
    return _load_kind(path, TopologyResult)


def load_bisection(path: str | os.PathLike[str]) -> BisectionResult:
    """As load(), for results of the bisection test."""
    return _load_kind(path, BisectionResult)


def load_io(path: str | os.PathLike[str]) -> IoResult:
    """As load(), for results of the parallel file test."""
    return _load_kind(path, IoResult)


_BENCHMARKS = {LinkResult: "link", TopologyResult: "topology", BisectionResult: "bisection", IoResult: "io"}
_Kind = TypeVar("_Kind", LinkResult, TopologyResult, BisectionResult, IoResult)


def _load_kind(path: str | os.PathLike[str], kind: type[_Kind]) -> _Kind:
    result = load(path)
    if isinstance(result, kind):
        return result
    result.close()
    found = _BENCHMARKS[type(result)]
    why = f"a result of leadline {found}, not of leadline {_BENCHMARKS[kind]}"
    raise another_kind(result.path, why, f"Use leadline report, or in Python leadline.load_{found}()")


_READERS: dict[str, type[LinkReader] | type[TopologyReader] | type[BisectionReader] | type[IoReader]] = {
    "link": LinkReader,
    "topology": TopologyReader,
    "bisection": BisectionReader,
    "io": IoReader,
}


def _load_hdf5(input_file: InputFile) -> LinkResult | TopologyResult | BisectionResult | IoResult:
    with opened(input_file) as file:
        benchmark = benchmark_of(input_file.path, file)
        if benchmark not in _READERS:
            why = f"a result of '{benchmark}', which this program does not know"
            raise another_kind(input_file.path, why, "Use a newer leadline")
        with as_far_as_known(input_file.path, file):
            return _READERS[benchmark](input_file, file).result()

# SPDX-License-Identifier: Apache-2.0
"""The benchmarks that there are, each a package of its own that is loaded when it is needed; reading a result of any.

This and the commands use of a package its modules `result`; `reader`, whose `Reader(input_file, file).result()` is a
RunResult; `commands` and `export` (see Commands, Export). A small benchmark may have in its package itself what one of
them would have.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from leadline.error import LeadlineError
from leadline.export.table import Table
from leadline.model import Progress, RunResult
from leadline.readers.hdf5_file import as_far_as_known, benchmark_of, opened
from leadline.readers.input_file import InputFile, another_kind, unreadable
from leadline.readers.sion import as_hdf5

BENCHMARKS = {
    "link": "leadline.link",
    "topology": "leadline.topology",
    "bisection": "leadline.bisection",
    "congestion": "leadline.congestion",
    "collective": "leadline.collective",
    "io": "leadline.io",
}

_Result = TypeVar("_Result", bound=RunResult)
_SIGNATURE = b"\x89HDF\r\n\x1a\n"


class Commands(Protocol):
    """What the commands make of a result of one benchmark; its module `commands` is such."""

    # Of the options of leadline report and leadline export that not all benchmarks have, those that this one has; what
    # else is to be said where one of the others is given, by the option, "" = any option of a report.
    OPTIONS: Set[str]
    HINTS: Mapping[str, str]

    def report(
        self, result: Any, options: argparse.Namespace, kind: str, tell: Callable[[str], None]
    ) -> Callable[[Progress], str | bytes]:
        """What makes a report: html, pdf, ps or png; the options are checked before. `tell` takes what is done."""


class Export(Protocol):
    """What leadline export makes of a result of one benchmark; its module `export` is such."""

    TABLES: tuple[Table[Any], ...]  # as their files begin; they may have more columns

    def table_of(self, result: Any, options: argparse.Namespace) -> tuple[Table[Any], Sequence[Any]]:
        """A table, and the parts of the result that it has rows of."""


def commands_of(benchmark: str) -> Commands:
    """Those of a benchmark that is in the table."""
    return cast(Commands, part_of(benchmark, "commands"))


def export_of(benchmark: str) -> Export:
    """That of a benchmark that is in the table."""
    return cast(Export, part_of(benchmark, "export"))


def part_of(benchmark: str, name: str) -> Any:
    """A module of a benchmark that is in the table, or its package where that has no such module."""
    package = BENCHMARKS[benchmark]
    has_module = importlib.util.find_spec(f"{package}.{name}") is not None
    return importlib.import_module(f"{package}.{name}" if has_module else package)


def load(path: str | os.PathLike[str]) -> RunResult:
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
            hint = (
                "Use --simulated of leadline report, or in Python "
                "leadline.bisection.simulate.result_file.load_simulation()"
            )
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


def _load_hdf5(input_file: InputFile) -> RunResult:
    with opened(input_file) as file:
        benchmark = benchmark_of(input_file.path, file)
        if benchmark not in BENCHMARKS:
            why = f"a result of '{benchmark}', which this program does not know"
            raise another_kind(input_file.path, why, "Use a newer leadline")
        with as_far_as_known(input_file.path, file):
            result: RunResult = part_of(benchmark, "reader").Reader(input_file, file).result()
            return result


def load_as(path: str | os.PathLike[str], kind: type[_Result]) -> _Result:
    """As load(), for results of one benchmark: LeadlineError for one of another."""
    result = load(path)
    if isinstance(result, kind):
        return result
    raise of_another(result, kind.benchmark)


def of_another(result: RunResult, wanted: str) -> LeadlineError:
    """The error for a result of another benchmark than the one that is wanted. Closes it."""
    result.close()
    why = f"a result of leadline {result.benchmark}, not of leadline {wanted}"
    return another_kind(result.path, why, f"Use leadline report, or in Python leadline.load_{result.benchmark}()")

# SPDX-License-Identifier: Apache-2.0
"""What the results of all benchmarks have in common: where they come from, who took part, what the run itself found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from leadline.error import LeadlineError, wrong
from leadline.model.table import Record, first_of, of_lines
from leadline.units import bytes_text, counted, parse_bytes

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
# Called with the share of the work that is done, 0 to 1.
Progress = Callable[[float], None]
_Result = TypeVar("_Result", bound="RunResult")
_Choice = TypeVar("_Choice", bound=Enum)
_Item = TypeVar("_Item")


def with_progress(items: Sequence[_Item], progress: Progress | None) -> Iterator[_Item]:
    """The items; behind each one it is told how many are done."""
    for done, item in enumerate(items, 1):
        yield item
        if progress:
            progress(done / len(items))


def stretch_of(progress: Progress | None, begin: float, end: float) -> Progress:
    """Tells the progress of a stretch of the work as that of all of it."""
    return lambda share: progress(begin + (end - begin) * share) if progress else None


class _OfSize(Protocol):
    """A slice, or a cell."""

    @property
    def message_size_bytes(self) -> int: ...
    @property
    def repeat(self) -> int: ...


_Part = TypeVar("_Part", bound=_OfSize)


@dataclass(frozen=True, repr=False)
class Column(Record):
    """A column of a table: in a result file, or in an exported one."""

    name: str
    unit: str  # "1" = a number of things or of one thing, empty = text
    meaning: str


@dataclass(frozen=True, repr=False)
class RankLocation(Record):
    """Where one rank ran."""

    rank: int
    host: str
    device: str  # empty = the library chose
    cpus: str  # "0-3,8"
    pid: int
    num_cpus: int
    numa_node: int  # -1 = several, or unknown
    adapter: str = ""  # the network adapter that it uses, as the kernel knows it; empty = not known


@dataclass(frozen=True, repr=False)
class RunProvenance(Record):
    """Where a result comes from; the attributes of /provenance under their own names."""

    version: str
    commit: str
    command_line: tuple[str, ...]
    start_utc: str
    end_utc: str  # empty = the run did not finish
    launcher: str
    kernel: str
    transport: str
    transport_library: str
    transport_device: str
    simulated: bool
    clock_source: str
    clock_resolution_ns: float
    clock_cost_ns: float
    wait: str
    control_plane_on_loopback: bool
    num_ranks: int
    num_hosts: int


@dataclass(frozen=True, repr=False)
class Finding(Record):
    """Something a person should look at, as the engine wrote it."""

    id: str
    severity: str  # "note" or "warning"
    message: str
    evidence: str
    advice: str


@dataclass(frozen=True)
class Slice:
    """One sweep over all rounds: one message size in one repeat."""

    repeat: int  # 0-based
    permutation: int  # -1 = ranks as they are
    size_index: int  # into RunResult.message_sizes_bytes
    message_size_bytes: int
    pattern: str = ""  # a topology, over all repeats; empty = of another benchmark


@dataclass(frozen=True, repr=False)
class RunResult:
    """What a run of any benchmark left in its file. N = ranks. It may be used in a `with` statement, which closes the
    file; without one the file is open as long as the result is in use.
    """

    benchmark: ClassVar[str]  # whose result it is: "link"

    path: Path
    format_version: int
    nonce: str
    provenance: RunProvenance
    options: Mapping[str, str]
    message_sizes_bytes: tuple[int, ...]
    ranks: tuple[RankLocation, ...]
    findings: tuple[Finding, ...]
    summary: Mapping[str, object] | None  # the engine's own; None in a run without an end
    complete: bool
    incomplete_reason: str  # empty when complete
    close: Callable[[], None] = field(compare=False)  # closes the file: nothing more can be read from it

    @property
    def num_ranks(self) -> int:
        """N."""
        return len(self.ranks)

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Host names, each once, in the order of their lowest ranks."""
        return tuple(dict.fromkeys(place.host for place in self.ranks))

    @cached_property
    def host_index(self) -> IntArray:
        """Index into hosts for every rank, int64 [N]."""
        index = {host: position for position, host in enumerate(self.hosts)}
        return np.array([index[place.host] for place in self.ranks], dtype=np.int64)

    def __enter__(self: _Result) -> _Result:
        """The result itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the file."""
        self.close()

    def __repr__(self) -> str:
        """Three lines, however many ranks there are."""
        state = "complete" if self.complete else f"incomplete: {self.incomplete_reason}"
        sizes = first_of([bytes_text(size) for size in self.message_sizes_bytes])
        return of_lines(
            f"{type(self).__name__} of {self.path}, {state}",
            f"{counted(self.num_ranks, 'rank')} on {counted(len(self.hosts), 'host')} "
            f"over {self.provenance.transport}, {self.provenance.start_utc}",
            f"{self._parts()} of {sizes}; {counted(len(self.findings), 'finding')}",
        )

    def size_indices(self, size_bytes: int | None) -> tuple[int, ...]:
        """Where a message size stands among those of the result, None = all of them. LeadlineError where it has none
        such.
        """
        sizes = self.message_sizes_bytes
        if size_bytes is not None and size_bytes not in sizes:
            there = ", ".join(bytes_text(one) for one in sizes)
            raise wrong(f"the result has no message size {bytes_text(size_bytes)}", f"It has {there}")
        return tuple(index for index, one in enumerate(sizes) if size_bytes in (None, one))

    def _number_of_option(self, name: str, otherwise: float) -> float:
        """What the run was told; files may not have it."""
        try:
            return float(self.options[name])
        except (KeyError, ValueError):
            return otherwise

    def _only_one(self, what: str, parts: Sequence[_Part], size: int | str | None, repeat: int | None) -> _Part:
        """The part of this message size and repeat, None = any. LeadlineError where it is none, or several."""
        found = parts
        if size is not None:
            size_bytes = size_in_bytes(size)
            found = [part for part in found if part.message_size_bytes == size_bytes]
        if repeat is not None:
            found = [part for part in found if part.repeat == repeat]
        if len(found) == 1:
            return found[0]
        sizes = ", ".join(bytes_text(one) for one in self.message_sizes_bytes)
        repeats = ", ".join(dict.fromkeys(str(part.repeat) for part in parts))
        problem = f"several {what}s of the result fit; say which" if found else f"the result has no such {what}"
        raise wrong(problem, f"It has size={sizes}; repeat={repeats}")

    def _parts(self) -> str:
        """What has these sizes, in a few words."""
        raise NotImplementedError


def size_in_bytes(size: int | str) -> int:
    """A message size as a program names it: 1024 or "1KiB"."""
    try:
        return parse_bytes(size) if isinstance(size, str) else int(size)
    except ValueError:
        raise LeadlineError(f"{size!r} is no size", hint="Write it as 512, '1KiB' or '16MiB'") from None


def member_of(kind: type[_Choice], word: _Choice | str, choices: Iterable[_Choice] | None = None) -> _Choice:
    """One of the members of an enum, or of some of these, by its value. LeadlineError where it is none of them."""
    there = {str(one.value): one for one in (kind if choices is None else choices)}
    value = str(word.value if isinstance(word, kind) else word)
    if value not in there:
        raise no_choice(kind.__name__.lower(), value, there)
    return there[value]


def no_choice(what: str, word: object, choices: Iterable[str]) -> LeadlineError:
    """The error for a word that is none of the choices."""
    there = ", ".join(choices)
    return wrong(f"there is no {what} {word}", f"There is {there}")

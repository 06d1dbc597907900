# SPDX-License-Identifier: Apache-2.0
"""The command line of LinkTest 1.2's `pingponganalysis`: one letter an option, its value as the next word."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.error import ExitStatus, LeadlineError

PROGRAM = "pingponganalysis"
VERSION = f"FZJ Linktest version ({PROGRAM}): 1.2p1"
MOST_BINS = 1_000_000


class EarlyExit(Exception):  # noqa: N818 - not an error: the program says something and ends
    """Usage or version: nothing is analysed."""

    def __init__(self, text: str, status: int) -> None:
        """`text` goes to standard output where the status is 0, else to standard error."""
        super().__init__(text)
        self.text, self.status = text, status


@dataclass(frozen=True)
class Options:
    """What a command line asks for; the letters are those of the options. None: not given."""

    result: Path
    given: frozenset[str] = frozenset()  # letters
    scale_factor: float = 1.0  # f
    slow_below_mib_per_s: float | None = None  # l
    fast_above_mib_per_s: float | None = None  # L
    mask: Path | None = None  # m
    num_bins: int = 500  # s
    from_s: float | None = None  # t
    to_s: float | None = None  # T

    def has(self, letter: str) -> bool:
        """Whether an option was given."""
        return letter in self.given


@dataclass(frozen=True)
class _Letter:
    help: str
    value: str = ""  # what the usage calls it; empty = none
    field: str = ""  # of Options; empty = only that it was given counts
    parse: Callable[[str], object] = str


def _wrong(problem: str, why: str = "", hint: str = f"See {PROGRAM} -h") -> LeadlineError:
    return LeadlineError(problem, why, hint, ExitStatus.BAD_COMMAND_LINE)


def _number(text: str, least: float, why: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(why) from None
    if not (math.isfinite(value) and value >= least):
        raise ValueError(why)
    return value


def _positive(text: str) -> float:
    return _number(text, math.ulp(0.0), "it must be a positive number")


def _bandwidth(text: str) -> float:
    return _number(text, 0.0, "it must be a number of MiB/s from 0 on")


def _seconds(text: str) -> float:
    return _number(text, 0.0, "it must be a number of seconds from 0 on")


def _bins(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MOST_BINS):
        raise ValueError(f"it must be a whole number from 1 to {MOST_BINS}")
    return int(text)


LETTERS = {
    "a": _Letter("accesspattern.ppm: the step in which each pair was measured, as a colour; with colortab.ps"),
    "A": _Letter("accesspattern.dat: the same as text"),
    "b": _Letter("bwpattern.ppm: the time of each pair as a colour; with colortab.ps"),
    "B": _Letter("bad_links.dat: the slowest pairs, before and in their retest"),
    "d": _Letter("distancepattern.dat: place, distance and time of each pair"),
    "D": _Letter("nodelist.dat: the bandwidths of each task"),
    "f": _Letter("multiplies the upper end of the colours of -b (default: 1)", "FACTOR", "scale_factor", _positive),
    "g": _Letter("gnuplotinput.dat: time and bandwidth of each pair"),
    "l": _Letter("list pairs below this bandwidth: suspected links", "MIB/S", "slow_below_mib_per_s", _bandwidth),
    "L": _Letter("list pairs above this bandwidth: FAST links", "MIB/S", "fast_above_mib_per_s", _bandwidth),
    "m": _Letter("only the pairs in this file, `from to` in a line, count", "FILE", "mask", Path),
    "O": _Letter("files older than LinkTest 1.2: refused"),
    "p": _Letter("report_fzjlinktest.ps and .pdf: the report on one A4 page"),
    "q": _Letter("taken and ignored, as ever", "BYTES"),
    "Q": _Letter("taken and ignored, as ever", "MIB"),
    "s": _Letter("bins of the histogram (default: 500)", "NUMBER", "num_bins", _bins),
    "t": _Letter("lower end of histogram and colours (default: from the data)", "SECONDS", "from_s", _seconds),
    "T": _Letter("upper end of histogram and colours (default: from the data)", "SECONDS", "to_s", _seconds),
    "v": _Letter("say how far the work is"),
    "V": _Letter("print the version of LinkTest whose options and files these are"),
}


def usage() -> str:
    """What -h and wrong words print."""
    lines = [
        f"Usage: {PROGRAM} [-LETTER [VALUE]]... RESULT",
        "",
        "This is the front end of Leadline for the command lines of LinkTest 1.2's analysis. RESULT is a SION file of",
        "LinkTest 1.2 or Leadline, or an HDF5 file of Leadline. The files are written into the current directory and",
        "replace older ones. distribution.dat, distribution_bw.dat and mapping.dat are always among them.",
        "",
    ]
    for letter, about in LETTERS.items():
        lines.append(f"  -{letter} {about.value:<9}{about.help}")
    return "\n".join(lines) + "\n"


def parse(words: Sequence[str]) -> Options:
    """A command line without the program's name. EarlyExit: usage or version. LeadlineError: it is wrong."""
    if "--help" in words:
        raise EarlyExit(usage(), 0)
    given: dict[str, object] = {}
    index = 0
    while index < len(words) and words[index].startswith("-"):
        letter = words[index][1:]
        if letter == "V":
            raise EarlyExit(f"{VERSION}\n", 1)
        if letter == "h":
            raise EarlyExit(usage(), 1)
        if letter not in LETTERS:
            raise EarlyExit(f"{PROGRAM}: there is no option '{words[index]}'\n{usage()}", 1)
        if letter in given:
            raise _wrong(f"-{letter} is given twice")
        index += 1
        given[letter] = True
        if LETTERS[letter].value:
            if index == len(words):
                raise _wrong(f"-{letter} has no value")
            given[letter] = _value(letter, words[index])
            index += 1
    if not words:
        raise EarlyExit(usage(), 1)
    return _checked(given, words[index:])


def _value(letter: str, word: str) -> object:
    try:
        return LETTERS[letter].parse(word)
    except ValueError as error:
        raise _wrong(f"-{letter} cannot be '{word}'", str(error)) from None


def _checked(given: dict[str, object], rest: Sequence[str]) -> Options:
    if "O" in given:
        raise _wrong(
            "-O is not possible",
            "it stood for files older than LinkTest 1.2, whose layout is described nowhere",
            "Analyse them with the program that came with them",
        )
    if not rest:
        raise _wrong("the result file is missing", "it is the last word")
    if len(rest) > 1:
        raise _wrong(f"'{rest[1]}' stands behind the result file '{rest[0]}'", "the result file is the last word")
    fields = {LETTERS[letter].field: value for letter, value in given.items() if LETTERS[letter].field}
    options = Options(Path(rest[0]), frozenset(given), **fields)  # type: ignore[arg-type]
    slow, fast = options.slow_below_mib_per_s, options.fast_above_mib_per_s
    if slow is not None and fast is not None and slow > fast:
        raise _wrong(f"-l {slow:g} lies above -L {fast:g}", "no pair would be neither slow nor fast")
    if options.from_s is not None and options.to_s is not None and options.from_s >= options.to_s:
        raise _wrong(f"-t {options.from_s:g} is not below -T {options.to_s:g}")
    return options

# SPDX-License-Identifier: Apache-2.0
# What a row of the table is, and how the table is printed.
"""Row and print_table()."""

import dataclasses
import statistics

from .launch import FailedError

MEETS, MISSES, FAILED, ABSENT = "meets", "MISSES", "FAILED", "not measured"


@dataclasses.dataclass
class Row:
    """One line. `ours` and `other` are for people, `numbers` for machines."""

    key: str
    what: str
    ours: str
    other: str
    ratio: float | None
    required: str
    verdict: str
    note: str = ""
    commands: list = dataclasses.field(default_factory=list)
    numbers: dict = dataclasses.field(default_factory=dict)


def absent(key, what, required, why):
    return Row(key, what, "-", "-", None, required, FAILED if isinstance(why, FailedError) else ABSENT, note=str(why))


def verdict_of(is_met):
    return MEETS if is_met else MISSES


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def time_text(time_ns):
    for unit, step in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if time_ns >= step:
            return f"{time_ns / step:.4g} {unit}"
    return f"{time_ns:.4g} ns"


def print_table(rows, with_commands=True):
    heads = ("row", "what", "ours", "beside it", "ratio", "must be", "verdict")
    lines = [heads]
    for row in rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:.3f}"
        lines.append((row.key, row.what, row.ours, row.other, ratio, row.required, row.verdict))
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    for index, line in enumerate(lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip())
        if index == 0:
            print("  ".join("-" * width for width in widths))
    notes = [row for row in rows if row.note]
    if notes:
        print("\nNotes")
        for row in notes:
            print(f"  {row.key}: {row.what}: {row.note}")
    if with_commands:
        print("\nCommands")
        for command in dict.fromkeys(command for row in rows for command in row.commands):
            print(f"  {command}")

# SPDX-License-Identifier: Apache-2.0
"""Sentences about what changed since an earlier result, as plain text."""

from __future__ import annotations

from pathlib import PurePath

from leadline.model import Change, ComparedClass, ComparedSize, Comparison, Fault
from leadline.text.diagnosis import as_sentence, ratio_of
from leadline.units import bytes_text

_MOST_NAMED = 3  # in the verdict


def baseline_name(comparison: Comparison) -> str:
    """The file that a result is compared with, without its folder."""
    return PurePath(comparison.before).name


def percent(ratio: float) -> str:
    """How much longer times are: `+12.3 %`."""
    return f"{100 * (ratio - 1):+.1f} %"


def change_of_component(component: Fault, change: Change) -> str:
    """`Host node5 became slower: 1.2 times as long, more than its class (1.18 to 1.22)`."""
    interval = f"({ratio_of(component.ratio_low)} to {ratio_of(component.ratio_high)})"
    which = "as long" if change is Change.SLOWER else "as fast"
    return f"{as_sentence(component.name)} became {change.value}: {ratio_of(component.ratio)} times {which} {interval}"


def compared_verdict(comparison: Comparison) -> list[str]:
    """What became worse, or that nothing did; what became better."""
    classes, components = _changed(comparison, Change.SLOWER), _components(comparison, Change.SLOWER)
    sentences = [f"Slower than in {baseline_name(comparison)}: {'; '.join(_cut(classes + components))}."]
    if not classes + components:
        sentences = [f"Nothing is slower than in {baseline_name(comparison)} by more than chance."]
    better = _changed(comparison, Change.FASTER) + _components(comparison, Change.FASTER)
    if better:
        sentences.append(f"Faster: {'; '.join(_cut(better))}.")
    return sentences


def compared_notes(comparison: Comparison) -> list[str]:
    """What differs otherwise, each as a sentence."""
    return [f"{as_sentence(note)}." for note in comparison.notes]


def _changed(comparison: Comparison, change: Change) -> list[str]:
    return [
        f"pairs {_named(one)}{_of_size(comparison, size)} by {percent(one.ratio)}"
        for size in comparison.sizes
        for one in size.classes
        if one.change is change
    ]


def _components(comparison: Comparison, change: Change) -> list[str]:
    return [
        f"{component.name}{_of_size(comparison, size)} {ratio_of(component.ratio)} times"
        for size in comparison.sizes
        for component in (size.slower if change is Change.SLOWER else size.faster)
    ]


def _named(one: ComparedClass) -> str:
    """`between hosts` as it is; names that begin with a noun get a word before it."""
    return one.name if one.name.startswith(("between", "within", "other")) else f"of the {one.name}"


def _of_size(comparison: Comparison, size: ComparedSize) -> str:
    return f" ({bytes_text(size.message_size_bytes)})" if len(comparison.sizes) > 1 else ""


def _cut(names: list[str]) -> list[str]:
    more = len(names) - _MOST_NAMED
    return [*names[:_MOST_NAMED], f"and {more} more"] if more > 0 else names

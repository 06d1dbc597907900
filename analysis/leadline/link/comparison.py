# SPDX-License-Identifier: Apache-2.0
"""What changed since earlier results, for people: sentences, and the section of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from leadline.link.analysis import SliceAnalysis
from leadline.link.compare import ComparedSize, Comparison
from leadline.link.faults import target_of
from leadline.model import Change, ComparedClass, Fault
from leadline.text.diagnosis import as_sentence
from leadline.units import Unit, bytes_text, factor_text, in_unit, time_unit

_MOST_NAMED = 3  # in the verdict


def baseline_name(comparison: Comparison) -> str:
    """The file that a result is compared with, without its folder; of several how many they are."""
    several = comparison.baselines
    return PurePath(several[0]).name if len(several) == 1 else f"its {len(several)} baselines"


def percent(ratio: float) -> str:
    """How much longer times are: `+12.3 %`."""
    return f"{100 * (ratio - 1):+.1f} %"


def change_of_component(component: Fault, change: Change) -> str:
    """`Host node5 became slower: 1.2 times as long, more than its class (1.18 to 1.22)`."""
    interval = f"({factor_text(component.ratio_low)} to {factor_text(component.ratio_high)})"
    which = "as long" if change is Change.SLOWER else "as fast"
    return (
        f"{as_sentence(component.name)} became {change.value}: {factor_text(component.ratio)} times {which} {interval}"
    )


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
        f"{component.name}{_of_size(comparison, size)} {factor_text(component.ratio)} times"
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


MOST_COMPONENTS = 20  # of a size and a change

Row = dict[str, Any]


def comparison_for_page(analyses: Sequence[SliceAnalysis], comparison: Comparison) -> Row:
    """The section; of each size the classes and components, these with the slice that a click opens."""
    first_part: dict[int, int] = {}
    for index, analysis in enumerate(analyses):
        first_part.setdefault(analysis.part.message_size_bytes, index)
    return {
        "before": baseline_name(comparison),
        "baselines": [PurePath(one).name for one in comparison.baselines],
        "is_worse": comparison.is_worse,
        "verdict": compared_verdict(comparison),
        "threshold": max((size.threshold for size in comparison.sizes), default=0.0),
        "has_several": len(comparison.sizes) > 1,
        "sizes": [_size_row(size, first_part.get(size.message_size_bytes)) for size in comparison.sizes],
        "notes": compared_notes(comparison),
    }


def _size_row(size: ComparedSize, part: int | None) -> Row:
    unit = time_unit(max((one.after_ns for one in size.classes), default=math.nan))
    components = (
        [(component, Change.SLOWER) for component in size.slower],
        [(component, Change.FASTER) for component in size.faster],
    )
    return {
        "name": bytes_text(size.message_size_bytes),
        "num_pairs": size.num_pairs,
        "unit": unit.name,
        "classes": [_class_row(one, unit) for one in size.classes],
        "components": [
            _component_row(component, change, part)
            for kind in components
            for component, change in kind[:MOST_COMPONENTS]
        ],
        "num_left_out": sum(max(len(kind) - MOST_COMPONENTS, 0) for kind in components),
    }


def _class_row(one: ComparedClass, unit: Unit) -> Row:
    return {
        "name": one.name,
        "num_pairs": one.num_pairs,
        "before": in_unit(one.before_ns, unit),
        "after": in_unit(one.after_ns, unit),
        "change": percent(one.ratio),
        "interval": f"{percent(one.ratio_low)} to {percent(one.ratio_high)}",
        "word": "" if one.change is Change.NONE else one.change.value,
    }


def _component_row(component: Fault, change: Change, part: int | None) -> Row:
    return {
        "text": change_of_component(component, change),
        "num_pairs": f"{component.num_pairs:,} ordered pair{'s' if component.num_pairs != 1 else ''}",
        "is_slower": change is Change.SLOWER,
        "target": target_of(component) | {"data-part": part} if part is not None and target_of(component) else {},
    }

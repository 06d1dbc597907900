# SPDX-License-Identifier: Apache-2.0
"""What changed since an earlier result: classes in a table, then the components that changed more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from leadline.analyse import SliceAnalysis
from leadline.model import Change, ComparedClass, ComparedSize, Comparison, Fault
from leadline.report.faults import target_of
from leadline.text import comparison as comparison_text
from leadline.units import Unit, bytes_text, in_unit, time_unit

MOST_COMPONENTS = 20  # of a size and a change

Row = dict[str, Any]


def comparison_for_page(analyses: Sequence[SliceAnalysis], comparison: Comparison) -> Row:
    """The section; of each size the classes and components, these with the slice that a click opens."""
    first_part: dict[int, int] = {}
    for index, analysis in enumerate(analyses):
        first_part.setdefault(analysis.part.message_size_bytes, index)
    return {
        "before": comparison_text.baseline_name(comparison),
        "is_worse": comparison.is_worse,
        "verdict": comparison_text.compared_verdict(comparison),
        "threshold": max((size.threshold for size in comparison.sizes), default=0.0),
        "has_several": len(comparison.sizes) > 1,
        "sizes": [_size_row(size, first_part.get(size.message_size_bytes)) for size in comparison.sizes],
        "notes": comparison_text.compared_notes(comparison),
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
        "change": comparison_text.percent(one.ratio),
        "interval": f"{comparison_text.percent(one.ratio_low)} to {comparison_text.percent(one.ratio_high)}",
        "word": "" if one.change is Change.NONE else one.change.value,
    }


def _component_row(component: Fault, change: Change, part: int | None) -> Row:
    return {
        "text": comparison_text.change_of_component(component, change),
        "num_pairs": f"{component.num_pairs:,} ordered pair{'s' if component.num_pairs != 1 else ''}",
        "is_slower": change is Change.SLOWER,
        "target": target_of(component) | {"data-part": part} if part is not None and target_of(component) else {},
    }

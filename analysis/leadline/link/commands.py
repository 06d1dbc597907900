# SPDX-License-Identifier: Apache-2.0
"""What the commands make of a result of the link test; see leadline.benchmarks.Commands."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from functools import partial

from leadline.error import wrong
from leadline.link.result import LinkResult
from leadline.model import Progress, Slice, Statistic
from leadline.model.run import no_choice

OPTIONS = frozenset({"message_size", "statistic", "repeat", "topology", "routes", "baseline", "bad_links"})
HINTS = {"channels": "Every line is a pair already"}


def chosen_parts(result: LinkResult, size_bytes: int | None, repeat: int | None) -> tuple[Slice, ...]:
    """The slices of a size and a repeat (the first is 1), None = of all; at least one."""
    sizes = result.size_indices(size_bytes)
    parts = tuple(part for part in result.slices if part.size_index in sizes)
    if repeat is not None:
        parts = tuple(part for part in parts if part.repeat + 1 == repeat)
        if not parts:
            last = max(part.repeat for part in result.slices) + 1
            raise wrong(f"the result has no repeat {repeat}", f"It has 1 to {last}")
    return parts


def report(
    result: LinkResult, options: argparse.Namespace, kind: str, tell: Callable[[str], None]
) -> Callable[[Progress], str | bytes]:
    """See Commands."""
    parts = chosen_parts(result, options.message_size, options.repeat)
    if options.baseline and kind == "png":
        raise wrong("--baseline has no effect on a picture of the matrix", "Write a page, .pdf or .ps")
    return partial(_content, result, parts, options, kind, tell)


def _content(
    result: LinkResult, parts: tuple[Slice, ...], options: argparse.Namespace, kind: str,
    tell: Callable[[str], None], progress: Progress,
) -> str | bytes:  # fmt: skip
    """The file's contents; drawing is loaded only where something is drawn."""
    from leadline.diagnosis import diagnosed
    from leadline.link.compare import compared

    statistic = Statistic(options.statistic)
    if statistic not in result.statistics:
        raise no_choice("statistic", options.statistic, (one.value for one in result.statistics))
    found = diagnosed(result, parts, options.topology, options.routes)
    source = "the result" if found.found is result.diagnoses else "leadline diagnose"
    tell(f"no verdict: {found.absent}" if not found.found else f"the verdict is that of {source}")
    changes = compared(options.baseline, result, parts, options.topology) if options.baseline else None
    if kind == "html":
        from leadline.link.page import render

        return render(result, parts, statistic, progress=progress, diagnosed=found, compared=changes)
    from leadline.link.sheet import analyses_for_sheet, write_sheet

    analyses = analyses_for_sheet(result, parts, progress)
    stream, num_not_begun = io.BytesIO(), len(parts) - len(analyses)
    write_sheet(result, analyses, stream, kind, statistic, num_not_begun, diagnosed=found, compared=changes)
    return stream.getvalue()

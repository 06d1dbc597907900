# SPDX-License-Identifier: Apache-2.0
"""What LinkTest 2.x's `linktest-report` does: one report of one result, as a sheet, a page or a picture."""

from __future__ import annotations

from pathlib import Path

from leadline.compat.output_files import output_files
from leadline.error import ExitStatus, LeadlineError
from leadline.link.reader import load_link
from leadline.model import Statistic
from leadline.text_file import utf8

_PAGES = (".html", ".htm")
_SHEETS = {".pdf": "pdf", ".ps": "ps", ".png": "png"}


def linktest_report(source: Path, target: Path) -> None:
    """Reads a result and writes what the end of the target's name says; an older file is replaced at the very end.
    LeadlineError: the result cannot be read, or the target not be written.
    """
    suffix = target.suffix.lower()
    if suffix not in (*_PAGES, *_SHEETS):
        why = "a report is a .pdf, .ps, .png or .html"
        raise LeadlineError(f"cannot write '{target}'", why, "End its name so", ExitStatus.BAD_COMMAND_LINE)
    if not target.parent.is_dir():
        raise LeadlineError(f"cannot write '{target}'", "no such folder", status=ExitStatus.BAD_COMMAND_LINE)
    result = load_link(source)
    with output_files(target.parent, [target.name], source) as files:
        out = files[target.name]
        if suffix in _PAGES:
            from leadline.link.page import render

            out.write(utf8(render(result, result.slices, Statistic.MEDIAN)))
        else:
            # Its matplotlib takes longer to import than a page to make.
            from leadline.link.sheet import analyses_for_sheet, write_sheet

            write_sheet(result, analyses_for_sheet(result, result.slices), out, _SHEETS[suffix])

# SPDX-License-Identifier: Apache-2.0
"""Manual pages have the sections of man-pages(7) in their order, and are found by their names."""

from __future__ import annotations

import re
from pathlib import Path

import program
import pytest

FOLDER = program.PROGRAM.parents[1] / "share" / "man" / "man1"
PAGES = sorted(page for page in FOLDER.glob("*.1") if not page.read_text(encoding="utf-8").startswith(".so "))
ORDER = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"]

pytestmark = pytest.mark.skipif(not PAGES, reason=f"no manual pages in {FOLDER}: help2man is not installed")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_sections(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    sections = re.findall(r'^\.SH "?([A-Z ]+)"?$', text, re.MULTILINE)
    assert sections == sorted(sections, key=ORDER.index)
    assert {"NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"} <= set(sections)
    if page.stem.startswith("leadline"):
        assert {"EXIT STATUS", "ENVIRONMENT"} <= set(sections)
    assert text.splitlines()[1].startswith(f".TH {page.stem.upper()} ")
    assert f"\n.SH NAME\n{page.stem} \\- " in text, "man -k would not find it"


def test_examples_are_as_help_has_them() -> None:
    text = (FOLDER / "leadline-check.1").read_text(encoding="utf-8").replace("\\-", "-")
    examples = text[text.index(".SH EXAMPLES") :]
    assert re.search(r"^ +srun leadline check +all hosts of a job, within a minute$", examples, re.MULTILINE)
    assert "Examples" not in text.replace(examples, "")
    assert text.count("0 good, or with warnings only") == 1

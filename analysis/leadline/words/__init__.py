# SPDX-License-Identifier: Apache-2.0
"""Sentences and facts about a result, as plain text; those about topology tests are in `topology`."""

from leadline.words.link import (
    headline,
    is_loop_to_itself,
    missing,
    no_findings,
    pairs_text,
    part_name,
    repeat_name,
    run_facts,
    run_line,
    title,
    what_stands_out,
)
from leadline.words.run import file_and_start, file_text, first_few, provenance_facts, ranks_text, ratio_text

__all__ = [
    "file_and_start",
    "file_text",
    "first_few",
    "headline",
    "is_loop_to_itself",
    "missing",
    "no_findings",
    "pairs_text",
    "part_name",
    "provenance_facts",
    "ranks_text",
    "ratio_text",
    "repeat_name",
    "run_facts",
    "run_line",
    "title",
    "what_stands_out",
]

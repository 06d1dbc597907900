# SPDX-License-Identifier: Apache-2.0
"""What changed since an earlier result: the program's comparison of two files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from leadline.model import Comparison, LinkResult, Slice
from leadline.program import Ask, answer, unusable
from leadline.readers.comparison import comparison_of
from leadline.readers.contents import DamagedError

__all__ = ["compared"]

# Guesses that err on the side of slow disks: it reads either matrix five times.
_DEADLINE_S = 60.0
_PAIRS_A_SECOND = 2e6


def compared(
    baseline: str | os.PathLike[str], result: LinkResult, parts: Sequence[Slice] = (), topology: str | None = None
) -> Comparison:
    """The program's comparison of a result with an earlier one; of all sizes that both have, or where the slices have
    one in common, of that. Ranks and hosts are those of the result. LeadlineError where there is no program, or where
    it refuses: another direction, no host in common.
    """
    words = ["compare", os.path.abspath(baseline), os.fspath(result.path.absolute()), "--json"]  # noqa: PTH100
    words += ["--topology", topology] if topology is not None else []
    sizes = {part.message_size_bytes for part in parts}
    words += ["--message-size", str(*sizes)] if len(sizes) == 1 and len(result.message_sizes_bytes) > 1 else []
    deadline_s = _DEADLINE_S + len(result.slices) * result.num_ranks**2 / _PAIRS_A_SECOND
    ask = Ask(words, "comparison", "cannot compare the results", deadline_s)
    program, document = answer(ask)
    try:
        return comparison_of(document, result.num_ranks, len(result.hosts))
    except DamagedError as error:
        raise unusable(program, error) from error

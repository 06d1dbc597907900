# SPDX-License-Identifier: Apache-2.0
"""`pingponganalysis`: the command line of LinkTest 1.2's analysis."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from leadline.cli.support import ended, say
from leadline.compat.options import EarlyExit, parse
from leadline.compat.pingponganalysis import pingponganalysis


def _run(words: Sequence[str]) -> None:
    pingponganalysis(parse(words), Path(), say, lambda text: print(text, end="", file=sys.stderr))


def main(arguments: Sequence[str] | None = None) -> int:
    """`pingponganalysis [OPTION]... RESULT`; the exit status is the return value."""
    try:
        return ended(_run, arguments)
    except EarlyExit as early_exit:
        print(early_exit.text, end="", file=sys.stderr if early_exit.status else sys.stdout)
        return early_exit.status

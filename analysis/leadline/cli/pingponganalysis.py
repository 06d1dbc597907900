# SPDX-License-Identifier: Apache-2.0
"""`pingponganalysis`: the command line of LinkTest 1.2's analysis."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from leadline.cli.options import DEBUG
from leadline.cli.support import ended, say
from leadline.compat.options import EarlyExit, parse


def main(arguments: Sequence[str] | None = None) -> int:
    """`pingponganalysis [OPTION]... RESULT`; the exit status is the return value."""
    early_status = 0

    def command(words: Sequence[str]) -> None:
        nonlocal early_status
        try:
            options = parse([word for word in words if word != DEBUG])
        except EarlyExit as early_exit:
            print(early_exit.text, end="", file=sys.stderr if early_exit.status else sys.stdout)
            early_status = early_exit.status
            return
        from leadline.compat.pingponganalysis import pingponganalysis

        pingponganalysis(options, Path(), say, lambda text: print(text, end="", file=sys.stderr))

    return ended(command, arguments) or early_status

# SPDX-License-Identifier: Apache-2.0
"""What the tests of simulated clusters share: the program under test, and noise that is none."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from built_program import built, pytest_configure  # noqa: F401

# SPDX-License-Identifier: Apache-2.0
"""What the golden tests share: where the programs are, and the support modules."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from built_program import built, pytest_configure  # noqa: F401

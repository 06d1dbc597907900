# SPDX-License-Identifier: Apache-2.0
"""For tests that run the program, and their conftest.py: what has to be built and installed, and that some are slow."""

from __future__ import annotations

import program
import pytest

__all__ = ["built", "needs_analysis", "pytest_configure"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds, because it waits for a timeout or measures for a while")
    config.addinivalue_line("markers", "any_load: comes to the same end however busy the machine is")


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    if not program.PROGRAM.is_file():
        pytest.exit(f"{program.PROGRAM} is not there. Build it, or set LEADLINE_PROGRAM", returncode=3)


def needs_analysis() -> None:
    """Skips a test where the commands of the analysis are not installed."""
    if not (program.ANALYSIS_COMMANDS / "leadline-report").exists():
        pytest.skip("the analysis package is not installed where this Python is")

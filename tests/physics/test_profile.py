# SPDX-License-Identifier: Apache-2.0
"""Whether a site profile learnt from some launches tells that all pairs are slower, and nothing of a sound launch."""

from __future__ import annotations

from pathlib import Path

import program
import pytest
from launches import judged_by_profile, launches, learnt


@pytest.mark.parametrize("seed", range(1, 5))
def test_what_is_slower_than_good_launches_is_told(seed: int, tmp_path: Path) -> None:
    made = launches(seed, tmp_path)
    profile = learnt(program.PROGRAM, made.good, tmp_path)
    got = {name: judged_by_profile(program.PROGRAM, files, profile) for name, files in made.later.items()}
    for name in ("good", "good, once more"):
        assert not got[name].slower_classes, name
    for name in ("all hosts, latency, x1.5", "all hosts, bandwidth, x1.5", "all hosts, latency, x2.0"):
        assert not all(one.startswith(("same host", "same socket")) for one in got[name].slower_classes), name
        assert got[name].is_alarm
        assert not got[name].accused, f"{name}: no host differs from the others"

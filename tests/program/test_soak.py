# SPDX-License-Identifier: Apache-2.0
"""soak.py: what it calls growth, and a short run of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import soak
from soak import Sample


def samples_of(memory_kib: list[int], descriptors: int = 9, threads: int = 2) -> list[Sample]:
    return [Sample(10.0 * index, memory, descriptors, threads) for index, memory in enumerate(memory_kib)]


def test_what_stays_or_falls_has_not_grown() -> None:
    assert soak.what_grew(samples_of([100, 500, 500, 500, 480, 510]), 10) == []


def test_what_rises_in_the_second_half_has_grown() -> None:
    assert soak.what_grew(samples_of([500, 500, 500, 511]), 10) == ["memory_kib grew by 11"]
    samples = [*samples_of([5, 5]), *samples_of([5, 5], descriptors=10, threads=3)]
    assert soak.what_grew(samples, 10) == ["descriptors grew by 1", "threads grew by 1"]


def test_a_process_that_was_hardly_seen_says_nothing_about_growth() -> None:
    assert soak.what_grew(samples_of([5, 5, 5]), 10) == ["only 3 samples"]


def test_a_slope_is_per_hour() -> None:
    assert soak.slope([0.0, 10.0, 20.0], [5.0, 6.0, 7.0]) == pytest.approx(360)


@pytest.mark.slow
def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--duration", "2", "--ranks", "4", "--link-ranks", "2", "--every", "0.1", "--max-growth", "8192"]
    chosen = soak.arguments([*words, "--samples", str(tmp_path / "samples.csv")])
    wrong = [sentence for sentence in soak.soak(chosen, tmp_path) if "status" in sentence]
    assert wrong == []
    assert "topology: 5 processes" in capsys.readouterr().out
    assert len((tmp_path / "samples.csv").read_text().splitlines()) > 8 * 4

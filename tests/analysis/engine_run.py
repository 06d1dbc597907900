# SPDX-License-Identifier: Apache-2.0
"""Results that the engine itself writes, of a simulated fabric with a slow host."""

from __future__ import annotations

import json
from pathlib import Path

import program
import pytest


def run_of(folder: Path, benchmark: str, num_ranks: int, ranks_per_host: int, *arguments: str) -> Path:
    """The file of a run in this folder; skips the test where the program is not built."""
    if not program.PROGRAM.is_file():
        pytest.skip(f"{program.PROGRAM.name} is not built")
    fabric = folder / "fabric.json"
    fabric.write_text(json.dumps({
        "same_host": {"latency_ns": 600, "bandwidth_bytes_per_s": 2.2e10},
        "between_hosts": {"latency_ns": 1700, "bandwidth_bytes_per_s": 1.2e10},
        "ranks_per_host": ranks_per_host, "host_name": "node", "jitter": 0.1,
        "faults": [{"slow_host": 2, "factor": 4}],
    }))  # fmt: skip
    path = folder / "run.h5"
    common = ["--transport", f"model:{fabric}", "--local", str(num_ranks), "--output", str(path), "--quiet"]
    done = program.complete([program.PROGRAM, benchmark, *common, *arguments], folder)
    assert done.status == 0, done.err
    return path

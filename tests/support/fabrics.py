# SPDX-License-Identifier: Apache-2.0
"""Simulated fabrics for the transport `model`: times that are known beforehand, and faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FABRIC: dict[str, Any] = {
    "ranks_per_host": 2,
    "jitter": 0.1,
    "same_host": {"latency_ns": 500, "bandwidth_bytes_per_s": 1e10},
    "between_hosts": {"latency_ns": 2000, "bandwidth_bytes_per_s": 1e9},
}


def fabric_file(folder: Path, *faults: dict[str, Any], **changes: Any) -> str:
    """Writes FABRIC with these faults and changes; returns what --transport is given."""
    path = folder / "fabric.json"
    path.write_text(json.dumps(FABRIC | {"faults": list(faults)} | changes))
    return f"model:{path}"

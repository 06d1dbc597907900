# SPDX-License-Identifier: Apache-2.0
"""Made-up diagnoses for the tests, as the engine writes them, and a program that prints one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from conftest import MadeUp, times_of


def fault(kind: str, name: str, first: int | None, ratio: float, **others: Any) -> dict[str, Any]:
    """A fault with its component; what is not told is as of a fault that is clear and was not measured again."""
    component = {"level": None, "first": first, "second": None, "socket": None, "hosts": [], "other_hosts": []}
    component |= {key: others.pop(key) for key in tuple(others) if key in component}
    return {
        "kind": kind, "name": name, "symptom": "slow", "direction": "both", "component": component, "ratio": ratio,
        "ratio_interval": [0.98 * ratio, 1.02 * ratio], "p_value": 1e-9, "num_pairs": 12, "pairs": [], "ruled_out": [],
        "advice": "Look at it", "persistence": "not_retested", "ratio_alone": None, "is_note": False, **others,
    }  # fmt: skip


def diagnosis(*faults: dict[str, Any], **others: Any) -> dict[str, Any]:
    """A diagnosis with these faults."""
    return {
        "threshold": 0.1, "false_discovery_rate": 0.01, "topology": None, "num_pairs": 4032, "num_measured": 4032,
        "classes": [{"name": "between hosts", "num_pairs": 3840, "time_ns_median": 4000.0, "spread": 0.05}],
        "faults": list(faults), "notes": [], **others,
    }  # fmt: skip


def in_slices(*diagnoses: dict[str, Any]) -> list[dict[str, Any]]:
    """What a summary says of the sizes of one repeat."""
    return [
        {"repeat": 0, "size_index": index, "bisection": None, "all_to_all": None, "diagnosis": one}
        for index, one in enumerate(diagnoses)
    ]


def joined(
    size_index: int, fault_index: int, num_found: int, num_slices: int, pattern: str | None = None
) -> dict[str, Any]:
    """A fault of all slices of one repeat, of which the program says that it costs most in this one."""
    return {
        "repeat": 0, "size_index": size_index, "pattern": pattern, "fault_index": fault_index, "num_found": num_found,
        "num_slices": num_slices,
    }  # fmt: skip


def slow_component(kind: str) -> MadeUp:
    """16 hosts of 4 ranks with one place at fault, and its diagnosis."""
    hosts = [f"node{index:02d}" for index in range(16) for _ in range(4)]
    host, times = np.arange(64) // 4, times_of(hosts, 2)
    if kind == "host":
        times[host == 11, :] *= 3
        times[:, host == 11] *= 3
        shown = [{"from": 44, "to": 3, "measured": 12_000.0, "expected": 4_000.0}]
        found = fault("host", "host node11", 11, 3.0, pairs=shown, num_pairs=492,
                      ruled_out=["not one of its ranks: nearly all of them show it"],
                      persistence="persistent", ratio_alone=2.9)  # fmt: skip
    elif kind == "link":
        times[np.ix_(host == 3, host == 7)] *= 1.3
        found = fault("link", "the link from node03 to node07", 3, 1.3, second=7, direction="out", num_pairs=16)
    elif kind == "uplink":
        below = (host >= 4) & (host < 8)
        times[np.ix_(below, ~below)] *= 1.6
        times[np.ix_(~below, below)] *= 1.6
        found = fault("uplink", "the uplink of leaf switch leaf1", 1, 1.6, level=0, hosts=[4, 5, 6, 7], num_pairs=1536)
    else:
        times[5, 60] = 40_000.0
        found = fault(
            "pair", "the pair from rank 5 on node01 to rank 60 on node15", 5, 10.0, second=60, direction="out"
        )
    return MadeUp(hosts, [[times]], summary_slices=in_slices(diagnosis(found)))


def fake_program(folder: Path, script: str) -> Path:
    """A program `leadline` that is this Python code."""
    path = folder / "leadline"
    path.write_text(f"#!{sys.executable}\nimport json, sys\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def program_that_says(folder: Path, *diagnoses: dict[str, Any]) -> Path:
    """A program whose answer are these diagnoses; its arguments lie beside it then."""
    slices = [{"repeat": 0, "size_index": index, "message_size_bytes": 1024, "diagnosis": one}
              for index, one in enumerate(diagnoses)]  # fmt: skip
    document = {"document": "diagnosis", "format_version": 1, "result": "x", "complete": True, "slices": slices}
    said = folder / "arguments.json"
    script = f"json.dump(sys.argv[1:], open({str(said)!r}, 'w'))\nprint({json.dumps(document)!r})"
    return fake_program(folder, script)

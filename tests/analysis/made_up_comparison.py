# SPDX-License-Identifier: Apache-2.0
"""Made-up comparisons for the tests, as the engine writes them, and a program that prints one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from made_up_diagnosis import fake_program, fault


def compared_class(name: str, ratio: float, change: str = "none", **others: Any) -> dict[str, Any]:
    """A class of pairs whose times are so many times what they were."""
    return {
        "name": name, "num_pairs": 3840, "before_ns_median": 4000.0, "after_ns_median": 4000.0 * ratio, "ratio": ratio,
        "ratio_interval": [0.99 * ratio, 1.01 * ratio], "change": change, **others,
    }  # fmt: skip


def compared_size(size: int, *classes: dict[str, Any], **others: Any) -> dict[str, Any]:
    """A message size with these classes; no place changed unless told."""
    places = [*others.get("slower", [])]
    return {
        "message_size_bytes": size, "threshold": 0.1, "false_discovery_rate": 0.01, "num_pairs": 4032,
        "worse": bool(places) or any(one["change"] == "slower" for one in classes), "classes": list(classes),
        "slower": [], "faster": [], "notes": [], **others,
    }  # fmt: skip


def slower_host(size: int = 1024) -> dict[str, Any]:
    """Host 11 became slower, a link faster, and the pairs between hosts all did by a little."""
    host = fault("host", "host node11", 11, 1.5, num_pairs=492)
    link = fault("link", "the link between node03 and node07", 3, 1.25, second=7, num_pairs=32)
    return compared_size(
        size, compared_class("same host", 1.0), compared_class("between hosts", 1.2, "slower"), slower=[host],
        faster=[link], notes=["--messages was 100 and is 5"],
    )  # fmt: skip


def program_that_compares(folder: Path, *sizes: dict[str, Any], before: str = "/old/earlier.h5", **others: Any) -> Path:
    """A program whose answer are these sizes; its arguments lie beside it then."""
    worse = any(size["worse"] for size in sizes)
    document = {
        "document": "comparison", "format_version": 1, "before": before, "after": "x", "worse": worse,
        "sizes": list(sizes), **others,
    }  # fmt: skip
    said = folder / "arguments.json"
    script = (
        f"open({str(said)!r}, 'w').write(json.dumps(sys.argv[1:]))\nprint({json.dumps(document)!r})\n"
        "print('leadline: it is worse', file=sys.stderr)"
    )
    return fake_program(folder, script)

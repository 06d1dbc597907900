# SPDX-License-Identifier: Apache-2.0
"""From the JSON of `leadline compare` to what it says; each part is checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.model import ComparedSize, Comparison
from leadline.readers.contents import BAD_VALUES, DamagedError, reason_of
from leadline.readers.diagnosis import compared_class_of, fault_of, texts_of


def comparison_of(document: Mapping[str, Any], num_ranks: int, num_hosts: int) -> Comparison:
    """Ranks and hosts are those of the later result. Keys that are not known are left alone: they are of newer
    programs.
    """
    try:
        return Comparison(
            before=str(document["before"]),
            sizes=tuple(_size(one, num_ranks, num_hosts) for one in document["sizes"]),
            notes=tuple(dict.fromkeys(note for one in document["sizes"] for note in texts_of(one["notes"]))),
        )
    except DamagedError:
        raise
    except BAD_VALUES as error:
        raise DamagedError(f"the comparison is none: {reason_of(error)}") from error


def _size(entry: Mapping[str, Any], num_ranks: int, num_hosts: int) -> ComparedSize:
    return ComparedSize(
        message_size_bytes=int(entry["message_size_bytes"]),
        threshold=float(entry["threshold"]),
        num_pairs=int(entry["num_pairs"]),
        is_worse=bool(entry["worse"]),
        classes=tuple(compared_class_of(one) for one in entry["classes"]),
        slower=tuple(fault_of(one, num_ranks, num_hosts) for one in entry["slower"]),
        faster=tuple(fault_of(one, num_ranks, num_hosts) for one in entry["faster"]),
    )

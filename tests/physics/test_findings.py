# SPDX-License-Identifier: Apache-2.0
"""What `leadline diagnose --json` says is read as what it means."""

from __future__ import annotations

from typing import Any

import pytest
from findings import Finding, findings_of

HOSTS, HOST_OF_RANK = ["a", "b", "c"], [0, 0, 1, 1, 2, 2]
NOWHERE: dict[str, Any] = {"level": None, "first": None, "second": None, "socket": None, "hosts": [], "other_hosts": []}


def document(*faults: dict[str, Any]) -> dict[str, Any]:
    """With one slice."""
    return {"slices": [{"diagnosis": {"faults": list(faults)}}]}


def fault(kind: str, name: str = "", **component: Any) -> dict[str, Any]:
    """As far as it matters here."""
    return {
        "kind": kind,
        "name": name,
        "component": NOWHERE | component,
        "list": "persistent",
    }


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (fault("host", first=1), Finding("host", frozenset("b"))),
        (fault("port", first=2), Finding("port", frozenset("c"))),
        (fault("socket", first=2, socket=1), Finding("socket", frozenset("c"))),
        (fault("socket", socket=1), Finding("socket")),
        (fault("rail", first=1), Finding("rail", ranks=frozenset([1]))),
        (fault("rank", first=5), Finding("rank", frozenset("c"), ranks=frozenset([5]))),
        (fault("link", first=0, second=2), Finding("link", frozenset("a"), frozenset("c"))),
        (fault("pair", first=0, second=3), Finding("pair", frozenset("a"), frozenset("b"), frozenset([0, 3]))),
        (fault("uplink", "x", hosts=[0, 1]), Finding("uplink", frozenset("ab"), name="x")),
        (fault("cable", hosts=[0], other_hosts=[1, 2]), Finding("cable", frozenset("a"), frozenset("bc"))),
    ],
)
def test_components_by_name(said: dict[str, Any], meant: Finding) -> None:
    assert findings_of(document(said), HOSTS, HOST_OF_RANK) == (meant,)


def test_other_lists_accuse_nobody() -> None:
    said = [fault("host", first=1) | {"list": name} for name in ("only_under_load", "passed", "untested", "note")]
    assert findings_of(document(*said), HOSTS, HOST_OF_RANK) == ()


def test_what_two_slices_say_counts_once() -> None:
    twice = {"slices": 2 * document(fault("host", first=1))["slices"]}
    assert len(findings_of(twice, HOSTS, HOST_OF_RANK)) == 1

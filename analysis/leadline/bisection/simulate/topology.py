# SPDX-License-Identifier: Apache-2.0
"""Networks as people name them on the command line: a kind with its extents, or a file."""

from __future__ import annotations

import math
import re
from pathlib import Path

from leadline.bisection.simulate.network import Network, bad_topology
from leadline.bisection.simulate.network_dragonfly import dragonfly
from leadline.bisection.simulate.network_fat_tree import fat_tree
from leadline.bisection.simulate.network_file import file_network
from leadline.bisection.simulate.network_torus import torus
from leadline.error import LeadlineError

# By kind: how it is written, how many extents it has, and what may follow behind commas.
_KINDS: dict[str, tuple[str, range, tuple[str, ...]]] = {
    "fat-tree": ("fat-tree:HOSTSxLEAVES[xPODS][,spines=N][,cores=N]", range(2, 4), ("spines", "cores")),
    "dragonfly": ("dragonfly:H[,groups=G]", range(1, 2), ("groups",)),
    "torus": ("torus:XxYx...", range(1, 9), ()),
}
_NUMBER = re.compile("[1-9][0-9]{0,6}")


def parse_topology(word: str) -> Network:
    """The network that a user means. LeadlineError for what is none."""
    kind, colon, rest = word.partition(":")
    if kind in _KINDS:
        if not colon:
            raise _wrong(word, "it has no extents")
        extents, settings = _settings(word, rest)
        return _network(word, kind, extents, settings)
    path = Path(word)
    if not word or not path.exists():
        forms = ", ".join(form for form, _, _ in _KINDS.values())
        why = "neither a kind of network nor a file"
        raise bad_topology(f"--topology cannot be '{word}'", why, f"Write {forms}, or the name of a file")
    return file_network(path)


def _network(word: str, kind: str, extents: tuple[int, ...], settings: dict[str, int]) -> Network:
    if math.prod(extents) < 2 and kind != "dragonfly":
        raise _wrong(word, "it has one host")
    if kind == "torus":
        return torus(word, extents)
    if kind == "dragonfly":
        return dragonfly(word, extents[0], settings.get("groups"))
    if len(extents) == 2 and "cores" in settings:
        raise _wrong(word, "a tree of two levels has no cores")
    return fat_tree(word, extents, settings.get("spines"), settings.get("cores"))


def _settings(word: str, text: str) -> tuple[tuple[int, ...], dict[str, int]]:
    """The extents, and what is set behind them."""
    _, num_extents, known = _KINDS[word.partition(":")[0]]
    first, *others = text.split(",")
    extents = tuple(_number(word, one) for one in first.split("x"))
    if len(extents) not in num_extents:
        raise _wrong(word, f"it has {len(extents)} extents")
    settings: dict[str, int] = {}
    for other in others:
        name, _, value = other.partition("=")
        if name not in known:
            raise _wrong(word, f"'{other}' means nothing here")
        if name in settings:
            raise _wrong(word, f"{name} is given twice")
        settings[name] = _number(word, value)
    return extents, settings


def _number(word: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise _wrong(word, f"'{text}' is no number from 1 to 9999999")
    return int(text)


def _wrong(word: str, why: str) -> LeadlineError:
    return bad_topology(f"--topology cannot be '{word}'", why, f"Write {_KINDS[word.partition(':')[0]][0]}")

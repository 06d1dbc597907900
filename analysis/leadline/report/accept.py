# SPDX-License-Identifier: Apache-2.0
"""The page of an acceptance test: the verdict, each limit with what was measured, and how."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from leadline.report.frame import plain_page
from leadline.units import counted, number, plain

_COLOURS = {"passed": "fine", "failed": "alarming", "untested": ""}
_VERDICTS = {"passed": "Accepted", "failed": "Not accepted", "untested": "Could not be tested"}
_WORDS = {"passed": "pass", "failed": "fail", "untested": "not tested"}

Row = dict[str, Any]


def acceptance_page(document: Mapping[str, Any], file_name: str, pages: Mapping[str, str]) -> str:
    """The page; `pages`: by the name of a part the address of its own page. KeyError or the like: a wrong document."""
    origin = document["provenance"]
    elapsed_s, time_s = document["elapsed_s"], document["time_s"]
    facts = {
        "begin (UTC)": document["begin_utc"],
        "time": f"{number(elapsed_s, 3)} s{f' of {plain(time_s)} s' if time_s else ''}" if elapsed_s else "",
        "program": f"leadline {document['version']}",
        "specification": document["spec"]["path"], "its SHA-256": document["spec"]["sha256"],
    }  # fmt: skip
    if origin:
        facts |= {
            "ranks": f"{counted(origin['num_ranks'], 'rank')} on {counted(origin['num_hosts'], 'host')}",
            "transport": origin["transport"]["library"] or origin["transport"]["name"],
            "adapter": origin["line_rate"]["adapter"], "launcher": origin["launcher"], "kernel": origin["kernel"],
        }  # fmt: skip
    return plain_page(
        "accept.html.j2",
        title=document["title"],
        colour=_COLOURS[document["state"]],
        word=_VERDICTS[document["state"]],
        why=document["why"],
        is_simulated=bool(origin) and origin["transport"]["simulated"],
        parts=[_part(one, pages) for one in document["parts"]],
        facts=[(name, value) for name, value in facts.items() if value],
        spec=document["spec"]["text"],
        file_name=file_name,
    )


def _part(one: Mapping[str, Any], pages: Mapping[str, str]) -> Row:
    return {
        "name": one["name"], "command": shlex.join(one["command"]), "page": pages.get(one["name"], ""),
        "time": f"{number(one['elapsed_s'], 3)} s" if one["elapsed_s"] else "", "why_not": one["why_not"],
        "limits": [_limit(limit) for limit in one["limits"]],
    }  # fmt: skip


def _limit(one: Mapping[str, Any]) -> Row:
    return {
        "state": one["state"], "word": _WORDS[one["state"]], "title": one["title"], "value": one["value_text"],
        "limit": one["limit_text"], "place": one["why_untested"] or one["place"], "num_values": one["num_values"],
        "key": one["key"],
    }  # fmt: skip

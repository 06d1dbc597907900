# SPDX-License-Identifier: Apache-2.0
"""What the script of a parallel file test's page draws from.

{
  "times": the kinds of time, in the order of a bar, "colours": of each of them and of the rest,
  "phases": [{"index", "name", "end_ns",
              "ranks": [{"rank", "host", "begin_ns", "times": [ns of each kind], "rest", "bytes_per_s", "slow"}],
              "is_part": whether only the slowest ranks are there, "num_ranks",
              "bin_ns", "total": [bytes of each bin], "ramp_ns": where its ramp ends, null = without one,
              "groups": [{"name", "bytes": [...]}],
              "latencies": [[low_ns, high_ns or null, number]]}],
}
null = not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.diagnosis import Diagnosed
from leadline.io import text as io_text
from leadline.io.analysis import PhaseAnalysis, rest_ns
from leadline.io.result import IO_TIMES, IoResult
from leadline.report.encode import rounded

Data = dict[str, Any]

# Of the kinds of time, on page and sheet; none is red, which is the colour of what is slow.
KIND_COLOURS = {
    "open": "#8c6bb1", "preallocate": "#c994c7", "call": "#31688e", "wait": "#7fa8c9", "send": "#c2570c",
    "receive": "#e8a56c", "barrier": "#b8bcc2", "fill": "#b5cf6b", "verify": "#637939", "sync": "#e0b01a",
    "close": "#5d3a9b", "rest": "#e4e8ec",
}  # fmt: skip


def page_of(result: IoResult, analyses: Sequence[PhaseAnalysis], found: Diagnosed) -> Data:
    """All of it."""
    phases = [_phase(result, one, found) for one in analyses]
    return {"times": list(IO_TIMES), "colours": KIND_COLOURS, "phases": phases}


def _phase(result: IoResult, one: PhaseAnalysis, found: Diagnosed) -> Data:
    summary = one.phase.summary
    return {
        "index": one.phase.index,
        "name": one.phase.name,
        "end_ns": rounded(one.end_ns),
        "num_ranks": int(one.rows.has_row.sum()),
        "is_part": bool(one.shown_ranks.size < one.rows.has_row.sum()),
        "ranks": ranks_of(result, one, io_text.slow_ranks(found, one.phase.operation)),
        "bin_ns": one.bin_ns,
        "total": one.total.tolist(),
        "ramp_ns": rounded(one.phase.value("ramp_ns")),
        "groups": [
            {"name": _group_name(group.begin, group.end), "bytes": group.bytes.tolist()} for group in one.groups
        ],
        "latencies": [[b["low_ns"], b["high_ns"], b["num"]] for b in summary.get("latencies") or []],
    }


def _group_name(begin: int, end: int) -> str:
    return f"rank {begin}" if end == begin + 1 else f"ranks {begin} to {end - 1}"


def ranks_of(result: IoResult, one: PhaseAnalysis, slow: frozenset[int]) -> list[Data]:
    """The rows of the timeline; `slow`: whose names stand out."""
    rest, rates = rest_ns(one.rows), one.rows.bytes_per_s
    return [
        {
            "rank": rank,
            "host": result.ranks[rank].host,
            "begin_ns": rounded(float(one.rows.begin_ns[rank])),
            "times": [rounded(float(one.rows.times_ns[name][rank])) for name in IO_TIMES],
            "rest": rounded(float(rest[rank])),
            "bytes_per_s": rounded(float(rates[rank])),
            "slow": rank in slow,
        }
        for rank in one.shown_ranks.tolist()
    ]

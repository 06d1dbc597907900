# SPDX-License-Identifier: Apache-2.0
"""What stands out in a result, as a table with tabs: slow hosts, ranks and links, and the slow pairs among the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from leadline.export.table import plain_name
from leadline.link.analysis import JudgedPair, Side, SliceAnalysis, Verdict, analyse
from leadline.link.result import LinkResult
from leadline.model import Progress, Slice
from leadline.scan import SLOW_FACTOR

_COLUMNS = ("what", "from", "to", "from_host", "to_host", "message_size_bytes", "repeat", "time_ns", "usual_ns",
            "ratio", "alone_ns", "verdict")  # fmt: skip
HEADER = "\t".join(_COLUMNS) + "\n"
ALL = "*"

_Row = tuple[str, ...]


def bad_links_pieces(result: LinkResult, parts: Sequence[Slice], progress: Progress | None = None) -> Iterator[str]:
    """The header, then what stands out in each slice. Empty = does not apply, `*` = all others."""
    yield HEADER
    for done, part in enumerate(parts):
        found = analyse(result, part, progress=_of_part(progress, done, len(parts)))
        for row in _rows(result, found):
            yield "\t".join(row) + "\n"


def _of_part(progress: Progress | None, done: int, num_parts: int) -> Progress | None:
    return (lambda share: progress((done + share) / num_parts)) if progress else None


def _rows(result: LinkResult, found: SliceAnalysis) -> Iterator[_Row]:
    names = [plain_name(host) for host in result.hosts]
    of_rank = [plain_name(place.host) for place in result.ranks]
    for index in found.slow_hosts:
        yield from _of_side(found, "slow host", found.hosts[index], "", names[index])
    for index in found.slow_ranks:
        yield from _of_side(found, "slow rank", found.ranks[index], str(index), of_rank[index])
    for link in found.slow_links:
        hosts = names[link.from_host], names[link.to_host]
        yield _row(found, "slow link", ("", ""), hosts, link.time_ns, link.ratio)
    listed = set()
    for pair in found.pairs:
        if pair.retest.time_ns >= SLOW_FACTOR * pair.usual_ns:
            listed.add((pair.retest.from_rank, pair.retest.to_rank))
            yield _of_pair(found, pair, of_rank)
    for standout in found.standouts:
        ranks = standout.cell.from_rank, standout.cell.to_rank
        if ranks not in listed:
            hosts = of_rank[ranks[0]], of_rank[ranks[1]]
            words = str(ranks[0]), str(ranks[1])
            verdict = Verdict.NOT_RETESTED.value
            yield _row(found, "slow pair", words, hosts, standout.cell.time_ns, standout.ratio, verdict=verdict)


def _of_side(found: SliceAnalysis, what: str, side: Side, rank: str, host: str) -> Iterator[_Row]:
    """As a sender, as a receiver, or as both."""
    anybody = ALL if rank else ""
    if side.from_ratio >= SLOW_FACTOR:
        yield _row(found, what, (rank, anybody), (host, ALL), side.from_ns, side.from_ratio)
    if side.to_ratio >= SLOW_FACTOR:
        yield _row(found, what, (anybody, rank), (ALL, host), side.to_ns, side.to_ratio)


def _of_pair(found: SliceAnalysis, pair: JudgedPair, of_rank: list[str]) -> _Row:
    retest = pair.retest
    ranks = retest.from_rank, retest.to_rank
    return _row(
        found,
        "slow pair",
        (str(ranks[0]), str(ranks[1])),
        (of_rank[ranks[0]], of_rank[ranks[1]]),
        retest.time_ns,
        retest.time_ns / pair.usual_ns,
        retest.retest_time_ns,
        pair.verdict.value,
    )


def _row(
    found: SliceAnalysis, what: str, ranks: tuple[str, str], hosts: tuple[str, str], time_ns: float, ratio: float,
    alone_ns: float = math.nan, verdict: str = "",
) -> _Row:  # fmt: skip
    usual_ns = time_ns / ratio if ratio else math.nan
    return (
        what, *ranks, *hosts, str(found.part.message_size_bytes), str(found.part.repeat + 1), _number(time_ns, 1),
        _number(usual_ns, 1), _number(ratio, 2), _number(alone_ns, 1), verdict,
    )  # fmt: skip


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if math.isfinite(value) else ""

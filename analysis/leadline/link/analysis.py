# SPDX-License-Identifier: Apache-2.0
"""What a slice says about hosts, ranks and pairs: which are unusual, and which of the slowest pairs are slow alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from leadline.link.result import LinkResult, PairClass, Retest
from leadline.link.scan import Scan, scan
from leadline.model import FloatArray, IntArray, Progress, Slice
from leadline.scan import (
    FEWEST_PARTNERS,
    MOST_CIRCLES,
    SLOW_FACTOR,
    AxisName,
    Cell,
    Grid,
    Picture,
    Standout,
    axis_of,
    edge_for,
)
from leadline.stats.distribution import MOST_FAULTS, Distribution, end_of_tail
from leadline.stats.tally import Tally

# A pair must take so many times its time alone under load for the load to be the reason; less is jitter.
LOAD_FACTOR = 1.2
# Fewer pairs from one host to another are single pairs and not a link: of two by two, one shifts the median.
FEWEST_PAIRS_OF_LINK = 5
MOST_LINKS = 200
MOST_STANDOUTS = MOST_FAULTS
LARGEST_PICTURE = 1024  # cells on a side


class Verdict(str, Enum):
    """What the second measurement says about one of the slowest pairs."""

    NOT_SLOW = "not slow"
    ONLY_UNDER_LOAD = "only under load"
    SLOW_ALONE_TOO = "slow alone too"
    NOT_RETESTED = "not retested"


@dataclass(frozen=True)
class JudgedPair:
    """A retested pair beside what is usual for pairs of its class."""

    retest: Retest
    usual_ns: float
    verdict: Verdict

    @property
    def ratio(self) -> float:
        """Under load to alone."""
        return self.retest.time_ns / self.retest.retest_time_ns


@dataclass(frozen=True)
class Side:
    """A rank or host as a sender (its row) and as a receiver (its column). The pairs inside a host are left out where
    there are others; a host has the medians of its ranks.
    """

    index: int
    from_ns: float  # median over its row
    to_ns: float  # over its column
    from_ratio: float  # over that of the median rank or host
    to_ratio: float
    num_partners: int  # others that it was measured with

    @property
    def ratio(self) -> float:
        """The larger of the two, 0 where nothing is measured."""
        return max(0.0 if math.isnan(ratio) else ratio for ratio in (self.from_ratio, self.to_ratio))

    @property
    def is_judged(self) -> bool:
        """Whether it met enough others to tell whether it is slow, or they are."""
        return self.num_partners >= FEWEST_PARTNERS


@dataclass(frozen=True)
class HostLink:
    """The pairs from one host to another, slow together beyond what both hosts explain."""

    from_host: int
    to_host: int
    time_ns: float  # median of the pairs
    ratio: float


@dataclass(frozen=True)
class SliceAnalysis:
    """All that the report says about one slice."""

    part: Slice
    scan: Scan
    overall: Distribution  # of all pairs
    classes: dict[PairClass, Distribution]  # only classes that have pairs to measure
    ranks: tuple[Side, ...]
    hosts: tuple[Side, ...]
    inside_ns: FloatArray  # [H] median over a host's ranks of their pairs with each other, NaN = none
    pairs: tuple[JudgedPair, ...]
    slow_hosts: tuple[int, ...]
    slow_ranks: tuple[int, ...]  # not those of slow hosts
    slow_pairs: tuple[JudgedPair, ...]  # slow alone too, and not of slow hosts or ranks
    slow_links: tuple[HostLink, ...]  # most striking first, at most MOST_LINKS
    # Not of slow links; most striking first, at most one of a cell of the picture of the ranks, and MOST_STANDOUTS.
    standouts: tuple[Standout, ...]
    pictures: dict[AxisName, Picture]  # of the medians
    # Where a diagnosis judges in place of SLOW_FACTOR (leadline.link.judged): by how much, of the slow ones.
    is_diagnosed: bool = False
    host_ratios: Mapping[int, float] = field(default_factory=dict)
    rank_ratios: Mapping[int, float] = field(default_factory=dict)

    def host_ratio(self, host: int) -> float:
        """By how much a host is slow."""
        return self.host_ratios[host] if host in self.host_ratios else self.hosts[host].ratio

    def rank_ratio(self, rank: int) -> float:
        """By how much a rank is slow."""
        return self.rank_ratios[rank] if rank in self.rank_ratios else self.ranks[rank].ratio


def analyse(
    result: LinkResult, part: Slice, axes: Sequence[AxisName] = (AxisName.RANKS,), largest_size: int = LARGEST_PICTURE,
    progress: Progress | None = None,
) -> SliceAnalysis:  # fmt: skip
    """Reads the slice's medians once and says what is in them; with a picture of at most largest_size² cells of each
    axis that is asked for (there is always one of the ranks, and one of the hosts where several ranks share one).
    """
    host_of = result.host_index
    has_host_pairs = 1 < len(result.hosts) < result.num_ranks
    names = (AxisName.RANKS, *((AxisName.HOSTS,) if has_host_pairs else ()), *axes)
    axes_here = [axis_of(result, name) for name in dict.fromkeys(names)]
    grids = [Grid(axis, edge_for(axis.num_positions, largest_size)) for axis in axes_here]
    found = scan(result, part, grids, progress)
    ranks, hosts = _sides(found.rows_ns, found.columns_ns, found.num_partners), _host_sides(found, host_of)
    slow_hosts = _slow(hosts)
    of_slow_hosts = np.isin(host_of, slow_hosts)
    slow_ranks = tuple(rank for rank in _slow(ranks) if not of_slow_hosts[rank])
    usual = {pair_class: tally.quantile(0.5) for pair_class, tally in found.classes.items()}
    pairs = tuple(
        _judged(retest, usual.get(result.class_of(retest.from_rank, retest.to_rank), math.nan))
        for retest in result.retests
        if (retest.repeat, retest.size_index) == (part.repeat, part.size_index)
    )
    pictures = {picture.grid.axis.name: picture for picture in found.pictures}
    link_ratios = _link_ratios(pictures.get(AxisName.HOSTS), hosts, usual)
    inside_ns = _of_hosts(found.inside_ns, host_of)
    overall = Tally()
    for tally in found.classes.values():
        overall.merge(tally)
    return SliceAnalysis(
        part=part,
        scan=found,
        overall=overall.distribution(),
        classes={pair_class: tally.distribution() for pair_class, tally in found.classes.items()},
        ranks=ranks,
        hosts=hosts,
        inside_ns=inside_ns,
        pairs=pairs,
        slow_hosts=slow_hosts,
        slow_ranks=slow_ranks,
        slow_pairs=_slow_pairs(pairs, {*slow_ranks, *np.flatnonzero(of_slow_hosts).tolist()}),
        slow_links=_slow_links(pictures.get(AxisName.HOSTS), link_ratios),
        standouts=_standouts(
            found, pictures[AxisName.RANKS], _Explained(host_of, ranks, inside_ns, link_ratios, usual)
        ),
        pictures=pictures,
    )


def _slow(sides: tuple[Side, ...]) -> tuple[int, ...]:
    return tuple(side.index for side in sides if side.is_judged and side.ratio >= SLOW_FACTOR)


def _slow_pairs(pairs: tuple[JudgedPair, ...], slow_ranks: Set[int]) -> tuple[JudgedPair, ...]:
    """Those that are slow alone too, but for those of slow ranks."""
    return tuple(
        pair
        for pair in pairs
        if pair.verdict is Verdict.SLOW_ALONE_TOO and not {pair.retest.from_rank, pair.retest.to_rank} & slow_ranks
    )


def _sides(from_ns: FloatArray, to_ns: FloatArray, num_partners: IntArray) -> tuple[Side, ...]:
    ratios = [values / _median_or_nan(values) for values in (from_ns, to_ns)]
    columns = (from_ns, to_ns, *ratios, num_partners)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(Side(index, *row) for index, row in enumerate(rows))


def _host_sides(found: Scan, host_of: IntArray) -> tuple[Side, ...]:
    return _sides(_of_hosts(found.rows_ns, host_of), _of_hosts(found.columns_ns, host_of), found.num_host_partners)


def _of_hosts(of_ranks: FloatArray, host_of: IntArray) -> FloatArray:
    """The median over each host's ranks; host_of is int [N]."""
    order = np.argsort(host_of, kind="stable")
    if len(of_ranks) == host_of.max() + 1:
        return of_ranks[order]
    # By host, then by number; NaN stands last in each.
    in_order = of_ranks[np.lexsort((of_ranks, host_of))]
    num_ranks = np.bincount(host_of)
    num = np.bincount(host_of, weights=np.isfinite(of_ranks)).astype(np.int64)
    first = np.cumsum(num_ranks) - num_ranks
    low, high = in_order[first + np.maximum(num - 1, 0) // 2], in_order[first + num // 2 * (num > 0)]
    medians: FloatArray = np.where(num > 0, low * 0.5 + high * 0.5, np.nan)
    return medians


def _median_or_nan(values: FloatArray) -> float:
    there = values[np.isfinite(values)]
    return float(np.median(there)) if there.size else math.nan


def _factors(sides: tuple[Side, ...]) -> tuple[FloatArray, FloatArray]:
    """By how much rows and columns are slower than usual, 1 where they are not."""
    ratios = np.array([(side.from_ratio, side.to_ratio) for side in sides]).reshape(-1, 2)
    ratios = np.where(ratios > 1, ratios, 1.0)
    return ratios[:, 0], ratios[:, 1]


class _Explained:
    """The times of pairs that what is said about hosts, ranks and links lets one expect."""

    def __init__(
        self, host_of: IntArray, ranks: tuple[Side, ...], inside_ns: FloatArray, link_ratios: FloatArray | None,
        usual: dict[PairClass, float],
    ) -> None:  # fmt: skip
        self._host_of, self._link_ratios = host_of, link_ratios
        # Inside a host that is slow as sender and as receiver, and between two such, both factors may come together.
        self._rows, self._columns = _factors(ranks)
        self._usual = [usual.get(pair_class, math.nan) for pair_class in (PairClass.BETWEEN_HOSTS, PairClass.SAME_HOST)]
        inside = inside_ns / self._usual[1]
        sizes = np.bincount(host_of)
        is_told = (inside >= SLOW_FACTOR) & (sizes * (sizes - 1) >= FEWEST_PAIRS_OF_LINK)
        self._inside = np.where(is_told, inside, 1.0)

    def times_ns(self, from_rank: IntArray, to_rank: IntArray) -> FloatArray:
        """Of the pairs; infinite for those of slow links, NaN for a class without pairs."""
        from_host, to_host = self._host_of[from_rank], self._host_of[to_rank]
        is_inside = from_host == to_host
        factor = self._rows[from_rank] * self._columns[to_rank]
        factor = np.where(is_inside, np.maximum(factor, self._inside[from_host]), factor)
        if self._link_ratios is not None:
            factor = np.where(self._link_ratios[from_host, to_host] >= SLOW_FACTOR, np.inf, factor)
        return np.where(is_inside, self._usual[1], self._usual[0]) * factor


def _link_ratios(picture: Picture | None, hosts: tuple[Side, ...], usual: dict[PairClass, float]) -> FloatArray | None:
    """By how much the pairs from each host to each other are slower than both hosts explain, [H, H]; NaN where they are
    too few. Only where every host is a cell of the picture.
    """
    if picture is None or picture.grid.edge > 1 or PairClass.BETWEEN_HOSTS not in usual:
        return None
    rows, columns = _factors(hosts)
    ratio = picture.median / (usual[PairClass.BETWEEN_HOSTS] * rows[:, None] * columns[None, :])
    ratio[(picture.num_measured < FEWEST_PAIRS_OF_LINK) | np.eye(len(ratio), dtype=bool)] = np.nan
    return np.asarray(ratio, dtype=np.float64)


def _slow_links(picture: Picture | None, ratios: FloatArray | None) -> tuple[HostLink, ...]:
    if picture is None or ratios is None:
        return ()
    places = np.flatnonzero(ratios >= SLOW_FACTOR)
    places = places[np.argsort(-ratios.reshape(-1)[places], kind="stable")[:MOST_LINKS]]
    links = zip(*(index.tolist() for index in np.divmod(places, len(ratios))), strict=True)
    return tuple(HostLink(a, b, float(picture.median[a, b]), float(ratios[a, b])) for a, b in links)


def _standouts(found: Scan, picture: Picture, explained: _Explained) -> tuple[Standout, ...]:
    """Looks at the worst pair of every cell, and at the slowest pairs of each class, which in their cells may stand
    behind pairs of the other one.
    """
    there = picture.worst_from >= 0
    slowest = [cell for cells in found.slowest.values() for cell in cells]
    from_rank = np.concatenate([[cell.from_rank for cell in slowest], picture.worst_from[there]]).astype(np.int64)
    to_rank = np.concatenate([[cell.to_rank for cell in slowest], picture.worst_to[there]]).astype(np.int64)
    time_ns = np.concatenate([[cell.time_ns for cell in slowest], picture.worst[there]])
    ratio = time_ns / explained.times_ns(from_rank, to_rank)
    group = picture.grid.axis.position_of // picture.grid.edge
    cell_of = group[from_rank] * picture.grid.size + group[to_rank]
    limit = SLOW_FACTOR
    # Few are named whatever they are. Where there are many, most of them are noise, and the rest must rise above it.
    is_slow = ratio >= SLOW_FACTOR
    if np.unique(cell_of[is_slow]).size > MOST_CIRCLES:
        of_cells = ratio[len(slowest) :]
        limit = max(limit, end_of_tail(of_cells[of_cells > 0]))
    candidates = np.flatnonzero(ratio >= limit)
    candidates = candidates[np.argsort(-ratio[candidates], kind="stable")]
    # The first of each cell, and these in their order.
    firsts = np.sort(np.unique(cell_of[candidates], return_index=True)[1])
    kept = candidates[firsts[:MOST_STANDOUTS]].tolist()
    return tuple(Standout(Cell(int(from_rank[i]), int(to_rank[i]), float(time_ns[i])), float(ratio[i])) for i in kept)


def _judged(retest: Retest, usual_ns: float) -> JudgedPair:
    return JudgedPair(retest, usual_ns, _verdict(retest, usual_ns))


def _verdict(retest: Retest, usual_ns: float) -> Verdict:
    limit = SLOW_FACTOR * usual_ns
    if math.isnan(retest.retest_time_ns):
        return Verdict.NOT_RETESTED
    if not retest.time_ns >= limit:
        return Verdict.NOT_SLOW
    is_faster_alone = retest.retest_time_ns < limit and retest.time_ns >= LOAD_FACTOR * retest.retest_time_ns
    return Verdict.ONLY_UNDER_LOAD if is_faster_alone else Verdict.SLOW_ALONE_TOO

# SPDX-License-Identifier: Apache-2.0
"""Plain rules beside which a judge must not lose. They read the same file and know nothing of the network.

- `medians`: medians of rows and columns; a host is slow beyond five robust standard deviations (1.4826 times the
  median absolute deviation, Hampel 1974) and a tenth above the median host, all its ranks a tenth above the median
  rank; a rank likewise, where its host is not.
- `clusterkit`: as the manual of NVIDIA's ClusterKit (HPC-X) documents it: a pair is bad above 2.1 times the least
  latency, or below 93 % of the greatest bandwidth; a host is bad if it is bad with all others; else bad pairs are.
- `with all`: a host is slow where nine tenths of its pairs take a tenth longer than the median pair.
- `stands out`, of exchanges: a host or rank is slow where the lower median of the messages that it sends, or of those
  that it receives, is 1.5 times as late as that of three quarters of the others; a message, of sound ends, where it is
  1.5 times as late as 95 % of all (75 % of fewer than 100).
- `0.8 x median`, of patterns: a host is slow where nine tenths of its connections have less than 0.8 of the median
  connection's bandwidth.

Times are medians of batches. Pairs within a host count for none of them, unless there is one host only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
from findings import Finding, Judgement
from patterns import slow_by_median

Matrix = npt.NDArray[np.float64]
Rule = Callable[[Matrix, int, int], list[Finding]]
PATTERN_RULE, EXCHANGE_RULE = "0.8 x median", "stands out"
EXCHANGE_RULES = ("medians", EXCHANGE_RULE)
STANDS_OUT_FACTOR, MOST_OF_RANKS, MOST_OF_MESSAGES, MANY_MESSAGES = 1.5, 0.75, 0.95, 100
LATENCY_UP_TO_BYTES = 64 << 10
LEAST_EXCESS, NUM_DEVIATIONS = 0.1, 5.0
CLUSTERKIT_LATENCY, CLUSTERKIT_BANDWIDTH = 2.1, 0.93


def judged(name: str, result: Path) -> Judgement:
    """One rule over all sizes of a file."""
    begin = time.process_time()
    with h5py.File(result) as file:
        if name == PATTERN_RULE:
            hosts = [text.decode() for text in file["ranks/host"][:]]
            group = file["bisection"]
            slow = slow_by_median(group["time_ns"][0].T, group["receive_from"][0].T, hosts)
            accused = tuple(Finding("host", frozenset([host])) for host in slow)
            return Judgement(accused, time.process_time() - begin, bool(accused))
        hosts = [text.decode() for text in file["ranks/host"][:]]
        sizes = [int(size) for size in file["message_size_bytes"][:]]
        found: dict[Finding, None] = {}
        if "topologies" in file:
            for index, size in enumerate(sizes):
                times_ns = arrivals_of(file, index)
                accused = (
                    stands_out(times_ns, hosts) if name == EXCHANGE_RULE else judged_matrix(name, times_ns, hosts, size)
                )
                found.update(dict.fromkeys(accused))
            return Judgement(tuple(found), time.process_time() - begin, bool(found))
        for index, size in enumerate(sizes):
            for finding in judged_matrix(name, medians_of(file, index), hosts, size):
                found.setdefault(finding)
    return Judgement(tuple(found), time.process_time() - begin, bool(found))


def judged_matrix(name: str, times_ns: Matrix, hosts: list[str], size_bytes: int) -> list[Finding]:
    """One rule over one matrix; `hosts` of the ranks, as many of each."""
    names = list(dict.fromkeys(hosts))
    ranks_per_host = len(hosts) // len(names)
    number = {name: index for index, name in enumerate(names)}
    order = np.argsort([number[host] for host in hosts], kind="stable")  # rules want the ranks of a host together
    masked = times_ns[np.ix_(order, order)]
    masked[masked == 0] = np.nan
    if len(names) > 1:
        host = np.arange(len(hosts)) // ranks_per_host
        masked[host[:, None] == host[None, :]] = np.nan
    return [_named(finding, names, order) for finding in RULES[name](masked, ranks_per_host, size_bytes)]


def medians_of(file: h5py.File, index: int) -> Matrix:
    """Of either form, in ns; 0 = not measured."""
    group = file["repeats/0000"]
    if "pair" not in group:
        return np.asarray(group["time_ns_median"][index])
    code = (group["pair"][index] >> np.uint32(16)).astype(float)
    return np.asarray(np.where(code > 0, np.exp2(code / 1024 - 10), 0))


def arrivals_of(file: h5py.File, index: int) -> Matrix:
    """Of a complete graph the median over the repeats, from the row's rank to the column's, in ns; 0 = none."""
    group = file["topologies/0000"]
    starts, partner = group["row_start"][:], group["partner"][:]
    times = np.median(group["arrival_time_ns"][:, index], axis=0)
    made = np.zeros((starts.size - 1, starts.size - 1))
    made[partner, np.repeat(np.arange(starts.size - 1), np.diff(starts))] = times
    return made


def stands_out(times_ns: Matrix, hosts: list[str]) -> list[Finding]:
    """Messages within hosts count, too."""
    times = np.where(times_ns > 0, times_ns, np.nan)
    names = list(dict.fromkeys(hosts))
    of_host = np.array([names.index(host) for host in hosts])
    slow_ranks, slow_hosts = np.zeros(len(hosts), dtype=bool), np.zeros(len(names), dtype=bool)
    for axis in (0, 1):
        of_ranks = np.nanquantile(times, 0.5, axis=axis, method="lower")
        of_hosts = np.array([np.quantile(of_ranks[of_host == host], 0.5, method="lower") for host in range(len(names))])
        slow_ranks |= of_ranks >= STANDS_OUT_FACTOR * np.quantile(of_ranks, MOST_OF_RANKS)
        slow_hosts |= of_hosts >= STANDS_OUT_FACTOR * np.quantile(of_hosts, MOST_OF_RANKS)
    found = [Finding("host", frozenset([names[host]])) for host in np.flatnonzero(slow_hosts)]
    of_slow_host = slow_hosts[of_host]
    found += [
        Finding("rank", frozenset([hosts[rank]]), ranks=frozenset([int(rank)]))
        for rank in np.flatnonzero(slow_ranks & ~of_slow_host)
    ]
    num = int(np.isfinite(times).sum())
    limit = STANDS_OUT_FACTOR * np.nanquantile(times, MOST_OF_MESSAGES if num >= MANY_MESSAGES else MOST_OF_RANKS)
    is_slow = slow_ranks | of_slow_host
    for one, other in np.argwhere(times >= limit):
        if not is_slow[one] and not is_slow[other]:
            ends = (frozenset([hosts[one]]), frozenset([hosts[other]]))
            found.append(Finding("pair", *ends, frozenset([int(one), int(other)])))
    return found


def _named(finding: Finding, names: list[str], order: npt.NDArray[np.int64]) -> Finding:
    """Rules write numbers of hosts as texts, and ranks by their places in the order."""
    hosts, others = (frozenset(names[int(host)] for host in side) for side in (finding.hosts, finding.other_hosts))
    return Finding(finding.kind, hosts, others, frozenset(int(order[rank]) for rank in finding.ranks))


def _host(number: int) -> Finding:
    return Finding("host", frozenset([str(number)]))


def _of_hosts(times_ns: Matrix, ranks_per_host: int) -> Matrix:
    """Median over the ranks of each pair of hosts, both ways."""
    num = times_ns.shape[0] // ranks_per_host
    blocks = times_ns.reshape(num, ranks_per_host, num, ranks_per_host).transpose(0, 2, 1, 3).reshape(num, num, -1)
    both = np.concatenate([blocks, blocks.transpose(1, 0, 2)], axis=2)
    with np.errstate(all="ignore"):
        made = np.full((num, num), np.nan)
        is_there = ~np.isnan(both[:, :, 0])
        made[is_there] = np.nanmedian(both[is_there], axis=1)
    return made


def _outliers(scores: Matrix) -> npt.NDArray[np.bool_]:
    middle = np.median(scores)
    deviation = 1.4826 * np.median(np.abs(scores - middle))
    return np.asarray((scores > middle + NUM_DEVIATIONS * deviation) & (scores > middle + np.log1p(LEAST_EXCESS)))


def medians(times_ns: Matrix, ranks_per_host: int, size_bytes: int) -> list[Finding]:
    """Rows and columns of ranks, then of hosts."""
    del size_bytes
    logs = np.log(times_ns)
    num = logs.shape[0]
    if num < 3:
        return []
    of_rank = np.nanmedian(np.concatenate([logs, logs.T], axis=1), axis=1)
    of_host = np.median(of_rank.reshape(-1, ranks_per_host), axis=1)
    best_rank = of_rank.reshape(-1, ranks_per_host).min(axis=1)
    bad_hosts = _outliers(of_host) & (best_rank > np.median(of_rank) + np.log1p(LEAST_EXCESS))
    found = [_host(int(host)) for host in np.flatnonzero(bad_hosts)]
    if ranks_per_host > 1:
        bad_ranks = np.flatnonzero(_outliers(of_rank) & ~np.repeat(bad_hosts, ranks_per_host))
        found += [
            Finding("rank", frozenset([str(rank // ranks_per_host)]), ranks=frozenset([int(rank)]))
            for rank in bad_ranks
        ]
    return found


def clusterkit(times_ns: Matrix, ranks_per_host: int, size_bytes: int) -> list[Finding]:
    """Of pairs of hosts."""
    times = _of_hosts(times_ns, ranks_per_host)
    is_measured = ~np.isnan(times)
    if not is_measured.any():
        return []
    least = np.nanmin(times)
    limit = least * (CLUSTERKIT_LATENCY if size_bytes <= LATENCY_UP_TO_BYTES else 1 / CLUSTERKIT_BANDWIDTH)
    is_bad = is_measured & (times > limit)
    hosts = [host for host in range(times.shape[0]) if is_bad[host].sum() == is_measured[host].sum() > 0]
    found = [_host(host) for host in hosts]
    for first, second in np.argwhere(np.triu(is_bad, 1)):
        if first not in hosts and second not in hosts:
            found.append(Finding("link", frozenset([str(first)]), frozenset([str(second)])))
    return found


def with_all(times_ns: Matrix, ranks_per_host: int, size_bytes: int) -> list[Finding]:
    """Of hosts by their pairs of ranks."""
    del size_bytes
    num = times_ns.shape[0] // ranks_per_host
    usual = np.nanmedian(times_ns)
    rows = np.concatenate([times_ns, times_ns.T], axis=1).reshape(num, -1)
    share = [np.mean(row[~np.isnan(row)] > usual * (1 + LEAST_EXCESS)) for row in rows]
    return [_host(host) for host in range(num) if share[host] >= 0.9]


RULES: dict[str, Rule] = {"medians": medians, "clusterkit": clusterkit, "with all": with_all}

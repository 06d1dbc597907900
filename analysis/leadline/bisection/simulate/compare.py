# SPDX-License-Identifier: Apache-2.0
"""Measured against simulated, pattern by pattern: which patterns there are, and whether they are those that the seed
gives here.
"""

from __future__ import annotations

import math

import numpy as np

from leadline.bisection.connections import pairs_by_pattern, scan_connections
from leadline.bisection.result import BisectionResult, PatternKind, Patterns
from leadline.bisection.simulate.experiments import participants_of_result
from leadline.bisection.simulate.model import PatternComparison, PatternDeviation, SimulatedBisection
from leadline.error import ExitStatus, LeadlineError
from leadline.model import FloatArray, IntArray
from leadline.stats.interval import paired_ratio_interval

# Of a simulation that was not made from this very result so many patterns are drawn again and compared with it.
_NUM_CHECKED = 10
_BLOCK_CELLS = 1 << 22


def compare_patterns(
    result: BisectionResult, simulated: SimulatedBisection, size_index: int | None = None, num_deviating: int = 5
) -> PatternComparison:
    """The random patterns that a result and a simulation both have, of one message size (None: the largest that has
    random patterns). Reports read a simulation with `leadline.bisection.simulate.result_file.load_simulation(path)`.

    LeadlineError where they cannot belong together (other ranks, seed, or ranks of a host that take part), where a
    pattern of the result is not the one that its seed gives here, and where no pattern is in both.
    """
    _expect_same_run(result, simulated)
    if size_index is None:
        size_index = _largest_size(result)
    patterns = result.reader.patterns(size_index).of_kind(PatternKind.RANDOM)
    patterns = patterns.where(np.isfinite(patterns.bytes_per_s_mean))
    index, here, there = np.intersect1d(patterns.index, simulated.pattern_index, return_indices=True)
    if not len(index):
        raise _no_fit(result, "no pattern is in both")
    if simulated.measured_nonce != result.nonce or not result.nonce:
        _check_some(result, size_index, index)
    speed = patterns.bytes_per_s_mean[here]
    share = _contention_share(result, size_index, patterns)
    unit = (
        float(patterns.bytes_per_s_mean.mean()) / share
        if math.isfinite(share)
        else float(np.nanmax(patterns.bytes_per_s_max[here]))
    )
    measured, expected = speed / unit, simulated.relative_mean[there]
    ratio = float(measured.mean() / expected.mean())
    return PatternComparison(
        size_index=size_index,
        message_size_bytes=result.message_sizes_bytes[size_index],
        unit_bytes_per_s=unit,
        has_baseline=math.isfinite(share),
        pattern_index=index,
        measured_bytes_per_s=speed,
        measured=measured,
        simulated=expected,
        pearson=_correlation(measured, expected),
        spearman=_correlation(_ranks(measured), _ranks(expected)),
        ratio=ratio,
        deviating=_deviating(index, measured, expected, ratio, num_deviating),
    )


def _contention_share(result: BisectionResult, size_index: int, patterns: Patterns) -> float:
    alone = result.reader.baseline(size_index)
    if not len(alone):
        return math.nan
    found = scan_connections(result, patterns, alone, most_slowest=1)
    return paired_ratio_interval(*pairs_by_pattern(patterns, alone, found.pairs)).mean


def _expect_same_run(result: BisectionResult, simulated: SimulatedBisection) -> None:
    if simulated.num_ranks != result.num_ranks:
        raise _no_fit(result, f"{result.num_ranks} ranks were measured, {simulated.num_ranks} simulated")
    if simulated.seed != result.seed:
        raise _no_fit(result, f"seed {result.seed} was measured, {simulated.seed} simulated")
    number = {host: position for position, host in enumerate(dict.fromkeys(simulated.hosts))}
    if result.host_index.tolist() != [number[host] for host in simulated.hosts]:
        raise _no_fit(result, "the ranks are on other hosts")
    # All ranks of each host is the same as so many of each.
    one, other = ((run.num_participants, run.within_hosts) for run in (result, simulated))
    if one != other:
        raise _no_fit(result, "other ranks take part, or pairs on one host do in one of them only")


def _no_fit(result: BisectionResult, why: str) -> LeadlineError:
    hint = "Make the simulation with leadline simulate bisection --measured RESULT"
    return LeadlineError(f"the simulation is not of '{result.path}'", why, hint, ExitStatus.BAD_COMMAND_LINE)


def _largest_size(result: BisectionResult) -> int:
    for size_index in sorted(
        range(len(result.message_sizes_bytes)), key=lambda one: result.message_sizes_bytes[one], reverse=True
    ):
        if len(result.reader.patterns(size_index).of_kind(PatternKind.RANDOM)):
            return size_index
    raise without_random(result)


def _check_some(result: BisectionResult, size_index: int, index: IntArray) -> None:
    """Some of them, evenly from the first to the last."""
    check = PatternCheck(result, size_index)
    places = np.unique(np.linspace(0, len(index) - 1, _NUM_CHECKED).round().astype(int))
    for one, send_to in participants_of_result(result).random(result.seed, index[places].tolist()):
        check.expect(one, send_to)


def _correlation(one: FloatArray, other: FloatArray) -> float:
    """Pearson's; NaN below three values, or where one side never changes by more than rounding does."""
    if len(one) < 3 or any(np.ptp(values) <= 1e-12 * np.abs(values).max() for values in (one, other)):
        return math.nan
    return float(np.corrcoef(one, other)[0, 1])


def _ranks(values: FloatArray) -> FloatArray:
    """Place in order of size; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[inverse.reshape(-1)])


def _deviating(
    index: IntArray, measured: FloatArray, simulated: FloatArray, ratio: float, most: int
) -> tuple[PatternDeviation, ...]:
    deviation = measured / simulated / ratio
    farthest = np.argsort(-np.abs(np.log(deviation)), kind="stable")[:most]
    return tuple(
        PatternDeviation(int(index[one]), float(measured[one]), float(simulated[one]), float(deviation[one]))
        for one in farthest
    )


def measured_indices(result: BisectionResult) -> list[int]:
    """Of the random patterns that were measured, with any message size; rising. LeadlineError if there are none."""
    found: set[int] = set()
    for size_index in range(len(result.message_sizes_bytes)):
        found.update(result.reader.patterns(size_index).of_kind(PatternKind.RANDOM).index.tolist())
    if not found:
        raise without_random(result)
    return sorted(found)


def without_random(result: BisectionResult) -> LeadlineError:
    """The error for a result that has nothing to compare, to be raised."""
    why = "it has no random pattern that was measured"
    return LeadlineError(
        f"cannot use '{result.path}'", why, "Measure with --pattern random", ExitStatus.BAD_COMMAND_LINE
    )


def measured_named(result: BisectionResult) -> dict[str, IntArray]:
    """The named patterns that were measured: the rank that every rank sends to, as in the file."""
    found: dict[str, IntArray] = {}
    for size_index in range(len(result.message_sizes_bytes)):
        patterns = result.reader.patterns(size_index).of_kind(PatternKind.NAMED)
        for index, number in zip(patterns.index.tolist(), patterns.number.tolist(), strict=True):
            name = result.pattern_names[index]
            if name not in found:
                ranks = (0, result.num_ranks)
                found[name] = result.reader.partners(size_index, "send_to", ranks, (number, number + 1))[:, 0]
    return found


_LOSSES = ("ranks_absent", "ranks_lost", "pairs_not_measured")  # findings after which patterns are others


class PatternCheck:
    """Compares random patterns with the file's own, of one message size."""

    def __init__(self, result: BisectionResult, size_index: int) -> None:
        """Reads whole blocks, so that rising indices are fast."""
        patterns = result.reader.patterns(size_index).of_kind(PatternKind.RANDOM)
        self._result, self._size_index = result, size_index
        self._number_of = dict(zip(patterns.index.tolist(), patterns.number.tolist(), strict=True))
        self._end = 1 + max(self._number_of.values(), default=-1)
        self._first, self._block = 0, np.empty((result.num_ranks, 0), dtype=np.int64)

    def expect(self, index: int, send_to: IntArray) -> None:
        """LeadlineError where this random pattern was measured as another one."""
        number = self._number_of.get(index)
        if number is None:
            return
        if not self._first <= number < self._first + self._block.shape[1]:
            end = min(number + max(_BLOCK_CELLS // self._result.num_ranks, 1), self._end)
            ranks = (0, self._result.num_ranks)
            self._block = self._result.reader.partners(self._size_index, "send_to", ranks, (number, end))
            self._first = number
        if not np.array_equal(self._block[:, number - self._first], send_to):
            why = f"its random pattern {index} is not the one that seed {self._result.seed} gives here; "
            if any(finding.id in _LOSSES for finding in self._result.findings):
                why += "ranks or pairs of ranks were lost while it was measured"
                hint = "Measure again without them"
            else:
                why += f"it was written by leadline {self._result.provenance.version}"
                hint = "Use the version that measured, or measure again"
            raise LeadlineError(f"cannot follow '{self._result.path}'", why, hint, ExitStatus.RUN_FAILED)

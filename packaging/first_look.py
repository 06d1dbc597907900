# SPDX-License-Identifier: Apache-2.0
"""The three lines that ./quickstart ends with: what is usual, which pair is slowest, and what to do next."""

from __future__ import annotations

import sys

import numpy as np

from leadline.analyse import analyse
from leadline.error import LeadlineError
from leadline.load import load
from leadline.model import Result
from leadline.units import bandwidth_text, bytes_text, time_text


def first_look(result: Result) -> list[str]:
    """Three lines about the first slice of a result."""
    part = result.slices[0]
    analysis = analyse(result, part)
    times = analysis.overall
    bandwidth = bandwidth_text(float(result.bandwidth_bytes_per_s(times.median, part.message_size_bytes)))
    interval = "too few pairs for an interval"
    if np.isfinite(times.median_interval_low):
        ends = (times.median_interval_low, times.median_interval_high)
        interval = "95 % interval " + " to ".join(time_text(end) for end in ends)
    size, num_ranks = bytes_text(part.message_size_bytes), result.num_ranks
    return [
        f"median:  {time_text(times.median)} ({interval}), {bandwidth}, for {size} between {num_ranks} ranks",
        f"slowest: {_slowest(analysis.pairs)}",
        "next:    open the report in a browser; for your own sizes see build/release/bin/leadline link --help",
    ]


def _slowest(pairs: tuple) -> str:
    if not pairs:
        return "no pair was measured again"
    slowest = pairs[0].retest
    alone = "not measured again"
    if np.isfinite(slowest.retest_time_ns):
        alone = f"{time_text(slowest.retest_time_ns)} alone"
    in_company = time_text(slowest.time_ns)
    return f"rank {slowest.from_rank} to {slowest.to_rank}, {in_company} in company, {alone}: {pairs[0].verdict.value}"


if __name__ == "__main__":
    try:
        print("\n".join(first_look(load(sys.argv[1]))))
    except LeadlineError as error:
        sys.exit(f"leadline: {error}")

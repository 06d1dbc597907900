# SPDX-License-Identifier: Apache-2.0
"""What ./quickstart says about this machine: the usual time between two processes, or that the scheduler set it."""

from __future__ import annotations

import sys

import h5py
import numpy as np

from leadline.units import bandwidth_text, bytes_text, time_text

# A message of 1 KiB over loopback takes 5 to 30 us where the receiver gets a core as soon as its message arrives. Where
# it has to wait for a core, it waits for a time slice, which is 1 ms or more on Linux.
LONGEST_WITHOUT_A_WAIT_NS = 200e3


def first_look(times_ns: np.ndarray, message_size_bytes: int, num_ranks: int) -> list[str]:
    """Two lines about medians of ordered pairs: their lower quartile, since other programs can only add to a time."""
    quartile, fastest, slowest = np.quantile(times_ns, 0.25), times_ns.min(), times_ns.max()
    size = bytes_text(message_size_bytes)
    lines = [f"{num_ranks} local processes, {size} over TCP on loopback, one pair at a time, waiting by blocking:"]
    if quartile > LONGEST_WITHOUT_A_WAIT_NS:
        lines.append(
            "  no number: processes waited for a core, so the times are those of the scheduler, not of messages."
        )
        lines.append("  Try again when the machine is less busy.")
        return lines
    bandwidth = bandwidth_text(message_size_bytes / quartile * 1e9, 3)
    spread = f"lower quartile of {times_ns.size} ordered pairs; {time_text(fastest, 3)} to {time_text(slowest, 3)}"
    lines.append(f"  {time_text(quartile, 3)}, {bandwidth} ({spread})")
    return lines


if __name__ == "__main__":
    with h5py.File(sys.argv[1]) as file:
        medians_ns = file["repeats/0000/time_ns_median"][0]  # 0 or NaN where nothing was measured: a rank with itself
        size_bytes = int(file["message_size_bytes"][0])
    lines = first_look(medians_ns[medians_ns > 0], size_bytes, len(medians_ns))
    print("\n".join(lines).replace("µ", "u"))  # as the engine's programs write it, for any locale

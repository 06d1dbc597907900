# SPDX-License-Identifier: Apache-2.0
"""What a communication pattern costs on the measured matrix of a link test, and where its ranks would cost less.

result = leadline.load_link("run.h5")
pattern = parse_pattern("halo-2d:8x4", result.num_ranks)
times = measured_times(result, pattern, size="64KiB")
cost = pattern_cost(result, pattern, times)
print(cost.cost_ns, cost.busy_ns.mean(), cost.pairs[0])
print(better_placement(pattern, cost, times).saving)
"""

from leadline.cost.evaluate import pattern_cost
from leadline.cost.model import PairCost, PatternCost, Placement
from leadline.cost.pattern import Messages, Pattern, all_to_all, halo, messages_of, ring, tree
from leadline.cost.pattern_file import parse_pattern, read_pattern
from leadline.cost.placement import better_placement, why_no_placement
from leadline.cost.times import MeasuredTimes, measured_times

__all__ = [
    "MeasuredTimes",
    "Messages",
    "PairCost",
    "Pattern",
    "PatternCost",
    "Placement",
    "all_to_all",
    "better_placement",
    "halo",
    "measured_times",
    "messages_of",
    "parse_pattern",
    "pattern_cost",
    "read_pattern",
    "ring",
    "tree",
    "why_no_placement",
]

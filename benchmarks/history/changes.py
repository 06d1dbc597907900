# SPDX-License-Identifier: Apache-2.0
"""How often leadline.stats.change_points is wrong: false alarms on series without a change, and how many changes of 10
and 25 % it tells, beside a plain rule (the last value is more than 3 MAD from the median). docs/methods/months.md has
its numbers. PYTHONPATH=analysis python benchmarks/history/changes.py
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from leadline.stats.change_points import FALSE_DISCOVERY_RATE, level_changes

Noise = Callable[[np.random.Generator, int], np.ndarray]
NUMBERS_OF_RUNS = (5, 10, 15, 20, 50, 100, 200)


def steady(random: np.random.Generator, num: int) -> np.ndarray:
    """Logarithms that scatter by 3 %."""
    return 0.03 * random.standard_normal(num)


def heavy(random: np.random.Generator, num: int) -> np.ndarray:
    """The same scale with heavy tails, both ways: Student's t with 2 degrees of freedom."""
    return 0.03 * random.standard_t(2, num)


def bursts(random: np.random.Generator, num: int) -> np.ndarray:
    """As steady, but every tenth run is up to twice as long."""
    return steady(random, num) + (random.random(num) < 0.1) * random.uniform(0, np.log(2), num)


def related(random: np.random.Generator, num: int) -> np.ndarray:
    """Each run is like the one before (correlation 0.5): what the test does not allow for."""
    values = steady(random, num)
    for index in range(1, num):
        values[index] = 0.5 * values[index - 1] + np.sqrt(0.75) * values[index]
    return values


NOISES: dict[str, Noise] = {
    "3 %": steady,
    "heavy tails": heavy,
    "bursts": bursts,
    "correlated": related,
}


def rule(values: np.ndarray) -> bool:
    """Whether a change is told."""
    return bool(level_changes(values, FALSE_DISCOVERY_RATE))


def plain_rule(values: np.ndarray) -> bool:
    """The last value against the median of all before it."""
    before = values[:-1]
    median = np.median(before)
    scale = 1.4826 * np.median(np.abs(before - median))
    return bool(abs(values[-1] - median) > 3 * scale)


def share(
    told: Callable[[np.ndarray], bool],
    noise: Noise,
    num: int,
    step: float,
    num_after: int,
    trials: int,
) -> float:
    """Of so many series that have a step before their last values the share of which a change is told."""
    random = np.random.default_rng(1)
    count = 0
    for _ in range(trials):
        logarithms = noise(random, num)
        logarithms[num - num_after :] += np.log1p(step)
        count += told(np.exp(logarithms))
    return count / trials


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    trials = parser.parse_args().trials
    print(f"false alarms, {trials} series each: rule / plain rule")
    for name, noise in NOISES.items():
        cells = []
        for num in NUMBERS_OF_RUNS:
            told = [100 * share(one, noise, num, 0, 0, trials) for one in (rule, plain_rule)]
            cells.append(f"{told[0]:5.2f} /{told[1]:5.1f}")
        print(f"{name:12} {'  '.join(cells)}  % for {', '.join(map(str, NUMBERS_OF_RUNS))} runs")
    print("told changes: rule / plain rule")
    for step in (0.10, 0.25):
        for name in ("3 %", "heavy tails", "bursts"):
            noise, cells = NOISES[name], []
            for num, num_after in (
                (15, 7),
                (20, 5),
                (50, 4),
                (50, 10),
                (200, 3),
                (200, 10),
            ):
                told = [100 * share(one, noise, num, step, num_after, trials // 4) for one in (rule, plain_rule)]
                cells.append(f"{num}/{num_after}: {told[0]:3.0f} /{told[1]:3.0f}")
            print(f"{100 * step:.0f} % {name:12} {'  '.join(cells)}  %, runs / of them after the change")


if __name__ == "__main__":
    main()

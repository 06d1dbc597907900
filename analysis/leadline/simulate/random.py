# SPDX-License-Identifier: Apache-2.0
"""The engine's random numbers (engine/core/random.hpp): the same seed and stream give the same numbers here."""

from __future__ import annotations

from collections.abc import MutableSequence

_MASK = (1 << 64) - 1
_INCREMENT = 0x9E3779B97F4A7C15


def mix64(number: int) -> int:
    """splitmix64's output function."""
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _MASK
    return number ^ (number >> 31)


class Random:
    """xoshiro256** (Blackman and Vigna 2018), seeded as in the engine."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        """Different streams of one seed are unrelated."""
        counter = mix64((mix64((seed + _INCREMENT) & _MASK) + stream) & _MASK)
        state = []
        for _ in range(4):
            counter = (counter + _INCREMENT) & _MASK
            state.append(mix64(counter))
        self._a, self._b, self._c, self._d = state

    def next(self) -> int:
        """Any of 0..2^64 - 1."""
        a, b, c, d = self._a, self._b, self._c, self._d
        result = (b * 5) & _MASK
        result = ((((result << 7) | (result >> 57)) & _MASK) * 9) & _MASK
        c ^= a
        d ^= b
        self._a, self._b = a ^ d, b ^ c
        self._c = c ^ ((b << 17) & _MASK)
        self._d = ((d << 45) | (d >> 19)) & _MASK
        return result

    def below(self, bound: int) -> int:
        """Any of 0..bound-1, all equally likely; numbers that would make some likelier are drawn again."""
        remainder = (1 << 64) % bound
        drawn = self.next()
        while drawn < remainder:
            drawn = self.next()
        return drawn % bound

    def shuffle(self, values: MutableSequence[int]) -> None:
        """Fisher-Yates: every order equally likely."""
        for left in range(len(values), 1, -1):
            other = self.below(left)
            values[left - 1], values[other] = values[other], values[left - 1]

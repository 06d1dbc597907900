# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read and write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline import units


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1, "1.000"), (9.9996, "10.00"), (0.99996, "1.000"), (12346, "12350"), (0.00123456, "0.001235"),
     (math.nan, "–"), (math.inf, "–")],
)  # fmt: skip
def test_four_digits(value, text):
    assert units.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1e6, "1000000"), (100, "100"), (0.5, "0.5"), (2.5, "2.5"), (0.03, "0.03"), (0, "0")]
)
def test_ticks_have_no_zeros_at_their_end(value, text):
    assert units.plain(value) == text


@given(st.floats(1e-3, 1e15), st.integers(1, 6))
def test_a_number_keeps_its_digits(value, digits):
    assert float(units.number(value, digits)) == pytest.approx(value, rel=0.51 * 10.0 ** (1 - digits))


def test_units_fit():
    assert units.time_text(950.0) == "950.0 ns"
    assert units.time_text(1_500_000.0) == "1.500 ms"
    assert units.bandwidth_text(1.5 * 2**30) == "1.500 GiB/s"
    assert units.time_unit(math.nan).name == "ns"


@given(st.integers(0, 2**50))
def test_sizes_come_back(num_bytes):
    assert units.parse_bytes(units.bytes_text(num_bytes)) == num_bytes


@pytest.mark.parametrize("text", ["", "-1", "1.5KiB", "1KB", "x", "1 0", "99999999999999999999", "0x10", "١"])
def test_no_size(text):
    with pytest.raises(ValueError, match=r".*"):
        units.parse_bytes(text)

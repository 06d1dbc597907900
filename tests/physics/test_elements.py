# SPDX-License-Identifier: Apache-2.0
"""Times along paths have closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from elements import NOTHING, Elements, Ints


def of(*rows: list[int]) -> Ints:
    return np.array(rows, dtype=np.int32)


def test_latencies_add_up_and_the_least_bandwidth_counts() -> None:
    elements = Elements()
    first, second = elements.add(100, capacity=20), elements.add(50, flow_limit=10)
    table = elements.table()
    times = table.times_ns(of([first, second, NOTHING], [first, NOTHING, NOTHING]), 1000, 1.0)
    assert times == pytest.approx([100 + 50 + 1000 / 10, 100 + 1000 / 20])


def test_flows_that_want_more_than_there_is_share_it_evenly() -> None:
    elements = Elements()
    shared = elements.add(0, capacity=10)
    table = elements.table()
    paths = of(*[[shared]] * 8)
    # Of eight ping-pongs four send at a time.
    shares = table.shares(paths, np.zeros(8, dtype=np.int32), 1, 1e6)
    assert shares == pytest.approx(np.full((8, 1), 4.0))
    assert table.times_ns(paths, 1e6, shares) == pytest.approx(np.full(8, 4e5))


def test_flows_that_want_less_wait_as_in_a_queue() -> None:
    elements = Elements()
    shared, slow = elements.add(0, capacity=10), elements.add(9900)
    table = elements.table()
    paths = of(*[[shared, slow]] * 20)
    # Each sends 1000 bytes in 10,000 ns, half of the time: 20 of them load the element by a tenth.
    shares = table.shares(paths, np.zeros(20, dtype=np.int32), 1, 1000)
    assert shares[:, 0] == pytest.approx(np.full(20, 1 + 0.1 / (2 * 0.9)))
    assert shares[:, 1] == pytest.approx(np.ones(20))


def test_rounds_do_not_share() -> None:
    elements = Elements()
    shared = elements.add(0, capacity=10)
    paths = of([shared], [shared])
    shares = elements.table().shares(paths, np.array([0, 1], dtype=np.int32), 2, 1e6)
    assert shares == pytest.approx(np.ones((2, 1)))


def test_messages_get_through_where_no_element_loses_them() -> None:
    elements = Elements()
    first, second = elements.add(0), elements.add(0)
    table = elements.table()
    table.loss[[first, second]] = 0.1, 0.2
    assert table.loss_share(of([first, second], [first, NOTHING])) == pytest.approx([1 - 0.9 * 0.8, 0.1])

# SPDX-License-Identifier: Apache-2.0
"""Patterns of the simulation are those that the program draws, whichever of them are asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_up_diagnosis import fake_program

from leadline.bisection.simulate.patterns import Participants
from leadline.error import ExitStatus, LeadlineError

EIGHT = Participants(tuple(range(8)))
pytestmark = pytest.mark.usefixtures("real_program")


def test_random_patterns_are_the_engines():
    # As tests/samples/patterns.json has them, to which the tests of the engine keep it.
    assert EIGHT.drawn("random", seed=1, rounds=2).send_to.tolist() == [
        [1, 0, 6, 5, 7, 3, 2, 4],
        [6, 2, 1, 4, 3, 7, 0, 5],
    ]


@pytest.mark.parametrize("indices", [range(100), [3], [0, 1, 31, 32, 33, 95, 96, 97, 1 << 40], []])
def test_any_indices_come_in_order(indices: list[int]):
    found = list(EIGHT.random(7, indices))
    assert [index for index, _ in found] == list(indices)
    for index, send_to in found:
        assert np.array_equal(send_to, EIGHT.drawn("random", 7, index).send_to[0])


def test_who_takes_part():
    hosts = (0, 0, 1, 0, 1, 2)
    for per_host, playing in (
        (0, [0, 1, 2, 3, 4, 5]),
        (1, [0, 2, 5]),
        (2, [0, 1, 2, 4, 5]),
    ):
        participants = Participants(hosts, per_host, within_hosts=True)
        assert participants.num_participants == len(playing)
        (send_to,) = participants.drawn("shift:1").send_to
        assert np.flatnonzero(send_to >= 0).tolist() == playing
    with pytest.raises(LeadlineError, match="1 rank forms no pair"):
        _ = Participants((0, 0), 1).num_participants


def test_pairs_lie_on_one_host_where_they_may():
    apart, together = (Participants((0, 0, 0, 1), within_hosts=within) for within in (False, True))
    sends = [[int((drawn >= 0).sum()) for drawn in one.drawn("random", rounds=9).send_to] for one in (apart, together)]
    assert sends == [[2] * 9, [4] * 9]


def test_named_patterns_come_first():
    drawn = EIGHT.drawn("random,halves,tornado:2", rounds=3)
    assert (drawn.names, drawn.has_random, len(drawn.send_to)) == (
        ("halves", "tornado:2"),
        True,
        5,
    )
    assert drawn.named["halves"].tolist() == [4, 5, 6, 7, 0, 1, 2, 3]
    assert list(EIGHT.drawn("shift-each").named) == [f"shift:{distance}" for distance in range(1, 8)]
    assert not EIGHT.drawn("reversal").has_random


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("halfs", "--pattern cannot be 'halfs'"),
        ("shift:8", "Choose 1 to 7"),
        ("halves,halves", "asked for twice"),
    ],
)
def test_words_that_are_no_patterns(words: str, why: str):
    with pytest.raises(LeadlineError, match=why) as caught:
        EIGHT.drawn(words)
    assert caught.value.status == ExitStatus.BAD_COMMAND_LINE


def test_a_program_that_draws_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = "next(word for word in sys.argv if word.startswith('--output=')).partition('=')[2]"
    table = f"import numpy; numpy.save(open({path}, 'wb'), numpy.zeros((1, 3), dtype=numpy.int32))\n"
    said = 'print(\'{"num_participants": 8, "patterns": ["random"]}\')'
    monkeypatch.setenv("LEADLINE_PROGRAM", str(fake_program(tmp_path, table + said)))
    with pytest.raises(LeadlineError, match="no table of 8 ranks"):
        EIGHT.drawn("random")

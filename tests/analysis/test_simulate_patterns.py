# SPDX-License-Identifier: Apache-2.0
"""Patterns of the simulation are the engine's own: the same numbers, participants, matchings and names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.error import LeadlineError
from leadline.model import NO_RANK
from leadline.simulate.named_patterns import named_pattern, parse_patterns
from leadline.simulate.patterns import Participants, random_pattern
from leadline.simulate.random import Random, mix64

# The engine's tests keep these to its own patterns.
SAMPLES = json.loads((Path(__file__).resolve().parents[1] / "samples" / "patterns.json").read_text())


def test_numbers_are_those_of_the_published_generators():
    # splitmix64 from 1234567, and the engine's seeding of xoshiro256** (tests/core/random_test.cpp).
    assert mix64(1234567 + 0x9E3779B97F4A7C15) == 6457827717110365317
    random = Random(1, 2)
    assert [random.next(), random.next()] == [1616373938809070510, 9013835436248551033]
    largest = Random((1 << 64) - 1, (1 << 64) - 1)
    assert 0 <= largest.next() < 1 << 64


def participants_of(sample: dict[str, Any]) -> Participants:
    hosts = sample["host_of"] or range(sample["num_ranks"])
    return Participants(tuple(hosts), sample["per_host"], sample["within_hosts"])


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample["kind"] == "random"])
def test_random_patterns_are_the_engines(sample: dict[str, Any]):
    participants = participants_of(sample)
    found = random_pattern(participants, participants.ranks(), sample["seed"], sample["index"])
    assert found.tolist() == sample["send_to"]


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample["kind"] == "named"])
def test_named_patterns_are_the_engines(sample: dict[str, Any]):
    ranks = participants_of(sample).ranks()
    names, has_random = parse_patterns("--pattern", sample["name"], len(ranks))
    assert (names, has_random) == ([sample["name"]], False)
    assert named_pattern(sample["name"], sample["num_ranks"], ranks).tolist() == sample["send_to"]


@settings(max_examples=60)
@given(
    hosts=st.lists(st.integers(0, 3), min_size=2, max_size=12),
    within_hosts=st.booleans(),
    seed=st.integers(0, (1 << 64) - 1),
    index=st.integers(0, 1 << 40),
)
def test_a_random_pattern_is_a_matching_as_large_as_can_be(hosts: list[int], within_hosts: bool, seed: int, index: int):
    participants = Participants(tuple(hosts), 0, within_hosts)
    send_to = random_pattern(participants, participants.ranks(), seed, index)
    senders = np.flatnonzero(send_to != NO_RANK)
    assert np.array_equal(send_to[send_to[senders]], senders)
    assert not np.any(send_to[senders] == senders)
    fullest = max(hosts.count(host) for host in hosts)
    most = len(hosts) // 2 if within_hosts else min(len(hosts) // 2, len(hosts) - fullest)
    assert len(senders) == 2 * most
    if not within_hosts:
        assert all(hosts[rank] != hosts[send_to[rank]] for rank in senders)


def test_every_index_and_seed_is_another_pattern():
    participants = Participants(tuple(range(32)))
    found = {
        tuple(random_pattern(participants, participants.ranks(), seed, index))
        for seed in range(4)
        for index in range(25)
    }
    assert len(found) == 100


def test_participants_are_the_lowest_ranks_of_each_host():
    assert Participants((0, 0, 1, 0, 1, 2)).ranks() == (0, 1, 2, 3, 4, 5)
    assert Participants((0, 0, 1, 0, 1, 2), 1).ranks() == (0, 2, 5)
    assert Participants((0, 0, 1, 0, 1, 2), 2).ranks() == (0, 1, 2, 4, 5)
    with pytest.raises(LeadlineError, match="1 ranks form no pair"):
        Participants((0, 0), 1).ranks()


@pytest.mark.parametrize(
    ("name", "num", "send_to"),
    [
        ("halves", 6, [3, 4, 5, 0, 1, 2]),
        ("halves", 5, [2, 3, 0, 1, -1]),
        ("reversal", 5, [4, 3, -1, 1, 0]),
        ("neighbour", 5, [1, 0, 3, 2, -1]),
        ("bit-reversal", 9, [-1, 4, -1, 6, 1, -1, 3, -1, -1]),
        ("transpose", 6, [-1, 2, 4, 1, 3, -1]),
        ("shift:2", 5, [2, 3, 4, 0, 1]),
        ("tornado:2", 8, [2, 3, 4, 5, 6, 7, 0, 1]),
        ("tornado:1", 7, [3, 4, 5, 6, 0, 1, 2]),
    ],
)
def test_named_patterns(name: str, num: int, send_to: list[int]):
    assert named_pattern(name, num, range(num)).tolist() == send_to


def test_named_patterns_are_over_those_that_play():
    assert named_pattern("shift:1", 6, (0, 2, 5)).tolist() == [2, -1, 5, -1, -1, 0]


def test_lists_of_patterns():
    assert parse_patterns("--pattern", "random", 8) == ([], True)
    assert parse_patterns("--pattern", "halves,tornado:2,random", 8) == (["halves", "tornado:2"], True)
    assert parse_patterns("--pattern", "shift-each", 4) == (["shift:1", "shift:2", "shift:3"], False)


@pytest.mark.parametrize(
    ("words", "num", "why"),
    [
        ("halfs", 8, "there is no such pattern"),
        ("", 8, "there is no such pattern"),
        ("halves:2", 8, "nothing may follow 'halves'"),
        ("shift", 8, "'' is no distance"),
        ("shift:0", 8, "'0' is no distance"),
        ("shift:x", 8, "'x' is no distance"),
        ("shift:8", 8, "Choose 1 to 7"),
        ("tornado:3", 8, "for example tornado:2"),
        ("tornado:8", 8, "for example tornado:4"),
        ("tornado", 8, "number of participants in a group"),
        ("transpose", 7, "7 is prime"),
        ("bit-reversal", 3, "none would send"),
        ("halves,halves", 8, "asked for twice"),
        ("random,random", 8, "asked for twice"),
        ("shift:1,shift-each", 8, "asked for twice"),
        ("shift:1,shift:01", 8, "asked for twice"),
    ],
)
def test_words_that_are_no_patterns(words: str, num: int, why: str):
    with pytest.raises(LeadlineError, match=why) as caught:
        parse_patterns("--pattern", words, num)
    assert "--pattern cannot be" in str(caught.value)
    assert caught.value.status == 2

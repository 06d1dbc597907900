# SPDX-License-Identifier: Apache-2.0
"""Patterns of `leadline cost`: who sends to whom in which stage, and which words and files are refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.cost import Pattern, all_to_all, halo, parse_pattern, read_pattern, ring, tree
from leadline.cost.pattern import CHOSEN_SIZE, even_extents
from leadline.cost.starts import brick_order, bricks
from leadline.error import ExitStatus, LeadlineError


def entries(pattern: Pattern) -> list[tuple[int, int, int, int]]:
    """Stage, from, to, count."""
    found = pattern.messages
    assert found is not None
    columns = (found.stage, found.from_rank, found.to_rank, found.count)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_a_ring():
    assert entries(ring(3)) == [(0, 0, 1, 1), (0, 1, 2, 1), (0, 2, 0, 1)]
    assert entries(ring(2)) == [(0, 0, 1, 1), (0, 1, 0, 1)]


def test_a_halo_has_no_neighbours_beyond_its_ends():
    # 0 1 2
    # 3 4 5
    sent = {rank: [to for _, sender, to, _ in entries(halo((3, 2))) if sender == rank] for rank in range(6)}
    assert sent == {0: [1, 3], 1: [0, 2, 4], 2: [1, 5], 3: [0, 4], 4: [1, 3, 5], 5: [2, 4]}


def test_joined_ends_of_two_meet_twice():
    assert entries(halo((2, 1), is_periodic=True)) == [(0, 0, 1, 2), (0, 1, 0, 2)]
    assert halo((4, 4, 4), is_periodic=True).num_messages == 64 * 6


@given(st.lists(st.integers(1, 5), min_size=2, max_size=3), st.booleans())
def test_a_halo_is_symmetric(extents: list[int], is_periodic: bool):
    pattern = halo(extents, is_periodic)
    both = {(sender, to): count for _, sender, to, count in entries(pattern)}
    assert all(both[to, sender] == count for (sender, to), count in both.items())
    assert all(sender != to for sender, to in both)
    lines = [math.prod(extents) // extent for extent in extents]
    each = [extent if is_periodic and extent > 1 else extent - 1 for extent in extents]
    assert pattern.num_messages == 2 * sum(line * num for line, num in zip(lines, each, strict=True))


@given(st.integers(2, 70), st.sampled_from([None, 2, 3, 8]))
def test_a_tree_reaches_every_rank_once(num_ranks: int, arity: int | None):
    pattern = tree(num_ranks, arity)
    reached = {0: -1}
    for stage, sender, to, count in sorted(entries(pattern)):
        assert sender in reached, "it has got the message itself"
        assert reached[sender] < stage, "in a stage before"
        assert to not in reached
        assert count == 1
        reached[to] = stage
    assert sorted(reached) == list(range(num_ranks))
    assert {stage for stage, *_ in entries(pattern)} == set(range(pattern.num_stages))
    if arity is None:
        senders = [(stage, sender) for stage, sender, *_ in entries(pattern)]
        assert len(set(senders)) == len(senders), "one message a stage and rank"
        assert pattern.num_stages == math.ceil(math.log2(num_ranks))


def test_all_to_all_is_not_listed():
    assert all_to_all(5).messages is None
    assert (all_to_all(5).num_messages, all_to_all(5).num_stages) == (20, 4)


@pytest.mark.parametrize(
    ("num_ranks", "num_dimensions", "expected"),
    [(12, 2, (4, 3)), (16, 2, (4, 4)), (7, 2, (7, 1)), (64, 3, (4, 4, 4)), (24, 3, (4, 3, 2)), (1, 3, (1, 1, 1))],
)
def test_extents_are_as_even_as_can_be(num_ranks: int, num_dimensions: int, expected: tuple[int, ...]):
    assert even_extents(num_ranks, num_dimensions) == expected


def test_bricks_fill_the_grid():
    assert bricks((4, 4), 4) == [(2, 2), (1, 4), (4, 1)]
    assert bricks((3, 5), 4) == []
    assert bricks((), 1) == []
    assert brick_order((4, 2), (2, 2)).tolist() == [0, 1, 4, 5, 2, 3, 6, 7]


@pytest.mark.parametrize(
    ("word", "num_ranks", "name"),
    [
        ("ring", 3, "ring"),
        ("tree", 5, "tree"),
        ("tree:3", 5, "tree:3"),
        ("all-to-all", 4, "all-to-all"),
        ("halo-2d", 32, "halo-2d:8x4"),
        ("halo-2d:4x8", 32, "halo-2d:4x8"),
        ("halo-3d,periodic", 8, "halo-3d:2x2x2,periodic"),
        ("halo-3d:8x1x1,periodic", 8, "halo-3d:8x1x1,periodic"),
    ],
)
def test_names(word: str, num_ranks: int, name: str):
    pattern = parse_pattern(word, num_ranks)
    assert (pattern.name, pattern.num_ranks) == (name, num_ranks)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("rings", "nor such a file"),
        ("", "nor such a file"),
        ("ring:2", "nothing behind its name"),
        ("all-to-all,periodic", "nothing behind its name"),
        ("tree:", "an arity of 2 or more"),
        ("tree:1", "an arity of 2 or more"),
        ("tree:-2", "an arity of 2 or more"),
        ("tree:2x2", "an arity of 2 or more"),
        ("halo-2d:8", "has 2 extents"),
        ("halo-2d:2x2x2", "has 2 extents"),
        ("halo-3d:2x4", "has 3 extents"),
        ("halo-2d:0x8", "has 2 extents"),
        ("halo-2d:axb", "has 2 extents"),
        ("halo-2d:4x2,round", "has 2 extents"),
        ("halo-2d:", "has 2 extents"),
        ("halo-2d:3x2", "no such grid of 8 ranks (3 x 2 is 6)"),
    ],
)
def test_no_names(word: str, says: str):
    with pytest.raises(LeadlineError) as wrong:
        parse_pattern(word, 8)
    assert says in str(wrong.value)
    assert wrong.value.status is ExitStatus.BAD_COMMAND_LINE


def test_one_rank_has_nobody():
    with pytest.raises(LeadlineError, match="no other rank to send to"):
        parse_pattern("ring", 1)


def test_a_file(tmp_path: Path):
    path = tmp_path / "messages"
    path.write_text("\ufeff# who sends to whom\n\n0 1\n1 0 5 # five\n  3\t2 7 64KiB\n0 1 2\n3 2 1 1024\n")
    pattern = parse_pattern(str(path), 4)
    assert entries(pattern) == [(0, 0, 1, 3), (0, 1, 0, 5), (0, 3, 2, 1), (0, 3, 2, 7)]
    assert pattern.messages is not None
    assert pattern.messages.size_bytes.tolist() == [CHOSEN_SIZE, CHOSEN_SIZE, 1024, 65536]
    assert (pattern.num_messages, pattern.num_stages) == (16, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it names no messages"),
        ("# nothing\n", "it names no messages"),
        ("0 1\n0\n", "line 2: 1 word"),
        ("0 1 2 3 4\n", "line 1: 5 words"),
        ("0 8\n", "line 1: there is no rank 8"),
        ("-1 2\n", "line 1: '-1' is no rank"),
        ("a b\n", "line 1: 'a' is no rank"),
        ("0 1.5\n", "line 1: '1.5' is no rank"),
        ("0 ²\n", "line 1: '²' is no rank"),
        ("3 3\n", "line 1: rank 3 sends to itself"),
        ("0 1 0\n", "line 1: '0' is no number of messages"),
        ("0 1 -4\n", "line 1: '-4' is no number of messages"),
        ("0 1 1e3\n", "line 1: '1e3' is no number of messages"),
        ("0 1 9999999999999\n", "is no number of messages"),
        ("0 1 1000000000000\n0 2\n", "more than 1,000,000,000,000 messages"),
        ("0 1 1 large\n", "line 1: 'large' is no size"),
        ("0 1\0\n", "it is no text"),
    ],
)
def test_no_files(tmp_path: Path, text: str, says: str):
    path = tmp_path / "messages"
    path.write_text(text)
    with pytest.raises(LeadlineError) as wrong:
        read_pattern(path, 8)
    assert says in str(wrong.value)
    assert wrong.value.status is ExitStatus.BAD_COMMAND_LINE


def test_what_is_no_file(tmp_path: Path):
    with pytest.raises(LeadlineError, match="it is no file"):
        parse_pattern(str(tmp_path), 8)
    (tmp_path / "bytes").write_bytes(np.arange(256, dtype=np.uint8).tobytes())
    with pytest.raises(LeadlineError, match="it is no text"):
        parse_pattern(str(tmp_path / "bytes"), 8)
    with pytest.raises(LeadlineError, match="cannot read"):
        read_pattern(tmp_path / "absent", 8)

# SPDX-License-Identifier: Apache-2.0
"""Results of the bisection test come back as they were written, and what is no result says so in one line."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from damage import Change, attribute, changed, in_chunks, line_of, put, remove, replace
from made_up_bisection import (
    MADE_UP_BISECTIONS,
    MadeUpBisection,
    killed,
    loaded,
    never_begun,
    odd,
    only_named,
    read_all,
    slow_host,
    write_bisection,
)

import leadline
from leadline.bisection.result import NO_RANK, BisectionResult, PatternKind


@pytest.fixture(scope="module")
def known_contents(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_bisection(tmp_path_factory.mktemp("known") / "run.h5", slow_host()).read_bytes()


@pytest.fixture
def bisection_file(known_contents: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "run.h5"
    path.write_bytes(known_contents)
    return path


def message_of(path: Path, read: Callable[[BisectionResult], object] = read_all) -> str:
    return line_of(path, read)


def test_head_and_patterns(bisection_file: Path):
    result = leadline.load_bisection(bisection_file)
    assert (result.num_ranks, len(result.hosts), result.nonce) == (64, 16, "a1b2c3")
    assert (result.num_participants, result.num_exchanges, result.seed, result.within_hosts) == (64, 20, 7, False)
    assert result.pattern_names == ("halves", "reversal", "shift:1", "tornado:8")
    assert (result.active_ranks_per_host, result.precision, result.threshold) == (0, 0.01, 0.2)
    assert result.stopped_by == ("precision", "time_limit")
    assert result.max_patterns == 200 + 4 * 2 + 12
    patterns = result.patterns("1MiB")
    assert len(patterns) == 85 + 8 + 12
    assert patterns.number.tolist() == list(range(105))
    assert [len(patterns.of_kind(kind)) for kind in ("random", "named", "worst")] == [85, 8, 12]
    assert result.patterns("1MiB", "named").index.tolist() == [0, 1, 2, 3] * 2
    assert result.patterns("1MiB", PatternKind.NAMED).repeat.tolist() == [0] * 4 + [1] * 4
    assert result.patterns("1MiB", "random").index.tolist() == list(range(85))
    assert result.pattern_name(1, 2) == "shift:1"
    assert result.pattern_name(0, 17) == "random 17"
    assert result.pattern_name(2, 3) == "worst, step 4"
    assert not patterns.accepted[:93].any()


@pytest.mark.parametrize("name", sorted(MADE_UP_BISECTIONS))
def test_the_tables_fit_the_matrices(name: str, tmp_path: Path):
    result = loaded(MADE_UP_BISECTIONS[name](), tmp_path)
    read_all(result)
    for size in result.message_sizes_bytes:
        patterns = result.patterns(size)
        for number in range(0, len(patterns), 7):
            found = result.connections(number, size)
            assert len(found.from_rank) == patterns.num_connections[number]
            assert np.nanmean(found.bytes_per_s) == pytest.approx(patterns.bytes_per_s_mean[number])
            slowest = int(np.nanargmin(found.bytes_per_s))
            assert (found.from_rank[slowest], found.to_rank[slowest]) == (
                patterns.slowest_from[number],
                patterns.slowest_to[number],
            )
            assert np.nanmax(found.full_load_time_ns / found.time_ns) == pytest.approx(1.04)


def test_every_way_to_a_column_is_the_same(bisection_file: Path):
    """Rows are longer than a page, and read whole, in pieces, or by one cell."""
    result = leadline.load_bisection(bisection_file)
    with h5py.File(bisection_file) as file:
        whole = file["bisection/time_ns"][1, :, :105]
        send_to = file["bisection/send_to"][1, :, :105]
    assert np.array_equal(result.reader.times(1, "time_ns", (0, 64), (0, 105)), whole)
    assert np.array_equal(result.reader.times(1, "time_ns", (5, 9), (30, 31)), whole[5:9, 30:31])
    assert np.array_equal(result.reader.partners(1, "send_to", (60, 64), (3, 90)), send_to[60:64, 3:90])
    assert result.reader.times(1, "time_ns", (3, 3), (0, 5)).shape == (0, 5)
    first, *_, last = result.rank_blocks(105, 1050)
    assert (first, last) == ((0, 10), (60, 64))


def test_long_rows(tmp_path: Path):
    made = MadeUpBisection(["a", "b", "c", "d"], num_random=[30], rounds=4000, leaf=2, is_replayable=False)
    result = loaded(made, tmp_path)
    with h5py.File(result.path) as file:
        whole = file["bisection/time_ns"][0]
    assert np.array_equal(result.reader.times(0, "time_ns", (1, 4), (4, 30)), whole[1:4, 4:30])
    assert np.isnan(result.reader.times(0, "time_ns", (0, 4), (30, 31))).all()
    assert len(result.patterns()) == 30


def test_a_rank_that_rests(tmp_path: Path):
    result = loaded(odd(), tmp_path)
    times = result.reader.times(0, "time_ns", (0, 7), (0, 30))
    send_to = result.reader.partners(0, "send_to", (0, 7), (0, 30))
    assert np.array_equal(np.isnan(times), send_to == NO_RANK)
    assert (np.isnan(times).sum(axis=0) == 1).all()
    assert len(result.connections(0).from_rank) == 6


def test_pairs_alone(tmp_path: Path):
    result = loaded(slow_host(), tmp_path)
    found = result.baseline("64KiB")
    assert len(found.number) == 2 * 124
    assert found.bytes_per_s == pytest.approx(65536e9 / found.time_ns)
    for number, from_rank, to_rank in zip(found.number[:9], found.from_rank, found.to_rank, strict=False):
        of_pattern = result.connections(int(number), "64KiB")
        assert of_pattern.to_rank[of_pattern.from_rank == from_rank] == to_rank


def test_slow_connections_of_the_summary(tmp_path: Path):
    result = loaded(slow_host(), tmp_path)
    assert [one.size_index for one in result.slow_connections] == [0, 0, 0, 1, 1, 1]
    first = result.slow_connections[3]
    found = result.connections(first.number, "1MiB")
    assert found.time_ns[found.from_rank == first.from_rank] == pytest.approx(first.time_ns)
    assert math.isfinite(first.alone_time_ns)


def test_a_killed_run_has_what_it_measured(tmp_path: Path):
    result = loaded(killed(), tmp_path)
    assert not result.complete
    assert "rank 5 on node02 was lost" in result.incomplete_reason
    assert result.summary is None
    assert result.stopped_by == ("", "", "")
    assert result.slow_connections == ()
    assert [len(result.patterns(size)) for size in result.message_sizes_bytes] == [40, 31, 0]
    last = result.connections(30, "64KiB")
    assert last.to_rank[np.isnan(last.time_ns)].tolist() == [5]
    assert np.isnan(last.bytes_per_s[last.to_rank == 5]).all()


def test_a_run_that_had_not_begun(tmp_path: Path):
    result = loaded(never_begun(), tmp_path)
    assert len(result.patterns()) == len(result.baseline().number) == 0
    with pytest.raises(leadline.LeadlineError, match=r"there is no pattern 0\. There is none"):
        result.connections(0)


def test_without_random_patterns_and_pairs_alone(tmp_path: Path):
    result = loaded(only_named(), tmp_path)
    assert result.stopped_by == ("",)
    assert len(result.patterns(kind="named")) == 3
    assert len(result.baseline().time_ns) == 0


def test_names_that_are_not_there(bisection_file: Path):
    for read, reason in (
        (lambda result: result.patterns(), "the result has several message sizes; say which. It has size=64 KiB, 1"),
        (lambda result: result.patterns(7), "the result has no such message size. It has size=64 KiB, 1 MiB"),
        (lambda result: result.patterns("much"), "'much' is no size"),
        (lambda result: result.patterns("1MiB", "odd"), "there is no kind of pattern odd. There is random, named, wo"),
        (lambda result: result.connections(105, "1MiB"), "there is no pattern 105. There is 0 to 104"),
    ):
        assert reason in message_of(bisection_file, read)


def test_a_file_in_chunks_reads_the_same(bisection_file: Path):
    names = ("send_to", "time_ns", "full_load_time_ns", "patterns/index", "patterns/measuring_s", "baseline/time_ns")
    other = in_chunks(bisection_file, (f"bisection/{name}" for name in names))
    ours, theirs = leadline.load(bisection_file), leadline.load(other)
    assert isinstance(ours, BisectionResult)
    assert isinstance(theirs, BisectionResult)
    for number in (0, 90, 104):
        one, two = ours.connections(number, "1MiB"), theirs.connections(number, "1MiB")
        assert np.array_equal(one.time_ns, two.time_ns)
        assert np.array_equal(one.to_rank, two.to_rank)
    assert np.array_equal(ours.baseline("1MiB").time_ns, theirs.baseline("1MiB").time_ns)


def summary(change_text: Callable[[str], str]) -> Change:
    def change(file: h5py.File) -> None:
        text = file["summary"][()].decode()
        del file["summary"]
        file["summary"] = change_text(text)

    return change


DAMAGES: dict[str, tuple[Change, str]] = {
    "no group": (remove("bisection"), "/bisection is missing"),
    "no seed": (lambda file: file["bisection"].attrs.__delitem__("seed"), "damaged"),
    "too many participants": (attribute("bisection/num_participants", 65), "has 65 participants of 64 ranks"),
    "no exchanges": (attribute("bisection/num_exchanges", 0), "0 exchanges"),
    "no times": (remove("bisection/time_ns"), "/bisection/time_ns is missing"),
    "no partners": (remove("bisection/send_to"), "/bisection/send_to is missing"),
    "flat times": (replace("bisection/time_ns", np.zeros(20)), "/bisection/time_ns has the shape (20,)"),
    "other ranks": (replace("bisection/time_ns", np.zeros((2, 63, 220))), "has the shape (2, 63, 220)"),
    "other patterns": (replace("bisection/send_to", np.zeros((2, 64, 219), "i4")), "int32 of the shape (2, 64, 219)"),
    "partners without sign": (replace("bisection/send_to", np.zeros((2, 64, 220), "u4")), "/bisection/send_to is uint"),
    "whole times": (replace("bisection/full_load_time_ns", np.zeros((2, 64, 220), "i8")), "is int64"),
    "no kinds": (remove("bisection/patterns/kind"), "/bisection/patterns/kind is missing"),
    "short table": (replace("bisection/patterns/begin_s", np.zeros((2, 3))), "/bisection/patterns/begin_s is float64"),
    "half a baseline": (remove("bisection/baseline/to"), "/bisection/baseline/to is missing"),
    "flat baseline": (replace("bisection/baseline/time_ns", np.zeros(3)), "/bisection/baseline/time_ns has the shape"),
    "a kind of tomorrow": (put("bisection/patterns/kind", (0, 3), 3), "kind of pattern 3 of size 0 cannot be"),
    "a name too many": (put("bisection/patterns/index", (0, 124), 4), "index of pattern 124 of size 0 cannot be"),
    "a crowd": (put("bisection/patterns/num_connections", (0, 3), 65), "num_connections of pattern 3 of size 0 cannot"),
    "a stranger": (put("bisection/patterns/slowest_to", (0, 3), 64), "slowest_to of pattern 3 of size 0 cannot be"),
    "a huge number": (put("bisection/patterns/index", (0, 3), 2**63), "/bisection/patterns/index has values that no m"),
    "a negative mean": (put("bisection/patterns/bytes_per_s_mean", (0, 3), -1), "bytes_per_s_mean has values that no"),
    "no number": (put("bisection/patterns/begin_s", (0, 3), np.nan), "begin_s has values that no measurement gives"),
    "a partner of nowhere": (put("bisection/send_to", (1, 3, 3), 64), "/bisection/send_to names a rank that is not th"),
    "a partner below none": (put("bisection/receive_from", (1, 3, 3), -2), "/bisection/receive_from names a rank that"),
    "a negative time": (put("bisection/time_ns", (1, 3, 3), -1), "/bisection/time_ns has values that no measurement g"),
    "an endless time": (put("bisection/time_ns", (1, 3, 3), np.inf), "/bisection/time_ns has values that no measureme"),
    "a pair of nowhere": (put("bisection/baseline/from", (0, 0), 64), "/bisection/baseline names a rank that is not t"),
    "a size of nowhere": (summary(lambda text: text.replace('"size_index": 1', '"size_index": 2')), "/summary has th"),
    "a slow stranger": (summary(lambda text: text.replace('"from": ', '"from": 9')), "/summary has the slow connect"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged(bisection_file: Path, name: str):
    change, reason = DAMAGES[name]
    assert reason in message_of(changed(bisection_file, change))


def test_what_lies_behind_the_last_pattern_means_nothing(bisection_file: Path):
    with h5py.File(bisection_file, "r+") as file:
        file["bisection/send_to"][0, :, 200:] = 12345
        file["bisection/patterns/kind"][0, 200:] = 77
    read_all(leadline.load(bisection_file))  # type: ignore[arg-type]


def test_a_claim_of_many_patterns_costs_no_memory(tmp_path: Path):
    path = write_bisection(tmp_path / "run.h5", MadeUpBisection(["a", "b"], num_random=[0], rounds=1 << 22, leaf=2))
    result = leadline.load_bisection(path)
    assert (len(result.patterns()), result.max_patterns) == (0, 1 << 22)

# SPDX-License-Identifier: Apache-2.0
"""`leadline bisection` over every transport: numbers that fit, files, patterns, stopping, lost ranks, plans."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import program
import pytest
from fabrics import FABRIC, fabric_file
from program import Done, Leadline
from result import schema_of, summary_of, wrong_json

FEW = ["--exchanges", "4", "--warmup", "1", "--wait", "yield", "--quiet"]
STUDENT_T = {4: 3.182446, 5: 2.776445, 6: 2.570582}  # 97.5 %, by the number of samples
Bisection = Callable[..., Done]


@pytest.fixture
def bisection(leadline: Leadline) -> Bisection:
    """Runs `leadline bisection` with few exchanges; it must end well unless `status` says otherwise."""

    def run(*words: str | Path, status: int = 0, few: list[str] = FEW, **options: Any) -> Done:
        done = leadline("bisection", *words, *few, **options)
        assert done.status == status, f"status {done.status}\n{done.err}"
        return done

    return run


class Matrices:
    """What the ranks wrote, of one message size: an array of ranks by patterns each."""

    def __init__(self, path: Path, size: int = 0) -> None:
        with h5py.File(path, "r", locking=False) as file:
            group = file["bisection"]
            there = group["patterns/measuring_s"][size] > 0
            self.send_to = group["send_to"][size][:, there]
            self.receive_from = group["receive_from"][size][:, there]
            self.time_ns = group["time_ns"][size][:, there]
            self.full_load_time_ns = group["full_load_time_ns"][size][:, there]
            self.patterns = {name: group["patterns"][name][size][there] for name in group["patterns"]}
            self.size_bytes = int(file["message_size_bytes"][size])

    def random(self) -> np.ndarray:
        """Partners in the random patterns."""
        return np.asarray(self.send_to[:, self.patterns["kind"] == 0])


def pairs_of(send_to: np.ndarray) -> set[tuple[int, int]]:
    return {(rank, int(to)) for rank, to in enumerate(send_to) if to >= 0}


def expect_numbers_that_fit(document: dict[str, Any]) -> None:
    """What the summary of each size says follows from its patterns and pairs alone."""
    for size in document["sizes"]:
        index, length = size["size_index"], size["message_size_bytes"]
        patterns = [one for one in document["patterns"] if one["size_index"] == index]
        assert [one["number"] for one in patterns] == list(range(len(patterns)))
        random = [one for one in patterns if one["kind"] == "random"]
        assert [one["index"] for one in random] == list(range(size["num_patterns"]))
        assert sum(one["num_connections"] for one in random) == size["num_connections"]
        means = np.array([one["bytes_per_s_mean"] for one in random])
        assert size["ebb"]["num"] == len(means)
        assert size["ebb"]["bytes_per_s_mean"] == pytest.approx(means.mean())
        if len(means) in STUDENT_T:
            half_width = STUDENT_T[len(means)] * means.std(ddof=1) / np.sqrt(len(means))
            assert size["ebb"]["bytes_per_s_half_width"] == pytest.approx(half_width, rel=1e-5)
        times = np.array([one["time_ns_mean"] for one in random])
        counts = np.array([one["num_connections"] for one in random])
        harmonic = 1e9 * length * counts.sum() / (times * counts).sum()
        assert size["bytes_per_s_harmonic"] == pytest.approx(harmonic)
        assert size["bytes_per_s_harmonic"] <= size["ebb"]["bytes_per_s_mean"] * (1 + 1e-9)
        quantiles = [size[f"bytes_per_s_{name}"] for name in ("min", "p01", "p05", "median", "max")]
        assert quantiles == sorted(quantiles)
        assert quantiles[0] == pytest.approx(min(one["bytes_per_s_min"] for one in random))
        assert quantiles[-1] == pytest.approx(max(one["bytes_per_s_max"] for one in random))
        assert sum(bucket["num"] for bucket in size["buckets"]) == size["num_connections"]
        alone = [1e9 * length / one["time_ns"] for one in document["baseline"] if one["size_index"] == index]
        assert size["baseline"]["num"] == len(alone)
        assert size["baseline"]["bytes_per_s_mean"] == pytest.approx(np.mean(alone))
        assert size["static_share"]["mean"] == pytest.approx(np.mean(alone) / max(alone))
        assert size["tail"] == pytest.approx(size["bytes_per_s_median"] / size["bytes_per_s_p01"])
        slow = [one["time_ns"] for one in document["slow_connections"] if one["size_index"] == index]
        assert slow == sorted(slow, reverse=True)


def expect_file_that_fits(path: Path, document: dict[str, Any]) -> None:
    """The matrices say the same as the summary."""
    for size in range(len(document["sizes"])):
        matrices = Matrices(path, size)
        patterns = [one for one in document["patterns"] if one["size_index"] == size]
        assert matrices.send_to.shape[1] == len(patterns)
        ranks = np.arange(len(matrices.send_to))
        for column, pattern in enumerate(patterns):
            to, time_ns = matrices.send_to[:, column], matrices.time_ns[:, column]
            sends = to >= 0
            assert sends.sum() == pattern["num_connections"]
            receivers = to[sends]
            assert (matrices.receive_from[receivers, column] == ranks[sends]).all()
            assert ((time_ns > 0) == (matrices.receive_from[:, column] >= 0)).all()
            bandwidth = 1e9 * matrices.size_bytes / time_ns[receivers]
            assert bandwidth.mean() == pytest.approx(pattern["bytes_per_s_mean"])
            assert bandwidth.min() == pytest.approx(pattern["bytes_per_s_min"])
            slowest = ranks[sends][bandwidth.argmin()]
            assert (slowest, to[slowest]) == (pattern["slowest_from"], pattern["slowest_to"])
            harmonic = 1e9 * matrices.size_bytes / time_ns[receivers].mean()
            assert harmonic == pytest.approx(pattern["bytes_per_s_harmonic"])
            full_load = 1e9 * matrices.size_bytes / matrices.full_load_time_ns[receivers, column]
            assert full_load.mean() == pytest.approx(pattern["bytes_per_s_full_load"])
            kinds = ["random", "named", "worst"]
            assert kinds[matrices.patterns["kind"][column]] == pattern["kind"]
            assert matrices.patterns["index"][column] == pattern["index"]
            assert matrices.patterns["bytes_per_s_mean"][column] == pytest.approx(pattern["bytes_per_s_mean"])
        together, alone = [], []
        for sample in document["baseline"]:
            if sample["size_index"] == size:
                ends = [sample["from"], sample["to"]]
                assert tuple(ends) in pairs_of(matrices.send_to[:, sample["number"]])
                together.append((1e9 * matrices.size_bytes / matrices.time_ns[ends, sample["number"]]).mean())
                alone.append(1e9 * matrices.size_bytes / sample["time_ns"])
        share = document["sizes"][size]["contention_share"]
        if 0 < share["num"] < 10:  # from then on chance of the draw is taken off
            assert share["mean"] == pytest.approx(sum(together) / sum(alone))


@pytest.mark.parametrize("how", ["tcp", "model", "mpirun.openmpi", "mpiexec.hydra"])
def test_every_transport(bisection: Bisection, tmp_path: Path, how: str) -> None:
    words: list[str | Path] = ["--pattern", "random,halves,shift-each", "--repeat", "2", "--worst", "3", "--rounds",
                               "6", "--message-size", "1KiB,70000", "--output", "r.h5"]  # fmt: skip
    if how in ("tcp", "model"):
        bisection("--local", "4", "--transport", how if how == "tcp" else fabric_file(tmp_path), *words)
    else:
        if shutil.which(how) is None:
            pytest.skip(f"{how} is not installed")
        launcher = [how, *(["--oversubscribe"] if "openmpi" in how else []), "-n", "4"]
        done = program.complete([*launcher, program.PROGRAM, "bisection", *words, *FEW], tmp_path)
        assert done.status == 0, done.err
    document = summary_of(tmp_path / "r.h5")
    assert wrong_json(document, schema_of("bisection")) == []
    assert document["complete"] is True
    assert document["pattern_names"] == ["halves", "shift:1", "shift:2", "shift:3"]
    assert document["num_participants"] == 4
    kinds = [one["kind"] for one in document["patterns"]]
    assert kinds == (["random"] * 6 + ["named"] * 8 + ["worst"] * 3) * 2
    assert [size["stopped_by"] for size in document["sizes"]] == ["rounds"] * 2
    expect_numbers_that_fit(document)
    expect_file_that_fits(tmp_path / "r.h5", document)


def test_the_text_says_what_the_file_says(bisection: Bisection, tmp_path: Path) -> None:
    done = bisection("--local", "4", "--rounds", "5", "--message-size", "64KiB", "--output", "r.h5")
    (size,) = summary_of(tmp_path / "r.h5")["sizes"]
    found = re.search(r"\nmessage size 64 KiB: eBB = ([\d.]+) ± ([\d.]+) (.)iB/s \(95 %, 5 patterns\)\n", done.out)
    assert found, done.out
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[found[3]]
    assert float(found[1]) * unit == pytest.approx(size["ebb"]["bytes_per_s_mean"], abs=unit / 1000)
    assert float(found[2]) * unit == pytest.approx(size["ebb"]["bytes_per_s_half_width"], abs=unit / 1000)
    found = re.search(r"\n +([\d.]+) ± [\d.]+ of pairs alone \(([\d.]+) ± ", done.out)
    assert found, done.out
    assert float(found[1]) == pytest.approx(size["contention_share"]["mean"], abs=0.001)
    assert float(found[2]) * unit == pytest.approx(size["baseline"]["bytes_per_s_mean"], abs=unit / 1000)
    assert re.search(r"\n  stopped: all rounds done, 5 patterns; the interval is ± [\d.]+ %\n", done.out)
    assert re.search(r"\n  harmonic mean +[\d.]+  message size / mean time, as Netgauge counts\n", done.out)


def test_times_are_those_of_the_fabric(bisection: Bisection, tmp_path: Path) -> None:
    """Where pairs do not slow each other down, all numbers are the bandwidth of one link."""
    transport = fabric_file(tmp_path, jitter=0, ranks_per_host=1)
    bisection("--local", "4", "--transport", transport, "--rounds", "4", "--message-size", "1MiB", "--output", "r.json")
    (size,) = json.loads((tmp_path / "r.json").read_text())["sizes"]
    there = FABRIC["between_hosts"]
    message_ns = there["latency_ns"] + 1e9 * (1 << 20) / there["bandwidth_bytes_per_s"]
    for value in (size["ebb"]["bytes_per_s_mean"], size["bytes_per_s_harmonic"], size["full_load"]["bytes_per_s_mean"],
                  size["baseline"]["bytes_per_s_mean"], size["bytes_per_s_min"]):  # fmt: skip
        assert value == pytest.approx(1e9 * (1 << 20) / message_ns, rel=0.01)
    assert size["contention_share"]["mean"] == pytest.approx(1, rel=0.01)


def test_the_same_seed_gives_the_same_patterns(bisection: Bisection, leadline: Leadline, tmp_path: Path) -> None:
    words = ["--local", "6", "--rounds", "4", "--message-size", "1KiB"]
    bisection(*words, "--seed", "9", "--output", "one.h5")
    bisection(*words, "--seed", "9", "--output", "again.h5", "--row-path", "funnel", "--worst", "1")
    bisection(*words, "--seed", "10", "--output", "other.h5")
    one, again, other = (Matrices(tmp_path / name).random() for name in ("one.h5", "again.h5", "other.h5"))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    plan = leadline("bisection", "--dry-run", "--ranks", "6", "--seed", "9").out
    for index in range(3):
        found = re.search(rf"^  random {index}: (.*)$", plan, re.MULTILINE)
        assert found
        pairs = {(int(a), int(b)) for a, b in re.findall(r"(\d+)-(\d+)", found[1])}
        assert pairs == {pair for pair in pairs_of(one[:, index]) if pair[0] < pair[1]}


@pytest.mark.parametrize("num_ranks", [2, 3, 5])
def test_of_an_odd_number_one_rests(bisection: Bisection, tmp_path: Path, num_ranks: int) -> None:
    bisection("--local", str(num_ranks), "--rounds", "8", "--message-size", "100B", "--output", "r.h5")
    random = Matrices(tmp_path / "r.h5").random()
    assert random.shape == (num_ranks, 8)
    assert ((random < 0).sum(axis=0) == num_ranks % 2).all()
    for column in random.T:
        assert all(column[to] == rank for rank, to in pairs_of(column)), "a matching"
    if num_ranks == 5:
        assert len({int((column < 0).argmax()) for column in random.T}) > 1, "always the same rank rests"
    document = summary_of(tmp_path / "r.h5")
    expect_numbers_that_fit(document)
    expect_file_that_fits(tmp_path / "r.h5", document)


def test_pairs_lie_between_hosts(bisection: Bisection, tmp_path: Path) -> None:
    words = ["--local", "8", "--transport", fabric_file(tmp_path), "--rounds", "20", "--message-size", "1KiB"]
    host = np.arange(8) // FABRIC["ranks_per_host"]

    def random(name: str, *more: str) -> np.ndarray:
        bisection(*words, *more, "--output", name)
        return Matrices(tmp_path / name).random()

    between = random("between.h5")
    assert (between >= 0).all()
    assert (host[between] != host[:, None]).all()
    anywhere = random("anywhere.h5", "--within-hosts")
    assert (host[anywhere] == host[:, None]).any()
    assert summary_of(tmp_path / "anywhere.h5")["within_hosts"] is True

    done = bisection(*words, "--active-ranks-per-host", "1", "--output", "first.h5")
    first = Matrices(tmp_path / "first.h5").random()
    assert (first[0::2] >= 0).all()
    assert (first[0::2] % 2 == 0).all()
    assert (first[1::2] == -1).all()
    assert summary_of(tmp_path / "first.h5")["num_participants"] == 4
    assert "4 of them take part, 1 of each host at most" in done.out


def test_named_patterns(bisection: Bisection, tmp_path: Path) -> None:
    words = ["halves", "reversal", "neighbour", "bit-reversal", "shift:3", "tornado:2"]
    done = bisection("--local", "8", "--transport", fabric_file(tmp_path), "--pattern", ",".join(words),
                     "--message-size", "1KiB", "--output", "r.h5")  # fmt: skip
    rank = np.arange(8)
    expected = [(rank + 4) % 8, 7 - rank, rank ^ 1, np.array([-1, 4, -1, 6, 1, -1, 3, -1]), (rank + 3) % 8]
    send_to = Matrices(tmp_path / "r.h5").send_to
    for column, pattern in enumerate(expected):
        assert send_to[:, column].tolist() == pattern.tolist(), words[column]
    document = summary_of(tmp_path / "r.h5")
    assert wrong_json(document, schema_of("bisection")) == []
    assert document["pattern_names"] == words
    expect_file_that_fits(tmp_path / "r.h5", document)
    assert "eBB =" not in done.out
    for word in words:
        assert re.search(rf"\n  {word} +\d+ +[\d.]+ ", done.out), word


def test_one_slow_way_is_that_of_its_pattern_and_of_no_other(bisection: Bisection, tmp_path: Path) -> None:
    fabric = fabric_file(tmp_path, {"slow_link": [5, 6], "factor": 4}, jitter=0, ranks_per_host=1)
    done = bisection("--local", "8", "--transport", fabric, "--pattern", "shift:1,tornado:1", "--message-size", "1MiB",
                     "--format", "json")  # fmt: skip
    with_it, without = json.loads(done.out)["patterns"]
    assert (with_it["slowest_from"], with_it["slowest_to"]) == (5, 6)
    usual = without["bytes_per_s_mean"]
    assert without["bytes_per_s_min"] == pytest.approx(usual)
    assert with_it["bytes_per_s_min"] == pytest.approx(usual / 4)
    assert with_it["bytes_per_s_mean"] == pytest.approx((7 + 1 / 4) / 8 * usual)


def test_it_stops_when_the_number_is_precise(bisection: Bisection, tmp_path: Path) -> None:
    words = ["--local", "4", "--transport", fabric_file(tmp_path, jitter=0, ranks_per_host=1), "--message-size", "1KiB"]
    done = bisection(*words, "--output", "r.json")
    (size,) = json.loads((tmp_path / "r.json").read_text())["sizes"]
    assert (size["stopped_by"], size["num_patterns"]) == ("precision", 20)
    assert "stopped: precision of 1 % reached after 20 patterns" in done.out
    bisection(*words, "--precision", "0", "--rounds", "25", "--output", "never.json")
    (size,) = json.loads((tmp_path / "never.json").read_text())["sizes"]
    assert (size["stopped_by"], size["num_patterns"]) == ("rounds", 25)


def test_it_stops_when_the_time_is_over(bisection: Bisection) -> None:
    done = bisection("--local", "2", "--message-size", "1KiB", "--precision", "0", "--rounds", "1000000",
                     "--time-limit", "500ms", "--format", "json")  # fmt: skip
    document = json.loads(done.out)
    (size,) = document["sizes"]
    assert size["stopped_by"] == "time_limit"
    assert size["num_patterns"] == len(document["patterns"]) < 1000000
    before, last = document["patterns"][-2:]
    # The time is looked at towards the end of each pattern.
    assert before["begin_s"] < 0.5
    assert last["begin_s"] + last["measuring_s"] > 0.499
    words = ["--local", "2", "--message-size", "1KiB,2KiB,4KiB", "--precision", "0", "--time-limit", "300ms"]
    out = bisection(*words, "--rounds", "1000000", "--format", "none").out
    assert len(re.findall(r"iB .* time limit\n", out)) == 3


def faults_in(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Of the only message size: kind, name and list of each."""
    (slice_,) = document["diagnoses"]
    return [(one["kind"], one["name"], one["list"]) for one in slice_["diagnosis"]["faults"]]


def test_a_slow_rank_is_named(bisection: Bisection, tmp_path: Path) -> None:
    transport = fabric_file(tmp_path, {"slow_rank": 5, "factor": 4})
    words = ["--local", "8", "--transport", transport, "--rounds", "30", "--message-size", "64KiB"]
    done = bisection(*words, "--output", "r.json")
    document = json.loads((tmp_path / "r.json").read_text())
    assert faults_in(document) == [("rank", "rank 5 on host2", "persistent")]
    assert re.search(r"\nverdict: 1 fault found\n  1\. rank 5 on host2 is slow: (3\.9|4)", done.out)
    alone = [5 in (one["from"], one["to"]) for one in document["slow_connections"]]
    assert alone[0], "the slowest come first"
    assert [one["slow_alone"] for one in document["slow_connections"]] == alone
    assert "slow alone, too" in done.out

    bisection(*words[:3], fabric_file(tmp_path, {"slow_host": 1, "factor": 4}), *words[4:], "--output", "host.json")
    assert faults_in(json.loads((tmp_path / "host.json").read_text())) == [("host", "host host1", "persistent")]


def test_the_run_and_diagnose_say_the_same_of_its_file(
    bisection: Bisection, leadline: Leadline, tmp_path: Path
) -> None:
    transport = fabric_file(tmp_path, {"slow_rank": 5, "factor": 4}, jitter=0.02)
    words = ["--local", "8", "--transport", transport, "--rounds", "30", "--topology", "fat-tree:2x2"]
    done = bisection(*words, "--message-size", "4KiB,64KiB", "--output", "r.h5")
    said = leadline("diagnose", "r.h5", "--topology", "fat-tree:2x2").out
    assert said in done.out
    document = json.loads(leadline("diagnose", "r.h5", "--topology", "fat-tree:2x2", "--json").out)
    assert wrong_json(document, schema_of("diagnosis")) == []
    with h5py.File(tmp_path / "r.h5") as file:
        assert json.loads(file["summary"][()])["diagnoses"] == document["slices"]
    assert [one["pattern"] for one in document["slices"]] == ["random", "random"]
    assert leadline("diagnose", "r.h5", "--strict", "--quiet").status == 1


def test_few_patterns_cannot_be_diagnosed(bisection: Bisection, tmp_path: Path) -> None:
    transport = fabric_file(tmp_path, {"slow_rank": 5, "factor": 4}, ranks_per_host=1)
    done = bisection("--local", "8", "--transport", transport, "--rounds", "2", "--format", "none")
    assert "verdict: could not be tested: most ranks met fewer than 3 others" in done.out


def test_a_healthy_fabric_has_nothing_slow(bisection: Bisection, tmp_path: Path) -> None:
    transport = fabric_file(tmp_path, jitter=0.01, ranks_per_host=1)
    done = bisection("--local", "6", "--transport", transport, "--rounds", "30", "--format", "none")
    assert "verdict: no fault found" in done.out
    assert "slow only under load" not in done.out


def test_verified_bytes(bisection: Bisection, tmp_path: Path) -> None:
    done = bisection("--local", "3", "--rounds", "5", "--message-size", "3KiB", "--verify", "--output", "r.json")
    # In each of five patterns two of three ranks receive four messages.
    assert json.loads((tmp_path / "r.json").read_text())["verified_bytes"] == 5 * 2 * 4 * 3 * 1024
    assert "verified: " in done.out

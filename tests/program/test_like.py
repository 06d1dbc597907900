# SPDX-License-Identifier: Apache-2.0
"""Runs that measure as other benchmarks do, and shifts of a ring: what is in files and texts, never how fast it is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from program import Leadline
from result import ResultFile, schema_of, summary_of, wrong_json

FEW = ("--local", "2", "--wait", "yield", "--message-size", "1KiB,16KiB")


def rows_of(text: str) -> dict[int, list[float]]:
    """The other benchmark's table: its lines of numbers alone."""
    lines = [line.split() for line in text.splitlines() if re.fullmatch(r"[\d. ]+", line)]
    return {int(words[0]): [float(word) for word in words[1:]] for words in lines}


def slices_of(path: Path) -> list[dict[str, Any]]:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert wrong_json(document, schema_of("link")) == []
    return list(document["slices"])


@pytest.mark.parametrize(
    ("like", "ways"), [("osu-latency", 0), ("osu-bw", 1), ("osu-bibw", 2), ("imb-pingpong", 0), ("osu-mbw-mr", 1)]
)
def test_the_table_has_the_means_of_the_pairs(leadline: Leadline, tmp_path: Path, like: str, ways: int) -> None:
    words = ("link", *FEW, "--like", like, "--messages", "50", "--warmup", "5", "--output", "r.json", "--overwrite")
    done = leadline(*words)
    assert done.status == 0, done.err
    rows = rows_of(done.out)
    for part in slices_of(tmp_path / "r.json"):
        size, mean_ns = part["message_size_bytes"], part["means"]["time_ns_mean"]
        assert part["means"]["num"] == 2
        assert part["means"]["time_ns_min"] <= mean_ns <= part["means"]["time_ns_max"]
        told = rows[size][1 if like == "imb-pingpong" else 0]
        expected = mean_ns / 1e3 if ways == 0 else ways * size / mean_ns * 1e3
        assert told == pytest.approx(expected, abs=0.006)
    assert f"as leadline link --like {like} measures it" in done.out
    assert "--messages 50, --warmup 5" in done.out


def test_a_result_knows_whose_numbers_it_has(leadline: Leadline, tmp_path: Path) -> None:
    few = ("--messages-by-size", "16KiB:8:2", "--messages", "40", "--warmup", "4")
    assert leadline("link", *FEW, "--like", "osu-bw", "--window", "4", *few, "--output", "r.h5").status == 0
    result = ResultFile(tmp_path / "r.h5")
    assert (result.options["like"], result.options["messages_by_size"]) == ("osu-bw", "16384:8:2")
    counts = result.repeats[0]["count"]
    assert counts[0].tolist() == [[0, 10], [10, 0]], "a batch is a window"
    assert counts[1].tolist() == [[0, 2], [2, 0]]
    means = summary_of(tmp_path / "r.h5")["slices"][0]["means"]
    times = result.repeats[0]["time_ns_mean"][0]
    assert means["time_ns_mean"] == pytest.approx((times[0][1] + times[1][0]) / 2)


def shift(leadline: Leadline, *words: str, output: str = "r.h5") -> str:
    few = ("--messages", "20", "--warmup", "10", "--message-size", "4KiB", "--wait", "yield")
    done = leadline("link", "--shift", *few, *words, "--output", output)
    assert done.status == 0, done.err
    return str(done.out)


@pytest.mark.parametrize("num_ranks", [2, 5])
def test_a_shift_has_all_ordered_pairs(leadline: Leadline, tmp_path: Path, num_ranks: int) -> None:
    text = shift(leadline, "--local", str(num_ranks), "--buffers", "3")
    assert "in shifts of a ring" in text
    assert f"over {num_ranks * (num_ranks - 1)} ordered pairs" in text
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert np.array_equal(result.measured(), result.every_pair())
    assert set(result.repeats[0]["count"][0][result.every_pair()].tolist()) == {2}, "two windows of ten messages"
    ranks = np.arange(num_ranks)
    rounds = (ranks[None, :] - ranks[:, None]) % num_ranks
    assert np.array_equal(result.repeats[0]["round"], rounds)
    part = summary_of(tmp_path / "r.h5")["slices"][0]
    assert part["received"]["num"] == num_ranks * (num_ranks - 1)
    assert part["diagnosis"] is not None


def test_a_shift_may_have_some_of_its_rounds_and_ranks_in_another_order(leadline: Leadline, tmp_path: Path) -> None:
    shift(leadline, "--local", "4", "--only-rounds", "1")
    assert ResultFile(tmp_path / "r.h5").measured().nonzero()[1].tolist() == [1, 2, 3, 0]
    shift(leadline, "--local", "4", "--only-rounds", "1", "--shuffle-ranks", "2", output="s.h5")
    result = ResultFile(tmp_path / "s.h5")
    for repeat, permutation in enumerate(result.permutation_of_repeat):
        ranks = result.permutations[permutation]
        to = result.measured(repeat).nonzero()[1]
        assert [to[rank] for rank in ranks] == [*ranks[1:], ranks[0]]


def test_a_shift_goes_the_way_of_other_results(leadline: Leadline, tmp_path: Path) -> None:
    shift(leadline, "--local", "4")
    shift(leadline, "--local", "4", output="r.sion")
    assert leadline("diagnose", "r.h5").status == 0
    assert leadline("convert", "r.sion", "--output", "s.h5").status == 0
    assert np.array_equal(ResultFile(tmp_path / "s.h5").measured(), ResultFile(tmp_path / "r.h5").measured())
    assert leadline("compare", "r.h5", "s.h5").status == 0
    alone = ("--local", "4", "--wait", "yield", "--direction", "unidirectional", "--message-size", "4KiB")
    assert leadline("link", *alone, "--output", "p.h5").status == 0
    refused = leadline("compare", "r.h5", "p.h5")
    assert refused.status == 2
    assert "shifts of a ring" in refused.complaint


def test_like_mpigraph_tells_both_ends(leadline: Leadline, tmp_path: Path) -> None:
    words = ("--like", "mpigraph", "--message-size", "64KiB", "--local", "3", "--wait", "yield")
    done = leadline("link", *words, "--output", "r.json")
    assert done.status == 0, done.err
    told = dict(line.split("\t") for line in done.out.splitlines() if "\t" in line)
    part = slices_of(tmp_path / "r.json")[0]
    for end, times in (("Send", part["means"]), ("Recv", part["received"])):
        for name, time_ns in (("avg", times["time_ns_mean"]), ("max", times["time_ns_min"])):
            assert float(told[f"{end} {name}"]) == pytest.approx(2**16 / 2**20 * 1e9 / time_ns, rel=1e-6)
    assert (told["MsgSize"], told["Times"], told["Window"]) == ("65536", "10", "10")


def test_io_like_ior_has_the_rate_from_open_to_close(leadline: Leadline, tmp_path: Path) -> None:
    words = ("--local", "2", "--wait", "yield", "--objects", "4", "--object-size", "64KiB", "--repeat", "2", "--delete")
    done = leadline("io", *words, "--like", "ior", "--output", "r.json")
    assert done.status == 0, done.err
    rows = [line.split() for line in done.out.splitlines() if re.match(r"(write|read) .* \d$", line)]
    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert wrong_json(document, schema_of("io")) == []
    phases = document["phases"]
    assert [(row[0], int(row[-1])) for row in rows] == [(one["operation"], one["repeat"]) for one in phases]
    for row, phase in zip(rows, phases, strict=True):
        assert float(row[1]) == pytest.approx(phase["bytes_per_s"] / 2**20, rel=0.01)
        assert float(row[9]) == pytest.approx(phase["wall_ns"] / 1e9, abs=1e-6)
        assert (float(row[4]), float(row[5])) == (256, 64)
    most = max(one["bytes_per_s"] for one in phases if one["operation"] == "write")
    assert f"Max Write: {most / 2**20:.2f} MiB/sec ({most / 1e6:.2f} MB/sec)\n" in done.out


def test_io_like_ior_does_what_ior_does_by_itself(leadline: Leadline, tmp_path: Path) -> None:
    done = leadline("io", "--like", "ior", "--local", "2", "--wait", "yield", "--target", "f", "--output", "r.json")
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    told = ("movement", "object_size_bytes", "objects", "backend", "sync", "strided")
    assert [document["options"][name] for name in told] == ["N-1", 1 << 18, 4, "posix", "none", False]
    assert (tmp_path / "f").stat().st_size == 2 << 20
    mean = document["operations"][0]["bytes_per_s_mean"]
    row = re.search(r"^Summary of all tests:\nOperation .*\nwrite (.*)$", done.out, re.MULTILINE)
    assert row and float(row[1].split()[2]) == pytest.approx(mean / 2**20, abs=0.01)
    plan = leadline("io", "--like", "ior", "--dry-run", "--ranks", "4", "--objects", "8")
    assert "Like ior: --movement N-1 --object-size 256KiB --objects 4" in plan.out
    assert "8 objects of 256 KiB" in plan.out

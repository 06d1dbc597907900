# SPDX-License-Identifier: Apache-2.0
"""`leadline congestion` over TCP: numbers that fit, files, its page and table, limits, lost and interrupted runs."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import time
from pathlib import Path

import h5py
import numpy as np
import program
import pytest
from built_program import needs_analysis
from program import Leadline
from result import schema_of, status_of, summary_of, wrong_json

QUICK = ["--local", "4", "--rounds", "6", "--test-time", "15ms", "--interval", "200us", "--load-size", "8KiB",
         "--message-size", "8KiB", "--wait", "yield"]  # fmt: skip
TESTS = ["latency", "bandwidth", "allreduce"]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two loads at two intensities, and none."""
    folder = tmp_path_factory.mktemp("congestion")
    words = ["congestion", *QUICK, "--load", "incast,random", "--intensity", "0,50,100%", "--output", "r.h5"]
    done = program.complete([program.PROGRAM, *words], folder)
    assert done.status == 0, done.err
    (folder / "text").write_text(done.out)
    return folder / "r.h5"


def test_the_file_fits_the_summary(result: Path) -> None:
    summary = summary_of(result)
    assert wrong_json(summary, schema_of("congestion")) == []
    cells = [(cell["load"], cell["intensity_percent"]) for cell in summary["cells"]]
    assert cells == [(None, 0), ("incast", 50), ("incast", 100), ("random", 50), ("random", 100)]
    assert len(summary["victims"]) == 2
    assert summary["num_load_ranks"] == 2
    assert [(one["load"], one["intensity_percent"], one["test"]) for one in summary["impacts"]] == [
        (*cell, test) for cell in cells for test in TESTS
    ]
    assert status_of(result)[0]
    with h5py.File(result) as file:
        group = file["congestion"]
        assert group["victims"][()].tolist() == summary["victims"]
        for index, impact in enumerate(summary["impacts"]):
            cell, test = divmod(index, len(TESTS))
            num = {state: group[f"rounds/{state}_num"][cell, test] for state in ("alone", "loaded")}
            means = {state: group[f"rounds/{state}_time_ns_mean"][cell, test] for state in num}
            is_whole = (num["alone"] > 0) & (num["loaded"] > 0)
            for state, rounds in num.items():
                assert rounds.sum() == group[f"distribution/{state}"][cell, test].sum()
                assert rounds.sum() == group[f"victim_times/{state}_num"][cell, test].sum()
                counted, longest = rounds[is_whole], group[f"rounds/{state}_time_ns_max"][cell, test][is_whole]
                assert impact[state]["num"] == counted.sum()
                mean = (means[state][is_whole] * counted).sum() / counted.sum()
                assert impact[state]["time_ns_mean"] == pytest.approx(mean)
                assert impact[state]["time_ns_max"] == longest.max()
            assert is_whole.all() or impact["test"] == "bandwidth", "a stream may have too few messages in a round"
            assert impact["num_rounds"] == is_whole.sum()
            factors = means["loaded"][is_whole] / means["alone"][is_whole]
            assert impact["mean"]["estimate"] == pytest.approx(np.median(factors))
            ends = [impact["mean"][end] for end in ("low", "high")]
            few = len(factors) < len(num["alone"])
            assert ends == ([None, None] if few else pytest.approx([factors.min(), factors.max()]))
        loads = group["load/bytes_per_s"][()]
        assert (loads[0] == 0).all()
        assert loads[1:].sum() > 0
        assert [one["bytes_per_s"] for one in summary["loads"]] == pytest.approx(loads[1:].mean(axis=1).tolist())


def test_a_quantile_lies_in_the_distribution(result: Path) -> None:
    """Buckets are as docs/formats/hdf5.md says."""
    impact = summary_of(result)["impacts"][0]
    with h5py.File(result) as file:
        counts = file["congestion/distribution/loaded"][0, 0]
    bucket = int(np.searchsorted(counts.cumsum(), counts.sum() / 2))
    begin, end = (2.0 ** (5 + at // 128) * (1 + at % 128 / 128) for at in (bucket, bucket + 1))
    assert begin <= impact["loaded"]["time_ns_median"] <= end


def test_half_a_load_is_not_more_than_that(result: Path) -> None:
    """Of random pairs, whose channel has nobody beside it. What was held up before the tests comes in them, too."""
    half = next(one for one in summary_of(result)["loads"] if (one["load"], one["intensity_percent"]) == ("random", 50))
    ramp_up_s, counted_s, few_messages_bytes = 0.02, 0.045, 2 * 8 * 8192
    most = 0.5 * half["alone_bytes_per_s"] * (1 + ramp_up_s / counted_s) + few_messages_bytes / counted_s
    assert half["bytes_per_s"] <= most
    assert half["fairness"] is None or 0 < half["fairness"] <= 1


def test_the_text_says_the_same(result: Path) -> None:
    text = (result.parent / "text").read_text()
    summary = summary_of(result)
    victims = ", ".join(str(rank) for rank in summary["victims"])
    for word in (
        f"victims: {victims}; 2 ranks load the network; 6 rounds",
        "no load",
        "incast 50 %",
        "random 100 %",
        "fairness",
    ):
        assert word in text
    worst = summary["worst"]
    first = f"under {worst['load']} {worst['intensity_percent']} %" if worst else "no load surely makes"
    assert first in text


def test_info(result: Path, leadline: Leadline) -> None:
    done = leadline("info", result)
    assert done.status == 0, done.err
    assert "congestion test, format 1" in done.out
    assert "6 of 6" in done.out
    told = json.loads(leadline("info", "--json=-", result).out)
    assert wrong_json(told, schema_of("info")) == []
    assert json.dumps(told).count('"p999"') == len(summary_of(result)["impacts"])


def test_a_page_and_a_table(result: Path, leadline: Leadline, tmp_path: Path) -> None:
    needs_analysis()
    done = leadline("report", result, "--output", tmp_path / "r.html")
    assert (done.status, done.err) == (0, "")
    page = (tmp_path / "r.html").read_text("utf-8")
    for word in ("Latency", "Bandwidth", "Allreduce", "incast 100 %", "<polyline", "95 % interval"):
        assert word in page
    done = leadline("export", result, "--csv", "--output", "-")
    assert (done.status, done.err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    impacts = summary_of(result)["impacts"]
    assert [row["test"] for row in rows] == [impact["test"] for impact in impacts]
    medians = [one["median"]["estimate"] for one in impacts]
    told = [float(row["factor_median"]) if row["factor_median"] else None for row in rows]
    assert told == [None if median is None else pytest.approx(median) for median in medians]
    leadline("report", result, "--output", tmp_path / "r.pdf").assert_refused(2, "no sheet", ".html")


def test_it_is_compared_with_itself(result: Path, leadline: Leadline) -> None:
    done = leadline("compare", result, result)
    assert done.status == 0, done.err


@pytest.mark.parametrize("factor", ["1", "1000000"])
def test_a_limit(factor: str, leadline: Leadline) -> None:
    """Over loopback on a busy machine a load may have an effect or none; never one of a million."""
    words = ["--load", "complete", "--intensity", "100", "--json", "--fail-above", factor]
    done = leadline("congestion", *QUICK, *words)
    worst = json.loads(done.out)["worst"]
    is_above = worst is not None and worst["factor"]["low"] > float(factor)
    assert done.status == (1 if is_above else 0), done.err
    assert ("--fail-above" in done.err) == is_above


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--local", "3"], ["at least 4 ranks"]),
        (["--local", "4", "--intensity", "0", "--load", "incast"], ["--load has no effect"]),
        (["--local", "4", "--load", "incast,incast"], ["incast twice"]),
        (["--local", "4", "--transport", "model:nowhere.json"], ["nowhere.json"]),
    ],
)
def test_what_is_refused(words: list[str], named: list[str], leadline: Leadline, tmp_path: Path) -> None:
    leadline("congestion", *words, "--wait", "yield").assert_refused(2, *named)
    assert list(tmp_path.iterdir()) == []


def test_few_rounds_have_no_interval(leadline: Leadline) -> None:
    few = ["5" if word == "6" else word for word in QUICK]
    done = leadline("congestion", *few, "--intensity", "100", "--output", "r.json")
    assert done.status == 0, done.err
    assert "intervals need 6 rounds" in done.out


def test_a_plan(leadline: Leadline) -> None:
    done = leadline("congestion", "--dry-run", "--ranks", "64", "--ranks-per-host", "4")
    assert done.status == 0
    for word in ("64 ranks: 12 victims", "52 ranks load the network", "no load, incast 25 %", "Time: "):
        assert word in done.out


def test_ctrl_c_keeps_the_rounds_before(leadline: Leadline, tmp_path: Path) -> None:
    quick = ["10000" if word == "6" else word for word in QUICK]
    words = ["congestion", *quick, "--intensity", "100", "--output", "r.h5"]
    with program.Run([program.PROGRAM, *words], tmp_path) as run:
        end_s = time.monotonic() + 30
        while rounds_in(tmp_path / "r.h5") == 0 and time.monotonic() < end_s:
            time.sleep(0.05)
        run.send(signal.SIGINT)
        done = run.finish()
    assert done.status != 0
    assert rounds_in(tmp_path / "r.h5") > 0
    is_complete, reason = status_of(tmp_path / "r.h5")
    assert not is_complete
    assert reason
    told = leadline("info", "r.h5").out
    assert "of 10000" in told
    assert "No impacts: the run ended before its summary was written" in told


def test_a_lost_rank_ends_the_measuring(tmp_path: Path) -> None:
    """What was measured before is the result."""
    quick = ["10000" if word == "6" else word for word in QUICK]
    words = ["congestion", *quick, "--intensity", "100", "--output", "r.h5"]
    with program.Run([program.PROGRAM, *words], tmp_path) as run:
        end_s = time.monotonic() + 30
        while rounds_in(tmp_path / "r.h5") < 2 and time.monotonic() < end_s:
            time.sleep(0.05)
        with h5py.File(tmp_path / "r.h5", locking=False) as file:
            os.kill(int(file["ranks/pid"][3]), signal.SIGKILL)
        done = run.finish()
    assert done.status == 1, done.err
    assert "1 rank was lost during the run: rank 3" in done.out
    assert " of 10000 rounds" in done.out
    assert status_of(tmp_path / "r.h5")[0]
    impacts = summary_of(tmp_path / "r.h5")["impacts"]
    assert 2 <= impacts[0]["num_rounds"] == rounds_in(tmp_path / "r.h5")


def rounds_in(path: Path) -> int:
    try:
        with h5py.File(path, locking=False) as file:
            return int((file["congestion/rounds/loaded_num"][0, 0] > 0).sum())
    except (OSError, KeyError):
        return 0

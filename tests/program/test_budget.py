# SPDX-License-Identifier: Apache-2.0
"""Randomly sampled rounds: what a link test with a budget, or with so many rounds, measures, says and refuses."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import program
import pytest
from fabrics import fabric_file
from program import Leadline
from result import ResultFile, schema_of, status_of, wrong_json
from test_schedules import pairs_of_plan

# 8 hosts of 2 ranks, 4 below each of two switches.
MACHINE = {"host_name": "node", "hosts_per_switch": 4, "jitter": 0.02}
NUM_RANKS = 16
SLOW_HOST = {"slow_host": 5, "factor": 1.8}
SLOW_NETWORK = {"latency_ns": 8000, "bandwidth_bytes_per_s": 1e9}


@pytest.fixture
def drawn(link: Leadline, tmp_path: Path) -> Any:
    """Measures a simulated fabric with these faults; what was said, and the file."""

    def measure(*words: str, faults: tuple[dict[str, Any], ...] = ()) -> tuple[program.Done, ResultFile]:
        fabric = fabric_file(tmp_path, *faults, **MACHINE)
        done = link("--transport", fabric, "--local", str(NUM_RANKS), "--output", "r.h5", *words)
        return done, ResultFile(tmp_path / "r.h5")

    return measure


def rounds_of(result: ResultFile) -> np.ndarray:
    return np.asarray(result.repeats[0]["round"])


def notes_of(result: ResultFile) -> list[str]:
    assert result.summary is not None
    return list(result.summary["slices"][0]["diagnosis"]["notes"])


def test_the_other_container_holds_as_much(drawn: Any, leadline: Leadline, tmp_path: Path) -> None:
    _, result = drawn("--rounds", "6")
    for source, converted in (("r.h5", "r.sion"), ("r.sion", "again.h5")):
        done = leadline("convert", source, "--output", converted)
        assert done.status == 0, done.err
    again = ResultFile(tmp_path / "again.h5")
    assert result.repeats[0].keys() - again.repeats[0].keys() == {"time_ns_p999"}  # SION has no place for it
    for name, matrix in again.repeats[0].items():
        assert np.array_equal(result.repeats[0][name], matrix, equal_nan=True), name


def test_the_file_is_like_any_other(drawn: Any, leadline: Leadline) -> None:
    done, result = drawn("--rounds", "6")
    assert result.complete
    measured, rounds = result.measured(), rounds_of(result)
    assert np.array_equal(measured, measured.T)
    assert not measured.diagonal().any()
    assert np.array_equal(rounds > 0, measured), "a round for what was measured, and for nothing else"
    assert np.array_equal(rounds, rounds.T)
    assert set(np.unique(rounds)) <= set(range(7))
    for rank in range(NUM_RANKS):
        met = rounds[rank][rounds[rank] > 0]
        assert len(set(met)) == len(met), "one meeting a round"
    assert result.provenance["num_rounds"] == 6
    assert result.options["rounds"] == "6"
    assert result.summary is not None
    assert wrong_json(result.summary, schema_of("link")) == []
    assert result.summary["num_rounds"] == 6
    assert result.summary["slices"][0]["all"]["num_pairs"] == measured.sum()
    assert "6 rounds" in done.out

    info = leadline("info", "r.h5")
    assert (info.status, info.err) == (0, "")


def test_what_was_looked_at_is_said(drawn: Any) -> None:
    done, result = drawn("--rounds", "6")
    (note,) = [note for note in notes_of(result) if "random rounds" in note]
    share = 100 * result.measured().sum() / (NUM_RANKS * (NUM_RANKS - 1))
    assert note.startswith(f"6 random rounds met {share:.1f} % of all pairs")
    assert "all 15 rounds" in note
    assert "6 random rounds met" in " ".join(done.out.split())
    diagnosis = result.summary["slices"][0]["diagnosis"]  # type: ignore[index]
    assert diagnosis["num_pairs"] == NUM_RANKS * (NUM_RANKS - 1)
    assert diagnosis["num_measured"] == result.measured().sum()


def test_a_slow_host_is_found_in_a_part_of_the_pairs(drawn: Any, leadline: Leadline) -> None:
    done, result = drawn("--rounds", "10", faults=(SLOW_HOST,))
    assert result.measured().sum() < NUM_RANKS * (NUM_RANKS - 1)
    assert "host node5 is slow" in done.out
    later = leadline("diagnose", "r.h5", "--strict")
    assert later.status == 1
    assert "host node5" in later.out


def test_with_a_topology_rounds_stay_below_switches_too(drawn: Any) -> None:
    _, result = drawn("--rounds", "6", "--topology", "fat-tree:4x2")
    rounds, host = rounds_of(result), np.arange(NUM_RANKS) // 2
    from_rank, to_rank = np.nonzero(rounds == 2)
    assert len(from_rank) > 0, "some may have met again later"
    assert np.array_equal(host[from_rank] // 4, host[to_rank] // 4)
    assert not np.any(host[from_rank] == host[to_rank])


def test_the_same_seed_draws_the_same_rounds(drawn: Any, tmp_path: Path) -> None:
    found = []
    for seed in ("1", "1", "2"):
        (tmp_path / "r.h5").unlink(missing_ok=True)
        found.append(rounds_of(drawn("--rounds", "5", "--seed", seed)[1]))
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_real_messages(link: Leadline, tmp_path: Path) -> None:
    link("--local", "4", "--rounds", "3", "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert np.array_equal(rounds_of(result) > 0, result.measured())
    assert result.measured().any()


def test_a_budget_ends_the_rounds(link: Leadline, tmp_path: Path) -> None:
    # A round takes longer than the budget, so that the fewest are run, of 14 that might be; a busy machine needs long.
    words = ["--local", "8", "--budget", "100ms", "--messages", "200", "--output", "r.h5"]
    link(*words, env=program.SLOW_MESSAGES)
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.summary is not None
    assert result.summary["num_rounds"] == 4
    assert result.provenance["num_rounds"] == 4
    assert rounds_of(result).max() <= result.provenance["num_rounds"]
    assert any("random rounds" in note for note in notes_of(result))


@pytest.mark.parametrize("statistics", ["full", "compact"])
def test_all_sizes_have_the_same_rounds(drawn: Any, leadline: Leadline, statistics: str) -> None:
    sizes = ["--message-size", "8,64KiB,1MiB"]
    done, result = drawn("--rounds", "7", "--statistics", statistics, *sizes, faults=(SLOW_HOST,))
    assert result.complete
    assert result.summary is not None
    assert result.summary["num_rounds"] == 7
    assert "8 B, 64 KiB, 1 MiB, round 1/7 after " in done.err
    slices = result.summary["slices"]
    assert [one["message_size_bytes"] for one in slices] == [8, 64 << 10, 1 << 20]
    assert len({one["all"]["num_pairs"] for one in slices}) == 1
    for one in slices:
        assert [fault["name"] for fault in one["diagnosis"]["faults"]] == ["host node5"]
    assert slices[0]["all"]["time_ns_median"] < slices[1]["all"]["time_ns_median"] < slices[2]["all"]["time_ns_median"]
    again = json.loads(leadline("diagnose", "r.h5", "--json").out)
    for found, told in zip(again["slices"], slices, strict=True):
        if statistics == "full":  # the run judges times before they are rounded
            assert found["diagnosis"]["faults"] == told["diagnosis"]["faults"]
        assert [fault["name"] for fault in found["diagnosis"]["faults"]] == ["host node5"]


def test_a_budget_is_for_all_sizes_together(link: Leadline, tmp_path: Path) -> None:
    sizes = ["--message-size", "1KiB,2KiB"]
    words = ["--local", "8", "--budget", "100ms", "--messages", "200", "--output", "r.h5"]
    link(*words, *sizes, env=program.SLOW_MESSAGES)
    result = ResultFile(tmp_path / "r.h5")
    assert result.provenance["num_rounds"] == 4
    measured = [result.medians(size=size) > 0 for size in range(2)]
    assert measured[0].any()
    assert np.array_equal(*measured)


def test_a_small_and_a_large_message_are_the_default(leadline: Leadline) -> None:
    done = leadline("link", "--local", "2", "--messages", "5", "--json")
    assert [one["message_size_bytes"] for one in json.loads(done.out)["slices"]] == [1 << 10, 1 << 20]
    assert leadline("link", "--local", "2", "--messages", "5", "--health-check").out.startswith("ok: 2 ranks on 1 host")


def test_a_budget_of_plenty_ends_by_itself(drawn: Any) -> None:
    # Virtual time passes quickly: twice the rounds of the whole test are over long before the budget.
    done, result = drawn("--budget", "1h")
    assert result.provenance["num_rounds"] == 2 * (NUM_RANKS - 1)
    assert done.seconds < 60


def test_a_json_summary_says_it_all(link: Leadline, tmp_path: Path) -> None:
    done = link("--transport", fabric_file(tmp_path, **MACHINE), "--local", str(NUM_RANKS), "--rounds", "4",
                "--format", "json")  # fmt: skip
    document = json.loads(done.out)
    assert wrong_json(document, schema_of("link")) == []
    assert document["num_rounds"] == 4
    assert "4 random rounds met" in document["slices"][0]["diagnosis"]["notes"][0]


def test_without_a_diagnosis_nothing_is_said_of_places(drawn: Any) -> None:
    _, result = drawn("--rounds", "3", "--no-diagnosis")
    assert result.complete
    assert result.provenance["num_rounds"] == 3


def test_a_killed_run_leaves_what_it_has(tmp_path: Path) -> None:
    words = ["--local", "4", "--rounds", "20000", "--messages", "500", "--wait", "yield", "--output", "r.h5"]
    command = [program.PROGRAM, "link", *words]
    with program.Run(command, tmp_path, timeout=90) as run:
        program.await_that(lambda: (tmp_path / "r.h5").exists() and has_rows(tmp_path / "r.h5"), patience_s=60)
        run.send(signal.SIGTERM)
        done = run.finish()
    assert done.status == 4
    complete, reason = status_of(tmp_path / "r.h5")
    assert (complete, bool(reason)) == (False, True)
    assert ResultFile(tmp_path / "r.h5").measured().any()


def has_rows(path: Path) -> bool:
    try:
        return bool(ResultFile(path).medians().any())
    except (OSError, LookupError, RuntimeError, AssertionError):  # half made
        return False


def test_the_plan_is_printed(leadline: Leadline) -> None:
    done = leadline("link", "--dry-run", "--ranks", "6", "--rounds", "5")
    assert (done.status, done.err) == (0, "")
    plan = pairs_of_plan(done.out)
    assert len(plan) == 5
    for pairs in plan:
        ranks = [rank for pair in pairs for rank in pair]
        assert len(ranks) == 2 * len(set(ranks)), "each once in either order"


@pytest.mark.parametrize(
    "words",
    [["--only-rounds", "1-3"], ["--serial"], ["--shuffle-rounds"], ["--shuffle-ranks", "2"], ["--bisection"],
     ["--between-hosts"], ["--one-per-host"], ["--all-to-all", "around"], ["--min-time", "1s"], ["--repeat", "2"],
     ["--output", "r.sion"]],
    ids=lambda words: words[0].removeprefix("--"),
)  # fmt: skip
@pytest.mark.parametrize("drawn_by", [["--budget", "10s"], ["--rounds", "3"]], ids=["budget", "max-rounds"])
def test_what_does_not_go_together(leadline: Leadline, tmp_path: Path, words: list[str], drawn_by: list[str]) -> None:
    done = leadline("link", "--local", "2", *drawn_by, *words)
    assert done.status == 2
    assert drawn_by[0] in done.complaint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["--budget", "0"], ["--budget", "soon"], ["--rounds", "0"]])
def test_what_is_no_number(leadline: Leadline, words: list[str]) -> None:
    done = leadline("link", "--local", "2", *words)
    assert done.status == 2
    assert words[0] in done.complaint


def test_one_rank_has_nobody_to_draw(leadline: Leadline) -> None:
    done = leadline("link", "--local", "1", "--rounds", "3")
    assert done.status == 2
    assert "need two ranks" in done.complaint


def test_a_report_calls_nothing_missing_that_nobody_asked_for(drawn: Any, leadline: Leadline, tmp_path: Path) -> None:
    drawn("--rounds", "4")
    done = leadline("report", "r.h5", "--output", "r.html")
    assert done.status == 0, done.err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "4 random rounds met" in page
    assert "ordered pairs are measured" not in page, "as it would say of gaps"


def test_a_fault_gives_status_1_only_when_asked_for(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    words = ["--local", str(NUM_RANKS), "--rounds", "10"]
    sound = fabric_file(tmp_path, **MACHINE)
    assert link("--transport", sound, *words, "--output", "sound.h5", "--strict", "--quiet").err == ""
    slow = ["--transport", fabric_file(tmp_path, SLOW_HOST, **MACHINE), *words]
    link(*slow, "--format", "none")
    strict = link(*slow, "--format", "none", "--strict", status=1)
    assert "host node5 reaches" in strict.complaint
    link(*slow, "--output", "a.h5", "--baseline", "sound.h5")
    judged = link(*slow, "--output", "b.h5", "--baseline", "sound.h5", "--strict", status=1)
    assert "the result is worse than the baseline 'sound.h5'" in judged.complaint
    several = ["--baseline", "sound.h5", "--baseline", "a.h5", "--baseline", "b.h5"]
    judged = link(*slow, "--output", "c.h5", *several)
    alone = leadline("compare", "sound.h5", "a.h5", "b.h5", "c.h5")
    assert judged.out.endswith(alone.out), "the same as of files that lie there"
    assert "no more different than baselines from each other: host node5 (" in judged.out
    slower = ["--transport", fabric_file(tmp_path, SLOW_HOST, **MACHINE, between_hosts=SLOW_NETWORK), *words]
    worse = link(*slower, "--output", "d.h5", "--strict", "--baseline", "sound.h5", "--baseline", "sound.h5", status=1)
    assert "the result is worse than its 2 baselines" in worse.complaint
    assert leadline("diagnose", "b.h5").status == 0


def test_json_on_standard_output_and_in_a_file(link: Leadline, tmp_path: Path) -> None:
    words = ["--transport", fabric_file(tmp_path, **MACHINE), "--local", "4"]
    on_stdout = json.loads(link(*words, "--json").out)
    link(*words, "--json", "run.json")
    link(*words, "--json", "run.txt", "-q")
    in_files = [json.loads((tmp_path / name).read_text("utf-8")) for name in ("run.json", "run.txt")]
    for document in (on_stdout, *in_files):
        assert wrong_json(document, schema_of("link")) == []
        assert document["options"]["format"] == "json"
        assert (document["options"]["strict"], document["options"]["retest"]) == (False, 10)

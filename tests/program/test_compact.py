# SPDX-License-Identifier: Apache-2.0
"""The compact form of a link test's file: what program and analysis read of it is what the full form has, rounded."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import program
import pytest
from program import Leadline

import leadline as analysis
from leadline.cli.export import main as export_main
from leadline.cli.report import main as report_main
from leadline.link import text as link_text
from leadline.link.analysis import analyse
from leadline.link.result import NotMeasured
from leadline.scan import AxisName
from leadline.view.reduction import OUTSIDE
from leadline.view.tiles import Layer, sampled_rows

TREE = ["--topology", "fat-tree:4x3", "--ranks-per-host", "2"]


@pytest.fixture(autouse=True)
def known_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package, which is imported here, finds it."""
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))


@pytest.fixture
def forms(leadline: Leadline, tmp_path: Path) -> tuple[Path, Path]:
    """The same simulated machine in the full and in the compact form."""
    fault = {"slow_port": "host3", "factor": 2}
    (tmp_path / "faults.json").write_text(json.dumps({"faults": [fault]}), encoding="utf-8")
    for form in ("full", "compact"):
        done = leadline(
            "simulate", "link", *TREE, "--faults", "faults.json", "--statistics", form, "--output", f"{form}.h5"
        )
        assert (done.status, done.err) == (0, "")
    return tmp_path / "full.h5", tmp_path / "compact.h5"


def test_the_numbers_are_those_of_the_full_form_rounded(forms: tuple[Path, Path]) -> None:
    full, compact = (analysis.load_link(path) for path in forms)
    (part,) = compact.slices
    assert compact.is_compact
    assert not full.is_compact
    assert (full.format_version, compact.format_version) == (1, 2)
    assert compact.options["statistics"] == "compact"
    np.testing.assert_allclose(compact.matrix(part), full.matrix(part), rtol=0.0005)
    p99 = [one.matrix(part, analysis.Statistic.P99) for one in (compact, full)]
    np.testing.assert_allclose(*p99, rtol=0.023)
    np.testing.assert_array_equal(compact.count(part), full.count(part))
    np.testing.assert_array_equal(compact.to_measure(part), full.to_measure(part))
    assert compact.to_measure(part).sum() == 24 * 23
    rows, columns = np.array([3, 0]), np.array([7, 2, 5])
    for name in ("time_ns_median", "time_ns_p99", "count"):
        whole = compact.read_rows(part, name, 0, 24)
        np.testing.assert_array_equal(compact.read_block(part, name, rows, columns), whole[np.ix_(rows, columns)])
        np.testing.assert_array_equal(compact.read_rows(part, name, 5, 7), whole[5:7])


def test_what_it_does_not_have_is_absent(forms: tuple[Path, Path]) -> None:
    result = analysis.load_link(forms[1])
    assert [one.value for one in result.statistics] == ["median", "p99"]
    assert [column.name for column in result.pair_columns] == ["count", "time_ns_median", "time_ns_p99"]
    for statistic in ("min", "mean", "max"):
        with pytest.raises(analysis.LeadlineError, match=f"there is no statistic {statistic}.*There is median, p99"):
            result.times[statistic]
        with pytest.raises(analysis.LeadlineError, match=f"there is no statistic {statistic}"):
            result.matrix(result.slices[0], analysis.Statistic(statistic))


def test_program_and_analysis_read_the_same_numbers(
    forms: tuple[Path, Path], leadline: Leadline, tmp_path: Path
) -> None:
    done = leadline("convert", "compact.h5", "--output", "compact.sion")
    assert done.status == 0
    assert "compact.sion does not have the means, which LinkTest's record wants" in done.err
    compact, converted = analysis.load_link(forms[1]), analysis.load_link(tmp_path / "compact.sion")
    part, same = compact.slices[0], converted.slices[0]
    for statistic in compact.statistics:
        expected = compact.matrix(part, statistic)
        np.testing.assert_allclose(converted.matrix(same, statistic), expected, rtol=1e-12)
    np.testing.assert_array_equal(converted.count(same), compact.count(part))
    assert np.isnan(converted.matrix(same, analysis.Statistic.MEAN)).all()
    assert leadline("convert", "compact.h5", "--output", "plain.sion", "--plain").status == 0
    plain = analysis.load_link(tmp_path / "plain.sion")
    np.testing.assert_allclose(plain.matrix(plain.slices[0]), compact.matrix(part), rtol=1e-12)


def test_every_code_is_read_as_the_program_reads_it(
    forms: tuple[Path, Path], leadline: Leadline, tmp_path: Path
) -> None:
    random = np.random.default_rng(1)
    cells = (random.integers(1, 1 << 16, (24, 24)) << 16) | random.integers(1, 1 << 8, (24, 24))
    cells |= random.integers(0, 1 << 8, (24, 24)) << 8
    cells[0, :4] = [0x00010001, 0xFFFFFFFF, 0x28000001, 2]
    with h5py.File(forms[1], "r+") as file:
        file["repeats/0000/pair"][0] = cells.astype(np.uint32)
    assert leadline("convert", "compact.h5", "--output", "codes.sion").status == 0
    compact, converted = analysis.load_link(forms[1]), analysis.load_link(tmp_path / "codes.sion")
    for statistic in compact.statistics:
        expected = compact.matrix(compact.slices[0], statistic)
        np.testing.assert_allclose(converted.matrix(converted.slices[0], statistic), expected, rtol=1e-12)
    counts = compact.count(compact.slices[0])
    np.testing.assert_array_equal(converted.count(converted.slices[0]), counts)
    assert compact.matrix(compact.slices[0])[0, 2] == 1
    assert np.isnan(compact.matrix(compact.slices[0])[0, 3])


def test_a_time_of_no_batch_is_damage(forms: tuple[Path, Path]) -> None:
    with h5py.File(forms[1], "r+") as file:
        file["repeats/0000/pair"][0, 1, 2] = 0x12340000
    result = analysis.load_link(forms[1])
    with pytest.raises(analysis.LeadlineError, match="/repeats/0000/pair has values that no measurement gives"):
        result.matrix(result.slices[0])


def test_another_type_is_damage(forms: tuple[Path, Path]) -> None:
    with h5py.File(forms[1], "r+") as file:
        del file["repeats/0000/pair"]
        file["repeats/0000/pair"] = np.zeros((1, 24, 24), dtype=np.uint64)
    with pytest.raises(analysis.LeadlineError, match="damaged: /repeats/0000/pair is uint64"):
        analysis.load_link(forms[1])


def test_a_fault_is_found_in_it(forms: tuple[Path, Path], leadline: Leadline) -> None:
    found = []
    for path in forms:
        document = json.loads(leadline("diagnose", path, "--json").out)
        found.append([(fault["kind"], fault["name"]) for fault in document["slices"][0]["diagnosis"]["faults"]])
    assert found[0] == found[1] != []
    done = leadline("diagnose", forms[1])
    assert "note: unsteady components were not looked for: the result is compact" in done.out
    assert "unsteady components" not in leadline("diagnose", forms[0]).out


@pytest.mark.usefixtures("forms")
def test_every_command_takes_it(leadline: Leadline) -> None:
    info = json.loads(leadline("info", "compact.h5", "--json").out)["result"]
    assert (info["statistics"], info["format_version"]) == ("compact", 2)
    assert "statistics       compact: median, p99 and batches" in leadline("info", "compact.h5").out
    done = leadline("compare", "full.h5", "compact.h5")
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize(
    "words",
    [
        ["report", "compact.h5", "--output", "r.html"],
        ["report", "compact.h5", "--output", "r.html", "--statistic", "p99"],
        ["report", "compact.h5", "--output", "r.pdf"],
        ["report", "compact.h5", "--output", "r.html", "--baseline", "full.h5"],
        ["export", "compact.h5", "--parquet"],
    ],
)
@pytest.mark.usefixtures("forms")
def test_every_analysis_takes_it(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main = {"report": report_main, "export": export_main}[words[0]]
    assert main(words[1:]) == 0


@pytest.mark.usefixtures("forms")
def test_analyses_say_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert export_main(["compact.h5", "--csv", "--output", "pairs.csv"]) == 0
    head = (tmp_path / "pairs.csv").read_text().splitlines()[0]
    assert head.endswith("count,time_ns_median,time_ns_p99,bandwidth_bytes_per_s")
    assert report_main(["compact.h5", "--output", "mean.html", "--statistic", "mean"]) == 2
    assert "there is no statistic mean" in capsys.readouterr().err


# Of a run: what is measured, and the pairs that its schedule has.
RUNS: dict[str, tuple[list[str], Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "all pairs, two sizes, twice": (["--message-size", "8,64", "--repeat", "2"], lambda i, j: i != j),
    "a bisection": (["--bisection"], lambda i, j: (i < 2) != (j < 2)),
    "through rank 0": (["--row-path", "funnel"], lambda i, j: i != j),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_writes_it(name: str, link: Leadline, tmp_path: Path) -> None:
    words, meets = RUNS[name]
    link("--local", "4", "--statistics", "compact", "--output", "r.h5", *words)
    result = analysis.load_link(tmp_path / "r.h5")
    assert result.complete
    expected = meets(*np.indices((4, 4)))
    for part in result.slices:
        np.testing.assert_array_equal(result.to_measure(part), expected)
        np.testing.assert_array_equal(np.isfinite(result.matrix(part)), expected)
        assert set(result.count(part)[expected]) == {5}
    assert result.summary
    slowest = result.summary["slices"][-1]["slowest_pairs"][0]  # type: ignore[index]
    last = result.matrix(result.slices[-1])
    assert last[slowest["from"], slowest["to"]] == pytest.approx(slowest["time_ns"], rel=0.0005)


def test_a_run_of_one_rank(link: Leadline, tmp_path: Path) -> None:
    link("--local", "1", "--statistics", "compact", "--output", "r.h5")
    result = analysis.load_link(tmp_path / "r.h5")
    assert np.isfinite(result.matrix(result.slices[0])).all()
    assert result.to_measure(result.slices[0]).tolist() == [[True]]


def test_random_rounds_say_whom_they_drew(link: Leadline, tmp_path: Path) -> None:
    link("--local", "5", "--rounds", "2", "--statistics", "compact", "--output", "r.h5")
    result = analysis.load_link(tmp_path / "r.h5")
    (part,) = result.slices
    measured = np.isfinite(result.matrix(part))
    assert 4 <= measured.sum() <= 8
    np.testing.assert_array_equal(result.to_measure(part), measured)
    everyone = np.arange(5)
    np.testing.assert_array_equal(result.block_to_measure(part, everyone, everyone), measured)
    (shown,) = sampled_rows(result, Layer(part, AxisName.RANKS, analysis.Statistic.MEDIAN), everyone)
    np.testing.assert_array_equal(shown == OUTSIDE, ~measured)


def test_a_rank_that_rests_in_all_rounds_is_not_missing(link: Leadline, tmp_path: Path) -> None:
    link("--local", "3", "--rounds", "1", "--statistics", "compact", "--output", "r.h5")
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        cells = file["repeats/0000/sampled_pair"][0]
        lost, number = np.argwhere(cells > 0xFFFF)[0]
        file["repeats/0000/sampled_pair"][0, lost, number] = 0
    result = analysis.load_link(tmp_path / "r.h5")
    text = link_text.missing(result, [analyse(result, result.slices[0])])
    assert text.startswith(f"1 of 2 ordered pairs are measured; nothing from rank {lost} (")


# Of four ranks on as many hosts, or on one.
SCHEDULES = [
    [],
    ["--serial"],
    ["--serial", "--only-rounds", "5,2"],
    ["--only-rounds", "3,1"],
    ["--bisection"],
    ["--shuffle-rounds", "--shuffle-ranks", "2", "--repeat", "2", "--seed", "5"],
    ["--shuffle-rounds", "--shuffle-rounds-seed", "9", "--shuffle-ranks", "1", "--shuffle-ranks-seed", "8"],
]


@pytest.mark.parametrize("words", SCHEDULES)
def test_rounds_follow_from_the_options(words: list[str], link: Leadline, tmp_path: Path) -> None:
    for form in ("full", "compact"):
        link("--local", "5", "--statistics", form, "--output", f"{form}.h5", *words)
    full, compact = (analysis.load_link(tmp_path / f"{form}.h5") for form in ("full", "compact"))
    assert full.repeats_with_rounds == compact.repeats_with_rounds != frozenset()
    rows, columns = np.array([3, 0]), np.array([1, 4, 2])
    for part, same in zip(compact.slices, full.slices, strict=True):
        rounds = full.read_rows(same, "round", 0, 5)
        np.testing.assert_array_equal(compact.read_rows(part, "round", 0, 5), rounds)
        np.testing.assert_array_equal(compact.read_block(part, "round", rows, columns), rounds[np.ix_(rows, columns)])
        np.testing.assert_array_equal(compact.to_measure(part), full.to_measure(same))
        np.testing.assert_array_equal(compact.why_not_measured(part), full.why_not_measured(same))


def test_rounds_between_hosts_follow_from_the_options(leadline: Leadline, tmp_path: Path) -> None:
    """Groups of different sizes, whose rounds are more than the ranks."""
    assert leadline("simulate", "link", *TREE, "--statistics", "compact", "--output", "r.h5").status == 0
    hosts = [0, 0, 0, 0, 0, 0, 1, 2, 2, 3, *range(4, 18)]
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        file["options"].attrs["between_hosts"] = "true"
        del file["network"]  # of other hosts
        file["ranks/host"][...] = np.array([f"h{number}" for number in hosts], dtype=file["ranks/host"].dtype)
    result = analysis.load_link(tmp_path / "r.h5")
    rounds = result.read_rows(result.slices[0], "round", 0, 24)
    np.testing.assert_array_equal(rounds, rounds.T)
    np.testing.assert_array_equal(np.isfinite(rounds), np.not_equal.outer(hosts, hosts))
    assert np.nanmax(rounds) > 24
    for row in rounds:
        met = row[np.isfinite(row)]
        assert len(set(met)) == len(met)


@pytest.mark.usefixtures("forms")
def test_exports_and_the_program_have_the_rounds_of_the_full_form(
    leadline: Leadline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    columns = []
    for form in ("full", "compact"):
        assert export_main([f"{form}.h5", "--csv", "--output", f"{form}.csv", "-q"]) == 0
        columns.append([line.split(",")[:7] for line in (tmp_path / f"{form}.csv").read_text().splitlines()])
        assert json.loads(leadline("info", f"{form}.h5", "--json").out)["result"]["has_rounds"] is True
        assert leadline("convert", f"{form}.h5", "--output", f"{form}.sion").status == 0
    assert columns[0] == columns[1]
    assert columns[0][1][6] != ""
    full, compact = (analysis.load_link(tmp_path / f"{form}.sion") for form in ("full", "compact"))
    for one in (full, compact):
        rounds = one.read_rows(one.slices[0], "round", 0, 24)
        assert np.isfinite(rounds).sum() == 24 * 23
    assert leadline("partners", "compact.h5", "--first", "2", "--ranks", "3", "--output", "some.npy").status == 0
    partners = np.load(tmp_path / "some.npy")
    assert partners.shape == (3, 23)
    assert [sorted(row) for row in partners.tolist()] == [
        [other for other in range(24) if other != n] for n in (2, 3, 4)
    ]
    done = leadline("partners", "compact.h5", "--repeat", "2", "--output", "none.npy")
    assert (done.status, "has no repeat 2" in done.err) == (2, True)


def test_a_killed_run_leaves_it(tmp_path: Path) -> None:
    words = ["link", "--local", "2", "--wait", "yield", "--statistics", "compact", "--output", "r.h5"]
    command: list[str | Path] = [program.PROGRAM, *words, "--min-time", "100", "--messages", "20"]

    def num_measured() -> int:
        with h5py.File(tmp_path / "r.h5", locking=False) as file:
            return sum(int((group["pair"][:] > 0xFFFF).sum()) for group in file["repeats"].values())

    with program.Run(command, tmp_path):  # which kills what is left at its end
        program.await_that(lambda: (tmp_path / "r.h5").exists() and num_measured() >= 2)
    result = analysis.load_link(tmp_path / "r.h5")
    assert not result.complete
    assert np.isfinite(result.matrix(result.slices[0])).sum() == 2


@pytest.mark.parametrize("lost", [0, 2])
def test_a_run_that_loses_a_rank_completes_it(lost: int, tmp_path: Path) -> None:
    """Of the last size nothing is measured with that rank, and all of the others."""
    words = ["link", "--local", "4", "--wait", "yield", "--timeout", "2s", "--statistics", "compact", "--retest", "0"]
    more = ["--message-size", "1000-1002+1", "--messages", "60", "--output", "r.h5"]
    with program.Run([program.PROGRAM, *words, *more], tmp_path, program.SLOW_MESSAGES) as run:
        run.await_err(r"\(2 of 3\)[^!]* 1/3 [^\n]*\n")
        with h5py.File(tmp_path / "r.h5", locking=False) as file:
            os.kill(int(file["ranks/pid"][lost]), signal.SIGKILL)
        done = run.finish()
    assert done.status == 1, done.err
    result = analysis.load_link(tmp_path / "r.h5")
    assert result.complete
    first, _, last = result.slices
    others = np.arange(4) != lost
    every_pair = ~np.eye(4, dtype=bool)
    np.testing.assert_array_equal(np.isfinite(result.matrix(first)), every_pair)
    np.testing.assert_array_equal(np.isfinite(result.matrix(last)), every_pair & np.outer(others, others))
    np.testing.assert_array_equal(result.to_measure(last)[others], every_pair[others])
    reasons = result.why_not_measured(last)
    assert set(reasons[others, lost]) == {NotMeasured.RANK_LOST}
    assert np.isnan(reasons[np.ix_(others, others)] * every_pair[np.ix_(others, others)]).sum() == 6
    assert set(np.diag(reasons)[others]) == {NotMeasured.NOT_IN_SCHEDULE}
    assert np.isnan(result.why_not_measured(first)[every_pair]).all()


@pytest.mark.parametrize(
    "words",
    [
        ["--local", "4"],
        ["--local", "4", "--statistics", "compact"],
        ["--local", "6", "--message-size", "8,64,512", "--repeat", "3", "--statistics", "compact"],
        ["--local", "12", "--messages", "1", "--all-to-all", "before-each-round", "--shuffle-ranks", "2"],
    ],
)
def test_the_dry_run_tells_how_large_the_file_will_be(words: list[str], link: Leadline, tmp_path: Path) -> None:
    link(*words, "--no-diagnosis", "--output", "r.h5")
    told = program.bytes_told(link(*words, "--no-diagnosis", "--dry-run").out)
    assert told == pytest.approx((tmp_path / "r.h5").stat().st_size, rel=0.1)


def test_large_files_are_compact_unless_full_is_asked_for(leadline: Leadline) -> None:
    def form(*words: Any) -> str:
        plan = leadline("link", "--dry-run", "--message-size", "1KiB", "--ranks", *words).out
        return plan.split("file  ")[1].split(",")[1]

    assert "full" in form("2130")
    assert "compact" in form("2145")
    assert "compact" in form("1700", "--repeat", "2")
    assert "full" in form("4096", "--statistics", "full")
    assert "compact" in form("2", "--statistics", "compact")


@pytest.mark.parametrize("words", [["--json"], ["--output", "r.sion"], ["--format", "none"]])
def test_other_formats_have_one_form(words: list[str], leadline: Leadline) -> None:
    done = leadline("link", "--local", "2", "--statistics", "compact", *words)
    assert (done.status, "--statistics has no effect here" in done.err) == (2, True)


def test_a_simulated_sion_file_has_one_form(leadline: Leadline) -> None:
    done = leadline("simulate", "link", *TREE, "--statistics", "compact", "--output", "r.sion")
    assert (done.status, "--statistics has no effect here" in done.err) == (2, True)

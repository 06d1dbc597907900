# SPDX-License-Identifier: Apache-2.0
"""The report of a parallel file test: what page, sheet and tables say; nothing from the file gets out of place."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import h5py
import pytest
from made_up_io import (
    MadeUpIo,
    even,
    hostile_names,
    killed,
    loaded,
    never_begun,
    no_space,
    straggling,
    without_files,
    write_io,
    wrong_data,
)
from page_source import Page

import leadline
from leadline.cli.export import main as export_main
from leadline.diagnosis import diagnosed_in
from leadline.io import text as io_text
from leadline.io.analysis import analyse_phase
from leadline.io.data import page_of as data_of
from leadline.io.page import render_io, verdict
from leadline.io.tables import key_figures, latency_table
from leadline.model import FindingList
from leadline.units import bandwidth_text


def page_of(made: MadeUpIo, folder: Path) -> tuple[str, Page]:
    source = render_io(loaded(made, folder))
    return source, Page(source)


def test_an_even_run_is_fine(tmp_path: Path):
    result = loaded(even(), tmp_path)
    found = diagnosed_in(result)
    assert verdict(result, found) == "fine"
    writing, reading, judged = io_text.headline(result, found)
    assert judged.startswith("No fault found")
    assert writing.startswith("Writing: ")
    assert "fsync included" in writing
    assert "fsync included, durable" in writing
    assert "from cache" in reading
    assert io_text.missing(result) == ""


def test_the_throughput_has_the_end_of_the_ramp(tmp_path: Path):
    result = loaded(even(), tmp_path)
    writing, reading = result.phases[0], result.phases[1]
    writing.summary["ramp_ns"], reading.summary["ramp_ns"] = 2.5e6, None
    page = data_of(result, [analyse_phase(result, one) for one in (writing, reading)], diagnosed_in(result))
    assert [one["ramp_ns"] for one in page["phases"]] == [2.5e6, None]


def test_who_is_slow_is_named(tmp_path: Path):
    result = loaded(straggling(), tmp_path)
    found = diagnosed_in(result)
    assert verdict(result, found) == "alarming"
    sentences = io_text.headline(result, found)
    assert "median of 3 repetitions" in sentences[0]
    assert sentences[-1].startswith("Rank 13 on node01 writes slowly: at 0.4 of what comparable ones do"), sentences
    assert sentences[-1].endswith("in 3 of 3 phases (writing and reading; told is the worse).")
    assert io_text.slow_ranks(found, "read") == {13}
    source, _ = page_of(straggling(), tmp_path)
    assert "in 3 of 3 phases" in source
    assert "in which the others wait for it" in source
    assert source.index('id="faults"') < source.index('id="phases"')
    source, _ = page_of(straggling(), tmp_path)
    assert "ignored" in source
    assert "confirmed" in source


def test_large_numbers_are_those_of_the_median(tmp_path: Path):
    result = loaded(straggling(), tmp_path)
    for operation, figure in zip(("write", "read"), key_figures(result)[::2], strict=True):
        rates = [one.bytes_per_s for one in result.phases if one.operation == operation]
        middle = sorted(rates)[1]
        assert rates[-1] != middle, "that of the last repetition"
        assert figure[0] == bandwidth_text(middle)
        assert figure[3].endswith(", median of 3")
        assert bandwidth_text(middle, 3) in " ".join(io_text.headline(result, diagnosed_in(result)))


def test_what_is_in_memory_is_not_durable(tmp_path: Path):
    result = replace(loaded(even(), tmp_path), file_system="tmpfs")
    assert io_text.source_text(result, result.phases[0]) == "in memory"
    assert "in memory" in io_text.headline(result, diagnosed_in(result))[0]


def test_a_latency_has_the_unit_that_fits_it(tmp_path: Path):
    result = loaded(even(), tmp_path)
    slow = replace(result.phases[0], summary={**result.phases[0].summary, "call_ns_max": 40675149666.0})
    (row,) = latency_table([slow])
    assert row["call_ns_max"] == "40.7 s"
    assert row["call_ns_p50"].endswith(" ms")


def test_rates_of_an_earlier_version_are_told_from_todays(tmp_path: Path):
    made = even()
    path = write_io(tmp_path / "earlier.h5", made)
    with h5py.File(path, "r+") as file:
        for index, text in enumerate(file["io/phases/summary"][:]):
            summary = json.loads(bytes(text).rstrip(b"\0"))
            summary["bytes_per_s"] = summary.pop("bytes_per_s_io")
            del summary["bytes_per_s_first_done"], summary["first_done_ns"]
            file["io/phases/summary"][index] = json.dumps(summary).encode()
    today, earlier = loaded(made, tmp_path), leadline.load_io(path)
    for new, old in zip(today.phases, earlier.phases, strict=True):
        assert (new.is_of_earlier_version, old.is_of_earlier_version) == (False, True)
        assert old.bytes_per_s == new.bytes_per_s
        assert old.value("bytes_per_s_io") == new.value("bytes_per_s_io")
        assert math.isnan(old.value("bytes_per_s_first_done"))
    assert "of an earlier version" in dict(io_text.run_facts(earlier))["rates"]
    assert "rates" not in dict(io_text.run_facts(today))


def test_a_suspect_that_could_not_be_tested_leaves_the_verdict_without_colour(tmp_path: Path):
    result = loaded(straggling(), tmp_path)
    found = diagnosed_in(result)
    untested = {
        part: replace(one, faults=tuple(replace(fault, listed_as=FindingList.UNTESTED) for fault in one.faults))
        for part, one in found.found.items()
    }
    faults = [replace(one, fault=replace(one.fault, listed_as=FindingList.UNTESTED)) for one in found.faults or ()]
    open_ = replace(found, found=untested, faults=tuple(faults))
    assert "could not be tested" in io_text.headline(result, open_)[-1]
    assert verdict(result, open_) == ""


def test_wrong_data_come_first(tmp_path: Path):
    result = loaded(wrong_data(), tmp_path)
    found = diagnosed_in(result)
    assert verdict(result, found) == "alarming"
    (sentence,) = (one for one in io_text.headline(result, found) if "wrong" in one)
    assert "2 objects are" in sentence
    assert "object 17 of rank 3 in /scratch/t.3: another rank’s object" in sentence
    source, _ = page_of(wrong_data(), tmp_path)
    assert source.index('id="wrong"') < source.index('id="phases"')
    assert "object 2 of rank 5" in source
    assert f"{(17 << 20) + 5000:,}" in source


def test_what_is_missing(tmp_path: Path):
    assert io_text.missing(loaded(killed(), tmp_path)) == "read not measured"
    assert io_text.missing(loaded(no_space(), tmp_path)) == "write not complete, read not measured"
    for made, said in ((never_begun(), "Nothing was measured."), (no_space(), "No phase finished.")):
        result = loaded(made, tmp_path)
        assert io_text.headline(result, diagnosed_in(result)) == [said]
    source, _ = page_of(no_space(), tmp_path)
    assert "No space left on device" in source


def test_a_funnel_without_files(tmp_path: Path):
    source, _ = page_of(without_files(), tmp_path)
    assert "without files" in source
    assert "Page cache" not in source


def test_names_from_the_file_stay_text(tmp_path: Path):
    source, _ = page_of(hostile_names(), tmp_path)
    assert "<script>alert" not in source
    assert "<b>host</b>" not in source


def table(path: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    assert export_main([str(path), "--csv", "-o", "-", *arguments]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out), strict=True))


def test_a_line_for_each_phase(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_io(tmp_path / "run.h5", straggling())
    result = leadline.load(path)
    lines = table(path, capsys)
    assert [(line["phase"], line["operation"], line["repeat"]) for line in lines][:3] == [
        ("1", "write", "1"), ("2", "read", "1"), ("3", "write", "2"),
    ]  # fmt: skip
    for line, phase in zip(lines, result.phases, strict=True):
        assert float(line["bytes_per_s"]) == phase.bytes_per_s
        assert int(line["bytes"]) == 32 * 64 << 20
        assert line["source"] == ("cache" if phase.operation == "read" else "")
        assert line["durable"] == ("1" if phase.operation == "write" else "")


def test_a_line_for_each_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_io(tmp_path / "run.h5", straggling())
    result = leadline.load(path)
    lines = table(path, capsys, "--ranks")
    assert len(lines) == 6 * 32
    rows, line = result.rows(result.phases[1]), lines[32 + 13]
    assert (line["rank"], line["host"], line["file"]) == ("13", "node01", "/scratch/t.13")
    assert float(line["call_ns"]) == rows.times_ns["call"][13]
    assert float(line["bytes_per_s"]) == rows.bytes_per_s[13]


def test_a_phase_that_failed_has_no_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (line,) = table(write_io(tmp_path / "run.h5", no_space()), capsys)
    assert (line["complete"], line["bytes_per_s"]) == ("0", "")


def test_a_formula_stays_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    lines = table(write_io(tmp_path / "run.h5", hostile_names()), capsys, "--ranks")
    assert not any(line["host"].startswith("=") or line["file"].startswith("=") for line in lines)


def test_the_timeline_comes_first(tmp_path: Path):
    _, page = page_of(straggling(), tmp_path)
    places = [page.ids().index(name) for name in ("faults", "time", "phases", "run")]
    assert places == sorted(places)

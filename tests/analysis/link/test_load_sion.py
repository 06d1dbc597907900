# SPDX-License-Identifier: Apache-2.0
"""Loading SION files: the program converts them, errors name the user's file, and nothing is left of the copy."""

from __future__ import annotations

import os
import resource
import select
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import program
import pytest

import leadline
from leadline.error import ExitStatus

pytestmark = pytest.mark.usefixtures("real_program")

SAMPLES = program.ROOT / "tests" / "samples"
LINKTEST = sorted((SAMPLES / "linktest").glob("*.sion"))
FABRIC = program.ROOT / "examples" / "fabrics" / "slow-host.json"
DEADLINE_S = 60.0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    return place


def engine(*words: str | Path) -> None:
    subprocess.run(
        [program.PROGRAM, *words], check=True, capture_output=True, timeout=DEADLINE_S,
        env=program.clean_environment(),
    )  # fmt: skip


def message_of(path: Path, status: ExitStatus = ExitStatus.RUN_FAILED) -> str:
    with pytest.raises(leadline.LeadlineError) as caught:
        leadline.load(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"cannot read '{path}' (")
    assert caught.value.status is status
    return str(caught.value)


@pytest.mark.parametrize("sample", LINKTEST, ids=lambda path: path.stem)
def test_a_result_of_linktest(sample: Path, folder: Path):
    result = leadline.load_link(sample)
    part, record = result.slice(), result.linktest
    assert (result.path, result.complete) == (sample, True)
    assert not list(folder.iterdir()), "what is open needs no name"
    assert record is not None
    assert record.location[:, 0].tolist() == list(range(result.num_ranks))
    assert record.message_size_bytes == part.message_size_bytes
    assert list(result.options)[:3] == ["transport", "message_size", "messages"], "their order is kept"
    times = result.matrix(part)
    assert np.isnan(times.diagonal()).all()
    measured = [np.nanmin(times) / 1e9, np.nanmax(times) / 1e9, np.nanmean(times) / 1e9]
    assert list(record.time_s) == pytest.approx(measured)
    np.testing.assert_array_equal(result.matrix(part, leadline.Statistic.P99), times)
    for retest in result.retests:
        assert times[retest.from_rank, retest.to_rank] == retest.time_ns


def test_exchanges_of_all_with_all():
    result = leadline.load_link(SAMPLES / "linktest" / "ompi_n8_1KiB_a2a.sion")
    part, record = result.slice(), result.linktest
    assert record is not None
    assert (record.has_all_to_all, record.is_serial, record.is_permuted) == (True, False, False)
    exchanges = result.all_to_all[part].each_round
    assert exchanges is not None
    assert (exchanges.num, result.all_to_all[part].message_size_bytes) == (8 * 7, 1)
    assert [t / 1e9 for t in (exchanges.min, exchanges.max, exchanges.mean)] == pytest.approx(record.all_to_all_time_s)


def test_a_run_of_ours(tmp_path: Path):
    words = ["--local", "6", "--message-size", "8B,1KiB", "--shuffle-ranks", "2", "--wait", "yield", "--quiet"]
    usual = ["--transport", f"model:{FABRIC}", "--messages", "4", "--batches", "2", "--warmup", "1"]
    # A name that would be an option.
    path = tmp_path / "-run.sion"
    engine("link", *words, *usual, "--output", path)
    result = leadline.load_link(path)
    assert result.provenance.simulated
    assert result.message_sizes_bytes == (8, 1024)
    assert [part.permutation for part in result.slices] == [0, 0, 1, 1]
    assert all(result.to_measure(part).sum() == np.isfinite(result.matrix(part)).sum() == 30 for part in result.slices)
    relative = subprocess.run(
        [sys.executable, "-c", "import leadline; print(leadline.load('-run.sion').path)"], cwd=tmp_path,
        capture_output=True, text=True, timeout=DEADLINE_S, check=True,
    )  # fmt: skip
    assert relative.stdout == "-run.sion\n"


def test_an_unfinished_file_gives_what_it_has(tmp_path: Path):
    contents = bytearray(LINKTEST[0].read_bytes())
    (num_ranks,) = struct.unpack_from("<i", contents, 24)
    struct.pack_into("<iq", contents, 1076 + 16 * num_ranks, 0, 0)
    path = tmp_path / "run.sion"
    path.write_bytes(contents)
    result = leadline.load_link(path)
    assert (result.complete, result.incomplete_reason) == (False, "still running, or killed without a word")
    whole = leadline.load_link(LINKTEST[0])
    np.testing.assert_array_equal(result.matrix(result.slice()), whole.matrix(whole.slice()))


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("bad/b01_magic.sion", 2, "neither HDF5 nor SION"),
        ("bad/b03b_fmt99.sion", 4, "FORMAT"),
        ("bad/b05c_nhuge.sion", 4, "NTASKS"),
        ("bad/b12d_svin.sion", 4, "META2POS"),
        ("bad/b15c_t2000.sion", 4, "TRUNCATED"),
        ("01-serial-min2.sion", 2, "LinkTest). A result of leadline link or LinkTest is wanted"),
        ("07-mpi-multi.sion", 2, "SION, but not a result of LinkTest"),
        ("20-mpi-unclosed.sion", 4, "unfinished SION file, UNCLOSED"),
    ],
)  # fmt: skip
def test_what_is_no_result(name: str, status: int, reason: str, folder: Path):
    assert reason in message_of(SAMPLES / "sion" / name, ExitStatus(status))
    assert not list(folder.iterdir())


def test_times_that_no_measurement_gives(tmp_path: Path):
    contents = bytearray(LINKTEST[0].read_bytes())
    place = contents.index(b"LKTST") + 409 + 8
    struct.pack_into("<d", contents, place, -1.0)
    path = tmp_path / "run.sion"
    path.write_bytes(contents)
    assert "which no measurement gives" in message_of(path)


def test_without_the_program(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LEADLINE_PROGRAM", "/nowhere/leadline")
    assert "LEADLINE_PROGRAM is '/nowhere/leadline'" in message_of(LINKTEST[0], ExitStatus.SOMETHING_MISSING)


def test_a_program_for_another_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As in a folder that hosts of two kinds share."""
    other = bytearray(program.PROGRAM.read_bytes()[:4096])
    other[18] ^= 0xFF  # e_machine
    file = tmp_path / "leadline"
    file.write_bytes(other)
    file.chmod(0o755)
    monkeypatch.setenv("LEADLINE_PROGRAM", str(file))
    message = message_of(LINKTEST[0], ExitStatus.SOMETHING_MISSING)
    assert f"({file}: Exec format error). It is for another kind of processor" in message


def test_no_room_for_the_copy(folder: Path, monkeypatch: pytest.MonkeyPatch):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
    try:
        message = message_of(LINKTEST[0])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert f"(cannot write into {folder}: File too large). Set TMPDIR" in message
    assert not list(folder.iterdir())
    monkeypatch.setenv("TMPDIR", str(folder / "missing"))
    message = message_of(LINKTEST[0], ExitStatus.SOMETHING_MISSING)
    assert f"in {folder / 'missing'}: No such file or directory). Set TMPDIR" in message


def test_an_interrupted_conversion_leaves_nothing(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch):
    pipe, slow = tmp_path / "pipe", tmp_path / "leadline"
    os.mkfifo(pipe)
    slow.write_text(f'#!/bin/sh\necho half > "$3"\necho begun > {pipe}\nexec sleep {DEADLINE_S}\n')
    slow.chmod(0o755)
    monkeypatch.setenv("LEADLINE_PROGRAM", str(slow))
    code = f"from leadline.cli.export import main; raise SystemExit(main([{str(LINKTEST[0])!r}, '--csv', '-o', '-']))"
    begun = os.open(pipe, os.O_RDWR)
    with subprocess.Popen([sys.executable, "-c", code], preexec_fn=program.heed_signals) as run:
        try:
            assert select.select([begun], [], [], DEADLINE_S)[0]
            assert len(list(folder.iterdir())) == 1
            run.send_signal(signal.SIGINT)
            assert run.wait(DEADLINE_S) == 128 + signal.SIGINT
        finally:
            run.kill()
            os.close(begun)
    assert not list(folder.iterdir())

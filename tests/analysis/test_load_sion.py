# SPDX-License-Identifier: Apache-2.0
"""Loading SION files: LinkTest's samples and our own give what their conversion to HDF5 gives, and no damage hurts."""

from __future__ import annotations

import dataclasses
import os
import shlex
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline
from leadline.error import ExitStatus
from leadline.readers.input_file import InputFile
from leadline.readers.sion_container import SionContainer
from leadline.readers.sion_rows import ns_of_seconds

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program

SAMPLES = program.ROOT / "tests" / "samples"
LINKTEST = sorted((SAMPLES / "linktest").glob("*.sion"))
FABRIC = program.ROOT / "examples" / "fabrics" / "slow-host.json"
MATRICES = ("count", *(f"time_ns_{statistic.value}" for statistic in leadline.Statistic))


def engine(*words: str | Path) -> None:
    if not program.PROGRAM.is_file():
        pytest.skip(f"{program.PROGRAM.name} is not built")
    environment = program.clean_environment()
    subprocess.run([program.PROGRAM, *words], check=True, capture_output=True, timeout=60, env=environment)


def message_of(path: Path, status: ExitStatus = ExitStatus.RUN_FAILED) -> str:
    with pytest.raises(leadline.LeadlineError) as caught:
        read_all(leadline.load(path))
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.status is status
    return str(caught.value)


def read_all(result: leadline.LinkResult) -> None:
    for part in result.slices[:4]:
        for name in MATRICES:
            result.read_rows(part, name, 0, result.num_ranks)
        result.to_measure(part)


def assert_same(one: leadline.LinkResult, other: leadline.LinkResult) -> None:
    for field in dataclasses.fields(leadline.LinkResult):
        if field.name == "linktest":
            assert_same_record(one.linktest, other.linktest)
        elif field.name not in ("path", "close", "read_rows", "read_block"):
            np.testing.assert_equal(getattr(one, field.name), getattr(other, field.name), field.name)
    for part in one.slices:
        for name in MATRICES:
            rows = [result.read_rows(part, name, 0, one.num_ranks) for result in (one, other)]
            np.testing.assert_array_equal(*rows, name)
        np.testing.assert_array_equal(one.to_measure(part), other.to_measure(part))


def assert_same_record(one: leadline.LinkTestRecord | None, other: leadline.LinkTestRecord | None) -> None:
    assert (one is None) == (other is None)
    if one and other:
        np.testing.assert_array_equal(one.location, other.location)
        assert dataclasses.replace(one, location=other.location) == other


@pytest.mark.parametrize("sample", LINKTEST, ids=lambda path: path.stem)
def test_linktest_samples_are_their_conversions(sample: Path, tmp_path: Path):
    engine("convert", sample, tmp_path / "run.h5")
    result = leadline.load(sample)
    assert_same(result, leadline.load(tmp_path / "run.h5"))
    assert result.linktest is not None
    assert result.linktest.location[:, 0].tolist() == list(range(result.num_ranks))


def test_a_result_of_linktest():
    result = leadline.load(SAMPLES / "linktest" / "ompi_n8_1KiB_a2a.sion")
    part = result.part()
    record = result.linktest
    assert record is not None
    assert (result.num_ranks, part.message_size_bytes, result.complete) == (8, 1024, True)
    assert (record.has_all_to_all, record.is_serial, record.is_permuted) == (True, False, False)
    times = result.matrix(part)
    assert np.isnan(times.diagonal()).all()
    assert record.time_s[0] == pytest.approx(np.nanmin(times) / 1e9)
    assert record.time_s[1] == pytest.approx(np.nanmax(times) / 1e9)
    assert record.time_s[2] == pytest.approx(np.nanmean(times) / 1e9)
    np.testing.assert_array_equal(result.matrix(part, leadline.Statistic.P99), times)
    exchanges = result.all_to_all[part].each_round
    assert exchanges is not None
    assert (exchanges.num, result.all_to_all[part].message_size_bytes) == (8 * 7, 1)
    assert [t / 1e9 for t in (exchanges.min, exchanges.max, exchanges.mean)] == pytest.approx(record.all_to_all_time_s)
    assert result.retests
    for retest in result.retests:
        assert times[retest.from_rank, retest.to_rank] == retest.time_ns


RUNS = {
    "plain": ["--local", "8"],
    "a sweep": ["--local", "5", "--message-size", "8B,1KiB", "--repeat", "2"],
    "shuffled, all to all": ["--local", "6", "--shuffle-ranks", "2", "--all-to-all", "before-each-round"],
    "few rounds": ["--local", "6", "--only-rounds", "1,3", "--direction", "bidirectional"],
}


@pytest.mark.parametrize("name", RUNS)
def test_our_own_runs_are_their_conversions(name: str, tmp_path: Path):
    usual = ["--transport", f"model:{FABRIC}", "--messages", "4", "--batches", "2", "--warmup", "1", "--quiet"]
    engine("link", *RUNS[name], *usual, "--output", tmp_path / "run.sion")
    engine("convert", tmp_path / "run.sion", tmp_path / "run.h5")
    result = leadline.load(tmp_path / "run.sion")
    assert_same(result, leadline.load(tmp_path / "run.h5"))
    assert result.provenance.simulated
    rows, columns = np.array([4, 0]), np.array([1, 3])
    for part in result.slices:
        block = result.read_block(part, "time_ns_median", rows, columns)
        np.testing.assert_array_equal(block, result.matrix(part)[np.ix_(rows, columns)])


def test_a_converted_file_of_linktest_still_tells_its_record(tmp_path: Path):
    engine("convert", LINKTEST[0], tmp_path / "run.h5")
    engine("convert", tmp_path / "run.h5", tmp_path / "run.sion")
    assert_same(leadline.load(tmp_path / "run.sion"), leadline.load(tmp_path / "run.h5"))


# A container of our own, for forms that neither program writes.


def container(
    contents: Sequence[bytes], order: str, payload: str, chunk: int, block: int = 64, version: int = 5
) -> bytes:
    """Contents in rounds of chunks of one size; asked for so in format 3, else as it is in the file."""
    num = len(contents)
    room = -(-chunk // block) * block if version == 3 else chunk
    pieces = [[content[at : at + room] for at in range(0, len(content), room)] for content in contents]
    num_rounds = max(len(of_task) for of_task in pieces)
    mark = {("<", "<"): b"\0\0\0\0", ("<", ">"): b"\0\1\1\0", (">", "<"): b"\1\0\0\1", (">", ">"): b"\1\1\1\1"}
    begin = -(-(1088 + 16 * num) // block) * block
    end = begin + num_rounds * num * room
    head = b"sion" + mark[order, payload] + struct.pack(f"{order}7iqq", 1007, 6, version, block, num, 1, 0, 50 << 32, 0)
    head += b"name".ljust(1024, b"\0") + struct.pack(f"{order}{num}q", *range(num))
    head += struct.pack(f"{order}{num}q", *[chunk] * num) + struct.pack(f"{order}iq", num_rounds, end)
    data = b"".join(
        (of_task[number] if number < len(of_task) else b"").ljust(room, b"\x55")
        for number in range(num_rounds)
        for of_task in pieces
    )
    used = [len(of_task[number]) if number < len(of_task) else 77 for number in range(num_rounds) for of_task in pieces]
    tail = struct.pack(f"{order}{num}q", *(len(of_task) for of_task in pieces))
    return head.ljust(begin, b"\xaa") + data + tail + struct.pack(f"{order}{len(used)}q", *used)


def records(payload: str) -> list[bytes]:
    """LinkTest's of two ranks: 3 iterations of 9 bytes, 0.5 µs one way and 0.25 µs the other, a retest."""
    contents = []
    for rank, time_s in enumerate((0.5e-6, 0.25e-6)):
        content = b"LKTST" + struct.pack(f"{payload}3i", 1, 2, 1) + f"node{rank}".encode().ljust(256, b"\0")
        content += struct.pack(f"{payload}4i", rank, 0, 0, 0)
        if rank == 0:
            content += struct.pack(
                f"{payload}10i10d", 3, 9, 0, 1, 1, 0, 0, 0, 0, 1, *[0.25e-6, 0.5e-6, 0.375e-6], *[0] * 7
            )
        times = [time_s * (partner != rank) for partner in range(2)]
        content += struct.pack(f"{payload}2d2i", *times, rank == 1, rank == 0)
        if rank == 0:
            content += struct.pack(f"{payload}4d4i", 0.75e-6, 0, 0.5e-6, 0, 0, 0, 1, 0)
        contents.append(content)
    return contents


@pytest.mark.parametrize(("order", "payload"), [("<", "<"), ("<", ">"), (">", "<"), (">", ">")])
@pytest.mark.parametrize(("chunk", "version"), [(1000, 5), (100, 4), (7, 5), (100, 3)])
def test_either_byte_order_and_contents_in_pieces(order: str, payload: str, chunk: int, version: int, tmp_path: Path):
    path = tmp_path / "run.sion"
    path.write_bytes(container(records(payload), order, payload, chunk, version=version))
    result = leadline.load(path)
    part = result.part(size=9, repeat=0)
    np.testing.assert_array_equal(result.matrix(part), [[np.nan, 500], [250, np.nan]])
    np.testing.assert_array_equal(result.count(part), [[np.nan, 1], [1, np.nan]])
    assert result.to_measure(part).tolist() == [[False, True], [True, False]]
    assert [place.host for place in result.ranks] == ["node0", "node1"]
    assert result.retests == (leadline.Retest(0, 0, 0, 1, 500.0, 750.0),)
    assert result.options["messages"] == "3"
    assert result.linktest is not None
    assert result.linktest.is_serial


def test_seconds_divide_back_as_in_the_engine():
    times_ns = np.random.default_rng(1).uniform(100, 1e9, 20_000)
    np.testing.assert_array_equal(ns_of_seconds(times_ns / 1e9) / 1e9, times_ns / 1e9)
    assert np.isnan(ns_of_seconds(np.array([np.nan]))[0])


BAD = {
    "b01_magic.sion": "neither HDF5 nor SION",
    "b03b_fmt99.sion": "FORMAT",
    "b05c_nhuge.sion": "NTASKS",
    "b11_mx0.sion": "MAXCHUNKS",
    "b12d_svin.sion": "META2POS",
    "b14_bs.sion": "BLOCKSIZE",
    "b15c_t2000.sion": "TRUNCATED",
    "b20b_maphuge.sion": "of a SION set",
    "b30c_kvhuge.sion": "not a result of LinkTest",
}


@pytest.mark.parametrize("name", BAD)
def test_damaged_containers(name: str):
    is_another_kind = name in ("b01_magic.sion", "b20b_maphuge.sion", "b30c_kvhuge.sion")
    status = ExitStatus.BAD_COMMAND_LINE if is_another_kind else ExitStatus.RUN_FAILED
    assert BAD[name] in message_of(SAMPLES / "sion" / "bad" / name, status)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("01-serial-min2.sion", "SION, but not a result of LinkTest"),
        ("02-serial-chunks.sion", "SION, but not a result of LinkTest"),
        ("20-mpi-unclosed.sion", "unfinished SION file, UNCLOSED"),
        ("07-mpi-multi.sion", "leadline convert {0} {1}"),
        ("07-mpi-multi.sion.000001", "leadline convert {0} {1}"),
    ],
)
def test_sound_containers_that_are_no_results(name: str, reason: str):
    folder = SAMPLES / "sion"
    files = [shlex.quote(str(folder / f"07-mpi-multi.{ending}")) for ending in ("sion", "h5")]
    status = ExitStatus.RUN_FAILED if "UNCLOSED" in reason else ExitStatus.BAD_COMMAND_LINE
    assert reason.format(*files) in message_of(folder / name, status)


def patched(contents: bytes, *changes: tuple[int, str, Any]) -> bytes:
    copy = bytearray(contents)
    for offset, kind, value in changes:
        struct.pack_into(f"<{kind}", copy, offset, value)
    return bytes(copy)


SOUND = container(records("<"), "<", "<", 1000)
DATA = 1152  # where the first record begins
DAMAGES = {
    "no block size": ([(20, "i", 0)], "FSBLK"),
    "no tasks": ([(24, "i", 0)], "NTASKS"),
    "no files": ([(28, "i", 0)], "NFILES"),
    "file number": ([(32, "i", 7)], "FILENO"),
    "key-value mode": ([(36, "q", 7 << 32)], "KEYVAL"),
    "a byte order that is none": ([(4, "B", 1)], "ENDIAN"),
    "negative rank": ([(1076, "q", -1)], "RANKS: a task has a negative rank"),
    "one rank twice": ([(1076, "q", 1)], "RANKS: two tasks have rank 1"),
    "negative chunk": ([(1092, "q", -5)], "CHUNKSIZE"),
    "chunks beyond 64 bits": ([(1092, "q", 2**63 - 1), (1100, "q", 2**62)], "OVERFLOW"),
    "rounds beyond 64 bits": ([(1108, "i", 2**31 - 1), (1092, "q", 2**40)], "META2POS"),
    "number of blocks": ([(DATA + 2000, "q", 2)], "BLOCKCOUNT"),
    "used beyond the chunk": ([(DATA + 2016, "q", 1001)], "BLOCKSIZE"),
    "negative use": ([(DATA + 2016, "q", -1)], "BLOCKSIZE"),
    "a short record": ([(DATA + 2024, "q", 300)], "RECORDSIZE: rank 1 has 300 bytes, not 313"),
    "bytes behind the record": ([(DATA + 2016, "q", 482)], "RECORDSIZE"),
    "another layout": ([(DATA + 5, "i", 2)], "RECORDVERSION: layout 2.2.1"),
    "no record of a rank": ([(DATA + 1000, "B", 0)], "RECORDID: rank 1"),
    "all-to-all that is not there": ([(DATA + 297, "i", 1)], "RECORDSIZE"),
    "a negative size": ([(DATA + 293, "i", -9)], "damaged: the message size is -9"),
    "a negative time": ([(DATA + 417, "d", -1.0)], "no measurement gives"),
    "an endless time": ([(DATA + 417, "d", 1e305)], "no measurement gives"),
    "a time that is none": ([(DATA + 417, "d", float("nan"))], "no measurement gives"),
    "a negative step": ([(DATA + 429, "i", -1)], "no measurement gives"),
    "a retest of nobody": ([(DATA + 473, "i", 5)], "the pair 0 to 5"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_records(name: str, tmp_path: Path):
    changes, reason = DAMAGES[name]
    path = tmp_path / "run.sion"
    path.write_bytes(SOUND)
    read_all(leadline.load(path))
    path.write_bytes(patched(SOUND, *changes))
    assert reason in message_of(path)


def test_an_unfinished_file_gives_what_it_has(tmp_path: Path):
    path = tmp_path / "run.sion"
    path.write_bytes(patched(SOUND, (1108, "i", 0), (1112, "q", 0)))
    result = leadline.load(path)
    assert (result.complete, result.incomplete_reason) == (False, "still running, or killed without a word")
    assert result.matrix(result.part())[0, 1] == 500


def test_tables_of_holes_take_no_memory(tmp_path: Path):
    path = tmp_path / "run.sion"
    num = 1 << 24
    path.write_bytes(patched(SOUND[:1088], (24, "i", num)))
    with path.open("rb+") as stream:
        stream.truncate(1088 + 16 * num)
    assert "LIMIT" in message_of(path)


def test_cut_off_anywhere(tmp_path: Path):
    path = tmp_path / "run.sion"
    path.write_bytes(SOUND)
    for size in reversed(range(len(SOUND))):
        os.truncate(path, size)
        with pytest.raises(leadline.LeadlineError) as caught:
            leadline.load(path)
        expected = "TRUNCATED" if size >= 4 else "neither HDF5 nor SION" if size else "the file is empty"
        assert expected in str(caught.value)


@pytest.mark.parametrize("source", ["linktest", "extended"])
def test_any_changed_byte_is_a_result_or_one_line(source: str, tmp_path: Path):
    path, original = tmp_path / "run.sion", LINKTEST[0]
    if source == "extended":
        original = tmp_path / "original.sion"
        engine("convert", LINKTEST[0], tmp_path / "original.h5")
        engine("convert", tmp_path / "original.h5", original)
    sound = original.read_bytes()
    generator = np.random.default_rng(12)
    num_errors = 0
    for _ in range(300):
        # The tables of the container are where a change hurts most.
        place = int(generator.integers(0, generator.choice([1300, len(sound)])))
        damaged = bytearray(sound)
        damaged[place] = int(generator.choice([0, 1, 127, 255, int(generator.integers(0, 256))]))
        path.write_bytes(damaged)
        try:
            read_all(leadline.load(path))
        except leadline.LeadlineError as error:
            num_errors += 1
            assert "\n" not in str(error)
    assert num_errors > 5


def test_the_container_alone(tmp_path: Path):
    contents = [b"", b"x" * 5, b"abcdefghij" * 3]
    (tmp_path / "some.sion").write_bytes(container(contents, ">", "<", 8))
    found = SionContainer(InputFile(tmp_path / "some.sion"))
    assert [found.size_bytes(task) for task in range(3)] == [0, 5, 30]
    assert [found.read(task, 0, found.size_bytes(task)) for task in range(3)] == contents
    assert found.read(2, 6, 13) == contents[2][6:19]

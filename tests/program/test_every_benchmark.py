# SPDX-License-Identifier: Apache-2.0
"""What runs of several benchmarks do in the same way: memory, sizes told, older results, wrong bytes, lost ranks."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import h5py
import program
import pytest
from fabrics import fabric_file
from program import Leadline
from result import schema_of, status_of, wrong_json

# Each a small run.
SMALL = {
    "bisection": ["--local", "2", "--rounds", "4", "--message-size", "1KiB", "--wait", "yield"],
    "io": [
        "--local",
        "2",
        "--objects",
        "2",
        "--object-size",
        "12288",
        "--target",
        "t.%r",
        "--wait",
        "yield",
        "--quiet",
    ],
}


@pytest.mark.parametrize("benchmark", SMALL)
def test_an_older_result_is_kept(benchmark: str, leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "r.h5").write_text("precious")
    words = [benchmark, *SMALL[benchmark], "--output", "r.h5"]
    leadline(*words).assert_refused(2, "r.h5")
    assert (tmp_path / "r.h5").read_text() == "precious"
    assert leadline(*words, "--overwrite").status == 0
    assert status_of(tmp_path / "r.h5")[0]


@pytest.mark.parametrize(
    ("benchmark", "words", "option"), [("bisection", [], ("rounds", 4)), ("io", ["--delete"], ("objects", 2))]
)
def test_json_alone_on_standard_output(
    benchmark: str, words: list[str], option: tuple[str, int], leadline: Leadline, tmp_path: Path
) -> None:
    document = json.loads(leadline(benchmark, *SMALL[benchmark], *words, "--output", "-").out)
    assert wrong_json(document, schema_of(benchmark)) == []
    assert document["options"][option[0]] == option[1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["link", "--messages", "1"], []),
        (["link", "--messages", "1", "--verify"], []),
        (["bisection"], ["--message-size"]),
        (["topology"], ["--shared-buffers", "--max-outstanding"]),
    ],
)
def test_more_than_the_memory(words: list[str], named: list[str], leadline: Leadline, tmp_path: Path) -> None:
    done = leadline(*words, "--local", "2", "--message-size", "1TiB")
    assert done.status == 3
    assert all(word in done.complaint for word in ("memory", "GiB", *named))
    assert list(tmp_path.iterdir()) == []


FEW_EXCHANGES = ["bisection", "--exchanges", "2", "--precision", "0"]


@pytest.mark.parametrize(
    "words",
    [
        [*FEW_EXCHANGES, "--message-size", "8", "--rounds", "10"],
        [*FEW_EXCHANGES, "--message-size", "8,64", "--rounds", "60", "--pattern", "random,shift:2"],
        ["topology", "--pattern", "ring", "--message-size", "8"],
        ["topology", "--message-size", "8,64", "--repeat", "2", "--iterations", "50"],
        ["topology", "--pattern", "complete,ring", "--duration", "1s"],
    ],
)
def test_the_dry_run_tells_how_large_the_file_will_be(words: list[str], leadline: Leadline, tmp_path: Path) -> None:
    more = [*words, "--local", "6", "--wait", "yield"]
    assert leadline(*more, "--output", "r.h5").status in (0, 1)
    told = program.bytes_told(leadline(*more, "--dry-run").out)
    assert told == pytest.approx((tmp_path / "r.h5").stat().st_size, rel=0.1)


@pytest.mark.parametrize(
    ("words", "fault", "named"),
    [
        (["bisection", "--local", "2", "--rounds", "6", "--exchanges", "4"], {"to": 0, "message": 2}, ["rank 0"]),
        (["topology", "--local", "4", "--pattern", "ring2", "--iterations", "5"], {"to": 2, "message": 3},
         ["rank 2", "exchange 3"]),
    ],
    ids=["bisection", "topology"],
)  # fmt: skip
def test_a_wrong_byte_ends_the_run(
    words: list[str], fault: dict[str, Any], named: list[str], leadline: Leadline, tmp_path: Path
) -> None:
    transport = fabric_file(tmp_path, {"corrupt": {"from": 1, "byte": 17} | fault})
    words = [
        *words,
        "--message-size",
        "64,128",
        "--transport",
        transport,
        "--warmup",
        "1",
        "--wait",
        "yield",
        "--quiet",
    ]
    assert leadline(*words, "--output", "unseen.h5").status == 0
    assert status_of(tmp_path / "unseen.h5")[0], "without --verify nobody looks"
    done = leadline(*words, "--verify", "--output", "r.h5")
    assert (done.status, done.out) == (4, "")
    assert all(word in done.complaint for word in ("rank 1", "byte 17", "64 bytes", *named))
    assert status_of(tmp_path / "r.h5") == (False, done.complaint.removeprefix("leadline: "))
    if words[0] == "bisection":
        with h5py.File(tmp_path / "r.h5") as file:
            assert (file["bisection/patterns/measuring_s"][0] > 0).any(), "what was measured is kept"


def rows_of_bisection(file: h5py.File) -> bool:
    there = file["bisection/patterns/measuring_s"][0] > 0
    first = file["bisection/send_to"][0][:, there][:, 0]
    return sorted(first) == [0, 1, 2, 3] and (file["bisection/time_ns"][0][:, there][:, 0] > 0).all()


def rows_of_topology(file: h5py.File) -> bool:
    """The first cell was written, the last one not begun."""
    tables = [file["topologies/0000"][name] for name in (
        "exchange_time_ns", "exchange_with_barrier_time_ns", "rank_time_ns_median", "arrival_time_ns"
    )]  # fmt: skip
    return all((table[0, 0] > 0).all() and (table[0, -1] == 0).all() for table in tables)


@pytest.mark.parametrize(
    ("words", "progress", "step", "has_rows"),
    [
        # A line a second; rows are written every two.
        (["bisection", "--message-size", "1KiB", "--precision", "0", "--time-limit", "0", "--rounds", "100000"],
         r"(?:[^\n]* random [^\n]*\n){5}", "bisection 1 KiB", rows_of_bisection),
        (["topology", "--pattern", "ring2", "--message-size", "1KiB-60KiB+1KiB", "--iterations", "100"],
         r" 1/60 [^\n]*\n", "ring2", rows_of_topology),
    ],
    ids=["bisection", "topology"],
)  # fmt: skip
def test_a_rank_is_killed(words: list[str], progress: str, step: str, has_rows: Any, tmp_path: Path) -> None:
    slow = program.SLOW_MESSAGES if words[0] == "topology" else None
    command = [program.PROGRAM, *words, "--local", "4", "--strict-ranks", "--wait", "yield", "--output", "r.h5"]
    with program.Run(command, tmp_path, slow, timeout=90) as run:
        run.await_err(progress)
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            pids = file["ranks/pid"][:].tolist()
        os.kill(pids[2], signal.SIGKILL)
        done = run.finish()
    assert (done.status, done.out) == (4, "")
    assert f"rank 2 on {os.uname().nodename}" in done.complaint
    assert step in done.complaint
    assert status_of(tmp_path / "r.h5") == (False, done.complaint.removeprefix("leadline: "))
    with h5py.File(tmp_path / "r.h5") as file:
        assert has_rows(file)
        assert "end_utc" not in file["provenance"].attrs

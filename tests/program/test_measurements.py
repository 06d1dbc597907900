# SPDX-License-Identifier: Apache-2.0
"""How it is measured: directions, windows, verification, memory, waiting; and that what was used is recorded."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from fabrics import FABRIC, fabric_file
from program import Leadline
from result import ResultFile


@pytest.mark.parametrize("direction", ["semidirectional", "unidirectional", "bidirectional"])
@pytest.mark.parametrize("ranks", ["1", "3", "4"])
def test_directions(link: Leadline, tmp_path: Path, direction: str, ranks: str) -> None:
    window = [] if direction == "semidirectional" else ["--window", "3"]
    link("--local", ranks, "--direction", direction, *window, "--messages", "7", "--output", "r.h5", "--verify")
    result = ResultFile(tmp_path / "r.h5")
    assert np.array_equal(result.measured(), result.every_pair())
    assert result.provenance["direction"] == result.options["direction"] == direction
    assert set(result.repeats[0]["count"][0][result.every_pair()].tolist()) == {7}


def test_bandwidth_of_each_direction(link: Leadline, tmp_path: Path) -> None:
    """One pair of 1 MB over 1 GB/s: what is known is what must come out."""
    expected_ns = {"semidirectional": 1_002_000.0, "unidirectional": 1_000_000.0, "bidirectional": 1_000_000.0}
    transport = fabric_file(tmp_path, ranks_per_host=1, jitter=0)
    for direction, time_ns in expected_ns.items():
        link("--local", "2", "--transport", transport, "--direction", direction, "--message-size", "1MB",
             "--messages", "50", "--batches", "1", "--output", f"{direction}.json")  # fmt: skip
        every = json.loads((tmp_path / f"{direction}.json").read_text())["slices"][0]["between_hosts"]
        assert every["time_ns_median"] == pytest.approx(time_ns, rel=1e-3)
        factor = 2 if direction == "bidirectional" else 1
        assert every["bandwidth_bytes_per_s_median"] == pytest.approx(factor * 1e15 / every["time_ns_median"])


@pytest.mark.parametrize("direction", ["semidirectional", "unidirectional", "bidirectional"])
def test_verified_bytes(link: Leadline, tmp_path: Path, direction: str) -> None:
    link("--local", "3", "--verify", "--message-size", "10,1000", "--messages", "6", "--direction", direction,
         "--output", "r.json")  # fmt: skip
    document = json.loads((tmp_path / "r.json").read_text())
    # Before each measurement of a pair, --messages messages in each direction; three pairs, each measured once a round.
    assert document["verified_bytes"] % (6 * (10 + 1000)) == 0
    assert document["verified_bytes"] >= 6 * 6 * (10 + 1000)


def test_nothing_is_verified_unless_asked(link: Leadline, tmp_path: Path) -> None:
    link("--local", "2", "--output", "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["verified_bytes"] == 0


def test_a_wrong_byte_ends_the_run(link: Leadline, tmp_path: Path) -> None:
    fault = {"corrupt": {"from": 1, "to": 2, "message": 3, "byte": 17}}
    words = ["--local", "4", "--transport", fabric_file(tmp_path, fault), "--message-size", "64"]
    link(*words, "--output", "unseen.h5")
    assert ResultFile(tmp_path / "unseen.h5").complete, "without --verify nobody looks"

    done = link(*words, "--verify", "--output", "r.h5", status=4)
    assert all(word in done.complaint for word in ("rank 1", "rank 2", "message 3", "byte 17"))
    result = ResultFile(tmp_path / "r.h5")
    assert not result.complete
    assert result.reason == done.complaint.removeprefix("leadline: ")
    assert done.out == ""


def test_a_wrong_byte_is_kept_in_json(link: Leadline, tmp_path: Path) -> None:
    fault = {"corrupt": {"from": 0, "to": 1, "message": 0, "byte": 0}}
    words = ["--local", "2", "--transport", fabric_file(tmp_path, fault), "--verify"]
    done = link(*words, "--output", "r.json", status=4)
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["complete"] is False
    assert document["incomplete_reason"] == done.complaint.removeprefix("leadline: ")
    on_stdout = json.loads(link(*words, "--output", "-", status=4).out)
    assert on_stdout["complete"] is False


@pytest.mark.parametrize("allocator", ["aligned", "posix", "mmap", "pinned", "huge"])
def test_allocators(leadline: Leadline, tmp_path: Path, allocator: str) -> None:
    done = leadline("link", "--local", "2", "--messages", "5", "--allocator", allocator, "--verify", "--output", "r.h5")
    if done.status == 3 and allocator in ("pinned", "huge"):
        assert done.complaint
        assert not (tmp_path / "r.h5").exists()
        pytest.skip(f"{allocator} memory is not to be had here: {done.complaint}")
    assert done.status == 0, done.err
    assert ResultFile(tmp_path / "r.h5").options["allocator"] == allocator


@pytest.mark.parametrize("fill", ["zero", "ramp", "random"])
def test_fills(link: Leadline, tmp_path: Path, fill: str) -> None:
    link("--local", "2", "--fill", fill, "--verify", "--output", "r.h5")
    assert ResultFile(tmp_path / "r.h5").options["fill"] == fill


@pytest.mark.parametrize("wait", ["auto", "spin", "yield", "block"])
def test_waits(link: Leadline, tmp_path: Path, wait: str) -> None:
    done = link("--local", "2", "--wait", wait, "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    assert result.options["wait"] == wait
    used = result.provenance["wait"]
    assert used == wait or (wait == "auto" and used in ("spin", "yield"))
    assert f"waiting: {used}" in done.out


def test_more_ranks_than_cores_yield_and_say_so(link: Leadline, tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    words = ["--local", "4", "--wait", "auto", "--output", "r.h5"]
    link(*words, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    result = ResultFile(tmp_path / "r.h5")
    assert result.provenance["wait"] == "yield"
    assert "oversubscribed" in {finding["id"] for finding in result.summary["findings"]}


def test_a_model_gives_the_same_numbers_every_time(link: Leadline, tmp_path: Path) -> None:
    transport = fabric_file(tmp_path)
    for name in ("a.h5", "b.h5"):
        link("--local", "6", "--transport", transport, "--output", name, "--message-size", "8,4KiB")
    one, other = ResultFile(tmp_path / "a.h5"), ResultFile(tmp_path / "b.h5")
    for key, matrix in one.repeats[0].items():
        assert np.array_equal(matrix, other.repeats[0][key]), key
    assert np.array_equal(one.retest["retest_time_ns"], other.retest["retest_time_ns"])
    assert one.provenance["simulated"] == 1
    assert one.hosts == ["host0", "host0", "host1", "host1", "host2", "host2"]
    assert "simulated" in {finding["id"] for finding in one.summary["findings"]}


def test_a_slow_host_is_visible(link: Leadline, tmp_path: Path) -> None:
    transport = fabric_file(tmp_path, {"slow_host": 1, "factor": 5})
    link("--local", "8", "--transport", transport, "--output", "r.h5")
    result = ResultFile(tmp_path / "r.h5")
    slow = np.array([host == "host1" for host in result.hosts])
    touched = slow[:, None] | slow[None, :]
    between = np.array(result.hosts)[:, None] != np.array(result.hosts)[None, :]
    medians = result.medians()
    assert medians[touched & between].min() > 4 * medians[~touched & between].max()
    named = {pair["from_host"] for pair in result.summary["slices"][0]["slowest_pairs"]}
    named |= {pair["to_host"] for pair in result.summary["slices"][0]["slowest_pairs"]}
    assert "host1" in named


def test_a_rank_stuck_in_the_fabric(leadline: Leadline, tmp_path: Path) -> None:
    transport = fabric_file(tmp_path, {"silent": {"rank": 3, "after_messages": 20}})
    done = leadline("link", "--local", "4", "--transport", transport, "--timeout", "1s", "--output", "r.h5")
    assert done.status == 4
    assert "made no progress" in done.complaint
    assert "partner 3" in done.complaint or "rank 3" in done.complaint
    assert not ResultFile(tmp_path / "r.h5").complete


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "not an object"),
        ('{"same_host": 1, "between_hosts": 2}', "same_host"),
        (json.dumps(FABRIC | {"speed": 1}), "speed"),
        (json.dumps(FABRIC | {"faults": [{"slow_host": 7, "factor": 2}]}), "host 7"),
        (json.dumps(FABRIC | {"jitter": -1}), "jitter"),
    ],
)
def test_a_wrong_fabric_file(leadline: Leadline, tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "fabric.json").write_text(text)
    done = leadline("link", "--local", "2", "--transport", "model:fabric.json")
    assert done.status == 2
    assert named in done.complaint
    assert done.err == done.complaint + "\n"
    assert [path.name for path in tmp_path.iterdir()] == ["fabric.json"]

# SPDX-License-Identifier: Apache-2.0
"""Messages in GPU memory over fake devices, which any machine has; and what is said where there are none."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import program
import pytest
from result import ResultFile

FAKE = program.PROGRAM.parents[1] / "tests" / "fake_gpu"
DEVICES = {"LD_LIBRARY_PATH": str(FAKE)}

pytestmark = pytest.mark.skipif(not (FAKE / "libcuda.so.1").exists(), reason=f"no fake devices in {FAKE}")


@pytest.fixture(params=["cuda", "nccl"])
def transport(request: pytest.FixtureRequest) -> str:
    """Those whose messages lie in GPU memory."""
    return str(request.param)


@pytest.mark.parametrize("direction", ["semidirectional", "unidirectional", "bidirectional"])
def test_every_byte_arrives(link: program.Leadline, tmp_path: Path, transport: str, direction: str) -> None:
    link("--local", "3", "--transport", transport, "--direction", direction, "--message-size", "1B,3KiB,300KiB",
         "--check-buffers", "--output", "r.h5", env=DEVICES)  # fmt: skip
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.summary["verified_bytes"] > 0
    for size in range(3):
        assert (result.measured(size=size) == result.every_pair()).all()


def test_neighbours_exchange(leadline: program.Leadline, transport: str) -> None:
    done = leadline("topology", "--local", "4", "--transport", transport, "--pattern", "star,complete",
                    "--message-size", "1KiB", "--iterations", "3", "--wait", "yield", env=DEVICES)  # fmt: skip
    assert done.status == 0, done.err


def test_a_bisection_is_measured(leadline: program.Leadline, transport: str) -> None:
    done = leadline("bisection", "--local", "4", "--transport", transport, "--rounds", "5", "--message-size", "1KiB",
                    "--wait", "yield", env=DEVICES)  # fmt: skip
    assert done.status == 0, done.err


@pytest.mark.parametrize(("pattern", "is_in_step"), [("shift:1", True), ("halves", False)])
def test_nccl_says_that_directions_wait_for_each_other(
    leadline: program.Leadline, tmp_path: Path, pattern: str, is_in_step: bool
) -> None:
    for transport, is_warned in (("nccl", is_in_step), ("cuda", False)):
        leadline("bisection", "--local", "4", "--transport", transport, "--pattern", pattern, "--message-size", "1KiB",
                 "--wait", "yield", "--output", f"{transport}.json", env=DEVICES)  # fmt: skip
        ids = [finding["id"] for finding in json.loads((tmp_path / f"{transport}.json").read_text())["findings"]]
        assert ("streams_in_step" in ids) == is_warned, (transport, ids)


def test_devices_and_who_reaches_whom_are_listed(leadline: program.Leadline, transport: str) -> None:
    text = leadline("transports", "--verbose", env=DEVICES).out
    part = text[text.index(f"\n{transport} ") :]
    assert "library: CUDA driver 12.4" in part
    assert "device: 0: Fake GPU, 0000:11:00.0, 1 GiB" in part
    assert "peer access: 0: 1 2 3" in part


def test_ordinary_memory_is_refused(link: program.Leadline, transport: str) -> None:
    done = link("--local", "2", "--transport", transport, "--allocator", "aligned", status=3, env=DEVICES)
    assert "cannot use host memory" in done.complaint
    assert "--allocator cuda" in done.complaint


def test_waiting_asleep_is_refused(link: program.Leadline, transport: str) -> None:
    done = link("--local", "2", "--transport", transport, "--wait", "block", status=2, env=DEVICES)
    assert "--wait block cannot be had" in done.complaint


def test_gpus_that_do_not_reach_each_other_are_named(link: program.Leadline) -> None:
    done = link("--local", "2", "--transport", "cuda", status=3, env=DEVICES | {"FAKE_CUDA_NO_PEERS": "1"})
    assert "no peer access from 0000:1" in done.complaint


def test_nccl_wants_a_gpu_for_every_rank(link: program.Leadline) -> None:
    done = link("--local", "5", "--transport", "nccl", status=3, env=DEVICES)
    assert "Duplicate GPU detected" in done.complaint
    assert "a GPU of its own" in done.complaint


@pytest.mark.parametrize(("name", "library"), [("cuda", "libcuda.so.1"), ("nccl", "libnccl.so.2")])
def test_a_missing_library_is_named(link: program.Leadline, name: str, library: str) -> None:
    try:
        ctypes.CDLL(library)
    except OSError:
        pass
    else:
        pytest.skip(f"this machine has {library}")
    done = link("--local", "2", "--transport", name, status=3)
    assert library in done.complaint

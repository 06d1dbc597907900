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


COLLECTIVE = ["collective", "--rounds", "2", "--batches", "2", "--iterations", "3", "--message-size", "4,100KiB",
              "--verify", "--wait", "yield"]  # fmt: skip


def test_collective_operations_of_nccl(leadline: program.Leadline) -> None:
    done = leadline(*COLLECTIVE, "--local", "4", "--transport", "nccl", "--json", env=DEVICES)
    assert done.status == 0, done.err
    document = json.loads(done.out)
    assert document["algorithm"] == "library"
    assert document["verified_bytes"] > 0
    assert all(cell["bus_bytes_per_s"] > 0 for cell in document["cells"])


def test_operations_of_our_own_need_ordinary_memory(leadline: program.Leadline) -> None:
    done = leadline(*COLLECTIVE, "--local", "2", "--transport", "cuda", env=DEVICES)
    assert done.status == 2
    assert "cannot use memory of --allocator cuda" in done.complaint


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


def checked(leadline: program.Leadline, *words: str, wait: str = "yield", **variables: str) -> tuple[dict, str]:
    """The document of a check of this host, and what it says meanwhile."""
    done = leadline("check", "--budget", "2s", "--transport", "tcp", "--wait", wait, "--bandwidth-size", "64KiB",
                    "--no-files", "--json", *words, env=DEVICES | variables)  # fmt: skip
    return json.loads(done.out), done.err


def test_a_check_names_a_slow_gpu(leadline: program.Leadline, tmp_path: Path) -> None:
    # Long enough that waiting for a core of a busy machine changes little.
    document, _ = checked(leadline, "--local", "4", "--prom", "check.prom", FAKE_CUDA_COPY_MS="8,8,50,8")
    assert [part["name"] for part in document["parts"]] == ["latency", "bandwidth", "gpu", "bisection"]
    assert all(part["why_not"] is None for part in document["parts"])
    assert document["provenance"]["transport"]["name"] == "tcp"
    (slow,) = [one for one in document["problems"] if one["kind"] == "gpu"]
    assert (slow["grade"], slow["part"], slow["ranks"]) == ("bad", "gpu", [2])
    assert slow["name"].startswith("GPU 0000:13:00.0 on ")
    assert "gpu to gpu" in [one["name"] for one in document["numbers"]]
    assert 'leadline_check_bandwidth_bytes_per_second{of="gpu to gpu"}' in (tmp_path / "check.prom").read_text()


def test_a_check_that_waits_asleep_says_that_gpus_do_not(leadline: program.Leadline) -> None:
    document, said = checked(leadline, "--local", "2", wait="block")
    assert "--wait block does not hold between GPUs" in said
    assert "gpu to gpu" in [one["name"] for one in document["numbers"]]


def test_a_check_tells_of_gpus_that_it_does_not_measure(leadline: program.Leadline) -> None:
    for words, variables, why in (
        (("--local", "5"), {}, "ranks share them"),
        (("--local", "2"), {"FAKE_CUDA_NO_PEERS": "1"}, "has no peer access to 0000:1"),
    ):
        document, said = checked(leadline, *words, **variables)
        assert why in said
        assert "gpu" not in [part["name"] for part in document["parts"]]
        assert all(part["why_not"] is None for part in document["parts"])


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

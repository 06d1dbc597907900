# SPDX-License-Identifier: Apache-2.0
"""The transports over UCX, libfabric and PSM2: what they say of themselves, what they refuse, how their runs end."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import h5py
import numpy as np
import program
import pytest
from modules import fake_adapter, require_module
from mpi_launchers import PROGRAMS, require_launcher
from program import Leadline
from result import ResultFile, expect_topology_without

WORKING = ["ucx:posix,self", "ucx:tcp,self", "libfabric:shm", "libfabric:tcp;ofi_rxm"]
OVER_NETWORKS = ["ucx:tcp,self", "libfabric:tcp;ofi_rxm"]
MANY_SIZES = ["--local", "3", "--messages", "20", "--message-size", "0,8,4KiB,1MiB"]
VERIFIED = ["link", *MANY_SIZES, "--verify", "--wait", "yield", "--quiet"]


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a run over PSM2."""
    require_module("psm2")
    return fake_adapter(tmp_path_factory.mktemp("adapter"))


def shared() -> set[str]:
    """Names of what lies in shared memory."""
    return {path.name for path in Path("/dev/shm").iterdir()}


def facts(leadline: Leadline, name: str, env: dict[str, str] | None = None) -> list[str]:
    """What `leadline transports --verbose` prints of one module, without its first line."""
    require_module(name)
    lines = leadline("transports", "--verbose", env=env).out.splitlines()
    first = next(i for i, line in enumerate(lines) if re.match(rf"{name} +", line))
    rest = lines[first + 1 :]
    end = next((i for i, line in enumerate(rest) if not line.startswith(" ")), len(rest))
    return [line.strip() for line in rest[:end]]


def has_fact(lines: list[str], pattern: str) -> bool:
    return any(re.fullmatch(pattern, line) for line in lines)


# What they say of themselves


def test_facts_of_ucx(leadline: Leadline) -> None:
    lines = facts(leadline, "ucx")
    assert has_fact(lines, r"library: UCX \d+\.\d+\.\d+")
    assert has_fact(lines, "device: tcp/lo")
    assert has_fact(lines, r"limit: locked memory .* \(ulimit -l\)")
    restricted = facts(leadline, "ucx", {"UCX_TLS": "posix,self"})
    assert [line for line in restricted if line.startswith("device:")] == ["device: posix/memory"]
    (reason,) = [line for line in facts(leadline, "ucx", {"UCX_TLS": "nosuch"}) if line.startswith("loads, but:")]
    assert "nosuch" in reason


def test_facts_of_libfabric(leadline: Leadline) -> None:
    lines = facts(leadline, "libfabric")
    assert has_fact(lines, r"library: libfabric \d+\.\d+")
    assert has_fact(lines, r"device: tcp;ofi_rxm lo \(FI_SOCKADDR_IN 127\.0\.0\.1\)")
    assert has_fact(lines, r"device: shm \(FI_ADDR_STR\)")
    assert has_fact(lines, r"limit: shm: messages .*, copied at once up to .*")
    assert len(lines) == len(set(lines)), "each once"
    assert any(line.startswith("loads, but:") for line in facts(leadline, "libfabric", {"FI_PROVIDER": "nosuch"}))


def test_facts_of_psm2(leadline: Leadline, adapter: dict[str, str]) -> None:
    lines = facts(leadline, "psm2", adapter)
    assert has_fact(lines, r"library: PSM2 \d+\.\d+")
    assert has_fact(lines, r"device: 1 Omni-Path adapter\(s\) at .*hfi1_0")
    assert has_fact(lines, "limit: messages up to 4294967295 B")
    if not Path("/dev/hfi1_0").exists():
        assert any(line.startswith("loads, but: PSM2 cannot start") for line in facts(leadline, "psm2"))


# What they refuse: one line, nobody left


NO_ADAPTER = pytest.mark.skipif(Path("/dev/hfi1_0").exists(), reason="there is an Omni-Path adapter")
REFUSED = [
    (["ucx:nosuch"], {}, 3, ["UCX", "'nosuch' is not available"]),
    (["ucx:posix,nosuch"], {}, 3, ["'nosuch' is not available"]),
    (["ucx"], {"UCX_TLS": "nosuch"}, 3, ["'nosuch' is not available"]),
    (["ucx"], {"UCX_NET_DEVICES": "nodev"}, 3, ["'nodev' is not available"]),
    (["ucx:self"], {}, 3, ["no way from one rank to another"]),
    (["ucx", "--transport-option", "nosuch=1"], {}, 2, ['no setting "nosuch"', "tls"]),
    (["ucx:tcp,self", "--transport-option", "tls=tcp"], {}, 2, ["given twice"]),
    (["ucx:posix,self", "--interface", "lo"], {}, 2, ["--interface has no effect", "posix/memory"]),
    (["ucx", "--interface", "nodev"], {}, 3, ["nodev"]),
    (["ucx", "--wait", "block"], {}, 2, ["--wait block", "no way to sleep"]),
    (["libfabric:nosuch"], {}, 3, ["provider nosuch", "No data available"]),
    (["libfabric"], {"FI_PROVIDER": "nosuch"}, 3, ["No data available"]),
    (["libfabric", "--transport-option", "domain=nodev"], {}, 3, ["domain nodev"]),
    (["libfabric", "--transport-option", "nosuch=1"], {}, 2, ['no setting "nosuch"', "provider, domain"]),
    (["libfabric:shm", "--interface", "lo"], {}, 2, ["provider shm", "no addresses"]),
    (["libfabric", "--interface", "nodev"], {}, 3, ["nodev"]),
    (["libfabric", "--wait", "block"], {}, 2, ["--wait block", "no way to sleep"]),
    pytest.param(["psm2"], {}, 3, ["PSM2 cannot start", "adapter"], marks=NO_ADAPTER),
    (["psm2:shm"], {}, 2, ["takes no argument"]),
    (["psm2", "--interface", "lo"], {}, 2, ["--interface", "PSM2"]),
    (["psm2", "--wait", "block"], {}, 2, ["--wait block", "no way to sleep"]),
]


@pytest.mark.parametrize(("words", "env", "status", "named"), REFUSED)
def test_refused(leadline: Leadline, words: list[str], env: dict[str, str], status: int, named: list[str]) -> None:
    require_module(words[0])
    more = [] if "--wait" in words else ["--wait", "yield"]
    done = leadline("link", "--local", "2", "--messages", "5", *more, "--transport", *words, env=env)
    done.assert_refused(status, *named)


@pytest.mark.parametrize(
    ("transport", "own", "named"),
    [
        ("ucx", [{"UCX_TLS": "posix,self"}, {"UCX_TLS": "tcp,self"}], ["posix/memory", "tcp/lo"]),
        (
            "libfabric",
            [{"FI_PROVIDER": "shm"}, {"FI_PROVIDER": "tcp"}],
            ["shm, FI_ADDR_STR", "tcp;ofi_rxm, FI_SOCKADDR_IN"],
        ),
    ],
)
def test_ranks_that_do_not_understand_each_other(
    tmp_path: Path, transport: str, own: list[dict[str, str]], named: list[str]
) -> None:
    require_module(transport)
    ports = program.free_ports(2)
    words = [program.PROGRAM, "link", "--transport", transport, "--messages", "5", "--wait", "yield"]
    with contextlib.ExitStack() as stack:
        runs = [
            stack.enter_context(
                program.Run(words, tmp_path, program.explicit_environment(["127.0.0.1"] * 2, ports, rank) | own[rank])
            )
            for rank in range(2)
        ]
        ends = [run.finish() for run in runs]
    for run in runs:  # libfabric shares a file, which a run that fails leaves
        Path(f"/dev/shm/{run.pid}:0:0").unlink(missing_ok=True)
    assert [end.status for end in ends] == [3, 3], [end.err for end in ends]
    (complaint,) = [line for end in ends for line in end.complaints]
    for word in named:
        assert word in complaint


# How their runs end


@pytest.mark.parametrize("transport", WORKING)
def test_a_run_ends_without_a_word(leadline: Leadline, tmp_path: Path, transport: str) -> None:
    """Not a warning of the library, nothing in shared memory, and the file says what was used."""
    require_module(transport)
    before = shared()
    done = leadline(*VERIFIED, "--transport", transport, "--output", "r.h5", env={"UCX_LOG_LEVEL": "warn"})
    assert done.status == 0, done.err
    assert done.err == ""
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    used = str(result.provenance["transport_device"])
    assert {"ucx:posix,self": "posix/memory", "ucx:tcp,self": "tcp/lo", "libfabric:shm": "shm"}.get(
        transport, ""
    ) in used
    left = {name for name in shared() - before if any(f"{pid}" in name for pid in result.pids)}
    assert not left


def test_a_run_over_psm2(leadline: Leadline, tmp_path: Path, adapter: dict[str, str]) -> None:
    done = leadline(*VERIFIED, "--transport", "psm2", "--output", "r.h5", env=adapter)
    assert (done.status, done.err) == (0, "")
    assert ResultFile(tmp_path / "r.h5").complete


@pytest.mark.parametrize("interface", ["lo", "127.0.0.0/8", "::1"])
@pytest.mark.parametrize("transport", OVER_NETWORKS)
def test_over_a_network(leadline: Leadline, tmp_path: Path, transport: str, interface: str) -> None:
    require_module(transport)
    if interface == "::1" and not has_ipv6():
        pytest.skip("no IPv6 on the loopback here")
    words = ["link", "--local", "2", "--messages", "5", "--wait", "yield", "--check-buffers", "--interface", interface]
    done = leadline(*words, "--transport", transport, "--output", "r.h5", "--quiet")
    assert done.status == 0, done.err
    assert str(ResultFile(tmp_path / "r.h5").provenance["transport_device"]) in ("tcp/lo", "tcp;ofi_rxm lo")


def has_ipv6() -> bool:
    """Whether the loopback has such an address."""
    path = Path("/proc/net/if_inet6")
    return path.exists() and any(line.endswith(" lo") for line in path.read_text().splitlines())


@pytest.mark.parametrize("transport", OVER_NETWORKS)
def test_few_open_files(tmp_path: Path, transport: str) -> None:
    """Ways are closed and opened again."""
    require_module(transport)
    words = ["link", "--local", "8", "--messages", "5", "--wait", "yield", "--check-buffers", "--output", "r.h5"]
    limited = ["sh", "-c", 'ulimit -n 76 && exec "$@"', "sh", program.PROGRAM, *words, "--transport", transport]
    done = program.complete(limited, tmp_path)
    assert done.status == 0, done.err
    result = ResultFile(tmp_path / "r.h5")
    assert (result.measured() == result.every_pair()).all()


@pytest.mark.parametrize("transport", OVER_NETWORKS)
def test_too_few_open_files_for_all_at_once(tmp_path: Path, transport: str) -> None:
    require_module(transport)
    words = ["topology", "--local", "8", "--pattern", "complete", "--wait", "yield", "--iterations", "3"]
    limited = ["sh", "-c", 'ulimit -n 76 && exec "$@"', "sh", program.PROGRAM, *words, "--transport", transport]
    done = program.complete(limited, tmp_path)
    assert done.status == 3, done.err
    assert "links at once" in done.complaint
    assert "ulimit -n" in done.complaint


GO_ON = {"libfabric:tcp;ofi_rxm": [], "ucx:tcp,self": ["--transport-option", "go-on=yes"], "mpi": []}


def on_four_ranks(transport: str, *words: str | Path) -> tuple[list[str | Path], dict[str, str]]:
    """The command, and variables by which it goes on for seconds. Skips the test where something for it is missing."""
    launcher, local, variables = [], ["--local", "4"], program.SLOW_MESSAGES
    if transport == "mpi":
        require_launcher("ulfm")
        launcher = [PROGRAMS["ulfm"], "--with-ft", "ulfm", "--oversubscribe", "-n", "4"]
        local, variables = [], {"YIELD_SLEEPS_US": "500"}  # it waits twice as often
    else:
        require_module(transport)
    more = [*local, "--wait", "yield", "--timeout", "2s", "--output", "r.h5", "--transport", transport]
    return [*launcher, program.PROGRAM, *words, *more, *GO_ON[transport]], variables


def expect_lost(done: program.Done, transport: str, folder: Path, rank: int) -> None:
    """The run went on without it, and says so."""
    assert done.status == 1, done.err
    assert done.complaints[0].endswith(f". The run goes on without rank {rank}"), done.complaints
    with h5py.File(folder / "r.h5") as file:
        assert file["status/complete"][()] == 1
        findings = {one["id"]: one["message"] for one in json.loads(file["summary"][()])["findings"]}
    assert findings["ranks_lost"].startswith(f"1 rank was lost during the run: rank {rank} on ")
    if transport != "mpi":  # whose launcher may lose what is written last
        assert findings["ranks_lost"] in done.out


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("transport", GO_ON)
@pytest.mark.parametrize(
    "words",
    [
        ["link", "--message-size", "1000-1002+1", "--messages", "60", "--retest", "0"],
        ["topology", "--pattern", "complete2", "--message-size", "1KiB-3KiB+1KiB", "--iterations", "300"],
    ],
    ids=lambda words: words[0],
)
def test_the_run_goes_on_without_a_rank(
    words: list[str], transport: str, number: signal.Signals, tmp_path: Path
) -> None:
    """Before and after the loss every pair of the others is measured."""
    command, variables = on_four_ranks(transport, *words)
    with program.Run(command, tmp_path, variables, timeout=90) as run:
        run.await_err(r"\(2 of 3\)[^!]* 1/3 [^\n]*\n" if words[0] == "link" else r" 1/3 [^\n]*\n")
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            os.kill(int(file["ranks/pid"][2]), number)
        done = run.finish()
    expect_lost(done, transport, tmp_path, 2)
    left = [True, True, False, True]
    if words[0] == "link":
        result = ResultFile(tmp_path / "r.h5")
        assert np.array_equal(result.measured(size=0), result.every_pair())
        assert np.array_equal(result.measured(size=2), result.every_pair() & np.outer(left, left))
        return
    expect_topology_without(tmp_path / "r.h5", 2)


@pytest.mark.slow
@pytest.mark.parametrize("transport", GO_ON)
@pytest.mark.parametrize(
    ("begun", "words"),
    [
        (r" 1/3 [^\n]*\n", ["topology", "--pattern", "complete2", "--message-size", "1KiB-3KiB+1KiB"]),
        (r" random [^\n]*\n", ["bisection", "--message-size", "1KiB", "--precision", "0", "--rounds", "100000"]),
    ],
    ids=["topology", "bisection"],
)
def test_another_rank_takes_the_part_of_rank_0(words: list[str], begun: str, transport: str, tmp_path: Path) -> None:
    how = ["--iterations", "300"] if words[0] == "topology" else ["--time-limit", "4s"]
    command, variables = on_four_ranks(transport, *words, *how)
    with program.Run(command, tmp_path, variables, timeout=90) as run:
        run.await_err(begun)
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            os.kill(int(file["ranks/pid"][0]), signal.SIGKILL)
        done = run.finish()
    expect_lost(done, transport, tmp_path, 0)
    if words[0] == "topology":
        expect_topology_without(tmp_path / "r.h5", 0)
        return
    with h5py.File(tmp_path / "r.h5") as file:
        num = len(json.loads(file["summary"][()])["patterns"])
        assert file["bisection/send_to"][0, :, num - 1].tolist().count(-1) == 2, "one is lost, and one of three rests"


@pytest.mark.slow
@pytest.mark.parametrize("victim", [1, 2, 0], ids=["sender", "io-rank", "rank-0"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("transport", GO_ON)
def test_a_funnel_goes_on_without_a_rank(transport: str, number: signal.Signals, victim: int, tmp_path: Path) -> None:
    """A lost sender is left out by its I/O rank; a lost I/O rank takes its senders with it."""
    words = ["io", "--movement", "N-M-M", "--io-ranks", "2", "--target", tmp_path / "f.%r", "--object-size", "4KiB"]
    words += ["--objects", "1000000", "--buffer-size", "64KiB", "--time-limit", "2s", "--backend", "posix"]
    command, variables = on_four_ranks(transport, *words)
    with program.Run(command, tmp_path, variables | program.SLOW_FILES, timeout=90) as run:
        program.await_that(lambda: any(file.stat().st_size > 1 << 16 for file in tmp_path.glob("f.*")))
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            os.kill(int(file["ranks/pid"][victim]), number)
        done = run.finish()
    expect_lost(done, transport, tmp_path, victim)
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["io/phases/state"][:].tolist() == [2, 1]
        left = {0: [2, 3], 1: [0, 2, 3], 2: [0, 1]}[victim]
        assert np.flatnonzero(file["io/ranks/num_objects"][1]).tolist() == left


@pytest.fixture(scope="module")
def lost_at_link(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library by which a process gets a signal while it opens a link."""
    library = tmp_path_factory.mktemp("lost") / "lost_at_link.so"
    source = program.ROOT / "tests" / "support" / "lost_at_link.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True, timeout=60)
    return library


@pytest.mark.slow
@pytest.mark.parametrize("victim", [1, 2, 0], ids=["sender", "io-rank", "rank-0"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("transport", ["tcp", "libfabric:tcp;ofi_rxm"])
def test_a_funnel_begins_without_a_rank_that_is_lost_while_links_are_opened(
    transport: str, number: signal.Signals, victim: int, tmp_path: Path, lost_at_link: Path
) -> None:
    require_module(transport)
    words = ["io", "--movement", "N-M-M", "--io-ranks", "2", "--target", tmp_path / "f.%r", "--object-size", "4KiB"]
    words += ["--objects", "100", "--wait", "yield", "--timeout", "2s", "--output", "r.h5", "--transport", transport]
    ports = program.free_ports(4)
    runs = {}
    with contextlib.ExitStack() as stack:
        for rank in range(4):
            variables = program.explicit_environment(["127.0.0.1"] * 4, ports, rank)
            if rank == victim:
                variables |= {"LD_PRELOAD": str(lost_at_link), "LOST_BY": str(int(number))}
                variables |= {"ASAN_OPTIONS": "verify_asan_link_order=0"}
            runs[rank] = stack.enter_context(program.Run([program.PROGRAM, *words], tmp_path, variables, timeout=90))
        ends = {rank: run.finish() for rank, run in runs.items()}
    assert ends.pop(victim).status == -signal.SIGKILL  # one that is stopped is ended when the run is over
    root, *others = ends.values()
    assert [end.status for end in ends.values()] == [1] * 3, root.err
    assert root.complaints[0].endswith(f". The run goes on without rank {victim}"), root.complaints
    assert [end.complaints for end in others] == [[]] * 2
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 1
        assert file["io/phases/state"][:].tolist() == [1, 1]
        left = {0: [2, 3], 1: [0, 2, 3], 2: [0, 1]}[victim]
        assert np.flatnonzero(file["io/ranks/num_objects"][0]).tolist() == left


def test_over_shared_memory_it_does_not_go_on(leadline: Leadline) -> None:
    """UCX refuses it rather than end the process later."""
    done = leadline("link", "--local", "2", "--transport", "ucx:posix,self", "--transport-option", "go-on=yes")
    assert done.status == 3
    assert "no way from one rank to another" in done.complaint


@pytest.mark.slow
@pytest.mark.parametrize("transport", [*WORKING, "psm2"])
def test_a_rank_is_killed(tmp_path: Path, transport: str, request: pytest.FixtureRequest) -> None:
    """The library may not notice; the watch does."""
    require_module(transport)
    env = request.getfixturevalue("adapter") if transport == "psm2" else {}
    sizes = ",".join(["1", *map(str, range(100_000, 100_030))])
    words = ["link", "--local", "4", "--message-size", sizes, "--messages", "5000", "--batches", "500", "--warmup", "0"]
    more = [
        "--retest",
        "0",
        "--wait",
        "yield",
        "--timeout",
        "10s",
        "--transport",
        transport,
        "--output",
        "r.h5",
        "--strict-ranks",
    ]
    before = shared()
    with program.Run([program.PROGRAM, *words, *more], tmp_path, env) as run:
        run.await_err(r" 1/3 ")
        pids = ResultFile(tmp_path / "r.h5").pids
        os.kill(pids[2], signal.SIGKILL)
        done = run.finish()
    for name in shared() - before:  # a rank that is killed cannot remove what it shared
        if any(str(pid) in name or name.startswith(f"psm2_shm.{os.getuid()}{pid:08x}") for pid in pids):
            Path("/dev/shm", name).unlink(missing_ok=True)
    assert done.status == 4, done.err
    assert f"rank 2 on {os.uname().nodename} died" in done.complaint
    assert not ResultFile(tmp_path / "r.h5").complete

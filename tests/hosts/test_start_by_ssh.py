# SPDX-License-Identifier: Apache-2.0
"""`--hosts` on hosts of their own: by the remote shell of these tests, and by ssh with a server on each host."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import h5py
import program
import pytest
from network import Network

pytestmark = [pytest.mark.slow, pytest.mark.any_load]

Make = Callable[[int], Network]
FEW = [
    "--message-size",
    "1000",
    "--messages",
    "100",
    "--retest",
    "0",
    "--timeout",
    "6s",
    "--wait",
    "block",
]
LONG = [
    "--message-size",
    "1000",
    "--messages",
    "1000",
    "--min-time",
    "60s",
    "--timeout",
    "6s",
    "--wait",
    "block",
]
_SERVER = """Port 22
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication yes
"""
_CLIENT = """IdentityFile {folder}/user_key
IdentitiesOnly yes
UserKnownHostsFile {folder}/known_hosts
GlobalKnownHostsFile none
"""


class Ssh:
    """Servers on all hosts of a network, and the command that reaches them."""

    def __init__(self, network: Network, folder: Path) -> None:
        """Makes the keys; `client` is the configuration that knows them."""
        self.server, self.client = folder / "sshd_config", folder / "ssh_config"
        self.known_hosts = folder / "known_hosts"
        for name in ("host_key", "user_key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name]
            subprocess.run(words, timeout=20, check=True)
        key = (folder / "host_key.pub").read_text()
        self.known_hosts.write_text("".join(f"{name} {key}" for name in network.names))
        self.server.write_text(_SERVER.format(folder=folder))
        self.client.write_text(_CLIENT.format(folder=folder))

    def launch(self, *more: str) -> str:
        """For --launch: as the default, with this configuration."""
        return f"ssh -F {self.client} -T -oBatchMode=yes -oConnectTimeout=3 {' '.join(more)}"


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[Callable[[Network], Ssh]]:
    server = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
    if server is None or shutil.which("ssh") is None:
        pytest.skip("ssh or sshd is not installed (openssh-client, openssh-server)")
    Path("/run/sshd").mkdir(exist_ok=True)  # the server wants it
    with contextlib.ExitStack() as stack:

        def make(network: Network) -> Ssh:
            made = Ssh(network, tmp_path)
            for host in range(len(network.names)):
                words = network.on(host, server, "-D", "-e", "-f", made.server)
                run = stack.enter_context(program.Run(words, tmp_path, timeout=120))
                stack.callback(os.kill, run.pid, signal.SIGKILL)  # it hides whose it is
                run.await_err("Server listening on 0.0.0.0")
            return made

        yield make


def start(
    network: Network,
    folder: Path,
    launch: str | Path,
    *words: str,
    hosts: str,
    long: bool = False,
) -> program.Run:
    """As a user of the first host types it."""
    command = [
        program.PROGRAM,
        "link",
        *(LONG if long else FEW),
        "--hosts",
        hosts,
        "--launch",
        str(launch),
        *words,
    ]
    return program.Run(network.on(0, *command), folder, timeout=60)


def test_a_run_by_a_remote_shell(network: Make, tmp_path: Path) -> None:
    hosts = network(3)
    with start(
        hosts,
        tmp_path,
        hosts.agent,
        "--ranks-per-host",
        "2",
        "--output",
        "r.h5",
        hosts="node[0-2]",
    ) as run:
        done = run.finish()
    assert done.status == 0, done.err
    assert "6 ranks on 3 hosts" in done.out


def test_a_run_by_ssh_from_a_host_that_takes_no_part(
    network: Make, ssh: Callable[[Network], Ssh], tmp_path: Path
) -> None:
    hosts = network(3)
    launch = ssh(hosts).launch()
    with start(hosts, tmp_path, launch, "--output", "r.h5", hosts="node[1-2]") as run:
        done = run.finish()
    assert done.status == 0, done.err
    assert "2 ranks on 2 hosts" in done.out
    assert (tmp_path / "r.h5").exists()


def test_hosts_that_ssh_does_not_reach(network: Make, ssh: Callable[[Network], Ssh], tmp_path: Path) -> None:
    """One is down, one has no address, one has another key than it had: the run goes on without them, and says so."""
    hosts = network(5)
    with_ssh = ssh(hosts)
    hosts.cut(1)
    lines = with_ssh.known_hosts.read_text().splitlines(keepends=True)
    with_ssh.known_hosts.write_text("".join(line for line in lines if not line.startswith("node2 ")))
    names = "node1,node9,node2,node0,node3,node4"
    with start(hosts, tmp_path, with_ssh.launch(), "--output", "r.h5", hosts=names) as run:
        done = run.finish()
    assert done.status == 1, done.err
    assert "node9: ssh: Could not resolve hostname node9" in done.err
    assert "node2: Host key verification failed." in done.err
    assert "node1: ssh: connect to host node1 port 22:" in done.err
    for rank, host in ((3, "node1"), (4, "node9"), (5, "node2")):
        assert f"rank {rank} on {host} was not started" in done.err
    with h5py.File(tmp_path / "r.h5") as file:
        summary = json.loads(file["summary"][()])
    (finding,) = [one for one in summary["findings"] if one["id"] == "ranks_absent"]
    assert finding["message"].startswith("3 ranks did not join the run: ")
    for host in ("node1", "node9", "node2"):
        assert host in finding["message"]


def test_ssh_never_asks(network: Make, ssh: Callable[[Network], Ssh], tmp_path: Path) -> None:
    """The server would take a password."""
    hosts = network(1)
    launch = ssh(hosts).launch("-oPubkeyAuthentication=no")
    with start(hosts, tmp_path, launch, hosts="node0") as run:
        done = run.finish()
    assert done.status == 4, done.err
    assert "node0: root@node0: Permission denied" in done.err
    assert done.complaint.startswith("leadline: node0 did not start")


@pytest.mark.parametrize("who", ["launcher", "rank", "agent", "ssh"])
def test_nothing_is_left_over(network: Make, ssh: Callable[[Network], Ssh], tmp_path: Path, who: str) -> None:
    """Whoever is killed. The run goes on without a rank; ranks whose connection is gone stop."""
    hosts = network(3)
    with start(hosts, tmp_path, ssh(hosts).launch(), hosts="node[0-2]", long=True) as run:
        run.await_err(r"round \d")
        os.kill(victim(run, hosts.on(2), tmp_path, who), signal.SIGKILL)
        if who == "launcher":
            assert run.finish().status == -signal.SIGKILL
        elif who == "ssh":
            done = run.finish()
            assert done.status == 4
            assert "the connection to node2 is gone (ssh was ended by signal 9)" in done.err
        else:
            run.await_err("The run goes on without rank 2")
            run.send(signal.SIGINT)
            assert run.finish().status == 4
    program.await_that(lambda: not on_hosts(tmp_path))


def victim(run: program.Run, host: Sequence[str], folder: Path, who: str) -> int:
    """One of the processes of a run: its first, or of node2 the command, the program there or its rank."""
    if who == "launcher":
        return run.pid
    if who == "ssh":
        (pid,) = [pid for pid in run.processes() if {b"ssh", b"node2"} <= set(words_of(pid))]
        return pid
    (agent, rank) = sorted(pid for pid in on_hosts(folder) if network_of(pid) == network_on(host))
    return agent if who == "agent" else rank


def words_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def on_hosts(folder: Path) -> list[int]:
    """What --hosts has started in this folder: servers of ssh hide whose they are."""
    found = []
    for pid in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        with contextlib.suppress(OSError):
            if words_of(pid)[1:2] == [b"--rank-from-stdin"] and Path(f"/proc/{pid}/cwd").readlink() == folder:
                found.append(pid)
    return found


def network_of(pid: int | str) -> str:
    return str(Path(f"/proc/{pid}/ns/net").readlink())


def network_on(host: Sequence[str]) -> str:
    words = [*host, "readlink", "/proc/self/ns/net"]
    return subprocess.run(words, capture_output=True, text=True, timeout=20, check=True).stdout.strip()

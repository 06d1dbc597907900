# SPDX-License-Identifier: Apache-2.0
"""A real Slurm on one machine, which may play several: munged, slurmctld and a slurmd for each node, in one folder."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import program
from network import Network

_CONFIGURATION = """\
ClusterName=leadline
SlurmctldHost={controller}
SlurmctldPort={controller_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
SchedulerParameters=bf_interval=5
# A folder of its own for each node: the PMIx servers of two slurmd on one host would meet in one.
TmpFS={folder}/tmp-%n
# More CPUs than the hardware has.
SlurmdParameters=config_overrides
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
{settings}
"""
_NODE = "NodeName={name} NodeHostname={host} NodeAddr={address} Port={port} CPUs=4 RealMemory=100 State=UNKNOWN"
# Named, and not found out: slurmd would insist on a mounted /sys/fs/cgroup, which a container may lack.
_CGROUP = "CgroupPlugin=cgroup/v1\n"

_LIVES_S = 900


class NotHereError(Exception):
    """Slurm cannot be had here; the words say why."""


class Slurm:
    """Nodes of 4 CPUs each: sn0, sn1 ... on loopback, or each on a host of its own and called as that."""

    def __init__(self, num_nodes: int, folder: Path, network: Network | None = None, settings: str = "") -> None:
        """`folder` takes everything, and is not needed afterwards; `network` has as many hosts as there are nodes;
        `settings` are more lines of slurm.conf.
        """
        self.nodes = [f"sn{index}" for index in range(num_nodes)] if network is None else network.names
        self._settings = settings
        self._network = network
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}
        self._folder = folder
        self._stack = contextlib.ExitStack()
        self._daemons: list[program.Run] = []

    def __enter__(self) -> Slurm:
        """Starts all of it and waits until jobs can be run: NotHereError where it is not installed."""
        if os.geteuid() != 0:
            raise NotHereError("only root can run slurmd")
        for name in ("munged", "slurmctld", "slurmd", "srun", "sinfo"):
            _path_of(name)
        with contextlib.ExitStack() as stack:
            self._start(stack)
            stack.callback(self._end_daemons)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all daemons, in order, and by force whatever is left then."""
        self._stack.close()

    def on(self, node: int, *words: str | Path) -> list[str | Path]:
        """The command that runs these words where that node is."""
        return [*words] if self._network is None else [*self._network.on(node, *words)]

    def _start(self, stack: contextlib.ExitStack) -> None:
        def start(node: int, name: str, *words: str) -> None:
            command = self.on(node, _path_of(name), *words)
            run = program.Run(command, self._folder, self.environment, timeout=_LIVES_S)
            self._daemons.append(stack.enter_context(run))

        self._configure()
        munge = [f"--{name}-file={self._folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        # By force: it would refuse a temporary folder that only its owner can enter.
        start(0, "munged", "--foreground", "--force", f"--socket={self._folder}/munge.socket", *munge)
        self._await(lambda: (self._folder / "munge.socket").exists())
        start(0, "slurmctld", "-D", "-i")
        for index, name in enumerate(self.nodes):
            start(index, "slurmd", "-D", "-N", name)
        self._await(lambda: self._num_idle() == len(self.nodes))

    def _configure(self) -> None:
        ports = program.free_ports(1 + len(self.nodes))
        hosts, addresses = ["localhost"] * len(self.nodes), ["127.0.0.1"] * len(self.nodes)
        if self._network is not None:
            hosts, addresses = self._network.names, self._network.addresses
        nodes = "\n".join(
            _NODE.format(name=name, host=host, address=address, port=port)
            for name, host, address, port in zip(self.nodes, hosts, addresses, ports[1:], strict=True)
        )
        text = _CONFIGURATION.format(
            folder=self._folder, controller=f"{hosts[0]}({addresses[0]})", controller_port=ports[0], nodes=nodes,
            settings=self._settings,
        )  # fmt: skip
        (self._folder / "slurm.conf").write_text(text)
        (self._folder / "cgroup.conf").write_text(_CGROUP)
        for name in ("state", *(f"{kind}-{node}" for node in self.nodes for kind in ("spool", "tmp"))):
            (self._folder / name).mkdir()
        key = self._folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))

    def _num_idle(self) -> int:
        done = program.complete(
            self.on(0, "sinfo", "-h", "-N", "-t", "idle"), self._folder, env=self.environment, timeout=20
        )
        return len(done.out.splitlines())

    def _await(self, is_so: Callable[[], bool]) -> None:
        try:
            program.await_that(is_so, 30)
        except AssertionError:
            raise AssertionError(f"Slurm does not start\n{self.logs()}") from None

    def _end_daemons(self) -> None:
        with contextlib.suppress(AssertionError):
            program.complete(self.on(0, "scancel", "--user=root"), self._folder, env=self.environment, timeout=10)
        for daemon in self._daemons:
            daemon.send(signal.SIGTERM)
        for daemon in self._daemons:
            program.await_end(daemon.pid, 10)

    def logs(self) -> str:
        """What the daemons have written, the last lines of each."""
        texts = [f"--- {path.name}\n" + path.read_text(errors="replace")[-3000:] for path in self._folder.glob("*.log")]
        return "\n".join(texts + [daemon.err for daemon in self._daemons])


def _path_of(name: str) -> str:
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if found is None:
        raise NotHereError(f"{name} is not installed")
    return found

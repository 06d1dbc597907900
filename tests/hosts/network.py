# SPDX-License-Identifier: Apache-2.0
"""Several hosts on one machine: network namespaces with cables to one switch, which can be cut and slowed down."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import program

# Inside: a name of its own, the names of all, shared memory of its own (a checkout that lies there is still seen).
_ENTER = """
echo "$1" >/proc/sys/kernel/hostname
mount --make-rprivate / && case $3/ in
  /dev/shm/*) mount --bind "$3" /mnt && mount -t tmpfs none /dev/shm && mkdir -p "$3" && mount --move /mnt "$3" ;;
  *) mount -t tmpfs none /dev/shm ;;
esac && mount --bind "$2" /etc/hosts
shift 3
exec "$@"
"""
_AGENT = """#!/bin/sh
# Starts a command on another of the hosts, as ssh would: HOST WORDS...
host=$1
shift
exec ip netns exec "{prefix}$host" unshare --uts --mount sh -c '{enter}' sh "$host" {files} sh -c "$*"
"""


_GROUPS = Path("/sys/fs/cgroup")
# Three of four milliseconds what is in this group stands still, as long as the process that started this one lives.
_STEAL_TIME = """
import os, pathlib, sys, time
state = pathlib.Path(sys.argv[1], "freezer.state")
while os.getppid() == int(sys.argv[2]):
    state.write_text("FROZEN")
    time.sleep(0.003)
    state.write_text("THAWED")
    time.sleep(0.001)
"""
_SLOW = "50mbit"
_BURST = ("burst", "5kb")  # so little credit that messages of some KiB see the rate


class NotHereError(Exception):
    """Namespaces cannot be made here; the words say why."""


def _do(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    if done.returncode != 0:
        raise NotHereError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")


def _is_removed(group: Path) -> bool:
    """Removes a control group; not yet where a process of it is still ending."""
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


class Network:
    """Hosts node0, node1 ... at 10.55.0.1 and on. To be used in a `with`, which removes all of it."""

    def __init__(self, num_hosts: int, folder: Path) -> None:
        """`folder` takes the names of the hosts and `agent`, a remote shell for MPI."""
        self.names = [f"node{index}" for index in range(num_hosts)]
        self.host_names = self.names[:]  # what gethostname() says there
        self.addresses = [f"10.55.0.{index + 1}" for index in range(num_hosts)]
        self._prefix = f"ll{os.getpid()}-"
        self._switch = f"{self._prefix}switch"
        self._switch_of = dict.fromkeys(range(num_hosts), "bridge")
        self._made: list[str] = []
        self._folder = folder
        self._processes: list[subprocess.Popen[str]] = []
        self._groups: dict[tuple[int, str], Path] = {}  # of a host and a controller
        self._mounted: list[Path] = []
        self._hosts_file = folder / "hosts"
        self._files = (str(self._hosts_file), str(program.ROOT))
        self.agent = folder / "agent"

    def __enter__(self) -> Network:
        """Makes all of it, or nothing: NotHereError."""
        for needed in ("ip", "tc", "unshare"):
            if shutil.which(needed) is None:
                raise NotHereError(f"{needed} is not installed")
        try:
            self._make()
        except NotHereError:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Takes it all away."""
        self._remove()

    def _make(self) -> None:
        lines = ["127.0.0.1 localhost", *map(" ".join, zip(self.addresses, self.names, strict=True))]
        self._hosts_file.write_text("\n".join(lines) + "\n")
        files = shlex.join(self._files)
        self.agent.write_text(_AGENT.format(prefix=self._prefix, files=files, enter=_ENTER))
        self.agent.chmod(0o755)
        self._namespace(self._switch)
        _do("ip", "-n", self._switch, "link", "add", "bridge", "type", "bridge")
        _do("ip", "-n", self._switch, "link", "set", "bridge", "up")
        for name, address in zip(self.names, self.addresses, strict=True):
            self._namespace(self._prefix + name)
            self._plug(name, "eth0", name, f"{address}/24")

    def _plug(self, name: str, device: str, port: str, *addresses: str) -> None:
        """A cable from a device of a host to a port of the switch."""
        host = self._prefix + name
        _do("ip", "-n", host, "link", "add", device, "type", "veth", "peer", "name", port, "netns", self._switch)
        _do("ip", "-n", self._switch, "link", "set", port, "master", "bridge", "up")
        for address in addresses:
            without_waiting = ["nodad"] if ":" in address else []
            _do("ip", "-n", host, "addr", "add", address, "dev", device, *without_waiting)
        _do("ip", "-n", host, "link", "set", device, "up")

    def _namespace(self, name: str) -> None:
        self._made.append(name)  # before it is there: whoever is interrupted removes it
        _do("ip", "netns", "add", name)
        _do("ip", "-n", name, "link", "set", "lo", "up")

    def _remove(self) -> None:
        for process in self._processes:
            process.kill()
            process.communicate(timeout=20)
        for folder in self._mounted:
            subprocess.run(["umount", folder], capture_output=True, timeout=20, check=False)
        for name in self._made:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=20, check=False)
        for (_, controller), group in self._groups.items():
            if controller == "freezer" and group.exists():  # what stole time may have ended in the middle
                (group / "freezer.state").write_text("THAWED")
            program.await_that(functools.partial(_is_removed, group))

    def on(self, host: int, *words: str | Path) -> list[str]:
        """The command that runs these words on a host."""
        name = self.names[host]
        enter = ["unshare", "--uts", "--mount", "sh", "-c", _ENTER, "sh", self.host_names[host], *self._files]
        return [*self._join(host), "ip", "netns", "exec", self._prefix + name, *enter, *map(str, words)]

    def _join(self, host: int) -> list[str]:
        """What comes before a command so that it runs in the control groups of a host."""
        groups = [group / "cgroup.procs" for (owner, _), group in self._groups.items() if owner == host]
        each = [["sh", "-c", 'echo $$ >"$1" && shift && exec "$@"', "sh", str(group)] for group in groups]
        return [word for words in each for word in words]

    def _group(self, host: int, controller: str) -> Path:
        """That of a host, made where it is not there yet; what is started on it from now on is in it."""
        group = _GROUPS / controller / f"{self._prefix}{self.names[host]}"
        if (host, controller) not in self._groups:
            self._groups[host, controller] = group
            try:
                group.mkdir()
            except OSError as error:
                raise NotHereError(f"{group}: {error.strerror}") from None
        return group

    def add_second_network(self, hosts: Sequence[int]) -> None:
        """These hosts get a device eth1, at 10.56.0.1 and on and at fd56::1 and on."""
        for host in hosts:
            name = self.names[host]
            self._plug(name, "eth1", f"{name}-2", f"10.56.0.{host + 1}/24", f"fd56::{host + 1}/64")

    def add_second_adapter(self, hosts: Sequence[int]) -> None:
        """These hosts get a device eth1 on the network of eth0, at 10.55.0.101 and on; each carries its own address."""
        for host in hosts:
            name, namespace, second = self.names[host], self._prefix + self.names[host], f"10.55.0.{host + 101}"
            self._plug(name, "eth1", f"{name}-2", f"{second}/24")
            for table, device, address in (("1", "eth0", self.addresses[host]), ("2", "eth1", second)):
                _do("ip", "-n", namespace, "route", "add", "10.55.0.0/24", "dev", device, "table", table)
                _do("ip", "-n", namespace, "rule", "add", "from", address, "table", table)
            self.answer_for_own_addresses(host)

    def answer_for_own_addresses(self, host: int) -> None:
        """Each of its devices answers for its own addresses alone, so that nothing comes by another one."""
        setting = "echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore"
        _do("ip", "netns", "exec", self._prefix + self.names[host], "sh", "-c", setting)

    def cut(self, host: int) -> None:
        """Unplugs a host."""
        _do("ip", "-n", self._switch, "link", "set", self.names[host], "down")

    def plug_in(self, host: int) -> None:
        """As before cut()."""
        _do("ip", "-n", self._switch, "link", "set", self.names[host], "up")

    def cut_second(self, host: int) -> None:
        """Unplugs its second device."""
        _do("ip", "-n", self._switch, "link", "set", f"{self.names[host]}-2", "down")

    def cut_between(self, first: int, second: int) -> None:
        """What these two send to each other vanishes, as in a firewall; both still reach all others."""
        for host, partner in ((first, second), (second, first)):
            self.drop(host, partner)

    def heal_between(self, first: int, second: int) -> None:
        """As before cut_between()."""
        for host, partner in ((first, second), (second, first)):
            namespace, address = self._prefix + self.names[host], self.addresses[partner]
            _do("ip", "-n", namespace, "neigh", "del", address, "dev", "eth0")

    def drop(self, host: int, partner: int) -> None:
        """What a host sends to another vanishes, in this direction alone."""
        nowhere = ("lladdr", "02:00:00:00:00:99", "nud", "permanent")
        _do(
            "ip",
            "-n",
            self._prefix + self.names[host],
            "neigh",
            "replace",
            self.addresses[partner],
            *nowhere,
            "dev",
            "eth0",
        )

    def slow_down(self, host: int, rate: str = _SLOW) -> None:
        """50 Mbit/s in both directions, with so little credit that messages of some KiB see it."""
        self.slow_down_sending(host, rate)
        self.slow_down_receiving(host, rate)

    def slow_down_sending(self, host: int, rate: str = _SLOW) -> None:
        """As slow_down(), but only what this host sends."""
        self._limit(self._prefix + self.names[host], "eth0", rate)

    def slow_down_receiving(self, host: int, rate: str = _SLOW) -> None:
        """As slow_down(), but only what is sent to this host."""
        self._limit(self._switch, self.names[host], rate)

    def slow_down_between(self, first: int, second: int, rate: str = _SLOW) -> None:
        """As slow_down(), but only what these two send to each other."""
        for host, partner in ((first, second), (second, first)):
            self.slow_down_towards(host, partner, rate)

    def slow_down_towards(self, host: int, partner: int, rate: str = _SLOW) -> None:
        """As slow_down(), but only what this host sends to that one."""
        tc = ("ip", "netns", "exec", self._prefix + self.names[host], "tc")
        to_device = ("dev", "eth0", "parent", "1:")
        _do(*tc, "qdisc", "replace", "dev", "eth0", "root", "handle", "1:", "htb")  # what has no class is not limited
        _do(*tc, "class", "add", *to_device, "classid", "1:1", "htb", "rate", rate, *_BURST, "quantum", "1514")
        address = ("match", "ip", "dst", f"{self.addresses[partner]}/32")
        _do(*tc, "filter", "add", *to_device, "protocol", "ip", "u32", *address, "flowid", "1:1")

    def plug_into_switches(self, hosts_of: Mapping[str, Sequence[int]], trunks: Sequence[tuple[str, str]]) -> None:
        """Hosts move to these switches; a trunk is a cable between two. All others stay on the switch "bridge"."""
        on_switch = ("ip", "-n", self._switch, "link")
        for switch in sorted({*hosts_of, *(end for trunk in trunks for end in trunk)} - {"bridge"}):
            _do(*on_switch, "add", switch, "type", "bridge")
            _do(*on_switch, "set", switch, "up")
        for first, second in trunks:
            _do(*on_switch, "add", f"{first}-{second}", "type", "veth", "peer", "name", f"{second}-{first}")
            for switch, other in ((first, second), (second, first)):
                _do(*on_switch, "set", f"{switch}-{other}", "master", switch, "up")
        for switch, hosts in hosts_of.items():
            for host in hosts:
                _do(*on_switch, "set", self.names[host], "master", switch)
                self._switch_of[host] = switch

    def slow_down_trunk(self, first: str, second: str, rate: str = _SLOW) -> None:
        """As slow_down(), of the cable between two switches."""
        self.slow_down_trunk_towards(first, second, rate)
        self.slow_down_trunk_towards(second, first, rate)

    def slow_down_trunk_towards(self, switch: str, other: str, rate: str = _SLOW) -> None:
        """As slow_down_trunk(), but only what the first switch sends to the other."""
        self._limit(self._switch, f"{switch}-{other}", rate)

    def plug_into_second_switch(self, hosts: Sequence[int], rate: str = _SLOW) -> None:
        """These hosts reach the others through one cable between two switches, as fast as a host slowed down."""
        self.plug_into_switches({"bridge2": hosts}, [("bridge", "bridge2")])
        self.slow_down_trunk("bridge", "bridge2", rate)

    def lengthen_between(self, first: int, second: int, delay_us: float = 0, loss: float = 0) -> None:
        """What these two send to each other takes a way of its own, so much longer, that loses a share of frames."""
        hosts = (first, second)
        self._lay([(self._prefix + self.names[host], f"way{host}") for host in hosts], delay_us, loss)
        for host, partner in (hosts, hosts[::-1]):
            name, device = self._prefix + self.names[host], f"way{host}"
            _do("ip", "-n", name, "link", "set", device, "up")
            route = (f"{self.addresses[partner]}/32", "dev", device, "src", self.addresses[host])
            _do("ip", "-n", name, "route", "add", *route)

    def lengthen(self, host: int, delay_us: float = 0, loss: float = 0) -> None:
        """The cable of a host becomes so much longer, and loses that share of frames."""
        name = self.names[host]
        _do("ip", "-n", self._switch, "link", "del", name)
        self._lay([(self._prefix + name, "eth0"), (self._switch, name)], delay_us, loss)
        _do("ip", "-n", self._switch, "link", "set", name, "master", self._switch_of[host], "up")
        _do("ip", "-n", self._prefix + name, "addr", "add", f"{self.addresses[host]}/24", "dev", "eth0")
        _do("ip", "-n", self._prefix + name, "link", "set", "eth0", "up")

    def keep_busy(self, host: int) -> None:
        """What is started on this host from now on has a quarter of the time, as where others use its cores, too.

        It stands still meanwhile, so other hosts on the same core do not see it; and never for longer than three
        milliseconds, which a quota of the kernel can become for every single message.
        """
        group = self._group(host, "freezer")
        (group / "freezer.state").write_text("THAWED")
        at_once = ["chrt", "--fifo", "1"]  # it hardly needs time, but needs it at once
        words = [*at_once, sys.executable, "-c", _STEAL_TIME, str(group), str(os.getpid())]
        self._processes.append(subprocess.Popen(words, text=True))

    def add_targets(self, num_targets: int) -> list[Path]:
        """Folders that all hosts share, each a file system on a device of its own, which lies in memory."""
        for index in range(num_targets):
            folder, image = self._folder / f"target{index}", f"/dev/shm/{self._prefix}target{index}"
            folder.mkdir()
            try:
                with Path(image).open("wb") as file:
                    file.truncate(32 << 20)
                _do("mkfs.ext4", "-q", "-O", "^has_journal", image)
                self._mounted.append(folder)
                _do("mount", "-o", "loop", image, str(folder))  # the device goes with the mount
            finally:
                Path(image).unlink(missing_ok=True)
        return self._mounted[-num_targets:]

    def slow_down_writing(self, host: int, target: Path, bytes_per_s: int) -> None:
        """What this host writes to a target of add_targets(), past the page cache."""
        device = target.stat().st_dev
        limit = f"{os.major(device)}:{os.minor(device)} {bytes_per_s}"
        group = self._group(host, "blkio")
        try:
            (group / "blkio.throttle.write_bps_device").write_text(limit)
        except OSError as error:
            raise NotHereError(f"{group}: {error.strerror}") from None

    def _lay(self, ends: Sequence[tuple[str, str]], delay_us: float, loss: float) -> None:
        """A cable that is a process, between devices that appear."""
        if not Path("/dev/net/tun").exists():
            raise NotHereError("/dev/net/tun is not there")
        cable = self._folder / "long_cable"
        if not cable.exists():
            _do("cc", "-O2", "-o", str(cable), str(program.ROOT / "tests" / "support" / "long_cable.c"))
        places = [word for name, device in ends for word in (f"/run/netns/{name}", device)]
        process = subprocess.Popen(
            [cable, *places, str(delay_us), str(loss)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._processes.append(process)
        assert process.stdout is not None
        if not process.stdout.readline():  # comes at once, or the process ends
            _, complaint = process.communicate(timeout=20)
            raise NotHereError(complaint.strip())

    @staticmethod
    def _limit(namespace: str, device: str, rate: str) -> None:
        limit = ["tbf", "rate", rate, *_BURST, "latency", "400ms"]
        _do("ip", "netns", "exec", namespace, "tc", "qdisc", "replace", "dev", device, "root", *limit)

# SPDX-License-Identifier: Apache-2.0
"""A virtual machine whose kernel has RDMA over Ethernet in software (rdma_rxe) and this machine's files as its own.

The kernel is the one that Debian's linux-image-amd64 depends on. It comes by apt once and stays in a cache folder.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import io
import lzma
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Where the machine has the programs that are tested: its own /tmp, /run and /dev hide those of the host.
BUILD = "/run/build"
# What the jobs need, and what these ask for while they are loaded (the checksum of RoCE's packets).
MODULES = (
    *("virtio_pci", "9p", "9pnet_virtio", "overlay", "rdma_rxe", "ib_uverbs", "rdma_ucm", "veth", "bridge"),
    *("sch_netem", "crc32_generic", "crc32c_generic"),
)
FOLDERS = (
    *("drivers/infiniband", "drivers/virtio", "drivers/net", "net", "lib", "crypto"),
    *("fs/9p", "fs/overlayfs", "fs/netfs", "fs/fscache", "fs/configfs"),
)
COMMANDS = ("sh", "mount", "insmod", "mkdir", "ip", "switch_root", "echo")


class NotHereError(Exception):
    """The machine cannot be made or started here; the words say why."""


def _output(*words: str, folder: Path | None = None, timeout: float = 60) -> str:
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotHereError(f"{' '.join(words)}: {error}") from error
    if done.returncode != 0:
        raise NotHereError(f"{' '.join(words)}: {(done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]}")
    return done.stdout


def _kernel_package() -> str:
    found = re.search(r"Depends: (linux-image-[0-9]\S+)", _output("apt-cache", "depends", "linux-image-amd64"))
    if not found:
        raise NotHereError("apt knows no linux-image-amd64")
    return found[1]


def _files_in(package: Path) -> Iterator[tuple[str, bytes]]:
    """Plain files of a Debian package, without the dot at the beginning of their paths."""
    with (
        subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as unpacking,
        tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive,
    ):
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None and _is_wanted(member.name):
                yield member.name.removeprefix("."), content.read()


def _is_wanted(path: str) -> bool:
    kernel = re.search(r"/lib/modules/[^/]+/kernel/(.*)", path)
    if kernel:
        return any(kernel[1].startswith(f"{folder}/") for folder in FOLDERS)
    return path.startswith("./boot/vmlinuz") or path in ("./bin/busybox", "./usr/bin/busybox")


def _elf_kernel(image: bytes) -> bytes:
    """The kernel inside its compressed image: a machine that is emulated need not unpack it then."""
    start = image.find(b"\xfd7zXZ\x00")
    if start < 0:
        raise NotHereError("the kernel's image has no xz stream")
    return lzma.LZMADecompressor().decompress(image[start:])


def _with_all_they_need(modules: dict[str, bytes]) -> list[str]:
    """In an order in which they can be loaded; what is not a module is part of the kernel."""
    order: list[str] = []

    def add(name: str) -> None:
        if name in order or name not in modules:
            return
        depends = re.search(rb"\0depends=([^\0]*)\0", modules[name])
        for needed in depends[1].decode().split(",") if depends else []:
            add(needed.replace("-", "_"))
        order.append(name)

    for name in MODULES:
        add(name)
    return order


class _Archive:
    """A file system for the kernel's first moments, as cpio's "newc" format has it."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        self._num = 0

    def add(self, path: str, mode: int, content: bytes = b"") -> None:
        name = path.encode() + b"\0"
        self._num += 1
        fields = [self._num, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0]
        self._bytes.write(b"070701" + b"".join(b"%08X" % field for field in fields))
        for part in (name, content):
            self._bytes.write(part)
            self._bytes.write(b"\0" * (-self._bytes.tell() % 4))

    def packed(self) -> bytes:
        self.add("TRAILER!!!", 0)
        return gzip.compress(self._bytes.getvalue(), compresslevel=1)


def _first_files(modules: dict[str, bytes], busybox: bytes) -> bytes:
    archive = _Archive()
    for folder in ("bin", "proc", "sys", "dev", "modules", "host", "layer", "root"):
        archive.add(folder, stat.S_IFDIR | 0o755)
    archive.add("init", stat.S_IFREG | 0o755, (HERE / "init.sh").read_bytes())
    archive.add("bin/busybox", stat.S_IFREG | 0o755, busybox)
    for command in COMMANDS:
        archive.add(f"bin/{command}", stat.S_IFLNK | 0o777, b"busybox")
    order = _with_all_they_need(modules)
    for name in order:
        archive.add(f"modules/{name}.ko", stat.S_IFREG | 0o644, modules[name])
    archive.add("modules/order", stat.S_IFREG | 0o644, "".join(f"{name}.ko\n" for name in order).encode())
    return archive.packed()


@dataclasses.dataclass(frozen=True)
class Image:
    """What the machine is started with."""

    kernel: Path
    files: Path


def image(cache: Path) -> Image:
    """Made anew only where the kernel's package or this recipe has changed."""
    if shutil.which("qemu-system-x86_64") is None:
        raise NotHereError("qemu-system-x86_64 is not installed")
    package = _kernel_package()
    recipe = hashlib.sha256((HERE / "machine.py").read_bytes() + (HERE / "init.sh").read_bytes()).hexdigest()[:12]
    folder = cache / f"{package}-{recipe}"
    made = Image(folder / "vmlinux", folder / "files.gz")
    if not made.files.exists():
        _make(package, folder, made)
    return made


def _make(package: str, folder: Path, made: Image) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Not in the cache folder: where a path has 300 characters, apt downloads nothing and says nothing.
    with tempfile.TemporaryDirectory(prefix="leadline-test-") as work:
        words = ("apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", package, "busybox-static")
        _output(*words, folder=Path(work), timeout=300)
        _unpack(package, sorted(Path(work).glob("*.deb")), made)


def _unpack(package: str, debs: list[Path], made: Image) -> None:
    modules: dict[str, bytes] = {}
    busybox = b""
    for deb in debs:
        for path, content in _files_in(deb):
            name = Path(path).name
            if path.startswith("/boot/"):
                made.kernel.write_bytes(_elf_kernel(content))
            elif name == "busybox":
                busybox = content
            elif name.endswith((".ko", ".ko.xz")):
                plain = lzma.decompress(content) if name.endswith(".xz") else content
                modules[name.split(".ko")[0].replace("-", "_")] = plain
    if "rdma_rxe" not in modules or not busybox or not made.kernel.exists():
        raise NotHereError(f"{package} lacks rdma_rxe, or something else that is needed")
    made.files.write_bytes(_first_files(modules, busybox))


@dataclasses.dataclass(frozen=True)
class Job:
    """One command line in the machine, in a folder of its own."""

    name: str
    command: str
    timeout_s: int = 120


@dataclasses.dataclass(frozen=True)
class Done:
    """How a job ended, and the folder it ran in."""

    status: int
    out: str
    err: str
    folder: Path


def _shared(folder: Path, tag: str, *settings: str) -> tuple[str, str]:
    """Options of the emulator that give the machine a folder of the host."""
    path = str(folder).replace(",", ",,")  # one comma would end the path
    return "-virtfs", ",".join(("local", f"path={path}", f"mount_tag={tag}", "security_model=none", *settings))


def run(started_with: Image, jobs: list[Job], build: Path, share: Path, *, timeout_s: float) -> dict[str, Done]:
    """Boots, runs one job after the other, and switches off. `build` is what the machine has as BUILD."""
    for folder in ("jobs", "out"):
        (share / folder).mkdir(parents=True)
    shutil.copy(HERE / "guest.sh", share)
    for number, job in enumerate(jobs):
        (share / "jobs" / f"{number:03}-{job.name}").write_text(f"# seconds: {job.timeout_s}\n{job.command}\n")
    words = [
        # One thread for both processors: two, whose memory is kept in step, take more than twice the processor time.
        *("qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "qemu64", "-m", "2048", "-smp", "2"),
        *("-nic", "none", "-vga", "none", "-nographic", "-no-reboot"),
        *_shared(Path("/"), "host", "readonly=on", "multidevs=remap"),
        *_shared(build, "build", "readonly=on", "multidevs=remap"),
        *_shared(share, "share"),
        *("-kernel", str(started_with.kernel), "-initrd", str(started_with.files)),
        *("-append", "console=ttyS0 panic=-1 quiet mitigations=off nokaslr no_timer_check cryptomgr.notests"),
    ]
    with (share / "console").open("wb") as console:
        try:
            subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=console, stderr=console, timeout=timeout_s, check=False
            )
        except subprocess.TimeoutExpired:
            console.write(b"\nended by its timeout\n")
    if not (share / "finished").exists() and not any((share / "out").iterdir()):
        raise NotHereError(f"the machine does not start: {(share / 'console').read_text(errors='replace')[-300:]}")
    return {job.name: _done(share / "out" / job.name) for job in jobs}


def _done(folder: Path) -> Done:
    status = folder / "status"
    if not status.exists():
        return Done(-1, "", "the machine did not come to this", folder)
    texts = [(folder / name).read_text(errors="replace") for name in ("stdout", "stderr")]
    return Done(int(status.read_text()), *texts, folder)

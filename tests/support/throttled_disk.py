# SPDX-License-Identifier: Apache-2.0
"""A file system on a device in memory that reads and writes no faster than it may, by a control group."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import TracebackType

import program

_GROUPS = Path("/sys/fs/cgroup")


class NotHereError(Exception):
    """It cannot be made here; the words say why."""


def _do(*words: str) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        raise NotHereError(f"{words[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise NotHereError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")


class ThrottledDisk:
    """To be used in a `with`, which removes it. What runs behind the words of `inside` is held to the rate; what is
    written through the page cache may not be, since other processes bring it to the device.
    """

    # The kernel lets through what a device may do in so long before it holds anything back.
    SLACK_S = 0.1

    def __init__(self, folder: Path, size_bytes: int, bytes_per_s: int) -> None:
        """Its files will be in `folder`, which must not be there yet."""
        self.folder, self._size, self._rate = folder, size_bytes, bytes_per_s
        self._group: Path | None = None
        self._is_mounted = False

    def __enter__(self) -> ThrottledDisk:
        """NotHereError where the system does not allow it."""
        try:
            self._mount()
            self._limit()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """All of it goes."""
        self._remove()

    def inside(self, *words: str | Path) -> list[str | Path]:
        """The command that runs these words in the control group."""
        assert self._group is not None
        return ["sh", "-c", 'echo $$ >"$1" && shift && exec "$@"', "sh", self._group / "cgroup.procs", *words]

    def _mount(self) -> None:
        if os.geteuid() != 0:
            raise NotHereError("only root can mount a device")
        self.folder.mkdir()
        image = Path("/dev/shm", f"leadline-disk-{os.getpid()}")
        try:
            with image.open("wb") as file:
                file.truncate(self._size)
            _do("mkfs.ext4", "-q", "-O", "^has_journal", str(image))
            _do("mount", "-o", "loop", str(image), str(self.folder))  # the device goes with the mount
            self._is_mounted = True
        finally:
            image.unlink(missing_ok=True)

    def _limit(self) -> None:
        device = self.folder.stat().st_dev
        name = f"{os.major(device)}:{os.minor(device)}"
        is_unified = (_GROUPS / "cgroup.controllers").exists()
        parent = _GROUPS if is_unified else _GROUPS / "blkio"
        group = parent / f"leadline-disk-{os.getpid()}"
        try:
            group.mkdir()
            self._group = group
            if is_unified:
                (parent / "cgroup.subtree_control").write_text("+io")
                (group / "io.max").write_text(f"{name} rbps={self._rate} wbps={self._rate}")
            else:
                for way in ("read", "write"):
                    (group / f"blkio.throttle.{way}_bps_device").write_text(f"{name} {self._rate}")
        except OSError as error:
            raise NotHereError(f"{error.filename or group}: {error.strerror}") from None

    def _remove(self) -> None:
        if self._is_mounted:
            subprocess.run(["umount", self.folder], capture_output=True, timeout=60, check=False)
        if self._group is not None:
            program.await_that(self._is_group_removed)

    def _is_group_removed(self) -> bool:
        assert self._group is not None
        try:
            self._group.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

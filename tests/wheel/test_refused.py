# SPDX-License-Identifier: Apache-2.0
"""Where the wheel cannot be installed, and machines on which its programs find less than usual: one line each."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import program
import pytest

QUICK = ["--local", "2", "--messages", "5", "--wait", "yield"]
VENDORS = ["ucp", "uct", "ucs", "ucm", "fabric", "ibverbs", "psm2", "mpi", "mpich", "pmix"]


def pip_refuses(wheel: Path, folder: Path, *words: str) -> str:
    """What pip says of the file."""
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--dry-run", "--target", folder]
    done = program.complete([*pip, *words, wheel], folder)
    assert done.status != 0
    (line,) = (line for line in done.err.splitlines() if line.startswith("ERROR:"))
    return line


@pytest.mark.parametrize("machine", ["aarch64", "ppc64le"])
def test_pip_refuses_the_wheel_for_another_processor(wheel: Path, tmp_path: Path, machine: str) -> None:
    other = tmp_path / re.sub(r"_2_28_\w+\.whl$", f"_2_28_{machine}.whl", wheel.name)
    shutil.copy(wheel, other)
    assert pip_refuses(other, tmp_path) == f"ERROR: {other.name} is not a supported wheel on this platform."


@pytest.mark.parametrize("system", ["musllinux_1_2_x86_64", "manylinux_2_27_x86_64", "macosx_14_0_x86_64"])
def test_pip_refuses_it_for_another_c_library(wheel: Path, tmp_path: Path, system: str) -> None:
    """Such as that of Alpine, and an older glibc."""
    words = ["--only-binary=:all:", "--platform", system]
    assert pip_refuses(wheel, tmp_path, *words) == f"ERROR: {wheel.name} is not a supported wheel on this platform."


def test_it_says_that_the_program_is_for_another_processor(installed: Path, tmp_path: Path) -> None:
    """In a folder that hosts of two kinds share."""
    here = tmp_path / "bin"
    here.mkdir()
    other = bytearray((installed / "leadline").read_bytes())
    other[18] ^= 0xFF  # e_machine
    (here / "leadline").write_bytes(other)
    (here / "leadline").chmod(0o755)
    (tmp_path / "a.sion").write_bytes(b"sion\n")
    done = program.complete([installed / "linktest", "--help"], here)
    assert done.status == 0
    shutil.copy(installed / "linktest", here)
    done = program.complete([here / "linktest", "--help"], here)
    assert done.status == 126
    assert "Exec format error" in done.err
    env = {"LEADLINE_PROGRAM": str(here / "leadline")}
    done = program.complete([installed / "leadline-report", "a.sion"], tmp_path, env=env)
    done.assert_refused(3, "a.sion", "Exec format error", "another kind of processor")


# Machines on which it finds less


@functools.cache
def no_namespaces() -> str:
    """Why a test may mount nothing here; empty: it may."""
    if os.geteuid() != 0:
        return "only root may mount"
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False, timeout=20)
    return f"no mount namespaces here: {done.stderr.strip()}" if done.returncode else ""


Mounted = Callable[..., program.Done]


@pytest.fixture
def mounted(installed: Path, tmp_path: Path) -> Mounted:
    """Runs WORDS of the installed programs in tmp_path, after commands of the shell that mount something, which no
    other process sees.
    """
    if reason := no_namespaces():
        pytest.skip(reason)

    def run(mounts: str, *words: str | Path, env: dict[str, str] | None = None) -> program.Done:
        script = f'set -e\n{mounts}\ncd "$1"\nshift\nexec "$@"'
        enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", tmp_path]
        # What other tests preload lies in a folder for temporary files.
        words = (installed / words[0], *words[1:])
        return program.complete([*enter, *words], tmp_path, env={"LD_PRELOAD": ""} | (env or {}))

    return run


READ_ONLY = 'mount --bind "{0}" "{0}" && mount -o remount,bind,ro "{0}"'


def test_a_folder_that_takes_no_result(mounted: Mounted, tmp_path: Path) -> None:
    """The name is the program's own choice, since none was given: the line names it, and the option."""
    done = mounted(READ_ONLY.format(tmp_path), "leadline", "link", *QUICK)
    done.assert_refused(3, "leadline-link-", "Read-only file system", "--output")
    done = mounted(READ_ONLY.format(tmp_path), "leadline", "check", "--local", "2", "--wait", "yield")
    done.assert_refused(3, "leadline-check-", "Read-only file system", "--output")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_no_report(mounted: Mounted, installed: Path, tmp_path: Path) -> None:
    assert program.complete([installed / "leadline", "link", *QUICK, "--output", "a.h5"], tmp_path).status == 0
    done = mounted(READ_ONLY.format(tmp_path), "leadline", "report", "a.h5")
    done.assert_refused(3, "a.html", "Read-only file system", "a folder that you may write to")


MEASURE_AND_REPORT = """
leadline link --local 2 --messages 5 --wait yield --quiet --output a.h5
leadline report --quiet a.h5
leadline report --quiet a.h5 --output a.pdf
leadline convert --quiet a.h5 --output a.sion
leadline report --quiet a.sion --output b.html
"""


@pytest.fixture
def all_of_it(mounted: Mounted, installed: Path, tmp_path: Path) -> Callable[..., None]:
    """Measures, reports and converts; with nothing to complain about."""

    def run(mounts: str, env: dict[str, str]) -> None:
        (tmp_path / "script").write_text(MEASURE_AND_REPORT, encoding="utf-8")
        path = f"{installed}:{os.environ['PATH']}"
        done = mounted(mounts, "/bin/bash", "-eu", "script", env=env | {"PATH": path})
        assert (done.status, done.err) == (0, "")
        assert {path.name for path in tmp_path.iterdir()} >= {"a.h5", "a.html", "a.pdf", "a.sion", "b.html"}

    return run


def test_a_home_that_is_read_only(all_of_it: Callable[..., None], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    all_of_it(READ_ONLY.format(home), {"HOME": str(home)})


def test_a_home_that_is_not_there(all_of_it: Callable[..., None], tmp_path: Path) -> None:
    all_of_it("", {"HOME": str(tmp_path / "none")})


def test_temporary_folders_in_which_nothing_can_be_executed(
    all_of_it: Callable[..., None], installed: Path, tmp_path: Path
) -> None:
    """What is installed stays as it is, and the folder of the results; the checkout may lie in such a folder, too."""
    kept = [installed.parent, tmp_path, program.ROOT, sysconfig.get_path("purelib")]
    aside = [f'mkdir -p "/mnt/{i}" && mount --bind "{path}" "/mnt/{i}"' for i, path in enumerate(kept)]
    back = [f'mkdir -p "{path}" && mount --bind "/mnt/{i}" "{path}"' for i, path in enumerate(kept)]
    noexec = [f"mount -t tmpfs -o mode=1777,noexec none {folder}" for folder in ("/tmp", "/var/tmp", "/dev/shm")]
    mounts = ["mount -t tmpfs none /mnt", *aside, *noexec, *back]
    probe = "cp /bin/true /tmp/true && if /tmp/true 2>/dev/null; then echo 'the mount has no effect' >&2; exit 9; fi"
    all_of_it("\n".join([*mounts, probe]), {"TMPDIR": "/tmp"})


def without_libraries(words: list[str]) -> str:
    """Commands of the shell after which no library of these names is there: a layer over their folders."""
    folders = [path for path in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/lib") if Path(path).is_dir()]
    script = "mount -t tmpfs none /mnt\n"
    for i, folder in enumerate(folders):
        script += f"mkdir /mnt/upper{i} /mnt/work{i}\n"
        script += f"mount -t overlay -o lowerdir={folder},upperdir=/mnt/upper{i},workdir=/mnt/work{i} none {folder}\n"
        script += f"rm -f {' '.join(f'{folder}/lib{word}.so*' for word in words)}\n"
    return script


@pytest.fixture
def bare(mounted: Mounted) -> Mounted:
    """On a machine without any vendor's library."""
    if not re.search(r"\boverlay$", Path("/proc/filesystems").read_text(encoding="utf-8"), re.MULTILINE):
        pytest.skip("the kernel has no overlay file system")
    return functools.partial(mounted, without_libraries(VENDORS))


def test_a_machine_without_vendors_libraries_has_tcp(bare: Mounted) -> None:
    done = bare("leadline", "transports", "--json")
    assert done.status == 0, done.err
    modules = {one["module"]: one for one in json.loads(done.out)["modules"]}
    assert modules["tcp"]["is_usable"]
    for name, library in {"ucx": "libucp.so.0", "libfabric": "libfabric.so.1", "verbs": "libibverbs.so.1"}.items():
        assert not modules[name]["is_usable"]
        assert modules[name]["why_not_loadable"].startswith(f"{library}: cannot open shared object file")
    assert bare("leadline", "link", *QUICK, "--format", "none").status == 0


@pytest.mark.parametrize(("transport", "library"), [("ucx", "libucp.so.0"), ("libfabric", "libfabric.so.1")])
def test_a_transport_whose_library_is_missing(bare: Mounted, transport: str, library: str) -> None:
    done = bare("leadline", "link", *QUICK, "--transport", transport)
    done.assert_refused(3, transport, f"{library}: cannot open shared object file")

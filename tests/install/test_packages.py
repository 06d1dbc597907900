# SPDX-License-Identifier: Apache-2.0
"""Debian's tools and RPM's read the recipes of their packages, which packaging/build-package builds in minutes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import program
import pytest

PACKAGING = program.ROOT / "packaging"
BUILD = PACKAGING / "build-package"
# Of Debian's packages, and of RPM's, what is the same.
SAME_LIBRARIES = {
    "libcli11-dev": "cli11-devel",
    "libfabric-dev": "libfabric-devel",
    "libfmt-dev": "fmt-devel",
    "libhdf5-dev": "hdf5-devel",
    "libibverbs-dev": "rdma-core-devel",
    "libmpich-dev": "mpich-devel",
    "libopenmpi-dev": "openmpi-devel",
    "libpmix-dev": "pmix-devel",
    "libpsm2-dev": "libpsm2-devel",
    "libucx-dev": "ucx-devel",
    "nlohmann-json3-dev": "json-devel",
}


def output_of(name: str, *words: str | Path, cwd: Path = program.ROOT) -> str:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([name, *words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def debian_build_dependencies() -> set[str]:
    text = (PACKAGING / "debian" / "control").read_text(encoding="utf-8")
    (block,) = re.findall(r"^Build-Depends:\n((?: .*\n)+)", text, re.MULTILINE)
    return {line.split()[0].rstrip(",") for line in block.splitlines()}


def rpm_build_dependencies() -> set[str]:
    text = (PACKAGING / "leadline.spec").read_text(encoding="utf-8")
    return set(re.findall(r"^BuildRequires: +(\S+)", text, re.MULTILINE))


def test_both_build_with_what_the_checkout_builds_with() -> None:
    lines = (PACKAGING / "debian-packages.txt").read_text(encoding="utf-8").splitlines()
    groups = [line for line in lines if line.startswith("[")]
    assert groups[:2] == ["[build]", "[transports]"]
    wanted = {line for line in lines[: lines.index("[analysis]")] if re.fullmatch(r"lib\S+-dev|nlohmann\S+", line)}
    assert wanted == set(SAME_LIBRARIES), "a library of debian-packages.txt is in no recipe, or the other way round"
    assert wanted <= debian_build_dependencies()
    assert set(SAME_LIBRARIES.values()) <= rpm_build_dependencies()


def test_debian_reads_the_changes() -> None:
    text = output_of("dpkg-parsechangelog", "-l", PACKAGING / "debian" / "changelog")
    assert "Source: leadline" in text
    assert not re.search("warning|error", text)


def test_debian_makes_a_source_package(tmp_path: Path) -> None:
    """Of a tree with debian/ alone: a real one takes long to pack."""
    changes = output_of("dpkg-parsechangelog", "-l", PACKAGING / "debian" / "changelog")
    version = re.search(r"^Version: (.+)-\d+$", changes, re.MULTILINE)
    assert version
    tree = tmp_path / f"leadline-{version[1]}"
    tree.mkdir()
    (tree / "file").touch()
    subprocess.run(["tar", "czf", f"leadline_{version[1]}.orig.tar.gz", tree.name], cwd=tmp_path, check=True)
    shutil.copytree(PACKAGING / "debian", tree / "debian")
    output_of("dpkg-source", "--build", tree.name, cwd=tmp_path)
    text = (tmp_path / f"leadline_{version[1]}-1.dsc").read_text(encoding="utf-8")
    assert "Binary: leadline, leadline-analysis" in text


def test_rpm_reads_the_spec() -> None:
    spec = PACKAGING / "leadline.spec"
    names = output_of("rpmspec", "--query", "--queryformat", "%{name} %{version} %{arch}\n", spec)
    assert [line.split()[0] for line in names.splitlines()] == ["leadline", "leadline-analysis"]
    assert "noarch" in names
    parsed = output_of("rpmspec", "--parse", spec)
    assert "%{" not in re.sub(r"(?m)^#.*", "", parsed), "a macro that this rpm does not know"


@pytest.mark.parametrize("words", [[], ["apk"], ["deb", "--fast"]])
def test_a_wrong_option_is_refused_in_one_line(words: list[str], tmp_path: Path) -> None:
    done = program.complete([BUILD, *words], tmp_path)
    assert done.status == 2
    assert re.fullmatch(r"build-package: [^\n]+\n", done.err)

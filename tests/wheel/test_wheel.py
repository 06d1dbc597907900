# SPDX-License-Identifier: Apache-2.0
"""The wheel is the whole product, and runs wherever its name says."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import program
import pytest
import tomllib

BUILD = program.ROOT / "packaging" / "build-wheel"
FRONT_ENDS = {"linktest", "mpilinktest", "nettest", "netgauge", "mpi_io_test.x"}


def package_version() -> str:
    with (program.ROOT / "analysis" / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def machine_of(wheel: Path) -> str:
    return wheel.stem.partition("manylinux_2_28_")[2]


def unpacked_program(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".data/data/bin/leadline"))
        return Path(file.extract(name, folder))


def test_program_and_package_have_one_version() -> None:
    text = (program.ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert f"project(leadline VERSION {package_version()} " in text


@pytest.mark.parametrize("words", [["--fast"], ["x86_64"], ["--target"], ["--target", "riscv64"]])
def test_a_wrong_option_is_refused_in_one_line(words: list[str], tmp_path: Path) -> None:
    done = program.complete([BUILD, *words], tmp_path)
    assert done.status == 2
    assert re.fullmatch(r"build-wheel: [^\n]+\n", done.err)


def test_name_and_tag_say_where_it_runs(any_wheel: Path) -> None:
    tag = re.fullmatch(rf"leadline-{re.escape(package_version())}-(py3-none-manylinux_2_28_\w+)\.whl", any_wheel.name)
    assert tag
    with zipfile.ZipFile(any_wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/WHEEL"))
        lines = file.read(name).decode().splitlines()
    assert f"Tag: {tag[1]}" in lines
    assert "Root-Is-Purelib: false" in lines


def test_it_has_all_programs_pages_and_completions(any_wheel: Path) -> None:
    with zipfile.ZipFile(any_wheel) as file:
        names = {re.sub(r"^leadline-[^/]*\.data/", "", name) for name in file.namelist()}
    assert {f"data/bin/{name}" for name in {"leadline", "linktest.ucp", "linktest.mpi"} | FRONT_ENDS} <= names
    pages = {"leadline", "leadline-link", "leadline-report"} | FRONT_ENDS
    assert {f"data/share/man/man1/{name}.1" for name in pages} <= names
    assert {
        "data/share/bash-completion/completions/leadline",
        "data/share/zsh/site-functions/_leadline",
        "data/share/fish/vendor_completions.d/leadline.fish",
        "leadline/py.typed",
    } <= names


def test_it_is_no_larger_than_30_mb(any_wheel: Path) -> None:
    assert any_wheel.stat().st_size <= 30e6


def test_the_program_needs_glibc_2_28_and_nothing_else(any_wheel: Path, tmp_path: Path) -> None:
    elf = unpacked_program(any_wheel, tmp_path)
    text = subprocess.run(["readelf", "--wide", "-d", "-V", elf], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    loader = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}[machine_of(any_wheel)]
    assert needed <= {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", loader}
    versions = re.findall(r"Name: (\w+?)_([\d.]+)", text)
    assert {library for library, _ in versions} == {"GLIBC"}
    assert max(tuple(int(part) for part in version.split(".")) for _, version in versions) <= (2, 28)
    assert not re.search(r"R(UN)?PATH", text)


def test_the_program_is_for_the_processor_of_the_tag_and_all_its_page_sizes(any_wheel: Path, tmp_path: Path) -> None:
    """RHEL 8 has pages of 64 KiB on ARM: there the loader takes no program whose parts are aligned to 4 KiB."""
    words = ["readelf", "--wide", "-h", "-l", unpacked_program(any_wheel, tmp_path)]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    name, page = {"x86_64": ("X86-64", 0x1000), "aarch64": ("AArch64", 0x10000)}[machine_of(any_wheel)]
    assert re.search(rf"Machine: .*{name}", text)
    alignments = [int(number, 16) for number in re.findall(r"^ +LOAD .* (0x\w+)$", text, re.MULTILINE)]
    assert alignments
    assert min(alignments) >= page


def test_nothing_in_the_program_names_this_checkout(any_wheel: Path, tmp_path: Path) -> None:
    assert str(program.ROOT).encode() not in unpacked_program(any_wheel, tmp_path).read_bytes()


def test_it_measures_and_reports(installed: Path, tmp_path: Path) -> None:
    quick = ["--local", "2", "--messages", "5", "--wait", "yield"]
    done = program.complete([installed / "leadline", "link", *quick, "--output", "a.h5"], tmp_path)
    assert done.status == 0, done.err
    done = program.complete([installed / "leadline", "report", "a.h5", "--output", "a.html"], tmp_path)
    assert done.status == 0, done.err
    assert (tmp_path / "a.html").is_file()


def test_front_ends_are_the_program_under_their_names(installed: Path, tmp_path: Path) -> None:
    for name in FRONT_ENDS:
        of_checkout = program.complete([program.PROGRAM.parent / name, "--help"], tmp_path)
        assert program.complete([installed / name, "--help"], tmp_path).out == of_checkout.out, name
    link = tmp_path / "linktest"
    link.symlink_to(installed / "linktest")
    assert program.complete([link, "--help"], tmp_path).status == 0


def test_a_transport_in_a_file_by_another_compiler_is_refused(installed: Path, tmp_path: Path) -> None:
    file = program.ROOT / "build" / "release" / "tests" / "faulty" / "faulty.so"
    if not file.is_file():
        pytest.skip("the release build has no transport in a file")
    done = program.complete([installed / "leadline", "link", "--local", "2", "--transport", str(file)], tmp_path)
    assert done.status == 3
    assert "compile it again with the program's own sources and compiler" in done.err

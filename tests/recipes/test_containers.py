# SPDX-License-Identifier: Apache-2.0
"""The definitions of containers: they parse, say the same, and name what is there."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from conftest import RECIPES, ROOT

FOLDER = RECIPES / "containers"
INSTRUCTIONS = {"ARG", "FROM", "RUN", "COPY", "ENV", "ENTRYPOINT"}
SECTIONS = {"files", "post", "environment", "runscript", "test", "labels", "help"}


@pytest.fixture(scope="module")
def instructions() -> list[tuple[str, str]]:
    """Those of the Containerfile, without comments, each in one line."""
    text = (FOLDER / "Containerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in joined]


@pytest.fixture(scope="module")
def definition() -> dict[str, str]:
    """The header of leadline.def under "", and its sections."""
    text = (FOLDER / "leadline.def").read_text(encoding="utf-8")
    parts = re.split(r"^%(\w+)\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {"": parts[0]} | {name: re.sub(r"^    ", "", body, flags=re.MULTILINE) for name, body in sections.items()}


def commands_of(instructions: list[tuple[str, str]]) -> list[str]:
    return [words for name, words in instructions if name == "RUN"]


def parse_as_shell(script: str) -> None:
    done = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 0, f"{done.stderr}\n{script}"


def installed_packages(script: str) -> set[str]:
    """What apt-get install names, in any line."""
    found: set[str] = set()
    for line in re.sub(r"\\\n\s*", "", script).splitlines():
        for command in re.split(r"&&|;", re.sub(r"^\s*#.*", "", line)):
            words = shlex.split(command)
            if words[:2] == ["apt-get", "install"]:
                found |= {word for word in words[2:] if not word.startswith("-")}
    return found


def test_instructions_and_sections_are_known(instructions: list[tuple[str, str]], definition: dict[str, str]) -> None:
    assert {name for name, _ in instructions} == INSTRUCTIONS
    assert set(definition) == SECTIONS | {""}


def test_what_the_shell_runs_is_shell(instructions: list[tuple[str, str]], definition: dict[str, str]) -> None:
    for script in [*commands_of(instructions), *(definition[name] for name in ("post", "environment", "test"))]:
        parse_as_shell(script)
    parse_as_shell(definition["runscript"])


def test_stages_that_are_copied_from_are_there(instructions: list[tuple[str, str]]) -> None:
    stages = {words.partition(" AS ")[2] for name, words in instructions if name == "FROM" and " AS " in words}
    sources = [words.split()[0] for name, words in instructions if name == "COPY"]
    copied = {word.removeprefix("--from=") for word in sources if word.startswith("--from=")}
    assert copied == stages == {"wheel"}


def test_both_begin_with_one_base(instructions: list[tuple[str, str]], definition: dict[str, str]) -> None:
    (base,) = (words.partition("=")[2] for name, words in instructions if name == "ARG" and words.startswith("BASE="))
    assert {words.split()[0] for name, words in instructions if name == "FROM"} == {"${BASE}"}
    assert "Bootstrap: docker\n" in definition[""]
    (of_definition,) = re.findall(r"^From: (\S+)$", definition[""], re.MULTILINE)
    assert base == f"docker.io/library/{of_definition}"


def test_both_install_the_same(instructions: list[tuple[str, str]], definition: dict[str, str]) -> None:
    (libraries,) = (
        words.partition("=")[2].strip('"')
        for name, words in instructions
        if name == "ARG" and words.startswith("LIBRARIES=")
    )
    script = "\n".join(commands_of(instructions)).replace("${LIBRARIES}", libraries)
    assert installed_packages(script) == installed_packages(definition["post"])
    assert set(libraries.split()) == {"ibverbs-providers", "libfabric1", "libibverbs1", "libpmix2", "libucx0"}
    pip = [line for line in re.sub(r" && ", "\n", script).splitlines() if "/bin/pip " in line]
    assert [line.strip() for line in pip] == re.findall(r"^/opt/leadline/bin/pip .*", definition["post"], re.MULTILINE)


def test_the_wheel_is_the_one_that_its_script_leaves(
    instructions: list[tuple[str, str]], definition: dict[str, str], package_version: str
) -> None:
    (copied,) = (words.split()[0] for name, words in instructions if name == "COPY" and not words.startswith("--from"))
    (of_definition,) = (line.split()[0] for line in definition["files"].splitlines() if line.strip())
    assert of_definition == f"dist/{copied}"
    script = (ROOT / "packaging" / "build-wheel").read_text(encoding="utf-8")
    (left,) = re.findall(r"^Leaves dist/(\S+)-VERSION-\S+\.whl", script, re.MULTILINE)
    assert Path(f"{left}-{package_version}-py3-none-manylinux_2_28_x86_64.whl").match(copied)


def test_the_label_has_the_version_of_the_sources(definition: dict[str, str], package_version: str) -> None:
    assert f"org.opencontainers.image.version {package_version}\n" in definition["labels"]


def test_the_program_is_what_runs(instructions: list[tuple[str, str]], definition: dict[str, str]) -> None:
    assert ("ENTRYPOINT", '["leadline"]') in instructions
    assert definition["runscript"].strip() == 'exec leadline "$@"'
    (path,) = (words for name, words in instructions if name == "ENV" and words.startswith("PATH="))
    assert path.startswith("PATH=/opt/leadline/bin:")
    assert "export PATH=/opt/leadline/bin:$PATH" in definition["environment"]

# SPDX-License-Identifier: Apache-2.0
"""What `pip install .` makes of the sources; it is not compiled here once more."""

from __future__ import annotations

import email
import shutil
import sys
from pathlib import Path

import program
import pytest
import tomllib

PREPARED = """
import scikit_build_core.build, sys
print(scikit_build_core.build.prepare_metadata_for_build_wheel(sys.argv[1]))
"""


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """The folder with what pip reads before it builds."""
    pytest.importorskip("scikit_build_core")
    done = program.complete([sys.executable, "-c", PREPARED, tmp_path], program.ROOT)
    assert done.status == 0, done.err
    return tmp_path / done.out.splitlines()[-1]


def test_the_package_is_the_one_that_the_analysis_describes(described: Path) -> None:
    project = tomllib.loads((program.ROOT / "analysis" / "pyproject.toml").read_text())["project"]
    said = email.message_from_string((described / "METADATA").read_text())
    assert (said["Name"], said["Version"]) == (project["name"], project["version"])
    assert said["Requires-Python"] == project["requires-python"]
    needed = [one for one in said.get_all("Requires-Dist", []) if "extra ==" not in one]
    assert needed == project["dependencies"]
    scripts = [f"{name} = {place}" for name, place in project["scripts"].items()]
    assert (described / "entry_points.txt").read_text().split("\n")[1 : len(scripts) + 1] == scripts


def test_a_script_in_place_of_a_link_is_a_front_end(tmp_path: Path) -> None:
    (tmp_path / "leadline").symlink_to(program.PROGRAM)
    script = tmp_path / "netgauge"
    shutil.copy(program.ROOT / "apps" / "front_end.in", script)
    script.chmod(0o755)
    wanted = program.complete([program.PROGRAM.parent / "netgauge", "-h"], tmp_path)
    assert program.complete([script, "-h"], tmp_path).out == wanted.out

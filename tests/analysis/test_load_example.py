# SPDX-License-Identifier: Apache-2.0
"""The example of the Python API runs as it stands, and so does what the guide shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from made_up_bisection import slow_host, write_bisection
from made_up_topology import even, write_topologies

from conftest import sweep, two_hosts, write_result

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program

EXAMPLE = program.ROOT / "examples" / "from-python" / "look_at_a_result.py"
GUIDE = program.ROOT / "docs" / "how-to" / "use-from-python.md"


def run(words: list[str | Path], folder: Path, **variables: str) -> str:
    environment = program.clean_environment({"MPLBACKEND": "Agg"} | variables)
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_with_a_result_of_ones_own(tmp_path: Path):
    path = write_result(tmp_path / "mine.h5", sweep())
    out = run([EXAMPLE], tmp_path, RESULT=str(path))
    assert f"LinkResult of {path}, complete\n  8 ranks on 2 hosts over tcp" in out
    assert "time_ns_median in ns, from_rank x to_rank [8, 8], 8 B, repeat 0" in out
    assert (tmp_path / "look_at_a_result.png").read_bytes().startswith(b"\x89PNG")


def test_with_a_simulated_fabric(tmp_path: Path):
    if not program.PROGRAM.is_file():
        pytest.skip(f"{program.PROGRAM.name} is not built")
    out = run([EXAMPLE], tmp_path)
    assert "8 ranks on 4 hosts over model" in out
    slowest = out.partition("slowest pairs\n")[2].splitlines()[:5]
    assert all("on node2" in line for line in slowest)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["look_at_a_result.png", "run.h5"]


def test_the_guide_can_be_followed(tmp_path: Path):
    write_result(tmp_path / "run.h5", two_hosts())
    write_topologies(tmp_path / "topology.h5", even())
    write_bisection(tmp_path / "bisection.h5", slow_host())
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    (tmp_path / "guide.py").write_text("".join(blocks), encoding="utf-8")
    out = run(["guide.py"], tmp_path)
    package = program.ROOT / "analysis"
    settings = ["--config-file", package / "pyproject.toml", "--cache-dir", program.ROOT / ".mypy_cache"]
    run(["-m", "mypy", "--strict", *settings, "guide.py", EXAMPLE], tmp_path, MYPYPATH=str(package))
    assert "node01.cluster" in out
    assert "SlowComponent(rank=-1, host='node05'" in out

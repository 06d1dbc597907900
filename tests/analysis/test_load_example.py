# SPDX-License-Identifier: Apache-2.0
"""The example of the Python API runs as it stands, and so does what the guides show; types are right in all."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import made_up_collective
import made_up_congestion
import made_up_io
import pytest
from made_up_bisection import slow_host, write_bisection
from made_up_topology import even, write_topologies

from conftest import MadeUp, sweep, times_of, two_hosts, write_result
from leadline.cli.simulate import main as simulate_main

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program

EXAMPLE = program.ROOT / "examples" / "from-python" / "look_at_a_result.py"
GUIDES = ("use-from-python", "what-a-pattern-costs", "simulate-a-bisection")


def run(words: list[str | Path], folder: Path, **variables: str) -> str:
    environment = program.clean_environment({"MPLBACKEND": "Agg"} | variables)
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=90, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


def shown_in(guide: str) -> str:
    text = (program.ROOT / "docs" / "how-to" / f"{guide}.md").read_text(encoding="utf-8")
    return "".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


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
    made_up_congestion.write_congestion(tmp_path / "congestion.h5", made_up_congestion.even())
    made_up_collective.write_collective(tmp_path / "collective.h5", made_up_collective.even())
    made_up_io.write_io(tmp_path / "io.h5", made_up_io.straggling())
    out = run(["-c", shown_in("use-from-python")], tmp_path)
    assert "node01.cluster" in out
    assert "node05 340 340" in out
    assert "incast 100 40.0 39.2" in out
    assert "(3, 1, 4)" in out
    assert "N-N" in out


def test_the_guide_to_costs_can_be_followed(tmp_path: Path):
    hosts = [f"node{rank // 4}" for rank in range(16)]
    write_result(tmp_path / "run.h5", MadeUp(hosts, [[times_of(hosts, 3)]], sizes=[65536]))
    assert "PairCost(" in run(["-c", shown_in("what-a-pattern-costs")], tmp_path)


@pytest.mark.usefixtures("real_program")
def test_the_guide_to_simulations_can_be_followed(tmp_path: Path):
    assert simulate_main(["bisection", "--topology", "torus:4x4", "--json", str(tmp_path / "model.json")]) == 0
    assert len(run(["-c", shown_in("simulate-a-bisection")], tmp_path).split()) == 3


def test_types_are_right_in_what_is_shown(tmp_path: Path):
    files = []
    for guide in GUIDES:
        (tmp_path / f"{guide}.py").write_text(shown_in(guide), encoding="utf-8")
        files.append(f"{guide}.py")
    package = program.ROOT / "analysis"
    settings = ["--config-file", package / "pyproject.toml", "--cache-dir", program.ROOT / ".mypy_cache"]
    run(
        ["-m", "mypy", "--strict", "--scripts-are-modules", *settings, *files, EXAMPLE], tmp_path, MYPYPATH=str(package)
    )

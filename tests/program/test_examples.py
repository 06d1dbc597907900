# SPDX-License-Identifier: Apache-2.0
"""Every example runs as it stands."""

from __future__ import annotations

import shutil
from pathlib import Path

import program
import pytest

EXAMPLES = sorted(path for path in (program.ROOT / "examples").iterdir() if path.is_file() and not path.suffix)
NEEDS = {"under-mpi": ["mpirun"], "linktest": ["mpirun"], "without-launcher": ["openssl"]}


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example(tmp_path: Path, example: Path) -> None:
    for needed in NEEDS.get(example.name, []):
        if shutil.which(needed) is None:
            pytest.skip(f"{needed} is not installed")
    env = {"TMPDIR": str(tmp_path)}
    if "LEADLINE_PORT" in example.read_text():
        env["LEADLINE_PORT"] = str(program.free_ports(1)[0])
    if "mpirun" in NEEDS.get(example.name, []):
        env["OMPI_MCA_rmaps_base_oversubscribe"] = "1"  # four ranks, whatever the machine
    done = program.complete(["bash", example], tmp_path, env=env, timeout=90)
    assert done.status == 0, done.err
    assert done.complaints == []
    assert any(word in done.out for word in ("median", "rates in", "RESULT")), "what was measured"
    if "report" in example.read_text():
        assert ".html" in done.out
    assert list(tmp_path.iterdir()) == [], "it clears up after itself"


def test_all_are_in_the_list() -> None:
    text = (program.ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES if f"]({path.name})" not in text] == []
    assert len(EXAMPLES) >= 6

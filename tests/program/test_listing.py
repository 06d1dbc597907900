# SPDX-License-Identifier: Apache-2.0
"""`leadline transports`: what can be used here, and with --verbose what each library says about itself."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import program


def listing(*words: str, modules: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`leadline transports` with these words."""
    variables = {} if modules is None else {"LEADLINE_MODULE_PATH": str(modules)}
    return subprocess.run(
        [program.PROGRAM, "transports", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | variables,
    )


def entries(text: str) -> dict[str, list[str]]:
    """The lines that stand under each module, by the name of the module."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(" "):
            lines.append(line.strip())
        else:
            lines = found.setdefault(line.split()[1], [])
    return found


def test_every_module_has_a_line_and_those_that_load_say_where_they_lie() -> None:
    done = listing()
    assert (done.returncode, done.stderr) == (0, "")
    there = entries(done.stdout)
    assert {"tcp", "mpi_openmpi", "mpi_mpich", "ucx", "libfabric", "psm2", "model"} <= set(there)
    for lines in there.values():
        assert len(lines) == 1
        assert re.match(r"(can be loaded: .+\.so|not here: .+)$", lines[0])


def test_verbose_adds_settings_and_facts() -> None:
    done = listing("--verbose")
    assert done.returncode == 0
    there = entries(done.stdout)
    for module, lines in there.items():
        if lines[0].startswith("not here"):
            assert len(lines) == 1, module
        else:
            assert any(line.startswith(("library: ", "not usable: ")) for line in lines), (module, lines)
    assert any(line.startswith("setting tls=LIST: ") for line in there["ucx"])
    assert any(re.match(r"library: Open MPI v\d", line) for line in there["mpi_openmpi"])
    assert any(re.match(r"library: MPICH \d", line) for line in there["mpi_mpich"])
    assert any(re.match(r"limit: \d+ links at once", line) for line in there["tcp"])


def test_a_module_that_is_not_there_has_the_loaders_reason(tmp_path: Path) -> None:
    done = listing("--verbose", modules=tmp_path)
    assert done.returncode == 0
    for module, lines in entries(done.stdout).items():
        assert len(lines) == 1, module
        assert "cannot open shared object file" in lines[0]


def test_settings_that_a_transport_does_not_have_are_refused(tmp_path: Path) -> None:
    for words, reason in (
        (["tcp:eth0"], "the transport tcp takes no argument"),
        (["tcp", "--transport-option", "colour=red"], 'the transport tcp has no setting "colour" (it has none)'),
        (["ucx", "--transport-option", "tls"], "it must be NAME=VALUE"),
        (["ucx:self", "--transport-option", "tls=tcp"], "the setting tls of the transport ucx is given twice"),
    ):
        done = program.complete([program.PROGRAM, "link", "--local", "2", "--transport", *words], tmp_path)
        assert done.status == 2, (words, done.err)
        assert reason in done.err
        assert done.err.count("\n") == 1, done.err
        assert not list(tmp_path.glob("*.h5")), "nothing was begun"

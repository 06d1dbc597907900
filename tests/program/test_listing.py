# SPDX-License-Identifier: Apache-2.0
"""`leadline transports`: what can be used here, and with --verbose what each library says about itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import program


def listing(*words: str) -> subprocess.CompletedProcess[str]:
    """`leadline transports` with these words."""
    return subprocess.run(
        [program.PROGRAM, "transports", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def entries(text: str) -> dict[str, list[str]]:
    """The lines that stand under each transport, by its name."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(" "):
            lines.append(line.strip())
        else:
            lines = found.setdefault(line.split()[0], [])
    return found


def test_every_transport_has_a_line_that_says_whether_it_can_be_used() -> None:
    done = listing()
    assert (done.returncode, done.stderr) == (0, "")
    there = entries(done.stdout)
    assert {"tcp", "mpi", "ucx", "libfabric", "psm2", "model"} <= set(there)
    for line in there.pop("mpi"):
        assert re.match(r"(usable here|not here|not built) with the ABI of (Open MPI|MPICH|MPI 5): .+$", line)
    for lines in there.values():
        assert len(lines) == 1
        assert re.match(r"(usable here|loads, but: .+|not here: .+|not built: .+)$", lines[0])
    assert there["tcp"] == there["model"] == ["usable here"]


def test_mpi_says_which_libraries_it_finds() -> None:
    lines = entries(listing().stdout)["mpi"]
    for abi, name in (("Open MPI", r"Open MPI v\d[^ ]*"), ("MPICH", r"MPICH \d[^ ]*")):
        found = [re.match(rf"usable here with the ABI of {abi}: {name} \((.+)\)$", line) for line in lines]
        paths = [match[1] for match in found if match]
        assert len(paths) == 1, lines
        assert Path(paths[0]).is_file()


def test_the_library_that_is_named_is_the_one_that_is_found() -> None:
    lines = entries(listing().stdout)["mpi"]
    path = next(match[1] for line in lines if (match := re.search(r"ABI of MPICH: MPICH .+\((.+)\)$", line)))
    named = subprocess.run(
        [program.PROGRAM, "transports"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env=os.environ | {"LEADLINE_LIBMPI": path},
    )
    usable = [line for line in entries(named.stdout)["mpi"] if line.startswith("usable")]
    assert len(usable) == 1
    assert usable[0].endswith(f"({path})")


def test_verbose_adds_settings_and_facts() -> None:
    done = listing("--verbose")
    assert done.returncode == 0
    there = entries(done.stdout)
    for module, lines in there.items():
        is_usable = any(line.startswith("usable here") for line in lines)
        assert any(line.startswith("library: ") for line in lines) == is_usable, (module, lines)
    assert any(line.startswith("setting tls=LIST: ") for line in there["ucx"])
    assert any(re.match(r"library: Open MPI v\d", line) for line in there["mpi"])
    assert any(re.match(r"library: MPICH \d", line) for line in there["mpi"])
    assert any(re.match(r"limit: \d+ links at once", line) for line in there["tcp"])


def test_the_document_says_the_same() -> None:
    there = entries(listing().stdout)
    document = json.loads(listing("--json").stdout)
    assert list(dict.fromkeys(one["transport"] for one in document["modules"])) == list(there)
    lines = [line for of_one in there.values() for line in of_one]
    for one, line in zip(document["modules"], lines, strict=True):
        assert one["is_usable"] == line.startswith("usable here")
        assert one["is_loadable"] == line.startswith(("usable", "loads"))
        why = (one["why_not_loadable"] or one["why_unusable"]).removeprefix("not built: ")
        assert line.endswith(f"({one['path']})" if one["path"] else why)


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

# SPDX-License-Identifier: Apache-2.0
"""The table of what each transport can do: the document has it as the program prints it, and its cells are true."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import program
import pytest
from modules import fake_adapter, require_module
from result import ResultFile

_MARKED = re.compile(r"<!-- support table: begin -->\n(.*?)<!-- support table: end -->", re.DOTALL)
RANKS_ON_HOST = {"one": 2, "two": 2}
# What is given as --transport where ranks need no launcher, by the column of the table.
WITHOUT_LAUNCHER = {"tcp": "tcp", "ucx": "ucx:tcp,self", "libfabric": "libfabric:tcp;ofi_rxm", "psm2": "psm2"}


def support_table() -> str:
    """As the program prints it."""
    return subprocess.run(
        [program.PROGRAM, "transports", "--support"], capture_output=True, text=True, timeout=60, check=True
    ).stdout


def cells() -> list[dict[str, str]]:
    """One dictionary a feature, by column; nothing where the program is not built, which other tests say."""
    if not program.PROGRAM.exists():
        return []
    titles, _, *lines = (
        [cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in support_table().splitlines()
    )
    return [dict(zip(titles, line, strict=True)) for line in lines]


def test_the_document_has_the_table() -> None:
    document = (program.ROOT / "docs" / "transports.md").read_text(encoding="utf-8")
    marked = _MARKED.search(document)
    assert marked, "docs/transports.md has lost the marks around the table"
    assert marked[1] == support_table(), "put what `leadline transports --support` prints between the marks"


def on_host(host: str, words: list[str]) -> list[str]:
    """These words under another host name, on this machine's network."""
    return ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', host, *words]


def needs_hosts(options: str) -> bool:
    return "host" in options


def hosts_or_skip() -> None:
    probe = subprocess.run(on_host("probe", ["true"]), capture_output=True, text=True, timeout=20, check=False)
    if probe.returncode != 0:
        pytest.skip(f"no host names of one's own here: {probe.stderr.strip()}")


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a run over PSM2."""
    return fake_adapter(tmp_path_factory.mktemp("adapter"))


def started_by_hand(words: list[str], folder: Path, env: dict[str, str]) -> list[program.Done]:
    """Ranks under two host names, by the explicit variables."""
    hosts = [host for host, num in RANKS_ON_HOST.items() for _ in range(num)]
    ports = program.free_ports(len(hosts))
    with contextlib.ExitStack() as stack:
        runs = []
        for rank, host in enumerate(hosts):
            variables = program.explicit_environment(["127.0.0.1"] * len(hosts), ports, rank)
            runs.append(stack.enter_context(program.Run(on_host(host, words), folder, variables | env)))
        return [run.finish() for run in runs]


def started_by_mpi(launcher: list[str], words: list[str], folder: Path, *, hosts: bool) -> list[program.Done]:
    """Four ranks under a launcher, under two host names where that is asked for."""
    if not hosts:
        return [program.complete([*launcher, "4", *words], folder)]
    start, count = launcher[:-1], launcher[-1]
    parts = [[count, str(num), *on_host(host, [*words, "--interface", "lo"])] for host, num in RANKS_ON_HOST.items()]
    return [program.complete([*start, *parts[0], ":", *parts[1]], folder)]


@pytest.mark.parametrize("how", [*WITHOUT_LAUNCHER, "mpirun.openmpi", "mpiexec.hydra"])
@pytest.mark.parametrize("cell", cells(), ids=lambda cell: cell["feature"].replace(" ", "_"))
def test_cell(cell: dict[str, str], how: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    transport = how if how in WITHOUT_LAUNCHER else "mpi"
    if transport == "mpi" and shutil.which(how) is None:
        pytest.skip(f"{how} is not installed")
    if transport in ("ucx", "libfabric", "psm2"):
        require_module(transport)
    env = request.getfixturevalue("adapter") if transport == "psm2" else {}
    options = cell["leadline link"].split()
    hosts = needs_hosts(cell["leadline link"])
    if hosts:
        hosts_or_skip()
    ending = "sion" if "sion" in options else "h5"
    output = [] if "none" in options else ["--output", f"r.{ending}"]
    words = [str(program.PROGRAM), "link", "--transport", WITHOUT_LAUNCHER.get(how, "mpi"), "--messages", "6",
             "--warmup", "2", "--message-size", "3KiB", "--wait", "yield", "--quiet", *options, *output]  # fmt: skip
    if transport != "mpi" and not hosts:
        ends = [program.complete([*words, "--local", "4"], tmp_path, env=env)]
    elif transport != "mpi":
        ends = started_by_hand(words, tmp_path, env)
    else:
        launcher = [how, *(["--oversubscribe"] if "openmpi" in how else []), "-n"]
        ends = started_by_mpi(launcher, words, tmp_path, hosts=hosts)
    verdict = cell[transport]
    if verdict == "yes":
        assert [end.status for end in ends] == [0] * len(ends), [end.err for end in ends]
        expect_what_was_asked_for(cell["feature"], tmp_path / f"r.{ending}" if output else None)
        return
    # Refused with the reason, before anything is left behind; or where the library can, as good as a yes.
    if verdict.startswith("if") and all(end.status == 0 for end in ends):
        return
    assert ends[0].status == 3, ends[0].err
    assert "cuda" in ends[0].complaint or "gpu" in ends[0].complaint
    assert not list(tmp_path.iterdir())


def expect_what_was_asked_for(feature: str, path: Path | None) -> None:
    """The file has the pairs that the feature leaves, and says what was asked for."""
    if path is None or path.suffix != ".h5":
        return
    result = ResultFile(path)
    assert result.complete
    rank = np.arange(4)
    low = rank < 2  # the first half, and in tests with hosts the first host
    across = low[:, None] != low[None, :]
    wanted = {
        "bisection": across,
        "grouping by host name": across,
        "bisection of the hosts": across,
        "one rank per host": across & (rank % 2 == 0)[:, None] & (rank % 2 == 0)[None, :],
    }.get(feature, ~np.eye(4, dtype=bool))
    for repeat in range(len(result.repeats)):
        assert np.array_equal(result.measured(repeat), wanted)
    part = result.summary["slices"][0]
    assert (part["all_to_all"] is not None) == (feature == "all-to-all")
    assert (part["bisection"] is not None) == feature.startswith("bisection")
    checked = feature in ("check of the buffers", "verification of every message")
    assert (result.summary["verified_bytes"] > 0) == checked
    if feature == "several iterations":
        assert len(result.repeats) == 2
    if feature == "random permutations of the ranks":
        assert result.permutation_of_repeat == [0, 1]
        assert result.permutations is not None

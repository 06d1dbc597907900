# SPDX-License-Identifier: Apache-2.0
"""`--hosts` with a command of the test's own in place of ssh: what travels, what is refused, what ends with what."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import program
import pytest
from result import ResultFile

FEW = ["--message-size", "1KiB", "--messages", "20", "--wait", "block"]
# Long enough to be there when a signal comes.
LONG = [
    "--message-size",
    "1KiB",
    "--messages",
    "1000",
    "--min-time",
    "60s",
    "--wait",
    "block",
    "--output",
    "r.h5",
]

Launch = Callable[..., Path]


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    """A command as ssh: the line of `before` is done first, with the host in $host."""

    def make(before: str = "", line: str = 'exec sh -c "$*"') -> Path:
        path = tmp_path / "launch"
        path.write_text(f"#!/bin/sh\nhost=$1\nshift\n{before}\n{line}\n")
        path.chmod(0o755)
        return path

    return make


def test_a_run(leadline: program.Leadline, launch: Launch, tmp_path: Path) -> None:
    words = [
        "--hosts",
        "n[1-2],m",
        "--ranks-per-host",
        "2",
        "--launch",
        launch(),
        "--output",
        "r.h5",
    ]
    done = leadline("link", *FEW, *words)
    assert done.status == 0, done.err
    assert done.err.count("leadline: ") == 0
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.num_ranks == 6
    assert result.provenance["launcher"] == "Leadline (--hosts)"
    assert result.provenance["transport"] == "tcp"


def test_standard_output_comes_as_it_is(leadline: program.Leadline, launch: Launch) -> None:
    done = leadline("link", *FEW, "--hosts", "a,b", "--launch", launch(), "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["provenance"]["num_ranks"] == 2


OTHERS = {
    "topology": [
        "--pattern",
        "ring2",
        "--iterations",
        "5",
        "--warmup",
        "1",
        "--wait",
        "yield",
        "--quiet",
    ],
    "bisection": [
        "--rounds",
        "10",
        "--precision",
        "0",
        "--exchanges",
        "4",
        "--warmup",
        "1",
        "--wait",
        "yield",
        "--quiet",
    ],
    "io": [
        "--target",
        "f%r",
        "--objects",
        "4",
        "--object-size",
        "4KiB",
        "--wait",
        "yield",
        "--quiet",
    ],
    "check": ["--budget", "2s", "--no-files", "--wait", "yield"],
}


@pytest.mark.parametrize("command", OTHERS)
def test_other_commands(leadline: program.Leadline, launch: Launch, command: str) -> None:
    done = leadline(command, *OTHERS[command], "--hosts", "a,b,c", "--launch", launch())
    assert done.status in (0, 1), done.err  # what they find of a busy machine is not of interest here
    assert "rank" in done.out + done.err


def test_what_a_login_shell_prints(leadline: program.Leadline, launch: Launch) -> None:
    command = launch("echo Welcome to $host; printf 'no line'; echo Careful >&2; echo")
    done = leadline("link", *FEW, "--hosts", "a,b", "--launch", command, "--format", "none")
    assert done.status == 0, done.err
    assert "Welcome" not in done.out + done.err
    assert "Careful" not in done.err


def test_nothing_secret_is_on_a_command_line(leadline: program.Leadline, launch: Launch, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    command = launch(f'echo "$host $*" >> {seen}')
    env = {"LEADLINE_SECRET": "a secret that nobody may see"}
    done = leadline("link", *FEW, "--hosts", "a", "--launch", command, "--format", "none", env=env)
    assert done.status == 0, done.err
    assert seen.read_text() == f"a {program.PROGRAM} --rank-from-stdin\n"


def test_variables_of_libraries_travel(leadline: program.Leadline, launch: Launch) -> None:
    command = launch(line='exec env -i LD_PRELOAD="$LD_PRELOAD" PATH="$PATH" sh -c "$*"')
    mark = {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
    env = mark | {"UCX_TLS": "nowhere"}
    done = leadline(
        "link",
        *FEW[:-2],
        "--wait",
        "yield",
        "--transport",
        "ucx",
        "--hosts",
        "a,b",
        "--launch",
        command,
        env=env,
    )
    assert done.status != 0
    assert "nowhere" in done.err


REFUSED = {
    "a host twice": (["--hosts", "n[1-3],n2"], ["n2 is named twice"]),
    "nothing": (["--hosts", ""], ["--hosts", "empty name"]),
    "an empty name": (["--hosts", "a,,b"], ["--hosts", "empty name"]),
    "no end of a bracket": (["--hosts", "n[1-3"], ["--hosts", "a [ without a ]"]),
    "an option": (["--hosts", "--dry-run"], ["--hosts"]),
    "an option in the list": (["--hosts=-oProxyCommand"], ["no name of a host"]),
    "local": (["--hosts", "a", "--local", "2"], ["--local", "--hosts"]),
    "launch alone": (["--launch", "ssh"], ["--launch", "nothing is started"]),
    "ranks alone": (["--ranks-per-host", "2"], ["--ranks-per-host", "only --hosts"]),
    "mpi": (["--hosts", "a", "--transport", "mpi"], ["--transport mpi and --hosts"]),
    "no command": (
        ["--hosts", "a", "--launch", "/no/such"],
        ["cannot start '/no/such'", "--launch"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(leadline: program.Leadline, case: str) -> None:
    words, named = REFUSED[case]
    leadline("link", *FEW, *words).assert_refused(2, *named)


@pytest.mark.parametrize(
    "env",
    [
        {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"},
        {"LEADLINE_RANK": "0", "LEADLINE_SIZE": "2"},
    ],
)
def test_refused_under_a_launcher(leadline: program.Leadline, env: dict[str, str]) -> None:
    leadline("link", *FEW, "--hosts", "a", env=env).assert_refused(2, "--hosts", "started this process")


def test_a_dry_run_plans_for_the_hosts(leadline: program.Leadline) -> None:
    done = leadline("link", "--hosts", "n[1-3]", "--ranks-per-host", "2", "--dry-run")
    assert done.status == 0, done.err
    assert "6 ranks" in done.out


FAILED = {
    "no program": (
        'exec sh -c "/no/such $2"',
        3,
        ["cannot run", str(program.PROGRAM), "same path"],
    ),
    "another version": (
        "printf '\\nleadline-hosts-1 0.0.1\\n'; cat",
        3,
        ["version 0.0.1", "same version"],
    ),
    "an older one": (
        "echo 'leadline: there is no command' >&2; exit 2",
        3,
        ["status 2", "same version"],
    ),
    "ssh fails": (
        "echo 'Host key verification failed.' >&2; exit 255",
        4,
        ["did not start", "status 255"],
    ),
    "it is killed": ("kill -9 $$", 4, ["did not start", "signal 9"]),
    "silence": (
        "exec sleep 100",
        4,
        ["did not start", "nothing came from it within 1 s"],
    ),
    "no standard input": (
        'exec sh -c "$*" </dev/null',
        4,
        ["did not start", "status 4"],
    ),
}


@pytest.mark.parametrize("case", FAILED)
def test_no_host_starts(leadline: program.Leadline, launch: Launch, case: str) -> None:
    line, status, named = FAILED[case]
    words = ["--hosts", "a,b", "--launch", launch(line=line), "--start-timeout", "1s"]
    done = leadline("link", *FEW, *words)
    assert done.status == status, done.err
    assert done.out == ""
    last = done.err.splitlines()[-1]
    assert last.startswith("leadline: ")
    for word in named:
        assert word in last
    said = {
        "ssh fails": "Host key verification failed.",
        "no standard input": "leadline: nothing came on standard input",
    }
    assert case not in said or f": {said[case]}" in done.err


def test_a_working_folder_that_is_not_there(leadline: program.Leadline, launch: Launch, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    done = leadline(
        "link",
        *FEW,
        "--hosts",
        "a",
        "--launch",
        launch(f"cd / && rm -rf {folder}"),
        cwd=folder,
    )
    done.assert_refused(3, "a: the working folder", str(folder))


def test_an_error_of_all_ranks_is_said_once(leadline: program.Leadline, launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "r.h5").write_text("mine")
    done = leadline("link", *FEW, "--hosts", "a,b", "--launch", launch(), "--output", "r.h5")
    done.assert_refused(2, "r.h5")


def test_a_host_that_does_not_come(leadline: program.Leadline, launch: Launch, tmp_path: Path) -> None:
    command = launch("if [ $host = b ]; then echo No route to host >&2; exit 255; fi")
    words = ["--hosts", "b,a,c", "--launch", command, "--output", "r.h5"]
    done = leadline("link", *FEW, *words)
    assert done.status == 1, done.err
    assert "b: No route to host" in done.err
    assert "rank 2 on b was not started" in done.err
    result = ResultFile(tmp_path / "r.h5")
    assert result.num_ranks == 3
    refused = leadline("link", *FEW, *words, "--overwrite", "--strict-ranks")
    assert refused.status == 4, refused.err
    assert refused.complaint.startswith("leadline: b did not start")


def await_measuring(run: program.Run) -> list[int]:
    """The ranks, once they measure."""
    run.await_err(r" 1/\d|round")
    return [pid for pid in run.processes() if is_rank(pid)]


def is_rank(pid: int) -> bool:
    """Not the launcher, nor the process on a host that has started the ranks: children of that one."""
    try:
        parent = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        both = [Path(f"/proc/{one}/cmdline").read_bytes().split(b"\0") for one in (pid, parent)]
    except OSError:
        return False
    return all(words[:2] == [bytes(program.PROGRAM), b"--rank-from-stdin"] for words in both)


@pytest.fixture
def long_run(launch: Launch, tmp_path: Path) -> Callable[..., program.Run]:
    """Three ranks that measure for a minute."""

    def start(*words: str) -> program.Run:
        command = [
            program.PROGRAM,
            "link",
            *LONG,
            "--hosts",
            "a,b,c",
            "--launch",
            launch(),
            *words,
        ]
        return program.Run(command, tmp_path)

    return start


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal(long_run: Callable[..., program.Run], tmp_path: Path, number: int) -> None:
    with long_run() as run:
        assert len(await_measuring(run)) == 3
        run.send(number)
        done = run.finish()
    assert done.status == 4
    assert f"received {signal.Signals(number).name}" in done.complaint
    assert not ResultFile(tmp_path / "r.h5").complete


def test_the_launcher_is_killed(long_run: Callable[..., program.Run]) -> None:
    with long_run() as run:
        await_measuring(run)
        run.send(signal.SIGKILL)
        assert run.finish().status == -signal.SIGKILL


def test_a_rank_is_killed(long_run: Callable[..., program.Run]) -> None:
    with long_run("--strict-ranks") as run:
        os.kill(max(await_measuring(run)), signal.SIGKILL)
        done = run.finish()
    assert done.status == 4
    assert "killed by signal 9" in done.err


def test_a_signal_during_the_start(launch: Launch, tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = [
        program.PROGRAM,
        "link",
        *LONG,
        "--hosts",
        "a,b",
        "--launch",
        launch(line=f"touch {started}; sleep 100"),
    ]
    with program.Run(command, tmp_path) as run:
        program.await_that(started.exists)
        begin = time.monotonic()
        run.send(signal.SIGINT)
        done = run.finish()
    assert done.status == 4
    assert "the start was stopped" in done.complaint
    assert time.monotonic() - begin < 30

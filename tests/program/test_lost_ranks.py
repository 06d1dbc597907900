# SPDX-License-Identifier: Apache-2.0
"""Ranks and launchers that are killed or stopped in the middle of a round: the run ends and keeps what it has."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
from pathlib import Path

import h5py
import numpy as np
import program
import pytest
from program import Leadline
from result import ResultFile, schema_of, wrong_json
from test_schedules import pairs_of_plan

pytestmark = pytest.mark.slow

# Many sizes, so that there is always something to go on with, and batches much shorter than the timeout, however busy
# the machine. When the second size is under way, the first is in the file.
SIZES = ["1", *map(str, range(1000, 1060))]
WORDS = ["link", "--message-size", ",".join(SIZES), "--messages", "2000", "--batches", "500", "--warmup", "0",
         "--retest", "0", "--wait", "block", "--output", "r.h5", "--strict-ranks", "--verbose"]  # fmt: skip
# MPI's calls do not block. Such a run has program.SLOW_MESSAGES.
YIELDING = ["--wait", "yield", "--messages", "50", "--batches", "50"]
SECOND_ROUND_BEGAN = rf"\(2 of {len(SIZES)}\)[^!]* 1/3 [^\n]*\n"


def started(command: list[str | Path], folder: Path, *changes: str) -> program.Run:
    """Under way with WORDS and these options, which come in pairs, in place of those there."""
    words = WORDS[:]
    for name, value in zip(changes[::2], changes[1::2], strict=True):
        if name in words:
            words[words.index(name) + 1] = value
        else:
            words += [name, value]
    return program.Run([*command, *words], folder, program.SLOW_MESSAGES if "yield" in words else None, timeout=90)


def local() -> list[str | Path]:
    return [program.PROGRAM]


def in_round_of(run: program.Run, folder: Path) -> ResultFile:
    """Waits until the second size's first round is done."""
    run.await_err(SECOND_ROUND_BEGAN)
    return ResultFile(folder / "r.h5")


def pid_of(folder: Path, rank: int) -> int:
    with h5py.File(folder / "r.h5", "r", locking=False) as file:
        return int(file["ranks/pid"][rank])


def assert_names_the_round(complaint: str, rank: int, leadline: Leadline) -> None:
    """Rank, host, round and partner, and the partner is the one whom the schedule gives that rank in that round."""
    host = os.uname().nodename
    if re.search("in the (summary after the last round|diagnosis and its retests)", complaint):  # between two sizes
        assert f"rank {rank} on {host}" in complaint
        return
    found = re.search(rf"rank {rank} on {re.escape(host)} .*round (\d+) of 3, with partner (\d+)", complaint)
    assert found, complaint
    plan = pairs_of_plan(leadline("link", "--dry-run", "--ranks", "4").out)
    assert (rank, int(found[2])) in plan[int(found[1]) - 1]


def assert_kept(folder: Path, reason: str) -> None:
    result = ResultFile(folder / "r.h5")
    assert not result.complete
    assert result.reason == reason
    assert np.array_equal(result.measured(size=0), result.every_pair()), "rows of the first size were written"
    assert not result.measured(size=len(SIZES) - 1).any()
    assert result.summary is None


@pytest.mark.parametrize("victim", [0, 2, 3])
def test_a_local_rank_is_killed(leadline: Leadline, tmp_path: Path, victim: int) -> None:
    with started(local(), tmp_path, "--local", "4") as run:
        os.kill(in_round_of(run, tmp_path).pids[victim], signal.SIGKILL)
        done = run.finish()
    assert done.status == 4
    assert done.out == ""
    assert "died" in done.complaint
    of_launcher = f"leadline: rank {victim} died (killed by signal 9, Killed). Look at the system log"
    assert done.complaints == [done.complaint, of_launcher]
    assert_names_the_round(done.complaint, victim, leadline)
    assert_kept(tmp_path, done.complaint.removeprefix("leadline: "))


@pytest.mark.parametrize("victim", [0, 2])
def test_a_local_rank_is_stopped(leadline: Leadline, tmp_path: Path, victim: int) -> None:
    with started(local(), tmp_path, "--local", "4", "--timeout", "2s") as run:
        os.kill(in_round_of(run, tmp_path).pids[victim], signal.SIGSTOP)
        done = run.finish()
    assert done.status == 4
    assert "silent for 2 s" in done.complaint
    assert_names_the_round(done.complaint, victim, leadline)
    assert_kept(tmp_path, done.complaint.removeprefix("leadline: "))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("victim", [0, 2])
def test_the_run_goes_on_without_a_local_rank(
    leadline: Leadline, tmp_path: Path, number: signal.Signals, victim: int
) -> None:
    words = ["link", "--local", "4", "--message-size", "1000-1002+1", "--messages", "60", "--retest", "0",
             "--timeout", "2s"]  # fmt: skip
    done = without_rank(victim, tmp_path, number, r"\(2 of 3\)[^!]* 1/3 [^\n]*\n", *words)
    assert done.status == 1
    told = done.complaints
    assert told[0].startswith(f"leadline: rank {victim} on {os.uname().nodename} "), told
    assert told[0].endswith(f". The run goes on without rank {victim}")
    assert told[1] == "leadline: ranks were lost during the run: see the findings"
    assert f"1 rank was lost during the run: rank {victim} on " in done.out
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert np.array_equal(result.measured(size=0), result.every_pair())
    expected = result.every_pair()
    expected[victim, :] = expected[:, victim] = False
    assert np.array_equal(result.measured(size=2), expected)
    report = leadline("report", "r.h5")
    assert (report.status, report.err) == (0, "")
    assert "1 rank was lost during the run" in (tmp_path / "r.html").read_text()


def test_another_rank_retests_and_finishes(tmp_path: Path) -> None:
    """The first is killed in the retest of the only size, when all rounds are done, and before its row is written."""
    words = ["link", "--local", "3", "--message-size", "1KiB", "--messages", "300", "--batches", "10", "--retest", "6",
             "--verbose"]  # fmt: skip
    done = without_rank(0, tmp_path, signal.SIGKILL, r"retest \d -> \d[^\n]*\n", *words)
    assert done.status == 1
    assert "1 rank was lost during the run: rank 0 on " in done.out
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert np.array_equal(result.measured(size=0)[1:], result.every_pair()[1:])


def test_repeats_end_where_no_pair_is_left(tmp_path: Path) -> None:
    words = ["link", "--local", "2", "--message-size", "1KiB", "--messages", "100", "--min-time", "1h", "--verbose"]
    done = without_rank(1, tmp_path, signal.SIGKILL, r"repeat 3\n", *words)
    assert done.status == 1
    assert "1 rank was lost during the run: rank 1 on " in done.out
    assert ResultFile(tmp_path / "r.h5").complete


@pytest.mark.parametrize("alone", [["--row-path", "funnel"], ["--strict-ranks"]], ids=["file", "strict"])
@pytest.mark.parametrize(
    ("begun", "words"),
    [
        (r" 1/3 [^\n]*\n", ["link", "--message-size", "1KiB-9KiB+1KiB"]),
        (r" complete2 [^\n]*\n", ["topology", "--pattern", "complete2", "--duration", "60s"]),
        (r" random [^\n]*\n", ["bisection", "--message-size", "1KiB", "--precision", "0"]),
        ("write", ["io", "--target", "f.%r", "--objects", "1000000", "--object-size", "4KiB"]),
    ],
    ids=["link", "topology", "bisection", "io"],
)
def test_where_no_other_rank_may_take_the_part_of_rank_0_the_run_ends(
    words: list[str], begun: str, alone: list[str], tmp_path: Path
) -> None:
    done = without_rank(0, tmp_path, signal.SIGKILL, begun, *words, "--local", "3", *alone)
    assert done.status == 4
    assert re.match(r"leadline: rank 0 on \S+ died in ", done.complaint)
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 0


def without_rank(rank: int, folder: Path, number: signal.Signals, begun: str, *words: str) -> program.Done:
    """A run of local ranks whose `rank` gets the signal as soon as `begun` is on standard error."""
    command = [program.PROGRAM, *words, "--wait", "yield", "--output", "r.h5"]
    with program.Run(command, folder, program.SLOW_MESSAGES, timeout=90) as run:
        run.await_err(begun)
        os.kill(pid_of(folder, rank), number)
        return run.finish()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("victim", [0, 2])
def test_a_topology_test_goes_on_without_a_local_rank(
    leadline: Leadline, tmp_path: Path, number: signal.Signals, victim: int
) -> None:
    words = ["topology", "--local", "4", "--pattern", "complete2", "--message-size", "1KiB-3KiB+1KiB",
             "--iterations", "300", "--timeout", "2s"]  # fmt: skip
    done = without_rank(victim, tmp_path, number, r" 1/3 [^\n]*\n", *words)
    assert done.status == 1
    assert f"1 rank was lost during the run: rank {victim} on " in done.out
    is_left = np.arange(4) != victim
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 1
        group, cells = file["topologies/0000"], json.loads(file["summary"][()])["cells"]
        served, times, partner = group["num_served"][0], group["rank_time_ns_median"][0], group["partner"][:]
        arrivals = group["arrival_time_ns"][0, -1].reshape(4, 3)
        of_cells = [group[name][0] for name in ("exchange_time_ns", "exchange_with_barrier_time_ns")]
    assert all((one > 0).all() for one in of_cells), "what the root writes of each cell"
    assert [one["exchange"]["time_ns_median"] for one in cells] == np.median(of_cells[0], axis=1).tolist()
    assert served[0].tolist() == [3] * 4
    assert served[-1].tolist() == (2 * is_left).tolist()
    assert (cells[0]["num_channels"], cells[0]["max_channels_rank"]) == (6, 3)
    assert (cells[-1]["num_channels"], cells[-1]["max_channels_rank"]) == (3, 2)
    assert ((times[-1] > 0) == is_left).all()
    is_of_lost = (partner.reshape(4, 3) == victim) | ~is_left[:, None]
    assert ((arrivals > 0) == ~is_of_lost).all()
    report = leadline("report", "r.h5")
    assert (report.status, report.err) == (0, "")
    assert "1 rank was lost during the run" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("victim", [0, 3])
def test_a_load_goes_on_without_a_local_rank(tmp_path: Path, victim: int) -> None:
    words = ["topology", "--local", "4", "--pattern", "complete2", "--message-size", "1KiB", "--duration",
             "4s"]  # fmt: skip
    done = without_rank(victim, tmp_path, signal.SIGKILL, r" complete2 [^\n]*\n", *words)
    assert done.status == 1
    assert f"1 rank was lost during the run: rank {victim} on " in done.out
    with h5py.File(tmp_path / "r.h5") as file:
        load = json.loads(file["summary"][()])["load"]
        num = int((file["load/elapsed_s"][:] > 0).sum())
        num_channels = file["load/num_channels"][:num]
        assert file["load/begin_s"][:num].tolist() == [one["begin_s"] for one in load]
    assert num_channels[0] == 6
    assert num_channels[-1] == 3
    assert load[-1]["begin_s"] + load[-1]["elapsed_s"] >= 4


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("victim", [0, 2])
def test_a_bisection_test_goes_on_without_a_local_rank(
    leadline: Leadline, tmp_path: Path, number: signal.Signals, victim: int
) -> None:
    words = ["bisection", "--local", "5", "--message-size", "1KiB", "--precision", "0", "--rounds", "100000",
             "--timeout", "2s", "--time-limit", "2s" if number == signal.SIGKILL else "4s"]  # fmt: skip
    done = without_rank(victim, tmp_path, number, r" random [^\n]*\n", *words)
    assert done.status == 1, done.err
    assert f"1 rank was lost during the run: rank {victim} on " in done.out
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 1
        summary = json.loads(file["summary"][()])
        alone_ns = file["bisection/baseline/time_ns"][0]
        num_connections = file["bisection/patterns/num_connections"][0]
        num = int((num_connections > 0).sum())
        send_to, receive_from = file["bisection/send_to"][0][:, :num], file["bisection/receive_from"][0][:, :num]
        time_ns = file["bisection/time_ns"][0][:, :num]
    num_of_rows = (send_to >= 0).sum(axis=0)
    assert len(summary["patterns"]) == num
    assert [one["time_ns"] for one in summary["baseline"]] == alone_ns[alone_ns > 0].tolist()
    assert set((num_connections[:num] - num_of_rows).tolist()) <= {0, 1}, "only rows that the victim had are missing"
    assert ((time_ns > 0) == (receive_from >= 0)).all()
    assert send_to[victim, -1] == -1
    assert (send_to[:, -1] != victim).all()
    report = leadline("report", "r.h5")
    assert (report.status, report.err) == (0, "")
    assert "1 rank was lost during the run" in (tmp_path / "r.html").read_text()


def test_of_a_named_pattern_the_others_are_measured(tmp_path: Path) -> None:
    """A ring, in which each rank sends to another one than it receives from."""
    words = ["bisection", "--local", "5", "--message-size", "1KiB", "--pattern", "shift:1", "--repeat", "300",
             "--time-limit", "0", "--timeout", "1h"]  # fmt: skip
    done = without_rank(2, tmp_path, signal.SIGKILL, r" shift:1 [^\n]*\n", *words)
    assert done.status == 1
    with h5py.File(tmp_path / "r.h5") as file:
        num_connections = file["bisection/patterns/num_connections"][0]
        send_to = file["bisection/send_to"][0]
    assert (num_connections[0], num_connections[-1]) == (5, 3)
    assert send_to[:, -1].tolist() == [1, -1, -1, 4, 0]


def test_no_random_pattern_is_left_for_one_rank(tmp_path: Path) -> None:
    words = ["bisection", "--local", "2", "--message-size", "1KiB", "--precision", "0", "--time-limit", "0",
             "--rounds", "100000"]  # fmt: skip
    done = without_rank(1, tmp_path, signal.SIGKILL, r" random [^\n]*\n", *words)
    assert done.status == 4
    assert done.complaints[0].endswith("The run goes on without rank 1")
    assert "leadline: no pair of ranks is left that a random pattern could have" in done.err
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 0
        assert json.loads(file["summary"][()])["findings"][-1]["id"] == "ranks_lost"


def test_the_report_shows_what_was_kept(leadline: Leadline, tmp_path: Path) -> None:
    with started(local(), tmp_path, "--local", "4") as run:
        os.kill(in_round_of(run, tmp_path).pids[1], signal.SIGKILL)
        run.finish()
    report = leadline("report", "r.h5")
    assert (report.status, report.err) == (0, "")
    assert "rank 1 on" in (tmp_path / "r.html").read_text()


def test_a_stopped_rank_may_go_on_in_time(tmp_path: Path) -> None:
    words = ["--local", "4", "--message-size", "1,1000", "--timeout", "60s", *YIELDING, "--messages", "80"]
    with started(local(), tmp_path, *words) as run:
        run.await_err(" 1/3 ")
        pid = ResultFile(tmp_path / "r.h5").pids[2]
        os.kill(pid, signal.SIGSTOP)
        program.await_that(lambda: "\nState:\tT" in Path("/proc", str(pid), "status").read_text())
        os.kill(pid, signal.SIGCONT)
        done = run.finish()
    assert done.status == 0, done.err
    assert ResultFile(tmp_path / "r.h5").complete


@pytest.mark.parametrize(
    ("number", "to_all"),
    [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGHUP, True)],
)
def test_told_to_stop(tmp_path: Path, number: signal.Signals, to_all: bool) -> None:
    """By the terminal, which tells all processes, or by somebody who knows the launcher only."""
    with started(local(), tmp_path, "--local", "4") as run:
        in_round_of(run, tmp_path)
        (os.killpg if to_all else os.kill)(run.pid, number)
        done = run.finish()
    assert done.status == 4
    assert "told to stop" in done.complaint
    assert number.name in done.complaint
    assert_kept(tmp_path, done.complaint.removeprefix("leadline: "))


def test_the_launcher_is_killed(tmp_path: Path) -> None:
    with started(local(), tmp_path, "--local", "4") as run:
        in_round_of(run, tmp_path)
        run.send(signal.SIGKILL)
        done = run.finish()
    assert done.status == -signal.SIGKILL
    assert not ResultFile(tmp_path / "r.h5").complete


def test_all_are_killed_at_once(leadline: Leadline, tmp_path: Path) -> None:
    with started(local(), tmp_path, "--local", "4") as run:
        in_round_of(run, tmp_path)
        os.killpg(run.pid, signal.SIGKILL)
        run.finish()
    assert_kept(tmp_path, "still running, or killed without a word")
    assert leadline("report", "r.h5").status == 0


def test_a_json_result_says_why(tmp_path: Path) -> None:
    with started(local(), tmp_path, "--local", "4", "--output", "r.json") as run:
        run.await_err(SECOND_ROUND_BEGAN)
        early = json.loads((tmp_path / "r.json").read_text())
        os.killpg(run.pid, signal.SIGTERM)
        done = run.finish()
    late = json.loads((tmp_path / "r.json").read_text())
    for document in (early, late):
        assert wrong_json(document, schema_of("link")) == []
        assert document["complete"] is False
    assert late["incomplete_reason"] == done.complaint.removeprefix("leadline: ")


def test_a_json_result_keeps_the_slices_that_are_complete(tmp_path: Path) -> None:
    few = ["--local", "2", "--message-size", "1,2", "--repeat", "100000", "--wait", "yield"]
    words = ["link", *few, "--verbose", "--output", "r.json"]
    with program.Run([program.PROGRAM, *words], tmp_path) as run:
        run.await_err(r"(?s)(message size .*){4}")
        run.send(signal.SIGINT)
        done = run.finish()
    assert done.status == 4
    document = json.loads((tmp_path / "r.json").read_text())
    assert wrong_json(document, schema_of("link")) == []
    assert document["complete"] is False
    assert len(document["slices"]) >= 3
    assert all(slice_["all"]["num_pairs"] == 2 for slice_ in document["slices"])


# --- under MPI. Its launchers end all ranks as soon as one of them dies, some faster than anybody can say why.


def mpi(name: str) -> list[str | Path]:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    more = ["--oversubscribe"] if "openmpi" in name else ["-disable-auto-cleanup"]
    return [name, *more, "-n", "4", program.PROGRAM]


def killed_under_mpi(name: str, tmp_path: Path, victim: int, *arguments: str) -> tuple[program.Done, str]:
    """A run whose rank is killed during the rounds, and the reason in its file, which is readable.

    MPICH's mpiexec now and then ends all ranks before one has written why. Of a few runs one must get its word in.
    """
    for attempt in range(3 if "hydra" in name else 1):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with started(mpi(name), folder, *YIELDING, *arguments) as run:
            os.kill(in_round_of(run, folder).pids[victim], signal.SIGKILL)
            done = run.finish()
        assert done.status != 0
        reason = ResultFile(folder / "r.h5").reason
        assert_kept(folder, reason)
        if reason != "still running, or killed without a word":
            break
    return done, reason


@pytest.mark.parametrize("name", ["mpirun.openmpi", "mpiexec.hydra"])
@pytest.mark.parametrize("victim", [0, 2])
def test_an_mpi_rank_is_killed(leadline: Leadline, tmp_path: Path, name: str, victim: int) -> None:
    done, reason = killed_under_mpi(name, tmp_path, victim)
    assert_names_the_round(f"leadline: {reason}", victim, leadline)
    if "hydra" in name and not done.complaints:  # mpiexec ended before it passed our line on
        return
    assert done.complaint == f"leadline: {reason}"


@pytest.mark.parametrize("transport", ["mpi", "tcp"])
@pytest.mark.parametrize("name", ["mpirun.openmpi", "mpiexec.hydra"])
@pytest.mark.parametrize("victim", [0, 2])
def test_an_mpi_rank_is_stopped(leadline: Leadline, tmp_path: Path, name: str, victim: int, transport: str) -> None:
    """Nobody wakes it: a launcher that waits for it would wait for ever, and one that wakes it lets it speak again."""
    with started(mpi(name), tmp_path, "--timeout", "2s", "--transport", transport, *YIELDING) as run:
        os.kill(in_round_of(run, tmp_path).pids[victim], signal.SIGSTOP)
        done = run.finish()
    assert done.status != 0
    assert "silent for 2 s" in done.complaint
    assert_names_the_round(done.complaint, victim, leadline)
    assert_kept(tmp_path, done.complaint.removeprefix("leadline: "))


def test_a_library_that_aborts(leadline: Leadline, tmp_path: Path) -> None:
    """MPICH over UCX reads large messages out of the partner's memory, and aborts when there is no partner."""
    large = ",".join(["1", *map(str, range(100_000, 99_999 + len(SIZES)))])
    done, reason = killed_under_mpi("mpiexec.hydra", tmp_path, 2, "--message-size", large)
    assert_names_the_round(f"leadline: {reason}", 2, leadline)
    if done.status != -signal.SIGPIPE:  # mpiexec sometimes dies of the lost rank itself, and takes our line with it
        assert done.complaint == f"leadline: {reason}"


def test_a_launcher_that_kills_at_once(tmp_path: Path) -> None:
    """Hydra's own way: perhaps no rank is left to report, but the file is readable and says that it is not complete."""
    command = [word for word in mpi("mpiexec.hydra") if word != "-disable-auto-cleanup"]
    with started(command, tmp_path, *YIELDING) as run:
        os.kill(in_round_of(run, tmp_path).pids[2], signal.SIGKILL)
        done = run.finish()
    assert done.status != 0
    assert len(done.complaints) <= 1
    result = ResultFile(tmp_path / "r.h5")
    assert not result.complete
    assert result.reason
    assert np.array_equal(result.measured(size=0), result.every_pair())


@pytest.mark.parametrize("num_descriptors", [5, 7, 9, 10, 11])
def test_too_few_descriptors(leadline: Leadline, num_descriptors: int) -> None:
    """Whatever it was that a rank could not open, the limit is named, at once."""
    few = (num_descriptors, num_descriptors)
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few)  # noqa: E731
    done = leadline("link", "--local", "4", "--message-size", "8", "--output", "r.h5", preexec_fn=limit)
    assert done.status in (3, 4)
    assert "Too many open files" in done.complaint
    assert "ulimit -n" in done.complaint

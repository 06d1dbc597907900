# SPDX-License-Identifier: Apache-2.0
"""Standard output that is full, closed or a pipe without a reader, and disks that fill up while rows are written."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import program
import pytest
from program import Leadline
from result import ResultFile

FEW = ["--local", "2", "--messages", "5", "--wait", "yield"]
SHELL = 'exec "$@"'
OUTPUT_CLOSED = 128 + signal.SIGPIPE


@pytest.mark.parametrize("words", [["--format", "none"], ["--output", "r.h5"], ["--output", "-"]])
def test_stdout_is_full(leadline: Leadline, tmp_path: Path, words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = leadline("link", *FEW, *words, "--quiet", stdout=full)
    assert done.status == 4
    assert "standard output" in done.complaint
    assert "No space left" in done.complaint
    if "r.h5" in words:
        assert ResultFile(tmp_path / "r.h5").complete, "the file is whole, whoever could not be told"


@pytest.mark.parametrize(
    "words", [["--help"], ["link", "--help"], ["transports"], ["link", "--dry-run"], ["--version"]]
)
def test_stdout_is_full_for_a_text(leadline: Leadline, words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = leadline(*words, stdout=full)
    assert done.status == 4
    assert "standard output (No space left on device)" in done.complaint
    assert done.err == done.complaint + "\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_disturb_nothing(tmp_path: Path, closed: str) -> None:
    """Whatever is opened next must not take their place: text would go into a file or a connection."""
    words = ["sh", "-c", f"{SHELL} {closed}", "sh", program.PROGRAM, "link", *FEW, "--output", "r.h5"]
    done = program.complete(words, tmp_path)
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert np.array_equal(result.measured(), result.every_pair())
    nobody_was_told = ">&-" in closed.split()
    assert done.status == (4 if nobody_was_told else 0)
    if nobody_was_told and "2>&-" not in closed:
        assert "standard output" in done.complaint


def without_a_reader(words: list[str], tmp_path: Path) -> program.Done:
    read, write = os.pipe()
    os.close(read)
    try:
        return program.complete([program.PROGRAM, *words], tmp_path, stdout=write)
    finally:
        os.close(write)


def test_a_run_goes_on_when_nobody_reads_its_text(tmp_path: Path) -> None:
    for words in (["--output", "r.h5"], ["--format", "none"]):
        done = without_a_reader(["link", *FEW, *words, "--quiet"], tmp_path)
        assert (done.status, done.err) == (0, "")
    assert ResultFile(tmp_path / "r.h5").complete


def test_a_result_that_nobody_reads_ends_quietly(tmp_path: Path) -> None:
    done = without_a_reader(["link", *FEW, "--output", "-", "--quiet"], tmp_path)
    assert (done.status, done.err) == (OUTPUT_CLOSED, "")


@pytest.mark.parametrize("command", ["info", "diagnose"])
def test_no_file_is_blamed_when_nobody_reads_about_it(leadline: Leadline, tmp_path: Path, command: str) -> None:
    assert leadline("link", *FEW, "--output", "r.h5", "--quiet").status == 0
    done = without_a_reader([command, "r.h5"], tmp_path)
    assert (done.status, done.err) == (OUTPUT_CLOSED, "")


@pytest.mark.parametrize("words", [["--help"], ["transports"], ["link", "--dry-run"], ["completion", "bash"]])
def test_a_text_that_nobody_reads(tmp_path: Path, words: list[str]) -> None:
    done = without_a_reader(words, tmp_path)
    assert (done.status, done.err) == (OUTPUT_CLOSED, "")


def test_nobody_reads_stderr(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        words = [program.PROGRAM, "link", *FEW, "--output", "r.h5"]
        done = program.complete(words, tmp_path, stderr=write)
    finally:
        os.close(write)
    result = ResultFile(tmp_path / "r.h5")
    assert done.status != 0 or result.complete


def on_a_small_disk(tmp_path: Path, size: str, prepare: str, words: list[str]) -> program.Done:
    """Runs in a mount namespace of its own, where `disk` is so small, and copies what is on it to `saved`."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    (tmp_path / "disk").mkdir()
    (tmp_path / "saved").mkdir()
    mount = f"mount -t tmpfs -o size={size} none disk"
    may = subprocess.run(["unshare", "-m", "sh", "-c", mount], cwd=tmp_path, capture_output=True, text=True, timeout=20)
    if may.returncode != 0:
        pytest.skip(f"no mount namespaces here: {may.stderr.strip()}")
    script = f'{mount} && {prepare}; "$@"; status=$?; cp disk/* saved/; exit $status'
    return program.complete(["unshare", "-m", "sh", "-c", script, "sh", program.PROGRAM, *words], tmp_path)


def test_the_disk_is_full_at_the_start(tmp_path: Path) -> None:
    for ending in ("h5", "json"):
        folder = tmp_path / ending
        folder.mkdir()
        done = on_a_small_disk(
            folder, "64k", "head -c 64k /dev/zero > disk/other", ["link", *FEW, "--output", f"disk/r.{ending}"]
        )
        assert done.status == 4
        assert done.err == done.complaint + "\n", "it must be noticed before measuring"
        assert "No space left on device" in done.complaint
        assert not (folder / "saved" / f"r.{ending}").exists()


def test_the_disk_fills_up_while_rows_are_written(tmp_path: Path) -> None:
    sizes = ",".join(str(size) for size in range(1, 61))  # rows: 60 sizes * 12 * 12 pairs * 44 B = 380 KB
    words = ["link", "--local", "12", "--messages", "2", "--warmup", "0", "--retest", "0", "--quiet"]
    done = on_a_small_disk(tmp_path, "256k", "true", [*words, "--message-size", sizes, "--output", "disk/r.h5"])
    assert done.status == 4
    assert "disk/r.h5" in done.complaint
    assert "No space left on device" in done.complaint
    assert done.out.startswith(f"INCOMPLETE: {done.complaint.removeprefix('leadline: ')}\n")
    assert "132 ordered pairs" in done.out, "what was measured until then is printed"
    assert "result:" not in done.out
    result = ResultFile(tmp_path / "saved" / "r.h5")
    assert not result.complete
    assert result.reason == done.complaint.removeprefix("leadline: ")
    assert np.array_equal(result.measured(size=0), result.every_pair()), "what was measured before is there"
    assert not result.measured(size=59).any()


def test_the_disk_is_too_small_for_the_summary(tmp_path: Path) -> None:
    words = ["link", "--local", "2", "--wait", "yield", "--messages", "2", "--repeat", "8", "--quiet"]
    done = on_a_small_disk(tmp_path, "160k", "true", [*words, "--output", "disk/r.h5"])
    assert done.status == 4
    assert "No space left on device" in done.complaint
    assert "2 ordered pairs" in done.out
    result = ResultFile(tmp_path / "saved" / "r.h5")
    assert not result.complete
    assert np.array_equal(result.measured(7), result.every_pair())


FILLED_BY_OTHERS = """{
    timeout 20 sh -c 'until [ -e disk/r.json ]; do sleep 0.01; done; cat /dev/zero >disk/other' >/dev/null 2>&1 &
}"""


@pytest.mark.parametrize(("size", "prepare"), [("32k", "true"), ("256k", FILLED_BY_OTHERS)])
def test_a_document_is_never_cut_by_a_full_disk(tmp_path: Path, size: str, prepare: str) -> None:
    words = ["link", "--local", "2", "--wait", "yield", "--messages", "2", "--repeat", "20", "--retest", "0", "--quiet"]
    if prepare != "true":
        words += ["--min-time", "50ms"]  # until the disk is full
    done = on_a_small_disk(tmp_path, size, prepare, [*words, "--output", "disk/r.json"])
    assert done.status == 4
    assert "cannot write result file disk/r.json (No space left on device)" in done.complaint
    assert "2 ordered pairs" in done.out
    document = json.loads((tmp_path / "saved" / "r.json").read_text())
    assert not document["complete"]
    assert document["incomplete_reason"] == done.complaint.removeprefix("leadline: ")


def while_it_runs(tmp_path: Path, name: str, change: Callable[[], None]) -> program.Done:
    """A run of more than two seconds, and what is done to its result file meanwhile."""
    how_long = ["--repeat", "2"] if name.endswith(".sion") else ["--min-time", "1s"]
    words = ["link", "--local", "2", "--retest", "0", "--wait", "yield", "--quiet", "--messages", "400", *how_long]
    result = tmp_path / name
    change_now = threading.Event()

    def watch() -> None:
        end = time.monotonic() + 20
        while not result.exists() and time.monotonic() < end:
            time.sleep(0.02)
        change_now.wait(0.5)
        change()

    watcher = threading.Thread(target=watch)
    watcher.start()
    done = program.complete([program.PROGRAM, *words, "--output", result], tmp_path, env=program.SLOW_MESSAGES)
    watcher.join()
    return done


@pytest.mark.parametrize("ending", ["json", "sion", "h5"])
def test_the_directory_of_the_result_is_removed(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    done = while_it_runs(tmp_path, f"folder/r.{ending}", lambda: shutil.rmtree(folder))
    assert done.status == 4
    assert f"r.{ending} (No such file or directory)" in done.complaints[-1]
    assert "ordered pairs" in done.out, "nobody but rank 0 has it now"
    assert "result:" not in done.out


@pytest.mark.parametrize("ending", ["json", "sion", "h5"])
def test_a_removed_result_is_written_again(leadline: Leadline, tmp_path: Path, ending: str) -> None:
    result = tmp_path / f"r.{ending}"
    done = while_it_runs(tmp_path, result.name, result.unlink)
    assert done.status == 0
    assert [path.name for path in tmp_path.iterdir()] == [result.name]
    if ending == "json":
        assert json.loads(result.read_text())["complete"]
        return
    assert "was removed or replaced during the run" in done.err
    assert "complete         yes" in leadline("info", str(result)).out


@pytest.mark.parametrize("ending", ["json", "sion", "h5"])
def test_a_result_that_was_replaced_is_left_alone(tmp_path: Path, ending: str) -> None:
    result = tmp_path / f"r.{ending}"

    def replace() -> None:
        (tmp_path / "other").write_text("somebody's")
        (tmp_path / "other").rename(result)

    done = while_it_runs(tmp_path, result.name, replace)
    assert done.status == 4
    assert "another file has taken its name" in done.complaints[-1]
    assert result.read_text() == "somebody's"


def test_a_removed_result_of_a_load_is_told_while_it_lasts(tmp_path: Path) -> None:
    load = ["--pattern", "ring", "--message-size", "1KiB", "--duration", "100s", "--wait", "yield", "--quiet"]
    words = ["topology", "--local", "2", *load, "--output", "r.h5"]
    with program.Run([program.PROGRAM, *words], tmp_path) as run:
        program.await_that((tmp_path / "r.h5").exists)
        (tmp_path / "r.h5").unlink()
        run.await_err("result file r.h5 was removed or replaced during the run")
        run.send(signal.SIGINT)
        assert run.finish().status == 4
    assert (tmp_path / "r.h5").exists()


def stopped_without_its_result(tmp_path: Path, ending: str, change: Callable[[Path], None]) -> str:
    """A run that is told to stop after something was done to its result file; what it says."""
    result = tmp_path / "folder" / f"r.{ending}"
    result.parent.mkdir()
    words = ["link", "--local", "2", "--messages", "100000000", "--wait", "yield", "--quiet", "--output", result]
    with program.Run([program.PROGRAM, *words], tmp_path) as run:
        program.await_that(result.exists)
        change(result)
        run.send(signal.SIGINT)
        done = run.finish()
    assert done.status == 4
    return done.err


@pytest.mark.parametrize("ending", ["json", "sion", "h5"])
def test_a_removed_result_is_kept_where_the_run_is_told_to_stop(tmp_path: Path, ending: str) -> None:
    err = stopped_without_its_result(tmp_path, ending, Path.unlink)
    assert "SIGINT" in err
    assert [path.name for path in (tmp_path / "folder").iterdir()] == [f"r.{ending}"]


@pytest.mark.parametrize("ending", ["json", "sion", "h5"])
def test_what_is_not_kept_of_a_stopped_run_is_told(tmp_path: Path, ending: str) -> None:
    err = stopped_without_its_result(tmp_path, ending, lambda result: shutil.rmtree(result.parent))
    assert f"r.{ending} (No such file or directory)" in err


def test_a_kill_while_many_slices_are_set_up_leaves_no_half_of_a_file(leadline: Leadline, tmp_path: Path) -> None:
    words = ["link", "--local", "2", "--messages", "1", "--repeat", "9000", "--quiet", "--output", "r.h5"]
    for tenths in range(1, 8):
        with subprocess.Popen(
            [program.PROGRAM, *words, "--overwrite"], cwd=tmp_path, stdout=subprocess.DEVNULL, start_new_session=True
        ) as run:
            time.sleep(0.1 * tenths)
            os.killpg(run.pid, signal.SIGKILL)
        if (tmp_path / "r.h5").exists():
            assert leadline("info", "r.h5").status == 0


def test_files_may_not_grow(leadline: Leadline) -> None:
    done = leadline(
        "link", *FEW, "--output", "r.h5", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    )
    assert done.status == 4
    assert "r.h5" in done.complaint

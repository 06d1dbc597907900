# SPDX-License-Identifier: Apache-2.0
"""What a file test and `leadline diagnose` say of who is slow: runs of this machine with a folder that is slow."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import h5py
import program
import pytest
from program import Done, Leadline
from result import schema_of, wrong_json

RANKS, FOLDERS = 12, 4
WORDS = ["--objects", "4", "--object-size", "64KiB", "--op", "write", "--wait", "yield"]


@pytest.fixture(scope="module")
def slow_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The library that makes calls slow."""
    library = tmp_path_factory.mktemp("slow") / "faulty_files.so"
    source = program.ROOT / "tests" / "support" / "faulty_files.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    yield library


def slow(library: Path, part_of_name: str, milliseconds: int) -> dict[str, str]:
    """The environment in which calls for such files take so much longer."""
    variables = {
        "FAULTY_FILE": part_of_name,
        "FAULTY_KIND": "slow",
        "FAULTY_CALL": str(milliseconds),
    }
    return variables | {
        "LD_PRELOAD": str(library),
        "ASAN_OPTIONS": "verify_asan_link_order=0",
    }


def targets(folder: Path, num_folders: int = FOLDERS) -> Path:
    """A list of files, the next one in the next folder."""
    for number in range(num_folders):
        (folder / f"t{number}").mkdir(exist_ok=True)
    path = folder / "targets"
    path.write_text("".join(f"{folder}/t{rank % num_folders}/f.{rank}\n" for rank in range(RANKS)))
    return path


def run(leadline: Leadline, folder: Path, environment: dict[str, str], repeat: int = 4) -> Done:
    """Twelve ranks over four folders, into r.h5."""
    files = ["--targets", targets(folder)]
    words = [*files, *WORDS, "--repeat", str(repeat), "--output", "r.h5"]
    done = leadline("io", "--local", str(RANKS), *words, env=environment)
    assert done.status == 0, done.err
    return done


def test_the_run_and_diagnose_name_the_slow_target(leadline: Leadline, slow_files: Path, tmp_path: Path) -> None:
    done = run(leadline, tmp_path, slow(slow_files, "/t2/", 60))
    said = leadline("diagnose", "r.h5").out
    assert said in done.out
    assert f"1. target {tmp_path}/t2 is written at 0." in said
    assert "in 4 of 4 phases" in said
    assert "% of the time of these phases, in which the others wait for it" in said
    document = json.loads(leadline("diagnose", "r.h5", "--json").out)
    assert wrong_json(document, schema_of("diagnosis")) == []
    with h5py.File(tmp_path / "r.h5") as file:
        summary = json.loads(file["summary"][()])
    assert summary["diagnoses"] == document["slices"]
    assert "stragglers" not in summary["phases"][0]
    (slice_,) = document["slices"]
    (fault,) = slice_["diagnosis"]["faults"]
    assert (slice_["pattern"], fault["kind"], fault["list"]) == (
        "write",
        "target",
        "persistent",
    )
    assert (fault["ranks"], fault["target_name"]) == ([2, 6, 10], f"{tmp_path}/t2")
    assert fault["phases"]["num_slow"] == fault["phases"]["num_phases"] == 4
    assert leadline("diagnose", "r.h5", "--strict", "--quiet").status == 1


def test_a_slow_rank_is_told_from_its_target(leadline: Leadline, slow_files: Path, tmp_path: Path) -> None:
    done = run(leadline, tmp_path, slow(slow_files, "/f.5", 60))
    assert "1. rank 5 on " in done.out
    assert "target" not in done.out.split("verdict")[1].split("do  ")[0]


_ON_ONE_RANK = 'test "$OMPI_COMM_WORLD_RANK" != 2 || export LD_PRELOAD="$1"; shift; exec "$@"'


def of_shared_file(library: Path, folder: Path, *words: str, fcoll: str = "") -> tuple[str, list[str]]:
    """Why four ranks on one file could not be judged, and their faults; rank 2 is slow in its own calls."""
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("mpirun.openmpi is not installed")
    environment = slow(library, "/shared", 15)
    preloaded = environment.pop("LD_PRELOAD")
    if fcoll:
        environment["OMPI_MCA_fcoll"] = fcoll
    command = ["mpirun.openmpi", "--oversubscribe", "-n", "4", "sh", "-c", _ON_ONE_RANK, "sh", preloaded,
               program.PROGRAM, "io", "--movement", "N-1", "--target", folder / "shared", *WORDS, "--repeat", "4",
               "--output", "r.json", *words]  # fmt: skip
    done = program.complete(command, folder, env=environment, timeout=120)
    assert done.status == 0, done.err
    (judged,) = json.loads((folder / "r.json").read_text())["diagnoses"]
    diagnosis = judged["diagnosis"]
    return diagnosis["untested"], [fault["name"] for fault in diagnosis["faults"] if fault["list"] == "persistent"]


def test_a_slow_rank_is_named_where_all_meet_before_each_write(slow_files: Path, tmp_path: Path) -> None:
    untested, faults = of_shared_file(slow_files, tmp_path, "--backend", "posix", "--barrier")
    assert not untested
    (name,) = faults
    assert name.startswith("rank 2 ")


def test_a_slow_rank_is_named_in_collective_calls_that_each_rank_writes_in(slow_files: Path, tmp_path: Path) -> None:
    words = ("--backend", "mpi-io:ompio", "--collective")
    untested, faults = of_shared_file(slow_files, tmp_path, *words, fcoll="individual")
    assert not untested
    (name,) = faults
    assert name.startswith("rank 2 ")


def test_a_single_phase_proves_nothing(leadline: Leadline, slow_files: Path, tmp_path: Path) -> None:
    done = run(leadline, tmp_path, slow(slow_files, "/t2/", 60), repeat=1)
    assert "verdict: no fault found" in done.out
    assert "could not be tested" in done.out
    # Beside other load its target may not be told from its ranks.
    assert re.search(f"target {tmp_path}/t2( \\(or the ranks that use it\\))? is written at 0\\.", done.out)
    assert leadline("diagnose", "r.h5", "--strict", "--quiet").status == 0


def test_reads_of_the_page_cache_are_not_judged(leadline: Leadline, tmp_path: Path) -> None:
    words = [
        "--objects",
        "4",
        "--object-size",
        "64KiB",
        "--wait",
        "yield",
        "--target",
        tmp_path / "f.%r",
    ]
    done = leadline("io", "--local", "4", *words, "--output", "r.json")
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "r.json").read_text())
    assert wrong_json(document, schema_of("io")) == []
    reading = next(one for one in document["diagnoses"] if one["pattern"] == "read")
    if document["phases"][1]["source"] in ("cache", "mixed"):
        assert "page cache" in reading["diagnosis"]["untested"]
    else:
        assert reading["diagnosis"]["num_phases"] == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--message-size", "64KiB"], "a file test has one size of objects"),
        (["--repeat", "1"], "a file test is diagnosed over all its phases"),
        (["--profile", "p.json"], "a site profile is of link tests"),
    ],
)
def test_what_has_no_effect_is_refused(leadline: Leadline, tmp_path: Path, words: list[str], why: str) -> None:
    done = leadline(
        "io",
        "--local",
        "1",
        "--target",
        tmp_path / "f",
        "--objects",
        "1",
        "--output",
        "r.h5",
    )
    assert done.status == 0, done.err
    (tmp_path / "p.json").write_text("{}")
    done = leadline("diagnose", "r.h5", *words)
    assert (done.status, why in done.err) == (2, True), done.err


def seeming(library: Path, folder: Path, kind: str, stripes: int = 1) -> dict[str, str]:
    """The environment in which files of the folder seem to lie on four storage targets of such a file system."""
    return {
        "SEEMING_FOLDER": str(folder),
        "SEEMING_KIND": kind,
        "SEEMING_TARGETS": str(FOLDERS),
        "SEEMING_STRIPES": str(stripes),
        "LD_PRELOAD": str(library),
        "ASAN_OPTIONS": "verify_asan_link_order=0",
    }


@pytest.fixture(scope="module")
def parallel_file_system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that answers as Lustre and BeeGFS do."""
    library = tmp_path_factory.mktemp("seeming") / "parallel_file_system.so"
    source = program.ROOT / "tests" / "support" / "parallel_file_system.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.mark.parametrize(
    ("kind", "target"), [("lustre", "OST0002"), ("lustre-pfl", "OST0002"), ("beegfs", "103")], ids=str
)
def test_storage_targets_are_those_of_the_file_system(
    leadline: Leadline, slow_files: Path, parallel_file_system: Path, tmp_path: Path, kind: str, target: str
) -> None:
    """All files lie in one folder; those of ranks 2, 6 and 10 are on one target, whose calls are slow."""
    (tmp_path / "files").mkdir()
    (tmp_path / "targets").write_text(
        "".join(f"{tmp_path}/files/{'slow' if rank % FOLDERS == 2 else 'f'}.{rank}\n" for rank in range(RANKS))
    )

    def measure(slow_name: str, output: str) -> str:
        environment = seeming(parallel_file_system, tmp_path / "files", kind) | slow(slow_files, slow_name, 60)
        environment["LD_PRELOAD"] = f"{slow_files} {parallel_file_system}"
        words = ["--targets", "targets", *WORDS, "--repeat", "4", "--output", output]
        done = leadline("io", "--local", str(RANKS), *words, env=environment)
        assert done.status == 0, done.err
        return done.out

    out = measure("/files/slow", "r.h5")
    said = leadline("diagnose", "r.h5").out
    assert said in out
    assert f"1. target {target} is written at 0." in said
    with h5py.File(tmp_path / "r.h5") as file:
        numbers = file["io/ranks/storage_target"][0]
    first = 101 if kind == "beegfs" else 0
    assert list(numbers) == [first + rank % FOLDERS for rank in range(RANKS)]
    measure("/files/none", "sound.h5")
    compared = leadline("compare", "sound.h5", "r.h5", "--json")
    parts = {one["part"]: one["ratio"] for one in json.loads(compared.out)["runs"]["numbers"] if one["part"]}
    assert len(parts) == FOLDERS
    assert [name for name, ratio in parts.items() if ratio > 2] == [target]


def test_of_striped_files_no_target_is_named(leadline: Leadline, parallel_file_system: Path, tmp_path: Path) -> None:
    environment = seeming(parallel_file_system, tmp_path, "lustre", stripes=2)
    words = [*WORDS, "--repeat", "3", "--output", "r.h5", "--target", tmp_path / "f.%r"]
    done = leadline("io", "--local", "4", *words, env=environment)
    assert done.status == 0, done.err
    document = json.loads(leadline("diagnose", "r.h5", "--json").out)
    assert "files are striped over several storage targets each: which of these is slow cannot be told" in str(document)
    with h5py.File(tmp_path / "r.h5") as file:
        assert set(file["io/ranks/storage_target"][0]) == {-2}


def test_a_result_from_before_storage_targets_were_asked_for(
    leadline: Leadline, slow_files: Path, tmp_path: Path
) -> None:
    run(leadline, tmp_path, slow(slow_files, "/t2/", 60))
    before = leadline("diagnose", "r.h5").out
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        del file["io/ranks/storage_target"]
    assert leadline("diagnose", "r.h5").out == before

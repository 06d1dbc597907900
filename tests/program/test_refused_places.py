# SPDX-License-Identifier: Apache-2.0
"""Places that cannot take a result, transports in files that do not fit, wrong variables: refused before measuring."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from pathlib import Path

import program
import pytest
from program import Leadline
from result import ResultFile


@pytest.fixture
def two(leadline: Leadline) -> Leadline:
    return lambda *words, **options: leadline(
        "link", "--local", "2", "--messages", "5", "--wait", "yield", *words, **options
    )


def test_a_file_system_without_sparse_files(two: Leadline, tmp_path: Path) -> None:
    """It is told before anything is measured, and leaves nothing; a result that has no holes can be written there."""
    library, folder = tmp_path / "library.so", tmp_path / "results"
    source = program.ROOT / "tests" / "support" / "no_sparse_files.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    folder.mkdir()
    preloaded = {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}
    done = two("--output", "results/r.h5", env=preloaded)
    done.assert_refused(4, "cannot write result file results/r.h5", "Operation not permitted", "--output")
    assert list(folder.iterdir()) == []
    assert two("--output", "results/r.json", env=preloaded).status == 0


@pytest.mark.parametrize("ending", ["h5", "json"])
def test_output_that_cannot_be(two: Leadline, tmp_path: Path, ending: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / f"folder.{ending}").mkdir()
    (tmp_path / f"there.{ending}").write_text("precious")
    (tmp_path / f"loop.{ending}").symlink_to(f"loop.{ending}")
    two("--output", f"missing/r.{ending}").assert_refused(2, "missing/r.", "No such file or directory")
    two("--output", f"file/r.{ending}").assert_refused(2, "file/r.", "Not a directory")
    two("--output", f"folder.{ending}").assert_refused(2, "folder.", "Is a directory")
    two("--output", f"folder.{ending}", "--overwrite").assert_refused(2, "folder.", "Is a directory")
    two("--output", f"there.{ending}").assert_refused(2, "there.", "--overwrite")
    two("--output", f"loop.{ending}").assert_refused(2, "loop.")
    two("--output", "x" * 300 + f".{ending}").assert_refused(2, "File name too long")
    assert (tmp_path / f"there.{ending}").read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("ending", ["h5", "json"])
def test_output_without_permission(two: Leadline, ending: str) -> None:
    # root may write anywhere but where the kernel forbids it.
    folder = "/proc" if os.geteuid() == 0 else "/"
    done = two("--output", f"{folder}/r.{ending}")
    assert done.status in (2, 3)
    done.assert_refused(done.status, f"{folder}/r.{ending}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_output_as_somebody_else(tmp_path: Path) -> None:
    folder = tmp_path / "roots"
    folder.mkdir(mode=0o755)
    if not all(parent.stat().st_mode & 0o001 for parent in program.PROGRAM.parents):
        pytest.skip(f"others may not reach {program.PROGRAM}")
    for parent in [folder, *folder.parents]:
        with contextlib.suppress(OSError):
            parent.chmod(parent.stat().st_mode | 0o011)
    words = [program.PROGRAM, "link", "--local", "2", "--output", folder / "r.h5"]
    done = program.complete(words, Path("/"), user=65534, group=65534, extra_groups=[])
    done.assert_refused(3, "roots/r.h5", "Permission denied")


def test_an_older_result_is_replaced_when_told_to(two: Leadline, tmp_path: Path) -> None:
    assert two("--output", "r.h5").status == 0
    first = ResultFile(tmp_path / "r.h5")
    two("--output", "r.h5").assert_refused(2, "r.h5", "there already")
    assert ResultFile(tmp_path / "r.h5").pids == first.pids
    assert two("--output", "r.h5", "--overwrite", "--message-size", "8").status == 0
    assert ResultFile(tmp_path / "r.h5").sizes == [8]


def test_two_runs_in_one_folder_name_their_files_themselves(two: Leadline, tmp_path: Path) -> None:
    assert two("--quiet").status == 0
    (name,) = [path.name for path in tmp_path.iterdir()]
    assert name.startswith("leadline-link-")
    assert name.endswith("Z.h5")


FOREIGN = """
struct { unsigned long interface; const char *name, *version, *commit; const void* module; }
  leadline_transport_file = {1, "mine", "0.0.9", "abcdef0", 0};
"""


@pytest.fixture
def file_of_a_transport(tmp_path: Path) -> Path:
    """A library that says that it is a transport, for another interface than the program's."""
    source, library = tmp_path / "mine.c", tmp_path / "mine.so"
    source.write_text(FOREIGN)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    return library


def over(leadline: Leadline, transport: str) -> program.Done:
    return leadline("link", "--local", "2", "--messages", "5", "--output", "r.h5", "--transport", transport)


def test_a_file_that_is_no_transport(leadline: Leadline, tmp_path: Path) -> None:
    over(leadline, "./none.so").assert_refused(3, "the transport ./none.so cannot be used here", "No such file")
    (tmp_path / "text.so").write_text("It is no library.\n" * 10)
    over(leadline, "./text.so").assert_refused(3, "./text.so", "no shared library")
    (tmp_path / "empty.so").write_bytes(b"")
    over(leadline, "./empty.so").assert_refused(3, "./empty.so", "no shared library")
    (tmp_path / "begun.so").write_bytes(b"\x7fELF is how it begins")
    over(leadline, "./begun.so").assert_refused(3, "./begun.so", "no shared library")
    over(leadline, "./").assert_refused(3, "the transport ./ cannot be used here")
    libraries = [Path("/usr/lib/x86_64-linux-gnu/libm.so.6"), Path("/lib64/libm.so.6")]
    if library := next((path for path in libraries if path.exists()), None):
        over(leadline, str(library)).assert_refused(3, "leadline_transport_file")


def test_the_file_of_a_transport_that_is_cut_off(leadline: Leadline, file_of_a_transport: Path) -> None:
    whole = file_of_a_transport.read_bytes()
    for size in (70, 1000, len(whole) // 2, len(whole) - 1):
        file_of_a_transport.write_bytes(whole[:size])
        over(leadline, "./mine.so").assert_refused(3, "./mine.so", "cut off")


def test_the_file_of_a_transport_for_another_processor(leadline: Leadline, file_of_a_transport: Path) -> None:
    whole = bytearray(file_of_a_transport.read_bytes())
    whole[18] ^= 0xFF  # e_machine
    file_of_a_transport.write_bytes(whole)
    over(leadline, "./mine.so").assert_refused(3, "./mine.so", "another kind of processor")


@pytest.mark.usefixtures("file_of_a_transport")
def test_the_file_of_a_transport_with_another_interface(leadline: Leadline, tmp_path: Path) -> None:
    done = over(leadline, "./mine.so")
    done.assert_refused(3, "./mine.so", "0000000000000001 (Leadline 0.0.9, abcdef0), this program", "compile it again")
    assert not (tmp_path / "r.h5").exists()


def test_mpi_without_a_launcher(leadline: Leadline) -> None:
    leadline("link", "--transport", "mpi").assert_refused(3, "mpi", "launcher", "mpirun")


def explicit(rank: int = 0, num_ranks: int = 2, **changes: str | None) -> dict[str, str]:
    """Good variables of one rank but for the changes; None leaves one out."""
    variables = program.explicit_environment(["127.0.0.1"] * num_ranks, program.free_ports(num_ranks), rank)
    variables |= {name: value for name, value in changes.items() if value is not None}
    return {name: value for name, value in variables.items() if name not in changes or changes[name] is not None}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LEADLINE_SECRET", None),
        ("LEADLINE_SECRET", "short"),
        ("LEADLINE_SIZE", None),
        ("LEADLINE_SIZE", "two"),
        ("LEADLINE_SIZE", "0"),
        ("LEADLINE_RANK", None),
        ("LEADLINE_RANK", "2"),
        ("LEADLINE_RANK", "-1"),
        ("LEADLINE_RANK", "0x1"),
        ("LEADLINE_RANK", ""),
        ("LEADLINE_ADDRESS_0", None),
        ("LEADLINE_ADDRESS_0", "node0"),
        ("LEADLINE_PORT_0", None),
        ("LEADLINE_PORT_0", "0"),
        ("LEADLINE_PORT_0", "65536"),
        ("LEADLINE_PORT_0", "ssh"),
    ],
)
def test_wrong_variables(leadline: Leadline, tmp_path: Path, name: str, value: str | None) -> None:
    done = leadline("link", env=explicit(**{name: value}))
    done.assert_refused(2, name)
    assert list(tmp_path.iterdir()) == []


def test_local_with_variables(leadline: Leadline) -> None:
    leadline("link", "--local", "2", env=explicit()).assert_refused(2, "--local")


@pytest.mark.parametrize("rank", [0, 1])
def test_a_port_in_use(leadline: Leadline, tmp_path: Path, rank: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        env = explicit(rank, **{f"LEADLINE_PORT_{rank}": str(port)})
        done = leadline("link", "--timeout", "2", env=env)
    assert done.status == 4
    done.assert_refused(4, str(port), "in use")
    assert list(tmp_path.iterdir()) == []


def test_the_others_never_come(leadline: Leadline, tmp_path: Path) -> None:
    done = leadline("link", "--timeout", "1", env=explicit())
    done.assert_refused(4, "1")
    assert done.seconds < 20
    assert list(tmp_path.iterdir()) == []


def test_an_address_of_another_host(leadline: Leadline) -> None:
    # 192.0.2.0/24 is for documents: no host has it.
    leadline("link", "--timeout", "2", env=explicit(LEADLINE_ADDRESS_0="192.0.2.1")).assert_refused(4, "192.0.2.1")


def test_secrets_that_differ(tmp_path: Path) -> None:
    ports = program.free_ports(2)
    envs = [program.explicit_environment(["127.0.0.1"] * 2, ports, rank) for rank in range(2)]
    envs[1]["LEADLINE_SECRET"] = "another secret, of nobody's run"
    words = [program.PROGRAM, "link", "--timeout", "1", "--format", "none"]
    with program.Run(words, tmp_path, envs[0]) as first, program.Run(words, tmp_path, envs[1]) as second:
        ends = [first.finish(), second.finish()]
    assert [end.status for end in ends] == [4, 4]
    assert sum(len(end.complaints) for end in ends) >= 1


def test_sizes_that_a_sion_file_has_no_room_for(two: Leadline, tmp_path: Path) -> None:
    # No machine has that much memory: it is not asked for.
    done = two("--output", "r.sion", "--message-size", "1TiB")
    done.assert_refused(2, "a SION file cannot hold the message size 1 TiB", "--format")
    assert not list(tmp_path.iterdir())

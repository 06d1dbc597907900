# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` puts in place works wherever it is moved to, and can be removed again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import program
import pytest

from conftest import Installation, bare_environment, installed

FRONT_ENDS = ("linktest", "linktest.mpi", "linktest.tcp", "mpilinktest", "nettest", "netgauge", "mpi_io_test.x")
ANALYSIS_COMMANDS = ("report", "view", "export", "simulate", "cost", "score", "accept", "history")
QUICK = ("--local", "2", "--messages", "5", "--wait", "yield")


def version() -> str:
    text = (program.ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    match = re.search(r"project\(leadline VERSION (\S+) ", text)
    assert match
    return match[1]


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}


def test_all_of_it_is_there(moved: Installation) -> None:
    files = files_of(moved.folder)
    wanted = {
        "bin/leadline",
        *(f"bin/{name}" for name in FRONT_ENDS),
        "share/bash-completion/completions/leadline",
        "share/zsh/site-functions/_leadline",
        "share/fish/vendor_completions.d/leadline.fish",
        f"share/modulefiles/leadline/{version()}",
        *(f"share/doc/leadline/{name}" for name in ("LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md")),
        "share/doc/leadline/docs/how-to/install.md",
        "share/doc/leadline/examples/one-machine",
        "share/doc/leadline/integrations/slurm/prolog",
    }
    assert wanted <= files
    assert {name.split("/")[0] for name in files} == {"bin", "share"}, "no libraries or headers of the build"
    for name in FRONT_ENDS:
        assert (moved.folder / "bin" / name).readlink() == Path("leadline"), name


def test_each_command_has_its_manual_page(moved: Installation) -> None:
    if shutil.which("help2man") is None:
        pytest.skip("help2man is not installed")
    pages = {path.name for path in (moved.folder / "share" / "man" / "man1").iterdir()}
    assert {"leadline.1", "leadline-link.1", "leadline-check.1", "netgauge.1", "mpi_io_test.x.1"} <= pages
    assert {f"{path.name}.1" for path in (moved.folder / "bin").iterdir()} <= pages
    text = (moved.folder / "share" / "man" / "man1" / "leadline-link.1").read_text(encoding="utf-8")
    assert re.search(r"^\.SH NAME\nleadline-link \\- \w+", text, re.MULTILINE), "man -k would not find it"


def test_it_is_stripped(moved: Installation) -> None:
    done = subprocess.run(
        ["readelf", "--wide", "-S", moved.folder / "bin" / "leadline"], check=True, capture_output=True, text=True
    )
    assert ".text" in done.stdout
    assert not re.search(r"\.(symtab|debug_info)\b", done.stdout)


def test_nothing_in_it_but_the_module_file_names_where_it_was(moved: Installation) -> None:
    names = (str(moved.before), str(program.ROOT))
    naming = {
        str(path.relative_to(moved.folder))
        for path in moved.folder.rglob("*")
        if path.is_file() and any(name.encode() in path.read_bytes() for name in names)
    }
    assert naming == {f"share/modulefiles/leadline/{version()}"}


def test_the_next_step_that_it_names_works(analysis: Installation, tmp_path: Path) -> None:
    done = analysis.run("leadline", "link", *QUICK, "--output", "a.h5", cwd=tmp_path)
    assert done.status == 0, done.err
    step = re.search(r"^next: +leadline (report a\.h5)$", done.out, re.MULTILINE)
    assert step, done.out
    done = analysis.run("leadline", *step[1].split(), cwd=tmp_path)
    assert done.status == 0, done.err
    assert (tmp_path / "a.html").is_file()


def test_the_analysis_finds_the_program_beside_it(analysis: Installation, tmp_path: Path) -> None:
    words = ("simulate", "bisection", "--topology", "fat-tree:2x2", "--quiet")
    assert analysis.run("leadline", *words, cwd=tmp_path).status == 0
    (tmp_path / "elsewhere").symlink_to(analysis.folder / "bin" / "leadline-simulate")
    done = program.complete([tmp_path / "elsewhere", *words[1:]], tmp_path, env=bare_environment())
    assert done.status == 0, done.err


def test_a_package_that_python_lacks_is_named(moved: Installation, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError(\"No module named 'numpy'\")\n", encoding="utf-8")
    (tmp_path / "a.h5").touch()
    done = moved.run("leadline", "report", "a.h5", cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})
    done.assert_refused(3, "No module named 'numpy'", "Install it for /")


def test_without_the_analysis_a_line_says_so(moved: Installation, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    shutil.copy(moved.folder / "bin" / "leadline", tmp_path / "bin")
    alone = Installation(moved.before, tmp_path)
    for command in ANALYSIS_COMMANDS:
        done = alone.run("leadline", command, "a.h5", cwd=tmp_path)
        if command == "simulate":  # there is another one
            done.assert_refused(2, "the analysis package has others")
        else:
            done.assert_refused(3, f"'leadline {command}' is a command of the analysis package", "docs/how-to/install")


def test_front_ends_are_the_program_under_their_names(moved: Installation, tmp_path: Path) -> None:
    for name in FRONT_ENDS:
        of_build = program.complete([program.PROGRAM.parent / name, "--help"], tmp_path)
        assert moved.run(name, "--help", cwd=tmp_path).out == of_build.out, name


def test_a_front_end_measures(moved: Installation, tmp_path: Path) -> None:
    done = moved.run("leadline", "link", "--local", "2", "--dry-run", cwd=tmp_path)
    assert done.status == 0, done.err
    done = moved.run("netgauge", "-h", cwd=tmp_path)
    assert "eBB" in done.out or "ebb" in done.out, done.out


def test_completions_know_the_commands_of_the_analysis(moved: Installation) -> None:
    text = (moved.folder / "share" / "bash-completion" / "completions" / "leadline").read_text(encoding="utf-8")
    words = {"link", "bisection", "check"}
    if (moved.folder / "bin" / "leadline-report").exists():
        words |= set(ANALYSIS_COMMANDS)
    assert words <= set(re.findall(r"\w+", text))
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0


MODULE_STUB = """
proc module-whatis {text} {}
proc conflict {name} { puts "conflict $name" }
proc prepend-path {name value} { puts "$name $value" }
set ModulesCurrentModulefile [lindex $argv 0]
source [lindex $argv 0]
ModulesHelp
"""


def paths_of_module(file: Path, folder: Path, **variables: str) -> dict[str, str]:
    """What the module file prepends to each variable, by Tcl with the few commands of a module in place."""
    if shutil.which("tclsh") is None:
        pytest.skip("tclsh is not installed")
    stub = folder / "stub.tcl"
    stub.write_text(MODULE_STUB, encoding="utf-8")
    env = {"PATH": "/usr/bin:/bin"} | variables
    done = subprocess.run(["tclsh", stub, file], env=env, check=True, capture_output=True, text=True)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def test_the_module_file_leads_to_its_own_installation(moved: Installation, tmp_path: Path) -> None:
    file = moved.folder / "share" / "modulefiles" / "leadline" / version()
    assert file.read_text(encoding="utf-8").startswith("#%Module")
    assert paths_of_module(file, tmp_path, MANPATH="/usr/share/man") == {
        "conflict": "leadline",
        "PATH": str(moved.folder / "bin"),
        "MANPATH": str(moved.folder / "share" / "man"),
        "PYTHONPATH": str(moved.folder / "share" / "leadline" / "python"),
    }
    assert "MANPATH" not in paths_of_module(file, tmp_path), "man would find nothing else"
    elsewhere = tmp_path / "modulefiles" / "leadline"
    elsewhere.mkdir(parents=True)
    shutil.copy(file, elsewhere)
    assert paths_of_module(elsewhere / version(), tmp_path)["PATH"] == str(moved.before / "bin")


LMOD = Path("/usr/share/lmod/lmod/libexec/lmod")
ENVIRONMENT_MODULES = Path("/usr/lib/x86_64-linux-gnu/modulecmd.tcl")


@pytest.mark.parametrize("modules", [LMOD, ENVIRONMENT_MODULES], ids=["Lmod", "Environment Modules"])
def test_the_module_loads(modules: Path, moved: Installation, tmp_path: Path) -> None:
    if not modules.exists():
        pytest.skip(f"{modules} is not installed")
    (tmp_path / "without-blank").symlink_to(moved.folder / "share" / "modulefiles")  # Lmod wants that
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "MODULEPATH": str(tmp_path / "without-blank")}
    asked = 'leadline --version; python3 -c "import leadline; print(leadline.__version__)"'
    script = f'eval "$({modules} bash load leadline)"; {asked}'
    done = subprocess.run(["bash", "-c", script], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    program_says, package_says = done.stdout.splitlines()
    assert program_says.split()[:2] == ["leadline", version()], done.stderr
    assert package_says == version(), done.stderr


def test_the_package_is_compiled_and_the_manual_of_its_version(moved: Installation) -> None:
    folder = moved.folder / "share" / "leadline" / "python" / "leadline"
    if not folder.is_dir():
        pytest.skip("the build installs no analysis package (LEADLINE_ANALYSIS)")
    sources = set(folder.rglob("*.py"))
    compiled = {path.parents[1] / (path.name.split(".")[0] + ".py") for path in folder.rglob("__pycache__/*.pyc")}
    assert sources == compiled
    assert len(list(folder.glob("*/templates/*"))) > 3


def test_uninstall_removes_what_was_installed_and_nothing_else(build: Path, tmp_path: Path) -> None:
    """Below DESTDIR, as packages are made; another one's files stay, and so does the folder that all share."""
    prefix = tmp_path / "opt"
    theirs = tmp_path / str(prefix).lstrip("/") / "bin" / "theirs"
    theirs.parent.mkdir(parents=True)
    theirs.touch()
    variables = {"DESTDIR": str(tmp_path)}
    installed("--prefix", prefix, **variables)
    put = files_of(tmp_path)
    assert len(put) > 50
    assert not prefix.exists()
    uninstall = ["cmake", f"-DLEADLINE_BUILD={build}", "-P", program.ROOT / "cmake" / "uninstall.cmake"]
    done = subprocess.run(uninstall, env=dict(os.environ, **variables), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{len(put) - 1} files removed" in done.stdout
    assert files_of(tmp_path) == {str(theirs.relative_to(tmp_path))}
    assert sorted(path.name for path in theirs.parents[1].iterdir()) == ["bin"]
    done = subprocess.run(uninstall, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "has been removed already" in " ".join(done.stderr.split())

# SPDX-License-Identifier: Apache-2.0
"""Completion scripts in the shells themselves: what each offers behind the beginning of a command line."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import program
import pytest
from program import Leadline

BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")
LONG_S = 60

Offers = Callable[[str], list[str]]


def environment(folder: Path) -> dict[str, str]:
    """As of a user whose folder has no settings; the program is on the path."""
    path = f"{program.PROGRAM.parent}:{program.ANALYSIS_COMMANDS}:{os.environ['PATH']}"
    return dict(
        os.environ,
        PATH=path,
        HOME=str(folder),
        XDG_CONFIG_HOME=str(folder),
        LC_ALL="C.UTF-8",
        TERM="dumb",
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a result.h5").touch()
    (tmp_path / "b.h5").touch()
    return tmp_path


def script(leadline: Leadline, shell: str, folder: Path) -> Path:
    done = leadline("completion", shell)
    assert done.status == 0, done.err
    file = folder / f".completion.{shell}"
    file.write_text(done.out)
    return file


def bash_offers(leadline: Leadline, folder: Path, before: str) -> Offers:
    file = script(leadline, "bash", folder)

    def offers(line: str) -> list[str]:
        # As readline does it: words are cut at = and : too, and the function sees the cursor at the end.
        words = [word for part in line.split(" ") for word in (re.findall(r"=|[^=]+", part) or [""])]
        quoted = " ".join("'" + word + "'" for word in words)
        lines = f"""
            {before}
            source '{file}'
            COMP_WORDS=({quoted}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
            entry=$(complete -p leadline); [[ $entry =~ -F\\ ([^ ]+) ]] && "${{BASH_REMATCH[1]}}" leadline
            ((${{#COMPREPLY[@]}})) && printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(
            ["bash", "--norc", "-c", lines], cwd=folder, env=environment(folder), capture_output=True,
            encoding="utf-8", timeout=LONG_S,
        )  # fmt: skip
        assert not done.stderr, done.stderr
        return done.stdout.splitlines()

    return offers


def fish_offers(leadline: Leadline, folder: Path) -> Offers:
    file = script(leadline, "fish", folder)

    def offers(line: str) -> list[str]:
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source '{file}'; complete -C '{line}'"], cwd=folder,
            env=environment(folder), capture_output=True, encoding="utf-8", timeout=LONG_S,
        )  # fmt: skip
        assert not done.stderr, done.stderr
        return [offer.partition("\t")[0] for offer in done.stdout.splitlines()]

    return offers


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment(folder))

    def send(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def until(self, pattern: str) -> str:
        """What is printed up to and with a match."""
        seen = ""
        end = time.monotonic() + LONG_S
        while not re.search(pattern, seen):
            left = end - time.monotonic()
            assert left > 0 and select.select([self.terminal], [], [], left)[0], f"no {pattern} in {seen!r}"
            seen += os.read(self.terminal, 65536).decode(errors="replace")
        return seen

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def zsh_offers(leadline: Leadline, folder: Path) -> Offers:
    file = script(leadline, "zsh", folder)
    # compadd is what every completion function ends in; it hands its matches over in a file.
    (folder / ".zshrc").write_text(
        f"""
        PS1='ready> '
        autoload -Uz compinit && compinit -D -u
        source '{file}'
        compadd() {{
          local -a matches; builtin compadd -O matches "$@"
          print -rl -- $matches >> "$OFFERED"
          builtin compadd "$@"
        }}
        zstyle ':completion:*' menu no
        finish() {{ zle -I; print finished >> "$OFFERED"; print -r 'the end' }}
        zle -N finish; bindkey '^X^F' finish; bindkey '^I' complete-word
        """
    )

    def offers(line: str) -> list[str]:
        offered = folder / ".offered"
        offered.write_text("")
        os.environ["OFFERED"] = str(offered)
        zsh = Terminal(["zsh", "-d", "-i"], folder)
        try:
            zsh.until("ready> ")
            zsh.send(line + "\t\x18\x06")
            zsh.until("the end")
        finally:
            zsh.close()
            del os.environ["OFFERED"]
        return sorted(set(offered.read_text().split("\n")) - {"", "finished"})

    return offers


SHELLS = ("bash", "bash with bash-completion", "zsh", "fish")


@pytest.fixture(params=SHELLS)
def offers(request: pytest.FixtureRequest, leadline: Leadline, folder: Path) -> Offers:
    """What a shell offers behind a beginning of a command line."""
    shell = request.param.split()[0]
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    if request.param == "bash with bash-completion" and not BASH_COMPLETION.is_file():
        pytest.skip("bash-completion is not installed")
    if shell == "fish":
        return fish_offers(leadline, folder)
    if shell == "zsh":
        return zsh_offers(leadline, folder)
    return bash_offers(leadline, folder, f"source {BASH_COMPLETION}" if request.param != "bash" else "")


def test_commands(offers: Offers):
    assert {"link", "topology", "simulate", "completion", "help"} <= set(offers("leadline "))
    assert "link" in offers("leadline l")
    assert "link" in offers("leadline help l")
    assert "link" in offers("leadline simulate ")
    assert {"bash", "zsh", "fish"} <= set(offers("leadline completion "))


def test_options_and_their_values(offers: Offers):
    offered = {offer.rstrip("=") for offer in offers("leadline link --mes")}
    assert offered == {"--message-size", "--messages", "--messages-by-size"}
    assert set(offers("leadline link --direction ")) == {
        "semidirectional",
        "unidirectional",
        "bidirectional",
    }
    assert [offer.split("=")[-1] for offer in offers("leadline link --direction=bi")] == ["bidirectional"]
    assert offers("leadline link --local 4 --wait sp") == ["spin"]
    assert {"tcp", "mpi"} <= set(offers("leadline io --transport "))
    assert not offers("leadline link --seed 1 --rounds ")
    assert [offer.rstrip("=") for offer in offers("leadline simulate link --random")] == ["--random-faults"]


def test_files(offers: Offers):
    for line in (
        "leadline diagnose ",
        "leadline link --output ",
        "leadline link -o ",
        "leadline info ",
    ):
        assert {"b.h5", "a result.h5"} <= {offer.replace("\\ ", " ") for offer in offers(line)}, line
    assert [offer.rstrip("=") for offer in offers("leadline info --js")] == ["--json"]


def test_commands_of_the_analysis_where_they_are_installed(offers: Offers):
    if not (program.ANALYSIS_COMMANDS / "leadline-report").exists():
        pytest.skip("the analysis package is not installed where this Python is")
    assert "report" in offers("leadline rep")
    assert {"bisection", "link"} <= set(offers("leadline simulate "))
    assert [offer.rstrip("=") for offer in offers("leadline report --outp")] == ["--output"]


def test_there_are_only_these_shells(leadline: Leadline):
    done = leadline("completion", "tcsh")
    assert done.status == 2
    assert "bash, zsh, fish" in done.complaint
    assert leadline("completion").status == 2

# SPDX-License-Identifier: Apache-2.0
"""The files in integrations/: each does what it is for, as far as that can be had without the program it is for."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import program
import pytest

INTEGRATIONS = program.ROOT / "integrations"
SPEED = {"latency_ns": 1400, "bandwidth_bytes_per_s": 24e9}


@pytest.fixture
def options(tmp_path: Path):
    """Of `leadline check`, for eight simulated hosts: one slow one, or none."""

    def of(*, is_bad: bool) -> str:
        faults = [{"slow_host": 2, "factor": 3}] if is_bad else []
        fabric = {"same_host": SPEED, "between_hosts": SPEED, "jitter": 0.02, "faults": faults}
        (tmp_path / "fabric.json").write_text(json.dumps(fabric))
        return "--local 8 --transport model:fabric.json --budget 2s --wait yield"

    return of


@pytest.fixture
def scontrol(tmp_path: Path) -> Path:
    """A program of that name, which notes what it is asked."""
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin" / "scontrol"
    fake.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/asked\n')
    fake.chmod(0o755)
    return tmp_path / "asked"


@pytest.mark.parametrize("is_bad", [True, False])
def test_a_node_drains_itself_where_it_is_bad(options, scontrol: Path, tmp_path: Path, *, is_bad: bool):
    env = {
        "PATH": f"{tmp_path}/bin:{program.PROGRAM.parent}:{os.environ['PATH']}",
        "SLURMD_NODENAME": "here",
        "LEADLINE_CHECK_OPTIONS": options(is_bad=is_bad).replace("--budget 2s ", ""),
        "LEADLINE_CHECK_BUDGET": "2s",
    }
    done = program.complete([INTEGRATIONS / "slurm" / "health-check"], tmp_path, env=env, timeout=60)
    assert done.status == 0
    asked = scontrol.read_text().splitlines() if scontrol.exists() else []
    assert asked[:3] == (["update", "NodeName=here", "State=DRAIN"] if is_bad else [])
    assert not is_bad or asked[3].startswith("Reason=leadline: host host2 x")


@pytest.mark.parametrize("is_bad", [True, False])
def test_nhc_is_told(options, tmp_path: Path, *, is_bad: bool):
    script = f"""
        die() {{ echo "died with $1: $2"; }}
        . {INTEGRATIONS}/nhc/leadline.nhc
        LEADLINE_CHECK_BUDGET=2s
        check_leadline {options(is_bad=is_bad).replace("--budget 2s ", "")} && echo fine
    """
    done = program.complete(["bash", "-c", script], tmp_path, timeout=60)
    if is_bad:
        assert done.out.startswith("died with 1: check_leadline: LEADLINE CRITICAL - host host2 x")
    else:
        assert done.out == "fine\n"


def played(playbook: str, hosts: list[str], folder: Path, *words: str, **variables: str) -> program.Done:
    """An Ansible playbook over hosts that are all this machine."""
    if shutil.which("ansible-playbook") is None:
        pytest.skip("Ansible (pip install ansible-core) is not installed")
    (folder / "inventory").write_text("".join(f"{one}\n" for one in hosts))
    path = INTEGRATIONS / "ansible" / playbook
    command = ["ansible-playbook", "-i", "inventory", "-c", "local", path, "-e", json.dumps(variables), *words]
    env = {
        "PATH": f"{program.PROGRAM.parent}:{os.environ['PATH']}", "HOME": str(folder), "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_ASYNC_DIR": str(folder / "async"),
    }  # fmt: skip
    return program.complete(command, folder, env=env, timeout=180)


@pytest.mark.parametrize("is_bad", [True, False])
def test_ansible_fails_bad_hosts(options, tmp_path: Path, *, is_bad: bool):
    options(is_bad=is_bad)  # the fabric
    ports = program.free_ports(5)
    hosts = [f"c{rank} leadline_address=127.0.0.1 leadline_port={port}" for rank, port in enumerate(ports)]
    done = played(
        "check-hosts.yml", hosts, tmp_path, leadline_transport=f"model:{tmp_path}/fabric.json",
        leadline_budget_s="2", leadline_options="--wait yield",
    )  # fmt: skip
    ended = dict(re.findall(r"^(c\d) .*failed=(\d)", done.out, re.M))
    assert ended == {f"c{rank}": str(int(is_bad and rank == 2)) for rank in range(5)}, done.out + done.err
    assert ("leadline check: host2 is to be drained: 1 fault found" in done.out) == is_bad
    assert (done.status != 0) == is_bad


def test_ansible_installs_a_timer(tmp_path: Path):
    done = played(
        "install-timer.yml", ["here"], tmp_path, "--skip-tags", "start", leadline_unit_folder=str(tmp_path),
        leadline_program=str(program.PROGRAM), leadline_options="--local 4",
    )  # fmt: skip
    assert done.status == 0, done.out + done.err
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    units = [tmp_path / f"leadline-check.{kind}" for kind in ("service", "timer")]
    checked = program.complete(["systemd-analyze", "verify", *units], tmp_path)
    assert (checked.status, checked.out + checked.err) == (0, "")


def metrics_of(text: str) -> set[str]:
    return set(re.findall(r"leadline_check_\w+", text))


def test_rules_are_rules_for_our_metrics(options, tmp_path: Path):
    rules = INTEGRATIONS / "prometheus" / "leadline.rules.yml"
    done = program.complete(
        [program.PROGRAM, "check", *options(is_bad=True).split(), "--no-files", "--prom", "m.prom"],
        tmp_path,
        timeout=60,
    )
    assert done.status == 1
    written = metrics_of((tmp_path / "m.prom").read_text())
    for name in ("prometheus/leadline.rules.yml", "grafana/leadline.json"):
        used = metrics_of((INTEGRATIONS / name).read_text())
        assert used
        assert used <= written, name
    assert json.loads((INTEGRATIONS / "grafana" / "leadline.json").read_text())["panels"]
    if shutil.which("promtool") is None:
        pytest.skip("promtool, of Debian's package prometheus, is not installed")
    checked = program.complete(["promtool", "check", "rules", rules], tmp_path)
    assert checked.status == 0, checked.out + checked.err


@pytest.mark.parametrize("is_bad", [True, False])
def test_reframe_fails_where_hosts_are_bad(options, tmp_path: Path, *, is_bad: bool):
    if shutil.which("reframe") is None:
        pytest.skip("ReFrame (pip install ReFrame-HPC) is not installed")
    words = options(is_bad=is_bad).replace("--budget 2s ", "").replace(":fabric", f":{tmp_path}/fabric").split()
    settings = ["LeadlineCheck.budget=2s", f"LeadlineCheck.options={','.join(words)}"]
    command = ["reframe", "-c", INTEGRATIONS / "reframe" / "leadline_check.py", "-r", "--prefix", tmp_path / "out",
               *(word for one in settings for word in ("-S", one)), "--performance-report"]  # fmt: skip
    done = program.complete(command, tmp_path, env={"HOME": str(tmp_path)}, timeout=120)
    assert (done.status != 0) == is_bad, done.out + done.err
    if is_bad:
        assert "1 fault found: host host2" in done.out
    else:
        assert "latency_between_hosts" in done.out


@pytest.mark.parametrize("is_bad", [True, False])
def test_jube_has_a_row_for_each_job(options, tmp_path: Path, *, is_bad: bool):
    if shutil.which("jube") is None:
        pytest.skip("JUBE (github.com/FZJ-JSC/JUBE) is not installed")
    words = options(is_bad=is_bad).replace("--budget 2s ", "").replace(":fabric", f":{tmp_path}/fabric")
    fake = tmp_path / "bin" / "srun"  # the ranks are simulated: it only takes its own options away
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\n[ "$1 $2" = "--nodes=2 --ntasks-per-node=1" ] && shift 2 && exec "$@"\n')
    fake.chmod(0o755)
    env = {
        "PATH": f"{fake.parent}:{program.PROGRAM.parent}:{os.environ['PATH']}",
        "LEADLINE_CHECK_OPTIONS": words,
    }
    run = ["jube", "run", INTEGRATIONS / "jube" / "leadline.yaml", "--outpath", "runs"]
    done = program.complete(run, tmp_path, env=env, timeout=120)
    assert re.search(r"check \|\s+1 \|\s+0 \|\s+0 \|\s+0 \|\s+1 \|", done.out), done.out + done.err
    table = program.complete(["jube", "result", "runs", "--analyse"], tmp_path, env=env, timeout=60)
    header, _, row = [line.split("|")[1:-1] for line in table.out.splitlines() if line.startswith("|")]
    value = dict(zip((one.strip() for one in header), (one.strip() for one in row), strict=True))
    assert (value["nodes"], value["state"], value["slow"]) == (
        ("2", "bad", "host host2") if is_bad else ("2", "good", "")
    )
    assert 1e-6 < float(value["latency between hosts (s)"]) < 2e-6
    assert 2e10 < float(value["bandwidth between hosts (B/s)"]) < 3e10

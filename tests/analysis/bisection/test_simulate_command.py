# SPDX-License-Identifier: Apache-2.0
"""`leadline simulate bisection`: its text, its file, the comparison with a measurement, and what it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from made_up_bisection import MadeUpBisection, even, killed, never_begun, only_named, slow_host, write_bisection
from result import wrong_json

import leadline
from conftest import two_hosts, write_result
from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.compare import compare_patterns
from leadline.bisection.simulate.model import SimulatedBisection
from leadline.bisection.simulate.result_file import load_simulation, simulation_text
from leadline.cli.simulate import main
from leadline.error import LeadlineError

pytestmark = pytest.mark.usefixtures("real_program")

SCHEMA = json.loads(
    (Path(__file__).resolve().parents[3] / "docs" / "formats" / "bisection-simulation.schema.json").read_text(
        encoding="utf-8"
    )
)
TREE = ["bisection", "--topology", "fat-tree:4x4"]


def hosts(num: int, first: int = 0) -> list[str]:
    return [f"node{host:02d}" for host in range(first, first + num)]


@pytest.fixture
def even_file(tmp_path: Path) -> Path:
    return write_bisection(tmp_path / "run.h5", even())


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(words) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], status: int, *words: str) -> str:
    assert main(words) == status
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith("leadline: ")
    assert found.err.count("\n") == 1
    return found.err


def simulation_of(path: Path, topology: str = "fat-tree:4x4") -> SimulatedBisection:
    output = path.with_suffix(".json")
    assert main(["bisection", "--topology", topology, "--measured", str(path), "--output", str(output)]) == 0
    return load_simulation(output)


def loaded(path: Path) -> BisectionResult:
    return leadline.load_bisection(path)


def test_what_to_expect(capsys: pytest.CaptureFixture[str]):
    text = ran(capsys, *TREE, "--rounds", "25", "--pattern", "random,halves,shift:4")
    assert text.splitlines()[0] == "fat-tree:4x4, routed d-mod-k: 16 ranks on 16 hosts, seed 1"
    assert re.search(r"expected relative eBB: 0\.\d+ ± 0\.\d+ \(95 %\), 25 random patterns", text)
    assert re.search(r"^  shift:4 +1\.000 ", text, re.MULTILINE)
    assert "named" not in ran(capsys, *TREE, "--rounds", "2")
    assert "eBB" not in ran(capsys, *TREE, "--pattern", "halves")


def test_the_file_is_as_documented(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    output = tmp_path / "model.json"
    text = ran(capsys, *TREE, "--rounds", "25", "--pattern", "random,halves", "--output", str(output))
    assert text.splitlines()[-1] == str(output)
    values = json.loads(output.read_text())
    assert wrong_json(values, SCHEMA) == []
    found = load_simulation(output)
    assert found.num_patterns == 25
    assert found.ebb == values["ebb"]
    assert found.named[0].name == "halves"
    assert simulation_text(found) == output.read_text()


def test_a_file_without_random_patterns(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    output = tmp_path / "model.json"
    ran(capsys, *TREE, "--pattern", "halves", "--output", str(output))
    assert wrong_json(json.loads(output.read_text()), SCHEMA) == []
    found = load_simulation(output)
    assert np.isnan(found.ebb)
    assert np.isnan(found.relative_median)


def test_only_its_own_files_are_replaced(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    output = tmp_path / "model.json"
    words = (*TREE, "--rounds", "2", "--output", str(output))
    ran(capsys, *words)
    ran(capsys, *words)
    output.write_text('{"benchmark": "link"}')
    assert "was not written by this command" in refused(capsys, 2, *words)
    ran(capsys, *words, "--overwrite")


def test_a_measurement_on_the_simulated_network_fits(capsys: pytest.CaptureFixture[str], even_file: Path):
    """The made-up times come from a tree of leaves with four ranks, routed d-mod-k, with some noise."""
    text = ran(capsys, *TREE, "--measured", str(even_file))
    assert "16 ranks on 16 hosts, seed 7" in text
    assert "60 random patterns" in text
    comparison = compare_patterns(loaded(even_file), simulation_of(even_file))
    assert comparison.num_patterns == 60
    assert comparison.has_baseline
    assert comparison.pearson > 0.97
    assert comparison.spearman > 0.9
    assert comparison.ratio == pytest.approx(1, abs=0.03)
    assert len(comparison.deviating) == 5
    distances = [abs(np.log(one.deviation)) for one in comparison.deviating]
    assert distances == sorted(distances, reverse=True)


def test_the_wrong_network_does_not_fit(even_file: Path):
    right = compare_patterns(loaded(even_file), simulation_of(even_file))
    wrong = compare_patterns(loaded(even_file), simulation_of(even_file, "torus:16"))
    assert wrong.pearson < 0.6 < right.pearson
    assert abs(np.log(wrong.ratio)) > abs(np.log(right.ratio))


def test_the_pattern_that_deviates_is_found(tmp_path: Path):
    made = replace(even(), slow_together={(3, int(partner)): 12.0 for partner in (9,)})
    path = write_bisection(tmp_path / "run.h5", made)
    comparison = compare_patterns(loaded(path), simulation_of(path))
    patterns = loaded(path).patterns()
    send_to = loaded(path).reader.partners(0, "send_to", (0, 16), (0, len(patterns)))
    slow = set(np.flatnonzero(send_to[3] == 9).tolist())
    assert slow
    assert {one.pattern_index for one in comparison.deviating[: len(slow)]} == slow
    assert all(one.deviation < 1 for one in comparison.deviating[: len(slow)])


def test_all_sizes_and_named_patterns(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = write_bisection(tmp_path / "run.h5", slow_host())
    text = ran(capsys, "bisection", "--topology", "fat-tree:2x8", "--measured", str(path))
    assert "64 ranks on 16 hosts" in text
    assert text.count("correlation over patterns") == 2
    assert text.count("tornado:8") == 3
    found = simulation_of(path, "fat-tree:2x8")
    assert found.num_patterns == 124
    assert found.relative_mean.max() <= 0.3, "four ranks share the cable of their host"
    assert compare_patterns(loaded(path), found).message_size_bytes == 1 << 20
    assert compare_patterns(loaded(path), found, 0).num_patterns == 124


def test_a_killed_run_has_what_it_has(tmp_path: Path):
    path = write_bisection(tmp_path / "run.h5", killed())
    comparison = compare_patterns(loaded(path), simulation_of(path, "fat-tree:2x8"))
    assert comparison.message_size_bytes == 65536
    assert 30 <= comparison.num_patterns <= 31


def test_without_a_baseline(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = write_bisection(tmp_path / "run.h5", replace(even(), num_baseline=0))
    assert "fastest connection, since no baseline was measured" in ran(capsys, *TREE, "--measured", str(path))
    assert not compare_patterns(loaded(path), simulation_of(path)).has_baseline


def test_too_few_patterns_have_no_correlation(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = write_bisection(tmp_path / "run.h5", replace(even(), num_random=[2]))
    comparison = compare_patterns(loaded(path), simulation_of(path))
    assert np.isnan(comparison.pearson)
    assert np.isnan(comparison.spearman)
    capsys.readouterr()
    assert "correlation over patterns: none" in ran(capsys, *TREE, "--measured", str(path))


def test_hosts_of_a_file_are_found_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path, even_file: Path):
    names = list(dict.fromkeys(place.host for place in loaded(even_file).ranks))
    leaf = {name: rank // 4 for rank, name in enumerate(names)}

    def network(written: list[str]) -> str:
        path = tmp_path / "network.txt"
        cables = [f"{name} leaf{leaf[name.partition('.')[0]]}" for name in written]
        cables += [f"leaf{one} spine{spine}" for one in range(4) for spine in range(4)]
        path.write_text("\n".join(cables))
        return str(path)

    words = ("bisection", "--measured", str(even_file), "--topology")
    expected = ran(capsys, *words, "fat-tree:4x4").splitlines()[1]
    # In any order of the cables of switches; and with a domain behind each name.
    assert ran(capsys, *words, network(names)).splitlines()[1] == expected
    assert ran(capsys, *words, network([f"{name}.cluster" for name in names])).splitlines()[1] == expected
    message = refused(capsys, 2, *words, network(names[1:]))
    assert f"no host of the name {names[0]}" in message
    twice = [f"{names[0]}.a", f"{names[0]}.b", *names[1:]]
    assert "several hosts" in refused(capsys, 2, *words, network(twice))


def test_patterns_of_another_program(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = write_bisection(tmp_path / "run.h5", replace(even(), is_replayable=False))
    message = refused(capsys, 4, *TREE, "--measured", str(path))
    assert "random pattern 0 is not the one that seed 7 gives here" in message
    other = simulation_of(write_bisection(tmp_path / "even.h5", even()))
    with pytest.raises(LeadlineError, match="not the one that seed 7 gives"):
        compare_patterns(loaded(path), replace(other, measured_nonce=""))


def test_patterns_after_a_rank_was_lost(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    finding = {"id": "ranks_lost", "severity": "warning", "message": "1 rank was lost", "evidence": "", "advice": ""}
    path = write_bisection(tmp_path / "run.h5", replace(even(), is_replayable=False, findings=[finding]))
    message = refused(capsys, 4, *TREE, "--measured", str(path))
    assert "ranks or pairs of ranks were lost while it was measured). Measure again without them" in message


def test_results_that_cannot_be_compared(capsys: pytest.CaptureFixture[str], tmp_path: Path, even_file: Path):
    for made in (never_begun(), only_named()):
        path = write_bisection(tmp_path / f"{len(made.hosts)}.h5", made)
        assert "no random pattern that was measured" in refused(capsys, 2, *TREE, "--measured", str(path))
    link = write_result(tmp_path / "link.h5", two_hosts())
    assert "not of leadline bisection" in refused(capsys, 2, *TREE, "--measured", str(link))
    assert "No such file" in refused(capsys, 2, *TREE, "--measured", str(tmp_path / "missing.h5"))
    (tmp_path / "garbage.h5").write_bytes(b"garbage")
    refused(capsys, 2, *TREE, "--measured", str(tmp_path / "garbage.h5"))
    few = ("bisection", "--topology", "fat-tree:2x2", "--measured", str(even_file))
    assert "16 are needed, and it has 4" in refused(capsys, 2, *few)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"num_ranks": 15}, "16 ranks were measured, 15 simulated"),
        ({"seed": 8}, "seed 7 was measured, 8 simulated"),
        ({"hosts": tuple(hosts(8)) * 2}, "on other hosts"),
        ({"num_participants": 15}, "other ranks take part"),
        ({"within_hosts": True}, "other ranks take part"),
        ({"pattern_index": np.arange(60) + 60}, "no pattern is in both"),
    ],
)
def test_simulations_of_something_else(even_file: Path, change: dict[str, object], why: str):
    other = replace(simulation_of(even_file), **change)
    with pytest.raises(LeadlineError, match=why) as caught:
        compare_patterns(loaded(even_file), other)
    assert caught.value.status == 2


def test_a_simulation_by_seed_fits_a_result(capsys: pytest.CaptureFixture[str], tmp_path: Path, even_file: Path):
    """Made without the result, from the same seed: host names differ, places do not."""
    output = tmp_path / "model.json"
    ran(capsys, *TREE, "--seed", "7", "--rounds", "40", "--precision", "0", "--output", str(output))
    comparison = compare_patterns(loaded(even_file), load_simulation(output))
    assert comparison.num_patterns == 40
    assert comparison.pearson > 0.97


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "does not say what to simulate"),
        (("link", "--topology", "fat-tree:4x4"), "leadline simulate link is a command of the program leadline"),
        (("bisection",), "--topology"),
        ((*TREE, "--topology", "torus:4"), "--topology is given twice"),
        ((*TREE, "--routing", "minimal"), "--routing minimal does not fit"),
        ((*TREE, "--ranks", "4", "--hosts", "4"), "not allowed with"),
        ((*TREE, "--ranks", "1"), "--ranks cannot be '1'"),
        ((*TREE, "--ranks", "17"), "too few hosts"),
        ((*TREE, "--hosts", "x"), "--hosts cannot be 'x'"),
        ((*TREE, "--ranks-per-host", "0"), "--ranks-per-host cannot be '0'"),
        ((*TREE, "--ranks-per-host", "16777216"), "too many"),
        ((*TREE, "--seed", "-1"), "--seed"),
        ((*TREE, "--seed", "18446744073709551616"), "--seed cannot be"),
        ((*TREE, "--rounds", "0"), "--rounds cannot be '0'"),
        ((*TREE, "--precision", "2"), "--precision cannot be '2'"),
        ((*TREE, "--precision", "nan"), "--precision cannot be 'nan'"),
        ((*TREE, "--precision", "1%%"), "--precision cannot be"),
        ((*TREE, "--pattern", "tornado:3"), "--pattern cannot be 'tornado:3'"),
        ((*TREE, "--pattern", "halves", "--rounds", "3"), "--rounds has no effect"),
        ((*TREE, "--pattern", "halves", "--precision", "0"), "--precision has no effect"),
        ((*TREE, "--overwrite"), "--overwrite has no effect"),
        ((*TREE, "--output", "model.h5"), "End its name in .json"),
        ((*TREE, "--output", "/nowhere/model.json"), "no such folder"),
        *(((*TREE, "--measured", "run.h5", f"--{name}", "2"), f"--{name} has no effect here")
          for name in ("ranks", "hosts", "ranks-per-host", "rounds", "seed", "pattern")),
    ],
)  # fmt: skip
def test_wrong_command_lines(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str):
    assert why in refused(capsys, 2, *words)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("", "no JSON"),
        ("[]", "no simulation"),
        ('{"benchmark": "link"}', "no simulation"),
        ({"format_version": 2}, "Use a newer leadline"),
        ({"hosts": None}, "damaged"),
        ({"num_ranks": 3}, "damaged: 3 ranks on the hosts of 16"),
        ({"relative_mean": [0.5]}, "different lengths"),
        ({"relative_mean": [1.5] * 3}, "not above 0 and at most 1"),
        ({"relative_mean": ["x"] * 3}, "'x' is no number"),
        ({"pattern_index": [2, 1, 0]}, "does not rise"),
        ({"pattern_index": [0, 1, 1e400]}, "does not rise"),
        ({"seed": None}, "damaged"),
        ({"named": [{}]}, "damaged"),
    ],
)
def test_files_that_are_no_simulations(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: str | dict[str, object], why: str
):
    path = tmp_path / "model.json"
    ran(capsys, *TREE, "--rounds", "3", "--output", str(path))
    path.write_text(change if isinstance(change, str) else json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(LeadlineError, match=why) as caught:
        load_simulation(path)
    assert str(path) in str(caught.value)


def test_every_member_is_in_the_file(tmp_path: Path):
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"])
    members = {field.name for field in fields(SimulatedBisection)}
    assert members | {"benchmark", "format_version", "ebb"} == set(SCHEMA["properties"])
    with pytest.raises(LeadlineError, match="No such file"):
        load_simulation(tmp_path / "missing.json")


def test_a_result_whose_hosts_and_participants_do_not_agree(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    made = MadeUpBisection(hosts(8) * 2, leaf=4, options={"active_ranks_per_host": "1"})
    path = write_bisection(tmp_path / "run.h5", made)
    assert "16 ranks take part, but" in refused(capsys, 4, *TREE, "--measured", str(path))


def test_help_names_the_other_simulation(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "leadline simulate link --help" in " ".join(capsys.readouterr().out.split())


TOPOLOGY_CONF = "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=top Switches=s[0-1]\n"


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        (TOPOLOGY_CONF, "".join(f"n{host} s{host // 4}\n" for host in range(8)) + "s0 top 4\ns1 top 4\n"),
        ("# a comment\n" + TOPOLOGY_CONF.lower(), None),
    ],
)
def test_a_topology_of_slurm_is_simulated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, same_as: str | None
) -> None:
    said = []
    for name, content in (("topology.conf", text), ("list", same_as)):
        if content is not None:
            (tmp_path / name).write_text(content)
            assert main(["bisection", "--topology", str(tmp_path / name), "--rounds", "20"]) == 0
            said.append(capsys.readouterr().out.splitlines())
    assert "8 ranks on 8 hosts" in said[0][0]
    assert said[0][1:] == said[-1][1:]


def test_a_wrong_topology_of_slurm_is_told_by_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "topology.conf"
    path.write_text("SwitchName=s0 Nodes=n[0-3]\nSwitchName=s0 Nodes=n4\n")
    assert main(["bisection", "--topology", str(path)]) == 2
    assert "line 2: switch s0 is in line 1 already" in capsys.readouterr().err

# SPDX-License-Identifier: Apache-2.0
"""Diagnoses in Python: read from a file or asked of the program, absent with a reason, and what they say of pairs."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import program
import pytest
from made_up_diagnosis import diagnosis, fake_program, fault, in_slices, joined, program_that_says, slow_component

import leadline
from conftest import MadeUp, sweep, two_hosts, write_result
from leadline.diagnosis import Diagnosed, diagnosed, diagnosed_in, found_faults, pairs_of
from leadline.diagnosis.components import Ranks
from leadline.link import text as link_text
from leadline.link.analysis import analyse
from leadline.link.judged import judged
from leadline.link.result import LinkResult
from leadline.model import ComponentKind, FaultDirection


def loaded(folder: Path, made: MadeUp) -> LinkResult:
    return leadline.load_link(write_result(folder / "run.h5", made))


def test_a_file_with_a_diagnosis(tmp_path: Path):
    result = loaded(tmp_path, slow_component("host"))
    (one,) = result.diagnoses.values()
    assert (one.threshold, one.false_discovery_rate, one.topology, one.num_measured) == (0.1, 0.01, "", 4032)
    assert one.classes[0].name == "between hosts"
    (found,) = one.faults
    assert (found.component.kind, found.component.first, found.component.second) == (ComponentKind.HOST, 11, -1)
    assert (found.ratio, found.ratio_alone, found.pairs[0].expected) == (3.0, 2.9, 4000.0)


def test_older_files_have_none(tmp_path: Path):
    assert loaded(tmp_path, two_hosts()).diagnoses == {}


def test_keys_of_newer_programs_are_left_alone(tmp_path: Path):
    made = slow_component("host")
    made.summary_slices[0]["diagnosis"]["faults"][0]["colour"] = "red"
    assert len(loaded(tmp_path, made).diagnoses) == 1


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [("kind", "planet", "ComponentKind 'planet'"), ("ratio", None, "the diagnosis is none"), ("ratio", -1, "ratio -1"),
     ("pairs", [{"from": 64, "to": 0, "measured": 1, "expected": 1}], "rank 64 of 64"),
     ("direction", "up", "FaultDirection 'up'"),
     ("component", {"level": None, "first": 16, "second": None, "socket": None}, "host 16 of 16"),
     ("component", {}, "the diagnosis is none"), ("ruled_out", "text", "no list"),
     ("pairs", 3, "the diagnosis is none")],
)  # fmt: skip
def test_a_damaged_diagnosis_is_one_line(tmp_path: Path, key: str, value: Any, why: str):
    made = slow_component("host")
    made.summary_slices[0]["diagnosis"]["faults"][0][key] = value
    with pytest.raises(leadline.LeadlineError, match=r"run\.h5.*damaged: ") as caught:
        leadline.load(write_result(tmp_path / "run.h5", made))
    assert why in str(caught.value)


def test_the_program_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write_result(tmp_path / "run.h5", two_hosts())
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program_that_says(tmp_path, diagnosis(fault("rank", "rank 2", 2, 1.4)))))
    (said,) = leadline.diagnose(path, "fat-tree:2x1", 0.05, 0.001).values()
    assert [(one.name, one.ratio, one.component.first) for one in said.faults] == [("rank 2", 1.4, 2)]
    assert math.isnan(said.faults[0].ratio_alone)
    arguments = json.loads((tmp_path / "arguments.json").read_text())
    assert arguments[:3] == ["diagnose", str(path), "--json"]
    assert arguments[3:] == ["--topology", "fat-tree:2x1", "--threshold", "0.05", "--false-discovery-rate", "0.001"]


def test_only_what_is_shown_is_diagnosed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    result = loaded(tmp_path, sweep())
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program_that_says(tmp_path, diagnosis())))
    diagnosed(result, [part for part in result.slices if part.size_index == 2 and part.repeat == 1])
    assert json.loads((tmp_path / "arguments.json").read_text())[3:] == ["--message-size", "65536", "--repeat", "2"]


@pytest.mark.parametrize(
    ("script", "why"),
    [("print('{}')", "does not print a diagnosis"), ("print('no')", "does not print a diagnosis"),
     ("print('leadline: it is Sunday (so). Wait', file=sys.stderr); sys.exit(3)", "it is Sunday (so). Wait"),
     ("sys.exit(4)", "ended with status 4")],
)  # fmt: skip
def test_without_an_answer_there_is_a_reason(tmp_path: Path, script: str, why: str, monkeypatch: pytest.MonkeyPatch):
    result = loaded(tmp_path, two_hosts())
    monkeypatch.setenv("LEADLINE_PROGRAM", str(fake_program(tmp_path, script)))
    with pytest.raises(leadline.LeadlineError) as caught:
        leadline.diagnose(result.path)
    assert why in str(caught.value)
    said = diagnosed(result, result.slices)
    assert (said.found, why in said.absent) == ({}, True)
    with pytest.raises(leadline.LeadlineError):
        diagnosed(result, result.slices, "fat-tree:2x1")


def test_where_the_program_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from leadline.program import find_program

    found = program_that_says(tmp_path)
    for variable in ("LEADLINE_PROGRAM", "PATH"):
        monkeypatch.setenv(variable, "")
    monkeypatch.setattr(sys, "argv", ["/nowhere/leadline-report"])
    assert find_program() is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program() == found
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "leadline-report")])
    assert find_program() == found
    monkeypatch.setenv("LEADLINE_PROGRAM", str(tmp_path / "nothing"))
    assert find_program() is None
    said = diagnosed(result := loaded(tmp_path, two_hosts()), result.slices)
    assert "which is no program" in said.absent


def test_what_the_file_has_is_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LEADLINE_PROGRAM", str(tmp_path / "nothing"))
    result = loaded(tmp_path, slow_component("link"))
    assert diagnosed(result, result.slices) == Diagnosed(result.diagnoses, faults=result.faults)


def expected_pairs(kind: str, host: np.ndarray) -> np.ndarray:
    rows, columns = host[:, None], host[None, :]
    if kind == "host":
        return (rows == 11) | (columns == 11)
    if kind == "link":
        return (rows == 3) & (columns == 7)
    below = (host >= 4) & (host < 8)
    if kind == "uplink":
        return below[:, None] != below[None, :]
    rank = np.arange(64)
    return (rank[:, None] == 5) & (rank[None, :] == 60)


@pytest.mark.parametrize("kind", ["host", "link", "uplink", "pair"])
def test_the_pairs_of_a_place(tmp_path: Path, kind: str):
    result = loaded(tmp_path, slow_component(kind))
    (found,) = next(iter(result.diagnoses.values())).faults
    rank = np.arange(64)
    expected = expected_pairs(kind, rank // 4) & (rank[:, None] != rank[None, :])
    assert (pairs_of(Ranks(result), found.component, found.direction, rank, rank) == expected).all()


@pytest.mark.parametrize(
    ("kind", "numbers", "pair", "other"),
    [("port", {}, (44, 3), (44, 45)), ("inside", {}, (44, 45), (44, 3)), ("rank", {"first": 9}, (9, 8), (8, 10)),
     ("rail", {"first": 2}, (2, 7), (2, 3)), ("switch", {"first": 0, "level": 0, "hosts": [0, 1]}, (0, 4), (0, 1)),
     ("cable", {"second": 2, "level": 0, "hosts": [0], "other_hosts": [9]}, (36, 3), (36, 4))],
)  # fmt: skip
def test_pairs_of_other_places(
    tmp_path: Path, kind: str, numbers: dict[str, Any], pair: tuple[int, int], other: tuple[int, int]
):
    made = slow_component("host")
    found = made.summary_slices[0]["diagnosis"]["faults"][0]
    found["kind"] = kind
    found["component"] |= {"first": 11} | numbers
    result = loaded(tmp_path, made)
    place = next(iter(result.diagnoses.values())).faults[0].component
    belongs = pairs_of(Ranks(result), place, FaultDirection.BOTH, np.arange(64), np.arange(64))
    assert belongs[pair]
    assert not belongs[other]


def test_verdicts_come_from_the_diagnosis(tmp_path: Path):
    result = loaded(tmp_path, slow_component("link"))
    (part,) = result.slices
    by_factor = analyse(result, part)
    assert by_factor.slow_links == (), "1.3 times is too little for the factor"
    said = judged(result, by_factor, result.diagnoses[part])
    ((link),) = said.slow_links
    assert (link.from_host, link.to_host, link.ratio) == (3, 7, 1.3)
    assert link.time_ns == pytest.approx(1.3 * 4000, rel=0.05)
    host = loaded(tmp_path, slow_component("host"))
    said = judged(host, analyse(host, host.slices[0]), host.diagnoses[host.slices[0]])
    assert (said.slow_hosts, said.host_ratio(11)) == ((11,), 3.0)
    assert judged(result, by_factor, None) is by_factor


def test_the_headline_is_that_of_the_diagnosis(tmp_path: Path):
    result = loaded(tmp_path, slow_component("link"))
    analyses = [analyse(result, part) for part in result.slices]
    assert link_text.headline(result, analyses, diagnosed_in(result)) == [
        "The link from node03 to node07 is slow: 1.3 times as long as usual (1.27 to 1.33)."
    ]
    assert link_text.headline(result, analyses)[0].startswith("No host or rank stands out"), "without one as ever"


def test_a_headline_of_several_faults(tmp_path: Path):
    made = slow_component("host")
    made.summary_slices = in_slices(
        diagnosis(
            fault("port", "the port of node01", 1, 2.0, direction="out"),
            *(fault("rank", f"rank {rank} on node02", rank, 1.5, symptom="unsteady") for rank in (8, 9, 10)),
            fault("socket", "socket 1 of all hosts", -1, 1.2, socket=1, is_note=True) | {},
        )
    )
    made.summary_slices[0]["diagnosis"]["faults"][-1]["component"]["first"] = None
    result = loaded(tmp_path, made)
    analyses = [analyse(result, part) for part in result.slices]
    assert link_text.headline(result, analyses, diagnosed_in(result)) == [
        "4 faults found: the port of node01 is slow when sending, 2 times as usual; rank 8 on node02 is unsteady, "
        "1.5 times as usual; rank 9 on node02 is unsteady, 1.5 times as usual; and 1 more."
    ]
    assert link_text.verdict(result, analyses, diagnosed_in(result)) == ["4 faults found, the costliest first."]


def test_no_fault(tmp_path: Path):
    made = two_hosts()
    made.summary_slices = in_slices(diagnosis())
    result = loaded(tmp_path, made)
    sentences = link_text.headline(result, [analyse(result, part) for part in result.slices], diagnosed_in(result))
    assert sentences[0] == "No fault found: nothing is 10 % slower than comparable components by more than chance."
    assert sentences[1].startswith("The slowest pair takes ")


def compared(name: str, ratio: float, change: str) -> dict[str, Any]:
    """A class of pairs beside a site profile."""
    return {
        "name": name, "num_pairs": 4032, "before_ns_median": 4000.0, "after_ns_median": ratio * 4000, "ratio": ratio,
        "ratio_interval": [0.9 * ratio, 1.1 * ratio], "change": change,
    }  # fmt: skip


def test_what_is_slower_than_the_site_profile_is_a_fault(tmp_path: Path):
    made = sweep()
    made.times, made.permutations = made.times[:1], None
    of_sizes = [diagnosis(), diagnosis(), diagnosis()]
    of_sizes[0]["profile"] = [compared("between hosts", 1.5, "slower"), compared("same host", 1.1, "none")]
    of_sizes[1]["profile"] = [compared("between hosts", 2.0, "slower"), compared("same host", 0.5, "faster")]
    made.summary_slices = in_slices(*of_sizes)
    result = loaded(tmp_path, made)
    analyses = [analyse(result, part) for part in result.slices]
    told = (
        "All pairs between hosts take 2 times as long as in the site profile (1.8 to 2.2): "
        "8.000 µs instead of 4.000 µs."
    )
    others = "Times beside the site profile: same host x1.1."
    assert link_text.verdict(result, analyses, diagnosed_in(result)) == ["1 fault found.", others, told]
    assert link_text.headline(result, analyses, diagnosed_in(result)) == [told]
    assert link_text.is_alarming(result, analyses, diagnosed_in(result))


def test_of_another_topology_the_verdict_by_the_profile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = two_hosts()
    of_file = diagnosis()
    of_file["profile"] = [compared("between hosts", 1.5, "slower")]
    made.summary_slices = in_slices(of_file)
    result = loaded(tmp_path, made)
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program_that_says(tmp_path, diagnosis(fault("rank", "rank 2", 2, 1.4)))))
    (said,) = diagnosed(result, result.slices, "fat-tree:2x1").found.values()
    assert [one.name for one in said.faults] == ["rank 2"]
    assert [one.ratio for one in said.slower_than_profile] == [1.5]


def test_faults_of_several_sizes_are_one_list(tmp_path: Path):
    made = sweep()
    made.times, made.permutations = made.times[:1], None
    weak, strong = fault("rank", "rank 3", 3, 1.2), fault("rank", "rank 3", 3, 1.6)
    made.summary_slices = in_slices(diagnosis(fault("rank", "rank 5", 5, 4.0), weak), diagnosis(strong), diagnosis())
    result = loaded(tmp_path, made)
    said = diagnosed(result, result.slices)
    assert said.found == {}, "an older file, and no program"
    assert "has no list of the faults of all sizes, and LEADLINE_PROGRAM is" in said.absent
    made.summary_faults = [joined(1, 0, 2, 3), joined(0, 0, 1, 3)]
    result = loaded(tmp_path, made)
    found = found_faults(diagnosed(result, result.slices), result.slices)
    assert [(one.fault.name, one.fault.ratio, one.part.size_index, one.num_found, one.num_slices) for one in found] == [
        ("rank 3", 1.6, 1, 2, 3), ("rank 5", 4.0, 0, 1, 3)
    ]  # fmt: skip
    of_size = found_faults(diagnosed(result, result.slices[:1]), result.slices[:1])
    assert [(one.fault.name, one.num_found, one.num_slices) for one in of_size] == [("rank 5", 1, 1), ("rank 3", 1, 1)]


@pytest.mark.parametrize("wrong", [{"fault_index": 2}, {"size_index": 7}, {"num_found": "two"}])
def test_a_list_that_cannot_be_is_damage(tmp_path: Path, wrong: dict[str, Any]):
    made = two_hosts()
    made.summary_slices = in_slices(diagnosis(fault("rank", "rank 2", 2, 1.4)))
    made.summary_faults = [joined(0, 0, 1, 1) | wrong]
    with pytest.raises(leadline.LeadlineError, match="damaged"):
        loaded(tmp_path, made)


def test_the_real_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if not program.PROGRAM.is_file():
        pytest.skip(f"{program.PROGRAM.name} is not built")
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))
    path = write_result(tmp_path / "run.h5", slow_component("host"))
    (said,) = leadline.diagnose(path).values()
    assert [(one.name, one.component.first) for one in said.faults] == [("host node11", 11)]
    assert said.faults[0].ratio == pytest.approx(3, rel=0.1)
    path = write_result(tmp_path / "run.h5", slow_component("uplink"))
    (said,) = leadline.diagnose(path, topology="fat-tree:4x4").values()
    assert [one.name for one in said.faults] == ["the uplink of leaf switch leaf1"]
    with pytest.raises(leadline.LeadlineError, match="topology"):
        leadline.diagnose(path, topology="a cat")

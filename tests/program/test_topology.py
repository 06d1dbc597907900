# SPDX-License-Identifier: Apache-2.0
"""`leadline topology` over every transport: rates that fit together, files, loads, wrong bytes, lost ranks, plans."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import program
import pytest
from fabrics import FABRIC, fabric_file
from program import Done, Leadline
from result import schema_of, status_of, summary_of, wrong_json

SIX = ["star", "star2", "complete", "complete2", "ring", "ring2"]
FEW = ["--iterations", "5", "--warmup", "1", "--traced", "2", "--wait", "yield", "--quiet"]
Topology = Callable[..., Done]


@pytest.fixture
def topology(leadline: Leadline) -> Topology:
    """Runs `leadline topology` with few exchanges; it must end well unless `status` says otherwise."""

    def run(*words: str | Path, status: int = 0, few: list[str] = FEW, **options: Any) -> Done:
        done = leadline("topology", *words, *few, **options)
        assert done.status == status, f"status {done.status}\n{done.err}"
        return done

    return run


def expect_rates_that_fit(document: dict[str, Any], num_ranks: int) -> None:
    """The identities between the three rates, in every cell and by every definition of the time."""
    for cell in document["cells"]:
        facts = document["topologies"][cell["topology_index"]]
        for times in (cell["with_barrier"], cell["exchange"]):
            for time_ns, rates in (
                (times["time_ns_median"], times["at_median"]),
                (times["time_ns_mean"], times["at_mean"]),
            ):
                local, total, average = (rates[f"{name}_bytes_per_s"] for name in ("local", "total", "average"))
                moved = facts["num_ways"] * cell["message_size_bytes"] * facts["num_channels"]
                assert total == pytest.approx(moved * 1e9 / time_ns)
                assert average * facts["num_channels"] == pytest.approx(total)
                if facts["shape"] == "star":
                    assert local == pytest.approx(total)
                if facts["shape"] in ("complete", "ring"):
                    assert num_ranks * local == pytest.approx(2 * total)
        assert cell["exchange"]["num"] == cell["with_barrier"]["num"] == document["options"]["iterations"]
        assert cell["exchange"]["time_ns_min"] > 0
        slowest, fastest = cell["ranks"]["slowest"], cell["ranks"]["fastest"]
        assert 0 < slowest["bytes_per_s"] <= cell["ranks"]["median_bytes_per_s"] <= fastest["bytes_per_s"]
        assert {slowest["rank"], fastest["rank"]} <= set(range(num_ranks))
        channel = cell["slowest_channel"]
        assert channel["bytes_per_s"] == pytest.approx(cell["message_size_bytes"] * 1e9 / channel["time_ns"])
        assert 0 < cell["fairness"] <= 1 + 1e-9


@pytest.mark.parametrize("how", ["tcp", "model", "mpirun.openmpi", "mpiexec.hydra"])
def test_the_six_topologies(topology: Topology, tmp_path: Path, how: str) -> None:
    words: list[str | Path] = ["--message-size", "1KiB-16KiB*4", "--output", "r.json"]
    if how in ("tcp", "model"):
        transport = how if how == "tcp" else fabric_file(tmp_path)
        topology("--local", "4", "--transport", transport, *words)
    else:
        program_words = [program.PROGRAM, "topology", *words, *FEW]
        launcher = [how, *(["--oversubscribe"] if "openmpi" in how else []), "-n", "4"]
        if shutil.which(how) is None:
            pytest.skip(f"{how} is not installed")
        done = program.complete([*launcher, *program_words], tmp_path)
        assert done.status == 0, done.err
    document = json.loads((tmp_path / "r.json").read_text())
    assert wrong_json(document, schema_of("topology")) == []
    assert document["complete"] is True
    assert [one["name"] for one in document["topologies"]] == SIX
    assert [one["num_channels"] for one in document["topologies"]] == [3, 3, 6, 6, 4, 4]
    assert [cell["topology"] for cell in document["cells"]] == SIX * 3
    assert [cell["message_size_bytes"] for cell in document["cells"][::6]] == [1024, 4096, 16384]
    expect_rates_that_fit(document, 4)


def test_times_are_those_of_the_fabric(topology: Topology, tmp_path: Path) -> None:
    """One channel between two hosts: a message takes latency and size over bandwidth; an answer as long again."""
    transport = fabric_file(tmp_path, jitter=0, ranks_per_host=1)
    topology("--local", "2", "--transport", transport, "--pattern", "star,star2", "--message-size", "1MiB",
             "--output", "r.json")  # fmt: skip
    there = FABRIC["between_hosts"]
    message_ns = there["latency_ns"] + 1e9 * (1 << 20) / there["bandwidth_bytes_per_s"]
    answered, both_ways = json.loads((tmp_path / "r.json").read_text())["cells"]
    assert answered["exchange"]["time_ns_median"] == pytest.approx(2 * message_ns, rel=0.01)
    assert both_ways["exchange"]["time_ns_median"] == pytest.approx(message_ns, rel=0.01)


def test_the_table_shows_the_chosen_rate(topology: Topology) -> None:
    words = ["--local", "3", "--format", "none", "--message-size", "1KiB", "--pattern", "star,ring2"]
    for rate in ("total", "local", "average"):
        out = topology(*words, "--print", rate).out
        assert f"\n{rate} rate in " in out
        assert re.search(r"\n +message size +star +ring2\n +1 KiB +\d+\.\d{3} +\d+\.\d{3}\n", out), out


def test_the_run_and_diagnose_say_the_same_of_its_file(topology: Topology, leadline: Leadline, tmp_path: Path) -> None:
    transport = fabric_file(tmp_path, {"slow_rank": 5, "factor": 4}, jitter=0.02)
    words = ["--local", "8", "--transport", transport, "--repeat", "3", "--topology", "fat-tree:2x2"]
    patterns = ["--pattern", "star2,complete2,ring", "--message-size", "4KiB,64KiB"]
    done = topology(*words, *patterns, "--output", "r.h5")
    said = leadline("diagnose", "r.h5", "--topology", "fat-tree:2x2").out
    assert said in done.out
    assert "rank 5 on host2 is slow" in said
    assert "star2 could not be tested: most of its ranks have fewer than 3 partners" in said
    document = json.loads(leadline("diagnose", "r.h5", "--topology", "fat-tree:2x2", "--json").out)
    assert wrong_json(document, schema_of("diagnosis")) == []
    with h5py.File(tmp_path / "r.h5") as file:
        assert json.loads(file["summary"][()])["diagnoses"] == document["slices"]
    found = [(one["pattern"], one["diagnosis"]["untested"] is None, [fault["name"] for fault in
              one["diagnosis"]["faults"]]) for one in document["slices"]]  # fmt: skip
    assert (
        found == [("star2", False, [])] * 2 + [("complete2", True, ["rank 5 on host2"])] * 2 + [("ring", False, [])] * 2
    )
    assert leadline("diagnose", "r.h5", "--strict", "--quiet").status == 1
    one_size = json.loads(leadline("diagnose", "r.h5", "--message-size", "64KiB", "--json").out)["slices"]
    assert [(one["pattern"], one["message_size_bytes"]) for one in one_size] == [
        (name, 65536) for name in ("star2", "complete2", "ring")
    ]


def test_a_link_is_named_since_it_is_slow_alone(topology: Topology, leadline: Leadline, tmp_path: Path) -> None:
    slow = [{"slow_link": ends, "factor": 6} for ends in ([1, 3], [3, 1])]
    words = ["--local", "12", "--transport", fabric_file(tmp_path, *slow, jitter=0.02), "--pattern", "complete2"]
    words += ["--message-size", "64KiB", "--overwrite", "--output", "r.h5"]
    done = topology(*words)
    assert leadline("diagnose", "r.h5").out in done.out
    document = summary_of(tmp_path / "r.h5")
    (fault,) = document["diagnoses"][0]["diagnosis"]["faults"]
    assert (fault["kind"], fault["list"], fault["name"]) == ("link", "persistent", "the link between host1 and host3")
    assert fault["ratio_alone"] == pytest.approx(6, rel=0.1)
    alone = document["pairs_alone"]
    assert wrong_json(document, schema_of("topology")) == []
    assert {one["is_suspected"] for one in alone} == {True, False}
    assert len(alone) <= 40
    slow_ones = [one for one in alone if {one["from"] // 2, one["to"] // 2} == {1, 3}]
    sound = [one["time_ns"] for one in alone if one not in slow_ones]
    assert min(one["time_ns"] for one in slow_ones) > 4 * max(sound)

    topology(*words, "--retest", "0")
    document = summary_of(tmp_path / "r.h5")
    assert document["pairs_alone"] == document["faults"] == []


def test_pairs_alone_of_ranks_that_do_not_exist_are_refused(
    topology: Topology, leadline: Leadline, tmp_path: Path
) -> None:
    topology("--local", "5", "--pattern", "complete2", "--message-size", "1KiB", "--output", "r.h5")
    document = summary_of(tmp_path / "r.h5")
    document["pairs_alone"][0]["to"] = 5
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        del file["summary"]
        file["summary"] = json.dumps(document)
    done = leadline("diagnose", "r.h5")
    assert done.status == 4
    assert "/summary has a rank that does not exist" in done.err


def test_a_healthy_fabric_has_nobody_slow(topology: Topology, leadline: Leadline, tmp_path: Path) -> None:
    transport = fabric_file(tmp_path, jitter=0.02)
    done = topology("--local", "8", "--transport", transport, "--pattern", "complete2", "--output", "r.h5")
    assert done.out.count("verdict: no fault found: nothing is 50 % slower") == 6
    assert leadline("diagnose", "r.h5", "--strict", "--quiet").status == 0


def test_where_nobody_could_be_tested_no_fault_is_no_verdict(
    topology: Topology, leadline: Leadline, tmp_path: Path
) -> None:
    words = ["--local", "6", "--transport", fabric_file(tmp_path), "--message-size", "1KiB"]
    for pattern in ("ring2", "star,ring2", "complete"):
        done = topology(*words, "--pattern", pattern, "--output", "r.h5", "--overwrite")
        assert "could not be tested: " in done.out
        assert "no fault" not in done.out
        done = leadline("diagnose", "r.h5", "--strict")
        assert (done.status, "no fault" in done.out) == (0, False)
    done = leadline("topology", *words, "--pattern", "complete2", "--traced", "0", "--format", "none")
    assert "verdict: could not be tested: with --traced 0 no message is timed by itself" in done.out


def test_a_load_has_nobody_to_diagnose(topology: Topology, leadline: Leadline) -> None:
    words = ["--local", "4", "--pattern", "complete2", "--message-size", "1KiB", "--duration", "0.2s"]
    topology(*words, "--output", "r.h5", few=["--wait", "yield"])
    done = leadline("diagnose", "r.h5")
    assert done.status == 2
    assert "it is of a load (--duration)" in done.err


@pytest.mark.parametrize("words", [["--duration", "1s"], ["--traced", "0"], ["--max-outstanding", "2"]])
@pytest.mark.parametrize("option", [["--topology", "fat-tree:2x2"], ["--threshold", "0.2"], ["--retest", "5"]])
def test_options_of_a_verdict_that_is_not_given(leadline: Leadline, words: list[str], option: list[str]) -> None:
    done = leadline("topology", "--local", "2", *words, *option)
    assert done.status == 2
    assert option[0] in done.err


def test_edges_from_a_file(topology: Topology, tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("# a path\n0 1\n2, 1   # rank 2 starts\n\n2 3\n")
    topology("--local", "4", "--edges", "links.txt", "--mode", "answered", "--output", "r.h5")
    document = summary_of(tmp_path / "r.h5")
    (facts,) = document["topologies"]
    assert (facts["shape"], facts["mode"], facts["num_channels"]) == ("edges", "answered", 3)
    assert facts["max_channels_rank"] == 2
    with h5py.File(tmp_path / "r.h5") as file:
        group = file["topologies/0000"]
        assert group["row_start"][:].tolist() == [0, 1, 3, 5, 6]
        assert group["partner"][:].tolist() == [1, 0, 2, 1, 3, 2]
        assert group["starts"][:].tolist() == [1, 0, 0, 1, 1, 0]
        assert (group["exchange_time_ns"][:] > 0).all()
        assert (group["arrival_time_ns"][:] > 0).all()


def test_edges_beside_other_topologies(topology: Topology, tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("0 1\n")
    topology("--local", "3", "--edges", "links.txt", "--pattern", "ring", "--output", "r.json", "--message-size", "8")
    assert [one["shape"] for one in json.loads((tmp_path / "r.json").read_text())["topologies"]] == ["ring", "edges"]


# Words after `leadline topology`, and what the line must name.
REFUSED = {
    "unknown option": (["--messages", "5"], ["--messages"]),
    "unknown topology": (["--pattern", "blob"], ["--pattern", "blob", "hypercube"]),
    "hole in the list": (["--pattern", "ring,,star"], ["--pattern", "''"]),
    "no rank": (["--pattern", "star:x"], ["star:x", "'x'"]),
    "a centre that is not there": (["--local", "3", "--pattern", "star:3"], ["star:3"]),
    "another number than a power of two": (["--local", "3", "--pattern", "hypercube"], ["hypercube"]),
    "extents of other ranks": (["--local", "4", "--pattern", "torus:3x2"], ["torus:3x2"]),
    "all ranks hot": (["--local", "3", "--pattern", "incast:3"], ["incast:3"]),
    "twice": (["--local", "3", "--pattern", "ring,ring"], ["ring", "twice"]),
    "twice under two names": (["--local", "3", "--pattern", "chaos,complete"], ["complete", "twice"]),
    "one rank": (["--local", "1", "--pattern", "complete"], ["complete"]),
    "a missing file": (["--local", "2", "--edges", "none.txt"], ["none.txt", "No such file"]),
    "a folder": (["--local", "2", "--edges", "/tmp"], ["/tmp", "directory"]),
    "nothing in a file": (["--local", "2", "--edges", "/dev/null"], ["/dev/null", "no edge"]),
    "no size": (["--message-size", "0"], ["--message-size", "1 B"]),
    "a factor of one": (["--message-size", "1KiB-4KiB*1"], ["1KiB-4KiB*1"]),
    "a step of nothing": (["--message-size", "1KiB-4KiB+0"], ["1KiB-4KiB+0"]),
    "descending": (["--message-size", "4KiB-1KiB*2"], ["4KiB-1KiB*2", "descends"]),
    "mode of none": (["--mode", "phased"], ["--mode"]),
    "unknown mode": (["--pattern", "tree", "--mode", "loud"], ["--mode", "loud", "both-ways"]),
    "unknown rate": (["--print", "sum"], ["--print", "sum", "average"]),
    "SION": (["--output", "r.sion"], ["r.sion", ".h5"]),
    "iterations of a load": (["--duration", "1s", "--iterations", "5"], ["--iterations", "--duration"]),
    "a load verified twice": (["--duration", "1s", "--verify"], ["--verify", "--duration"]),
    "thinned without load": (["--verify-every", "5"], ["--verify-every", "--duration"]),
    "stopped without load": (["--stop-at-first"], ["--stop-at-first", "--duration"]),
    "verifying shared buffers": (["--verify", "--shared-buffers"], ["--verify", "--shared-buffers"]),
    "verifying zeros": (["--duration", "1s", "--fill", "zero"], ["--duration", "--fill zero"]),
    "verifying on a GPU": (["--verify", "--allocator", "cuda"], ["--verify", "--allocator cuda"]),
    "an edges file and ranks that it does not know": (
        ["--local", "2", "--edges", "links.txt"],
        ["links.txt", "line 2"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(leadline: Leadline, tmp_path: Path, case: str) -> None:
    words, named = REFUSED[case]
    links = tmp_path / "links.txt"
    links.write_text("0 1\n1 2\n")
    leadline("topology", *words).assert_refused(2, *named)
    assert list(tmp_path.iterdir()) == [links], "a refused command line left a file"


def test_two_ranks_make_a_ring_and_a_star(topology: Topology, tmp_path: Path) -> None:
    topology("--local", "2", "--pattern", "ring,ring2,star", "--message-size", "100B", "--verify", "--output", "r.json")
    document = json.loads((tmp_path / "r.json").read_text())
    assert [one["num_channels"] for one in document["topologies"]] == [2, 2, 1]
    expect_rates_that_fit(document, 2)


def test_every_topology_at_once(topology: Topology, tmp_path: Path) -> None:
    words = [
        "star-each",
        "star2:3",
        "complete2",
        "ring",
        "torus-2d",
        "hypercube",
        "tree",
        "halves",
        "incast:2",
        "outcast",
    ]
    topology("--local", "4", "--pattern", ",".join(words), "--mode", "phased", "--message-size", "3KiB", "--output",
             "r.h5", "--verify")  # fmt: skip
    document = summary_of(tmp_path / "r.h5")
    assert [one["name"] for one in document["topologies"]] == ["star:0", "star:1", "star:2", "star:3", *words[1:]]
    moved = sum(one["num_channels"] * one["num_ways"] for one in document["topologies"])
    assert document["verified_bytes"] == 5 * moved * 3 * 1024
    assert wrong_json(document, schema_of("topology")) == []
    expect_rates_that_fit(document, 4)


@pytest.mark.parametrize(
    "words", [["--max-outstanding", "1"], ["--shared-buffers"], ["--max-outstanding", "2", "--verify"]]
)
def test_less_memory_moves_the_same(topology: Topology, tmp_path: Path, words: list[str]) -> None:
    topology("--local", "4", "--message-size", "1,70000", "--output", "r.json", *words)
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["complete"] is True
    assert document["verified_bytes"] == (5 * 2 * (3 + 3 + 6 + 6 + 4 + 4) * 70001 if "--verify" in words else 0)
    expect_rates_that_fit(document, 4)


def test_a_load_for_two_seconds(topology: Topology, tmp_path: Path) -> None:
    few = [word for word in FEW if word in ("--wait", "yield")]
    words = ["--local", "3", "--pattern", "ring2,complete", "--message-size", "4KiB", "--duration", "2s"]
    done = topology(*words, "--output", "r.h5", few=few)
    document = summary_of(tmp_path / "r.h5")
    assert wrong_json(document, schema_of("topology")) == []
    assert document["cells"] == []
    load = document["load"]
    assert {point["topology"] for point in load} == {"ring2", "complete"}
    assert all(point["num_exchanges"] == point["num_verified"] > 0 for point in load)
    assert load[-1]["begin_s"] + load[-1]["elapsed_s"] >= 2
    # Three channels in either topology, a message each way, every byte of every exchange.
    assert document["verified_bytes"] == sum(point["num_verified"] for point in load) * 6 * 4096
    assert "verified: " in done.out
    with h5py.File(tmp_path / "r.h5") as file:
        used = file["load/elapsed_s"][:] > 0
        assert used.sum() == len(load)
        assert file["load/num_verified"][:][used].tolist() == [point["num_verified"] for point in load]


def test_a_load_finds_a_wrong_byte(topology: Topology, tmp_path: Path) -> None:
    fault = {"corrupt": {"from": 0, "to": 1, "message": 40, "byte": 99}}
    load = ["--duration", "60s", "--stop-at-first", "--pattern", "star2", "--message-size", "1KiB"]
    words = ["--local", "2", "--transport", fabric_file(tmp_path, fault), *load, "--output", "r.h5"]
    done = topology(*words, status=4, few=[])
    assert all(word in done.complaint for word in ("rank 0", "rank 1", "byte 99", "1024 bytes"))
    # A verification pass is some exchanges, the first pass one: the fault strikes in the first that has so many.
    found = re.search(r"exchange (\d+)", done.complaint)
    assert found
    assert int(found[1]) > 40
    assert done.seconds < 55, "it ends where the byte is found"
    complete, reason = status_of(tmp_path / "r.h5")
    assert not complete
    assert reason == done.complaint.removeprefix("leadline: ")


def test_a_load_goes_on_behind_a_wrong_byte(topology: Topology, tmp_path: Path) -> None:
    fault = {"corrupt": {"from": 0, "to": 1, "message": 40, "byte": 99}}
    done = topology("--local", "2", "--transport", fabric_file(tmp_path, fault), "--pattern", "star2", "--duration",
                    "3s", "--message-size", "1KiB", "--output", "r.h5", status=4, few=[])  # fmt: skip
    load = summary_of(tmp_path / "r.h5")["load"]
    assert load[-1]["begin_s"] + load[-1]["elapsed_s"] >= 3
    assert re.search(rf"wrong bytes came in [1-9]\d* of {len(load)} slices", done.complaint)
    assert all(word in done.complaint for word in ("rank 0", "rank 1", "byte 99", "1024 bytes"))


def test_plan(leadline: Leadline, tmp_path: Path) -> None:
    done = leadline("topology", "--dry-run", "--ranks", "5", "--pattern", "star2:1,ring", "--message-size", "1KiB,1MiB")
    assert (done.status, done.err) == (0, "")
    assert "5 ranks: 2 topologies x 2 message sizes x 1 repeat" in done.out
    assert "star2:1: 1-0 1-2 1-3 1-4\n" in done.out
    assert "ring: 0-1 1-2 2-3 3-4 4-0\n" in done.out
    assert all(word in done.out for word in ("time", "memory", "file"))
    assert "100000 ranks" in leadline("topology", "--dry-run", "--ranks", "100000").out
    (tmp_path / "links.txt").write_text("0 4\n4 2\n")
    assert "links.txt: 0-4 4-2\n" in leadline("topology", "--dry-run", "--ranks", "5", "--edges", "links.txt").out

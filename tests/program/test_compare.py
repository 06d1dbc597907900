# SPDX-License-Identifier: Apache-2.0
"""What `leadline compare` says of two results of simulated machines whose faults are known, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from fabrics import fabric_file
from program import Leadline
from result import schema_of, wrong_json
from test_topology import FEW

TREE = ["--topology", "fat-tree:4x4", "--ranks-per-host", "4"]
SLOW_HOST = {"slow_host": 5, "factor": 1.3}
SLOW_UPLINK = {"slow_uplink": "leaf1", "factor": 1.5}

ONE_BASELINE = (
    "there is one baseline, so how much launches differ by themselves is not known; several baselines tell it"
)

Made = Callable[..., Path]


@pytest.fixture
def made(leadline: Leadline, tmp_path: Path) -> Made:
    """Simulates a link test into a file."""

    def make(name: str, *faults: dict[str, Any], seed: int = 1, words: Sequence[str] = TREE) -> Path:
        plan = tmp_path / "faults.json"
        plan.write_text(json.dumps({"faults": list(faults)}), encoding="utf-8")
        given = ["--faults", plan] if faults else []
        done = leadline("simulate", "link", *words, *given, "--seed", str(seed), "--output", name)
        assert done.status == 0, done.err
        return tmp_path / name

    return make


@pytest.fixture
def compared(leadline: Leadline) -> Callable[..., list[dict[str, Any]]]:
    """The sizes of the JSON document, which is what the schema says; `status` is that of the program with --strict."""

    def compare(*words: str | Path, status: int = 0) -> list[dict[str, Any]]:
        done = leadline("compare", *words, "--strict", "--json")
        assert done.status == status, done.err
        document = json.loads(done.out)
        assert wrong_json(document, schema_of("comparison")) == []
        assert (document["benchmark"], document["before"], document["after"]) == ("link", str(words[0]), str(words[1]))
        assert document["baselines"] == [document["before"]]
        assert document["runs"]["numbers"] == []
        assert document["worse"] == (status == 1) == any(size["worse"] for size in document["sizes"])
        return list(document["sizes"])

    return compare


def names(size: dict[str, Any], change: str) -> list[str]:
    return [place["name"] for place in size[change]]


def test_the_same_machine_again(made: Made, leadline: Leadline, compared: Any) -> None:
    before, after = made("a.h5"), made("b.h5", seed=2)
    (size,) = compared(before, after)
    assert (size["slower"], size["faster"]) == ([], [])
    assert size["notes"] == ["network, as the last run was told: fat-tree:4x4 (4 leaf switches)", ONE_BASELINE]
    assert (size["message_size_bytes"], size["threshold"], size["false_discovery_rate"]) == (1024, 0.1, 0.01)
    assert size["num_pairs"] == sum(one["num_pairs"] for one in size["classes"]) == 64 * 63
    for one in size["classes"]:
        low, high = one["ratio_interval"]
        assert low <= one["ratio"] <= high
        assert one["change"] == "none"
    done = leadline("compare", before, after)
    assert (done.status, done.err) == (0, "")
    assert "verdict: not worse: 0 classes and 0 components slower, 0 classes and 0 components faster\n" in done.out


def test_a_host_that_became_slower(made: Made, leadline: Leadline, compared: Any) -> None:
    before, after = made("a.h5"), made("b.h5", SLOW_HOST, seed=2)
    (size,) = compared(before, after, status=1)
    (host,) = size["slower"]
    assert (host["kind"], host["component"]["first"], size["faster"]) == ("host", 5, [])
    assert host["ratio"] == pytest.approx(1.3, rel=0.03)
    assert {one["change"] for one in size["classes"]} == {"none"}
    done = leadline("compare", before, after, "--strict")
    assert done.status == 1
    assert done.complaint == f"leadline: '{after}' is worse than the baseline '{before}'"
    assert "verdict: worse: 0 classes and 1 component slower" in done.out
    assert f"{host['name']} is slower beyond the change of its class: {host['ratio']:.3g} times" in done.out

    without = leadline("compare", before, after)
    assert (without.status, without.err, without.out) == (0, "", done.out)
    brief = leadline("compare", before, after, "--strict", "--quiet")
    lines = done.out.splitlines()
    assert (brief.status, brief.out.splitlines()) == (1, [line for line in lines if not line.startswith("note: ")])

    (back,) = compared(after, before)
    assert names(back, "faster") == [host["name"]]
    assert back["slower"] == []
    assert leadline("compare", after, before, "--strict").status == 0


def test_a_network_by_name_tells_an_uplink(made: Made, compared: Any) -> None:
    wide = ["--topology", "fat-tree:4x8", "--ranks-per-host", "4"]
    before, after = made("a.h5", words=wide), made("b.h5", SLOW_UPLINK, seed=2, words=wide)
    (size,) = compared(before, after, "--topology", "fat-tree:4x8", status=1)
    (uplink,) = size["slower"]
    assert (uplink["kind"], uplink["component"]["hosts"]) == ("uplink", [4, 5, 6, 7])
    assert len(size["classes"]) == 3


def test_the_network_of_the_later_run(made: Made, compared: Any) -> None:
    """It stands in the result. Hosts that were not there before are left out of it."""
    before = made("a.h5", words=["--topology", "fat-tree:4x7", "--ranks-per-host", "4"])
    after = made("b.h5", SLOW_UPLINK, seed=2, words=["--topology", "fat-tree:4x8", "--ranks-per-host", "4"])
    (size,) = compared(before, after, status=1)
    (uplink,) = size["slower"]
    assert (uplink["kind"], uplink["component"]["hosts"]) == ("uplink", [4, 5, 6, 7])
    assert "network, as the last run was told: fat-tree:4x8 (8 leaf switches)" in size["notes"]
    (unknown,) = compared(before, after, "--topology", "none", status=1)
    assert not any("network, as" in note for note in unknown["notes"])


def test_a_threshold(made: Made, compared: Any) -> None:
    before, after = made("a.h5"), made("b.h5", SLOW_HOST, seed=2)
    (size,) = compared(before, after, "--threshold", "50%")
    assert (size["threshold"], size["slower"]) == (0.5, [])


def test_sizes(link: Leadline, leadline: Leadline, compared: Any, tmp_path: Path) -> None:
    """Of a fabric whose bandwidth fell, the large messages became slower, and the small ones not."""
    fast, slow = ({"latency_ns": 20_000, "bandwidth_bytes_per_s": speed} for speed in (1e9, 2.5e8))
    words = ("--local", "6", "--messages", "3")
    sound = fabric_file(tmp_path, between_hosts=fast, jitter=0.02)
    link("--transport", sound, *words, "--message-size", "8,64KiB,1MiB", "--output", "a.h5")
    worse = fabric_file(tmp_path, between_hosts=slow, jitter=0.02)
    link("--transport", worse, *words, "--message-size", "8,1MiB", "--output", "b.h5")
    small, large = compared("a.h5", "b.h5", status=1)
    assert (large["message_size_bytes"], small["message_size_bytes"]) == (1 << 20, 8)
    assert large["worse"]
    (between,) = [one for one in large["classes"] if one["name"] == "between hosts"]
    assert between["change"] == "slower"
    assert between["ratio"] == pytest.approx((20 + 4 * 1048.576) / (20 + 1048.576), rel=0.1)
    (only,) = compared("a.h5", "b.h5", "--message-size", "1MiB", status=1)
    assert only["message_size_bytes"] == 1 << 20
    done = leadline("compare", "a.h5", "b.h5", "--message-size", "64KiB")
    assert (done.status, done.out) == (2, "")
    assert "64 KiB" in done.complaint


def test_parts_of_a_machine(made: Made, compared: Any) -> None:
    before = made("a.h5", words=["--topology", "fat-tree:4x4", "--ranks-per-host", "2"])
    after = made("b.h5", SLOW_HOST, seed=2, words=["--topology", "fat-tree:4x3", "--ranks-per-host", "4"])
    (size,) = compared(before, after, status=1)
    assert size["num_pairs"] == 24 * 23
    assert any("only in" in note for note in size["notes"])
    assert "24 ranks are compared, of 32 and 48" in size["notes"]
    assert any("2 ranks a host" in note and "classes of pairs are not compared" in note for note in size["notes"])
    assert size["classes"] == []
    (host,) = size["slower"]
    assert (host["kind"], host["component"]["first"]) == ("host", 5)
    assert {pair[end] // 4 for pair in host["pairs"] for end in ("from", "to")} >= {5}
    assert all(5 in (pair["from"] // 4, pair["to"] // 4) for pair in host["pairs"]), (
        "ranks as the later result has them"
    )


def test_sion_is_as_good(made: Made, leadline: Leadline, compared: Any) -> None:
    before, after = made("a.h5"), made("b.h5", SLOW_HOST, seed=2)
    assert leadline("convert", after, "--output", "b.sion").status == 0
    (of_sion,), (of_hdf5,) = compared(before, "b.sion", status=1), compared(before, after, status=1)
    assert names(of_sion, "slower") == names(of_hdf5, "slower")
    assert of_sion["classes"] == of_hdf5["classes"]


def refused(leadline: Leadline, *words: str | Path, status: int = 2) -> str:
    done = leadline("compare", *words)
    assert (done.status, done.out) == (status, "")
    return done.complaint


def test_what_has_nothing_in_common_is_refused(link: Leadline, made: Made, leadline: Leadline, tmp_path: Path) -> None:
    before = made("a.h5")
    larger = made("b.h5", words=[*TREE, "--message-size", "1MiB"])
    assert "no message size in common: 1 KiB, and 1 MiB" in refused(leadline, before, larger)
    fewer = fabric_file(tmp_path, host_name="node")
    link("--transport", fewer, "--local", "4", "--direction", "unidirectional", "--output", "c.h5")
    assert "no host has the same name in both" in refused(leadline, before, "c.h5")
    link("--transport", fewer, "--local", "4", "--direction", "bidirectional", "--output", "d.h5")
    assert "unidirectional in one and bidirectional in the other" in refused(leadline, "c.h5", "d.h5")


def test_bad_words_are_refused(made: Made, leadline: Leadline, tmp_path: Path) -> None:
    before = made("a.h5")
    assert "nothing.h5" in refused(leadline, before, "nothing.h5")
    assert "RESULT" in refused(leadline, before)
    assert "--threshold" in refused(leadline, before, before, "--threshold", "-1")
    assert "topology" in refused(leadline, before, before, "--topology", "a cat")
    (tmp_path / "text.h5").write_text("no result", encoding="utf-8")
    assert "text.h5" in refused(leadline, "text.h5", before)
    assert "text.h5" in refused(leadline, before, "text.h5")


def test_another_benchmark_is_refused(made: Made, leadline: Leadline) -> None:
    before = made("a.h5")
    done = leadline("topology", "--transport", "tcp", "--local", "2", *FEW, "--output", "t.h5")
    assert done.status == 0, done.err
    for words in ((before, "t.h5"), ("t.h5", before), (before, before, "t.h5")):
        complaint = refused(leadline, *words)
        assert "t.h5" in complaint
        assert "leadline topology" in complaint and "leadline link" in complaint


def test_a_damaged_file_is_named(made: Made, leadline: Leadline) -> None:
    before, after = made("a.h5"), made("b.h5")
    whole = after.read_bytes()
    after.write_bytes(whole[: len(whole) // 2])
    assert "b.h5" in refused(leadline, before, after, status=4)
    assert "b.h5" in refused(leadline, after, before, status=4)


def test_several_baselines_are_the_yardstick(made: Made, leadline: Leadline) -> None:
    baselines = [made(f"{seed}.h5", seed=seed) for seed in (1, 2, 3)]
    same, worse = made("same.h5", seed=4), made("worse.h5", SLOW_HOST, seed=5)
    done = leadline("compare", *baselines, same, "--strict", "--json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    assert document["baselines"] == [str(path) for path in baselines]
    (size,) = document["sizes"]
    assert (size["slower"], size["faster"]) == ([], [])
    assert ONE_BASELINE not in size["notes"]
    done = leadline("compare", *baselines, worse, "--strict")
    assert done.status == 1
    assert done.complaint == f"leadline: '{worse}' is worse than its 3 baselines"
    assert "host host5 is slower beyond the change of its class: 1." in done.out
    scattered = leadline("compare", made("s.h5", SLOW_HOST, seed=6), *baselines[1:], worse, "--strict")
    assert scattered.status == 0, scattered.out
    assert "no more different than baselines from each other: host host5 (" in scattered.out


def test_placement_is_no_change(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    """Ranks of a host share it: with fewer of them all pairs are faster, and nothing has changed."""
    for ranks in (2, 4):
        fabric = fabric_file(tmp_path, ranks_per_host=ranks, between_hosts={"latency_ns": 1000.0 * ranks,
                                                                            "bandwidth_bytes_per_s": 1e9})  # fmt: skip
        link("--transport", fabric, "--local", str(4 * ranks), "--output", f"{ranks}.h5")
    for words in (("4.h5", "2.h5"), ("2.h5", "4.h5")):
        done = leadline("compare", *words, "--strict")
        assert done.status == 0, done.out
        assert "classes of pairs are not compared" in done.out


NUMBERS = {
    "topology": (["--pattern", "ring", "--message-size", "64KiB", "--iterations", "5"], {"exchange, ring"}),
    "bisection": (["--rounds", "4", "--message-size", "64KiB", "--pattern", "random,halves", "--exchanges", "5"],
                  {"eBB", "pairs alone", "halves"}),
}  # fmt: skip


@pytest.mark.parametrize("benchmark", NUMBERS)
def test_other_benchmarks(leadline: Leadline, tmp_path: Path, benchmark: str) -> None:
    """Four hosts of a fabric without contention, of which one becomes slow; then all do."""
    words, names_of_numbers = NUMBERS[benchmark]

    def made(name: str, seed: int, speed: float = 1e9, faults: Sequence[dict[str, Any]] = ()) -> str:
        fabric = fabric_file(tmp_path, ranks_per_host=2, jitter=0.02, seed=seed, faults=list(faults),
                             between_hosts={"latency_ns": 2000, "bandwidth_bytes_per_s": speed},
                             same_host={"latency_ns": 2000, "bandwidth_bytes_per_s": speed})  # fmt: skip
        done = leadline(benchmark, "--transport", fabric, "--local", "8", *words, "--output", name)
        assert done.status == 0, done.err
        return name

    def compared(*words: str, status: int) -> list[dict[str, Any]]:
        done = leadline("compare", *words, "--strict", "--json")
        assert done.status == status, done.err
        document = json.loads(done.out)
        assert wrong_json(document, schema_of("comparison")) == []
        assert (document["benchmark"], document["sizes"], document["worse"]) == (benchmark, [], status == 1)
        return list(document["runs"]["numbers"])

    baselines = [made(f"{seed}.h5", seed) for seed in (1, 2, 3)]
    same = compared(*baselines, made("same.h5", 4), status=0)
    assert {one["name"] for one in same if one["part"] is None} == names_of_numbers
    assert {one["part"] for one in same} == {None, *(f"host{host}" for host in range(4))}
    assert {one["change"] for one in same} == {"none"}
    assert {one["num_runs"] for one in same} == {3}

    slow_host = made("host.h5", 5, faults=[{"slow_host": 2, "factor": 4}])
    found = compared(*baselines, slow_host, status=1)
    assert [one["part"] for one in found if one["part"] and one["change"] == "slower"].count("host2") == 1

    all_slow = compared(*baselines, made("slow.h5", 6, speed=2.5e8), status=1)
    assert {one["change"] for one in all_slow if one["part"] is None} == {"slower"}
    assert {one["change"] for one in all_slow if one["part"]} == {"none"}, "what all have in common is no host's"
    text = leadline("compare", *baselines, "slow.h5").out
    assert "verdict: worse: " in text
    assert {one["change"] for one in compared("slow.h5", baselines[0], status=0) if one["part"] is None} == {"faster"}

    assert "--topology is for" in refused(leadline, *baselines, "--topology", "fat-tree:2x2")
    assert "no message size 8 B" in refused(leadline, *baselines, "--message-size", "8")


def test_rates_of_files(leadline: Leadline, tmp_path: Path) -> None:
    target = ["--target", str(tmp_path / "file.%r"), "--objects", "2", "--local", "2", "--delete"]
    for name, size in (("a.h5", "64KiB"), ("b.h5", "64KiB"), ("c.h5", "128KiB")):
        done = leadline("io", *target, "--object-size", size, "--output", name)
        assert done.status == 0, done.err
    done = leadline("compare", "a.h5", "b.h5", "--json")
    assert done.status == 0, done.err
    numbers = json.loads(done.out)["runs"]["numbers"]
    assert [(one["name"], one["unit"], one["part"]) for one in numbers] == [("write", "bytes/s", None),
                                                                           ("read", "bytes/s", None)]  # fmt: skip
    for one in numbers:
        assert one["ratio"] == pytest.approx(one["after"] / one["before"])
    assert "object_size: '65536' in one and '131072' in the other" in refused(leadline, "a.h5", "c.h5")


def test_json_into_a_file(made: Made, leadline: Leadline, tmp_path: Path) -> None:
    before, after = made("a.h5"), made("b.h5", seed=2)
    for words in (["compare", before, after], ["diagnose", before], ["info", before], ["transports"]):
        on_stdout = leadline(*words, "--json")
        assert (on_stdout.status, on_stdout.err) == (0, "")
        path = tmp_path / "document.json"
        into_file = leadline(*words, "--json", path)
        assert (into_file.status, into_file.out, into_file.err) == (0, f"{path}\n", "")
        assert json.loads(path.read_text(encoding="utf-8")) == json.loads(on_stdout.out)
        again = leadline(*words, "--json", path)
        assert (again.status, again.out) == (2, "")
        assert "--overwrite" in again.complaint
        assert leadline(*words, "--json", path, "--overwrite").status == 0
        path.unlink()
        assert leadline(*words, "--overwrite").status == 2


def test_text_into_a_file(made: Made, leadline: Leadline, tmp_path: Path) -> None:
    before, after = made("a.h5"), made("b.h5", seed=2)
    path = tmp_path / "said.txt"
    for words in (["compare", before, after], ["diagnose", before], ["info", before], ["transports"]):
        for name in ("-o", "--output"):
            into_file = leadline(*words, name, path, "--overwrite")
            assert (into_file.status, into_file.out, into_file.err) == (0, f"{path}\n", "")
            assert path.read_text(encoding="utf-8") == leadline(*words).out
        again = leadline(*words, "-o", path)
        assert (again.status, again.out) == (2, "")
        assert "--overwrite" in again.complaint
        both = leadline(*words, "-o", tmp_path / "other.txt", "--json")
        assert both.status == 2
        assert "--json" in both.complaint and "--output" in both.complaint
    assert not (tmp_path / "other.txt").exists()


def test_help_says_what_it_is(leadline: Leadline) -> None:
    assert "compare" in leadline("--help").out
    done = leadline("compare", "--help")
    assert done.status == 0
    for word in ("BASELINE", "RESULT", "--topology", "--threshold", "--false-discovery-rate", "--message-size",
                 "--strict", "--quiet", "--json"):  # fmt: skip
        assert word in done.out

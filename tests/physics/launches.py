# SPDX-License-Identifier: Apache-2.0
"""Several launches on one cluster: good ones, from which a site profile is learnt, and later ones, sound or slower."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import baselines
import families
import h5py
import numpy as np
import numpy.typing as npt
from cluster import Layout
from families import KIB, MIB, Case
from faults import Fault, Symptom
from measuring import Plan
from networks import Network
from result_file import Files, write

NUM_GOOD = 5
MOST_OF_A_RULE = 1.25  # the reciprocal of the least share of its speed that a class may reach


def _slower(factor: float, symptom: Symptom, one_in: int = 1) -> Callable[[Network], list[Fault]]:
    return lambda network: [
        Fault("host", host, factor, symptom) for host in range(network.num_hosts) if host % one_in == 0
    ]


# What later launches find, by name: nothing, or all hosts slower, or every second one.
LATER: dict[str, Callable[[Network], list[Fault]]] = {
    "good": lambda _: [],
    "good, once more": lambda _: [],
    **{
        f"all hosts, {symptom}, x{factor}": _slower(factor, symptom)
        for symptom in ("latency", "bandwidth")
        for factor in (1.1, 1.3, 1.5, 2.0)
    },
    "every second host, latency, x1.5": _slower(1.5, "latency", 2),
    "every second host, bandwidth, x1.5": _slower(1.5, "bandwidth", 2),
}


@dataclass(frozen=True)
class Launches:
    """Of one cluster: `good` to learn from, `later` by the names of LATER."""

    good: list[Files]
    later: dict[str, Files]


def launches(seed: int, folder: Path) -> Launches:
    """A random cluster of 8 to 32 hosts, whose launches scatter by up to 4 % a host; the same for the same seed."""
    draw = np.random.default_rng((seed, sum(map(ord, "launches"))))
    ranks_per_host = families.one_of(draw, 1, 2, 4)
    sockets = 2 if ranks_per_host > 1 and draw.random() < 0.5 else 1
    plan = Plan(num_batches=families.one_of(draw, 1, 5, 20), sizes_bytes=(families.one_of(draw, 8, KIB), MIB))
    case = Case(
        families.any_network(draw, families.one_of(draw, 8, 16, 32)),
        Layout(ranks_per_host, sockets, seed=seed),
        noise=replace(families.any_noise(draw), launch_scatter=float(draw.uniform(0, 0.04))),
        topology=families.given(draw, "", "slurm"),
    )
    faults = [*[LATER["good"]] * NUM_GOOD, *LATER.values()]
    files = []
    for number, planted in enumerate(faults):
        case.faults = planted(case.network)
        case.plan = replace(plan, seed=100 * seed + number)
        files.append(write(case.measured(), folder / str(number), case.topology))
    return Launches(files[:NUM_GOOD], dict(zip(LATER, files[NUM_GOOD:], strict=True)))


def is_slower_by_rule(good: list[Files], later: Files) -> bool:
    """The plain rule: the median over all pairs of a size is above 1.25 times the median of the good launches."""
    ratios = _medians_of_all(later) / np.median([_medians_of_all(files) for files in good], axis=0)
    return bool((ratios > MOST_OF_A_RULE).any())


def _medians_of_all(files: Files) -> npt.NDArray[np.float64]:
    with h5py.File(files.result) as file:
        matrices = [baselines.medians_of(file, index) for index in range(len(file["message_size_bytes"]))]
    return np.array([np.median(matrix[matrix > 0]) for matrix in matrices])


@dataclass(frozen=True)
class ByProfile:
    """What `leadline diagnose --profile --strict` says of a launch."""

    slower_classes: tuple[str, ...]
    accused: tuple[str, ...]  # kinds of single elements
    is_alarm: bool


def learnt(program: Path, good: list[Files], folder: Path) -> Path:
    """The site profile of these launches, which know the same of the network."""
    profile = folder / "site.json"
    _run(
        [program, "profile", *(files.result for files in good), "--output", profile, *_network(good[0])], statuses=(0,)
    )
    return profile


def judged_by_profile(program: Path, files: Files, profile: Path) -> ByProfile:
    words = [program, "diagnose", files.result, "--profile", profile, "--strict", "--json", *_network(files)]
    done = _run(words, statuses=(0, 1))
    diagnoses = [one["diagnosis"] for one in json.loads(done.stdout)["slices"]]
    classes = [one for diagnosis in diagnoses for one in diagnosis["profile"]]
    if not classes:
        raise RuntimeError(f"nothing of {files.result} is comparable with {profile}")
    return ByProfile(
        tuple(one["name"] for one in classes if one["change"] == "slower"),
        tuple(fault["kind"] for one in diagnoses for fault in one["faults"] if fault["list"] == "persistent"),
        done.returncode == 1,
    )


def _network(files: Files) -> list[str | Path]:
    return ["--topology", files.topology] if files.topology else []


def _run(words: list[str | Path], statuses: tuple[int, ...]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode not in statuses:
        raise RuntimeError(f"status {done.returncode}: {done.stderr}")
    return done

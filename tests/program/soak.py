# SPDX-License-Identifier: Apache-2.0
"""Long runs of many local ranks, in which memory, descriptors and threads of each rank must stop growing.

usage: python tests/program/soak.py [--duration SECONDS] [--ranks N] [--link-ranks N] [--every SECONDS]
                                    [--max-growth KIB] [--samples FILE]

A topology test loads the network for --duration while a link test measures round after round. The processes are sampled
--every so many seconds. The second half of the samples may hold no more descriptors or threads than the first half did,
and no more than --max-growth more memory. LEADLINE_PROGRAM picks another program.
Status: 0 nothing grew, 1 something grew or a run failed.
"""

from __future__ import annotations

import argparse
import csv
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program

# Idle ranks of a busy machine may not run for minutes.
TIMEOUT = "600s"
SHARED = ["--wait", "yield", "--timeout", TIMEOUT, "--quiet", "--output", "r.h5"]


@dataclass(frozen=True)
class Sample:
    """What one process holds at one moment."""

    time_s: float
    memory_kib: int
    descriptors: int
    threads: int


def sample_of(pid: int, time_s: float) -> Sample | None:
    """Nothing where the process has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        descriptors = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = dict(line.split(":", 1) for line in status.splitlines())
    if "VmRSS" not in fields:  # a zombie
        return None
    return Sample(time_s, int(fields["VmRSS"].split()[0]), descriptors, int(fields["Threads"]))


def slope(times: Sequence[float], values: Sequence[float]) -> float:
    """Least squares, in units of the values per hour."""
    mean_time, mean_value = sum(times) / len(times), sum(values) / len(values)
    spread = sum((time_s - mean_time) ** 2 for time_s in times)
    products = sum((t - mean_time) * (v - mean_value) for t, v in zip(times, values, strict=True))
    return 3600 * products / spread if spread else 0.0


def growth(samples: Sequence[Sample], quantity: str) -> int:
    """By how much the most of the second half exceeds the most of the first half."""
    values = [getattr(sample, quantity) for sample in samples]
    half = len(values) // 2
    return int(max(values[half:]) - max(values[:half]))


def what_grew(samples: Sequence[Sample], max_growth_kib: int) -> list[str]:
    """Sentences about one process; none where all is well."""
    if len(samples) < 4:
        return [f"only {len(samples)} samples"]
    limits = {"memory_kib": max_growth_kib, "descriptors": 0, "threads": 0}
    grown = {quantity: growth(samples, quantity) for quantity in limits}
    return [f"{quantity} grew by {by}" for quantity, by in grown.items() if by > limits[quantity]]


def watched(runs: dict[str, program.Run], duration_s: float, every_s: float) -> dict[str, dict[int, list[Sample]]]:
    """Samples by run and process, until the duration is over or a run has ended."""
    begin = time.monotonic()
    samples: dict[str, dict[int, list[Sample]]] = {name: {} for name in runs}
    while (time_s := time.monotonic() - begin) < duration_s:
        for name, run in runs.items():
            for pid in run.processes():
                if sample := sample_of(pid, time_s):
                    samples[name].setdefault(pid, []).append(sample)
        if not all(run.processes() for run in runs.values()):
            break
        time.sleep(min(every_s, max(0.0, duration_s - (time.monotonic() - begin))))
    return samples


def summary(name: str, processes: dict[int, list[Sample]]) -> list[str]:
    """First, last and slope of each quantity over all processes of a run."""
    lines = [f"{name}: {len(processes)} processes, {min(map(len, processes.values()))} samples each or more"]
    for quantity in ("memory_kib", "descriptors", "threads"):
        first = sum(getattr(samples[0], quantity) for samples in processes.values())
        last = sum(getattr(samples[-1], quantity) for samples in processes.values())
        late = [samples[len(samples) // 2 :] for samples in processes.values()]
        slopes = [slope([s.time_s for s in part], [getattr(s, quantity) for s in part]) for part in late]
        lines.append(
            f"  {quantity:<12} first {first}, last {last} (sum over processes); slope of the second half per process "
            f"and hour: {min(slopes):+.1f} to {max(slopes):+.1f}"
        )
    return lines


def written(path: Path, samples: dict[str, dict[int, list[Sample]]]) -> None:
    """All samples as CSV."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["run", "pid", "time_s", "memory_kib", "descriptors", "threads"])
        for name, processes in samples.items():
            for pid, of_process in processes.items():
                for s in of_process:
                    rows.writerow([name, pid, f"{s.time_s:.1f}", s.memory_kib, s.descriptors, s.threads])


def soak(chosen: argparse.Namespace, folder: Path) -> list[str]:
    """Runs both tests; what is wrong, nothing where all is well."""
    for name in ("topology", "link"):
        (folder / name).mkdir()
    patience_s = chosen.duration + 900
    # The topology test is still under way when the last sample is taken.
    load = ["topology", "--local", str(chosen.ranks), "--pattern", "complete2", "--message-size", "1KiB,16KiB",
            "--duration", f"{chosen.duration + 5}s", *SHARED]  # fmt: skip
    rounds = ["link", "--local", str(chosen.link_ranks), "--rounds", "1000000", "--messages", "100", *SHARED]
    with (
        program.Run([program.PROGRAM, *load], folder / "topology", timeout=patience_s) as loading,
        program.Run([program.PROGRAM, *rounds], folder / "link", timeout=patience_s) as measuring,
    ):
        samples = watched({"topology": loading, "link": measuring}, chosen.duration, chosen.every)
        measuring.send(signal.SIGTERM)
        ends = {"link": measuring.finish(), "topology": loading.finish()}
    if chosen.samples:
        written(chosen.samples, samples)
    wrong = []
    for name, should_be in (("topology", 0), ("link", 4)):
        if ends[name].status != should_be:
            wrong.append(f"{name}: status {ends[name].status}: {ends[name].err}")
        print("\n".join(summary(name, samples[name])), flush=True)
        for pid, of_process in samples[name].items():
            wrong += [f"{name}: process {pid}: {sentence}" for sentence in what_grew(of_process, chosen.max_growth)]
    return wrong


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--duration", type=float, default=1800)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--link-ranks", type=int, default=8)
    parser.add_argument("--every", type=float, default=10)
    parser.add_argument("--max-growth", type=int, default=256)
    parser.add_argument("--samples", type=Path)
    return parser.parse_args(words)


def main() -> int:
    """The program."""
    chosen = arguments()
    with tempfile.TemporaryDirectory() as folder:
        wrong = soak(chosen, Path(folder))
    print("\n".join(wrong) or "nothing grew")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

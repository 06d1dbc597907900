#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the documents anew: results of simulated machines, their reports, and a browser.

It needs what the tests of the reports need: the built programs, the Python of .venv with the extra `test`, chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "analysis"), str(ROOT / "tests" / "support")]

import browser  # noqa: E402
import tutorial  # noqa: E402
from made_up import nodes  # noqa: E402
from made_up_bisection import MadeUpBisection, write_bisection  # noqa: E402
from made_up_congestion import MadeUpCongestion, write_congestion  # noqa: E402

PROGRAMS = ROOT / "build" / "release" / "bin"
SIMULATED = ROOT / "examples" / "simulated"
NUM_COLOURS = 256  # of a picture, so that it stays small


@dataclass(frozen=True)
class Figure:
    """A picture of a page: its first screen, or all of it down to a section."""

    name: str
    page: Callable[[Path], Path]  # makes the page in an empty folder
    last: str = ""  # id of the last section in the picture
    hidden: tuple[str, ...] = ()  # selectors of what is left out
    has_script: bool = True  # which tells when all is drawn


def main() -> int:
    """Status 1 where a program fails."""
    names = [figure.name for figure in FIGURES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PICTURE", help="only these; default: all: " + " ".join(names))
    chosen = parser.parse_args().names
    if unknown := set(chosen) - set(names):
        parser.error(f"no such picture: {', '.join(sorted(unknown))} (there are: {' '.join(names)})")
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = started.chromium.launch(executable_path=browser.CHROMIUM, args=[*sandbox, "--disable-gpu"])
        for figure in FIGURES:
            if chosen and figure.name not in chosen:
                continue
            own = Path(folder) / Path(figure.name).stem
            own.mkdir()
            picture = photograph(opened, figure.page(own), figure)
            goal = ROOT / "docs" / figure.name
            goal.write_bytes(picture)
            print(f"docs/{figure.name}: {len(picture) // 1024} KiB")
        opened.close()
    return 0


def photograph(opened: Any, page: Path, figure: Figure) -> bytes:
    """A small PNG."""
    size = {"width": browser.WIDTH, "height": browser.HEIGHT}
    tab = opened.new_page(viewport=size, bypass_csp=True)  # a page's own policy lets nobody wait in it
    tab.goto(page.as_uri())
    if figure.has_script:
        tab.wait_for_function("document.documentElement.dataset.drawn")
    for selector in figure.hidden:
        tab.locator(selector).evaluate("(one) => { one.hidden = true; }")
    height = browser.HEIGHT
    if figure.last:
        box = tab.locator(f"#{figure.last}").bounding_box()
        height = int(box["y"] + box["height"])
    clip = {"x": 0, "y": 0, "width": browser.WIDTH, "height": height}
    taken = Image.open(BytesIO(tab.screenshot(full_page=True, clip=clip))).convert("RGB")
    tab.close()
    small = BytesIO()
    taken.quantize(NUM_COLOURS, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


def run(folder: Path, *words: str | Path) -> None:
    """A command of Leadline."""
    environment = dict(os.environ, PATH=f"{PROGRAMS}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    done = subprocess.run(
        ["leadline", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    if done.returncode:
        sys.exit(f"make_figures: leadline {' '.join(map(str, words))}: {done.stderr}")


def report_of(result: Path, *options: str | Path) -> Path:
    """The page about a result."""
    run(result.parent, "report", result.name, "--output", "page.html", *options)
    return result.parent / "page.html"


def one_cable(folder: Path) -> Path:
    """The cluster that ./quickstart simulates."""
    faults = SIMULATED / "one-direction-of-a-cable.json"
    run(folder, "simulate", "link", "--topology", "fat-tree:8x6", "--ranks-per-host", "4", "--message-size", "64KiB",
        "--faults", faults, "--output", "run.h5")  # fmt: skip
    return report_of(folder / "run.h5", "--topology", "fat-tree:8x6")


def five_faults(folder: Path) -> Path:
    """The cluster of examples/made-up-result."""
    run(folder, "simulate", "link", "--topology", "fat-tree:8x4", "--ranks-per-host", "4", "--sockets-per-host", "2",
        "--faults", SIMULATED / "worn-out-cluster.json", "--output", "run.h5")  # fmt: skip
    return report_of(folder / "run.h5")


def new_cluster(folder: Path) -> Path:
    """The first result of the tutorial."""
    for step in tutorial.steps("new-cluster"):
        if isinstance(step, tutorial.SavedFile):
            (folder / step.name).write_text(step.text, encoding="utf-8")
        elif "simulate" in step.text:
            run(folder, *step.text.split()[1:])
    return report_of(folder / "november.h5")


def ring_with_a_slow_host(folder: Path) -> Path:
    """12 hosts with 4 ranks each, whose sixth takes three times as long."""
    fabric = json.loads((ROOT / "examples" / "fabrics" / "slow-host.json").read_text(encoding="utf-8"))
    fabric |= {"ranks_per_host": 4, "faults": [{"slow_host": 5, "factor": 3}]}
    (folder / "fabric.json").write_text(json.dumps(fabric), encoding="utf-8")
    run(folder, "topology", "--local", "48", "--transport", "model:fabric.json", "--message-size", "64B-4MiB*4",
        "--iterations", "10", "--wait", "block", "--output", "run.h5")  # fmt: skip
    return report_of(folder / "run.h5")


def fat_tree_with_a_slow_host(folder: Path) -> Path:
    """64 hosts on 8 switches, of which one is slow; and what the simulation says of the same patterns."""
    made = MadeUpBisection(nodes(64, 1), num_random=[214], rounds=400, slow_hosts={"node37": 2.5})
    result = write_bisection(folder / "run.h5", made)
    run(folder, "simulate", "bisection", "--topology", "fat-tree:8x8", "--measured", result, "--output",
        "simulated.json")  # fmt: skip
    return report_of(result, "--simulated", folder / "simulated.json")


class FullAtLast(MadeUpCongestion):
    """A network that has room for half of the load, and not for all of it."""

    def factor(self, cell: int, statistic: str) -> float:
        """Grows with the eighth power of the load."""
        most = self.tail_factor if statistic in ("p99", "p999", "max") else self.median_factor
        return 1 + (most - 1) * (self.cells[cell][1] / 100) ** 8


def congested(folder: Path) -> Path:
    """32 hosts, of which a fifth measure while the others load the network."""
    cells = [(-1, 0), *((0, percent) for percent in (10, 25, 50, 75, 100))]
    made = FullAtLast(nodes(32, 1), cells=cells, num_rounds=10, num_measured=10)
    return report_of(write_congestion(folder / "incast.h5", made))


FIGURES = (
    Figure("picture.png", one_cable),
    Figure("how-to/five-faults.png", five_faults),
    Figure("how-to/topologies.png", ring_with_a_slow_host, "channels", ("#numbers", "#lists")),
    Figure(
        "how-to/bisection.png",
        fat_tree_with_a_slow_host,
        "simulated",
        ("#numbers", "#patterns > [data-size]", "#slow > [data-size]", "#hosts"),
    ),
    Figure("how-to/congestion.png", congested, "curves", has_script=False),
    Figure("tutorials/new-cluster.png", new_cluster),
)


if __name__ == "__main__":
    sys.exit(main())

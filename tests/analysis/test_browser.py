# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: it draws without an error and without a network, and its controls do what they say."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import leadline
from conftest import (
    MADE_UP,
    MadeUp,
    bisection,
    cyclic,
    hostile,
    one_per_host,
    slow_host,
    sweep,
    times_of,
    two_hosts,
    write_result,
)
from leadline.report import render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: the page was not opened in a browser"),
]

# What a test wants to know of the page after its script has run; the page's own policy lets no other script run, so
# that the tests which add one take the policy out.
PROBE = """<script>
window.probe = {};
window.addEventListener("load", () => {
  const choose = (id, value) => {
    const element = document.getElementById(id);
    element.value = value;
    element.dispatchEvent(new Event("change"));
  };
  const colours = (id) => {
    const canvas = document.querySelector("#" + id + " canvas");
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const found = new Set();
    for (let i = 0; i < data.length; i += 4) found.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
    return [...found];
  };
  const hover = (id, row, column, n) => {
    const canvas = document.querySelector("#" + id + " canvas"), box = canvas.getBoundingClientRect();
    const at = { clientX: box.left + (column + 0.5) * box.width / n, clientY: box.top + (row + 0.5) * box.height / n };
    canvas.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, ...at }));
    return document.getElementById("tooltip").textContent;
  };
  const boxes = (selector) => [...document.querySelectorAll(selector)].map((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { text: element.textContent, left, right, top, bottom };
  });
  const answer = (() => { QUESTION })();
  document.body.dataset.answer = JSON.stringify(answer);
});
</script>"""


def dom_of(page: Path, folder: Path) -> str:
    assert CHROMIUM is not None
    options = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--hide-scrollbars",
        "--window-size=1280,2000", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=5000", "--dump-dom",
    ]  # fmt: skip
    ended = subprocess.run([CHROMIUM, *options, page.as_uri()], capture_output=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout.decode()


def page_of(made: MadeUp, folder: Path) -> Path:
    result = leadline.load(write_result(folder / "run.h5", made))
    page = folder / "page.html"
    page.write_text(render(result, result.slices), encoding="utf-8")
    return page


def ask(made: MadeUp, folder: Path, question: str):
    """Opens the page and answers with what the JavaScript function body returns."""
    page = page_of(made, folder)
    source = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text(encoding="utf-8"))
    page.write_text(source.replace("</body>", PROBE.replace("QUESTION", question) + "</body>"), encoding="utf-8")
    dom = dom_of(page, folder)
    assert "data-error" not in dom
    found = re.search(r'data-answer="([^"]*)"', dom)
    assert found, "the page's script or the question failed"
    return json.loads(html.unescape(found[1]))


@pytest.mark.parametrize("name", sorted(MADE_UP))
def test_every_page_draws(name: str, tmp_path: Path):
    dom = dom_of(page_of(MADE_UP[name](), tmp_path), tmp_path)
    assert 'data-drawn="0 median"' in dom
    assert "data-error" not in dom


def test_a_failing_script_is_told(tmp_path: Path):
    page = page_of(two_hosts(), tmp_path)
    source = page.read_text(encoding="utf-8").replace('"first_statistic":"median"', '"first_statistic":"mode"')
    page.write_text(source, encoding="utf-8")
    dom = dom_of(page, tmp_path)
    assert "data-error" in dom
    assert "The script of this page failed" in dom


def test_nothing_of_the_file_is_run(tmp_path: Path):
    answer = ask(hostile(), tmp_path, "return [document.querySelectorAll('script').length, document.title];")
    assert answer == [3, "Link test: 4 ranks on 4 hosts, <u>tcp</u>, 1 KiB"]


def test_the_matrix_has_its_colours(tmp_path: Path):
    red, white = 0xE0102B, 0xFFFFFF
    colours = ask(slow_host(), tmp_path, "return colours('rank-matrix');")
    assert len(colours) > 50
    assert red in colours  # one bad link among 4,032 pairs
    assert white in colours


def test_missing_cells_have_a_colour_of_their_own(tmp_path: Path):
    made = slow_host()
    assert 0xD5D9DD not in ask(made, tmp_path, "return colours('rank-matrix');")
    made.times[0][0][7, :] = 0
    assert 0xD5D9DD in ask(made, tmp_path, "return colours('rank-matrix');")


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_is_not_in_the_test_is_told_from_what_is_missing(tmp_path: Path, is_whole: bool):
    missing, outside = 0xD5D9DD, 0xEEF1F4
    made = bisection()
    if not is_whole:  # all of host n1 to n4, and half of it to n5
        made.times[0][0][2:4, 8:11] = 0
    question = """
      const legend = (section) => [...document.querySelectorAll("#" + section + " .legend > span")]
        .filter((entry) => !entry.hidden).map((entry) => entry.textContent.trim());
      const look = (section, id, n, cells) =>
        [colours(id), legend(section), cells.map(([row, column]) => hover(id, row, column, n))];
      return [look("matrix", "rank-matrix", 16, [[0, 1], [2, 9], [5, 5]]),
        look("hosts-matrix", "host-matrix", 8, [[0, 0], [1, 4], [1, 5]])];"""
    for colours, legend, (no_pair, pair, other) in ask(made, tmp_path, question):
        assert outside in colours
        assert (missing in colours) is not is_whole
        assert "not in this test" in legend
        assert ("not measured" in legend) is not is_whole
        assert no_pair.endswith("not in this test–")
        assert pair.endswith("not measured–") is not is_whole
        assert "not a pair" in other or "µs" in other


def test_a_run_of_all_pairs_has_no_other_cells(tmp_path: Path):
    colours, hidden = ask(
        two_hosts(),
        tmp_path,
        "return [colours('rank-matrix'), [...document.querySelectorAll('span.outside')].map((entry) => entry.hidden)];",
    )
    assert 0xEEF1F4 not in colours
    assert hidden == [True, True]


def test_the_loop_of_one_rank_of_many_is_shown(tmp_path: Path):
    texts = ask(one_per_host(1), tmp_path, "return [0, 1].map((rank) => hover('rank-matrix', rank, rank, 2));")
    assert "median" in texts[0]
    assert texts[1].endswith("not in this test–")


def test_the_tooltip_tells_the_pair(tmp_path: Path):
    text = ask(two_hosts(), tmp_path, "return hover('rank-matrix', 2, 6, 8);")
    assert text.startswith("from rank 2 (node01.cluster) to rank 6 (node02.cluster)")
    for words in ("median160.0 µs", "min144.0 µs", "mean168.0 µs", "p99256.0 µs", "max320.0 µs", "batches20"):
        assert words in text
    assert "bandwidth at median6.104 MiB/s" in text
    text = ask(two_hosts(), tmp_path, "return hover('host-matrix', 0, 1, 2);")
    assert text.startswith("from node01.cluster to node02.cluster")
    assert "worst of pairs160.0 µs" in text


def test_statistic_size_and_repeat_can_be_switched(tmp_path: Path):
    question = """
      const drawn = () => document.documentElement.dataset.drawn, first = hover('rank-matrix', 0, 1, 8);
      const seen = [drawn()];
      choose('statistic', 'max'); seen.push(drawn());
      choose('size', '3'); seen.push(drawn());
      choose('repeat', '1'); seen.push(drawn());
      const shown = [...document.querySelectorAll('#distribution .part')].filter((part) => !part.hidden);
      return [seen, shown.map((part) => part.dataset.part), first === hover('rank-matrix', 0, 1, 8)];"""
    assert ask(sweep(), tmp_path, question) == [["0 median", "0 max", "3 max", "7 max"], ["7"], False]


def test_ranks_can_be_ordered_by_host(tmp_path: Path):
    question = """
      const before = hover('rank-matrix', 0, 1, 48);
      choose('order', 'host');
      return [before, hover('rank-matrix', 0, 1, 48)];"""
    before, after = ask(cyclic(), tmp_path, question)
    assert "from rank 0" in before
    assert "to rank 1 " in before
    assert "to rank 12 " in after
    assert after.count("a-machine-with-a-rather-long-name-000.cluster.example") == 2


def overlaps(boxes: list[dict]) -> list[tuple[str, str]]:
    found = []
    for index, a in enumerate(boxes):
        for b in boxes[index + 1 :]:
            wide = min(a["right"], b["right"]) - max(a["left"], b["left"])
            high = min(a["bottom"], b["bottom"]) - max(a["top"], b["top"])
            # The boxes of letters reach beyond their ink.
            if wide > 1.5 and high > 4:
                found.append((a["text"], b["text"]))
    return found


@pytest.mark.parametrize("num_hosts", [2, 16, 200])
def test_labels_do_not_overlap_and_stay_on_the_page(num_hosts: int, tmp_path: Path):
    hosts = [f"rack{index // 20:02d}-node{index:04d}.cluster" for index in range(num_hosts) for _ in range(2)]
    boxes = ask(MadeUp(hosts, [[times_of(hosts, 1)]]), tmp_path, "return boxes('svg text');")
    assert len(boxes) > 20
    assert overlaps(boxes) == []
    assert all(box["left"] >= 0 and box["right"] <= 1280 for box in boxes)


def test_the_largest_picture(tmp_path: Path):
    hosts = [f"n{rank // 8:03d}" for rank in range(512)]
    times = times_of(hosts, 1)
    times[100, 400] = 1e6
    circles, colours = ask(
        MadeUp(hosts, [[times]]), tmp_path, "return [boxes('svg circle.rare').length, colours('rank-matrix')];"
    )
    assert circles == 1
    assert len(colours) > 100
    assert 0xE0102B in colours

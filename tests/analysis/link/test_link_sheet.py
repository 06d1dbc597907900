# SPDX-License-Identifier: Apache-2.0
"""The sheet as PDF and PostScript and the picture as PNG: what is on them, and that nothing is clipped or overlaps."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import MadeUp, between_hosts, hostile, partial, sweep, times_of, two_hosts, write_result
from leadline import load
from leadline.draw import colours
from leadline.link.matrix_image import LABEL_ROOM_MM, matrix_of, short_names
from leadline.link.result import LinkResult
from leadline.link.sheet import HEIGHT_MM, WIDTH_MM, analyses_for_sheet, sheet_page, write_sheet
from leadline.report.paper import Paper, drawing, is_own_sheet, printable, shortened, width_mm, wrapped
from leadline.scan import AxisName, picture_range


def loaded(folder: Path, made: MadeUp) -> LinkResult:
    return load(write_result(folder / "run.h5", made))


def written(result: LinkResult, kind: str) -> bytes:
    stream = io.BytesIO()
    analyses = analyses_for_sheet(result, result.slices)
    write_sheet(result, analyses, stream, kind, num_not_begun=len(result.slices) - len(analyses))
    return stream.getvalue()


def text_boxes(paper: Paper) -> list[tuple[str, float, float, float, float]]:
    """Each text with left, right, bottom and top of its letters in mm."""
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    paper.figure.draw_without_rendering()
    renderer = FigureCanvasAgg(paper.figure).get_renderer()
    to_mm = 25.4 / paper.figure.dpi
    texts = list(paper.axes.texts)
    for axes in (axes for axes in paper.figure.findobj(Axes) if axes.axison):
        texts += [axes.xaxis.label, *axes.get_xticklabels(), *axes.get_yticklabels()]
    texts = [text for text in texts if text.get_visible() and text.get_text().strip()]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
    return [(text, box.x0 * to_mm, box.x1 * to_mm, box.y0 * to_mm, box.y1 * to_mm) for text, box in boxes]


def assert_well_set(paper: Paper) -> None:
    boxes = text_boxes(paper)
    assert len(boxes) > 30
    for text, left, right, bottom, top in boxes:
        assert left >= 9, text
        assert right <= WIDTH_MM - 9, text
        assert bottom >= 5, text
        assert top <= HEIGHT_MM - 5, text
    slack = 0.35  # mm; the box of a line has the room of the longest letters
    for index, (text, left, right, bottom, top) in enumerate(boxes):
        for other, left2, right2, bottom2, top2 in boxes[index + 1 :]:
            across = min(right, right2) - max(left, left2)
            up = min(top, top2) - max(bottom, bottom2)
            assert across <= slack or up <= slack, (text, other)


def test_nothing_is_clipped_or_overlaps(tmp_path: Path, any_made: MadeUp):
    result = loaded(tmp_path, any_made)
    with warnings.catch_warnings(), drawing():
        warnings.simplefilter("error")
        assert_well_set(sheet_page(result, analyses_for_sheet(result, result.slices)))


def crowded() -> MadeUp:
    """More hosts than there is room for labels, long names, words in every place that has room for them."""
    hosts = [f"rack{index // 8:03d}-chassis{index % 8}-node-{index:05d}.cluster.example" for index in range(120)]
    times = times_of(hosts, 20)
    for slow in (3, 4, 90):
        times[slow, :] *= 3
    times[50, 60] = times[2, 119] = 400_000.0
    retests = [(0, 0, 50, 60, 400_000.0, 4_000.0)] * 14
    finding = {"id": "x", "severity": "warning", "message": "many words " * 30, "evidence": "more " * 50, "advice": "y"}
    return MadeUp(hosts, [[times]], retests=retests, findings=[finding] * 12, complete=True,
                  command_line=["leadline", "link", *["--option=with-a-long-value"] * 40],
                  provenance={"simulated": np.int32(1), "transport_library": "a library " * 20})  # fmt: skip


def test_a_sheet_with_more_than_fits(tmp_path: Path):
    result = loaded(tmp_path, crowded())
    with drawing():
        paper = sheet_page(result, analyses_for_sheet(result, result.slices))
        assert_well_set(paper)
    texts = [text for text, *_ in text_boxes(paper)]
    assert "and 10 more" in texts
    assert "and 10 more" in texts
    named = [text for text in texts if text.startswith("rack") and "-0" in text]
    assert any(text.endswith("00003") for text in named), "hosts that stand out have their names first"


def test_nothing_measured(tmp_path: Path):
    hosts = ["a", "a", "b", "b"]
    result = loaded(tmp_path, MadeUp(hosts, [[np.zeros((4, 4))]], complete=False))
    with drawing():
        paper = sheet_page(result, analyses_for_sheet(result, result.slices))
        assert_well_set(paper)
    words = " ".join(text for text, *_ in text_boxes(paper))
    assert "Nothing was measured" in words
    assert "Incomplete" in words
    assert written(result, "png").startswith(b"\x89PNG")


def test_the_sheet_says_what_the_page_says(tmp_path: Path):
    result = loaded(tmp_path, partial())
    with drawing():
        page = sheet_page(result, analyses_for_sheet(result, result.slices), num_not_begun=1)
    words = " ".join(text for text, *_ in text_boxes(page))
    assert "rank 3 on node01.cluster was lost in round 5" in words
    assert "46 of 56 ordered pairs are measured" in words
    assert "1 had not begun" in words
    assert "not measured: 10 pairs" in words
    result = loaded(tmp_path, between_hosts())
    with drawing():
        page = sheet_page(result, analyses_for_sheet(result, result.slices))
    words = " ".join(text for text, *_ in text_boxes(page))
    assert "all-to-all before the rounds" in words
    assert "not in this test" in words


def test_hostile_words_stay_words(tmp_path: Path):
    made = hostile()
    made.hosts[0], made.hosts[1] = "$x_1^2$ \\frac{1", "new\nline\u202e\U000f1234"
    made.provenance["transport"] = "$\\undefined"
    result = loaded(tmp_path, made)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert written(result, "pdf").startswith(b"%PDF")
    with drawing():
        texts = [text for text, *_ in text_boxes(sheet_page(result, analyses_for_sheet(result, result.slices)))]
    assert any("$\\undefined" in text for text in texts)
    assert not any("\n" in text or "\u202e" in text for text in texts)


@pytest.fixture(scope="module")
def sweep_pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sheet")
    path = folder / "sweep.pdf"
    path.write_bytes(written(loaded(folder, sweep()), "pdf"))
    return path


@pytest.fixture(scope="module")
def sheet_ps(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(loaded(tmp_path_factory.mktemp("sheet"), two_hosts()), "ps")


def test_one_page_of_a4_with_its_fonts(sweep_pdf: Path):
    content = sweep_pdf.read_bytes()
    assert len(re.findall(rb"/Type /Page\b", content)) == 1
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", content)
    assert box
    assert [float(box[1]), float(box[2])] == pytest.approx([595.28, 841.89], abs=0.1)
    assert content.count(b"/FontDescriptor ") > 0
    assert content.count(b"/FontFile2 ") == len(set(re.findall(rb"/FontFile2 (\d+)", content)))
    assert b"/FontFile2 " in content
    assert b"/Type3" not in content
    assert b"/CreationDate (D:20260131235900" in content


@pytest.mark.skipif(not shutil.which("pdftotext"), reason="there is no pdftotext here (poppler-utils)")
def test_its_text_can_be_searched(sweep_pdf: Path):
    command = ["pdftotext", "-layout", str(sweep_pdf), "-"]
    text = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    for words in ("leadline link --local 8 --output 'a b.h5'", "node01.cluster", "tcp · sockets · lo", "8 B to 1 MiB",
                  "between hosts", "time over size", "bidirectional, 7 rounds", "docs/metrics.md"):  # fmt: skip
        assert words in text


@pytest.mark.skipif(not shutil.which("gs"), reason="there is no gs here (ghostscript)")
def test_the_postscript_is_the_same_sheet(tmp_path: Path, sheet_ps: bytes):
    sheet, image = tmp_path / "run.ps", tmp_path / "run.png"
    sheet.write_bytes(sheet_ps)
    command = ["gs", "-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-sDEVICE=png16m", "-r100", f"-sOutputFile={image}"]
    said = subprocess.run([*command, str(sheet)], capture_output=True, text=True, timeout=60, check=True)
    assert said.stdout + said.stderr == ""
    pixels = image_of(image.read_bytes())
    assert pixels.shape[:2] == pytest.approx((1169, 827), abs=2)
    for colour in (colours.ABOVE, colours.MAP[0]):
        assert (pixels == rgb(colour)).all(axis=2).sum() > 500


def test_postscript_is_small_and_tells_what_it_is(sheet_ps: bytes):
    head = sheet_ps[:4096].decode("ascii")
    assert head.startswith("%!PS-Adobe-3.0\n%%DocumentPaperSizes: a4\n%%Pages: 1\n")
    assert "%%CreationDate: 2026-01-31T23:59:00" in head
    assert is_own_sheet(head)
    assert sheet_ps.count(b"/FlateDecode filter") == 3  # the matrix, its colour bar, the hosts' matrix
    assert b"DataString" not in sheet_ps
    assert len(sheet_ps) < 500_000


def image_of(content: bytes) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


def rgb(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def test_the_picture_has_the_colours_of_the_cells(tmp_path: Path):
    content = written(loaded(tmp_path, two_hosts()), "png")
    assert b"Software\0leadline report" in content[:4096]
    pixels = image_of(content)
    assert 1200 <= pixels.shape[1] <= 1800
    left, cell = round((10 + LABEL_ROOM_MM) / 25.4 * 200), 128
    # Beside the number and the ring in the cell: only 2 -> 6 of column 6 is slow.
    column = pixels[:, left + 6 * cell + 6]
    assert (column == rgb(colours.ABOVE)).all(axis=1).sum() == cell
    assert (pixels[:, left + 5 * cell + 6] == rgb(colours.ABOVE)).all(axis=1).sum() == 0


def test_cells_of_every_kind(tmp_path: Path):
    result = loaded(tmp_path, partial())
    analysis = analyses_for_sheet(result, result.slices)[0]
    picture = analysis.pictures[AxisName.RANKS]
    pixels = matrix_of(result, analysis, picture, picture_range(picture)).pixels(20)
    assert pixels.shape == (160, 160, 3)
    assert (pixels[65, 65] == rgb(colours.DIAGONAL)).all()
    missing = {tuple(pixel) for pixel in pixels[60:80, :60].reshape(-1, 3).tolist()}
    assert missing == {tuple(rgb(colours.MISSING)), tuple(rgb(colours.HATCH))}
    for find, colour in ((np.nanargmin, colours.MAP[0]), (np.nanargmax, colours.MAP[-1])):
        row, column = np.unravel_index(find(picture.worst), picture.worst.shape)
        assert pixels[20 * row + 10, 20 * column + 10] == pytest.approx(rgb(colour), abs=3)


def test_the_same_result_gives_the_same_file(tmp_path: Path, sweep_pdf: Path, sheet_ps: bytes):
    assert written(loaded(tmp_path, sweep()), "pdf") == sweep_pdf.read_bytes()
    assert written(loaded(tmp_path, two_hosts()), "ps") == sheet_ps


def test_slices_without_values_are_left_out_and_progress_is_told(tmp_path: Path):
    result, told = loaded(tmp_path, partial()), []
    analyses = analyses_for_sheet(result, result.slices, told.append)
    assert [analysis.part for analysis in analyses] == [result.slices[0]]
    assert told == sorted(told)
    assert told[-1] == 1


@settings(max_examples=30)
@given(st.text(max_size=80), st.floats(3, 60))
def test_text_is_made_to_fit(text: str, room: float):
    with drawing():
        assert width_mm(shortened(text, room, 6.5), 6.5) <= max(room, width_mm("…", 6.5))
        lines = wrapped(text, room, 6.5, 3)
        assert 1 <= len(lines) <= 3
        assert all(width_mm(line, 6.5) <= room for line in lines if len(line) > 2)
        assert printable(printable(text)) == printable(text)


def test_short_names_only_where_they_tell_hosts_apart():
    assert short_names(("a1.x.org", "a2.x.org")) == ("a1", "a2")
    assert short_names(("a1.x.org", "a1.y.org")) == ("a1.x.org", "a1.y.org")
    assert short_names(("10.0.0.1", "10.0.0.2")) == ("10.0.0.1", "10.0.0.2")

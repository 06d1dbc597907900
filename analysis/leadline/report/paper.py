# SPDX-License-Identifier: Apache-2.0
"""A page to draw on, measured in mm from its top left corner, and its bytes as PDF, PostScript or PNG."""

from __future__ import annotations

import contextlib
import io
import logging
import re
import unicodedata
import zlib
from base64 import a85encode
from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINT_MM = 25.4 / 72
LINE_FACTOR = 1.34  # from one baseline to the next, in sizes of the type
LETTERS = 6.0  # points, of all letters in plots
GENERATOR = "leadline report"

INK, GREY, FAINT, RULE, ALARM, PALE_ALARM, PALE_NOTE = (
    "#17202a", "#5c6770", "#8b949e", "#d5d9dd", "#b00020", "#fdecee", "#eef3fb",
)  # fmt: skip
BLUE, SAND = "#31688e", "#c2570c"  # of what plots show
# Of plots: grey numbers, lines at round values, and no frame but the horizontal axis.
_PLOTS: dict[Any, Any] = {
    "font.family": "DejaVu Sans", "axes.labelsize": LETTERS, "axes.titlesize": LETTERS, "axes.labelcolor": GREY,
    "axes.edgecolor": GREY, "axes.linewidth": 0.5, "axes.spines.left": False, "axes.spines.right": False,
    "axes.spines.top": False, "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": RULE,
    "grid.linewidth": 0.5, "xtick.color": GREY, "ytick.color": GREY, "xtick.labelsize": LETTERS,
    "ytick.labelsize": LETTERS, "xtick.major.size": 2.5, "ytick.major.size": 0, "xtick.major.width": 0.5,
    "xtick.major.pad": 1.5, "lines.linewidth": 1.1, "lines.markersize": 2.5, "legend.fontsize": 6.5,
    "legend.frameon": False,
}  # fmt: skip


class Kind(str, Enum):
    """What a page can become."""

    PDF = "pdf"
    PS = "ps"
    PNG = "png"


def line_mm(size: float) -> float:
    """From one baseline to the next in type of a size in points."""
    return size * POINT_MM * LINE_FACTOR


@contextlib.contextmanager
def drawing() -> Iterator[None]:
    """Everything that draws happens inside: a user's own settings of matplotlib change nothing here, and what it has to
    say about its caches and fonts is not for our users.
    """
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        import matplotlib

        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            # Type 42 keeps letters as letters: they can be searched and copied. In PostScript type 3 does so too, and
            # for type 42 matplotlib 3.11 takes 4 s to look at every letter of the font.
            matplotlib.rcParams.update({"pdf.fonttype": 42, "ps.fonttype": 3, "path.simplify": False, **_PLOTS})
            yield
    finally:
        logger.setLevel(level)


def _font_file(bold: bool) -> Path:
    """The font that comes with matplotlib, whatever else is installed."""
    import matplotlib

    return Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")


@lru_cache(maxsize=2)
def _font(bold: bool) -> tuple[Any, frozenset[int]]:
    from matplotlib.ft2font import FT2Font

    font = FT2Font(str(_font_file(bold)))
    # So large that rounding to whole pixels is nothing.
    font.set_size(100.0, 72.0)
    return font, frozenset(font.get_charmap())


@lru_cache(maxsize=1)
def _letters() -> frozenset[int]:
    """Those that are in both weights."""
    return _font(True)[1] & _font(False)[1]


def printable(text: str) -> str:
    """Text in one line that the font has all letters of; what it has not becomes a box."""
    there = _letters()
    kept = (" " if character in "\t\n\r" else character for character in text)
    return "".join(
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs") or ord(c) not in there else c for c in kept
    )


@lru_cache(maxsize=8192)
def _width_at_100(text: str, bold: bool) -> float:
    font = _font(bold)[0]
    font.set_text(text, 0.0)
    return float(font.get_width_height()[0]) / 64


def width_mm(text: str, size: float, bold: bool = False) -> float:
    """How wide a text is in type of `size` points."""
    return _width_at_100(printable(text), bold) * size / 100 * POINT_MM


def shortened(text: str, most_mm: float, size: float, bold: bool = False) -> str:
    """The text, without its middle where it is too long: the ends of host names tell them apart."""
    text = printable(text[:2000])
    if width_mm(text, size, bold) <= most_mm:
        return text
    low, high = 0, len(text) - 1
    while low < high:
        kept = (low + high + 1) // 2
        low, high = (kept, high) if width_mm(_without_middle(text, kept), size, bold) <= most_mm else (low, kept - 1)
    return _without_middle(text, low)


def _without_middle(text: str, num_kept: int) -> str:
    head = (num_kept + 1) // 2
    return text[:head] + "…" + (text[len(text) - num_kept // 2 :] if num_kept > 1 else "")


def wrapped(text: str, most_mm: float, size: float, most_lines: int, bold: bool = False) -> list[str]:
    """The text in lines, broken between words and inside words that are longer than a line; the last one ends in … if
    not all fits.
    """
    words = printable(text[:4000]).split(" ")
    lines = [""]
    while words:
        word = words.pop(0)
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if width_mm(longer, size, bold) <= most_mm:
            lines[-1] = longer
        elif lines[-1]:
            lines.append("")
            words.insert(0, word)
        else:
            fitting = next(n for n in range(len(word), 0, -1) if n == 1 or width_mm(word[:n], size, bold) <= most_mm)
            lines[-1] = word[:fitting]
            words[:0] = [word[fitting:]] if word[fitting:] else []
        if len(lines) > most_lines:
            last = lines[most_lines - 1]
            while last and width_mm(last + " …", size, bold) > most_mm:
                last = last[:-1]
            return [*lines[: most_lines - 1], last.rstrip() + " …"]
    return lines


class Paper:
    """Draws text, lines, areas and images; use it inside drawing()."""

    def __init__(self, width_mm: float, height_mm: float, pixels_per_inch: float = 200) -> None:
        """An empty white page; the pixels are those of a PNG."""
        from matplotlib.figure import Figure

        self.width_mm, self.height_mm = width_mm, height_mm
        self.figure = Figure(figsize=(width_mm / 25.4, height_mm / 25.4), dpi=pixels_per_inch, facecolor="white")
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_xlim(0, width_mm)
        self.axes.set_ylim(height_mm, 0)
        self.axes.set_axis_off()
        self.axes.set_autoscale_on(False)

    def plot(self, x: float, y: float, width: float, height: float) -> Axes:
        """Axes in a rectangle, from its top left corner."""
        bottom = self.height_mm - y - height
        place = (x / self.width_mm, bottom / self.height_mm, width / self.width_mm, height / self.height_mm)
        return self.figure.add_axes(place, facecolor="none")

    def text(
        self, x: float, y: float, text: str, size: float = 7, *, colour: str = INK, bold: bool = False,
        align: str = "left",
    ) -> None:  # fmt: skip
        """One line with its baseline at y. `align` is left, center or right."""
        from matplotlib.font_manager import FontProperties

        self.axes.text(
            x, y, printable(text), fontproperties=FontProperties(fname=str(_font_file(bold)), size=size), color=colour,
            ha=align, va="baseline", parse_math=False, zorder=6,
        )  # fmt: skip

    def paragraph(
        self, x: float, y: float, lines: Sequence[str], size: float = 7, *, colour: str = INK, bold: bool = False
    ) -> float:
        """Lines one below the other, the first baseline at y; returns where the next one would be."""
        for line in lines:
            self.text(x, y, line, size, colour=colour, bold=bold)
            y += line_mm(size)
        return y

    def line(self, xs: Sequence[float], ys: Sequence[float], *, colour: str = RULE, width: float = 0.5) -> None:
        """A line through points, its width in points."""
        from matplotlib.lines import Line2D

        self.axes.add_line(Line2D(xs, ys, color=colour, linewidth=width, zorder=3, solid_capstyle="butt"))

    def box(
        self, x: float, y: float, width: float, height: float, *, fill: str = "none", edge: str = "none",
        line: float = 0.5, layer: float = 2,
    ) -> None:  # fmt: skip
        """An upright rectangle from its top left corner."""
        from matplotlib.patches import Rectangle

        self.axes.add_patch(
            Rectangle((x, y), width, height, facecolor=fill, edgecolor=edge, linewidth=line, zorder=layer)
        )

    def ring(self, x: float, y: float, radius: float, *, colour: str, width: float, layer: float = 5) -> None:
        """A circle's line."""
        from matplotlib.patches import Circle

        self.axes.add_patch(Circle((x, y), radius, facecolor="none", edgecolor=colour, linewidth=width, zorder=layer))

    def image(self, pixels: NDArray[np.uint8], x: float, y: float, width: float, height: float) -> None:
        """RGB [rows, columns, 3], the first row at the top, never blurred."""
        self.axes.imshow(
            pixels, extent=(x, x + width, y + height, y), aspect="auto", interpolation="none", zorder=1, origin="upper"
        )
        self.axes.set_xlim(0, self.width_mm)
        self.axes.set_ylim(self.height_mm, 0)

    def rendered(self, kind: Kind, title: str, moment: datetime | None) -> bytes:
        """The page as a file's contents, the same for the same page; `moment` is told as the time of its making."""
        title = printable(title)
        stream = io.BytesIO()
        if kind is Kind.PDF:
            about = {"Title": title, "Creator": GENERATOR, "Producer": "matplotlib", "CreationDate": moment}
            self.figure.savefig(stream, format="pdf", metadata=about)
            return stream.getvalue()
        if kind is Kind.PNG:
            self.figure.savefig(stream, format="png", metadata={"Title": title, "Software": GENERATOR})
            return stream.getvalue()
        self.figure.savefig(stream, format="ps", metadata={"Creator": GENERATOR}, papertype="a4")
        return _finished_postscript(stream.getvalue(), title, moment)


def is_own_sheet(ends: str) -> bool:
    """Whether a file whose first and last 4 KiB are these is an earlier page of ours, which a new one may replace."""
    begins = ends.startswith(("%PDF-", "%!PS-Adobe", "\ufffdPNG"))
    marks = (f"/Creator ({GENERATOR})", f"%%Creator: {GENERATOR}", f"Software\0{GENERATOR}")
    return begins and any(mark in ends for mark in marks)


def _finished_postscript(text: bytes, title: str, moment: datetime | None) -> bytes:
    """With the run's time in place of now, and images packed: in hexadecimal they are some ten times larger."""
    told = moment.isoformat() if moment else "unknown"
    plain_title = title.encode("ascii", "replace").decode("ascii").replace("%", "")
    about = f"%%Title: {plain_title}\n%%CreationDate: {told}".encode("ascii", "replace")
    text = re.sub(rb"%%CreationDate: [^\n]*", lambda _: about, text, count=1)
    image = re.compile(
        rb"/DataString \d+ string def\n(\d+) (\d+) 8 (\[[^\]]*\])\n\{\ncurrentfile DataString readhexstring pop\n\} "
        rb"bind false 3 colorimage\n([0-9a-f\n]+)\n"
    )
    return image.sub(lambda match: _packed_image(int(match[1]), int(match[2]), match[3], match[4]), text)


def _packed_image(width: int, height: int, matrix: bytes, hexadecimal: bytes) -> bytes:
    """The same pixels deflated (language level 3, of 1997), one byte each where 256 colours are enough."""
    pixels = np.frombuffer(bytes.fromhex(hexadecimal.decode("ascii")), dtype=np.uint8).reshape(height * width, 3)
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    colours, index = np.unique(packed, return_inverse=True)
    space, decode, data = "/DeviceRGB", "0 1 0 1 0 1", pixels.tobytes()
    if len(colours) <= 256:
        table = "".join(f"{colour:06x}" for colour in colours.tolist())
        space = f"[/Indexed /DeviceRGB {len(colours) - 1} <{table}>]"
        decode, data = "0 255", index.astype(np.uint8).tobytes()
    body = a85encode(zlib.compress(data, 6), wrapcol=100)
    return (
        f"{space} setcolorspace\n<< /ImageType 1 /Width {width} /Height {height} /BitsPerComponent 8 "
        f"/ImageMatrix {matrix.decode()} /Decode [{decode}] /Interpolate false\n"
        "/DataSource currentfile /ASCII85Decode filter /FlateDecode filter >> image\n"
    ).encode() + body + b"~>\n"  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""The result file as it is at one moment, and all that was made of it so far: the page, indexes, tiles."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leadline.diagnosis import diagnosed
from leadline.error import LeadlineError, from_os_error
from leadline.link.analysis import SliceAnalysis, analyse
from leadline.link.page import render
from leadline.link.reader import load_link
from leadline.link.result import LinkResult, PairClass
from leadline.link.scan import Scan, pictures, scan
from leadline.model import Progress, Slice, Statistic
from leadline.report.matrix_data import LARGEST_PICTURE
from leadline.scan import AxisName, Cell, Grid, Picture, axis_of
from leadline.text_file import utf8
from leadline.view.index import Index, coarser
from leadline.view.jobs import Job, Recent, Worker
from leadline.view.preview import preview_png
from leadline.view.tiles import Layer, Tile, edge_of_index, positions_of_axes, read_cell, read_pair, read_tile

_INDEX_BYTES = 450 * 2**20
_TILE_BYTES = 64 * 2**20
_MANY_RANKS = 4096  # a page of fewer is made in seconds
_PICTURE_BYTES_A_CELL = 24
_MOST_PICTURE_BYTES = 384 * 2**20
_MOST_EXAMPLES = 100


class NotReadyError(Exception):
    """What was asked for is being built."""

    def __init__(self, progress: float) -> None:
        """The share of it that is done, 0 to 1."""
        super().__init__("this is still being built")
        self.progress = progress


@dataclass(frozen=True)
class Version:
    """Distinguishes one state of a file from the next."""

    device: int
    inode: int
    size_bytes: int
    time_ns: int

    def is_same_file(self, other: Version) -> bool:
        """Whether the other may be a later state of this one."""
        return (self.device, self.inode) == (other.device, other.inode)


def version_of(path: Path) -> Version:
    """LeadlineError where there is no such file any more."""
    try:
        status = path.stat()
    except OSError as error:
        raise from_os_error(f"cannot read '{path}'", error) from error
    return Version(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _run(result: LinkResult) -> Hashable:
    """What distinguishes one run's result from another's."""
    return result.nonce, result.provenance.start_utc, result.num_ranks, result.slices


class State:
    """For several threads at once."""

    def __init__(
        self, version: Version, result: LinkResult, parts: tuple[Slice, ...], key: str, tell: Progress
    ) -> None:
        """Begins to make the page, about these slices. `version` is that of the file before it was loaded."""
        self.version, self.result, self._parts = version, result, parts
        self.positions = positions_of_axes(result)
        self._slices = {(part.repeat, part.size_index): part for part in parts}
        self._tell = tell
        self._lock = threading.Lock()
        self._jobs: dict[Hashable, Job] = {}
        self._indexes: Recent[Index] = Recent(_INDEX_BYTES)
        self._tiles: Recent[bytes] = Recent(_TILE_BYTES)
        self._examples: dict[Slice, dict[PairClass, list[Cell]]] = {}
        self._preview, self._preview_lock = b"", threading.Lock()
        self._worker = Worker()
        self._looked_at: Version | None = version
        self._version_lock = threading.Lock()
        self.page_was_sent = False
        if result.num_ranks >= _MANY_RANKS:
            self._worker.submit(lambda _: self.preview())  # first, so that nothing else slows it down
        self.page = self._worker.submit(lambda progress: self._made_page(key, progress))
        self._begin_with(Layer(parts[0], AxisName.RANKS, Statistic.MEDIAN))

    def stop(self, timeout_s: float = 0.0) -> None:
        """Ends what runs in the background."""
        self._worker.stop(timeout_s)

    def part(self, repeat: int, size_index: int) -> Slice | None:
        """One of the slices that are shown."""
        return self._slices.get((repeat, size_index))

    def last(self) -> tuple[int, int]:
        """The largest repeat and size_index."""
        return max(part.repeat for part in self._parts), max(part.size_index for part in self._parts)

    def edge_of_index(self, axis: AxisName) -> int:
        """The smallest edge that needs an index."""
        return edge_of_index(axis, self.positions[axis].num_positions)

    def index(self, layer: Layer) -> Index:
        """NotReadyError until it is built; asking begins that."""
        index = self._indexes.find(layer)
        if index is None:
            self._ask_for(layer, lambda progress: self._build(layer, progress), lambda: self._indexes.find(layer))
            index = self._indexes.find(layer)
        if index is None:
            raise NotReadyError(0.0)
        return index

    def tile(self, tile: Tile) -> bytes:
        """256 x 256 little-endian float32."""
        version = self.current_version()
        if tile.edge >= self.edge_of_index(tile.layer.axis):
            return self.index(tile.layer).tile(tile).astype("<f4").tobytes()
        key = (tile, version)
        found = self._tiles.find(key)
        if found is None:
            found = read_tile(self.result, self.positions[tile.layer.axis], tile).astype("<f4").tobytes()
            self._tiles.keep(key, found, len(found))
        return found

    def cell(self, layer: Layer, edge: int, row: int, column: int) -> dict[str, Any]:
        """What a cell stands for, and all of its worst pair."""
        self.current_version()
        positions = self.positions[layer.axis]
        if edge >= self.edge_of_index(layer.axis):
            pairs = self.index(layer).cell(positions, edge, row, column)
        else:
            rows, columns = (positions.span(edge, first, first + 1).ranks for first in (row, column))
            pairs = read_cell(self.result, layer, rows, columns)
        return read_pair(self.result, layer.part, pairs)

    def pairs(self, part: Slice, pair_class: PairClass, low_ns: float, high_ns: float) -> list[list[float]]:
        """Some pairs of a class whose median lies from low_ns to high_ns: [from, to, ns], slowest first."""
        if part not in self._examples:
            self._ask_for(part, lambda progress: self._find_examples(part, progress), lambda: self._examples.get(part))
        cells = self._examples[part].get(pair_class, [])
        there = [cell for cell in cells if low_ns <= cell.time_ns <= high_ns]
        return [[cell.from_rank, cell.to_rank, cell.time_ns] for cell in there[:_MOST_EXAMPLES]]

    def preview(self) -> bytes:
        """A PNG of a sample of the first slice, for the time until the page is made."""
        with self._preview_lock:
            if not self._preview:
                self._preview = preview_png(self.result, self._parts[0])
            return self._preview

    def current_version(self) -> Version:
        """That of the file now. LeadlineError where it is gone, or has another result than when it was loaded:
        reading where its rows were would give wrong numbers.
        """
        version = version_of(self.result.path)
        with self._version_lock:
            if version != self._looked_at:
                # A run that goes on changes its file all the time; one that begins anew may write into the old one.
                is_same = version.is_same_file(self.version) and _run(load_link(self.result.path)) == _run(self.result)
                self._looked_at = version if is_same else None
            if self._looked_at is None:
                raise LeadlineError(f"'{self.result.path}' has another result now", hint="Load the page again")
        return version

    def _begin_with(self, layer: Layer) -> None:
        """What the page asks for first is built behind it, where it does not come with it."""

        def work(progress: Progress) -> None:
            if self._indexes.find(layer) is None:
                self._build(layer, progress)

        self._jobs[layer] = self._worker.submit(work)

    def _ask_for(self, key: Hashable, work: Callable[[Progress], Any], find: Callable[[], object]) -> None:
        """Returns when it is there; NotReadyError until then. A failure is reported once, then tried again."""
        with self._lock:
            if find() is not None:
                return
            job = self._jobs.get(key)
            if job is not None and job.is_done:
                del self._jobs[key]
                if job.error is not None:
                    raise job.error
                job = None
            if job is None:
                job = self._jobs[key] = self._worker.submit(work)
        raise NotReadyError(job.progress)

    def _made_page(self, key: str, progress: Progress) -> bytes:
        def told(share: float) -> None:
            progress(share)
            self._tell(share)

        found = diagnosed(self.result, self._parts)
        page = render(self.result, self._parts, served_key=key, progress=told, analysed=self._analysed, diagnosed=found)
        self._tell(1.0)
        return utf8(page)

    def _analysed(
        self, result: LinkResult, part: Slice, axes: Sequence[AxisName], largest_size: int, progress: Progress | None
    ) -> SliceAnalysis:
        """The page's analysis, with pictures that are indexes where it is a long way to read the file again for them:
        of the first slice, which is shown first.
        """
        edge = self.edge_of_index(AxisName.RANKS)
        size = self.positions[AxisName.RANKS].num_cells(edge)
        num_large = sum(name is not AxisName.HOSTS for name in axes)
        if part == self._parts[0] and num_large * size**2 * _PICTURE_BYTES_A_CELL <= _MOST_PICTURE_BYTES:
            largest_size = max(size, largest_size)
        analysis = analyse(result, part, axes, largest_size, progress)
        for name, picture in analysis.pictures.items():
            if picture.grid.edge == self.edge_of_index(name):
                self._keep(Layer(part, name, Statistic.MEDIAN), picture)
        self._keep_examples(analysis.scan)
        smaller = {name: coarser(picture, LARGEST_PICTURE) for name, picture in analysis.pictures.items()}
        return replace(analysis, pictures=smaller)

    def _build(self, layer: Layer, progress: Progress) -> None:
        """One pass over the file gives the hosts too: they are few."""
        names = {layer.axis, AxisName.HOSTS} if 1 < len(self.result.hosts) < self.result.num_ranks else {layer.axis}
        grids = [Grid(axis_of(self.result, name), self.edge_of_index(name)) for name in sorted(names)]
        for picture in pictures(self.result, layer.part, layer.statistic, grids, progress):
            self._keep(Layer(layer.part, picture.grid.axis.name, layer.statistic), picture)

    def _keep(self, layer: Layer, picture: Picture) -> None:
        index = Index(picture)
        self._indexes.keep(layer, index, index.num_bytes)

    def _find_examples(self, part: Slice, progress: Progress) -> None:
        self._keep_examples(scan(self.result, part, (), progress))

    def _keep_examples(self, found: Scan) -> None:
        self._examples[found.part] = {
            pair_class: sorted(
                {*found.slowest[pair_class], *found.examples[pair_class]}, key=lambda cell: -cell.time_ns
            )
            for pair_class in found.classes
        }

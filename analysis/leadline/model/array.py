# SPDX-License-Identifier: Apache-2.0
"""Numbers from all ranks to all ranks, with their name, unit and hosts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike, NDArray

from leadline.model.run import FloatArray, IntArray, no_choice
from leadline.model.table import frame_of, imported, of_lines
from leadline.units import bytes_text, counted

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False, eq=False)
class LabelledArray(NDArrayOperatorsMixin):
    """Numbers of all pairs of ranks for one message size of one repeat, with what one must know to use them. NaN = not
    measured. numpy takes it as its values: `numpy.nanmedian(array)`, `array[0, 5]` and `array / 1000` are numpy's.
    """

    name: str  # "time_ns_median", "bandwidth_bytes_per_s", "count", "arrival_time_ns"
    unit: str  # "ns", "bytes/s", "1"
    dims: tuple[str, str]  # what rows and columns are: ("from_rank", "to_rank") or ("from_host", "to_host")
    values: FloatArray  # [len(row_hosts), len(row_hosts)], row = from
    row_hosts: tuple[str, ...]  # the host of each row, and of the column with the same number
    message_size_bytes: int
    repeat: int  # 0-based

    def by_host(self, reduction: str = "median") -> LabelledArray:
        """Hosts to hosts: of the measured pairs of two hosts the `median`, `mean`, `min` or `max`. Hosts in the order
        of their lowest ranks; the diagonal has the pairs inside a host.
        """
        if reduction not in _REDUCTIONS:
            raise no_choice("reduction", reduction, _REDUCTIONS)
        hosts = tuple(dict.fromkeys(self.row_hosts))
        index = {host: position for position, host in enumerate(hosts)}
        of_row = np.array([index[host] for host in self.row_hosts])
        values = np.full((len(hosts), len(hosts)), np.nan)
        for row in range(len(hosts)):
            cells = self.values[of_row == row]
            measured = np.isfinite(cells)
            numbers, host = cells[measured], np.broadcast_to(of_row, cells.shape)[measured]
            order = np.lexsort((numbers, host))
            columns, begin, num = np.unique(host[order], return_index=True, return_counts=True)
            if num.size:
                values[row, columns] = _REDUCTIONS[reduction](numbers[order], begin, num)
        return replace(self, dims=("from_host", "to_host"), values=values, row_hosts=hosts)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The values, for numpy."""
        if copy is False and dtype is not None and np.dtype(dtype) != self.values.dtype:
            raise ValueError(f"float64 does not become {np.dtype(dtype)} without a copy")
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        """Arithmetic and comparisons, of the values."""
        values = (one.values if isinstance(one, LabelledArray) else one for one in inputs)
        return getattr(ufunc, method)(*values, **settings)

    def __getitem__(self, which: Any) -> Any:
        """Of the values, as numpy does it."""
        return self.values[which]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the values."""
        return self.values.shape

    def __repr__(self) -> str:
        """Three lines, however many ranks there are."""
        measured = self.values[np.isfinite(self.values)]
        numbers = "nothing was measured"
        if measured.size:
            low, middle, high = (f"{value:.6g}" for value in (measured.min(), np.median(measured), measured.max()))
            numbers = f"{low} to {high}, median {middle}; {measured.size:,} of {self.values.size:,} cells are measured"
        (rows, columns), hosts = self.dims, list(dict.fromkeys(self.row_hosts))
        return of_lines(
            f"{self.name} in {self.unit}, {rows} x {columns} {list(self.shape)}, "
            f"{bytes_text(self.message_size_bytes)}, repeat {self.repeat}",
            numbers,
            f"on {counted(len(hosts), 'host')}, from {hosts[0]} to {hosts[-1]}",
        )

    def to_pandas(self) -> pandas.DataFrame:
        """The measured pairs as a table, a row each: the columns of to_table(). Needs pandas."""
        return frame_of(self.to_table())

    def to_xarray(self) -> xarray.DataArray:
        """The matrix with its labels: ranks and hosts as coordinates, the rest as attributes. Needs xarray."""
        coordinates: dict[str, Any] = {}
        for end, dim in zip(("from", "to"), self.dims, strict=True):
            if dim == f"{end}_rank":
                coordinates[dim] = np.arange(len(self.row_hosts))
            coordinates[f"{end}_host"] = (dim, list(self.row_hosts))
        facts = {"units": self.unit, "message_size_bytes": self.message_size_bytes, "repeat": self.repeat}
        array: xarray.DataArray = imported("xarray").DataArray(
            self.values, coords=coordinates, dims=self.dims, name=self.name, attrs=facts
        )
        return array

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draws the matrix with a colour bar, into these axes or those of a new figure. Needs matplotlib."""
        if axes is None:
            axes = imported("matplotlib.pyplot").subplots(layout="constrained")[1]
        image = axes.imshow(self.values, interpolation="nearest", cmap="viridis")
        axes.figure.colorbar(image, ax=axes, label=f"{self.name} in {self.unit}")
        to_dim, from_dim = (dim.replace("_", " ") for dim in reversed(self.dims))
        axes.set(xlabel=to_dim, ylabel=from_dim, title=bytes_text(self.message_size_bytes))
        return axes

    def to_table(self) -> dict[str, NDArray[np.generic]]:
        """The measured pairs as columns of one length, row after row; see also to_pandas().
        Ranks and both hosts where rows are ranks, else both hosts, then the numbers under their name.
        """
        from_index, to_index = np.nonzero(np.isfinite(self.values))
        hosts = np.array(self.row_hosts)
        table: dict[str, NDArray[np.generic]] = {}
        if self.dims == ("from_rank", "to_rank"):
            table |= {"from_rank": from_index, "to_rank": to_index}
        numbers = self.values[from_index, to_index]
        return table | {"from_host": hosts[from_index], "to_host": hosts[to_index], self.name: numbers}


# Of groups of rising numbers, by where each begins and how many it has.
_REDUCTIONS: dict[str, Callable[[FloatArray, IntArray, IntArray], FloatArray]] = {
    "median": lambda numbers, begin, num: (numbers[begin + (num - 1) // 2] + numbers[begin + num // 2]) / 2,
    "mean": lambda numbers, begin, num: np.add.reduceat(numbers, begin) / num,
    "min": lambda numbers, begin, _: numbers[begin],
    "max": lambda numbers, begin, num: numbers[begin + num - 1],
}

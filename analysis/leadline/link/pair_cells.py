# SPDX-License-Identifier: Apache-2.0
"""The compact form of a pair's statistics, four bytes (engine/model/pair_cell.hpp, docs/metrics.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.link.result import WHY_NOT_MEASURED
from leadline.model import Column, FloatArray
from leadline.readers.input_file import CELLS_AT_A_TIME, ImpossibleValueError

# Of the dataset that has them.
NAME = "pair"
NUM_BYTES = 4
COLUMNS = (
    Column("count", "1", "timed batches; exact up to 31, with five bits above"),
    Column("time_ns_median", "ns", "time a message, median of the batches; with 1024 steps an octave"),
    Column("time_ns_p99", "ns", "time a message, 99th percentile of the batches; median times a ratio with 16 steps"),
)

# Whatever is not greater says why there is no time.
LARGEST_WITHOUT_TIME = 0xFFFF

_MEDIANS_NS = np.exp2(np.arange(1 << 16) / 1024 - 10)
_MEDIANS_NS[0] = np.nan
_RATIOS = np.exp2(np.arange(1 << 8) / 16)
_CODES = np.arange(1 << 8)
_COUNTS = np.where(_CODES < 32, _CODES, (_CODES % 16 + 16) << np.maximum(_CODES // 16 - 1, 0)).astype(np.float64)


def decoded(dataset: str, cells: NDArray[Any]) -> FloatArray:
    """What a matrix of the full form would have in these cells, NaN where nothing was measured; or why it was not, NaN
    where it was. ImpossibleValueError for what no measurement gives.
    """
    values = np.empty(cells.shape)
    flat, into = cells.reshape(-1), values.reshape(-1)
    for start in range(0, flat.size, CELLS_AT_A_TIME):
        into[start : start + CELLS_AT_A_TIME] = _piece(dataset, flat[start : start + CELLS_AT_A_TIME])
    return values


def _piece(dataset: str, cells: NDArray[Any]) -> FloatArray:
    batches, is_measured = cells & 0xFF, cells > LARGEST_WITHOUT_TIME
    if ((batches == 0) & is_measured).any():
        raise ImpossibleValueError
    if dataset == WHY_NOT_MEASURED:
        return np.where(is_measured, np.nan, cells)
    if dataset == "count":
        return np.where(is_measured, _COUNTS[batches], np.nan)
    medians: FloatArray = _MEDIANS_NS[cells >> 16]
    return medians if dataset == "time_ns_median" else medians * _RATIOS[(cells >> 8) & 0xFF]

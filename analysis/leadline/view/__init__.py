# SPDX-License-Identifier: Apache-2.0
"""A small local server of the report's page, with tiles of the matrices computed when they are asked for.

Every address needs ?key=SECRET, and numbers and names are looked up in the result, never in the file system. A slice is
named by its repeat and size_index, both from 0, as in the page's parts. axis: ranks, ranks-by-host, hosts. statistic:
one that the result has: median ... edge: a power of two, up to the first with which all of the matrix is one cell.
GET /            the page, as `leadline report` makes it, but with "served" in its data; a page that waits and loads
                 itself again until that is made
GET /preview     the picture of that waiting page (PNG)
GET /index       repeat, size_index, axis, statistic -> {"ready": bool, "progress": 0..1, "edge": smallest edge that
                 needs the index, "range": of the colours, as in the page's ranges, null until it is known}; begins to
                 build the index where there is none
GET /tile        repeat, size_index, axis, statistic, reduction (worst, median), edge, row, column: 256 x 256 cells
                 beginning at cell (256 row, 256 column) of the picture with that edge -> little-endian float32, row by
                 row; ns, -1 = to measure and missing, -2 = nothing to measure (or beyond the matrix)
GET /cell        repeat, size_index, axis, statistic, edge, row, column (of one cell; the worst pair is the one of that
                 statistic) -> {"from", "to": ranks of its worst pair, or of its first where none has a time, "time_ns":
                 {statistic: ns or null}, "count", "round": number or null, "num_pairs": to measure, "num_missing": of
                 those, "median_ns": what a tile with the reduction median shows, or null}
GET /pairs       repeat, size_index, class ("same host", "between hosts"), low_ns, high_ns -> [[from, to, time_ns], ...]
                 examples of pairs in a bin of the histogram, slowest first
Errors are {"error": one line}: 400 a parameter (named) is wrong or missing, 403 the key, 404 the address, 503 with
Retry-After: what this needs is not built yet, ask again (it is begun by asking), 500 the file cannot be read any more.
"""

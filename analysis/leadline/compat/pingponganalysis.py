# SPDX-License-Identifier: Apache-2.0
"""What `pingponganalysis` does, in order: look at all times, say what is there, write the files that were asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from leadline.compat import pixmaps, text_files
from leadline.compat.links import MOST_LINKS, LinksBeyond
from leadline.compat.mask import masked
from leadline.compat.options import PROGRAM, Options
from leadline.compat.output_files import output_files
from leadline.compat.rows import ROUNDS, Survey, bandwidth_mib_per_s, blocks, survey, times_s
from leadline.compat.text_files import Histogram
from leadline.error import ExitStatus, LeadlineError
from leadline.link.reader import load_link
from leadline.link.result import LinkResult
from leadline.model import FloatArray, Slice
from leadline.scan import AxisName, picture_range
from leadline.scan.picture import shown
from leadline.stats.colour_range import ColourRange, colour_range
from leadline.units import bytes_text, number

Say = Callable[[str], None]

_FILES = {
    "a": ("accesspattern.ppm", "colortab.ps"),
    "A": ("accesspattern.dat",),
    "b": ("bwpattern.ppm", "colortab.ps"),
    "B": ("bad_links.dat",),
    "d": ("distancepattern.dat",),
    "D": ("nodelist.dat",),
    "g": ("gnuplotinput.dat",),
    "p": ("report_fzjlinktest.ps", "report_fzjlinktest.pdf"),
}
_ALWAYS = ("distribution.dat", "distribution_bw.dat", "mapping.dat")
_MOST_QUANTILES = 256
_LEAST_SPAN = 1.1  # of the report's colours, high end to low


@dataclass(frozen=True)
class _Job:
    """What is analysed, and how."""

    options: Options
    result: LinkResult
    part: Slice
    found: Survey
    say: Say  # a line to standard output
    note: Say  # a line to standard error
    progress: Callable[[str], Callable[[float], None]]


def pingponganalysis(options: Options, folder: Path, say: Say, note: Say) -> None:
    """Reads the result and writes the files into the folder; LeadlineError leaves the older files as they are."""
    result = load_link(options.result)
    _notes(options, note)
    if options.mask is not None:
        result = masked(result, options.mask)
    part = _chosen(result, note)

    def progress(what: str) -> Callable[[float], None]:
        return _in_tenths(f"{PROGRAM}: {what}", note) if options.has("v") else lambda _share: None

    found = survey(result, part, progress("looking at all times"))
    job = _Job(options, result, part, found, say, note, progress)
    counted = _histogram(job)
    _head(job, counted)
    beyond = _beyond(options)
    names = tuple(
        dict.fromkeys((*_ALWAYS, *(name for letter in _FILES if options.has(letter) for name in _FILES[letter])))
    )
    with output_files(folder, names, options.result) as files:
        _rows(job, files, counted, beyond)
        _steps(job, files)
        _tables(job, files, counted)
        _sheets(job, files)
    _links(job, beyond)
    for name in names:
        say(f" wrote {name}\n")


def _notes(options: Options, note: Say) -> None:
    for letter in "qQ":
        if options.has(letter):
            note(f"{PROGRAM}: -{letter} does nothing, as in LinkTest 1.2\n")
    if options.has("f") and not options.has("b"):
        note(f"{PROGRAM}: -f does nothing without -b\n")


def _chosen(result: LinkResult, note: Say) -> Slice:
    """LinkTest's files have one message size and the last iteration: so the first size, and the last repeat."""
    last = max(part.repeat for part in result.slices)
    part = next(part for part in result.slices if part.repeat == last)
    if len(result.slices) > 1:
        note(
            f"{PROGRAM}: of {len(result.message_sizes_bytes)} message sizes and {last + 1} repeats these are "
            f"{bytes_text(part.message_size_bytes)}, repeat {last + 1}; leadline report shows all\n"
        )
    if not result.complete:
        note(f"{PROGRAM}: the result is incomplete: {text_files.printable(result.incomplete_reason)}\n")
    return part


def _in_tenths(what: str, note: Say) -> Callable[[float], None]:
    told = -1

    def progress(share: float) -> None:
        nonlocal told
        if int(share * 10) > told:
            told = int(share * 10)
            note(f"{what}: {told * 10} %\n")

    return progress


def _histogram(job: _Job) -> Histogram:
    """From the least to the greatest time, unless -t and -T say otherwise."""
    low = job.found.min_s if job.options.from_s is None else job.options.from_s
    high = job.found.max_s if job.options.to_s is None else job.options.to_s
    if low > high:
        which = "-t lies above the greatest" if job.options.to_s is None else "-T lies below the least"
        why = f"the times are {job.found.min_s:e} to {job.found.max_s:e} s"
        hint = "Give both -t and -T, or another limit"
        raise LeadlineError(f"{which} time", why, hint, ExitStatus.BAD_COMMAND_LINE)
    return Histogram(low, high, job.options.num_bins)


def _head(job: _Job, counted: Histogram) -> None:
    """What was measured, in the form of LinkTest's lines."""
    result, part, found, options = job.result, job.part, job.found, job.options
    record = result.linktest
    has_all_to_all = record.has_all_to_all if record else part in result.all_to_all
    lines = [
        f"infilename:                {text_files.printable(str(result.path))}",
        f"ntasks:                    {result.num_ranks}",
        f"data version:            {'1.2p1' if record else f'leadline, format {result.format_version}'}",
        f"histogram:{counted.low_s * 1e6:28.2f} us  to {counted.high_s * 1e6:11.2f} us, "
        f"stepwidth={counted.width_s * 1e6:11.2f} us, #steps={counted.num_bins}",
    ]
    slow, fast = options.slow_below_mib_per_s or 0.0, options.fast_above_mib_per_s
    if options.has("l") or options.has("L"):
        limits = np.array([math.inf if fast is None else fast, slow])
        with np.errstate(divide="ignore"):
            # A bandwidth of 0 belongs to a time without end, and the other way round.
            shortest, longest = bandwidth_mib_per_s(result, part, limits) * 1e6
        lines.append(f"reporting link outside range:{shortest:18.2f} us   < t < {longest:11.2f} us")
        lines.append(f"reporting link outside range:{limits[1]:18.2f} MB/s < t < {limits[0]:11.2f} MB/s")
    lines += [
        f"length_of_message:              {part.message_size_bytes}",
        f"alltoall:                       {int(has_all_to_all)}",
        f"matsize:                        {result.num_ranks}",
        f"opt_mask:                       {int(options.mask is not None)}",
    ]
    extremes = np.array([found.min_s, found.max_s])
    bandwidths = bandwidth_mib_per_s(result, part, extremes)
    for name, time_s, bandwidth in zip(("timings_min:", "timings_max:"), extremes, bandwidths, strict=True):
        lines.append(f"{name}{time_s:22e} s {bandwidth:10.6f} MB/s")
    job.say("".join(f"{PROGRAM}: {line}\n" for line in lines))
    if not found.num_pairs:
        job.note(f"{PROGRAM}: no pair has a time\n")


def _beyond(options: Options) -> dict[str, LinksBeyond]:
    """By LinkTest's words for them; it had these two the wrong way round."""
    beyond = {}
    if options.slow_below_mib_per_s is not None:
        beyond["suspected"] = LinksBeyond(options.slow_below_mib_per_s, is_below=True)
    if options.fast_above_mib_per_s is not None:
        beyond["FAST"] = LinksBeyond(options.fast_above_mib_per_s, is_below=False)
    return beyond


def _rows(job: _Job, files: Mapping[str, BinaryIO], counted: Histogram, beyond: Mapping[str, LinksBeyond]) -> None:
    """The second pass over all times, for all that needs each of them."""
    result, part = job.result, job.part
    writers: list[text_files.RowWriter] = []
    if job.options.has("g"):
        writers.append(text_files.gnuplotinput(files["gnuplotinput.dat"], result, part))
    if job.options.has("d"):
        writers.append(text_files.distancepattern(files["distancepattern.dat"], result))
    if job.options.has("b"):
        writers.append(_picture(job, files["bwpattern.ppm"], _time_scale(job)))
    progress = job.progress("writing what each pair has")
    for first, time_s in times_s(result, part):
        counted.add(time_s[np.isfinite(time_s)])
        for links in beyond.values():
            links.add(first, time_s, bandwidth_mib_per_s(result, part, time_s))
        for write in writers:
            write(first, time_s)
        progress((first + len(time_s)) / result.num_ranks)
    if counted.num_outside:
        job.note(
            f"{PROGRAM}: {counted.num_outside} pairs outside -t and -T are counted in the first and the last bin\n"
        )


def _picture(job: _Job, out: BinaryIO, scale: pixmaps.Scale) -> text_files.RowWriter:
    out.write(pixmaps.ppm_header(job.result.num_ranks))

    def write(first: int, values: FloatArray) -> None:
        to_measure = job.result.rows_to_measure(job.part, first, first + len(values))
        out.write(pixmaps.pixels(scale.indices(first, values, to_measure)))

    return write


def _time_scale(job: _Job) -> pixmaps.Scale:
    """The report's, in seconds, unless -t and -T say otherwise; -f moves the upper end."""
    options, tally = job.options, job.found.times_ns
    if not tally.num_values:
        return pixmaps.Scale(0.0, 1.0)
    shares = np.linspace(0, 1, min(tally.num_values, _MOST_QUANTILES))
    span = colour_range(np.array([tally.quantile(float(share)) for share in shares]))
    low = span.low / 1e9 if options.from_s is None else options.from_s
    high = (span.high / 1e9 if options.to_s is None else options.to_s) * options.scale_factor
    if not low < high:
        problem = f"the colours would go from {low:g} to {high:g} s"
        raise LeadlineError(problem, hint="Give other -t, -T or -f", status=ExitStatus.BAD_COMMAND_LINE)
    return pixmaps.Scale(low, high, logarithmic=0 < 3 * low <= high)


def _step_scale(result: LinkResult) -> pixmaps.Scale:
    return pixmaps.Scale(1.0, float(max(result.provenance.num_rounds, 1)))


def _steps(job: _Job, files: Mapping[str, BinaryIO]) -> None:
    """The pass over the steps."""
    writers: list[text_files.RowWriter] = []
    if job.options.has("A"):
        writers.append(text_files.accesspattern(files["accesspattern.dat"]))
    if job.options.has("a"):
        writers.append(_picture(job, files["accesspattern.ppm"], _step_scale(job.result)))
    if not writers:
        return
    if job.part.repeat not in job.result.repeats_with_rounds:
        why = "it does not say in which step each pair was measured"
        raise LeadlineError(f"-a and -A are not possible with '{job.result.path}'", why)
    for first, steps in blocks(job.result, job.part, ROUNDS):
        for write in writers:
            write(first, steps)


def _tables(job: _Job, files: Mapping[str, BinaryIO], counted: Histogram) -> None:
    """The files that need no further pass."""
    result, part, options = job.result, job.part, job.options
    texts: dict[str, Iterable[str]] = {
        "mapping.dat": text_files.mapping(result),
        "distribution.dat": text_files.distribution(counted),
        "distribution_bw.dat": text_files.distribution_bw(counted, result, part),
    }
    if options.has("D"):
        texts["nodelist.dat"] = text_files.nodelist(result, part, job.found)
    if options.has("B"):
        texts["bad_links.dat"] = text_files.bad_links(result, part)
    if options.has("a") or options.has("b"):
        texts["colortab.ps"] = pixmaps.colortab(_colour_tables(job))
    for name, lines in texts.items():
        files[name].writelines(line.encode("utf-8", errors="replace") for line in lines)


def _colour_tables(job: _Job) -> list[pixmaps.ColourTable]:
    def time_label(time_s: float) -> str:
        bandwidth = float(bandwidth_mib_per_s(job.result, job.part, np.array(time_s)))
        return f"{number(time_s * 1e6, 5)} us   {number(bandwidth, 5)} MiB/s"

    tables = []
    if job.options.has("b"):
        scale = _time_scale(job)
        tables.append(pixmaps.ColourTable("bwpattern.ppm: time of a message", scale, scale.values(), time_label))
    if job.options.has("a"):
        scale = _step_scale(job.result)
        steps = np.unique(np.rint(np.linspace(scale.low, scale.high, pixmaps.NUM_STEPS)))
        title = "accesspattern.ppm: step in which the pair was measured"
        tables.append(pixmaps.ColourTable(title, scale, steps, lambda step: f"step {step:.0f}"))
    return tables


def _sheets(job: _Job, files: Mapping[str, BinaryIO]) -> None:
    if not job.options.has("p"):
        return
    # It draws with matplotlib, whose import takes longer than all the rest here.
    from leadline.link.sheet import analyses_for_sheet, write_sheet

    analyses = analyses_for_sheet(job.result, [job.part], job.progress("analysing for the report"))
    picture = analyses[0].pictures[AxisName.RANKS]
    span = _sheet_range(job, picture_range(picture), shown(picture))
    for kind in ("ps", "pdf"):
        write_sheet(job.result, analyses, files[f"report_fzjlinktest.{kind}"], kind, span=span)


def _sheet_range(job: _Job, span: ColourRange, values_ns: FloatArray) -> ColourRange:
    """The colours of the report end where -t and -T say, else where the links that -l and -L report begin."""
    options = job.options
    one_mib_per_s_ns = float(bandwidth_mib_per_s(job.result, job.part, np.array(1.0))) * 1e9
    low, high = span.low, span.high
    if options.from_s:
        low = options.from_s * 1e9
    elif options.fast_above_mib_per_s:
        low = one_mib_per_s_ns / options.fast_above_mib_per_s
    if options.to_s:
        high = options.to_s * 1e9
    elif options.slow_below_mib_per_s:
        high = one_mib_per_s_ns / options.slow_below_mib_per_s
    if (low, high) == (span.low, span.high) or not values_ns.size:
        return span
    # One end that was given may lie beyond the other, which follows from the values.
    if low >= high and (options.to_s or options.slow_below_mib_per_s):
        low = high / _LEAST_SPAN
    elif low >= high:
        high = low * _LEAST_SPAN
    below, above = int(np.count_nonzero(values_ns < low)), int(np.count_nonzero(values_ns > high))
    return ColourRange(low, high, high >= 3 * low, below, above)


def _links(job: _Job, beyond: Mapping[str, LinksBeyond]) -> None:
    hosts = [text_files.plain_host(place.host) for place in job.result.ranks]
    for kind, links in beyond.items():
        for index, link in enumerate(links.links()):
            job.say(
                f"{PROGRAM}:  {kind:<9} link #{index:05d}: {link.from_rank:6d} <-> {link.to_rank:6d}: "
                f"{link.time_s:e} s {link.bandwidth_mib_per_s:16.10f} MB/s "
                f"({hosts[link.from_rank]} <-> {hosts[link.to_rank]})\n"
            )
        if links.num_found > MOST_LINKS:
            which = "slowest" if kind == "suspected" else "fastest"
            job.note(f"{PROGRAM}: of {links.num_found} {kind} links the {MOST_LINKS} {which} are shown\n")

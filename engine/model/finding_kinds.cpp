// SPDX-License-Identifier: Apache-2.0
// The kinds of findings about a measurement: where each is looked for, and by which rule; docs/findings.md shows them.
#include "model/finding_kinds.hpp"

namespace leadline {
namespace {

constexpr FindingKind all_finding_kinds[] = {
    {"oversubscribed", "all runs", Severity::warning, Severity::warning, "A host has more ranks than cores"},
    {"not_bound", "several ranks on a host", Severity::note, Severity::note,
     "Each rank may run on all cores of its host"},
    {"clock_too_coarse", "all runs", Severity::warning, Severity::warning,
     "The step of the clock, or a reading of it, is more than 5 % of the shortest time that is measured"},
    {"slower_adapters", "several hosts", Severity::warning, Severity::warning,
     "The kernel says of the adapters of some hosts less than 99 % of the line rate of most, whatever was measured"},
    {"narrow_slots", "several hosts", Severity::warning, Severity::warning,
     "The PCIe slot of an adapter carries less than its network, and slot and adapter could do more"},
    {"slow_memory", "three hosts or more", Severity::warning, Severity::warning,
     "One rank of a host copies less than 70 % of the median over the hosts, twice"},
    {"simulated", "all runs", Severity::note, Severity::note,
     "The transport is model, or the result comes from leadline simulate"},
    {"loop_to_itself", "link", Severity::note, Severity::note, "One rank takes part"},
    {"ranks_absent", "all runs", Severity::warning, Severity::warning,
     "These ranks did not come within --start-timeout, and the run began without them. Their host is that of other "
     "ranks at the same address. Where there are none, it is called by the address"},
    {"ranks_lost", "all runs", Severity::warning, Severity::warning,
     "These ranks died, were stopped or cut off, and were left out. A host is named where all of its ranks are lost"},
    {"pairs_not_measured", "all runs", Severity::warning, Severity::warning,
     "The links of these pairs did not open, or broke. A host that does not reach two others, and more than half of "
     "all, is named instead of each pair"},
    {"stalls", "topology, --duration", Severity::warning, Severity::warning,
     "An exchange with its barriers took half a second at least, and 20 times as long as the median over the points of "
     "its topology and size. Over tcp it names the links on which most segments were sent again in that slice"},
    {"one_host", "bisection", Severity::note, Severity::note, "All ranks are on one host"},
    {"few_patterns", "bisection", Severity::note, Severity::note, "An interval rests on fewer than 20 random patterns"},
    {"patterns_left_out", "bisection", Severity::note, Severity::note,
     "Time was over before all named patterns and steps of the search were measured"},
    {"streams_in_step", "bisection", Severity::warning, Severity::warning,
     "A one-way pattern (shift:1) was measured over a transport where sends and receives of a rank wait for each other "
     "(nccl)"},
    {"slow_host_of_groups", "collective, --group-hosts", Severity::warning, Severity::warning,
     "Even the fastest group that a host was in took more than 1.1 times as long as groups usually do, and chance does "
     "that to any host in less than one of a hundred runs"},
    {"senders_without_link", "io, a funnel", Severity::warning, Severity::warning,
     "A sender has lost the link to the rank that does its I/O. So nothing of it was written or read from then on"},
    {"senders_left_out", "io, a funnel", Severity::warning, Severity::warning,
     "The rank that did the I/O of others was lost. So nothing of these was written or read from then on"},
    {"barriers_without_link", "io, a funnel, --barrier", Severity::warning, Severity::warning,
     "Two I/O ranks have lost the link between them. From then on they wait for each other through third ones alone"},
    {"stalled_call", "io", Severity::warning, Severity::warning,
     "A call took longer than a quarter of --timeout, or than a minute: one read or write, or opening, preallocating, "
     "syncing or closing a file. The longest is named"},
    {"slow_call", "io", Severity::note, Severity::note,
     "The slowest call that is no stalled_call took more than 100 times the median one, and at least 100 ms"},
    {"read_from_cache", "io", Severity::note, Severity::warning,
     "A read is not from storage, and not on a file system that is memory. A note where the page cache cannot be "
     "asked"},
    {"not_durable", "io", Severity::note, Severity::warning,
     "A write has no fsync in its time. A note with --direct, since nothing of it is in the page cache"},
    {"contents_in_time", "io", Severity::note, Severity::note,
     "Making or checking contents, or waiting for a helper that does, took 10 % of a phase, mean over ranks"},
    {"fragile_calls", "io, --allow-fragile", Severity::warning, Severity::warning,
     "The calls failed when they were tried out before the run"},
    {"continued_calls", "io", Severity::note, Severity::note, "Calls moved less than they were asked to"},
    {"hint_ignored", "io", Severity::warning, Severity::warning,
     "The MPI library does not know a hint, or has another value for it"},
    {"hint_not_confirmed", "io", Severity::note, Severity::note,
     "The MPI library repeats a hint without saying that it acts on it"},
};

}  // namespace

std::span<const FindingKind> finding_kinds() { return all_finding_kinds; }

}  // namespace leadline

// SPDX-License-Identifier: Apache-2.0
// Slow calls, reads from memory, writes that are not on the storage, and what else makes rates less than
// they seem.
#include "bench/io/validity_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "storage/page_cache.hpp"

namespace leadline::bench::io {
namespace {

constexpr const char* fewer_objects =
    "Later phases have fewer objects than the first: compare their rates, not their bytes.";
constexpr double slow_call_factor = 100;
constexpr double slow_call_ns = 100e6;
// As the watch tells of a call that lasts.
constexpr double stalled_share = 0.25, stalled_s_max = 60;

std::string words_of(const PhasePosition& position, int num_repeats) {
  if (num_repeats <= 1) return name_of(position.operation);
  return fmt::format("{} {}", name_of(position.operation), position.repeat + 1);
}

/// Complete phases that have something, as words.
template <class Has>
std::vector<std::string> phases_with(const IoResult& result, const Has& has) {
  std::vector<std::string> words;
  for (const PhaseSummary& phase : result.phases) {
    if (phase.is_complete && has(phase)) words.push_back(words_of(phase.position, result.request.repeat));
  }
  return words;
}

/// "phase write 2", "phases write 1, write 2".
std::string phases_text(const std::vector<std::string>& words) {
  return fmt::format("phase{} {}", words.size() == 1 ? "" : "s", listed(words));
}

/// What took longest of a phase, of that which the watch waits for.
struct LongestCall {
  const PhaseSummary* phase = nullptr;
  IoTime time = IoTime::call;
  double time_ns = 0;
  std::int32_t rank = -1;
};

LongestCall longest_call(const IoResult& result) {
  LongestCall longest;
  const auto look_at = [&](const LongestCall& call) {
    if (call.time_ns > longest.time_ns) longest = call;  // not where it is NaN
  };
  for (const PhaseSummary& phase : result.phases) {
    const std::int32_t caller = phase.slow_calls.empty() ? -1 : phase.slow_calls.front().rank;
    look_at({&phase, IoTime::call, phase.call_ns_max, caller});
    for (const IoTime time : {IoTime::open, IoTime::preallocate, IoTime::sync, IoTime::close}) {
      const RankSpread& spread = phase.times[static_cast<std::size_t>(time)];
      if (spread.num > 0) look_at({&phase, time, spread.max, spread.max_rank});
    }
  }
  return longest;
}

/// "rank 3 on node1, 64 KiB at 0 of FILE"; of a call without data "rank 3 on node1, FILE".
std::string place_of(const SlowCall& call) {
  const std::string where =
      call.size_bytes > 0 ? fmt::format("{} at {} of ", format_bytes(call.size_bytes), call.offset_bytes) : "";
  return fmt::format("rank {} on {}, {}{}", call.rank, call.host, where, call.file);
}

double stalled_ns(const IoResult& result) {
  return 1e9 * std::min(stalled_share * result.request.timeout_s, stalled_s_max);
}

/// It was told while it lasted, and then came to its end.
std::optional<Finding> stalled_call(const IoResult& result) {
  const LongestCall longest = longest_call(result);
  if (longest.phase == nullptr || longest.time_ns <= stalled_ns(result)) return std::nullopt;
  const bool is_transfer = longest.time == IoTime::call;
  std::string evidence = fmt::format("{}: {} in one {}", words_of(longest.phase->position, result.request.repeat),
                                     format_time_ns(longest.time_ns), is_transfer ? "call" : name_of(longest.time));
  if (is_transfer && !longest.phase->slow_calls.empty()) {
    const SlowCall& call = longest.phase->slow_calls.front();
    evidence += ", " + place_of(call);
  } else if (longest.rank >= 0) {
    evidence += fmt::format(", rank {}", longest.rank);
  }
  Finding finding{"stalled_call", Severity::warning, "The file system kept a call waiting for very long.", evidence,
                  fmt::format("Look at its servers' logs of that time; a call that takes {:.3g} s ends the run "
                              "(--timeout).",
                              result.request.timeout_s)};
  if (longest.rank >= 0) finding.ranks = {longest.rank};
  finding.numbers = {{.name = "longest call", .unit = "ns", .value = longest.time_ns, .ranks = finding.ranks}};
  return finding;
}

std::optional<Finding> slow_call(const IoResult& result) {
  const PhaseSummary* phase_of_worst = nullptr;
  for (const PhaseSummary& phase : result.phases) {
    // NaN compares false: phases without calls have none that is slow.
    const bool is_slow = phase.call_ns_max >= slow_call_ns && phase.call_ns_max > slow_call_factor * phase.call_ns_p50;
    if (!is_slow || phase.call_ns_max > stalled_ns(result)) continue;
    if (phase_of_worst == nullptr || phase.call_ns_max > phase_of_worst->call_ns_max) phase_of_worst = &phase;
  }
  if (phase_of_worst == nullptr) return std::nullopt;
  std::string evidence =
      fmt::format("{}: {}, the median call {}", words_of(phase_of_worst->position, result.request.repeat),
                  format_time_ns(phase_of_worst->call_ns_max), format_time_ns(phase_of_worst->call_ns_p50));
  if (!phase_of_worst->slow_calls.empty()) {
    const SlowCall& call = phase_of_worst->slow_calls.front();
    evidence += "; " + place_of(call);
  }
  Finding finding{"slow_call", Severity::note, "A call took very much longer than the others.", evidence,
                  "Look at the slowest calls: several at one time point at the storage, one place at a target."};
  if (!phase_of_worst->slow_calls.empty()) finding.ranks = {phase_of_worst->slow_calls.front().rank};
  finding.numbers = {
      {.name = "slowest call", .unit = "ns", .value = phase_of_worst->call_ns_max, .ranks = finding.ranks},
      {.name = "median call", .unit = "ns", .value = phase_of_worst->call_ns_p50}};
  return finding;
}

std::string cached_text(const storage::CacheState& cache) {
  if (!cache.is_known || cache.pages == 0) return "how much was cached is not known";
  return fmt::format("{:.1f} % of the pages were cached before",
                     100 * static_cast<double>(cache.cached) / static_cast<double>(cache.pages));
}

/// On file systems that are memory there is nothing else to read from.
std::optional<Finding> read_from_cache(const IoResult& result) {
  if (storage::is_memory(result.file_system)) return std::nullopt;
  const auto is_read_from = [&](ReadSource source) {
    return phases_with(result, [&](const PhaseSummary& phase) {
      return phase.position.operation == IoOperation::read && phase.source == source;
    });
  };
  const char* const advice =
      result.request.time_based
          ? "Use --direct or --uncached, or more data than the hosts have memory."
          : "Use --drop-cache, --direct or --read-shift hosts:1, or more data than the hosts have memory.";
  std::vector<std::string> words = is_read_from(ReadSource::cache);
  const bool is_whole = !words.empty();
  if (!is_whole) words = is_read_from(ReadSource::mixed);
  if (words.empty()) {
    words = is_read_from(ReadSource::not_known);
    if (words.empty() || result.request.no_file) return std::nullopt;
    return Finding{"read_from_cache", Severity::note, "Reads may have come from the page cache, which cannot be asked.",
                   phases_text(words), advice};
  }
  const auto first = std::ranges::find_if(result.phases, [&](const PhaseSummary& phase) {
    return phase.is_complete && phase.source == (is_whole ? ReadSource::cache : ReadSource::mixed);
  });
  return Finding{"read_from_cache", Severity::warning,
                 is_whole ? "Reads came from the page cache: their rate is that of memory."
                          : "Reads came partly from the page cache: their rate is not that of the storage.",
                 fmt::format("{}; {}", phases_text(words), cached_text(first->cache_before)), advice};
}

std::optional<Finding> not_durable(const IoResult& result) {
  if (storage::is_memory(result.file_system) || result.request.no_file) return std::nullopt;
  const auto is_left = [](const PhaseSummary& phase) {
    return phase.position.operation == IoOperation::write && !phase.is_durable;
  };
  const std::vector<std::string> words = phases_with(result, is_left);
  if (words.empty()) return std::nullopt;
  if (result.request.cache_path == storage::CachePath::direct) {
    return Finding{
        "not_durable", Severity::note,
        "No fsync told the storage to keep what was written: it may be in caches that lose it with the power.",
        fmt::format("{}; --direct, --sync {}", phases_text(words), name_of(result.request.sync)), "Use --sync inside."};
  }
  const auto first = std::ranges::find_if(
      result.phases, [&](const PhaseSummary& phase) { return phase.is_complete && is_left(phase); });
  const storage::CacheState& cache = first->cache_after;
  const std::string dirty =
      cache.is_known ? fmt::format("{} of {} pages dirty or being written", cache.dirty + cache.writeback, cache.pages)
                     : "how many pages are dirty is not known";
  return Finding{"not_durable", Severity::warning,
                 "Writes were not on the storage when their time ended: their rate is partly that of memory.",
                 fmt::format("{}; {}; --sync {}", phases_text(words), dirty, name_of(result.request.sync)),
                 "Use --sync inside, or write much more than the hosts have memory."};
}

/// What a rank spent of the time of a phase, mean; 0 where it is not in its rates.
double contents_ns(const PhaseSummary& phase) {
  if (is_metadata(phase.position.operation)) return 0;
  double sum_ns = 0;
  for (const IoTime time : {IoTime::fill, IoTime::verify}) {
    const RankSpread& spread = phase.times[static_cast<std::size_t>(time)];
    if (spread.num > 0) sum_ns += spread.mean;
  }
  return sum_ns;
}

/// Of the phase in which it is the most.
std::optional<Finding> contents_in_time(const IoResult& result) {
  constexpr double least_share = 0.1;
  const PhaseSummary* worst = nullptr;
  double most = least_share;
  for (const PhaseSummary& phase : result.phases) {
    const double share = contents_ns(phase) / phase.wall_ns;
    if (!phase.is_complete || !(share > most)) continue;  // not where it is NaN
    most = share;
    worst = &phase;
  }
  if (worst == nullptr) return std::nullopt;
  const bool is_helped = result.contents_by == ContentsBy::helper;
  return Finding{
      "contents_in_time",
      Severity::note,
      is_helped ? "Ranks waited for contents to be made or checked: storage may be faster than the rate says."
                : "Ranks made or checked contents between their calls: storage may be faster than the rate says.",
      fmt::format("{}: {:.0f} % of the time", words_of(worst->position, result.request.repeat), 100 * most),
      is_helped
          ? "Fill and check less (--touch, --check) to see what it can do."
          : "Fill and check less (--touch, --check), or start half as many ranks as there are cores: contents are "
            "then made and checked on cores of their own.",
      {},
      {},
      {},
      {{.name = "share of contents", .unit = "1", .value = most}}};
}

std::optional<Finding> continued_calls(const IoResult& result) {
  std::uint64_t num_continued = 0, num_calls = 0;
  for (const PhaseSummary& phase : result.phases) {
    num_continued += phase.num_continued;
    num_calls += phase.num_calls;
  }
  if (num_continued == 0) return std::nullopt;
  return Finding{"continued_calls",
                 Severity::note,
                 "Calls moved less than they were asked to, and were continued.",
                 fmt::format("{} of {} calls", num_continued, num_calls),
                 "Look at quotas, signals and the limits of the file system; a smaller --object-size may help.",
                 {},
                 {},
                 {},
                 {{.name = "calls continued", .unit = "1", .value = static_cast<double>(num_continued)},
                  {.name = "calls", .unit = "1", .value = static_cast<double>(num_calls)}}};
}

std::optional<Finding> hint_ignored(const IoResult& result) {
  std::vector<std::string> words;
  for (const HintInForce& hint : result.hints) {
    if (hint.asked.empty() || hint.granted == hint.asked) continue;
    words.push_back(
        fmt::format("{}={} ({})", hint.key, hint.asked, hint.granted.empty() ? "not known" : "is " + hint.granted));
  }
  if (words.empty()) return std::nullopt;
  return Finding{"hint_ignored", Severity::warning, "The library does not have hints as they were asked for.",
                 listed(words), "Look at the library's list of hints, and at what the file system allows."};
}

std::optional<Finding> hint_not_confirmed(const IoResult& result) {
  std::vector<std::string> words;
  for (const HintInForce& hint : result.hints) {
    if (hint.asked.empty() || hint.granted != hint.asked || hint.is_confirmed) continue;
    words.push_back(fmt::format("{}={}", hint.key, hint.asked));
  }
  if (words.empty()) return std::nullopt;
  return Finding{"hint_not_confirmed", Severity::note,
                 "The library repeats hints without saying whether it acts on them.", listed(words),
                 "Compare with a run without them."};
}

ShortestTimed shortest_call(const IoResult& result) {
  double shortest_ns = std::numeric_limits<double>::infinity();
  for (const PhaseSummary& phase : result.phases) shortest_ns = std::fmin(shortest_ns, phase.call_ns_min);
  return {shortest_ns, "fastest call", "latencies of calls are inexact", "Use a larger --object-size."};
}

}  // namespace

std::vector<Finding> validity_warnings(const Conditions& conditions, const IoResult& result) {
  std::vector<Finding> findings;
  const auto add = [&](const std::optional<Finding>& finding) {
    if (finding) findings.push_back(*finding);
  };
  add(stalled_call(result));
  add(slow_call(result));
  add(read_from_cache(result));
  add(not_durable(result));
  add(contents_in_time(result));
  for (const Finding& finding : machine_validity_warnings(conditions, shortest_call(result))) add(finding);
  add(continued_calls(result));
  add(hint_ignored(result));
  add(hint_not_confirmed(result));
  add(simulated(conditions));
  return findings;
}

std::optional<Finding> left_out_senders(const Plan& plan, std::span<const cluster::LostRank> lost) {
  std::vector<int> senders;
  for (int rank = 0; rank < plan.layout.num_ranks(); ++rank) {
    if (cluster::is_lost(lost, rank)) continue;
    if (cluster::is_lost(lost, plan.layout.opener_of(rank))) senders.push_back(rank);
  }
  if (senders.empty()) return std::nullopt;
  const bool is_one = senders.size() == 1;
  return Finding{"senders_left_out",
                 Severity::warning,
                 fmt::format("The rank that did the I/O of {} {} was lost; nothing of {} was written or read from then "
                             "on.",
                             is_one ? "rank" : "ranks", number_ranges(senders), is_one ? "it" : "them"),
                 fmt::format("{} left out with their I/O ranks",
                             is_one ? "1 rank is" : fmt::format("{} ranks are", senders.size())),
                 fewer_objects,
                 {},
                 {senders.begin(), senders.end()}};
}

std::optional<Finding> senders_without_link(const Plan& plan, const Losses& losses) {
  std::vector<std::string> senders;
  std::vector<std::int32_t> ranks;
  const auto is_cut_off = [&](int rank) {
    return std::ranges::find(losses.cut_off_ranks, rank) != losses.cut_off_ranks.end();
  };
  const auto host_of = [&](int rank) { return plan.rank_layout.host_of[static_cast<std::size_t>(rank)]; };
  for (int rank = 0; rank < plan.layout.num_ranks(); ++rank) {
    const int opener = plan.layout.opener_of(rank);
    if (rank == opener || cluster::is_lost(losses.ranks, rank) || cluster::is_lost(losses.ranks, opener)) continue;
    const bool has_lost_it = std::ranges::any_of(losses.pairs, [&](const LostPair& pair) {
      return pair.low == std::min(rank, opener) && pair.high == std::max(rank, opener);
    });
    const bool is_not_tried = host_of(rank) != host_of(opener) && (is_cut_off(rank) || is_cut_off(opener));
    if (!has_lost_it && !is_not_tried) continue;
    senders.push_back(fmt::format("{} (to rank {})", rank, opener));
    ranks.push_back(rank);
  }
  if (senders.empty()) return std::nullopt;
  const bool is_one = senders.size() == 1;
  return Finding{
      "senders_without_link",
      Severity::warning,
      fmt::format("Rank{} {} had no link to the rank that did {} I/O; nothing of {} was written or read from "
                  "then on.",
                  is_one ? "" : "s", listed(senders), is_one ? "its" : "their", is_one ? "it" : "them"),
      is_one ? "1 rank is left out" : fmt::format("{} ranks are left out", senders.size()),
      fewer_objects,
      {},
      std::move(ranks)};
}

std::optional<Finding> barriers_without_link(const IoRequest& request, const Plan& plan, const Losses& losses) {
  if (!request.barrier || request.no_file || !schedule::is_funnel(request.movement)) return std::nullopt;
  std::vector<std::string> pairs;
  std::set<std::int32_t> ranks;
  for (const LostPair& pair : losses.pairs) {
    const bool have_met = plan.layout.is_opener(pair.low) && plan.layout.is_opener(pair.high);
    const bool are_there = !cluster::is_lost(losses.ranks, pair.low) && !cluster::is_lost(losses.ranks, pair.high);
    if (!have_met || !are_there) continue;
    pairs.push_back(fmt::format("{} and {}", pair.low, pair.high));
    ranks.insert({pair.low, pair.high});
  }
  if (pairs.empty()) return std::nullopt;
  return Finding{"barriers_without_link",
                 Severity::warning,
                 fmt::format("I/O ranks {} had no link between them; from then on they did not wait for each other "
                             "before their writes, other than through other I/O ranks.",
                             listed(pairs)),
                 "barriers before writes are less strict",
                 "Look at the findings about links that were lost.",
                 {},
                 {ranks.begin(), ranks.end()}};
}

}  // namespace leadline::bench::io

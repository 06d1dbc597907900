// SPDX-License-Identifier: Apache-2.0
// Two reductions; the times of every rank where they are asked for.
#include "bench/io/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bench/io/pace.hpp"
#include "bench/io/phase_sums.hpp"
#include "bench/reductions.hpp"
#include "cluster/bytes.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"
#include "storage/page_cache.hpp"

namespace leadline::bench::io {
namespace {

double rate(std::uint64_t bytes, double time_ns) {
  return time_ns > 0 ? 1e9 * static_cast<double>(bytes) / time_ns : not_measured;
}

RankSpread spread_of(const TimeSums& sums) {
  RankSpread spread;
  if (sums.num == 0) return spread;
  spread.num = sums.num;
  spread.min = sums.min;
  spread.mean = sums.sum / static_cast<double>(sums.num);
  spread.max = sums.max;
  spread.min_rank = sums.min_rank;
  spread.max_rank = sums.max_rank;
  return spread;
}

storage::CacheState cache_of(const storage::CacheState& all, const PhaseSums& sums) {
  storage::CacheState state = all;
  state.is_known = all.is_known && sums.num_with_bytes > 0;
  return state;
}

/// Whether passes behind the first one may have found in the page cache what it has read.
bool reads_again_through_cache(const PhaseSummary& summary, const IoRequest& request) {
  constexpr std::uint64_t cached_page_bytes = 4096;
  return request.time_based && request.cache_path == storage::CachePath::buffered &&
         summary.bytes + summary.ramp_bytes > summary.cache_before.pages * cached_page_bytes;
}

ReadSource source_of(const PhaseSummary& summary, const PhaseContext& context) {
  const IoRequest& request = context.request;
  if (summary.position.operation != IoOperation::read || request.no_file || summary.bytes == 0) {
    return ReadSource::not_known;
  }
  if (storage::is_memory(context.file_system)) return ReadSource::cache;
  if (request.cache_path == storage::CachePath::direct) return ReadSource::storage;
  const storage::CacheState& before = summary.cache_before;
  if (!before.is_known || before.pages == 0) {
    return request.cache_path == storage::CachePath::uncached ? ReadSource::storage : ReadSource::not_known;
  }
  // Also of uncached reads: they drop what they bring in, and take what is there.
  const double share = static_cast<double>(before.cached) / static_cast<double>(before.pages);
  if (share >= 0.99) return ReadSource::cache;
  if (reads_again_through_cache(summary, request)) return ReadSource::mixed;
  return share <= 0.01 ? ReadSource::storage : ReadSource::mixed;
}

/// Without fsync storage may still have what was written in caches of its own, and not know where it belongs.
bool is_durable(const PhaseSummary& summary, const PhaseContext& context) {
  if (summary.position.operation != IoOperation::write || !summary.is_complete || context.request.no_file) return false;
  return syncs_inside(context.request.sync) && !storage::is_memory(context.file_system);
}

/// What a buffered write had on storage when the first rank came back from its fsync is not known.
bool knows_first_done(const PhaseSummary& summary, const IoRequest& request) {
  return summary.position.operation == IoOperation::read || request.no_file || request.sync != SyncTiming::inside ||
         request.cache_path == storage::CachePath::direct;
}

void set_totals(PhaseSummary& summary, const PhaseSums& sums) {
  summary.bytes = sums.bytes;
  summary.message_bytes = sums.message_bytes / 2;  // both ends count
  summary.num_objects = sums.num_objects;
  summary.num_calls = sums.num_calls;
  summary.num_continued = sums.num_continued;
  summary.num_mismatches = sums.num_mismatches;
  summary.io = spread_of(sums.io);
  summary.transfer = spread_of(sums.transfer);
  for (std::size_t i = 0; i < num_io_times; ++i) summary.times[i] = spread_of(sums.times[i]);
  if (sums.io.num > 0) summary.wall_ns = sums.last_end_ns - sums.first_begin_ns;
  summary.series = sums.series;
  summary.cache_before = cache_of(sums.cache_before, sums);
  summary.cache_after = cache_of(sums.cache_after, sums);
}

void set_rates(PhaseSummary& summary, const PhaseSums& sums) {
  const bool has_items = is_metadata(summary.position.operation);
  summary.operations_per_s = rate(sums.num_calls, has_items ? summary.io.max : summary.wall_ns);
  if (has_items) return;
  summary.bytes_per_s = rate(sums.bytes, summary.wall_ns);
  summary.bytes_per_s_io = rate(sums.bytes, summary.io.max);
  summary.bytes_per_s_mean = rate(sums.bytes, summary.io.mean);
  summary.bytes_per_s_transfer = rate(sums.bytes, summary.transfer.max);
  summary.fill_bytes_per_s = rate(sums.filled_bytes, sums.making_ns);
  summary.verify_bytes_per_s = rate(sums.verified_bytes, sums.checking_ns);
}

/// Collective.
void set_first_done(PhaseSummary& summary, const PhaseSums& sums, cluster::Cluster& cluster, const RankPhase& own,
                    const IoRequest& request) {
  std::uint64_t bytes = bytes_until(own, sums.first_done_ns);
  sum_over_ranks(cluster, std::span(&bytes, 1));
  if (!std::isfinite(sums.first_done_ns)) return;
  summary.first_done_ns = sums.first_done_ns - sums.first_begin_ns;
  if (summary.is_complete && !is_metadata(summary.position.operation) && knows_first_done(summary, request)) {
    summary.bytes_per_s_first_done = rate(bytes, summary.first_done_ns);
  }
}

void set_stop(PhaseSummary& summary, const PhaseSums& sums) {
  if (!(sums.stop_ns > 0)) return;
  summary.has_stop = true;
  summary.stop_ns = sums.stop_ns;
  summary.bytes_at_stop = sums.bytes_at_stop;
  const double ramp_ns = std::isfinite(summary.ramp_ns) ? summary.ramp_ns : 0;
  if (summary.is_complete && !is_metadata(summary.position.operation))
    summary.bytes_per_s_at_stop = rate(sums.bytes_at_stop, sums.stop_ns - ramp_ns);
}

void set_latencies(PhaseSummary& summary, const PhaseSums& sums) {
  summary.latencies = sums.latencies;
  if (sums.num_calls == 0) return;
  summary.call_ns_min = sums.call_ns_min;
  summary.call_ns_max = sums.call_ns_max;
  const auto quantile = [&](double q) {
    return latency_quantile_ns(sums.latencies, q, sums.call_ns_min, sums.call_ns_max);
  };
  summary.call_ns_p50 = quantile(0.5);
  summary.call_ns_p90 = quantile(0.9);
  summary.call_ns_p99 = quantile(0.99);
  summary.call_ns_p999 = quantile(0.999);
}

/// Collective: the root alone gets any.
std::vector<RankTimes> times_of_ranks(cluster::Cluster& cluster, const RankPhase& own, const IoRequest& request) {
  if (!request.rank_times) return {};
  const RankTimes mine{cluster.rank(), own.io_ns, own.times_ns};
  const bool takes_part = own.bytes > 0 || own.num_objects > 0;
  std::vector<RankTimes> ranks;
  cluster.gather(takes_part ? std::string(reinterpret_cast<const char*>(&mine), sizeof mine) : std::string(),
                 [&](int /*rank*/, std::string_view from) {
                   if (from.size() != sizeof(RankTimes)) return;
                   std::memcpy(&ranks.emplace_back(), from.data(), sizeof(RankTimes));
                 });
  std::sort(ranks.begin(), ranks.end(), [](const RankTimes& a, const RankTimes& b) { return a.rank < b.rank; });
  return ranks;
}

std::string name_of_file(const PhaseContext& context, std::int64_t file) {
  const bool is_known = file >= 0 && static_cast<std::size_t>(file) < context.files.size();
  return is_known ? context.files[static_cast<std::size_t>(file)] : std::string();
}

SlowAndWrong own_slow_and_wrong(int rank, const RankPhase& own, const PhaseContext& context) {
  SlowAndWrong lists{context.slow_calls, context.wrong};
  for (SlowCall& call : lists.slow_calls) {
    call.rank = rank;
    call.host = context.host;
    if (call.file.empty()) call.file = name_of_file(context, own.file);
  }
  for (WrongObject& wrong : lists.wrong) {
    wrong.read_by = rank;
    wrong.host = context.host;
  }
  return lists;
}

/// A call without its texts. Plain data: it travels as bytes.
struct CallNumbers {
  std::int32_t rank = -1;
  std::uint64_t offset_bytes = 0, size_bytes = 0;
  double begin_ns = 0, time_ns = 0;
};

struct ObjectNumbers {
  memory::Mismatch mismatch;
  std::int32_t read_by = -1;
};

bool comes_first(const SlowCall& a, const SlowCall& b) {
  return std::tuple(-a.time_ns, a.rank, a.offset_bytes, a.begin_ns) <
         std::tuple(-b.time_ns, b.rank, b.offset_bytes, b.begin_ns);
}

bool is_worse(const WrongObject& a, const WrongObject& b) {
  const auto order = [](const WrongObject& wrong) {
    return std::tuple(-severity_of(wrong.mismatch.kind), wrong.read_by, wrong.mismatch.expected.offset_bytes,
                      wrong.mismatch.expected.object);
  };
  return order(a) < order(b);
}

template <class Item, class Before>
void keep_first(std::vector<Item>& items, std::size_t num, const Before& before) {
  std::sort(items.begin(), items.end(), before);
  if (items.size() > num) items.resize(num);
}

template <class Numbers>
void append_item(std::string& text, const Numbers& numbers, const std::string& host, const std::string& file) {
  static_assert(std::is_trivially_copyable_v<Numbers>);
  text.append(reinterpret_cast<const char*>(&numbers), sizeof numbers);
  cluster::append_text(text, host);
  cluster::append_text(text, file);
}

template <class Numbers>
Numbers take_numbers(cluster::Reader& from) {
  Numbers numbers;
  const std::string_view bytes = from.text_of(sizeof numbers);
  if (bytes.size() == sizeof numbers) std::memcpy(static_cast<void*>(&numbers), bytes.data(), sizeof numbers);
  return numbers;
}

std::string text_of(const SlowAndWrong& lists) {
  std::string text;
  cluster::append(text, static_cast<std::uint32_t>(lists.slow_calls.size()));
  for (const SlowCall& call : lists.slow_calls) {
    append_item(text, CallNumbers{call.rank, call.offset_bytes, call.size_bytes, call.begin_ns, call.time_ns},
                call.host, call.file);
  }
  for (const WrongObject& wrong : lists.wrong) {
    append_item(text, ObjectNumbers{wrong.mismatch, wrong.read_by}, wrong.host, wrong.file);
  }
  return text;
}

void append_from(std::string_view text, SlowAndWrong& lists) {
  cluster::Reader from(text);
  for (auto num = from.number<std::uint32_t>(); num > 0; --num) {
    const auto numbers = take_numbers<CallNumbers>(from);
    SlowCall& call = lists.slow_calls.emplace_back();
    call.rank = numbers.rank;
    call.offset_bytes = numbers.offset_bytes;
    call.size_bytes = numbers.size_bytes;
    call.begin_ns = numbers.begin_ns;
    call.time_ns = numbers.time_ns;
    call.host = from.text();
    call.file = from.text();
  }
  while (!from.at_end()) {
    const auto numbers = take_numbers<ObjectNumbers>(from);
    WrongObject& wrong = lists.wrong.emplace_back();
    wrong.mismatch = numbers.mismatch;
    wrong.read_by = numbers.read_by;
    wrong.host = from.text();
    wrong.file = from.text();
  }
}

}  // namespace

namespace {

/// Collective.
MixPart mix_part(cluster::Cluster& cluster, const RankPhase& own, const PhaseSummary& summary,
                 const PhaseContext& context) {
  const PhaseSums sums = sum_of(cluster, sums_of(cluster.rank(), own, context.request, 0));
  MixPart part;
  part.bytes = sums.bytes;
  part.num_calls = sums.num_calls;
  if (sums.num_calls == 0) return part;
  if (summary.is_complete) {
    part.bytes_per_s = rate(sums.bytes, summary.wall_ns);
    part.operations_per_s = rate(sums.num_calls, summary.wall_ns);
  }
  const auto quantile = [&](double q) {
    return latency_quantile_ns(sums.latencies, q, sums.call_ns_min, sums.call_ns_max);
  };
  part.call_ns_min = sums.call_ns_min;
  part.call_ns_p50 = quantile(0.5);
  part.call_ns_p99 = quantile(0.99);
  part.call_ns_max = sums.call_ns_max;
  return part;
}

}  // namespace

PhaseSummary summarize_phase(cluster::Cluster& cluster, const PhasePosition& position, const RankPhase& own,
                             const PhaseContext& context) {
  const PhaseSums sums = sum_of(cluster, sums_of(cluster.rank(), own, context.request, context.stop_ns));
  SlowAndWrong worst = worst_of_all(cluster, own_slow_and_wrong(cluster.rank(), own, context),
                                    context.request.num_slow_calls, num_wrong_kept);
  std::vector<RankTimes> ranks = times_of_ranks(cluster, own, context.request);

  PhaseSummary summary;
  summary.position = position;
  summary.error = context.error;
  set_totals(summary, sums);
  if (context.request.ramp_time_s > 0 && sums.io.num > 0) {
    summary.ramp_ns = sums.first_begin_ns;
    summary.ramp_bytes = sums.ramp_bytes;
  }
  // Wrong data have no rate.
  if (summary.error.empty() && summary.num_mismatches > 0) summary.error = "data are not as they were written";
  summary.is_complete = summary.error.empty();
  if (summary.is_complete) set_rates(summary, sums);
  set_first_done(summary, sums, cluster, own, context.request);
  set_stop(summary, sums);
  set_latencies(summary, sums);
  if (position.operation == IoOperation::mix) {
    summary.reads = mix_part(cluster, *context.reads, summary, context);
    summary.writes = mix_part(cluster, *context.writes, summary, context);
  }
  summary.source = source_of(summary, context);
  summary.is_durable = is_durable(summary, context);
  summary.ranks = std::move(ranks);
  summary.slow_calls = std::move(worst.slow_calls);
  summary.wrong = std::move(worst.wrong);
  for (WrongObject& wrong : summary.wrong) {
    if (wrong.file.empty()) wrong.file = name_of_file(context, wrong.mismatch.expected.file);
  }
  return summary;
}

void make_incomplete(PhaseSummary& summary, const std::string& why) {
  if (summary.error.empty()) summary.error = why;
  summary.is_complete = summary.is_durable = false;
  for (std::optional<MixPart>* part : {&summary.reads, &summary.writes}) {
    if (*part) (*part)->bytes_per_s = (*part)->operations_per_s = not_measured;
  }
  summary.bytes_per_s = summary.bytes_per_s_first_done = summary.bytes_per_s_io = summary.bytes_per_s_mean =
      summary.bytes_per_s_transfer = summary.operations_per_s = summary.bytes_per_s_at_stop = summary.fill_bytes_per_s =
          summary.verify_bytes_per_s = not_measured;
}

std::optional<PhaseSummary> interrupted_phase(const PhasePosition& position,
                                              const cluster::PartialResults& partial_results, const std::string& why) {
  PhaseSummary summary;
  summary.position = position;
  summary.is_interrupted = true;
  summary.error = "interrupted: " + why;
  for (const auto& [rank, bytes] : partial_results) {
    PartialPhase partial;
    if (bytes.size() < sizeof partial) continue;
    std::memcpy(&partial, bytes.data(), sizeof partial);
    if (std::cmp_not_equal(partial.phase, position.index)) continue;
    summary.at_interruption.push_back({rank, partial.file, partial.time_ns, partial.bytes, partial.message_bytes,
                                       partial.num_objects, bytes.substr(sizeof partial)});
    summary.bytes += partial.bytes;
    summary.message_bytes += partial.message_bytes;
    summary.num_objects += partial.num_objects;
    summary.wall_ns = std::fmax(summary.wall_ns, partial.time_ns);
  }
  if (summary.at_interruption.empty()) return std::nullopt;
  summary.message_bytes /= 2;  // both ends count
  return summary;
}

namespace {

/// Ascending, of the complete phases of an operation.
std::vector<double> rates_of(const std::vector<PhaseSummary>& phases, IoOperation operation,
                             double PhaseSummary::*rate_of_phase) {
  std::vector<double> rates;
  for (const PhaseSummary& phase : phases) {
    const bool counts = phase.position.operation == operation && phase.is_complete;
    if (counts && std::isfinite(phase.*rate_of_phase)) rates.push_back(phase.*rate_of_phase);
  }
  std::sort(rates.begin(), rates.end());
  return rates;
}

/// OperationSummary or OperationRates.
template <class Summary>
void set_rates(Summary& summary, const std::vector<double>& rates) {
  if (rates.empty()) return;
  const stats::MeanInterval interval = stats::mean_interval(rates);
  summary.min = rates.front();
  summary.median = stats::quantile_of_sorted(rates, 0.5);
  summary.mean = interval.mean;
  summary.max = rates.back();
  summary.half_width = interval.half_width;
}

}  // namespace

std::vector<OperationSummary> summarize_operations(const std::vector<PhaseSummary>& phases) {
  std::vector<OperationSummary> operations;
  for (const Named<IoOperation>& named : names_of(IoOperation{})) {
    const std::vector<double> rates = rates_of(phases, named.value, &PhaseSummary::bytes_per_s);
    const std::vector<double> operation_rates = rates_of(phases, named.value, &PhaseSummary::operations_per_s);
    if (rates.empty() && operation_rates.empty()) continue;
    OperationSummary& summary = operations.emplace_back();
    summary.operation = named.value;
    summary.num = std::max(rates.size(), operation_rates.size());
    set_rates(summary, rates);
    set_rates(summary.operations_per_s, operation_rates);
  }
  return operations;
}

int severity_of(memory::MismatchKind kind) {
  using memory::MismatchKind;
  switch (kind) {
    case MismatchKind::bit_flips:
      return 10;
    case MismatchKind::torn:
      return 9;
    case MismatchKind::unknown:
      return 8;
    case MismatchKind::shifted:
      return 7;
    case MismatchKind::other_rank:
      return 6;
    case MismatchKind::other_file:
      return 5;
    case MismatchKind::other_run:
      return 4;
    case MismatchKind::not_read:
      return 3;
    case MismatchKind::zeros:
      return 2;
    case MismatchKind::truncated:
      return 1;
  }
  return 0;
}

SlowAndWrong worst_of_all(cluster::Cluster& cluster, SlowAndWrong own, std::size_t num_slow, std::size_t num_wrong) {
  const auto keep_worst = [&](SlowAndWrong& lists) {
    keep_first(lists.slow_calls, num_slow, comes_first);
    keep_first(lists.wrong, num_wrong, is_worse);
  };
  keep_worst(own);
  const std::string all = cluster.all_reduce(text_of(own), [&](const std::string& left, std::string_view right) {
    SlowAndWrong both;
    append_from(left, both);
    append_from(right, both);
    keep_worst(both);
    return text_of(both);
  });
  SlowAndWrong worst;
  append_from(all, worst);
  return worst;
}

}  // namespace leadline::bench::io

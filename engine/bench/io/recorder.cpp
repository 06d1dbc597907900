// SPDX-License-Identifier: Apache-2.0
// Buckets by table, bins that double, a heap of the slowest calls.
#include "bench/io/recorder.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace leadline::bench::io {
namespace {

/// Least time of each bucket, in whole nanoseconds.
std::array<std::uint64_t, num_latency_buckets> make_bucket_begins() {
  std::array<std::uint64_t, num_latency_buckets> begins{};
  for (std::size_t i = 0; i < begins.size(); ++i) {
    begins[i] = static_cast<std::uint64_t>(std::ceil(std::exp2(10 + static_cast<double>(i) / 4)));
  }
  return begins;
}

bool is_slower(const SlowCall& a, const SlowCall& b) { return a.time_ns > b.time_ns; }

void double_bins(ByteSeries& series) {
  constexpr std::size_t half = num_series_bins / 2;
  for (std::size_t i = 0; i < half; ++i) series.bytes[i] = series.bytes[2 * i] + series.bytes[2 * i + 1];
  std::fill(series.bytes.begin() + half, series.bytes.end(), 0);
  series.bin_ns *= 2;
}

}  // namespace

std::size_t latency_bucket(std::uint64_t time_ns) {
  static const std::array<std::uint64_t, num_latency_buckets> begins = make_bucket_begins();
  const auto next = std::upper_bound(begins.begin() + 1, begins.end(), time_ns);
  return static_cast<std::size_t>(next - begins.begin()) - 1;
}

void spread_bytes(ByteSeries& series, std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t bytes) {
  const std::uint64_t last_ns = end_ns > begin_ns ? end_ns - 1 : begin_ns;
  while (last_ns / series.bin_ns >= num_series_bins) double_bins(series);
  const std::size_t first = begin_ns / series.bin_ns, last = last_ns / series.bin_ns;
  std::uint64_t num_given = 0;
  for (std::size_t bin = first; bin < last; ++bin) {
    // By the share of the time until the bin's end, so that nothing is lost by rounding.
    const double share =
        static_cast<double>((bin + 1) * series.bin_ns - begin_ns) / static_cast<double>(end_ns - begin_ns);
    const auto until = std::min(bytes, static_cast<std::uint64_t>(static_cast<double>(bytes) * share));
    series.bytes[bin] += until - num_given;
    num_given = until;
  }
  series.bytes[last] += bytes - num_given;
}

Recorder::Recorder(std::size_t num_slow_calls, std::size_t most_joint_calls)
    : num_slow_calls_(num_slow_calls), most_joint_calls_(most_joint_calls) {
  joint_calls_.reserve(most_joint_calls_);
  slow_calls_.reserve(num_slow_calls_ + 1);
  begin();
}

void Recorder::begin(std::uint64_t origin_ns, std::uint64_t ramp_ns) {
  origin_ns_ = origin_ns;
  ramp_ns_ = ramp_ns;
  is_in_ramp_ = ramp_ns > 0;
  row_.begin_ns = static_cast<double>(elapsed_ns());
}

/// All that was recorded is of the ramp, but for the throughput over time.
void Recorder::count_from(std::uint64_t at_ns) {
  is_in_ramp_ = false;
  RankPhase counted;
  counted.begin_ns = static_cast<double>(at_ns);
  counted.ramp_bytes = row_.ramp_bytes + row_.bytes;
  counted.ramp_objects = row_.num_objects;
  counted.series = row_.series;
  counted.file = row_.file;
  counted.cache_before = row_.cache_before;
  row_ = counted;
  aside_ns_ = 0;
  slow_calls_.clear();
  if (beside_ != nullptr) beside_->count_from(at_ns);
}

void Recorder::add_call(const DoneCall& call) {
  // One that was under way when the ramp ended.
  if (ramp_ns_ > 0 && static_cast<double>(call.begin_ns) < row_.begin_ns) {
    row_.ramp_bytes += call.moved_bytes;
    spread_bytes(row_.series, call.begin_ns, call.end_ns, call.moved_bytes);
    return;
  }
  const std::uint64_t time_ns = call.end_ns - call.begin_ns;
  const auto time = static_cast<double>(time_ns);
  row_.call_ns_min = row_.num_calls == 0 ? time : std::min(row_.call_ns_min, time);
  row_.call_ns_max = std::max(row_.call_ns_max, time);
  ++row_.num_calls;
  row_.bytes += call.moved_bytes;
  ++row_.latencies[latency_bucket(time_ns)];
  spread_bytes(row_.series, call.begin_ns, call.end_ns, call.moved_bytes);
  SlowCall slow;
  slow.offset_bytes = call.offset_bytes;
  slow.size_bytes = call.size_bytes;
  slow.begin_ns = static_cast<double>(call.begin_ns);
  slow.time_ns = time;
  keep_if_slow(slow);
}

void Recorder::keep_if_slow(const SlowCall& call) {
  if (num_slow_calls_ == 0) return;
  if (slow_calls_.size() == num_slow_calls_) {
    if (call.time_ns <= slow_calls_.front().time_ns) return;
    std::pop_heap(slow_calls_.begin(), slow_calls_.end(), is_slower);
    slow_calls_.pop_back();
  }
  slow_calls_.push_back(call);
  std::push_heap(slow_calls_.begin(), slow_calls_.end(), is_slower);
}

void Recorder::add_bytes(std::uint64_t bytes) {
  row_.bytes += bytes;
  const std::uint64_t now = elapsed_ns();
  spread_bytes(row_.series, now, now, bytes);
}

void Recorder::add(const Recorder& other) {
  RankPhase more = other.row_;
  for (std::size_t i = 0; i < num_io_times; ++i) row_.times_ns[i] += more.times_ns[i];
  const bool is_first = row_.num_calls == 0;
  if (more.num_calls > 0) {
    row_.call_ns_min = is_first ? more.call_ns_min : std::min(row_.call_ns_min, more.call_ns_min);
    row_.call_ns_max = std::max(row_.call_ns_max, more.call_ns_max);
  }
  row_.num_calls += more.num_calls;
  row_.num_continued += more.num_continued;
  row_.bytes += more.bytes;
  row_.ramp_bytes += more.ramp_bytes;
  for (std::size_t i = 0; i < num_latency_buckets; ++i) row_.latencies[i] += more.latencies[i];
  while (row_.series.bin_ns < more.series.bin_ns) double_bins(row_.series);
  while (more.series.bin_ns < row_.series.bin_ns) double_bins(more.series);
  for (std::size_t i = 0; i < num_series_bins; ++i) row_.series.bytes[i] += more.series.bytes[i];
  for (const SlowCall& call : other.slow_calls_) keep_if_slow(call);
}

void Recorder::end(SyncTiming sync) {
  const auto time_of = [&](IoTime state) { return row_.times_ns[static_cast<std::size_t>(state)]; };
  row_.end_ns = static_cast<double>(elapsed_ns());
  // A rank that was in one call until the end.
  const bool counts_nothing = row_.bytes == 0 && row_.num_objects == 0 && row_.message_bytes == 0;
  if (ramp_ns_ > 0 && counts_nothing) row_.begin_ns = static_cast<double>(ramp_ns_);
  row_.io_ns = row_.end_ns - row_.begin_ns - time_of(IoTime::fill) - time_of(IoTime::verify) - aside_ns_;
  if (sync == SyncTiming::outside) row_.io_ns -= time_of(IoTime::sync);
  row_.io_ns = std::max(row_.io_ns, 0.0);
}

}  // namespace leadline::bench::io

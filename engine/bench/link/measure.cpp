// SPDX-License-Identifier: Apache-2.0
// The link test's measuring stage: repeats, sizes, rounds; between rounds one small reduction, which is the barrier.
#include "bench/link/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>

#include "bench/link/order_statistics.hpp"
#include "bench/link/pair_meter.hpp"
#include "bench/link/retest.hpp"
#include "bench/link/tally.hpp"
#include "core/clock.hpp"
#include "schedule/schedule.hpp"

namespace leadline::bench::link {
namespace {

/// Up to so many ranks every link is opened before the first round, so that no round pays for it.
constexpr int max_ranks_connected_ahead = 256;

constexpr double row_interval_s = 2;  // a killed run loses at most about this much

double seconds_since(std::uint64_t start_ns) { return 1e-9 * static_cast<double>(now_ns() - start_ns); }

/// Where this rank is, for the watch thread: the round may be read at any time, the schedule does not change.
struct Whereabouts {
  static constexpr std::int64_t in_retest = -1, after_rounds = -2;

  std::shared_ptr<const schedule::Schedule> schedule;
  std::shared_ptr<std::atomic<std::int64_t>> round = std::make_shared<std::atomic<std::int64_t>>(0);

  std::string operator()(int rank) const {
    const std::int64_t now = round->load(std::memory_order_relaxed);
    if (now == in_retest) return "the retest of the slowest pairs";
    if (now == after_rounds) return "the summary after the last round";
    const auto meeting = schedule->meeting(rank, now);
    const std::string place = fmt::format("round {} of {}", now + 1, schedule->num_rounds());
    return meeting ? fmt::format("{}, with partner {}", place, meeting->partner) : place + ", resting";
  }
};

OwnMedians medians_of(const PairRow& row, std::span<const std::uint32_t> host_of, int rank) {
  OwnMedians medians;
  const std::uint32_t own_host = host_of[static_cast<std::size_t>(rank)];
  const auto num_on_own_host = static_cast<std::size_t>(std::count(host_of.begin(), host_of.end(), own_host));
  medians.same_host.reserve(num_on_own_host);  // growth by doubling would break the budget of 64 bytes a partner
  medians.between_hosts.reserve(host_of.size() - num_on_own_host);
  for (std::size_t partner = 0; partner < row.count.size(); ++partner) {
    if (row.count[partner] == 0) continue;
    (host_of[partner] == own_host ? medians.same_host : medians.between_hosts).push_back(row.time_ns_median[partner]);
  }
  std::sort(medians.same_host.begin(), medians.same_host.end());
  std::sort(medians.between_hosts.begin(), medians.between_hosts.end());
  return medians;
}

class Measuring {
 public:
  explicit Measuring(const Stage& stage)
      : stage_(stage), meter_(stage.meter), row_(static_cast<std::size_t>(stage.cluster.size())) {}

  Measured run();

 private:
  void follow_schedule_of(int repeat);
  void connect_ahead();
  void run_slice(const Slice& slice, int slice_number);
  void run_rounds(const Slice& slice, SliceSummary& summary);
  Tally run_round(std::int64_t round, const Slice& slice);
  std::optional<Error> store_row(const Slice& slice);
  void agree(const std::optional<Error>& own) { close_round(stage_.cluster, {}, own); }
  int repeats_needed(int done) const;

  const Stage& stage_;
  PairMeter& meter_;
  PairRow row_;
  std::shared_ptr<const schedule::Schedule> schedule_;
  Whereabouts whereabouts_;
  std::uint64_t last_rows_ns_ = 0;
  double measured_s_ = 0;  // in the loops, summed over rounds: the slowest pair of each
  Measured measured_;
};

void Measuring::follow_schedule_of(int repeat) {
  const bool changes = repeat == 0 || stage_.request.shuffle_ranks > 1;
  if (!changes) return;
  schedule_ = std::make_shared<const schedule::Schedule>(
      schedule::Schedule(schedule_spec(stage_.request, stage_.cluster.size(), repeat)));
  whereabouts_ = {schedule_};
  stage_.cluster.set_whereabouts(whereabouts_);
}

void Measuring::connect_ahead() {
  if (stage_.cluster.size() > max_ranks_connected_ahead) return;
  for (std::int64_t round = 0; round < schedule_->num_rounds(); ++round) {
    whereabouts_.round->store(round, std::memory_order_relaxed);
    if (const auto meeting = schedule_->meeting(stage_.cluster.rank(), round)) meter_.connect(meeting->partner);
  }
}

std::optional<Error> Measuring::store_row(const Slice& slice) {
  try {
    stage_.store.write(slice, row_);
    stage_.cluster.pulse().beat();
    last_rows_ns_ = now_ns();
  } catch (const AgreedError&) {
    throw;
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

Tally Measuring::run_round(std::int64_t round, const Slice& slice) {
  Tally own;
  std::optional<Error> wrong_byte;
  if (const auto meeting = schedule_->meeting(stage_.cluster.rank(), round)) {
    meter_.connect(meeting->partner);
    const PairOutcome outcome = meter_.measure(*meeting, slice.message_size_bytes);
    row_.set(static_cast<std::size_t>(meeting->partner), outcome.record);
    own.add(outcome.record.time_ns_median);
    (outcome.led_first_half ? own.slowest_first_half_ns : own.slowest_second_half_ns) = outcome.loops_ns;
    own.verified_bytes = outcome.verified_bytes;
    wrong_byte = outcome.wrong_byte;
  }
  own.rows_are_due = stage_.cluster.rank() == 0 && seconds_since(last_rows_ns_) > row_interval_s ? 1 : 0;
  return close_round(stage_.cluster, own, wrong_byte);
}

void Measuring::run_rounds(const Slice& slice, SliceSummary& summary) {
  const std::uint64_t start_ns = now_ns();
  const std::int64_t num_rounds = schedule_->num_rounds();
  for (std::int64_t round = 0; round < num_rounds; ++round) {
    whereabouts_.round->store(round, std::memory_order_relaxed);
    const Tally all = run_round(round, slice);
    summary.slowest_pairs_s += 1e-9 * (all.slowest_first_half_ns + all.slowest_second_half_ns);
    measured_.verified_bytes += all.verified_bytes;
    if (stage_.progress != nullptr && all.num_pairs > 0) {
      const double mean_ns = all.time_ns_sum / static_cast<double>(all.num_pairs);
      stage_.progress->round_done({round + 1, all.num_pairs, all.time_ns_min, mean_ns, all.time_ns_max}, num_rounds,
                                  seconds_since(start_ns));
    }
    if (all.rows_are_due != 0 && round + 1 < num_rounds) agree(store_row(slice));
  }
}

void Measuring::run_slice(const Slice& slice, int slice_number) {
  const int num_slices = stage_.plan.num_repeats * static_cast<int>(stage_.request.message_sizes_bytes.size());
  if (stage_.progress != nullptr)
    stage_.progress->slice_begins(slice, slice_number, std::max(num_slices, slice_number));
  row_.clear();
  SliceSummary summary;
  summary.slice = slice;
  const std::uint64_t start_ns = now_ns();
  last_rows_ns_ = start_ns;
  run_rounds(slice, summary);
  const std::uint64_t retest_start_ns = now_ns();
  whereabouts_.round->store(Whereabouts::after_rounds, std::memory_order_relaxed);
  summary.slowest = slowest_pairs(stage_.cluster, row_, static_cast<std::size_t>(stage_.request.retest_slowest));
  if (!summary.slowest.empty()) whereabouts_.round->store(Whereabouts::in_retest, std::memory_order_relaxed);
  retest(stage_.cluster, meter_, slice, summary.slowest, stage_.progress);
  whereabouts_.round->store(Whereabouts::after_rounds, std::memory_order_relaxed);
  summary.retest_s = seconds_since(retest_start_ns);
  agree(store_row(slice));
  summary.measuring_s = seconds_since(start_ns);

  const ClassSummaries classes =
      summarize_pairs(stage_.cluster, medians_of(row_, stage_.host_of, stage_.cluster.rank()));
  summary.all = classes.all;
  summary.same_host = classes.same_host;
  summary.between_hosts = classes.between_hosts;
  measured_s_ += summary.slowest_pairs_s;
  if (stage_.progress != nullptr) stage_.progress->slice_ends(summary);
  measured_.slices.push_back(std::move(summary));
}

/// The number of repeats that minimum time asks for, going by those that are done; the same on every rank.
int Measuring::repeats_needed(int done) const {
  const double needed = std::ceil(stage_.request.min_time_s / std::max(measured_s_ / done, 1e-9));
  constexpr int at_once = 64;  // more are asked for when these are done, by then with a better estimate
  return std::max(stage_.plan.num_repeats, static_cast<int>(std::min<double>(needed, done + at_once)));
}

Measured Measuring::run() {
  int num_repeats = stage_.plan.num_repeats;
  int slice_number = 0;
  for (int repeat = 0; repeat < num_repeats; ++repeat) {
    follow_schedule_of(repeat);
    if (repeat == 0) connect_ahead();
    stage_.cluster.barrier();
    for (const Slice& slice : slices_of(stage_.request, repeat)) run_slice(slice, ++slice_number);
    if (repeat + 1 < num_repeats) continue;
    if (const int needed = repeats_needed(repeat + 1);
        needed > num_repeats && measured_s_ < stage_.request.min_time_s) {
      stage_.store.reserve_repeats(needed);
      num_repeats = needed;
    }
  }
  return std::move(measured_);
}

}  // namespace

Measured measure(const Stage& stage) { return Measuring(stage).run(); }

}  // namespace leadline::bench::link

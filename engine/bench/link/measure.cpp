// SPDX-License-Identifier: Apache-2.0
// The link test's measuring stage: repeats, sizes, rounds; between rounds one small reduction, which is the barrier.
#include "bench/link/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bench/link/all_to_all.hpp"
#include "bench/link/pair_meter.hpp"
#include "bench/link/retest.hpp"
#include "bench/link/tally.hpp"
#include "core/clock.hpp"
#include "model/pair_cell.hpp"
#include "schedule/schedule.hpp"

namespace leadline::bench::link {
namespace {

/// Up to this number of ranks every link is opened before the first round, so that no round includes it.
constexpr int max_ranks_connected_ahead = 256;

// Suspects are measured again for at most so long, or this share of what the slice took.
constexpr double least_retest_limit_s = 5, retest_share = 0.2;

constexpr double row_interval_s = 2;  // a killed run loses at most about this much

double seconds_since(std::uint64_t start_ns) { return 1e-9 * static_cast<double>(now_ns() - start_ns); }

/// The current step of this rank, for the watch thread: the round may be read at any time, the schedule does not
/// change.
struct CurrentStep {
  static constexpr std::int64_t in_retest = -1, after_rounds = -2, in_all_to_all = -3, in_diagnosis = -4;

  std::shared_ptr<const schedule::Schedule> schedule;
  std::shared_ptr<std::atomic<std::int64_t>> round = std::make_shared<std::atomic<std::int64_t>>(0);
  std::shared_ptr<std::atomic<bool>> opens_links = std::make_shared<std::atomic<bool>>(false);

  std::string operator()(int rank) const {
    return (opens_links->load(std::memory_order_relaxed) ? "the opening of links, " : "") + place(rank);
  }

  std::string place(int rank) const {
    const std::int64_t now = round->load(std::memory_order_relaxed);
    if (now == in_retest) return "the retest of the slowest pairs";
    if (now == after_rounds) return "the summary after the last round";
    if (now == in_all_to_all) return "the exchange of all with all";
    if (now == in_diagnosis) return "the diagnosis and its retests";
    const auto pairing = schedule->pairing(rank, now);
    const std::string number = fmt::format("round {} of {}", now + 1, schedule->num_rounds());
    return pairing ? fmt::format("{}, with partner {}", number, pairing->partner) : number + ", resting";
  }
};

/// Joins two spreads of one kind of number.
void widen(Spread& all, const Spread& more) {
  if (more.num == 0) return;
  if (all.num == 0) {
    all = more;
    return;
  }
  const auto before = static_cast<double>(all.num), added = static_cast<double>(more.num);
  all.mean = (all.mean * before + more.mean * added) / (before + added);
  all.min = std::min(all.min, more.min);
  all.max = std::max(all.max, more.max);
  all.num += more.num;
}

OwnMedians medians_of(const PairRow& row, std::span<const std::uint32_t> host_of, int rank) {
  OwnMedians medians;
  const std::uint32_t own_host = host_of[static_cast<std::size_t>(rank)];
  const auto num_on_own_host = static_cast<std::size_t>(std::count(host_of.begin(), host_of.end(), own_host));
  medians.same_host.reserve(num_on_own_host);  // growth by doubling would break the budget of bytes a partner
  medians.between_hosts.reserve(host_of.size() - num_on_own_host);
  for (std::size_t partner = 0; partner < row.size(); ++partner) {
    if (row[&PairRecord::count][partner] == 0) continue;
    (host_of[partner] == own_host ? medians.same_host : medians.between_hosts)
        .push_back(row[&PairRecord::time_ns_median][partner]);
  }
  std::sort(medians.same_host.begin(), medians.same_host.end());
  std::sort(medians.between_hosts.begin(), medians.between_hosts.end());
  return medians;
}

class Measuring {
 public:
  Measuring(const Stage& stage, Measured& measured)
      : stage_(stage),
        meter_(stage.meter),
        all_to_all_(stage.request, stage.plan, stage.cluster, stage.meter),
        row_(static_cast<std::size_t>(stage.cluster.size())),
        measured_(measured) {}

  void run();

 private:
  void follow_schedule_of(int repeat);
  void connect_ahead();
  void run_slice(const Slice& slice, int slice_number);
  void run_rounds(const Slice& slice, SliceSummary& summary);
  Tally run_round(std::int64_t round, const Slice& slice);
  void show_losses();
  PairCell why_lost(int partner) const;
  void note_meeting(std::int64_t round, std::vector<std::int32_t>& met) const;
  void show(std::int64_t round, const Tally& all, const Spread& across, const Spread& all_to_all, double elapsed_s);
  Spread across_the_cut(const Tally& all, const Slice& slice) const;
  Spread exchange_around(const Slice& slice);
  Spread exchange_before(std::int64_t round, const Slice& slice);
  void store_slice(const Slice& slice);
  void find_and_retest(SliceSummary& summary);
  void diagnose_slice(SliceSummary& summary);
  std::uint64_t all_pairs() const;
  void add_coverage(SliceSummary& summary) const;
  template <typename Write>
  std::optional<Error> stored(const Write& write);
  std::optional<Error> store_row(const Slice& slice) {
    return stored([&] {
      for (int partner = 0; !meter_.lost_pairs().is_empty() && partner < stage_.cluster.size(); ++partner) {
        if (const PairCell why = why_lost(partner); why != 0) stage_.store.note_lost(partner, why);
      }
      stage_.store.write(slice, row_);
      if (is_sample(stage_.request)) stage_.store.write_cells_of_rounds(slice, cells_of_rounds_);
    });
  }
  void phase_done(Phase phase, std::uint64_t start_ns) const {
    if (stage_.progress != nullptr) stage_.progress->phase_done(phase, seconds_since(start_ns));
  }
  void agree(const std::optional<Error>& own) { close_round(stage_.cluster, {}, own); }
  int repeats_needed(int done) const;

  const Stage& stage_;
  PairMeter& meter_;
  AllToAllMeter all_to_all_;
  std::vector<double> all_to_all_ns_;  // own times before each round, by the round's number, where each round has one
  std::int64_t pairs_a_step_ = 1, last_step_ = -1;
  PairRow row_;
  std::vector<PairCell> cells_of_rounds_;  // where they are sampled: a pair may meet again, and each time counts
  std::shared_ptr<const schedule::Schedule> schedule_;
  CurrentStep current_step_;
  std::uint64_t last_rows_ns_ = 0;
  double measured_s_ = 0;  // in the loops, summed over rounds: the slowest pair of each
  Measured& measured_;
};

void Measuring::follow_schedule_of(int repeat) {
  const bool changes = repeat == 0 || stage_.request.shuffle_ranks > 1;
  if (!changes) return;
  const std::uint64_t start_ns = now_ns();
  schedule_ = std::make_shared<const schedule::Schedule>(
      schedule::Schedule(schedule_spec(stage_.request, stage_.plan.rank_layout, repeat)));
  pairs_a_step_ = pairs_a_step(stage_.request, stage_.plan.rank_layout, repeat);
  current_step_ = {schedule_};
  stage_.cluster.set_current_step(current_step_);
  phase_done(Phase::shuffling, start_ns);
}

void Measuring::connect_ahead() {
  const std::uint64_t start_ns = now_ns();
  current_step_.opens_links->store(true, std::memory_order_relaxed);
  current_step_.round->store(CurrentStep::in_all_to_all, std::memory_order_relaxed);
  all_to_all_.connect();
  const bool is_small = stage_.cluster.size() <= max_ranks_connected_ahead;
  for (std::int64_t round = 0; is_small && round < schedule_->num_rounds(); ++round) {
    current_step_.round->store(round, std::memory_order_relaxed);
    if (const auto pairing = schedule_->pairing(stage_.cluster.rank(), round)) {
      meter_.lost_pairs().attempt(pairing->partner, [] {});
    }
    meter_.lost_pairs().settle();  // round by round, so that nobody waits for one who waits for another
    show_losses();
  }
  current_step_.opens_links->store(false, std::memory_order_relaxed);
  phase_done(Phase::scheduling, start_ns);
}

/// Runs a step of the store; returns an error of this rank, to be agreed on.
template <typename Write>
std::optional<Error> Measuring::stored(const Write& write) {
  try {
    write();
    stage_.cluster.progress_counter().advance();
    last_rows_ns_ = now_ns();
  } catch (const AgreedError&) {
    throw;
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

Spread Measuring::exchange_around(const Slice& slice) {
  if (stage_.request.all_to_all != AllToAll::around) return {};
  current_step_.round->store(CurrentStep::in_all_to_all, std::memory_order_relaxed);
  return all_to_all_.measure(slice, meter_.max_exchanges()).time_ns;
}

/// Once for the pairs of a serial test that would share a round.
Spread Measuring::exchange_before(std::int64_t round, const Slice& slice) {
  if (stage_.request.all_to_all != AllToAll::before_each_round) return {};
  const std::int64_t step = (schedule_->number_of(round) - 1) / pairs_a_step_;
  if (step == std::exchange(last_step_, step)) return {};
  current_step_.round->store(CurrentStep::in_all_to_all, std::memory_order_relaxed);
  const AllToAllMeter::Outcome outcome = all_to_all_.measure(slice, 1);
  const auto index = static_cast<std::size_t>(step);
  if (all_to_all_ns_.size() <= index) all_to_all_ns_.resize(index + 1);
  all_to_all_ns_[index] = outcome.own_ns.value_or(0);
  return outcome.time_ns;
}

Tally Measuring::run_round(std::int64_t round, const Slice& slice) {
  Tally own;
  std::optional<Error> wrong_byte;
  const auto pairing = schedule_->pairing(stage_.cluster.rank(), round);
  PairOutcome outcome;
  const auto measure_pair = [&] { outcome = meter_.measure(*pairing, slice.message_size_bytes); };
  const bool is_measured = pairing && meter_.lost_pairs().attempt(pairing->partner, measure_pair);
  if (pairing && !is_measured && !cells_of_rounds_.empty()) {
    cells_of_rounds_[static_cast<std::size_t>(round)] = why_lost(pairing->partner);
  }
  if (is_measured) {
    row_.set(static_cast<std::size_t>(pairing->partner), outcome.record);
    if (!cells_of_rounds_.empty()) cells_of_rounds_[static_cast<std::size_t>(round)] = pair_cell(outcome.record);
    const double time_ns = outcome.record.time_ns_median;
    own.add(time_ns);
    own.bandwidth_bytes_per_s_sum = bandwidth_bytes_per_s(time_ns, slice.message_size_bytes, stage_.request.direction);
    (pairing->leads_first ? own.first_time_ns : own.second_time_ns) = time_ns;
    (outcome.led_first_half ? own.slowest_first_half_ns : own.slowest_second_half_ns) = outcome.loops_ns;
    own.verified_bytes = outcome.verified_bytes;
    wrong_byte = outcome.wrong_byte;
  }
  const double budget_s = stage_.request.budget_s;
  const bool is_over = budget_s > 0 && seconds_since(stage_.begin_ns) > budget_share_of_rounds * budget_s;
  own.has_lost_pairs = meter_.lost_pairs().has_news() ? 1 : 0;
  own.time_is_over = stage_.cluster.is_root() && is_over ? 1 : 0;
  own.rows_are_due = stage_.cluster.is_root() && seconds_since(last_rows_ns_) > row_interval_s ? 1 : 0;
  const Tally all = close_round(stage_.cluster, own, wrong_byte);
  meter_.lost_pairs().note_lost_ranks();
  if (all.has_lost_pairs != 0) {
    for (const std::int32_t lost : meter_.lost_pairs().settle()) {
      row_.set(static_cast<std::size_t>(lost), {});
      const bool is_of_round = pairing && pairing->partner == lost && !cells_of_rounds_.empty();
      if (is_of_round) cells_of_rounds_[static_cast<std::size_t>(round)] = why_lost(lost);
    }
    show_losses();
  }
  return all;
}

/// Every pair has two ends that measured it.
Spread Measuring::across_the_cut(const Tally& all, const Slice& slice) const {
  if (!stage_.request.bisection || all.num_pairs == 0) return {};
  const std::uint64_t num_pairs = all.num_pairs / 2;
  const auto bandwidth_of_all = [&](double time_ns) {
    return static_cast<double>(num_pairs) *
           bandwidth_bytes_per_s(time_ns, slice.message_size_bytes, stage_.request.direction);
  };
  return {num_pairs, bandwidth_of_all(all.time_ns_max), all.bandwidth_bytes_per_s_sum / 2,
          bandwidth_of_all(all.time_ns_min)};
}

void Measuring::show(std::int64_t round, const Tally& all, const Spread& across, const Spread& all_to_all,
                     double elapsed_s) {
  if (stage_.progress == nullptr || all.num_pairs == 0) return;
  RoundNumbers numbers;
  numbers.round = round + 1;
  numbers.number = schedule_->number_of(round);
  numbers.num_pairs = all.num_pairs;
  numbers.time_ns_min = all.time_ns_min;
  numbers.time_ns_mean = all.time_ns_sum / static_cast<double>(all.num_pairs);
  numbers.time_ns_max = all.time_ns_max;
  if (across.num > 0) numbers.bisection_bytes_per_s = across;
  if (stage_.request.serial) {
    const schedule::Pair pair = schedule_->pairs(round).front();
    numbers.only_pair = SerialPair{pair.first, pair.second, all.first_time_ns, all.second_time_ns};
  }
  if (all_to_all.num > 0) numbers.all_to_all = all_to_all;
  stage_.progress->round_done(numbers, schedule_->num_rounds(), elapsed_s);
}

/// 0 = it is not.
PairCell Measuring::why_lost(int partner) const {
  const LostPairs& lost_pairs = meter_.lost_pairs();
  if (partner == stage_.cluster.rank() || !lost_pairs.is_lost(partner)) return 0;
  const auto& ranks = lost_pairs.losses().ranks;
  const bool is_gone = std::ranges::find(ranks, partner, &cluster::LostRank::rank) != ranks.end();
  return is_gone ? pair_rank_lost : pair_link_lost;
}

/// Those that are new since the last time.
void Measuring::show_losses() { meter_.lost_pairs().report(measured_.losses, stage_.progress); }

void Measuring::run_rounds(const Slice& slice, SliceSummary& summary) {
  const std::uint64_t start_ns = now_ns();
  const std::int64_t num_rounds = schedule_->num_rounds();
  const bool draws_rounds = is_sample(stage_.request);
  std::vector<std::int32_t> met(draws_rounds ? row_.size() : 0);
  cells_of_rounds_.assign(draws_rounds ? static_cast<std::size_t>(num_rounds) : 0, 0);
  all_to_all_ns_.clear();
  last_step_ = -1;
  for (std::int64_t round = 0; round < num_rounds; ++round) {
    const Spread all_to_all = exchange_before(round, slice);
    current_step_.round->store(round, std::memory_order_relaxed);
    const Tally all = run_round(round, slice);
    summary.slowest_pairs_s += 1e-9 * (all.slowest_first_half_ns + all.slowest_second_half_ns);
    measured_.verified_bytes += all.verified_bytes;
    widen(summary.all_to_all.each_round, all_to_all);
    const Spread across = across_the_cut(all, slice);
    if (across.num > 0) widen(summary.bisection_bytes_per_s, {1, across.mean, across.mean, across.mean});
    show(round, all, across, all_to_all, seconds_since(start_ns));
    if (all.rows_are_due != 0 && round + 1 < num_rounds) agree(store_row(slice));
    measured_.num_rounds = round + 1;
    if (draws_rounds) note_meeting(round, met);
    if (all.time_is_over != 0 && round + 1 >= budget_rounds_min) break;
  }
  if (draws_rounds) agree(stored([&] { stage_.store.write_rounds(slice.repeat, met); }));
}

void Measuring::note_meeting(std::int64_t round, std::vector<std::int32_t>& met) const {
  const auto pairing = schedule_->pairing(stage_.cluster.rank(), round);
  if (pairing) met[static_cast<std::size_t>(pairing->partner)] = static_cast<std::int32_t>(round + 1);
}

void Measuring::find_and_retest(SliceSummary& summary) {
  const std::uint64_t start_ns = now_ns();
  current_step_.round->store(CurrentStep::after_rounds, std::memory_order_relaxed);
  summary.slowest = slowest_pairs(stage_.cluster, row_, static_cast<std::size_t>(stage_.request.retest));
  phase_done(Phase::finding_slowest, start_ns);
  const std::uint64_t retest_start_ns = now_ns();
  if (!summary.slowest.empty()) current_step_.round->store(CurrentStep::in_retest, std::memory_order_relaxed);
  retest(stage_.cluster, meter_, summary, stage_.progress);
  phase_done(Phase::retesting, retest_start_ns);
  summary.retest_s = seconds_since(start_ns);
}

/// Rows are in the file by then, whatever the result of the second measurements.
void Measuring::diagnose_slice(SliceSummary& summary) {
  if (stage_.layout == nullptr) return;
  const std::uint64_t start_ns = now_ns();
  current_step_.round->store(CurrentStep::in_diagnosis, std::memory_order_relaxed);
  double limit_s = std::max(least_retest_limit_s, retest_share * summary.measuring_s);
  if (const double budget_s = stage_.request.budget_s; budget_s > 0) {
    limit_s = std::max(0.9 * budget_s - seconds_since(stage_.begin_ns), 0.0);
  }
  const auto load = stage_.request.serial ? diagnosis::Load::alone : diagnosis::Load::concurrent;
  const bool is_round_trip = stage_.request.direction == Direction::semidirectional;
  diagnose({stage_.cluster, meter_, *stage_.layout, stage_.request.diagnosis, load, is_round_trip, limit_s,
            stage_.site_profile},
           row_, summary, is_sample(stage_.request) ? all_pairs() : summary.all.num_pairs);
  if (is_sample(stage_.request)) add_coverage(summary);
  summary.diagnosis_s = seconds_since(start_ns);
  phase_done(Phase::diagnosing, start_ns);
}

std::uint64_t Measuring::all_pairs() const {
  const auto num = static_cast<std::uint64_t>(stage_.plan.num_participants);
  return num * (num - 1);
}

/// What randomly sampled rounds have covered, and what all rounds would.
void Measuring::add_coverage(SliceSummary& summary) const {
  const std::int64_t num_full = num_full_rounds(stage_.request, stage_.plan.rank_layout);
  const double round_s = summary.measuring_s / static_cast<double>(std::max<std::int64_t>(measured_.num_rounds, 1));
  const double share =
      static_cast<double>(summary.all.num_pairs) / static_cast<double>(std::max<std::uint64_t>(all_pairs(), 1));
  summary.diagnosis->notes.push_back(
      fmt::format("{} random rounds met {:.1f} % of all pairs: enough for hosts, ports and switches. Single links and "
                  "pairs are seen only if they met; all {} rounds would take about {:.0f} s",
                  measured_.num_rounds, 100 * share, num_full, round_s * static_cast<double>(num_full)));
}

void Measuring::store_slice(const Slice& slice) {
  const std::uint64_t start_ns = now_ns();
  if (stage_.request.all_to_all == AllToAll::before_each_round) {
    agree(stored([&] { stage_.store.write_all_to_all(slice, all_to_all_ns_); }));
  }
  agree(store_row(slice));
  phase_done(Phase::writing, start_ns);
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
  summary.all_to_all.message_size_bytes = all_to_all_.message_size_bytes(slice);
  summary.all_to_all.before = exchange_around(slice);
  run_rounds(slice, summary);
  summary.all_to_all.after = exchange_around(slice);
  find_and_retest(summary);
  current_step_.round->store(CurrentStep::after_rounds, std::memory_order_relaxed);
  store_slice(slice);
  summary.measuring_s = seconds_since(start_ns);

  const ClassSummaries classes =
      summarize_pairs(stage_.cluster, medians_of(row_, stage_.host_of, stage_.cluster.rank()));
  summary.all = classes.all;
  summary.same_host = classes.same_host;
  summary.between_hosts = classes.between_hosts;
  diagnose_slice(summary);
  measured_s_ += summary.slowest_pairs_s;
  if (stage_.progress != nullptr) stage_.progress->slice_ends(summary);
  agree(stored([&] { stage_.store.close_slice(summary); }));
  show_losses();
  measured_.slices.push_back(std::move(summary));
}

/// The number of repeats that the minimum time needs, estimated from those that are done; the same on every rank.
int Measuring::repeats_needed(int done) const {
  const double needed = std::ceil(stage_.request.min_time_s / std::max(measured_s_ / done, 1e-9));
  constexpr int at_once = 64;  // more follow when these are done, with a better estimate
  return std::max(stage_.plan.num_repeats, static_cast<int>(std::min<double>(needed, done + at_once)));
}

void Measuring::run() {
  int num_repeats = stage_.plan.num_repeats;
  int slice_number = 0;
  for (int repeat = 0; repeat < num_repeats; ++repeat) {
    follow_schedule_of(repeat);
    if (repeat == 0) connect_ahead();
    stage_.cluster.barrier();
    const double measured_before_s = measured_s_;
    for (const Slice& slice : slices_of(stage_.request, repeat)) run_slice(slice, ++slice_number);
    if (repeat + 1 < num_repeats) continue;
    if (measured_s_ == measured_before_s) break;  // no pair is left, so no time will pass in messages any more
    if (const int needed = repeats_needed(repeat + 1);
        needed > num_repeats && measured_s_ < stage_.request.min_time_s) {
      agree(stored([&] { stage_.store.reserve_repeats(needed); }));
      num_repeats = needed;
    }
  }
}

}  // namespace

void measure(const Stage& stage, Measured& measured) { Measuring(stage, measured).run(); }

}  // namespace leadline::bench::link

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
#include "diagnosis/drift.hpp"
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

/// What this rank has of a slice until it is in the file.
struct Measurement {
  Measurement(const Slice& slice, std::size_t num_ranks) : row(num_ranks) { summary.slice = slice; }

  const Slice& slice() const { return summary.slice; }

  PairRow row;
  Tally received;                         ///< --shift: means of what came from others
  std::vector<PairCell> cells_of_rounds;  ///< where they are sampled: a pair may meet again, and each time counts
  SliceSummary summary;
};

class Measuring {
 public:
  Measuring(const Stage& stage, Measured& measured)
      : stage_(stage),
        meter_(stage.meter),
        all_to_all_(stage.request, stage.plan, stage.cluster, stage.meter),
        measured_(measured) {}

  void run();

 private:
  void follow_schedule_of(int repeat);
  void connect_ahead();
  void run_slices(const std::vector<Slice>& slices);
  void run_rounds();
  Tally run_round(std::int64_t round, Measurement& of_slice);
  Tally run_shift(std::int64_t round, Measurement& of_slice);
  Tally end_round(Tally own, const std::optional<Error>& wrong_byte);
  void finish(Measurement& of_slice, int num_left);
  void show_losses();
  PairCell why_lost(int partner) const;
  void note_meeting(std::int64_t round);
  void show(std::int64_t round, const Tally& all, const Spread& across, const Spread& all_to_all, double elapsed_s);
  Spread across_the_cut(const Tally& all, const Slice& slice) const;
  Spread exchange_around(const Slice& slice);
  Spread exchange_before(std::int64_t round, const Slice& slice);
  void store(const Measurement& of_slice);
  void find_and_retest(Measurement& of_slice);
  void diagnose_slice(Measurement& of_slice, int num_left);
  std::uint64_t all_pairs() const;
  void add_coverage(SliceSummary& summary) const;
  template <typename Write>
  std::optional<Error> stored(const Write& write);
  std::optional<Error> store_row(const Measurement& of_slice) {
    return stored([&] {
      for (int partner = 0; !meter_.lost_pairs().is_empty() && partner < stage_.cluster.size(); ++partner) {
        if (const PairCell why = why_lost(partner); why != 0) stage_.store.note_lost(partner, why);
      }
      stage_.store.write(of_slice.slice(), of_slice.row);
      if (is_sample(stage_.request)) stage_.store.write_cells_of_rounds(of_slice.slice(), of_slice.cells_of_rounds);
    });
  }
  void phase_done(Phase phase, std::uint64_t start_ns) const {
    if (stage_.progress != nullptr) stage_.progress->phase_done(phase, seconds_since(start_ns));
  }
  Spread spread_of_means(const PairRow& row);
  void agree(const std::optional<Error>& own) { close_round(stage_.cluster, {}, own); }
  int repeats_needed(int done) const;

  const Stage& stage_;
  PairMeter& meter_;
  AllToAllMeter all_to_all_;
  std::vector<double> all_to_all_ns_;  // own times before each round, by the round's number, where each round has one
  std::int64_t pairs_a_step_ = 1, last_step_ = -1;
  std::vector<std::int32_t> met_;    // by partner: the round in which this rank met it, from 1; 0 = in none
  std::vector<Measurement> slices_;  // whose rounds run now: one, or where they are sampled all sizes
  int num_slices_begun_ = 0;
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
  // Where both ends of a link have other partners too, links are opened round by round, in one order for all.
  const bool is_small = stage_.cluster.size() <= max_ranks_connected_ahead && !stage_.request.shift;
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

Tally Measuring::run_round(std::int64_t round, Measurement& of_slice) {
  Tally own;
  std::optional<Error> wrong_byte;
  const auto pairing = schedule_->pairing(stage_.cluster.rank(), round);
  const std::uint64_t message_size_bytes = of_slice.slice().message_size_bytes;
  auto& cells = of_slice.cells_of_rounds;
  PairOutcome outcome;
  const auto measure_pair = [&] { outcome = meter_.measure(*pairing, message_size_bytes); };
  const bool is_measured = pairing && meter_.lost_pairs().attempt(pairing->partner, measure_pair);
  if (pairing && !is_measured && !cells.empty()) cells[static_cast<std::size_t>(round)] = why_lost(pairing->partner);
  if (is_measured) {
    of_slice.row.set(static_cast<std::size_t>(pairing->partner), outcome.record);
    if (!cells.empty()) cells[static_cast<std::size_t>(round)] = pair_cell(outcome.record);
    const double time_ns = outcome.record.time_ns_median;
    own.add(time_ns);
    own.bandwidth_bytes_per_s_sum = bandwidth_bytes_per_s(time_ns, message_size_bytes, stage_.request.direction);
    (pairing->leads_first ? own.first_time_ns : own.second_time_ns) = time_ns;
    (outcome.led_first_half ? own.slowest_first_half_ns : own.slowest_second_half_ns) = outcome.loops_ns;
    own.verified_bytes = outcome.verified_bytes;
    wrong_byte = outcome.wrong_byte;
  }
  own.has_lost_pairs = meter_.lost_pairs().has_news() ? 1 : 0;
  const Tally all = end_round(own, wrong_byte);
  if (all.has_lost_pairs != 0) {
    for (const std::int32_t lost : meter_.lost_pairs().settle()) {
      of_slice.row.set(static_cast<std::size_t>(lost), {});
      const bool is_of_round = pairing && pairing->partner == lost && !cells.empty();
      if (is_of_round) cells[static_cast<std::size_t>(round)] = why_lost(lost);
    }
    show_losses();
  }
  return all;
}

Tally Measuring::end_round(Tally own, const std::optional<Error>& wrong_byte) {
  const double budget_s = stage_.request.budget_s;
  const bool is_over = budget_s > 0 && seconds_since(stage_.begin_ns) > budget_share_of_rounds * budget_s;
  own.time_is_over = stage_.cluster.is_root() && is_over ? 1 : 0;
  own.rows_are_due = stage_.cluster.is_root() && seconds_since(last_rows_ns_) > row_interval_s ? 1 : 0;
  const Tally all = close_round(stage_.cluster, own, wrong_byte);
  meter_.lost_pairs().note_lost_ranks();
  return all;
}

/// The row has what this rank sent; links that are lost in it are settled when it returns.
Tally Measuring::run_shift(std::int64_t round, Measurement& of_slice) {
  const int rank = stage_.cluster.rank();
  const std::uint64_t message_size_bytes = of_slice.slice().message_size_bytes;
  const auto pairing = schedule_->pairing(rank, round);
  const std::optional<int> to = pairing ? std::optional(pairing->partner) : std::nullopt;
  const ShiftOutcome outcome = meter_.measure_shift(to, schedule_->source(rank, round), message_size_bytes);
  Tally own;
  if (outcome.sent.count > 0) {
    of_slice.row.set(static_cast<std::size_t>(*to), outcome.sent);
    own.add(outcome.sent.time_ns_median);
    own.slowest_first_half_ns = outcome.loops_ns;
  }
  if (outcome.received.count > 0) of_slice.received.add(outcome.received.time_ns_mean);
  const Tally all = end_round(own, std::nullopt);
  show_losses();
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

/// Where several sizes take their rounds together, progress shows the last one.
void Measuring::run_rounds() {
  const std::uint64_t start_ns = now_ns();
  const std::int64_t num_rounds = schedule_->num_rounds();
  const bool draws_rounds = is_sample(stage_.request);
  met_.assign(draws_rounds ? static_cast<std::size_t>(stage_.cluster.size()) : 0, 0);
  if (!draws_rounds && stage_.cluster.size() <= diagnosis::most_ranks_of_rounds) {
    const int repeat = slices_.front().slice().repeat;
    met_ = MeetingRounds(stage_.request, stage_.plan.rank_layout, repeat).of(stage_.cluster.rank());
  }
  for (Measurement& of_slice : slices_) {
    of_slice.cells_of_rounds.assign(draws_rounds ? static_cast<std::size_t>(num_rounds) : 0, 0);
  }
  all_to_all_ns_.clear();
  last_step_ = -1;
  bool is_over = false;
  for (std::int64_t round = 0; round < num_rounds && !is_over; ++round) {
    bool rows_are_due = false;
    for (Measurement& of_slice : slices_) {
      const std::uint64_t round_start_ns = now_ns();
      SliceSummary& summary = of_slice.summary;
      const Spread all_to_all = exchange_before(round, of_slice.slice());
      current_step_.round->store(round, std::memory_order_relaxed);
      const Tally all = stage_.request.shift ? run_shift(round, of_slice) : run_round(round, of_slice);
      summary.slowest_pairs_s += 1e-9 * (all.slowest_first_half_ns + all.slowest_second_half_ns);
      measured_.verified_bytes += all.verified_bytes;
      widen(summary.all_to_all.each_round, all_to_all);
      const Spread across = across_the_cut(all, of_slice.slice());
      if (across.num > 0) widen(summary.bisection_bytes_per_s, {1, across.mean, across.mean, across.mean});
      if (&of_slice == &slices_.back()) show(round, all, across, all_to_all, seconds_since(start_ns));
      rows_are_due = rows_are_due || all.rows_are_due != 0;
      is_over = is_over || (all.time_is_over != 0 && round + 1 >= budget_rounds_min);
      summary.measuring_s += seconds_since(round_start_ns);
    }
    measured_.num_rounds = round + 1;
    if (draws_rounds) note_meeting(round);
    for (Measurement& of_slice : slices_) {
      if (!rows_are_due || round + 1 == num_rounds) continue;
      const std::uint64_t rows_start_ns = now_ns();
      agree(store_row(of_slice));
      of_slice.summary.measuring_s += seconds_since(rows_start_ns);
    }
  }
  if (draws_rounds) agree(stored([&] { stage_.store.write_rounds(slices_.front().slice().repeat, met_); }));
}

void Measuring::note_meeting(std::int64_t round) {
  const auto pairing = schedule_->pairing(stage_.cluster.rank(), round);
  if (pairing) met_[static_cast<std::size_t>(pairing->partner)] = static_cast<std::int32_t>(round + 1);
}

void Measuring::find_and_retest(Measurement& of_slice) {
  SliceSummary& summary = of_slice.summary;
  const std::uint64_t start_ns = now_ns();
  current_step_.round->store(CurrentStep::after_rounds, std::memory_order_relaxed);
  summary.slowest = slowest_pairs(stage_.cluster, of_slice.row, static_cast<std::size_t>(stage_.request.retest));
  phase_done(Phase::finding_slowest, start_ns);
  const std::uint64_t retest_start_ns = now_ns();
  if (!summary.slowest.empty()) current_step_.round->store(CurrentStep::in_retest, std::memory_order_relaxed);
  retest(stage_.cluster, meter_, summary, stage_.progress);
  phase_done(Phase::retesting, retest_start_ns);
  summary.retest_s = seconds_since(start_ns);
}

/// Rows are in the file by then, whatever the result of the second measurements. `num_left` slices share what is left
/// of --budget.
void Measuring::diagnose_slice(Measurement& of_slice, int num_left) {
  if (stage_.layout == nullptr) return;
  SliceSummary& summary = of_slice.summary;
  const std::uint64_t start_ns = now_ns();
  current_step_.round->store(CurrentStep::in_diagnosis, std::memory_order_relaxed);
  double limit_s = std::max(least_retest_limit_s, retest_share * summary.measuring_s);
  if (const double budget_s = stage_.request.budget_s; budget_s > 0) {
    limit_s = std::max(0.9 * budget_s - seconds_since(stage_.begin_ns), 0.0) / num_left;
  }
  const auto load = stage_.request.serial ? diagnosis::Load::alone : diagnosis::Load::concurrent;
  const bool is_round_trip = stage_.request.direction == Direction::semidirectional;
  std::span<const std::int32_t> rounds;
  if (stage_.cluster.size() <= diagnosis::most_ranks_of_rounds) rounds = met_;
  diagnose({stage_.cluster, meter_, *stage_.layout, stage_.request.diagnosis, load, is_round_trip, limit_s,
            stage_.site_profile, stage_.line_rate, rounds},
           of_slice.row, summary, is_sample(stage_.request) ? all_pairs() : summary.all.num_pairs);
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
  double measuring_s = 0;
  for (const Measurement& of_slice : slices_) measuring_s += of_slice.summary.measuring_s;
  const double round_s = measuring_s / static_cast<double>(std::max<std::int64_t>(measured_.num_rounds, 1));
  const double share =
      static_cast<double>(summary.all.num_pairs) / static_cast<double>(std::max<std::uint64_t>(all_pairs(), 1));
  summary.diagnosis->notes.push_back(
      fmt::format("{} random rounds met {:.1f} % of all pairs: enough for hosts, ports and switches. Single links and "
                  "pairs are seen only if they met; all {} rounds would take about {:.0f} s",
                  measured_.num_rounds, 100 * share, num_full, round_s * static_cast<double>(num_full)));
}

void Measuring::store(const Measurement& of_slice) {
  const std::uint64_t start_ns = now_ns();
  if (stage_.request.all_to_all == AllToAll::before_each_round) {
    agree(stored([&] { stage_.store.write_all_to_all(of_slice.slice(), all_to_all_ns_); }));
  }
  agree(store_row(of_slice));
  phase_done(Phase::writing, start_ns);
}

void Measuring::finish(Measurement& of_slice, int num_left) {
  SliceSummary& summary = of_slice.summary;
  const std::uint64_t start_ns = now_ns();
  summary.all_to_all.after = exchange_around(of_slice.slice());
  find_and_retest(of_slice);
  current_step_.round->store(CurrentStep::after_rounds, std::memory_order_relaxed);
  store(of_slice);
  summary.measuring_s += seconds_since(start_ns);

  const ClassSummaries classes =
      summarize_pairs(stage_.cluster, medians_of(of_slice.row, stage_.host_of, stage_.cluster.rank()));
  summary.all = classes.all;
  summary.same_host = classes.same_host;
  summary.between_hosts = classes.between_hosts;
  if (stage_.request.like != Like::none) summary.mean_time_ns = spread_of_means(of_slice.row);
  if (stage_.request.shift) {
    summary.received_mean_time_ns = spread_of(close_round(stage_.cluster, of_slice.received, std::nullopt));
  }
  diagnose_slice(of_slice, num_left);
  measured_s_ += summary.slowest_pairs_s;
  if (stage_.progress != nullptr) stage_.progress->slice_ends(summary);
  agree(stored([&] { stage_.store.close_slice(summary); }));
  show_losses();
  measured_.slices.push_back(std::move(summary));
}

/// Of all pairs, the same on all ranks.
Spread Measuring::spread_of_means(const PairRow& row) {
  Tally own;
  for (std::size_t partner = 0; partner < row.size(); ++partner) {
    if (row[&PairRecord::count][partner] > 0) own.add(row[&PairRecord::time_ns_mean][partner]);
  }
  return spread_of(close_round(stage_.cluster, own, std::nullopt));
}

void Measuring::run_slices(const std::vector<Slice>& slices) {
  const int num_slices = stage_.plan.num_repeats * static_cast<int>(stage_.request.message_sizes_bytes.size());
  if (stage_.progress != nullptr) {
    stage_.progress->slices_begin(slices, num_slices_begun_ + 1, std::max(num_slices, num_slices_begun_ + 1));
  }
  num_slices_begun_ += static_cast<int>(slices.size());
  slices_.clear();
  for (const Slice& slice : slices) slices_.emplace_back(slice, static_cast<std::size_t>(stage_.cluster.size()));
  last_rows_ns_ = now_ns();
  for (Measurement& of_slice : slices_) {
    const std::uint64_t start_ns = now_ns();
    of_slice.summary.all_to_all.message_size_bytes = all_to_all_.message_size_bytes(of_slice.slice());
    of_slice.summary.all_to_all.before = exchange_around(of_slice.slice());
    of_slice.summary.measuring_s += seconds_since(start_ns);
  }
  run_rounds();
  int num_left = static_cast<int>(slices_.size());
  for (Measurement& of_slice : slices_) finish(of_slice, num_left--);
}

/// The number of repeats that the minimum time needs, estimated from those that are done; the same on every rank.
int Measuring::repeats_needed(int done) const {
  const double needed = std::ceil(stage_.request.min_time_s / std::max(measured_s_ / done, 1e-9));
  constexpr int at_once = 64;  // more follow when these are done, with a better estimate
  return std::max(stage_.plan.num_repeats, static_cast<int>(std::min<double>(needed, done + at_once)));
}

void Measuring::run() {
  int num_repeats = stage_.plan.num_repeats;
  for (int repeat = 0; repeat < num_repeats; ++repeat) {
    follow_schedule_of(repeat);
    if (repeat == 0) connect_ahead();
    stage_.cluster.barrier();
    const double measured_before_s = measured_s_;
    const std::vector<Slice> slices = slices_of(stage_.request, repeat);
    if (is_sample(stage_.request)) {
      run_slices(slices);
    } else {
      for (const Slice& slice : slices) run_slices({slice});
    }
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

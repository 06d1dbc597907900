// SPDX-License-Identifier: Apache-2.0
// The bisection test's measuring stage: size by size, pattern by pattern, all ranks in step.
#include "bench/bisection/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "bench/bisection/exchange_loop.hpp"
#include "bench/bisection/retest.hpp"
#include "bench/bisection/stopping.hpp"
#include "bench/bisection/tally.hpp"
#include "bench/current_step.hpp"
#include "bench/links.hpp"
#include "bench/lost_pairs.hpp"
#include "bench/reductions.hpp"
#include "core/units.hpp"
#include "kernel/barrier.hpp"
#include "schedule/pattern.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::bisection {
namespace {

using schedule::Pattern;
using schedule::Route;

constexpr double row_interval_s = 2;   // a killed run loses at most about this much
constexpr double swapped_share = 0.1;  // of the pairs in a step of the search; guessed
constexpr int max_retests_alone = 3;   // of one connection; guessed

Interval as_model(const stats::MeanInterval& interval) { return {interval.num, interval.mean, interval.half_width}; }

[[noreturn]] void throw_no_pair_left() {
  throw AgreedError(Error(ExitStatus::run_failed, "no pair of ranks is left that a random pattern could have",
                          "all others are lost", "Look at what was lost first"));
}

/// One message size under way.
struct Size {
  Size(const BisectionRequest& request, int size_index)
      : index(size_index),
        message_size_bytes(request.message_sizes_bytes[static_cast<std::size_t>(size_index)]),
        stopping(request) {}

  std::span<const RankTimes> random_times() const { return std::span(times).first(num_random); }

  int index;
  std::uint64_t message_size_bytes;
  std::vector<RankTimes> times;  ///< this rank's, by the pattern's number; random ones come first
  std::size_t num_random = 0, num_written = 0, num_baseline_written = 0;
  RootDecision word;  ///< the last one
  StopReason stopped_by = StopReason::not_stopped;
  // Over random patterns, as all ranks know them.
  Stopping stopping;  ///< decides on the root
  stats::RunningMean full_load;
  std::uint64_t num_connections = 0;
  double time_ns_sum = 0;
  // The start of the next search step: the worst pattern so far.
  std::uint64_t worst_index = 0;
  double worst_bytes_per_s = std::numeric_limits<double>::infinity();
  std::vector<double> baseline;               ///< rates of pairs alone
  std::vector<stats::PairedSample> patterns;  ///< of those pairs by pattern: rates in it and alone; control: in it,
                                              ///< less the mean of all connections
};

class Measuring {
 public:
  Measuring(const Stage& stage, CurrentStep& current_step, Measured& measured)
      : stage_(stage),
        current_step_(current_step),
        lost_pairs_(stage.request, stage.cluster, stage.transport),
        loop_(stage, lost_pairs_),
        ranks_(stage.plan.ranks),
        budget_(stage.request),
        size_(stage.request, 0),
        measured_(measured) {}

  void run();

 private:
  std::uint64_t num_others() const { return stage_.plan.max_patterns(stage_.request) - max_random(); }
  std::uint64_t max_random() const { return stage_.plan.has_random ? stage_.request.rounds : 0; }
  PatternPosition next_position(PatternKind kind, std::uint64_t index, int repeat, const std::string& name) const;

  void run_size(int size_index);
  void run_random();
  void run_named();
  void run_worst();
  /// Whether there is no time for another pattern; the first one is always measured.
  bool time_is_over() const { return !size_.times.empty() && size_.word.time_is_over; }

  void run_step(const std::function<void()>& step);
  void note_losses();
  void open_barrier_links();
  Pattern random_pattern(std::uint64_t index) const;
  bool is_any_pair_left() const;
  Pattern without_lost(Pattern pattern) const;
  std::optional<PatternSummary> run_pattern(const PatternPosition& position, Pattern pattern);
  void link(std::int32_t one, std::int32_t other);
  void note(const PatternSummary& summary, const Tally& all);
  RootDecision decide(const PatternPosition& position) const;
  void keep(const PatternSummary& summary, const RankTimes& own);
  std::vector<double> times_alone(std::span<const AlonePair> pairs, std::uint64_t message_size_bytes);
  void run_baseline(const PatternPosition& position, const Pattern& pattern);
  std::vector<double> rates_in_last_pattern(std::span<const AlonePair> pairs);
  void write_rows(const std::optional<WrongByte>& wrong_byte);

  BisectionSummary summarize();
  void retest(double median_bytes_per_s);

  const Stage& stage_;
  CurrentStep& current_step_;
  LostPairs lost_pairs_;
  ExchangeLoop loop_;
  std::vector<std::int32_t> ranks_;  // of the plan's those that are not lost
  TimeBudget budget_;                // counts on the root
  Size size_;
  std::uint64_t num_verified_ = 0;  // exchanges, on all ranks alike: numbers the next one
  std::size_t num_patterns_written_ = 0, num_baseline_written_ = 0;
  double last_rows_s_ = 0;
  Measured& measured_;
};

PatternPosition Measuring::next_position(PatternKind kind, std::uint64_t index, int repeat,
                                         const std::string& name) const {
  return {size_.index, size_.message_size_bytes, size_.times.size(), kind, index, repeat, name};
}

/// Collective: what may be repeated, since a rank or a pair of ranks gets lost in it.
void Measuring::run_step(const std::function<void()>& step) {
  lost_pairs_.until_nothing_is_lost(step);
  note_losses();
}

void Measuring::note_losses() {
  lost_pairs_.note_lost_ranks();
  if (!lost_pairs_.report(measured_.losses, stage_.progress)) return;
  std::erase_if(ranks_, [&](std::int32_t rank) { return lost_pairs_.is_lost(rank, rank); });
}

/// They stay open; those to partners are opened pattern by pattern.
void Measuring::open_barrier_links() {
  const int rank = stage_.cluster.rank();
  const std::vector<std::int32_t> partners = kernel::barrier_partners(rank, stage_.cluster.size());
  run_step([&] { lost_pairs_.open(in_hashed_order(partners, rank)); });
  stage_.cluster.barrier();
}

Pattern Measuring::without_lost(Pattern pattern) const {
  const Losses& losses = lost_pairs_.losses();
  if (losses.pairs.empty() && losses.ranks.empty()) return pattern;
  for (std::size_t rank = 0; rank < pattern.send_to.size(); ++rank) {
    std::int32_t& to = pattern.send_to[rank];
    if (to != schedule::no_rank && lost_pairs_.is_lost(static_cast<std::int32_t>(rank), to)) to = schedule::no_rank;
  }
  return pattern;
}

/// Opened in the order of all pairs, see bench/links.hpp.
void Measuring::link(std::int32_t one, std::int32_t other) {
  std::vector<std::int32_t> partners;
  for (const std::int32_t partner : {one, other}) {
    if (partner != schedule::no_rank) partners.push_back(partner);
  }
  lost_pairs_.open(in_hashed_order(partners, stage_.cluster.rank()));
}

/// Counts on the root alone.
RootDecision Measuring::decide(const PatternPosition& position) const {
  RootDecision word;
  if (position.kind == PatternKind::random) {
    const double elapsed_s = budget_.size_elapsed_s();
    const double pattern_s = elapsed_s / static_cast<double>(position.number + 1);
    word.stop = size_.stopping.decide(elapsed_s, budget_.random_limit_s(num_others(), pattern_s));
  }
  word.time_is_over = budget_.size_is_over();
  word.rows_are_due = budget_.elapsed_s() - last_rows_s_ > row_interval_s;
  return word;
}

void Measuring::note(const PatternSummary& summary, const Tally& all) {
  size_.stopping.add(summary.bytes_per_s_mean);
  size_.num_connections += all.num_connections;
  size_.time_ns_sum += all.time_ns_sum;
  ++size_.num_random;
  if (summary.bytes_per_s_mean < size_.worst_bytes_per_s) {
    size_.worst_bytes_per_s = summary.bytes_per_s_mean;
    size_.worst_index = summary.position.index;
  }
}

void Measuring::keep(const PatternSummary& summary, const RankTimes& own) {
  size_.times.push_back(own);
  measured_.patterns.push_back(summary);
  if (stage_.progress == nullptr) return;
  stage_.progress->pattern_ends(summary, size_.stopping.interval(), budget_.elapsed_s());
}

/// Collective. Nothing where ranks or pairs get lost until no pair is left.
std::optional<PatternSummary> Measuring::run_pattern(const PatternPosition& position, Pattern pattern) {
  current_step_.enter(step_text(position, Activity::pattern));
  if (stage_.progress != nullptr) stage_.progress->pattern_begins(position, pattern);
  const double begin_s = budget_.elapsed_s();
  const std::uint64_t size_bytes = position.message_size_bytes;
  Route route;
  std::optional<WrongByte> wrong_byte;
  Loop loop;
  run_step([&] {
    pattern = without_lost(std::move(pattern));
    route = pattern.route(stage_.cluster.rank());
    link(route.to, route.from);
    if (stage_.request.verify) wrong_byte = loop_.verify(route, position, num_verified_);
    loop = loop_.run(route, traffic_of(pattern), size_bytes);
  });
  if (stage_.request.verify) num_verified_ += stage_.request.num_exchanges;

  Tally own = tally_of(stage_.cluster.rank(), loop, size_bytes);
  if (wrong_byte) own.num_wrong = 1;
  if (stage_.request.verify && receives(route)) {
    own.verified_bytes = stage_.request.num_exchanges * size_bytes;
  }
  const Tally all = sum_of(stage_.cluster, own);
  if (all.num_connections == 0) return std::nullopt;
  measured_.verified_bytes += all.verified_bytes;
  PatternSummary summary = summary_of(position, all);
  summary.accepted = position.kind == PatternKind::worst && summary.bytes_per_s_mean < size_.worst_bytes_per_s;
  if (position.kind == PatternKind::random) note(summary, all);

  const double full_load_ns = full_load_time_ns(loop, all.shortest_loop_ns);
  Closing closing{receives(route) ? bytes_per_s(size_bytes, full_load_ns) : 0, decide(position)};
  closing = close_pattern(stage_.cluster, closing);
  size_.word = closing.word;
  summary.bytes_per_s_full_load = closing.full_load_bytes_per_s_sum / static_cast<double>(all.num_connections);
  if (position.kind == PatternKind::random) {
    size_.full_load.add(summary.bytes_per_s_full_load);
    size_.stopped_by = closing.word.stop;
  }
  summary.begin_s = begin_s;
  summary.measuring_s = budget_.elapsed_s() - begin_s;
  keep(summary, {route.to, route.from, loop.time_ns(), full_load_ns});
  if (all.num_wrong > 0) write_rows(wrong_byte);
  if (position.kind == PatternKind::random) run_baseline(position, pattern);
  return summary;
}

/// Collective. Throws AgreedError where any rank cannot write, or has seen a wrong byte.
void Measuring::write_rows(const std::optional<WrongByte>& wrong_byte) {
  const RankRow row{size_.index,
                    size_.num_written,
                    std::span(size_.times).subspan(size_.num_written),
                    std::span(measured_.patterns).subspan(num_patterns_written_),
                    size_.num_baseline_written,
                    std::span(measured_.baseline).subspan(num_baseline_written_)};
  if (row.times.empty()) return;
  write_and_agree(
      stage_.cluster, [&] { stage_.store.write(row); }, wrong_byte);
  stage_.cluster.progress_counter().advance();
  size_.num_written = size_.times.size();
  size_.num_baseline_written += row.baseline.size();
  num_patterns_written_ = measured_.patterns.size();
  num_baseline_written_ = measured_.baseline.size();
  last_rows_s_ = budget_.elapsed_s();
}

/// Collective: of each pair the time of a message while all others rest, on all ranks; 0 where the pair is lost.
std::vector<double> Measuring::times_alone(std::span<const AlonePair> pairs, std::uint64_t message_size_bytes) {
  const int rank = stage_.cluster.rank();
  std::vector<double> times_ns(pairs.size());
  run_step([&] {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto [from, to] = pairs[i];
      times_ns[i] = 0;
      if (lost_pairs_.is_lost(from, to)) continue;
      if (rank == from) link(to, schedule::no_rank);
      if (rank == to) link(from, schedule::no_rank);
      times_ns[i] = loop_.share_of_pair(from, to, message_size_bytes);
    }
  });
  sum_over_ranks(stage_.cluster, times_ns);
  note_losses();  // the other half of a time may be missing
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (lost_pairs_.is_lost(pairs[i].from, pairs[i].to)) times_ns[i] = 0;
  }
  return times_ns;
}

void Measuring::run_baseline(const PatternPosition& position, const Pattern& pattern) {
  const std::vector<AlonePair> pairs =
      draw_baseline_pairs(pattern, stage_.request.num_baseline_pairs, stage_.request.seed, position.index);
  if (pairs.empty()) return;
  current_step_.enter(step_text(position, Activity::baseline));
  const std::vector<double> times_ns = times_alone(pairs, position.message_size_bytes);
  const std::vector<double> in_pattern = rates_in_last_pattern(pairs);
  stats::RunningMean together, alone;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (times_ns[i] == 0) continue;
    size_.baseline.push_back(bytes_per_s(position.message_size_bytes, times_ns[i]));
    measured_.baseline.push_back({size_.index, position.number, pairs[i].from, pairs[i].to, times_ns[i]});
    together.add(in_pattern[i]);
    alone.add(size_.baseline.back());
  }
  if (alone.num() == 0) return;
  const double of_all = measured_.patterns.back().bytes_per_s_mean;
  size_.patterns.push_back({together.mean(), alone.mean(), together.mean() - of_all});
}

/// Collective: of each pair the mean of both ends' rates in the last pattern.
std::vector<double> Measuring::rates_in_last_pattern(std::span<const AlonePair> pairs) {
  const int rank = stage_.cluster.rank();
  std::vector<double> rates(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bool is_end = rank == pairs[i].from || rank == pairs[i].to;
    rates[i] = is_end ? bytes_per_s(size_.message_size_bytes, size_.times.back().time_ns) / 2 : 0;
  }
  sum_over_ranks(stage_.cluster, rates);
  return rates;
}

Pattern Measuring::random_pattern(std::uint64_t index) const {
  const Plan& plan = stage_.plan;
  return schedule::random_pattern(plan.participants, ranks_, stage_.request.seed, index);
}

/// Of those that a random pattern may have: the few of this one may all be lost.
bool Measuring::is_any_pair_left() const {
  const schedule::Participants& participants = stage_.plan.participants;
  const auto host = [&](std::int32_t rank) { return participants.host_of[static_cast<std::size_t>(rank)]; };
  const bool hosts_matter = !participants.within_hosts && !participants.host_of.empty();
  return std::ranges::any_of(ranks_, [&](std::int32_t one) {
    return std::ranges::any_of(ranks_, [&](std::int32_t other) {
      return one != other && !lost_pairs_.is_lost(one, other) && !(hosts_matter && host(one) == host(other));
    });
  });
}

void Measuring::run_random() {
  for (std::uint64_t index = 0; size_.stopped_by == StopReason::not_stopped; ++index) {
    const PatternPosition position = next_position(PatternKind::random, index, 0, name_of(PatternKind::random));
    if (!run_pattern(position, random_pattern(index)) && !is_any_pair_left()) throw_no_pair_left();
    if (size_.word.rows_are_due) write_rows(std::nullopt);
  }
}

void Measuring::run_named() {
  const Plan& plan = stage_.plan;
  for (int repeat = 0; repeat < stage_.request.repeat; ++repeat) {
    for (std::size_t i = 0; i < plan.named.size(); ++i) {
      if (time_is_over()) return;
      const schedule::PatternSpec& spec = plan.named[i];
      run_pattern(next_position(PatternKind::named, i, repeat, spec.name),
                  schedule::named_pattern(spec, plan.rank_layout.num_ranks, plan.ranks));
      if (size_.word.rows_are_due) write_rows(std::nullopt);
    }
  }
}

void Measuring::run_worst() {
  const Plan& plan = stage_.plan;
  const BisectionRequest& request = stage_.request;
  if (request.num_worst_steps == 0) return;
  Pattern worst = random_pattern(size_.worst_index);
  // The worst of many is partly due to chance: it is measured again first, and later steps are compared with that.
  size_.worst_bytes_per_s = std::numeric_limits<double>::infinity();
  for (std::uint64_t step = 0; step < request.num_worst_steps && !time_is_over(); ++step) {
    Pattern proposal =
        step == 0 ? worst
                  : schedule::with_swapped_partners(worst, plan.participants, swapped_share, request.seed, step);
    const auto summary = run_pattern(next_position(PatternKind::worst, step, 0, name_of(PatternKind::worst)), proposal);
    if (!summary) return;
    if (summary->accepted) {
      worst = std::move(proposal);
      size_.worst_bytes_per_s = summary->bytes_per_s_mean;
    }
    if (size_.word.rows_are_due) write_rows(std::nullopt);
  }
}

/// Collective. Over the random patterns.
BisectionSummary Measuring::summarize() {
  BisectionSummary summary;
  summary.size_index = size_.index;
  summary.message_size_bytes = size_.message_size_bytes;
  summary.num_patterns = size_.num_random;
  summary.num_connections = size_.num_connections;
  summary.stopped_by = size_.stopped_by;
  stats::RunningMean baseline;
  for (const double rate : size_.baseline) baseline.add(rate);
  summary.ebb = size_.stopping.interval();
  summary.full_load = as_model(stats::mean_interval(size_.full_load));
  summary.baseline = as_model(stats::mean_interval(baseline));
  if (!size_.patterns.empty()) {
    const double fastest = *std::ranges::max_element(size_.baseline);
    stats::RunningMean shares;
    for (const stats::PairedSample& one : size_.patterns) shares.add(one.denominator / fastest);
    summary.static_share = as_model(stats::mean_interval(shares));
    summary.contention_share = as_model(stats::paired_ratio_interval(size_.patterns));
  }
  if (size_.num_connections > 0) {
    summary.bytes_per_s_harmonic =
        bytes_per_s(size_.message_size_bytes, size_.time_ns_sum / static_cast<double>(size_.num_connections));
  }
  summary.measuring_s = budget_.size_elapsed_s();

  std::vector<double> own_times_ns;
  std::vector<diagnosis::Observation> observed;
  const auto rank = static_cast<std::uint32_t>(stage_.cluster.rank());
  for (const RankTimes& own : size_.random_times()) {
    if (own.from == schedule::no_rank) continue;
    own_times_ns.push_back(own.time_ns);
    observed.push_back({static_cast<std::uint32_t>(own.from), rank, own.time_ns});
  }
  measured_.observed.push_back(diagnosis::joined_by_pair(std::move(observed)));
  Distribution distribution =
      distribution_over_ranks(stage_.cluster, own_times_ns, size_.message_size_bytes, stage_.request.num_buckets);
  summary.bytes_per_s_min = distribution.min;
  summary.bytes_per_s_p01 = distribution.p01;
  summary.bytes_per_s_p05 = distribution.p05;
  summary.bytes_per_s_median = distribution.median;
  summary.bytes_per_s_max = distribution.max;
  summary.tail = summary.bytes_per_s_median / summary.bytes_per_s_p01;
  summary.buckets = std::move(distribution.buckets);
  return summary;
}

/// Collective: each of the suspected connections again, one after the other, while all others rest. One that is slow
/// alone has its best of several attempts: what else the hosts do makes a connection slower, and never faster. The
/// others come between two attempts, so that what disturbs a host for some milliseconds does not meet all of them.
void Measuring::retest(double median_bytes_per_s) {
  // Of few pairs alone most may have a slow end; then the median connection is the better reference.
  double usual_bytes_per_s = median_bytes_per_s;
  if (!size_.baseline.empty()) {
    std::sort(size_.baseline.begin(), size_.baseline.end());
    usual_bytes_per_s = std::fmax(usual_bytes_per_s, stats::quantile_of_sorted(size_.baseline, 0.5));
  }
  std::vector<SlowConnection> suspected =
      suspected_connections(stage_.cluster, size_.index, size_.random_times(), stage_.request.retest);
  if (!suspected.empty()) {
    current_step_.enter(fmt::format("bisection {}, the retest of connections", format_bytes(size_.message_size_bytes)));
  }
  for (SlowConnection& connection : suspected) {
    connection.alone_time_ns = std::numeric_limits<double>::infinity();
    connection.slow_alone = true;
  }
  for (int attempt = 0; attempt < max_retests_alone; ++attempt) {
    for (SlowConnection& connection : suspected) {
      if (!connection.slow_alone) continue;
      const AlonePair pair{connection.from, connection.to};
      const double time_ns = times_alone(std::span(&pair, 1), size_.message_size_bytes).front();
      if (time_ns == 0) continue;  // the pair is lost
      connection.alone_time_ns = std::min(connection.alone_time_ns, time_ns);
      connection.slow_alone = bytes_per_s(size_.message_size_bytes, connection.alone_time_ns) <
                              (1 - stage_.request.diagnosis.threshold) * usual_bytes_per_s;
    }
  }
  for (const SlowConnection& connection : suspected) {
    if (std::isinf(connection.alone_time_ns)) continue;
    if (stage_.progress != nullptr) stage_.progress->retest_done(connection);
    measured_.slow_connections.push_back(connection);
  }
}

void Measuring::run_size(int size_index) {
  size_ = Size(stage_.request, size_index);
  budget_.begin_size();
  if (stage_.progress != nullptr) stage_.progress->size_begins(size_index, size_.message_size_bytes);
  if (stage_.plan.has_random) run_random();
  run_named();
  run_worst();
  write_rows(std::nullopt);
  const BisectionSummary summary = summarize();
  retest(summary.bytes_per_s_median);
  if (stage_.progress != nullptr) stage_.progress->size_ends(summary);
  measured_.sizes.push_back(summary);
}

void Measuring::run() {
  if (stage_.store.any_rank_can_finish()) stage_.cluster.go_on_without_root();
  open_barrier_links();
  for (std::size_t i = 0; i < stage_.request.message_sizes_bytes.size(); ++i) run_size(static_cast<int>(i));
  current_step_.enter("the search for slow hosts and switches");
  note_losses();
}

}  // namespace

std::string step_text(const PatternPosition& position, Activity activity) {
  return fmt::format("bisection {}, {}pattern {} ({})", format_bytes(position.message_size_bytes),
                     activity == Activity::baseline ? "pairs alone behind " : "", position.number, position.name);
}

void measure(const Stage& stage, Measured& measured) {
  const std::shared_ptr<CurrentStep> current_step = show_current_step(stage.cluster);
  Measuring(stage, *current_step, measured).run();
}

}  // namespace leadline::bench::bisection

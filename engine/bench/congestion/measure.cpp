// SPDX-License-Identifier: Apache-2.0
// The congestion test's measuring stage: of each round the links, then phase after phase.
#include "bench/congestion/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "bench/congestion/traffic.hpp"
#include "bench/current_step.hpp"
#include "bench/links.hpp"
#include "bench/message_memory.hpp"
#include "bench/reductions.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "kernel/barrier.hpp"
#include "stats/interval.hpp"

namespace leadline::bench::congestion {
namespace {

using transport::Messages;

constexpr std::uint64_t messages_of_sample = 8;   // of the bandwidth test: fewer come together out of a socket
constexpr double share_until_given_up = 1.0 / 3;  // of --timeout, behind the end of a phase

constexpr std::size_t index_of(Test test) { return static_cast<std::size_t>(test); }
constexpr std::size_t index_of(Shared shared) { return static_cast<std::size_t>(shared); }

/// On which hosts, and below which switches next to hosts, ranks load the network.
class LoadedParts {
 public:
  LoadedParts(const Plan& plan, const network::Network& network) : host_of_(plan.rank_layout.host_of) {
    if (!network.levels.empty()) leaf_of_ = network.levels.front().group_of;
    for (const std::int32_t rank : plan.roles.load) {
      hosts_.insert(host_of(rank));
      if (!leaf_of_.empty()) leaves_.insert(leaf_of_[host_of(rank)]);
    }
  }

  /// What messages between these two share with the load.
  Shared shared_by(std::int32_t one, std::int32_t other) const {
    const auto is_any = [&](const auto& is_loaded) { return is_loaded(host_of(one)) || is_loaded(host_of(other)); };
    if (is_any([&](std::uint32_t host) { return hosts_.contains(host); })) return Shared::host;
    if (leaf_of_.empty()) return Shared::further;
    const bool is_leaf = is_any([&](std::uint32_t host) { return leaves_.contains(leaf_of_[host]); });
    return is_leaf ? Shared::leaf : Shared::further;
  }

 private:
  std::uint32_t host_of(std::int32_t rank) const {
    return host_of_.empty() ? 0 : host_of_[static_cast<std::size_t>(rank)];
  }

  std::span<const std::uint32_t> host_of_;
  std::vector<std::uint32_t> leaf_of_;  ///< by host; empty where the network is unknown
  std::set<std::uint32_t> hosts_, leaves_;
};

/// What ranks do at the same time.
struct Phase {
  enum class Kind : std::uint8_t { victims_alone, load_alone, both };

  Kind kind = Kind::both;
  Cell cell;
  double usual_latency_ns = 0;  ///< of victims alone, nine of ten are shorter; 0 = no recovery is timed

  bool has_victims() const { return kind != Kind::load_alone; }
  bool has_load() const { return kind != Kind::victims_alone && cell.load >= 0; }
};

std::string text_of(const CongestionRequest& request, const Phase& phase) {
  switch (phase.kind) {
    case Phase::Kind::victims_alone:
      return "victims alone";
    case Phase::Kind::load_alone:
      return request.loads[static_cast<std::size_t>(phase.cell.load)] + " alone";
    case Phase::Kind::both:
      break;
  }
  return "victims under " + name_of(request, phase.cell);
}

/// Counts what the streams of a load send while it counts.
class LoadCounter final : public StreamObserver {
 public:
  LoadCounter(std::size_t num_streams, std::uint64_t begin_ns, std::uint64_t end_ns)
      : num_(num_streams), begin_ns_(begin_ns), end_ns_(end_ns) {}

  void sent(std::size_t stream, std::uint64_t now_ns) override {
    if (now_ns >= begin_ns_ && now_ns < end_ns_) ++num_[stream];
  }

  std::uint64_t all() const { return std::accumulate(num_.begin(), num_.end(), std::uint64_t{0}); }
  double elapsed_s() const { return 1e-9 * static_cast<double>(end_ns_ - begin_ns_); }

  /// From one message of a stream to the next; 0 where it has sent none.
  std::uint64_t interval_ns(std::size_t stream) const {
    return num_[stream] > 0 ? (end_ns_ - begin_ns_) / num_[stream] : 0;
  }

 private:
  std::vector<std::uint64_t> num_;
  std::uint64_t begin_ns_, end_ns_;
};

/// Times the messages of the bandwidth test where they arrive: several together, told as the time of one.
class BandwidthTimer final : public StreamObserver {
 public:
  BandwidthTimer(std::uint64_t counts_from_ns, stats::TimeHistogram& times)
      : counts_from_ns_(counts_from_ns), times_(times) {}

  void received(std::size_t /*stream*/, std::uint64_t now_ns) override {
    if (now_ns < counts_from_ns_) return;
    if (num_++ % messages_of_sample != 0) return;
    if (num_ > 1) times_.add(static_cast<double>(now_ns - begin_ns_) / messages_of_sample);
    begin_ns_ = now_ns;
  }

 private:
  std::uint64_t counts_from_ns_;
  stats::TimeHistogram& times_;
  std::uint64_t num_ = 0, begin_ns_ = 0;
};

class Measuring {
 public:
  Measuring(const Stage& stage, Measured& measured)
      : stage_(stage),
        measured_(measured),
        lost_pairs_(stage.request, stage.cluster, stage.transport),
        current_step_(show_current_step(stage.cluster)),
        loaded_parts_(stage.plan, stage.network),
        timetable_(timetable_of(stage.request)),
        rank_(stage.cluster.rank()),
        is_victim_(stage.plan.is_victim(rank_)),
        own_(stage.plan.cells.size()),
        sums_(stage.plan.cells.size()),
        intervals_ns_(stage.plan.loads.size()) {
    measured_.tests.resize(stage.plan.cells.size());
    measured_.loads.resize(stage.plan.cells.size());
    measured_.alone_bytes_per_s.resize(stage.plan.loads.size());
  }

  void run() {
    const std::uint64_t start_ns = now_ns();
    for (std::uint32_t round = 0; round < stage_.request.rounds; ++round) {
      if (!begin_round(round) || !run_round(round)) break;
      ++measured_.num_rounds;
      if (stage_.progress != nullptr) {
        stage_.progress->round_ends(round, 1e-9 * static_cast<double>(now_ns() - start_ns));
      }
    }
    current_step_->enter("the summary");
  }

 private:
  struct RoundOfCell {
    PhaseTotals alone, loaded;
  };
  using TimesOfCell = std::array<RoundTimes, num_tests>;

  bool begin_round(std::uint32_t round);
  bool run_round(std::uint32_t round);
  bool run_loads_alone();
  bool run_cell(std::size_t cell, RoundOfCell& of_round);
  bool run_phase(const Phase& phase, PhaseTotals& totals, stats::TimeHistogram RoundTimes::*state);
  bool run_victim(const Phase& phase, Messages& messages, Traffic& traffic, std::uint64_t start_ns, PhaseTotals& own);
  bool run_latency(Messages& messages, Traffic& traffic, std::uint64_t begin_ns, const Traffic::Done& done);
  bool run_bandwidth(Messages& messages, Traffic& traffic, std::uint64_t begin_ns, PhaseTotals& own);
  bool run_allreduce(Messages& messages, Traffic& traffic, std::uint64_t begin_ns, PhaseTotals& own);
  bool time_recovery(const Phase& phase, Messages& messages, Traffic& traffic, std::uint64_t begin_ns,
                     PhaseTotals& own);
  bool run_load(const Phase& phase, Messages& messages, Traffic& traffic, std::uint64_t start_ns, PhaseTotals& own);
  bool take_part(const Phase& phase, std::uint64_t start_ns, PhaseTotals& own);
  void keep(const std::vector<RoundOfCell>& cells);
  void write(std::uint32_t round, const std::vector<RoundOfCell>& cells);

  std::vector<std::int32_t> partners_of_victim() const;
  std::vector<std::int32_t> partners_under(std::size_t load) const;
  std::vector<LoadChannel> channels(std::size_t load) const {
    return load_channels(stage_.plan, stage_.plan.loads[load], stage_.request.seed, round_, rank_);
  }
  bool is_anything_lost();
  std::optional<std::uint64_t> give_up_ns(std::uint64_t start_ns) const;
  double usual_latency_ns();

  const Stage& stage_;
  Measured& measured_;
  LostPairs lost_pairs_;
  std::shared_ptr<CurrentStep> current_step_;
  LoadedParts loaded_parts_;
  Timetable timetable_;
  std::int32_t rank_;
  bool is_victim_;
  std::vector<TimesOfCell> own_;                          ///< a victim's own, by cell: all rounds so far
  std::vector<TimesOfCell> sums_;                         ///< on rank 0 those of all
  std::vector<std::vector<std::uint64_t>> intervals_ns_;  ///< by load, by stream of this rank: without pauses
  stats::TimeHistogram alone_latency_;                    ///< on rank 0
  std::unique_ptr<Traffic> traffic_;                      ///< has memory that may be written to

  // Of this round.
  std::uint32_t round_ = 0;
  std::size_t phase_index_ = 0, cell_ = 0;
  std::vector<double> loads_alone_;  ///< bytes a second, by load
  std::int32_t partner_ = -1;        ///< a victim's; -1 = it rests
  bool sends_first_ = false;
  Shared shared_ = Shared::further;
};

/// Those with whom it measures in this round: in pairs, and all victims together.
std::vector<std::int32_t> Measuring::partners_of_victim() const {
  const std::vector<std::int32_t>& victims = stage_.plan.roles.victims;
  const auto place = static_cast<int>(std::ranges::find(victims, rank_) - victims.begin());
  std::vector<std::int32_t> partners;
  for (const std::int32_t other : kernel::barrier_partners(place, static_cast<int>(victims.size()))) {
    partners.push_back(victims[static_cast<std::size_t>(other)]);
  }
  if (partner_ >= 0 && std::ranges::count(partners, partner_) == 0) partners.push_back(partner_);
  return partners;
}

std::vector<std::int32_t> Measuring::partners_under(std::size_t load) const {
  std::vector<std::int32_t> partners;
  for (const LoadChannel& channel : channels(load)) partners.push_back(channel.partner);
  return partners;
}

/// Pairs and links; false where something is lost.
bool Measuring::begin_round(std::uint32_t round) {
  round_ = round;
  phase_index_ = 0;
  partner_ = -1;
  for (const auto& [first, second] : victim_pairs(stage_.plan, stage_.request.seed, round)) {
    if (first != rank_ && second != rank_) continue;
    partner_ = first == rank_ ? second : first;
    sends_first_ = first == rank_;
    shared_ = loaded_parts_.shared_by(first, second);
  }
  std::vector<std::int32_t> partners;
  if (is_victim_) partners = partners_of_victim();
  for (std::size_t load = 0; load < stage_.plan.loads.size(); ++load) {
    for (const std::int32_t partner : partners_under(load)) partners.push_back(partner);
  }
  current_step_->enter(fmt::format("the opening of links for round {}", round + 1));
  lost_pairs_.until_nothing_is_lost([&] { lost_pairs_.open(in_hashed_order(partners, rank_)); });
  return !is_anything_lost();
}

/// But for ranks that have not come, for which there is a plan without them. Local, after a collective.
bool Measuring::is_anything_lost() {
  lost_pairs_.note_lost_ranks();
  lost_pairs_.report(measured_.losses, stage_.progress);
  const Losses& losses = measured_.losses;
  const auto plays = [&](const cluster::LostRank& lost) {
    return stage_.plan.is_victim(lost.rank) || std::ranges::binary_search(stage_.plan.roles.load, lost.rank);
  };
  return !losses.pairs.empty() || !losses.cut_off_ranks.empty() || std::ranges::any_of(losses.ranks, plays);
}

std::optional<std::uint64_t> Measuring::give_up_ns(std::uint64_t start_ns) const {
  if (!lost_pairs_.goes_on()) return std::nullopt;
  const double patience_ns = 1e9 * share_until_given_up * stage_.request.timeout_s;
  return start_ns + timetable_.begin_of(num_tests + 1) + static_cast<std::uint64_t>(patience_ns);
}

/// Collective; 0 before anything is known.
double Measuring::usual_latency_ns() {
  const double own = alone_latency_.num() > 0 ? alone_latency_.quantile_ns(Recovery::usual_quantile) : 0;
  return value_of_root(stage_.cluster, own);
}

bool Measuring::run_latency(Messages& messages, Traffic& traffic, std::uint64_t begin_ns, const Traffic::Done& done) {
  if (partner_ < 0) return true;
  const auto interval_ns = static_cast<std::uint64_t>(1e9 * stage_.request.interval_s);
  const std::uint64_t num = std::max<std::uint64_t>(timetable_.test_ns / interval_ns, 1);
  if (!sends_first_) return traffic.answer(messages, partner_, num);
  return traffic.send_on_schedule(messages, partner_, {num, begin_ns, interval_ns}, done);
}

bool Measuring::run_bandwidth(Messages& messages, Traffic& traffic, std::uint64_t begin_ns, PhaseTotals& own) {
  if (partner_ < 0) return true;
  BandwidthTimer timer(timetable_.counts_from(begin_ns), own.times[index_of(Test::bandwidth)][index_of(shared_)]);
  const StreamEnd end{partner_, sends_first_, !sends_first_};
  const LargeMessages large = stage_.memory.large(bandwidth_size_bytes(stage_.request));
  return traffic.stream(messages, std::span(&end, 1), large, begin_ns + timetable_.test_ns, timer);
}

bool Measuring::run_allreduce(Messages& messages, Traffic& traffic, std::uint64_t begin_ns, PhaseTotals& own) {
  auto& times = own.times[index_of(Test::allreduce)][index_of(Shared::all)];
  const std::uint64_t counts_from_ns = timetable_.counts_from(begin_ns);
  return traffic.allreduce(messages, stage_.plan.roles.victims, rank_, begin_ns + timetable_.test_ns,
                           [&](std::uint64_t from_ns, std::uint64_t time_ns) {
                             if (from_ns >= counts_from_ns) times.add(static_cast<double>(time_ns));
                           });
}

bool Measuring::time_recovery(const Phase& phase, Messages& messages, Traffic& traffic, std::uint64_t begin_ns,
                              PhaseTotals& own) {
  return run_latency(messages, traffic, begin_ns, [&](std::uint64_t due_ns, std::uint64_t time_ns) {
    const std::uint64_t bin = (due_ns - begin_ns) * Recovery::num_bins / timetable_.test_ns;
    const auto at = std::min<std::size_t>(bin, Recovery::num_bins - 1);
    ++own.recovery.num[at];
    if (static_cast<double>(time_ns) > phase.usual_latency_ns) ++own.recovery.num_long[at];
  });
}

bool Measuring::run_victim(const Phase& phase, Messages& messages, Traffic& traffic, std::uint64_t start_ns,
                           PhaseTotals& own) {
  const auto begin_of = [&](Test test) { return start_ns + timetable_.begin_of(index_of(test)); };
  auto& latencies = own.times[index_of(Test::latency)][index_of(shared_)];
  const std::uint64_t counts_from_ns = timetable_.counts_from(begin_of(Test::latency));
  const auto latency_done = [&](std::uint64_t due_ns, std::uint64_t time_ns) {
    if (due_ns >= counts_from_ns) latencies.add(static_cast<double>(time_ns));
  };
  traffic.wait_until(begin_of(Test::latency));
  if (!run_latency(messages, traffic, begin_of(Test::latency), latency_done)) return false;
  traffic.wait_until(begin_of(Test::bandwidth));
  if (!run_bandwidth(messages, traffic, begin_of(Test::bandwidth), own)) return false;
  traffic.wait_until(begin_of(Test::allreduce));
  if (!run_allreduce(messages, traffic, begin_of(Test::allreduce), own)) return false;
  if (!phase.has_load() || !(phase.usual_latency_ns > 0)) return true;
  const std::uint64_t end_of_load_ns = start_ns + timetable_.end_of_load();
  traffic.wait_until(end_of_load_ns);
  return time_recovery(phase, messages, traffic, end_of_load_ns, own);
}

bool Measuring::run_load(const Phase& phase, Messages& messages, Traffic& traffic, std::uint64_t start_ns,
                         PhaseTotals& own) {
  const auto load = static_cast<std::size_t>(phase.cell.load);
  const bool has_pauses = phase.kind == Phase::Kind::both && phase.cell.intensity_percent < 100;
  std::vector<StreamEnd> ends;
  for (const LoadChannel& channel : channels(load)) {
    StreamEnd end{channel.partner, channel.sends, channel.receives};
    if (has_pauses && channel.sends) {
      end.interval_ns =
          intervals_ns_[load][ends.size()] * 100 / static_cast<std::uint64_t>(phase.cell.intensity_percent);
    }
    ends.push_back(end);
  }
  const std::uint64_t size = stage_.request.load_size_bytes, end_ns = start_ns + timetable_.end_of_load();
  LoadCounter counter(ends.size(), start_ns + timetable_.begin_of(0), end_ns);
  if (!traffic.stream(messages, ends, stage_.memory.large(size), end_ns, counter)) return false;
  if (phase.kind == Phase::Kind::load_alone) {
    intervals_ns_[load].clear();
    for (std::size_t i = 0; i < ends.size(); ++i) intervals_ns_[load].push_back(counter.interval_ns(i));
  }
  if (std::ranges::any_of(ends, &StreamEnd::sends)) {
    own.load.add(static_cast<double>(counter.all() * size) / counter.elapsed_s());
  }
  return true;
}

/// This rank's part of a phase; false where it was given up.
bool Measuring::take_part(const Phase& phase, std::uint64_t start_ns, PhaseTotals& own) {
  std::vector<std::int32_t> partners;
  if (is_victim_ && phase.has_victims()) partners = partners_of_victim();
  if (phase.has_load()) {
    const auto under_load = partners_under(static_cast<std::size_t>(phase.cell.load));
    partners.insert(partners.end(), under_load.begin(), under_load.end());
  }
  if (partners.empty()) return true;
  traffic_ = std::make_unique<Traffic>(stage_.request.wait, give_up_ns(start_ns), stage_.cluster.progress_counter());
  const auto messages = stage_.transport.messages(partners, Traffic::num_tickets(partners.size()));
  const InTransport in_transport(stage_.cluster.progress_counter(), AwaitedRanks::Ranks{partners, {}});
  const bool is_whole = is_victim_ ? run_victim(phase, *messages, *traffic_, start_ns, own)
                                   : run_load(phase, *messages, *traffic_, start_ns, own);
  for (const cluster::ConnectionLost& lost : messages->lost_links()) lost_pairs_.add(lost);
  return is_whole;
}

/// False where something is lost in it. `totals` are those of all ranks; a victim's own go to `state`.
bool Measuring::run_phase(const Phase& phase, PhaseTotals& totals, stats::TimeHistogram RoundTimes::*state) {
  const std::string what = text_of(stage_.request, phase);
  current_step_->enter(fmt::format("round {} of {}, {}", round_ + 1, stage_.request.rounds, what));
  if (stage_.progress != nullptr) stage_.progress->phase_begins(round_, phase_index_, what);
  ++phase_index_;
  PhaseTotals own;
  stage_.cluster.barrier();
  const bool is_whole = take_part(phase, now_ns(), own);
  const std::string sum = stage_.cluster.all_reduce(own.packed(), [](const std::string& left, std::string_view right) {
    PhaseTotals both = PhaseTotals::unpacked(left);
    both.merge(PhaseTotals::unpacked(right));
    return both.packed();
  });
  const auto add = [](std::int32_t one, std::int32_t other) { return one + other; };
  const auto num_given_up = merged_over_ranks(stage_.cluster, std::int32_t{is_whole ? 0 : 1}, add);
  if (num_given_up > 0) lost_pairs_.settle();
  if (is_anything_lost()) return false;
  if (num_given_up > 0) {
    throw AgreedError(Error(ExitStatus::run_failed, fmt::format("messages did not arrive in {}", what),
                            "they are late by more than a third of --timeout",
                            "Ask for a smaller --load-size, or a longer --timeout"));
  }
  totals = PhaseTotals::unpacked(sum);
  for (std::size_t test = 0; is_victim_ && state != nullptr && test < num_tests; ++test) {
    for (const stats::TimeHistogram& times : own.times[test]) {
      (own_[cell_][test].*state).merge(times);
    }
  }
  return true;
}

/// What each load reaches where nothing holds it back: what shares of it are shares of.
bool Measuring::run_loads_alone() {
  for (std::size_t load = 0; load < stage_.plan.loads.size(); ++load) {
    if (!stage_.plan.has_pauses) continue;
    Cell cell{static_cast<std::int32_t>(load), 100};
    PhaseTotals totals;
    if (!run_phase({Phase::Kind::load_alone, cell}, totals, nullptr)) return false;
    loads_alone_[load] = totals.load.sum;
  }
  return true;
}

bool Measuring::run_cell(std::size_t cell, RoundOfCell& of_round) {
  cell_ = cell;
  const auto alone = [&] {
    const Phase phase{Phase::Kind::victims_alone, stage_.plan.cells[cell]};
    if (!run_phase(phase, of_round.alone, &RoundTimes::alone)) return false;
    if (stage_.cluster.rank() == 0) {
      for (const auto& times : of_round.alone.times[index_of(Test::latency)]) alone_latency_.merge(times);
    }
    return true;
  };
  const auto loaded = [&] {
    const Phase phase{Phase::Kind::both, stage_.plan.cells[cell], usual_latency_ns()};
    return run_phase(phase, of_round.loaded, &RoundTimes::loaded);
  };
  return begins_alone(round_) ? alone() && loaded() : loaded() && alone();
}

bool Measuring::run_round(std::uint32_t round) {
  loads_alone_.assign(stage_.plan.loads.size(), 0);
  if (!run_loads_alone()) return false;
  std::vector<RoundOfCell> cells(stage_.plan.cells.size());
  for (const std::size_t cell : order_of_cells(stage_.plan, round)) {
    if (!run_cell(cell, cells[cell])) return false;
  }
  keep(cells);
  write(round, cells);
  return true;
}

/// All that is shared together.
stats::TimeHistogram sum_of(const std::array<stats::TimeHistogram, num_shared>& by_shared) {
  stats::TimeHistogram sum;
  for (const stats::TimeHistogram& times : by_shared) sum.merge(times);
  return sum;
}

/// On rank 0, once the whole round is there.
void Measuring::keep(const std::vector<RoundOfCell>& cells) {
  if (stage_.cluster.rank() != 0) return;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const auto& [alone, loaded] = cells[cell];
    for (std::size_t test = 0; test < num_tests; ++test) {
      auto& rounds = measured_.tests[cell][test];
      for (std::size_t shared = 0; shared < num_shared; ++shared) {
        const bool is_all = shared == index_of(Shared::all);
        const RoundTimes times{is_all ? sum_of(alone.times[test]) : alone.times[test][shared],
                               is_all ? sum_of(loaded.times[test]) : loaded.times[test][shared]};
        if (is_all) {
          sums_[cell][test].alone.merge(times.alone);
          sums_[cell][test].loaded.merge(times.loaded);
        }
        if (times.alone.num() + times.loaded.num() > 0) rounds[shared].push_back(times);
      }
    }
    if (stage_.plan.cells[cell].load < 0) continue;
    measured_.loads[cell].bytes_per_s.push_back(loaded.load.sum);
    measured_.loads[cell].fairness.push_back(loaded.load.index());
    measured_.loads[cell].recovery.merge(loaded.recovery);
  }
  if (!stage_.plan.has_pauses) return;
  for (std::size_t load = 0; load < loads_alone_.size(); ++load) {
    measured_.alone_bytes_per_s[load].push_back(loads_alone_[load]);
  }
}

void Measuring::write(std::uint32_t round, const std::vector<RoundOfCell>& cells) {
  std::vector<RoundNumbers> tests;
  std::vector<LoadNumbers> loads;
  std::vector<Distribution> distributions;
  std::vector<VictimNumbers> own;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    for (std::size_t test = 0; test < num_tests; ++test) {
      if (is_victim_) own.push_back({times_of(own_[cell][test].alone), times_of(own_[cell][test].loaded)});
      if (stage_.cluster.rank() != 0) continue;
      tests.push_back(
          {times_of(sum_of(cells[cell].alone.times[test])), times_of(sum_of(cells[cell].loaded.times[test]))});
      Distribution& distribution = distributions.emplace_back();
      for (std::size_t bucket = 0; bucket < stats::TimeHistogram::num_buckets; ++bucket) {
        distribution.alone[bucket] = sums_[cell][test].alone.count_of(bucket);
        distribution.loaded[bucket] = sums_[cell][test].loaded.count_of(bucket);
      }
    }
    if (stage_.cluster.rank() == 0) loads.push_back({cells[cell].loaded.load.sum, cells[cell].loaded.load.index()});
  }
  write_and_agree(
      stage_.cluster,
      [&] {
        stage_.store.write({round, tests, loads, distributions, own});
      },
      std::nullopt);
}

double mean_of(const std::vector<double>& values) {
  stats::RunningMean mean;
  for (const double value : values) {
    if (!std::isnan(value)) mean.add(value);
  }
  return mean.mean();
}

}  // namespace

MessageMemory::MessageMemory(const CongestionRequest& request)
    : send_(memory::allocator_named(request.allocator), largest_bytes(request)),
      receive_(memory::allocator_named(request.allocator), largest_bytes(request)) {}

void measure(const Stage& stage, Measured& measured) { Measuring(stage, measured).run(); }

std::vector<Impact> impacts_of(const CongestionRequest& request, const Plan& plan, const Measured& measured) {
  std::vector<Impact> impacts;
  for (std::size_t cell = 0; cell < measured.tests.size(); ++cell) {
    for (const Test test : all_tests) {
      const auto& by_shared = measured.tests[cell][index_of(test)];
      const auto num_parts =
          std::count_if(by_shared.begin() + 1, by_shared.end(), [](const auto& rounds) { return !rounds.empty(); });
      for (std::size_t shared = 0; shared < num_shared; ++shared) {
        // The only part is all of it: told where its name says something.
        const bool tells_parts = num_parts > 1 || !request.topology.empty();
        if (by_shared[shared].empty() || (shared != index_of(Shared::all) && !tells_parts)) continue;
        Impact impact = impact_of(by_shared[shared]);
        impact.cell = plan.cells[cell];
        impact.test = test;
        impact.shared = static_cast<Shared>(shared);
        impacts.push_back(impact);
      }
    }
  }
  return impacts;
}

std::vector<LoadSummary> loads_of(const CongestionRequest& request, const Plan& plan, const Measured& measured) {
  std::vector<LoadSummary> loads;
  for (std::size_t cell = 0; cell < plan.cells.size(); ++cell) {
    if (plan.cells[cell].load < 0) continue;
    const LoadRounds& rounds = measured.loads[cell];
    LoadSummary& load = loads.emplace_back();
    load.cell = plan.cells[cell];
    load.num_rounds = static_cast<std::uint32_t>(rounds.bytes_per_s.size());
    load.bytes_per_s = mean_of(rounds.bytes_per_s);
    load.alone_bytes_per_s = mean_of(measured.alone_bytes_per_s[static_cast<std::size_t>(load.cell.load)]);
    load.fairness = mean_of(rounds.fairness);
    load.recovery_s = rounds.recovery.until() * request.test_time_s;
  }
  return loads;
}

}  // namespace leadline::bench::congestion

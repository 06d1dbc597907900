// SPDX-License-Identifier: Apache-2.0
// The collective test's measuring stage: of each round groups and links, then cell after cell.
#include "bench/collective/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bench/collective/contents.hpp"
#include "bench/collective/ring.hpp"
#include "bench/current_step.hpp"
#include "bench/links.hpp"
#include "bench/message_memory.hpp"
#include "bench/reductions.hpp"
#include "core/clock.hpp"
#include "core/units.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::collective {
namespace {

constexpr double share_until_given_up = 1.0 / 3;  // of --timeout, without any message

/// What ranks add up behind a cell.
struct CellTotals {
  std::uint64_t num_given_up = 0, verified_bytes = 0;
};

std::string text_of(const Cell& cell) {
  return fmt::format("{} of {}", name_of(cell.operation), format_bytes(cell.message_size_bytes));
}

class Measuring {
 public:
  Measuring(const Stage& stage, Measured& measured)
      : stage_(stage),
        measured_(measured),
        lost_pairs_(stage.request, stage.cluster, stage.transport),
        current_step_(show_current_step(stage.cluster)),
        rank_(stage.cluster.rank()) {
    measured_.samples.resize(stage.plan.cells.size());
    for (const Cell& cell : stage.plan.cells) operations_.push_back(cell.operation);
    if (stage.store.any_rank_can_finish()) stage.cluster.go_on_without_root();
  }

  void run() {
    const std::uint64_t start_ns = now_ns();
    for (std::uint32_t round = 0; round < stage_.request.rounds; ++round) {
      if (!begin_round(round) || !run_round()) break;
      if (stage_.progress != nullptr) {
        stage_.progress->round_ends(round, 1e-9 * static_cast<double>(now_ns() - start_ns));
      }
    }
    current_step_->enter("the summary");
  }

 private:
  bool begin_round(std::uint32_t round);
  bool run_round();
  bool run_cell(std::size_t index);
  bool time_batch(const transport::CollectiveCall& call, double& time_ns);
  std::optional<WrongByte> verify(const transport::CollectiveCall& call, const Share& share);
  bool run_operations(const transport::CollectiveCall& call, std::uint64_t num);
  void keep(std::size_t index, const std::vector<double>& own_ns, const std::optional<WrongByte>& wrong);
  bool is_anything_lost();

  bool rests() const { return group_ < 0; }
  const Group& own_group() const { return groups_[static_cast<std::size_t>(group_)]; }

  const Stage& stage_;
  Measured& measured_;
  LostPairs lost_pairs_;
  std::shared_ptr<CurrentStep> current_step_;
  std::int32_t rank_;
  std::vector<Operation> operations_;

  // Of this round.
  std::uint32_t round_ = 0;
  std::vector<Group> groups_;
  std::int32_t group_ = -1;             ///< this rank's
  std::size_t place_ = 0;               ///< in its group, in the order of blocks
  std::vector<std::int32_t> partners_;  ///< whom it waits for
  std::unique_ptr<transport::Collectives> collectives_;
  Ring* ring_ = nullptr;  ///< the same, where it is ours
  bool is_given_up_ = false;
};

/// Groups and links; false where something is lost.
bool Measuring::begin_round(std::uint32_t round) {
  round_ = round;
  collectives_.reset();
  ring_ = nullptr;
  group_ = -1;
  partners_.clear();
  groups_ = groups_of(stage_.plan, stage_.request.seed, round);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (std::ranges::count(groups_[group], rank_) > 0) group_ = static_cast<std::int32_t>(group);
  }
  current_step_->enter(fmt::format("the opening of links for round {}", round + 1));
  if (stage_.request.algorithm == Algorithm::library) {
    Group ascending = rests() ? Group() : own_group();
    std::ranges::sort(ascending);
    place_ = static_cast<std::size_t>(std::ranges::find(ascending, rank_) - ascending.begin());
    std::ranges::copy_if(ascending, std::back_inserter(partners_), [&](std::int32_t rank) { return rank != rank_; });
    const InTransport in_transport(stage_.cluster.progress_counter(), AwaitedRanks::Ranks{partners_, {}});
    collectives_ = stage_.transport.collectives(ascending);
    return true;
  }
  if (!rests()) partners_ = ring_partners(operations_, own_group(), rank_);
  lost_pairs_.until_nothing_is_lost([&] { lost_pairs_.open(in_hashed_order(partners_, rank_)); });
  if (is_anything_lost()) return false;
  if (rests()) return true;
  place_ = static_cast<std::size_t>(std::ranges::find(own_group(), rank_) - own_group().begin());
  const std::optional<double> patience_s =
      lost_pairs_.goes_on() ? std::optional(share_until_given_up * stage_.request.timeout_s) : std::nullopt;
  auto ring = std::make_unique<Ring>(stage_.transport, partners_, own_group(), rank_,
                                     RingWait{stage_.request.wait, patience_s}, stage_.cluster.progress_counter());
  ring_ = ring.get();
  collectives_ = std::move(ring);
  return true;
}

/// But for ranks that have not come, for which there is a plan without them. Local, after a collective.
bool Measuring::is_anything_lost() {
  lost_pairs_.note_lost_ranks();
  lost_pairs_.report(measured_.losses, stage_.progress);
  const Losses& losses = measured_.losses;
  const auto takes_part = [&](const cluster::LostRank& lost) {
    return std::ranges::any_of(stage_.plan.hosts,
                               [&](const auto& ranks) { return std::ranges::binary_search(ranks, lost.rank); });
  };
  return !losses.pairs.empty() || !losses.cut_off_ranks.empty() || std::ranges::any_of(losses.ranks, takes_part);
}

bool Measuring::run_round() {
  for (std::size_t index = 0; index < stage_.plan.cells.size(); ++index) {
    if (!run_cell(index)) return false;
  }
  return true;
}

/// False where they were given up, now or before.
bool Measuring::run_operations(const transport::CollectiveCall& call, std::uint64_t num) {
  if (is_given_up_) return false;
  try {
    collectives_->run(call, num);
  } catch (const GivenUp&) {
    is_given_up_ = true;
    for (const cluster::ConnectionLost& lost : ring_->lost_links()) lost_pairs_.add(lost);
  }
  return !is_given_up_;
}

/// The warm-up brings the ranks together.
bool Measuring::time_batch(const transport::CollectiveCall& call, double& time_ns) {
  const InTransport in_transport(stage_.cluster.progress_counter(), AwaitedRanks::Ranks{partners_, {}});
  if (!run_operations(call, stage_.request.num_warmup)) return false;
  const std::uint64_t begin_ns = now_ns();
  if (!run_operations(call, stage_.request.num_iterations)) return false;
  time_ns = static_cast<double>(now_ns() - begin_ns) / static_cast<double>(stage_.request.num_iterations);
  return true;
}

std::optional<WrongByte> Measuring::verify(const transport::CollectiveCall& call, const Share& share) {
  stage_.memory.wipe_received(share.num_received());
  {
    const InTransport in_transport(stage_.cluster.progress_counter(), AwaitedRanks::Ranks{partners_, {}});
    if (!run_operations(call, 1)) return std::nullopt;
  }
  const auto wrong = first_wrong(share, stage_.memory.received(share.num_received()));
  if (!wrong) return std::nullopt;
  return WrongByte{
      round_, Error(ExitStatus::run_failed,
                    fmt::format("rank {} on {} has a wrong number after {} among {} ranks, round {}: number {} "
                                "of {}",
                                rank_, stage_.cluster.host(), name_of(share.operation), share.num_ranks, round_ + 1,
                                wrong->index, share.num_received()),
                    fmt::format("expected {}, found {}", wrong->expected, wrong->found), corruption_hint)};
}

/// False where something is lost in it.
bool Measuring::run_cell(std::size_t index) {
  const Cell& cell = stage_.plan.cells[index];
  current_step_->enter(fmt::format("round {} of {}, {}", round_ + 1, stage_.request.rounds, text_of(cell)));
  if (stage_.progress != nullptr) {
    const double done = round_ + static_cast<double>(index) / static_cast<double>(stage_.plan.cells.size());
    stage_.progress->cell_begins(round_, text_of(cell), done / stage_.request.rounds);
  }
  const std::size_t num_ranks = rests() ? 1 : own_group().size();
  const Share share{cell.operation, place_, num_ranks,
                    num_elements(cell.operation, cell.message_size_bytes, num_ranks)};
  const transport::CollectiveCall call{cell.operation, share.num_elements, stage_.memory.send(),
                                       stage_.memory.receive()};
  std::optional<WrongByte> wrong;
  CellTotals own;
  if (!rests()) {
    std::vector<float> sent(share.num_sent());
    fill(share, sent);
    stage_.memory.write_sent(sent);
  }
  std::vector<double> own_ns(stage_.request.num_batches);
  const std::size_t num_turns = stage_.request.serial ? groups_.size() : 1;
  for (std::size_t turn = 0; turn < num_turns; ++turn) {
    const bool is_own_turn = !rests() && (!stage_.request.serial || std::cmp_equal(turn, group_));
    stage_.cluster.barrier();
    if (stage_.request.verify && is_own_turn) {
      wrong = verify(call, share);
      own.verified_bytes = share.num_received() * sizeof(float);
    }
    for (double& time_ns : own_ns) {
      stage_.cluster.barrier();
      if (is_own_turn) time_batch(call, time_ns);
    }
  }
  own.num_given_up = is_given_up_ ? 1 : 0;
  const CellTotals all =
      merged_over_ranks(stage_.cluster, own, [](const CellTotals& left, const CellTotals& right) -> CellTotals {
        return {left.num_given_up + right.num_given_up, left.verified_bytes + right.verified_bytes};
      });
  if (all.num_given_up > 0) lost_pairs_.settle();
  if (is_anything_lost()) return false;
  if (all.num_given_up > 0) {
    throw AgreedError(Error(ExitStatus::run_failed, fmt::format("messages did not arrive in {}", text_of(cell)),
                            "none came for a third of --timeout", "Ask for a longer --timeout"));
  }
  measured_.verified_bytes += all.verified_bytes;
  keep(index, own_ns, wrong);
  return true;
}

/// Of each group in each batch the slowest rank.
void Measuring::keep(std::size_t index, const std::vector<double>& own_ns, const std::optional<WrongByte>& wrong) {
  const std::size_t num_batches = own_ns.size();
  std::vector<double> slowest_ns(groups_.size() * num_batches);
  if (!rests()) {
    std::ranges::copy(own_ns, slowest_ns.begin() + group_ * static_cast<std::ptrdiff_t>(num_batches));
  }
  max_over_ranks(stage_.cluster, slowest_ns);
  std::vector<GroupTime> times;
  std::vector<GroupSample> samples;
  for (std::size_t i = 0; i < slowest_ns.size(); ++i) {
    const std::size_t group = i / num_batches;
    times.push_back({slowest_ns[i]});
    samples.push_back(
        {round_, static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(groups_[group].size()), slowest_ns[i]});
  }
  RankTimes own;
  if (!rests()) {
    std::vector<double> sorted = own_ns;
    const stats::Summary summary = stats::summarize(sorted);
    own = {summary.min, summary.median, summary.max};
  }
  write_and_agree(
      stage_.cluster,
      [&] {
        stage_.store.write({round_, index, {group_ + 1}, own, times});
      },
      wrong);
  measured_.samples[index].insert(measured_.samples[index].end(), samples.begin(), samples.end());
}

}  // namespace

MessageMemory::MessageMemory(const CollectiveRequest& request, const Plan& plan)
    : allocator_(memory::allocator_named(request.allocator)),
      send_(allocator_, buffer_bytes(request, plan)),
      receive_(allocator_, buffer_bytes(request, plan)) {}

void MessageMemory::write_sent(std::span<const float> numbers) {
  allocator_.copy_in(send_.data(), std::as_bytes(numbers));
}

void MessageMemory::wipe_received(std::size_t num) {
  const std::vector<float> none(num, -1);
  allocator_.copy_in(receive_.data(), std::as_bytes(std::span(none)));
}

std::vector<float> MessageMemory::received(std::size_t num) const {
  std::vector<float> numbers(num);
  allocator_.copy_out(std::as_writable_bytes(std::span(numbers)), receive_.data());
  return numbers;
}

void measure(const Stage& stage, Measured& measured) { Measuring(stage, measured).run(); }

std::vector<CellSummary> summaries_of(const Plan& plan, const Measured& measured) {
  std::vector<CellSummary> summaries;
  for (std::size_t index = 0; index < measured.samples.size(); ++index) {
    CellSummary& summary = summaries.emplace_back();
    summary.cell = plan.cells[index];
    std::vector<double> times_ns, algorithm, bus;
    for (const GroupSample& sample : measured.samples[index]) {
      const Bandwidths bandwidths = bandwidths_of(summary.cell, sample.num_ranks, sample.time_ns);
      times_ns.push_back(sample.time_ns);
      algorithm.push_back(bandwidths.algorithm_bytes_per_s);
      bus.push_back(bandwidths.bus_bytes_per_s);
    }
    if (times_ns.empty()) continue;
    const stats::Summary of_times = stats::summarize(times_ns);
    summary.num = of_times.count;
    summary.min = of_times.min;
    summary.median = of_times.median;
    summary.mean = of_times.mean;
    summary.p99 = of_times.p99;
    summary.max = of_times.max;
    summary.bandwidths = {stats::summarize(algorithm).median, stats::summarize(bus).median};
  }
  return summaries;
}

}  // namespace leadline::bench::collective

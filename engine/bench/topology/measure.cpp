// SPDX-License-Identifier: Apache-2.0
// The topology test's measuring stage: links first, then cell after cell; behind each its results go to the store.
#include "bench/topology/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "bench/current_step.hpp"
#include "bench/links.hpp"
#include "bench/message_memory.hpp"
#include "bench/reductions.hpp"
#include "bench/topology/observed.hpp"
#include "bench/topology/summarize.hpp"
#include "bench/topology/sustained_load.hpp"
#include "core/clock.hpp"
#include "core/units.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::topology {
namespace {

double seconds_since(std::uint64_t start_ns) { return 1e-9 * static_cast<double>(now_ns() - start_ns); }

class Measuring {
 public:
  Measuring(const Stage& stage, RunLinks& links, CurrentStep& current_step, Measured& measured)
      : stage_(stage),
        links_(links),
        current_step_(current_step),
        samples_(stage.request.num_iterations),
        measured_(measured) {}

  void run();

 private:
  void run_cell(std::size_t index);
  void observe(const Cell& cell, std::span<const schedule::Channel> channels, std::span<const double> arrival_ns);
  void measure_alone(const Cell& slice, std::span<const diagnosis::Observation> own);
  std::vector<double> times_alone(const Cell& slice, std::span<const diagnosis::OrderedPair> pairs);

  const Stage& stage_;
  RunLinks& links_;
  CurrentStep& current_step_;
  std::vector<kernel::ExchangeSample> samples_;
  std::uint64_t num_verified_ = 0;  // exchanges, on all ranks alike: numbers the next one
  std::uint64_t start_ns_ = 0;
  Measured& measured_;
};

void Measuring::run_cell(std::size_t index) {
  const Cell& cell = stage_.plan.cells[index];
  current_step_.enter(step_text(stage_, cell));
  if (stage_.progress != nullptr) stage_.progress->cell_begins(cell, index, stage_.plan.cells.size());
  const std::uint64_t cell_start_ns = now_ns();
  std::optional<CellExchange> exchange;
  std::optional<WrongByte> wrong_byte;
  std::vector<double> arrival_ns;
  links_.run_step([&] {
    exchange.emplace(stage_, links_.lost_pairs(), cell);
    if (stage_.request.verify) wrong_byte = exchange->verify(num_verified_, samples_);
    exchange->run(stage_.request.num_warmup, samples_);
    arrival_ns = exchange->trace(stage_.request.num_traced);
  });
  const double measuring_s = seconds_since(cell_start_ns);
  std::uint64_t verified_bytes = 0;
  if (stage_.request.verify) {
    num_verified_ += samples_.size();
    verified_bytes = samples_.size() * exchange->received_bytes();
  }

  const schedule::Topology& topology = stage_.plan.topologies[static_cast<std::size_t>(cell.topology_index)];
  CellNumbers numbers = summarize(stage_.cluster, cell, topology.spec().mode,
                                  {samples_, exchange->channels(), exchange->num_served(), arrival_ns, verified_bytes});
  numbers.summary.measuring_s = measuring_s;
  measured_.verified_bytes += numbers.verified_bytes;
  const CellRow row{static_cast<std::int32_t>(exchange->num_served()), numbers.own, arrival_ns, numbers.with_barrier_ns,
                    numbers.slowest_rank_ns};
  write_and_agree(
      stage_.cluster, [&] { stage_.store.write(index, row, numbers.summary); }, wrong_byte);
  if (stage_.progress != nullptr) stage_.progress->cell_ends(numbers.summary, seconds_since(start_ns_));
  measured_.cells.push_back(numbers.summary);
  observe(cell, exchange->channels(), arrival_ns);
}

/// What arrived at this rank, for the diagnosis at the end.
void Measuring::observe(const Cell& cell, std::span<const schedule::Channel> channels,
                        std::span<const double> arrival_ns) {
  if (cell.repeat >= most_judged_repeats) return;
  const auto topology = static_cast<std::size_t>(cell.topology_index);
  const schedule::Topology& measured = stage_.plan.topologies[topology];
  if (!why_untested(stage_.request, measured.spec()).empty()) return;
  auto& observed =
      measured_
          .observed[topology * stage_.request.message_sizes_bytes.size() + static_cast<std::size_t>(cell.size_index)];
  const JudgedMessages judged(2 * static_cast<std::uint64_t>(measured.num_channels()));
  const auto rank = static_cast<std::uint32_t>(stage_.cluster.rank());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const auto from = static_cast<std::uint32_t>(channels[i].partner);
    if (arrival_ns[i] > 0 && judged.has(from, rank)) observed.push_back({from, rank, arrival_ns[i]});
  }
}

/// Pairs that seem slow, and some by chance, while all other ranks rest. What else the hosts do makes a pair slower,
/// and never faster. The others come between two attempts, so that what disturbs a host for some milliseconds does not
/// meet all of them.
void Measuring::measure_alone(const Cell& slice, std::span<const diagnosis::Observation> own) {
  const schedule::TopologySpec& topology =
      stage_.plan.topologies[static_cast<std::size_t>(slice.topology_index)].spec();
  if (stage_.request.retest == 0 || !why_untested(stage_.request, topology).empty()) return;
  current_step_.enter(
      fmt::format("topology {}, {}, the retest of pairs", topology.name, format_bytes(slice.message_size_bytes)));
  const diagnosis::PairsToMeasure chosen = stage_.pairs_to_measure(own);
  std::vector<diagnosis::OrderedPair> pairs = chosen.suspected;
  pairs.insert(pairs.end(), chosen.by_chance.begin(), chosen.by_chance.end());
  std::vector<double> least_ns(pairs.size());
  for (int attempt = 0; attempt < attempts_alone && !pairs.empty(); ++attempt) {
    const std::vector<double> times_ns = times_alone(slice, pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const bool is_less = times_ns[i] > 0 && (least_ns[i] == 0 || times_ns[i] < least_ns[i]);
      if (is_less) least_ns[i] = times_ns[i];
    }
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (least_ns[i] == 0) continue;  // the pair is lost
    measured_.pairs_alone.push_back({slice.topology_index, slice.size_index, static_cast<std::int32_t>(pairs[i].from),
                                     static_cast<std::int32_t>(pairs[i].to), least_ns[i], i < chosen.suspected.size()});
  }
}

/// Collective: of each pair half of a round trip, on all ranks; 0 where it is lost. Both ranks begin once: the one that
/// leaves the barrier first may wait for the other, which then does not.
std::vector<double> Measuring::times_alone(const Cell& slice, std::span<const diagnosis::OrderedPair> pairs) {
  const std::uint64_t num_traced = traced_alone(stage_.request);
  std::vector<double> there_ns(pairs.size()), back_ns(pairs.size());
  links_.run_step([&] {
    CellExchange exchange(stage_, links_.lost_pairs(), slice);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      there_ns[i] = exchange.round_trip_alone(pairs[i], num_traced);
      back_ns[i] = exchange.round_trip_alone({pairs[i].to, pairs[i].from}, num_traced);
    }
  });
  max_over_ranks(stage_.cluster, there_ns);
  max_over_ranks(stage_.cluster, back_ns);
  for (std::size_t i = 0; i < pairs.size(); ++i) there_ns[i] = std::min(there_ns[i], back_ns[i]) / 2;
  return there_ns;
}

void Measuring::run() {
  start_ns_ = now_ns();
  measured_.observed.resize(stage_.plan.topologies.size() * stage_.request.message_sizes_bytes.size());
  for (std::size_t index = 0; index < stage_.plan.cells.size(); ++index) run_cell(index);
  for (auto& of_slice : measured_.observed) of_slice = diagnosis::joined_by_pair(std::move(of_slice));
  const std::vector<std::uint64_t>& sizes_bytes = stage_.request.message_sizes_bytes;
  for (std::size_t index = 0; index < measured_.observed.size(); ++index) {
    const std::size_t topology = index / sizes_bytes.size(), size = index % sizes_bytes.size();
    measure_alone({static_cast<int>(topology), static_cast<int>(size), 0, sizes_bytes[size]},
                  measured_.observed[index]);
  }
  current_step_.enter("the search for slow hosts and switches");
}

}  // namespace

std::string step_text(const Stage& stage, const Cell& cell) {
  return fmt::format("topology {}, {}, {} {}",
                     stage.plan.topologies[static_cast<std::size_t>(cell.topology_index)].spec().name,
                     format_bytes(cell.message_size_bytes), stage.request.duration_s > 0 ? "round of load" : "repeat",
                     cell.repeat + 1);
}

void measure(const Stage& stage, Measured& measured) {
  const std::shared_ptr<CurrentStep> current_step = show_current_step(stage.cluster);
  RunLinks links(stage, measured);
  if (stage.request.duration_s > 0) {
    load(stage, links, *current_step, measured);
  } else {
    Measuring(stage, links, *current_step, measured).run();
  }
  links.note_losses();
}

RunLinks::RunLinks(const Stage& stage, Measured& measured)
    : stage_(stage), lost_pairs_(stage.request, stage.cluster, stage.transport), measured_(measured) {
  const std::vector<std::int32_t> partners =
      partners_to_connect(stage.plan.topologies, stage.cluster.rank(), stage.cluster.size());
  if (stage.store.any_rank_can_finish()) stage.cluster.go_on_without_root();
  run_step([&] { lost_pairs_.open(partners); });
  stage.cluster.barrier();
}

bool RunLinks::run_step(const std::function<void()>& step) {
  lost_pairs_.until_nothing_is_lost(step);
  return note_losses();
}

bool RunLinks::note_losses() {
  lost_pairs_.note_lost_ranks();
  return lost_pairs_.report(measured_.losses, stage_.progress);
}

CellExchange::CellExchange(const Stage& stage, LostPairs& lost_pairs, const Cell& cell)
    : stage_(stage),
      lost_pairs_(lost_pairs),
      cell_(cell),
      topology_(stage.plan.topologies[static_cast<std::size_t>(cell.topology_index)]),
      channels_(topology_.channels(stage.cluster.rank())),
      num_served_(static_cast<std::size_t>(std::ranges::count_if(
          channels_, [&](const schedule::Channel& channel) { return !lost_pairs.is_lost(channel.partner); }))),
      timed_(served(SlotUse::by_step)) {}

Neighbourhood CellExchange::served(SlotUse use) const {
  const Room room{stage_.request.max_outstanding, stage_.slots.num()};
  Neighbourhood all = neighbourhood(topology_, stage_.cluster.rank(), room, use);
  if (num_served_ == channels_.size()) return all;
  return without(all, [&](std::int32_t partner) { return lost_pairs_.is_lost(partner); });
}

std::uint64_t CellExchange::received_bytes() const {
  const auto num = std::count_if(timed_.entries.begin(), timed_.entries.end(),
                                 [](const kernel::NeighbourChannel& entry) { return kernel::receives(entry.part); });
  return static_cast<std::uint64_t>(num) * cell_.message_size_bytes;
}

void CellExchange::run(std::uint64_t num_warmup, std::span<kernel::ExchangeSample> samples) {
  lost_pairs_.exchange(timed_.exchange(cell_.message_size_bytes, num_warmup), stage_.slots.all(),
                       kernel::TimedExchanges{samples});
}

std::optional<WrongByte> CellExchange::verify(std::uint64_t first_exchange, std::span<kernel::ExchangeSample> samples) {
  if (!verified_) verified_ = served(SlotUse::by_channel);
  const kernel::Contents contents{stage_.request.fill, stage_.request.fill_seed, first_exchange};
  const auto mismatch = lost_pairs_.exchange(verified_->exchange(cell_.message_size_bytes, 0), stage_.slots.all(),
                                             kernel::VerifiedExchanges{contents, samples});
  if (!mismatch) return std::nullopt;
  return described(*mismatch);
}

WrongByte CellExchange::described(const kernel::NeighbourMismatch& mismatch) const {
  return {
      mismatch.exchange,
      Error(ExitStatus::run_failed,
            fmt::format("rank {} on {} received a wrong byte from rank {} in topology {}, exchange {}: byte {} of a "
                        "message of {} bytes",
                        stage_.cluster.rank(), stage_.cluster.host(), mismatch.from, topology_.spec().name,
                        mismatch.exchange, mismatch.byte, cell_.message_size_bytes),
            expected_and_found(mismatch.expected, mismatch.found), corruption_hint)};
}

double CellExchange::round_trip_alone(const diagnosis::OrderedPair& pair, std::uint64_t num_traced) {
  const auto begins = static_cast<std::int32_t>(pair.from), answers = static_cast<std::int32_t>(pair.to);
  const std::int32_t rank = stage_.cluster.rank();
  Neighbourhood active{{}, {0}, {}};
  if ((rank == begins || rank == answers) && !lost_pairs_.is_lost(begins, answers)) {
    const kernel::NeighbourChannel own = rank == begins ? kernel::NeighbourChannel{answers, kernel::Part::both, 0}
                                                        : kernel::NeighbourChannel{begins, kernel::Part::answers, 0};
    active = {{own}, {1}, {0}};
  }
  const std::vector<double> by_channel = trace(active, num_traced);
  return rank == begins && !by_channel.empty() ? by_channel.front() : 0;
}

std::vector<double> CellExchange::trace(const Neighbourhood& active, std::uint64_t num_traced) {
  const auto num = static_cast<std::size_t>(num_traced);
  std::vector<std::uint64_t> arrivals_ns(active.entries.size());
  std::vector<double> by_channel(channels_.size() * num);  // a channel's one after the other
  for (std::size_t t = 0; t < num; ++t) {
    lost_pairs_.exchange(active.exchange(cell_.message_size_bytes, 0), stage_.slots.all(),
                         kernel::TracedExchange{arrivals_ns});
    for (std::size_t i = 0; i < arrivals_ns.size(); ++i) {
      if (!kernel::receives(active.entries[i].part)) continue;
      by_channel[active.channel_of[i] * num + t] = static_cast<double>(arrivals_ns[i]);
    }
  }
  std::vector<double> medians(channels_.size());
  for (std::size_t channel = 0; num > 0 && channel < medians.size(); ++channel) {
    medians[channel] = stats::summarize(std::span(by_channel).subspan(channel * num, num)).median;
  }
  return medians;
}

}  // namespace leadline::bench::topology

// SPDX-License-Identifier: Apache-2.0
// Slices of load: the root reads the clock and decides how many exchanges come next on all ranks.
#include "bench/topology/sustained_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "bench/reductions.hpp"
#include "bench/topology/measure.hpp"
#include "bench/topology/summarize.hpp"
#include "core/clock.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::topology {
namespace {

constexpr std::size_t max_kept_times = 8192;  // of a slice, for its median
constexpr std::uint64_t max_batch = 4096;     // exchanges between two looks at the clock
constexpr std::uint64_t max_growth = 8;       // from batch to batch: the first ones predict little
// Ranks that share cores were seen to become 200 times slower from one batch to the next; of a short one that is
// seconds at most. A reduction to the root takes a millisecond with thousands of ranks.
constexpr double batch_s = 0.02;

// A stall, as people notice one: guessed.
constexpr double least_stall_s = 0.5, least_stall_factor = 20;
constexpr std::size_t max_resent_links = 4;
constexpr std::size_t max_stalls = 1000;  // of a load in which nothing else comes they would fill the memory

/// The longest time between two clock readings of this rank: in an exchange with its closing barrier, or in the
/// opening barriers and checks of a few.
struct Longest {
  double time_ns = 0;
  double begin_s = 0;
};

/// What this rank saw in a slice.
struct Slice {
  LoadPoint point;
  Thinned own_ns{max_kept_times};
  double own_ns_max = 0;
  Longest longest;
  std::uint64_t verified_bytes = 0;
  std::optional<WrongByte> wrong_byte;
};

class SustainedLoad {
 public:
  SustainedLoad(const Stage& stage, RunLinks& links, CurrentStep& current_step, Measured& measured);
  void run();

 private:
  double elapsed_s() const { return 1e-9 * static_cast<double>(now_ns() - start_ns_); }
  std::uint64_t next_batch(double end_s, std::uint64_t last_batch, double last_begin_s) const;
  bool run_slice(std::size_t index);
  void run_batch(CellExchange& exchange, std::uint64_t num, Slice& slice);
  void close(std::size_t index, Slice& slice);
  void note_stall(const Slice& slice);
  void drop_usual_stalls();
  void end_with_wrong_byte(std::size_t num_slices);

  const Stage& stage_;
  RunLinks& links_;
  CurrentStep& current_step_;
  std::vector<Cell> cells_;  // of one repeat
  std::vector<kernel::ExchangeSample> samples_;
  std::uint64_t num_exchanges_ = 0;  // of all slices, on all ranks alike: numbers the next one
  std::uint64_t start_ns_ = 0;
  std::map<std::pair<int, int>, std::vector<double>> medians_ns_;  // of slices, by topology and size
  std::optional<WrongByte> first_wrong_byte_;                      // of this rank
  std::uint64_t num_wrong_slices_ = 0;                             // the same on all ranks
  Measured& measured_;
};

SustainedLoad::SustainedLoad(const Stage& stage, RunLinks& links, CurrentStep& current_step, Measured& measured)
    : stage_(stage), links_(links), current_step_(current_step), samples_(max_batch), measured_(measured) {
  assert(stage.request.verify_every >= 1);
  for (const Cell& cell : stage.plan.cells) {
    if (cell.repeat == 0) cells_.push_back(cell);
  }
}

/// Counts on the root alone; 0 = the slice is over.
std::uint64_t SustainedLoad::next_batch(double end_s, std::uint64_t last_batch, double last_begin_s) const {
  const double now_s = elapsed_s(), left_s = std::min(batch_s, end_s - now_s);
  if (left_s <= 0) return 0;
  const double exchange_s = std::max(now_s - last_begin_s, 1e-9) / static_cast<double>(last_batch);
  const double most = static_cast<double>(std::min(max_batch, max_growth * last_batch));
  return static_cast<std::uint64_t>(std::clamp(left_s / exchange_s, 1.0, most));
}

void SustainedLoad::run_batch(CellExchange& exchange, std::uint64_t num, Slice& slice) {
  const std::uint64_t verify_every = stage_.request.verify_every;
  for (std::uint64_t left = num; left > 0;) {
    const std::uint64_t behind_verified = num_exchanges_ % verify_every;
    const bool is_verified = behind_verified == 0;
    const std::uint64_t until_change = verify_every == 1 ? left : is_verified ? 1 : verify_every - behind_verified;
    const std::span samples = std::span(samples_).first(std::min(left, until_change));
    const double call_begin_s = elapsed_s();
    double begin_s = call_begin_s;
    if (is_verified) {
      auto wrong_byte = exchange.verify(num_exchanges_, samples);
      if (!slice.wrong_byte) slice.wrong_byte = std::move(wrong_byte);
      slice.point.num_verified += samples.size();
      slice.verified_bytes += samples.size() * exchange.received_bytes();
    } else {
      exchange.run(0, samples);
    }
    for (const kernel::ExchangeSample& sample : samples) {
      const auto time_ns = exchange.num_served() == 0 ? 0 : static_cast<double>(sample.own_ns);
      slice.own_ns.add(time_ns);
      slice.own_ns_max = std::max(slice.own_ns_max, time_ns);
      const auto with_barrier_ns = static_cast<double>(std::max(sample.own_ns, sample.with_barrier_ns));
      if (with_barrier_ns > slice.longest.time_ns) slice.longest = {with_barrier_ns, begin_s};
      begin_s += 1e-9 * with_barrier_ns;
    }
    const double around_ns = 1e9 * (elapsed_s() - begin_s);
    if (around_ns > slice.longest.time_ns) slice.longest = {around_ns, call_begin_s};
    slice.point.num_exchanges += samples.size();
    num_exchanges_ += samples.size();
    left -= samples.size();
  }
}

/// Collective: false where the load is over instead.
bool SustainedLoad::run_slice(std::size_t index) {
  Slice slice;
  LoadPoint& point = slice.point;
  point.begin_s = elapsed_s();
  const double duration_s = stage_.request.duration_s;
  auto batch = value_of_root(stage_.cluster, std::uint64_t{point.begin_s < duration_s});
  if (batch == 0) return false;
  point.cell = cells_[index % cells_.size()];
  point.cell.repeat = static_cast<int>(index / cells_.size());
  current_step_.enter(step_text(stage_, point.cell));
  const double end_s = std::min(duration_s, point.begin_s + slice_s(duration_s, cells_.size(), index, point.begin_s));

  std::optional<CellExchange> exchange(std::in_place, stage_, links_.lost_pairs(), point.cell);
  while (batch > 0) {
    const double batch_begin_s = elapsed_s();
    // One in which something gets lost counts: what its wait has cost belongs to the load.
    bool is_over = false;
    const bool has_lost_anything = links_.run_step([&] {
      if (!std::exchange(is_over, true)) run_batch(*exchange, batch, slice);
    });
    if (has_lost_anything) exchange.emplace(stage_, links_.lost_pairs(), point.cell);
    batch = value_of_root(stage_.cluster, next_batch(end_s, batch, batch_begin_s));
  }
  point.served = served_by_all(stage_.cluster, exchange->num_served());
  stage_.cluster.barrier();  // the root may be through while others still wait for one another in the last exchange
  point.elapsed_s = elapsed_s() - point.begin_s;
  close(index, slice);
  return true;
}

/// Collective: all ranks' times together, the point to the store, and whether anyone saw a wrong byte.
void SustainedLoad::close(std::size_t index, Slice& slice) {
  LoadPoint& point = slice.point;
  point = value_of_root(stage_.cluster, point);  // begins and ends by its clock
  std::vector<double>& times_ns = slice.own_ns.kept();
  times_ns.push_back(slice.own_ns_max);  // travels with them
  max_over_ranks(stage_.cluster, times_ns);
  point.time_ns_max = times_ns.back();
  times_ns.pop_back();
  point.time_ns_median = stats::summarize(times_ns).median;
  measured_.verified_bytes +=
      merged_over_ranks(stage_.cluster, slice.verified_bytes, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  medians_ns_[{point.cell.topology_index, point.cell.size_index}].push_back(point.time_ns_median);
  note_stall(slice);
  num_wrong_slices_ += merged_over_ranks(stage_.cluster, std::uint64_t{slice.wrong_byte.has_value()},
                                         [](std::uint64_t a, std::uint64_t b) { return a | b; });
  if (!first_wrong_byte_) first_wrong_byte_ = slice.wrong_byte;
  write_and_agree(
      stage_.cluster, [&] { stage_.store.write(index, point); },
      stage_.request.stop_at_first ? slice.wrong_byte : std::nullopt);
  measured_.load.push_back(point);
  if (stage_.progress != nullptr) stage_.progress->load_goes_on(point, elapsed_s());
}

/// Collective: where something was sent again in the slice, if its longest exchange was long. How long a rank's own
/// part took does not tell: ranks wait for others that wait.
void SustainedLoad::note_stall(const Slice& slice) {
  const std::vector<transport::Resent> of_links = stage_.transport.resent();
  struct Seen {
    Longest longest;
    std::array<LoadStall::Resent, max_resent_links> resent{};
  };
  const auto keep_most = [](std::vector<LoadStall::Resent> resent, Seen& seen) {
    std::ranges::sort(resent, [](const LoadStall::Resent& a, const LoadStall::Resent& b) {
      return std::tuple(b.num, a.from, a.to) < std::tuple(a.num, b.from, b.to);
    });
    std::copy_n(resent.begin(), std::min(resent.size(), max_resent_links), seen.resent.begin());
  };
  Seen own{slice.longest, {}};
  std::vector<LoadStall::Resent> own_resent;
  for (const auto& [partner, num] : of_links) own_resent.push_back({stage_.cluster.rank(), partner, num});
  keep_most(std::move(own_resent), own);
  const Seen all = merged_over_ranks(stage_.cluster, own, [&](const Seen& a, const Seen& b) {
    Seen both{a.longest.time_ns < b.longest.time_ns ? b.longest : a.longest, {}};
    std::vector<LoadStall::Resent> resent(a.resent.begin(), a.resent.end());
    resent.insert(resent.end(), b.resent.begin(), b.resent.end());
    keep_most(std::move(resent), both);
    return both;
  });
  const double length_s = 1e-9 * all.longest.time_ns;
  if (length_s < least_stall_s || measured_.stalls.size() >= max_stalls) return;
  LoadStall stall{slice.point.cell, all.longest.begin_s, length_s, {}};
  std::ranges::copy_if(all.resent, std::back_inserter(stall.resent), [](const auto& link) { return link.num > 0; });
  measured_.stalls.push_back(std::move(stall));
}

/// Exchanges that always take so long are no stalls. The median slice decides: a stall may be all that a slice has.
void SustainedLoad::drop_usual_stalls() {
  std::erase_if(measured_.stalls, [&](const LoadStall& stall) {
    std::vector<double> medians_ns = medians_ns_[{stall.cell.topology_index, stall.cell.size_index}];
    return 1e9 * stall.length_s < least_stall_factor * stats::summarize(medians_ns).median;
  });
}

/// Collective: throws the earliest that any rank has found.
void SustainedLoad::end_with_wrong_byte(std::size_t num_slices) {
  if (num_wrong_slices_ == 0) return;
  if (first_wrong_byte_) {
    const Error& error = first_wrong_byte_->error;
    const std::string count = fmt::format("wrong bytes came in {} of {} slices", num_wrong_slices_, num_slices);
    first_wrong_byte_->error =
        Error(error.status(), error.problem(), error.why().empty() ? count : error.why() + "; " + count, error.hint());
  }
  write_and_agree(
      stage_.cluster, [] {}, first_wrong_byte_);
}

void SustainedLoad::run() {
  start_ns_ = now_ns();
  std::size_t num_slices = 0;
  while (num_slices < max_load_points && run_slice(num_slices)) ++num_slices;
  drop_usual_stalls();
  end_with_wrong_byte(num_slices);
}

}  // namespace

void Thinned::add(double value) {
  const bool is_wanted = num_added_ % stride_ == 0;
  if (is_wanted && kept_.size() == capacity_) {
    for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
    kept_.resize((kept_.size() + 1) / 2);
    stride_ *= 2;
  }
  if (num_added_ % stride_ == 0) kept_.push_back(value);
  ++num_added_;
}

double slice_s(double duration_s, std::size_t num_cells, std::size_t index, double begin_s) {
  const std::size_t num_cells_new = index < num_cells ? num_cells - index : 1;  // those that have not come yet
  const double for_each_s = (duration_s - begin_s) / static_cast<double>(num_cells_new);
  return std::max(duration_s / static_cast<double>(max_load_points), std::min(1.0, for_each_s));
}

void load(const Stage& stage, RunLinks& links, CurrentStep& current_step, Measured& measured) {
  SustainedLoad(stage, links, current_step, measured).run();
}

}  // namespace leadline::bench::topology

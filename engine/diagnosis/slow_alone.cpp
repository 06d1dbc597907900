// SPDX-License-Identifier: Apache-2.0
// Compares second measurements with first ones, and gathers pairs for AlonePairs.
#include "diagnosis/slow_alone.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "diagnosis/alone_pairs.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/fault_text.hpp"
#include "diagnosis/observations.hpp"
#include "diagnosis/reference.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::size_t fewest_again = 8;         // pairs that were measured alone
constexpr double least_scatter_of_load = 0.25;  // logarithm, of what pairs take under load over what they take alone
constexpr double share_inside = 0.5;            // of the effect of a host: what its insides show at least, too
constexpr std::uint64_t most_gathered = std::uint64_t{1} << 20;  // pairs, 16 bytes each

/// What a pair took under load.
struct Loaded {
  std::uint32_t from = 0, to = 0;
  double value = 0;  ///< ln ns
};

using Wanted = std::function<bool(std::uint32_t from, std::uint32_t to)>;

/// Collective: the measured pairs of ranks that are wanted; none where these are more than most_gathered.
std::vector<Loaded> gathered(const Rows& rows, const Wanted& is_wanted) {
  std::vector<std::vector<Loaded>> found(rows.num_workers());
  rows.visit([&](std::size_t worker, const Row& row) {
    for (std::size_t index = 0; index < row.values.size(); ++index) {
      const std::uint32_t to = row.partner(index);
      if (to == row.from || std::isnan(row.values[index]) || found[worker].size() > most_gathered) continue;
      if (is_wanted(row.from, to)) found[worker].push_back({row.from, to, static_cast<double>(row.values[index])});
    }
  });
  std::vector<Loaded> own;
  for (const auto& of_worker : found) own.insert(own.end(), of_worker.begin(), of_worker.end());
  std::uint64_t num = own.size();
  add_up(rows, std::span(&num, 1));
  if (num > most_gathered) return {};
  return gather_all(rows, own);
}

/// Collective: how much what pairs take under load scatters around what they take alone.
double scatter_of_load(const Rows& rows, std::span<const Observation> alone) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> times;  // ln ns
  std::vector<bool> is_sender(rows.num_ranks(), false);
  for (const Observation& one : alone) {
    times[{one.from, one.to}] = std::log(one.time_ns);
    is_sender[one.from] = true;
  }
  const auto is_alone = [&](auto from, auto to) { return is_sender[from] && times.contains({from, to}); };
  std::vector<double> ratios;
  for (const Loaded& one : gathered(rows, is_alone)) ratios.push_back(one.value - times[{one.from, one.to}]);
  return ratios.size() < fewest_again ? 0 : middle_of(std::move(ratios)).spread;
}

/// By host, what the fastest pair inside it takes, ln ns: others only make a pair slower. NaN = unknown.
std::vector<double> insides(std::span<const Loaded> loaded, const Setting& setting) {
  std::vector<double> least(setting.hosts.num_groups(), std::numeric_limits<double>::quiet_NaN());
  for (const Loaded& one : loaded) {
    double& of_host = least[setting.layout.host_of[one.from]];
    if (setting.layout.host_of[one.from] == setting.layout.host_of[one.to]) of_host = std::fmin(of_host, one.value);
  }
  return least;
}

/// Hosts whose ranks reach each other as fast as those of others do are slow at their ports.
void tell_ports(std::span<const Loaded> loaded, const Setting& setting, std::vector<Fault>& faults) {
  const std::vector<double> inside = insides(loaded, setting);
  std::vector<double> of_hosts = inside;
  const double usual = consensus(of_hosts, better_quarter);
  for (Fault& fault : faults) {
    if (fault.component.kind != ComponentKind::host) continue;
    const double own = inside[static_cast<std::size_t>(fault.component.first)];
    if (!(own - usual < share_inside * std::log(fault.ratio))) continue;
    fault.component.kind = ComponentKind::port;
    fault.name = name_of_component(setting, fault.component, fault.direction);
    const Suspect port = suspect_alone(fault);
    fault.ruled_out = ruled_out(setting, port, std::vector{port});
    fault.advice = advice_for(setting, port, Symptom::slow);
  }
}

class RowsWithoutSlowAlone final : public ChangedRows {
 public:
  RowsWithoutSlowAlone(const Rows& rows, const SlowAlone& slow) : ChangedRows(rows), slow_(slow) {}

 private:
  void change(const Row& row, std::span<float> values) const override {
    for (std::size_t index = 0; index < values.size(); ++index) {
      if (slow_.has(row.from, row.partner(index))) values[index] = std::numeric_limits<float>::quiet_NaN();
    }
  }

  const SlowAlone& slow_;
};

}  // namespace

SlowAlone find_slow_alone(const Question& question) {
  SlowAlone slow;
  const bool has_second = question.retest && question.retested.size() >= fewest_again;
  if (!has_second || question.load == Load::alone || question.has_many_loads || !question.are_times) return slow;
  const auto known = std::make_shared<const Setting>(question.layout);
  const Setting& setting = *known;
  const auto is_between = [&](std::uint32_t from, std::uint32_t to) {
    return setting.layout.host_of[from] != setting.layout.host_of[to];
  };
  ObservedSlice slice;
  const std::vector<RetestTimes> again = question.retest(question.retested, Load::alone);
  for (std::size_t index = 0; index < again.size(); ++index) {
    const auto [from, to] = question.retested[index];
    if (is_between(from, to) && again[index].median_ns > 0) slice.alone.push_back({from, to, again[index].median_ns});
  }
  if (slice.alone.size() < fewest_again) return slow;
  const Rows& rows = question.rows(Symptom::slow);
  slow.scatter = scatter_of_load(rows, slice.alone);
  if (slow.scatter < least_scatter_of_load) return slow;
  const std::vector<Loaded> loaded = gathered(rows, [](auto, auto) { return true; });
  slow.is_busy = !loaded.empty();
  if (!slow.is_busy) return slow;
  for (const Loaded& one : loaded) {
    if (is_between(one.from, one.to)) slice.observations.push_back({one.from, one.to, std::exp(one.value)});
  }
  slow.faults = AlonePairs(slice, setting, question.settings).what_is_slow();
  if (slow.faults.empty()) return slow;
  tell_ports(loaded, setting, slow.faults);
  std::vector<Suspect> suspects;
  for (const Fault& fault : slow.faults) suspects.push_back(suspect_alone(fault));
  slow.has = [known, suspects = std::move(suspects)](std::uint32_t from, std::uint32_t to) {
    return std::ranges::any_of(suspects, [&](const Suspect& one) { return may_pass(*known, one, from, to); });
  };
  slow.num_pairs = static_cast<std::uint64_t>(
      std::ranges::count_if(loaded, [&](const Loaded& one) { return slow.has(one.from, one.to); }));
  return slow;
}

std::unique_ptr<Rows> without_slow_alone(const Rows& rows, const SlowAlone& slow) {
  return std::make_unique<RowsWithoutSlowAlone>(rows, slow);
}

}  // namespace leadline::diagnosis

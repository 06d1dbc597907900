// SPDX-License-Identifier: Apache-2.0
// Random faults of a simulated machine, one after the other, and whether the diagnosis finds them and nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/rows.hpp"
#include "network/parse_network.hpp"
#include "synthetic/scenario.hpp"
#include "synthetic/simulator.hpp"

namespace {

using namespace leadline;
using synthetic::FaultKind;

diagnosis::Layout layout_of(const synthetic::Machine& machine) {
  diagnosis::Layout layout;
  for (std::uint32_t rank = 0; rank < machine.num_ranks; ++rank) {
    layout.host_of.push_back(host_of(machine, rank));
    layout.socket_of.push_back(static_cast<std::int32_t>(socket_of(machine, rank)));
  }
  for (std::uint32_t host = 0; host < num_hosts(machine); ++host) layout.host_names.push_back(host_name(machine, host));
  layout.network = machine.network;
  return layout;
}

/// The same place and, where only one way is at fault, the same way or both: half-round-trips cannot tell.
bool is_same(const synthetic::PlantedFault& planted, const Fault& found) {
  Component a = planted.component, b = found.component;
  FaultDirection direction = planted.direction;
  if (a.second > -1 && a.first > a.second) {
    std::swap(a.first, a.second);
    if (direction != FaultDirection::both)
      direction = direction == FaultDirection::out ? FaultDirection::in : FaultDirection::out;
  }
  return a == b && (direction == found.direction) && symptom_of(planted) == found.symptom;
}

Diagnosis diagnose(const synthetic::Machine& machine, bool means) {
  const synthetic::Simulator simulator(machine);
  const diagnosis::Layout layout = layout_of(machine);
  diagnosis::DenseRows rows(machine.num_ranks, 1);
  const auto load = [&](Symptom symptom) -> const diagnosis::Rows& {
    std::vector<double> times(machine.num_ranks);
    for (std::uint32_t from = 0; from < machine.num_ranks; ++from) {
      simulator.medians(from, times);
      for (double& time : times) time = time > 0 ? std::log(time) : std::numeric_limits<double>::quiet_NaN();
      if (symptom == Symptom::unsteady) {
        const PairRow row = simulator.row(from);
        for (std::uint32_t to = 0; to < machine.num_ranks; ++to) times[to] = std::log(row.time_ns_mean[to]) - times[to];
      }
      rows.set(from, times);
    }
    return rows;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> attempts;
  const auto again = [&](std::span<const diagnosis::OrderedPair> pairs, diagnosis::Load load) {
    using synthetic::LoadCondition;
    const LoadCondition load_condition =
        load == diagnosis::Load::alone ? LoadCondition::alone : LoadCondition::concurrent;
    std::vector<diagnosis::RetestTimes> times;
    for (const auto& pair : pairs) {
      const PairRecord record = simulator.retest(pair.from, pair.to, ++attempts[{pair.from, pair.to}], load_condition);
      times.push_back({record.time_ns_median, record.time_ns_mean});
    }
    return times;
  };
  const std::uint64_t num = machine.num_ranks;
  return diagnosis::diagnose({load, layout, {}, num * (num - 1), means, again});
}

struct Wanted {
  int num_scenarios = 0;
  double factor_low = 1.2, factor_high = 1.2;
  bool are_unsteady = false;  ///< lost messages instead, which show in means
  std::uint64_t first_seed = 1;
  std::uint32_t num_faults = 1;
};

/// 512 hosts on 16 leaf switches, eight ranks each.
synthetic::Machine machine_of_4096() {
  constexpr std::size_t num_hosts = 512;
  synthetic::Machine machine;
  machine.network = network::parse_network("fat-tree:32x16", std::vector<std::string>(num_hosts));
  machine.ranks_per_host = 8;
  machine.sockets_per_host = 2;
  machine.num_ranks = num_hosts * machine.ranks_per_host;
  return machine;
}

/// One fault is of each kind in turn; several are of any.
std::string play(synthetic::Machine machine, const Wanted& wanted, int index) {
  const std::uint64_t seed = wanted.first_seed + static_cast<std::uint64_t>(index);
  const auto kinds = possible_kinds(machine);
  synthetic::ScenarioSettings settings;
  settings.factor_low = wanted.factor_low, settings.factor_high = wanted.factor_high;
  settings.num_faults = wanted.num_faults;
  settings.unsteady_share = wanted.are_unsteady ? 1 : 0;
  if (wanted.num_faults == 1) settings.kinds = {kinds[static_cast<std::size_t>(index) % kinds.size()]};
  machine.seed = seed;
  if (wanted.num_faults > 0) machine.faults = random_scenario(machine, seed, settings);
  const Diagnosis diagnosis = diagnose(machine, wanted.are_unsteady);

  int num_found = 0, num_findings = 0, num_right = 0;
  std::string said;
  for (const auto& planted : machine.faults) {
    const bool is_found = std::any_of(diagnosis.faults.begin(), diagnosis.faults.end(),
                                      [&](const Fault& fault) { return !fault.is_note && is_same(planted, fault); });
    num_found += is_found ? 1 : 0;
    if (!is_found) {
      said += fmt::format("  missed {} {} {} way {} level {} socket {} x{:.3f}\n", name_of(planted.component.kind),
                          planted.component.first, planted.component.second, name_of(planted.direction),
                          planted.component.level, planted.component.socket, planted.factor);
    }
  }
  for (const Fault& fault : diagnosis.faults) {
    if (fault.is_note) continue;
    ++num_findings;
    const bool is_right = std::any_of(machine.faults.begin(), machine.faults.end(),
                                      [&](const auto& planted) { return is_same(planted, fault); });
    num_right += is_right ? 1 : 0;
    if (!is_right) {
      said += fmt::format("  wrong {} ({}) way {} x{:.3f} p {:.2g}\n", fault.name, name_of(fault.symptom),
                          name_of(fault.direction), fault.ratio, fault.p_value);
    }
  }
  const std::string kind = wanted.num_faults == 1 ? name_of(settings.kinds[0]) : "several";
  const double factor = machine.faults.empty() ? 1 : machine.faults.front().factor;
  return fmt::format("seed {} kind {} factor {:.4f} planted {} found {} findings {} right {}\n{}", seed, kind, factor,
                     machine.faults.size(), num_found, num_findings, num_right, said);
}

Wanted wanted_of(int argc, char** argv) {
  const auto argument = [&](int index, const char* otherwise) {
    return std::string(index < argc ? argv[index] : otherwise);
  };
  Wanted wanted;
  wanted.num_scenarios = std::atoi(argument(1, "13").c_str());
  wanted.factor_low = std::atof(argument(2, "1.2").c_str());
  wanted.factor_high = std::atof(argument(3, "1.2").c_str());
  wanted.are_unsteady = argument(4, "slow") == "unsteady";
  wanted.first_seed = static_cast<std::uint64_t>(std::atoll(argument(5, "1").c_str()));
  wanted.num_faults = static_cast<std::uint32_t>(std::atoi(argument(6, "1").c_str()));
  return wanted;
}

}  // namespace

/// Arguments: how many scenarios, the least and the greatest factor (drawn evenly in the logarithm), slow or unsteady,
/// the first seed, faults in each. A line "seed S kind K factor F planted N found N findings N right N" for each, and
/// what was missed or wrong below it, indented.
int main(int argc, char** argv) {
  const Wanted wanted = wanted_of(argc, argv);
  const synthetic::Machine machine = machine_of_4096();
  std::atomic<int> next = 0;
  std::mutex printing;
  const auto work = [&] {
    for (int index = next++; index < wanted.num_scenarios; index = next++) {
      const std::string text = play(machine, wanted, index);
      const std::scoped_lock lock(printing);
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    }
  };
  std::vector<std::jthread> others;
  for (unsigned worker = 1; worker < std::thread::hardware_concurrency(); ++worker) others.emplace_back(work);
  work();
}

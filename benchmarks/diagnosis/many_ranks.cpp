// SPDX-License-Identifier: Apache-2.0
// A million ranks in one process: randomly sampled rounds of a simulated machine, and their diagnosis.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/rows.hpp"
#include "network/parse_network.hpp"
#include "schedule/sampled_rounds.hpp"
#include "synthetic/simulator.hpp"

namespace {

using namespace leadline;

double seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Whatever the other programs of the machine do.
double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

double peak_gb() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return 1e-6 * static_cast<double>(used.ru_maxrss);
}

struct Wanted {
  int hosts_a_leaf = 32, leaves_a_pod = 32, num_pods = 128, ranks_a_host = 8;
  ComponentKind kind = ComponentKind::host;
  double factor = 1.2;
  std::int64_t num_rounds = 32;  ///< 0 = all pairs
  std::uint64_t seed = 1;
};

synthetic::Machine machine_of(const Wanted& wanted) {
  synthetic::Machine machine;
  machine.network = network::formula("fat-tree:" + std::to_string(wanted.hosts_a_leaf) + "x" +
                                     std::to_string(wanted.leaves_a_pod) + "x" + std::to_string(wanted.num_pods));
  machine.ranks_per_host = static_cast<std::uint32_t>(wanted.ranks_a_host);
  machine.num_ranks = static_cast<std::uint32_t>(machine.network.hosts.size()) * machine.ranks_per_host;
  machine.seed = wanted.seed;
  synthetic::PlantedFault fault;
  fault.component.kind = wanted.kind;
  fault.component.level = wanted.kind == ComponentKind::uplink ? 0 : -1;
  const std::size_t num =
      wanted.kind == ComponentKind::uplink ? machine.network.levels[0].names.size() : machine.network.hosts.size();
  fault.component.first = static_cast<std::int32_t>(num * 5 / 7);
  fault.factor = wanted.factor;
  machine.faults = {fault};
  return machine;
}

diagnosis::Layout layout_of(const synthetic::Machine& machine) {
  diagnosis::Layout layout;
  for (std::uint32_t rank = 0; rank < machine.num_ranks; ++rank) layout.host_of.push_back(host_of(machine, rank));
  for (std::uint32_t host = 0; host < num_hosts(machine); ++host) layout.host_names.push_back(host_name(machine, host));
  layout.network = machine.network;
  return layout;
}

/// Whom every rank meets, round by round; -1 where it rests.
std::vector<std::int32_t> partners_of(const diagnosis::Layout& layout, const Wanted& wanted) {
  schedule::Sample sample{wanted.num_rounds, wanted.seed};
  for (const network::Level& level : layout.network.levels) sample.groups_of_hosts.push_back(level.group_of);
  const schedule::SampledRounds rounds(layout.host_of, sample);
  return schedule::partners_by_round(rounds, layout.host_of.size(), wanted.num_rounds);
}

void fill(diagnosis::SparseRows& rows, const synthetic::Simulator& simulator, const std::vector<std::int32_t>& partners,
          std::size_t num_rounds) {
  std::vector<std::uint32_t> met;
  std::vector<double> logarithms;
  for (std::uint32_t rank = 0; rank < simulator.machine().num_ranks; ++rank) {
    const auto begin = partners.begin() + static_cast<std::ptrdiff_t>(rank * num_rounds);
    met.assign(begin, begin + static_cast<std::ptrdiff_t>(num_rounds));
    std::sort(met.begin(), met.end());
    met.erase(std::unique(met.begin(), met.end()), met.end());
    std::erase(met, static_cast<std::uint32_t>(-1));
    logarithms.clear();
    for (const std::uint32_t partner : met) logarithms.push_back(std::log(simulator.median_ns(rank, partner)));
    rows.append(met, logarithms);
  }
}

std::unique_ptr<diagnosis::Rows> all_pairs(const synthetic::Simulator& simulator, std::size_t num_workers) {
  const std::uint32_t num_ranks = simulator.machine().num_ranks;
  auto rows = std::make_unique<diagnosis::DenseRows>(num_ranks, num_workers);
  std::vector<double> times(num_ranks);
  for (std::uint32_t from = 0; from < num_ranks; ++from) {
    simulator.medians(from, times);
    for (double& time : times) time = time > 0 ? std::log(time) : std::numeric_limits<double>::quiet_NaN();
    rows->set(from, times);
  }
  return rows;
}

std::unique_ptr<diagnosis::Rows> measured(const synthetic::Simulator& simulator, const diagnosis::Layout& layout,
                                          const Wanted& wanted) {
  const std::size_t num_workers = std::min(std::thread::hardware_concurrency(), 2U);
  if (wanted.num_rounds == 0) return all_pairs(simulator, num_workers);
  auto rows = std::make_unique<diagnosis::SparseRows>(simulator.machine().num_ranks, num_workers);
  fill(*rows, simulator, partners_of(layout, wanted), static_cast<std::size_t>(wanted.num_rounds));
  return rows;
}

Diagnosis diagnose(const synthetic::Simulator& simulator, const diagnosis::Layout& layout,
                   const diagnosis::Rows& rows) {
  std::uint32_t attempt = 0;
  const auto again = [&](std::span<const diagnosis::OrderedPair> pairs, diagnosis::Load load) {
    const auto load_condition =
        load == diagnosis::Load::alone ? synthetic::LoadCondition::alone : synthetic::LoadCondition::concurrent;
    ++attempt;
    std::vector<diagnosis::RetestTimes> times;
    for (const auto& pair : pairs) {
      const PairRecord record = simulator.retest(pair.from, pair.to, attempt, load_condition);
      times.push_back({record.time_ns_median, record.time_ns_mean});
    }
    return times;
  };
  const std::uint64_t num = layout.host_of.size();
  const auto load = [&](Symptom) -> const diagnosis::Rows& { return rows; };
  return diagnosis::diagnose({load, layout, {}, num * (num - 1), false, again});
}

Wanted wanted_of(int argc, char** argv) {
  Wanted wanted;
  const auto argument = [&](int index, const std::string& otherwise) {
    return index < argc ? std::string(argv[index]) : otherwise;
  };
  wanted.kind = argument(1, "host") == "uplink" ? ComponentKind::uplink : ComponentKind::host;
  wanted.factor = std::atof(argument(2, "1.2").c_str());
  wanted.num_rounds = std::atoll(argument(3, "32").c_str());
  wanted.num_pods = std::atoi(argument(4, "128").c_str());
  wanted.seed = static_cast<std::uint64_t>(std::atoll(argument(5, "1").c_str()));
  wanted.leaves_a_pod = std::atoi(argument(6, "32").c_str());
  return wanted;
}

}  // namespace

/// Arguments: host or uplink, the factor, rounds (0 = all pairs), pods, the seed, leaves a pod (of 256 ranks each). One
/// line a finding, then "found N wrong N simulating S diagnosing S processor S peak GB": both in seconds, the third of
/// processors while diagnosing.
int main(int argc, char** argv) {
  const Wanted wanted = wanted_of(argc, argv);
  const double start_s = seconds();
  const synthetic::Simulator simulator(machine_of(wanted));
  const synthetic::Machine& machine = simulator.machine();
  const diagnosis::Layout layout = layout_of(machine);
  const std::unique_ptr<diagnosis::Rows> rows = measured(simulator, layout, wanted);
  const double filled_s = seconds(), processor_s = processor_seconds();
  std::fprintf(stderr, "%u ranks, %.1f s, %.2f GB\n", machine.num_ranks, filled_s - start_s, peak_gb());
  const Diagnosis diagnosis = diagnose(simulator, layout, *rows);
  int num_found = 0, num_wrong = 0;
  for (const Fault& fault : diagnosis.faults) {
    if (fault.is_note) continue;
    const bool is_planted = fault.component == machine.faults.front().component;
    ++(is_planted ? num_found : num_wrong);
    std::printf("%s %s %s x%.3f p %.2g\n", is_planted ? "right" : "wrong", name_of(fault.component.kind),
                fault.name.c_str(), fault.ratio, fault.p_value);
  }
  std::printf("found %d wrong %d simulating %.1f diagnosing %.1f processor %.1f peak %.2f\n", num_found, num_wrong,
              filled_s - start_s, seconds() - filled_s, processor_seconds() - processor_s, peak_gb());
}

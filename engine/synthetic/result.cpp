// SPDX-License-Identifier: Apache-2.0
// Fills a result with the numbers of a simulator.
#include "synthetic/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "bench/link/json.hpp"
#include "bench/link/plan.hpp"
#include "bench/link/tally.hpp"
#include "bench/plan.hpp"
#include "cluster/cluster.hpp"
#include "core/clock.hpp"
#include "core/units.hpp"
#include "result/shared_file.hpp"
#include "stats/slowest.hpp"

namespace leadline::synthetic {
namespace {

/// A cluster of one rank, for collective functions.
class SingleRankCluster final : public cluster::Cluster {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  const std::string& host() const override { return host_; }
  std::span<const std::uint32_t> host_of() const override { return host_of_; }
  int num_hosts() const override { return 1; }
  const std::string& host_name(int) const override { return host_; }
  std::string launcher() const override { return "none"; }
  bool on_loopback() const override { return true; }
  void set_wait(WaitMode, std::function<void()>) override {}
  std::string all_reduce(std::string own,
                         const std::function<std::string(std::string left, std::string_view right)>&) override {
    return own;
  }
  void gather(std::string_view own, const std::function<void(int rank, std::string_view text)>& at_root) override {
    at_root(0, own);
  }
  std::string broadcast(std::string_view from_root) override { return std::string(from_root); }
  void barrier() override {}
  void agree(const Error* own) override {
    if (own != nullptr) throw AgreedError(*own);
  }
  void go_on_without_lost_ranks() override {}
  std::span<const cluster::LostRank> lost_ranks() const override { return {}; }
  ProgressCounter& progress_counter() override { return progress_counter_; }
  void set_current_step(std::function<std::string(int rank)>) override {}
  void tell_current_step() override {}
  void set_partial_result(std::function<std::string()>) override {}
  void set_on_failure(std::function<void(const std::string&, const cluster::PartialResults&)>) override {}
  [[noreturn]] void abort(const Error& error) override { throw error; }
  void leave() override {}
  Descriptor meet(int, Deadline, const ProgressFunction&) override {
    throw cluster::ConnectionLost(0, "there is nobody to meet");
  }

 private:
  std::string host_ = "simulated";
  std::array<std::uint32_t, 1> host_of_{0};
  ProgressCounter progress_counter_;
};

/// What `leadline link` would run on the machine, whose network it would be told.
struct Plan {
  Plan(const Machine& machine, const bench::link::LinkRequest& request) {
    for (std::uint32_t rank = 0; rank < machine.num_ranks; ++rank) host_of.push_back(synthetic::host_of(machine, rank));
    layout.num_ranks = static_cast<int>(machine.num_ranks);
    layout.host_of = host_of;
    layout.network = &machine.network;
    spec = bench::link::schedule_spec(request, layout, 0);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() = default;

  std::vector<std::int32_t> partners() const {
    if (!spec.sample) return {};
    return schedule::partners_by_round(schedule::SampledRounds(host_of, *spec.sample), host_of.size(),
                                       spec.sample->num_rounds);
  }

  std::vector<std::uint32_t> host_of;
  bench::RankLayout layout;
  schedule::Spec spec;
};

/// Those that a rank meets in sampled rounds, ascending.
std::vector<std::uint32_t> met_by(std::span<const std::int32_t> partners_by_round) {
  std::vector<std::uint32_t> met;
  for (const std::int32_t partner : partners_by_round) {
    if (partner >= 0) met.push_back(static_cast<std::uint32_t>(partner));
  }
  std::ranges::sort(met);
  met.erase(std::unique(met.begin(), met.end()), met.end());
  return met;
}

std::span<const std::int32_t> partners_of(const std::vector<std::int32_t>& partners, std::size_t num_ranks,
                                          std::size_t rank) {
  const std::size_t num_rounds = partners.size() / num_ranks;
  return std::span(partners).subspan(rank * num_rounds, num_rounds);
}

bench::link::LinkRequest request_of(const Machine& machine, const Origin& origin, int num_retests) {
  bench::link::LinkRequest request;
  request.command_line = origin.command_line;
  request.transport = "model";
  request.message_sizes_bytes = {machine.message_size_bytes};
  request.num_batches = machine.num_batches;
  request.num_messages = std::uint64_t{machine.num_batches} * machine.messages_per_batch;
  request.direction = machine.direction;
  request.seed = request.shuffle_ranks_seed = request.shuffle_rounds_seed = request.fill_seed = machine.seed;
  request.retest = num_retests;
  request.statistics = origin.statistics;
  request.rounds = origin.rounds;
  return request;
}

Provenance provenance_of(const Machine& machine, const Origin& origin) {
  Provenance provenance;
  provenance.version = origin.version;
  provenance.commit = origin.commit;
  provenance.start_utc = provenance.end_utc = utc_now_iso8601();
  provenance.launcher = "none: nothing was measured";
  provenance.kernel = "simulated";
  provenance.transport = {"model", fmt::format("simulated: {}", machine.network.source), "", true};
  provenance.clock.source = "simulated";
  provenance.wait = WaitMode::spin;
  provenance.num_ranks = static_cast<int>(machine.num_ranks);
  provenance.num_hosts = static_cast<int>(num_hosts(machine));
  return provenance;
}

std::vector<HostRanks> hosts_of(const Machine& machine) {
  std::vector<HostRanks> hosts;
  for (std::uint32_t rank = 0; rank < machine.num_ranks;) {
    const std::uint32_t host = host_of(machine, rank);
    std::vector<int> ranks;
    for (; rank < machine.num_ranks && host_of(machine, rank) == host; ++rank) ranks.push_back(static_cast<int>(rank));
    hosts.push_back({host_name(machine, host), number_ranges(ranks)});
  }
  return hosts;
}

/// One pass over the medians.
struct Medians {
  bench::link::OwnMedians by_class;
  stats::Slowest slowest;
};

Medians medians_of_sample(const Simulator& simulator, int num_slowest, const std::vector<std::int32_t>& partners) {
  const Machine& machine = simulator.machine();
  bench::check_available({1, static_cast<double>(partners.size()) * sizeof(double)}, bench::available_memory_bytes(),
                         "Simulate fewer ranks or rounds");
  Medians medians{{}, stats::Slowest(static_cast<std::size_t>(num_slowest))};
  for (std::uint32_t from = 0; from < machine.num_ranks; ++from) {
    for (const std::uint32_t to : met_by(partners_of(partners, machine.num_ranks, from))) {
      const double median_ns = simulator.median_ns(from, to);
      const bool is_inside = host_of(machine, from) == host_of(machine, to);
      (is_inside ? medians.by_class.same_host : medians.by_class.between_hosts).push_back(median_ns);
      medians.slowest.add({from, to, median_ns});
    }
  }
  std::ranges::sort(medians.by_class.same_host);
  std::ranges::sort(medians.by_class.between_hosts);
  return medians;
}

Medians medians_of(const Simulator& simulator, int num_slowest, const std::vector<std::int32_t>& partners) {
  const Machine& machine = simulator.machine();
  if (!partners.empty()) return medians_of_sample(simulator, num_slowest, partners);
  const std::uint64_t inside = std::uint64_t{machine.num_ranks} * (machine.ranks_per_host - 1);
  const std::uint64_t all = std::uint64_t{machine.num_ranks} * (machine.num_ranks - 1);
  bench::check_available({1, static_cast<double>(all) * sizeof(double)}, bench::available_memory_bytes(),
                         "Simulate fewer ranks");
  Medians medians{{}, stats::Slowest(static_cast<std::size_t>(num_slowest))};
  medians.by_class.same_host.reserve(std::min(inside, all));
  medians.by_class.between_hosts.reserve(all - std::min(inside, all));
  std::vector<double> row(machine.num_ranks);
  for (std::uint32_t from = 0; from < machine.num_ranks; ++from) {
    simulator.medians(from, row);
    for (std::uint32_t to = 0; to < machine.num_ranks; ++to) {
      if (to == from) continue;
      const bool is_inside = host_of(machine, from) == host_of(machine, to);
      (is_inside ? medians.by_class.same_host : medians.by_class.between_hosts).push_back(row[to]);
      medians.slowest.add({from, to, row[to]});
    }
  }
  std::ranges::sort(medians.by_class.same_host);
  std::ranges::sort(medians.by_class.between_hosts);
  return medians;
}

bench::link::SliceSummary summary_of(const Simulator& simulator, int num_retests,
                                     const std::vector<std::int32_t>& partners) {
  bench::link::SliceSummary summary;
  summary.slice.message_size_bytes = simulator.machine().message_size_bytes;
  const Medians medians = medians_of(simulator, num_retests, partners);
  SingleRankCluster alone;
  const bench::link::ClassSummaries classes = bench::link::summarize_pairs(alone, medians.by_class);
  summary.all = classes.all;
  summary.same_host = classes.same_host;
  summary.between_hosts = classes.between_hosts;
  for (const stats::TimedPair& pair : medians.slowest.sorted())
    summary.slowest.push_back(
        {pair.from, pair.to, pair.time_ns, simulator.retest_median_ns(pair.from, pair.to, 1, LoadCondition::alone)});
  return summary;
}

}  // namespace

bench::link::LinkResult link_result(const Simulator& simulator, const Origin& origin, int num_retests) {
  const Machine& machine = simulator.machine();
  bench::link::LinkResult result;
  result.request = request_of(machine, origin, num_retests);
  result.provenance = provenance_of(machine, origin);
  const Plan plan(machine, result.request);
  result.num_rounds = schedule::Schedule(plan.spec).num_rounds();
  result.slices.push_back(summary_of(simulator, num_retests, plan.partners()));
  result.hosts = hosts_of(machine);
  for (const SlowPair& pair : result.slices[0].slowest) {
    result.slow_pair_hosts.push_back(host_name(machine, host_of(machine, pair.from)));
    result.slow_pair_hosts.push_back(host_name(machine, host_of(machine, pair.to)));
  }
  result.findings.push_back({"simulated", Severity::note,
                             "Nobody measured this: the times are of a machine that does not exist.",
                             machine.network.source, "Use leadline link to measure."});
  result.complete = true;
  return result;
}

Reader::Reader(const Simulator& simulator, const bench::link::LinkResult& result)
    : simulator_(simulator),
      schedule_(Plan(simulator.machine(), result.request).spec),
      header_(bench::link::header_of(result, result::random_nonce())) {
  const Plan plan(simulator.machine(), result.request);
  partners_ = plan.partners();
  if (auto sample = bench::link::stored_sample(result.request, plan.layout)) {
    bench::link::store_rounds(header_, {*std::move(sample), plan.host_of});
  }
  header_.network = network::stored_text(simulator.machine().network);
  header_.repeats = {{0, -1}};
  header_.has_rounds = true;
  header_.retests = bench::link::retests_of(result);
  header_.complete = result.complete;
  header_.incomplete_reason.clear();
  header_.end_utc = result.provenance.end_utc;
  header_.summary = bench::link::json_text(result);
}

PairRow Reader::row(std::size_t, std::size_t, std::int64_t rank) {
  const auto from = static_cast<std::uint32_t>(rank);
  if (partners_.empty()) return simulator_.row(from);
  PairRow row(simulator_.machine().num_ranks);
  for (const std::uint32_t to : met_by(partners_of(partners_, row.size(), from))) {
    row.set(to, simulator_.record(from, to));
  }
  return row;
}

/// A pair that meets again has the same times.
std::vector<PairCell> Reader::cells_of_rounds(std::size_t, std::size_t, std::int64_t rank) {
  const auto from = static_cast<std::uint32_t>(rank);
  std::vector<PairCell> cells;
  for (const std::int32_t partner : partners_of(partners_, simulator_.machine().num_ranks, from)) {
    cells.push_back(partner < 0 ? 0 : pair_cell(simulator_.record(from, static_cast<std::uint32_t>(partner))));
  }
  return cells;
}

std::vector<std::int32_t> Reader::rounds(std::size_t, std::int64_t rank) {
  std::vector<std::int32_t> rounds(simulator_.machine().num_ranks);
  std::int32_t number = 0;
  for (const std::int32_t partner : partners_of(partners_, rounds.size(), static_cast<std::size_t>(rank))) {
    ++number;
    if (partner >= 0) rounds[static_cast<std::size_t>(partner)] = number;
  }
  if (!partners_.empty()) return rounds;
  for (std::int64_t round = 0; round < schedule_.num_rounds(); ++round) {
    const auto pairing = schedule_.pairing(static_cast<int>(rank), round);
    if (pairing) rounds[static_cast<std::size_t>(pairing->partner)] = static_cast<std::int32_t>(round + 1);
  }
  return rounds;
}

RankPlacement Reader::placement(std::int64_t rank) {
  const Machine& machine = simulator_.machine();
  const auto number = static_cast<std::uint32_t>(rank);
  RankPlacement placement;
  placement.host = host_name(machine, host_of(machine, number));
  placement.cpus = std::to_string(slot_of(machine, number));
  placement.num_cpus = 1;
  placement.numa_node = static_cast<std::int32_t>(socket_of(machine, number));
  return placement;
}

std::array<std::int32_t, 4> Reader::location(std::int64_t rank) { return {static_cast<std::int32_t>(rank), 0, 0, 0}; }

}  // namespace leadline::synthetic

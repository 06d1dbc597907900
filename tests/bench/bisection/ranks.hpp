// SPDX-License-Identifier: Apache-2.0
// Bisection tests whose ranks are threads: over the transports model and tcp, or over one that does as it is told.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/bisection/exchange_loop.hpp"
#include "bench/bisection/measure.hpp"
#include "core/error.hpp"
#include "support/thread_cluster.hpp"
#include "transport/module.hpp"

namespace leadline::bench::bisection {

using test::run_on_threads;
using test::ThreadCluster;

inline std::vector<std::uint32_t> hosts_of(int num_ranks, int ranks_per_host) {
  std::vector<std::uint32_t> host_of;
  for (int rank = 0; rank < num_ranks; ++rank) host_of.push_back(static_cast<std::uint32_t>(rank / ranks_per_host));
  return host_of;
}

/// A transport that moves nothing: an exchange of this rank takes what `time_ns` says, which is told how many ranks
/// have channels at once.
class ScriptedTransport final : public transport::Transport {
 public:
  using TimeNs = std::function<std::uint64_t(int rank, std::uint64_t exchange, int num_active)>;

  struct Meeting {
    explicit Meeting(int num_ranks) : gate(num_ranks) {}
    std::barrier<> gate;
    std::atomic<int> num_active{0};
  };

  ScriptedTransport(int rank, Meeting& meeting, TimeNs time_ns)
      : rank_(rank), meeting_(meeting), time_ns_(std::move(time_ns)) {}

  TransportInfo info() const override { return {}; }
  transport::Connected open_link(int, Deadline) override { return transport::Connected::anew; }
  void run(const kernel::Exchange&, int, const kernel::Buffers&, std::span<Sample>) override {}
  std::optional<kernel::Mismatch> verify(const kernel::Exchange&, int, const kernel::Buffers&, Fill) override {
    return std::nullopt;
  }
  void all_to_all(const kernel::AllToAllSteps&, const kernel::Buffers&, std::span<Sample>) override {}
  std::unique_ptr<transport::Messages> messages(std::span<const std::int32_t>, std::size_t) override { return nullptr; }
  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                    const kernel::NeighbourBuffers&,
                                                                    const kernel::NeighbourTask& task) override {
    const auto& timed = std::get<kernel::TimedExchanges>(task);
    meeting_.num_active += exchange.channels.empty() ? 0 : 1;
    meeting_.gate.arrive_and_wait();
    const int num_active = meeting_.num_active;
    meeting_.gate.arrive_and_wait();
    meeting_.num_active = 0;
    meeting_.gate.arrive_and_wait();
    std::uint64_t now_ns = 0;
    for (std::size_t i = 0; i < exchange.step_ends.size(); ++i) {
      now_ns += time_ns_(rank_, i, num_active);
      if (!timed.step_ends_ns.empty()) timed.step_ends_ns[i] = now_ns;
    }
    timed.samples.front() = {now_ns + 1, now_ns + 2};
    if (!exchange.channels.empty()) timed.samples.front().own_ns = now_ns;
    return std::nullopt;
  }

 private:
  int rank_;
  Meeting& meeting_;
  TimeNs time_ns_;
};

class NotingStore final : public PatternStore {
 public:
  std::vector<RankTimes> times;  ///< of all sizes, one behind the other
  std::vector<std::uint64_t> first_numbers;
  std::vector<PatternSummary> patterns;
  std::vector<BaselineSample> baseline;
  bool fails = false;

  void write(const RankRow& row) override {
    if (fails) throw Error(ExitStatus::run_failed, "the disk is full");
    first_numbers.push_back(row.first_number);
    times.insert(times.end(), row.times.begin(), row.times.end());
    patterns.insert(patterns.end(), row.patterns.begin(), row.patterns.end());
    baseline.insert(baseline.end(), row.baseline.begin(), row.baseline.end());
  }
};

class NotingProgress final : public Progress {
 public:
  std::vector<std::string> events;

  void size_begins(int, std::uint64_t message_size_bytes) override { note("size", message_size_bytes); }
  void pattern_begins(const PatternPosition& position, const schedule::Pattern& pattern) override {
    note(position.name, static_cast<std::uint64_t>(pattern.num_connections()));
  }
  void pattern_ends(const PatternSummary&, const Interval& so_far, double) override { note("so far", so_far.num); }
  void retest_done(const SlowConnection& connection) override {
    note("retest", static_cast<std::uint64_t>(connection.from));
  }
  void size_ends(const BisectionSummary& summary) override { note("end", summary.num_patterns); }

 private:
  void note(const std::string& what, std::uint64_t number) { events.push_back(what + " " + std::to_string(number)); }
};

struct Setting {
  BisectionRequest request;
  std::vector<std::uint32_t> host_of;
  std::string transport;  ///< "tcp" or "model:FILE"; empty = as `time_ns` says
  ScriptedTransport::TimeNs time_ns;
  std::optional<int> store_fails_on;
};

/// What is left of a rank when its run is over.
struct Rank {
  NotingStore store;
  NotingProgress progress;
  Measured measured;
  std::string error;  ///< that all ranks agreed on
  std::string current_step;
};

inline std::unique_ptr<transport::Transport> open_transport(const Setting& setting, ThreadCluster& cluster,
                                                            ScriptedTransport::Meeting& meeting) {
  if (setting.transport.empty()) {
    return std::make_unique<ScriptedTransport>(cluster.rank(), meeting, setting.time_ns);
  }
  const auto choice = transport::parse_choice(setting.transport);
  const auto module = transport::open_module(choice.name);
  return module->open({.rank = cluster.rank(),
                       .size = cluster.size(),
                       .host_of = cluster.host_of(),
                       .rendezvous = cluster,
                       .wait = WaitMode::block,
                       .settings = {choice.name, module->settings, choice.argument, {}},
                       .interface = {},
                       .progress_counter = cluster.progress_counter()});
}

inline Plan plan_of(const Setting& setting) {
  const int num_ranks = static_cast<int>(setting.host_of.size());
  return plan(setting.request, {num_ranks, num_ranks, setting.host_of});
}

inline std::vector<Rank> measured(const Setting& setting) {
  std::vector<Rank> ranks(setting.host_of.size());
  ScriptedTransport::Meeting meeting(static_cast<int>(ranks.size()));
  run_on_threads(setting.host_of, [&](ThreadCluster& cluster) {
    Rank& own = ranks[static_cast<std::size_t>(cluster.rank())];
    own.store.fails = setting.store_fails_on == cluster.rank();
    const Plan plan = plan_of(setting);
    MessageBuffers buffers(setting.request, cluster.rank());
    const auto transport = open_transport(setting, cluster, meeting);
    try {
      measure({setting.request, plan, cluster, *transport, buffers, own.store,
               cluster.rank() == 0 ? &own.progress : nullptr},
              own.measured);
    } catch (const AgreedError& error) {
      own.error = error.problem();
    }
    own.current_step = cluster.current_step(cluster.rank());
    cluster.barrier();  // nobody closes a link that another still looks at
  });
  return ranks;
}

/// A file for the transport model, removed at its end; 3000 ns for 1000 bytes between hosts, 600 ns on one.
class FabricFile {
 public:
  explicit FabricFile(int ranks_per_host, const std::string& faults = {}, double jitter = 0) {
    static int number = 0;
    path_ = ::testing::TempDir() + "leadline_bisection_" + std::to_string(::getpid()) + "_" + std::to_string(number++) +
            ".json";
    std::ofstream(path_) << R"({"ranks_per_host": )" << ranks_per_host << R"(, "jitter": )" << jitter
                         << R"(, "same_host": {"latency_ns": 500, "bandwidth_bytes_per_s": 1e10},
                          "between_hosts": {"latency_ns": 2000, "bandwidth_bytes_per_s": 1e9}, "faults": [)"
                         << faults << "]}";
  }
  ~FabricFile() { std::remove(path_.c_str()); }
  FabricFile(const FabricFile&) = delete;
  FabricFile& operator=(const FabricFile&) = delete;

  std::string transport() const { return "model:" + path_; }

 private:
  std::string path_;
};

constexpr double rate(double time_ns) { return 1e9 * 1000 / time_ns; }  // of 1000 bytes

inline constexpr double between_hosts = rate(3000), on_one_host = rate(600);  // over a FabricFile

inline Setting setting_of(int num_ranks, int ranks_per_host, const FabricFile& file, std::uint64_t rounds) {
  Setting setting;
  setting.host_of = hosts_of(num_ranks, ranks_per_host);
  setting.transport = file.transport();
  setting.request.message_sizes_bytes = {1000};
  setting.request.rounds = rounds;
  setting.request.num_exchanges = 4;
  setting.request.time_limit_s = 0;
  return setting;
}

}  // namespace leadline::bench::bisection

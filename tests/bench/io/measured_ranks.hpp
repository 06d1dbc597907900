// SPDX-License-Identifier: Apache-2.0
// Parallel file tests whose ranks are threads: messages over tcp, files by the system's own calls or by a backend that
// fails when it is told to.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/io/buffers.hpp"
#include "bench/io/measure.hpp"
#include "bench/io/plan.hpp"
#include "bench/io/ranks.hpp"
#include "core/error.hpp"
#include "storage/posix/posix.hpp"
#include "support/folder.hpp"
#include "support/thread_cluster.hpp"
#include "transport/module.hpp"

namespace leadline::bench::io {

using test::run_on_threads;
using test::ThreadCluster;

constexpr std::uint64_t test_run = 0x1234567890abcdef;

class NotingStore final : public PhaseStore {
 public:
  std::vector<RankPhase> rows;
  std::vector<PhaseSummary> summaries;
  std::function<void(const PhasePosition&)> behind_phase;
  bool fails = false;

  void write(const PhasePosition& position, const RankPhase& own, const PhaseSummary& summary) override {
    rows.push_back(own);
    summaries.push_back(summary);
    if (behind_phase) behind_phase(position);
    if (fails) throw Error(ExitStatus::run_failed, "the disk of the results is full");
  }
};

class NotingProgress final : public Progress {
 public:
  std::vector<std::string> events;

  void phase_begins(const PhasePosition& position, std::uint64_t bytes_total) override {
    events.push_back(std::string(name_of(position.operation)) + " " + std::to_string(bytes_total));
  }
  void phase_ends(const PhaseSummary& summary) override { events.push_back(summary.is_complete ? "ends" : "fails"); }
  void waits(const std::string& for_what) override { events.push_back(for_what); }
};

struct Setting {
  IoRequest request;
  int num_ranks = 4;
  int ranks_per_host = 4;
  std::function<std::unique_ptr<storage::Backend>(int rank)> backend;  ///< empty = the system's own calls
  std::function<void(const PhasePosition&)> behind_phase;              ///< on rank 0, while others wait
  std::optional<int> store_fails_on;
};

/// What is left of a rank when its run is over.
struct MeasuredRank {
  NotingStore store;
  NotingProgress progress;
  Measured measured;
  std::vector<std::string> files;
  std::string error;  ///< that all ranks agreed on
  std::string current_step;
};

inline std::unique_ptr<transport::Transport> open_tcp(ThreadCluster& cluster) {
  const auto module = transport::open_module("tcp");
  return module->open({.rank = cluster.rank(),
                       .size = cluster.size(),
                       .host_of = cluster.host_of(),
                       .rendezvous = cluster,
                       .wait = WaitMode::block,
                       .settings = {},
                       .interface = {},
                       .progress_counter = cluster.progress_counter()});
}

inline std::unique_ptr<storage::Backend> posix_backend(int rank, int size) {
  return storage::posix::module().make({.rank = rank, .size = size, .argument = {}});
}

inline std::vector<MeasuredRank> measured(const Setting& setting) {
  const Ranks there(setting.num_ranks, setting.ranks_per_host);
  const Plan plan = there.plan(setting.request);
  std::vector<MeasuredRank> ranks(there.host_of.size());
  run_on_threads(there.host_of, [&](ThreadCluster& cluster) {
    const int rank = cluster.rank();
    MeasuredRank& own = ranks[static_cast<std::size_t>(rank)];
    own.store.fails = setting.store_fails_on == rank;
    if (rank == 0) own.store.behind_phase = setting.behind_phase;
    Buffers buffers(setting.request, plan, rank);
    const auto transport = open_tcp(cluster);
    const auto backend = setting.backend ? setting.backend(rank) : posix_backend(rank, cluster.size());
    RankPlacement placement;
    placement.host = cluster.host();
    placement.pid = ::getpid();
    own.files = setting.request.no_file ? std::vector<std::string>()
                                        : agree_on_names(setting.request, plan, cluster, placement);
    try {
      measure({setting.request,
               plan,
               cluster,
               *transport,
               *backend,
               own.files,
               "ext4",
               placement,
               test_run,
               buffers,
               own.store,
               rank == 0 ? &own.progress : nullptr,
               {rank % 2 == 0 ? ContentsBy::rank : ContentsBy::helper}},
              own.measured);
    } catch (const AgreedError& error) {
      own.error = error.problem();
    }
    own.current_step = cluster.current_step(rank);
    cluster.barrier();  // nobody closes a link that another still looks at
  });
  return ranks;
}

/// Small, of an odd number of words, so that objects straddle pages and blocks.
inline IoRequest request_in(const test::Folder& folder, schedule::Movement movement) {
  IoRequest request;
  request.movement = movement;
  request.object_size_bytes = 12296;
  request.num_objects = 5;
  request.num_ahead = 1;
  request.timeout_s = 20;
  const bool has_own_files = movement == schedule::Movement::n_n || movement == schedule::Movement::n_m_m ||
                             movement == schedule::Movement::n_m;
  request.target = folder / (has_own_files ? "file.%r" : "file");
  if (schedule::is_funnel(movement)) {
    request.io_ranks = {2};
    request.buffer_size_bytes = 4 * request.object_size_bytes;
  }
  if (movement == schedule::Movement::n_m) request.num_files = 2;
  return request;
}

inline void expect_no_errors(const std::vector<MeasuredRank>& ranks) {
  for (const MeasuredRank& rank : ranks) EXPECT_EQ(rank.error, "");
}

/// The same on every rank.
inline std::string error_of(const std::vector<MeasuredRank>& ranks) {
  for (const MeasuredRank& rank : ranks) EXPECT_EQ(rank.error, ranks.front().error);
  return ranks.front().error;
}

}  // namespace leadline::bench::io

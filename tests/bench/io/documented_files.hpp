// SPDX-License-Identifier: Apache-2.0
// Where the documents say that every object of a run on seven ranks lies, and files read by other means than the
// engine's.
#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/faulty_files.hpp"
#include "bench/io/measured_ranks.hpp"

namespace leadline::bench::io {

using schedule::Movement;
using schedule::Order;

struct DocumentedObject {
  std::string file;
  std::uint64_t offset_bytes = 0;
  std::uint32_t file_number = 0;
};

/// Where an object belongs, from the documents alone: 7 ranks, 2 I/O ranks (0 for 0-3, 4 for 4-6) or 2 files
/// (odd and even ranks). `first` = the lowest rank that brings something is not an I/O rank.
class Documented {
 public:
  Documented(const IoRequest& request, std::string folder) : request_(request), folder_(std::move(folder)) {}

  bool brings(int rank) const {
    const bool is_io_rank = schedule::is_funnel(request_.movement) && (rank == 0 || rank == 4);
    return !is_io_rank || request_.self_send == schedule::SelfSend::yes;
  }

  DocumentedObject location(int rank, std::uint64_t object) const {
    const std::uint64_t size = request_.object_size_bytes, num = request_.num_objects;
    std::vector<int> sharers;
    for (int other = 0; other < num_ranks; ++other) {
      if (brings(other) && name(other) == name(rank)) sharers.push_back(other);
    }
    std::uint64_t position = 0;
    while (sharers[position] != rank) ++position;
    const bool strided = request_.order == Order::strided;
    const std::uint64_t in_block = request_.block_size_bytes == 0 ? 1 : request_.block_size_bytes / size;
    const std::uint64_t number = strided
                                     ? (object / in_block * sharers.size() + position) * in_block + object % in_block
                                     : position * num + object;
    return {name(rank), number * size, file_number(rank)};
  }

  std::uint64_t size_of(const std::string& file) const {
    std::uint64_t objects = 0;
    for (int rank = 0; rank < num_ranks; ++rank) {
      if (brings(rank) && name(rank) == file) objects += request_.num_objects;
    }
    return objects * request_.object_size_bytes;
  }

  static constexpr int num_ranks = 7;

 private:
  std::uint32_t file_number(int rank) const {
    switch (request_.movement) {
      case Movement::n_n:
        return static_cast<std::uint32_t>(rank);
      case Movement::n_m_m:
        return rank < 4 ? 0 : 1;
      case Movement::n_m:
        return static_cast<std::uint32_t>(rank % 2);
      case Movement::n_1:
      case Movement::n_m_1:
        return 0;
    }
    return 0;
  }
  std::string name(int rank) const {
    switch (request_.movement) {
      case Movement::n_n:
        return folder_ + "/file." + std::to_string(rank);
      case Movement::n_m_m:
        return folder_ + (rank < 4 ? "/file.0" : "/file.4");
      case Movement::n_m:
        return folder_ + "/file." + std::to_string(rank % 2);
      case Movement::n_1:
      case Movement::n_m_1:
        break;
    }
    return folder_ + "/file";
  }

  const IoRequest& request_;
  std::string folder_;
};

inline void expect_files(const IoRequest& request, const test::Folder& folder, std::uint32_t generation) {
  const Documented documented(request, folder.path().string());
  std::map<std::string, std::string> contents;
  for (int rank = 0; rank < Documented::num_ranks; ++rank) {
    if (!documented.brings(rank)) continue;
    for (std::uint64_t number = 0; number < request.num_objects; ++number) {
      const DocumentedObject location = documented.location(rank, number);
      if (!contents.contains(location.file)) {
        contents[location.file] = test::contents_of(location.file);
        ASSERT_EQ(contents[location.file].size(), documented.size_of(location.file)) << location.file;
      }
      std::vector<std::byte> object(request.object_size_bytes);
      memory::fill_object(object, {request.file_fill, request.touch, request.check},
                          {test_run, static_cast<std::uint32_t>(rank), location.file_number, number,
                           location.offset_bytes, generation});
      EXPECT_EQ(std::memcmp(object.data(), contents[location.file].data() + location.offset_bytes, object.size()), 0)
          << "object " << number << " of rank " << rank << " in " << location.file;
    }
  }
}

/// What every complete phase has, whichever way data went.
inline void expect_sound_numbers(const Setting& setting, const std::vector<MeasuredRank>& ranks) {
  const IoRequest& request = setting.request;
  const Documented documented(request, {});
  std::uint64_t num_contributors = 0;
  for (int rank = 0; rank < Documented::num_ranks; ++rank) num_contributors += documented.brings(rank) ? 1 : 0;
  const std::uint64_t bytes = num_contributors * request.num_objects * request.object_size_bytes;
  for (const PhaseSummary& phase : ranks[0].measured.phases) {
    EXPECT_TRUE(phase.is_complete);
    EXPECT_EQ(phase.error, "");
    EXPECT_EQ(phase.bytes, bytes);
    EXPECT_EQ(phase.num_objects, num_contributors * request.num_objects);
    EXPECT_EQ(phase.num_continued, 0u);
    EXPECT_EQ(phase.num_mismatches, 0u);
    EXPECT_GT(phase.bytes_per_s, 0);
  }
  for (const MeasuredRank& rank : ranks) {
    ASSERT_THAT(rank.store.rows, ::testing::SizeIs(ranks[0].measured.phases.size()));
    for (const RankPhase& row : rank.store.rows) {
      EXPECT_GT(row.end_ns, row.begin_ns);
      EXPECT_LE(row.io_ns, row.end_ns - row.begin_ns);
      EXPECT_EQ(std::accumulate(row.latencies.begin(), row.latencies.end(), std::uint64_t{0}), row.num_calls);
      EXPECT_EQ(std::accumulate(row.series.bytes.begin(), row.series.bytes.end(), std::uint64_t{0}), row.bytes);
      EXPECT_LE(row.call_ns_min, row.call_ns_max);
    }
    EXPECT_EQ(rank.measured.num_objects, request.num_objects);
  }
  const bool verifies = request.operations != IoOperations::write && request.check != memory::Check::none;
  EXPECT_EQ(ranks[0].measured.verified_bytes, verifies ? bytes : 0);
}

inline void run_and_expect_files(const Setting& setting, const test::Folder& folder) {
  const std::vector<MeasuredRank> ranks = measured(setting);
  expect_no_errors(ranks);
  expect_sound_numbers(setting, ranks);
  expect_files(setting.request, folder, 0);
}

inline Setting setting_for(const IoRequest& request) {
  Setting setting;
  setting.request = request;
  setting.num_ranks = Documented::num_ranks;
  setting.ranks_per_host = 4;
  if (!request.collective) return setting;
  // The system has no collective calls.
  setting.backend = [faults = std::make_shared<Faults>()](int rank) {
    return std::make_unique<FaultyBackend>(posix_backend(rank, Documented::num_ranks), rank, *faults);
  };
  return setting;
}

struct AccessMethod {
  Movement movement;
  Order order;
  storage::FileCalls calls;
  bool collective;
  bool barrier;
  int num_ahead;
};

inline std::string name_of_way(const ::testing::TestParamInfo<AccessMethod>& info) {
  const AccessMethod& way = info.param;
  std::ostringstream name;
  name << "type" << int(way.movement) << (way.order == Order::strided ? "_strided" : "_segmented")
       << (way.calls == storage::FileCalls::blocking ? "_blocking" : "_non_blocking")
       << (way.collective ? "_collective" : "") << (way.barrier ? "_barrier" : "") << "_ahead" << way.num_ahead;
  return name.str();
}

}  // namespace leadline::bench::io

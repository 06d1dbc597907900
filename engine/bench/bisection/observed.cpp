// SPDX-License-Identifier: Apache-2.0
// Random patterns only: named ones and those of the search load the network in ways of their own.
#include "bench/bisection/observed.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "result/file_kind.hpp"
#include "result/json_parts.hpp"

namespace leadline::bench::bisection {
namespace {

/// Where it is exchanges of both ranks that were timed, alone and in patterns.
diagnosis::ObservedSlice observed(std::size_t size_index, std::uint64_t message_size_bytes,
                                  std::span<const BaselineSample> baseline,
                                  std::span<const SlowConnection> slow_connections) {
  diagnosis::ObservedSlice slice;
  slice.size_index = static_cast<int>(size_index);
  slice.message_size_bytes = message_size_bytes;
  slice.pattern = name_of(PatternKind::random);
  slice.is_exchange = true;
  const auto add = [&](const auto& one, double time_ns, std::vector<diagnosis::Observation>& to) {
    if (one.size_index != slice.size_index || !(time_ns > 0)) return;
    to.push_back({static_cast<std::uint32_t>(one.from), static_cast<std::uint32_t>(one.to), time_ns});
  };
  for (const BaselineSample& one : baseline) add(one, one.time_ns, slice.alone);
  for (const SlowConnection& one : slow_connections) add(one, one.alone_time_ns, slice.retested);
  return slice;
}

}  // namespace

diagnosis::ObservedSlice observed_of(const BisectionResult& result, std::size_t index) {
  const BisectionSummary& size = result.sizes[index];
  return observed(static_cast<std::size_t>(size.size_index), size.message_size_bytes, result.baseline,
                  result.slow_connections);
}

namespace {

/// Of the summary, where there is one.
std::vector<SlowConnection> slow_connections_of(const Header& header, const std::string& path) {
  std::vector<SlowConnection> connections;
  result::read_summary(header.summary, path, "a bisection test", [&](const Json& summary) {
    for (const Json& one : summary.at("slow_connections").elements()) {
      SlowConnection& connection = connections.emplace_back();
      result::read_json(one.at("size_index"), connection.size_index);
      result::read_json(one.at("from"), connection.from);
      result::read_json(one.at("to"), connection.to);
      result::read_json(one.at("alone_time_ns"), connection.alone_time_ns);
      const bool is_rank = connection.from >= 0 && connection.from < header.num_ranks && connection.to >= 0 &&
                           connection.to < header.num_ranks;
      if (!is_rank) result::throw_damaged(path, "/summary has a rank that does not exist");
    }
  });
  return connections;
}

}  // namespace

diagnosis::ObservedSlice read_observed(const Hdf5Reader& reader, std::size_t size_index) {
  const Header& header = reader.header();
  diagnosis::ObservedSlice slice = observed(size_index, header.message_sizes_bytes[size_index],
                                            reader.baseline_of(size_index), slow_connections_of(header, reader.path()));
  const std::uint64_t num = reader.num_random(size_index);
  for (std::int64_t rank = 0; num > 0 && rank < header.num_ranks; ++rank) {
    for (const Received& one : reader.received_of(size_index, rank, num)) {
      slice.observations.push_back(
          {static_cast<std::uint32_t>(one.from), static_cast<std::uint32_t>(rank), one.time_ns});
    }
  }
  return slice;
}

}  // namespace leadline::bench::bisection

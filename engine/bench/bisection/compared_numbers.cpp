// SPDX-License-Identifier: Apache-2.0
// The effective bisection bandwidth, pairs alone, named patterns, and the connections of each host.
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bench/bisection/hdf5_reader.hpp"
#include "command/compared_run.hpp"
#include "core/json.hpp"
#include "result/file_kind.hpp"
#include "stats/interval.hpp"

namespace leadline::bench::bisection {
namespace {

/// A mean of rates.
diagnosis::RunNumber rate(const std::string& name, std::uint64_t size_bytes, const stats::RunningMean& rates) {
  const auto num = static_cast<double>(rates.num());
  return {.name = name,
          .message_size_bytes = size_bytes,
          .part = {},
          .unit = NumberUnit::bytes_per_s,
          .value = rates.mean(),
          .error = std::sqrt(rates.variance() / num) / rates.mean()};
}

/// By kind and name, over patterns.
void add_patterns(const Json& summary, diagnosis::RunNumbers& run) {
  std::map<std::pair<std::string, std::uint64_t>, stats::RunningMean> rates;
  for (const Json& pattern : summary.at("patterns").elements()) {
    const auto kind = pattern.at("kind").get<std::string>();
    if (kind == name_of(PatternKind::worst) || pattern.at("bytes_per_s_mean").is_null()) continue;
    const std::string name = kind == name_of(PatternKind::random) ? "eBB" : pattern.at("name").get<std::string>();
    rates[{name, pattern.at("message_size_bytes").get<std::uint64_t>()}].add(
        pattern.at("bytes_per_s_mean").get<double>());
  }
  for (const auto& [key, of_key] : rates) run.numbers.push_back(rate(key.first, key.second, of_key));
}

void add_hosts(const Hdf5Reader& reader, std::size_t size_index, diagnosis::RunNumbers& run) {
  const std::uint64_t num = reader.num_random(size_index);
  if (num == 0) return;
  diagnosis::TimesOfParts times;
  for (std::int64_t rank = 0; rank < reader.header().num_ranks; ++rank) {
    const std::string host = reader.placement(rank).host;
    for (const Received& one : reader.received_of(size_index, rank, num)) {
      if (one.time_ns > 0) times[host].push_back(std::log(one.time_ns));
    }
  }
  add_parts(run, "connections", reader.header().message_sizes_bytes[size_index], times);
}

}  // namespace

diagnosis::RunNumbers numbers_of(const std::string& path) {
  const Hdf5Reader reader(path);
  const Header& header = reader.header();
  diagnosis::RunNumbers run =
      command::compared_run(reader, {"active_ranks_per_host"}, {"exchanges", "warmup", "wait", "allocator", "verify"});
  run.conditions.emplace_back("within_hosts", header.within_hosts ? "true" : "false");
  result::read_summary(header.summary, path, "a bisection test",
                       [&](const Json& summary) { add_patterns(summary, run); });
  for (std::size_t size = 0; size < header.message_sizes_bytes.size(); ++size) {
    const std::uint64_t size_bytes = header.message_sizes_bytes[size];
    stats::RunningMean alone;
    for (const BaselineSample& one : reader.baseline_of(size)) {
      if (one.time_ns > 0) alone.add(1e9 * static_cast<double>(size_bytes) / one.time_ns);
    }
    if (alone.num() > 0) run.numbers.push_back(rate("pairs alone", size_bytes, alone));
    add_hosts(reader, size, run);
  }
  return run;
}

}  // namespace leadline::bench::bisection

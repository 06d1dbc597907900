// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a collective test in an HDF5 file, checking shapes and types before anything is read.
#include "bench/collective/hdf5_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/collective/json.hpp"
#include "command/compared_run.hpp"
#include "core/json.hpp"
#include "result/file_kind.hpp"
#include "result/json_parts.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::collective {

Hdf5Reader::Hdf5Reader(std::string path) : RunReader(std::move(path)) {
  open(
      "collective", header_, [this] { read_header(); }, [this] { (void)num_rounds_measured(); });
}

void Hdf5Reader::read_header() {
  result::hdf5::read_facts(file(), "collective", header_);
  if (header_.operations.empty()) file().fail("/collective has no operations");
  if (header_.message_sizes_bytes.empty()) file().fail("it has no message size");
}

std::vector<double> Hdf5Reader::times_ns(std::size_t round, std::size_t operation, std::size_t size) const {
  return result::hdf5::reading(path(), [&] {
    const auto rounds = static_cast<hsize_t>(header_.num_rounds), groups = static_cast<hsize_t>(header_.num_groups),
               batches = static_cast<hsize_t>(header_.num_batches);
    return file().numbers<double>(
        "collective/groups/time_ns",
        {rounds, header_.operations.size(), header_.message_sizes_bytes.size(), groups, batches},
        {{round, operation, size, 0, 0}, {1, 1, 1, groups, batches}});
  });
}

std::size_t Hdf5Reader::num_rounds_measured() const {
  std::size_t num = 0;
  for (std::size_t round = 0; round < static_cast<std::size_t>(header_.num_rounds); ++round) {
    const auto times = times_ns(round, header_.operations.size() - 1, header_.message_sizes_bytes.size() - 1);
    if (std::ranges::any_of(times, [](double time_ns) { return time_ns > 0; })) ++num;
  }
  return num;
}

std::vector<CellSummary> kept_cells(const Header& header, const std::string& path) {
  std::vector<CellSummary> cells;
  result::read_summary(header.summary, path, "a collective test", [&](const Json& summary) {
    for (const Json& json : summary.at("cells").elements()) {
      CellSummary& cell = cells.emplace_back();
      const auto name = json.at("operation").get<std::string>();
      for (const auto& one : names_of(Operation{})) {
        if (one.name == name) cell.cell.operation = one.value;
      }
      cell.cell.message_size_bytes = json.at("message_size_bytes").get<std::uint64_t>();
      cell.num = json.at("num").get<std::uint64_t>();
      const auto number = [&](const char* key) { return result::number_or_nan(json.at(key)); };
      cell.min = number("time_ns_min");
      cell.median = number("time_ns_median");
      cell.mean = number("time_ns_mean");
      cell.p99 = number("time_ns_p99");
      cell.max = number("time_ns_max");
      cell.bandwidths = {number("algorithm_bytes_per_s"), number("bus_bytes_per_s")};
    }
  });
  return cells;
}

/// Rounds tell how much a time differs within a run.
diagnosis::RunNumbers numbers_of(const std::string& path) {
  const Hdf5Reader reader(path);
  const Header& header = reader.header();
  diagnosis::RunNumbers run =
      command::compared_run(reader, {"group_hosts", "serial"}, {"iterations", "warmup", "wait", "allocator", "verify"});
  run.conditions.emplace_back("algorithm", header.algorithm);
  for (std::size_t operation = 0; operation < header.operations.size(); ++operation) {
    for (std::size_t size = 0; size < header.message_sizes_bytes.size(); ++size) {
      stats::RunningMean logarithms;
      for (std::size_t round = 0; round < static_cast<std::size_t>(header.num_rounds); ++round) {
        auto times = reader.times_ns(round, operation, size);
        std::erase_if(times, [](double time_ns) { return !(time_ns > 0); });
        if (!times.empty()) logarithms.add(std::log(stats::summarize(times).median));
      }
      if (logarithms.num() == 0) continue;
      run.numbers.push_back({.name = header.operations[operation],
                             .message_size_bytes = header.message_sizes_bytes[size],
                             .part = {},
                             .unit = NumberUnit::ns,
                             .value = std::exp(logarithms.mean()),
                             .error = std::sqrt(logarithms.variance() / static_cast<double>(logarithms.num()))});
    }
  }
  return run;
}

}  // namespace leadline::bench::collective

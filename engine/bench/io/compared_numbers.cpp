// SPDX-License-Identifier: Apache-2.0
// Rates of writing and reading, and what each host and storage target takes for a byte.
#include <cmath>
#include <map>
#include <vector>

#include "bench/io/hdf5_reader.hpp"
#include "bench/io/observed.hpp"
#include "command/compared_run.hpp"
#include "stats/interval.hpp"

namespace leadline::bench::io {
namespace {

/// Of one operation.
struct Phases {
  stats::RunningMean logarithms;  ///< ln of rates
  diagnosis::TimesOfParts of_hosts, of_targets;
};

void add_ranks(const Hdf5Reader& reader, std::size_t phase, const std::vector<std::string>& targets, Phases& phases) {
  const std::vector<RankRate> ranks = reader.rates_of_ranks(phase);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankRate& own = ranks[rank];
    if (own.bytes == 0 || !(own.io_ns > 0)) continue;
    const double time = std::log(own.io_ns / static_cast<double>(own.bytes));
    phases.of_hosts[reader.placement(static_cast<std::int64_t>(rank)).host].push_back(time);
    const bool has_target = own.file >= 0 && static_cast<std::size_t>(own.file) < targets.size();
    if (has_target) phases.of_targets[targets[static_cast<std::size_t>(own.file)]].push_back(time);
  }
}

}  // namespace

diagnosis::RunNumbers numbers_of(const std::string& path) {
  const Hdf5Reader reader(path);
  const Header& header = reader.header();
  diagnosis::RunNumbers run = command::compared_run(
      reader, {"movement",    "strided", "objects",  "object_size", "io_ranks", "io_hosts",   "files",
               "buffer_size", "ahead",   "no_file",  "backend",     "calls",    "collective", "barrier",
               "preallocate", "direct",  "uncached", "drop_cache",  "sync",     "read_shift", "time_limit"},
      {"target", "targets", "hints", "check", "touch", "wait"});
  run.conditions.emplace_back("file system", header.file_system);
  std::map<IoOperation, Phases> operations;
  const std::vector<std::string> targets = targets_of(header);
  const std::vector<KeptPhase> phases = kept_phases(reader);
  for (std::size_t index = 0; index < phases.size(); ++index) {
    if (!phases[index].is_complete || !(phases[index].bytes_per_s > 0)) continue;
    Phases& of_operation = operations[phases[index].operation];
    of_operation.logarithms.add(std::log(phases[index].bytes_per_s));
    add_ranks(reader, index, targets, of_operation);
  }
  for (const auto& [operation, of_operation] : operations) {
    const stats::RunningMean& rates = of_operation.logarithms;
    run.numbers.push_back({.name = name_of(operation),
                           .message_size_bytes = 0,
                           .part = {},
                           .unit = NumberUnit::bytes_per_s,
                           .value = std::exp(rates.mean()),
                           .error = std::sqrt(rates.variance() / static_cast<double>(rates.num()))});
    add_parts(run, name_of(operation), 0, of_operation.of_hosts);
    add_parts(run, name_of(operation), 0, of_operation.of_targets);
  }
  return run;
}

}  // namespace leadline::bench::io

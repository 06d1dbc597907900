// SPDX-License-Identifier: Apache-2.0
// Rates of writing and reading, and what each host and storage target takes for a byte.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/hdf5_reader.hpp"
#include "bench/io/observed.hpp"
#include "command/compared_run.hpp"
#include "stats/interval.hpp"

namespace leadline::bench::io {
namespace {

/// Options that earlier versions did not have, with what those did.
constexpr std::pair<const char*, const char*> later_options[] = {
    {"metadata", "false"}, {"items", "both"},    {"random", "0"},         {"block_size", "0"}, {"mix", "0"},
    {"rate_limit", "0"},   {"queue_depth", "1"}, {"time_based", "false"}, {"ramp_time", "0"}};

/// Of one operation.
struct Phases {
  stats::RunningMean logarithms;  ///< ln of rates
  diagnosis::TimesOfParts of_hosts, of_targets;
};

void add_ranks(const Hdf5Reader& reader, std::size_t phase, IoOperation operation, Phases& phases) {
  const std::vector<RankRate> ranks = reader.rates_of_ranks(phase);
  const auto amount_of = [&](const RankRate& own) { return is_metadata(operation) ? own.num_objects : own.bytes; };
  std::vector<FileOfRank> files;
  for (const RankRate& own : ranks) {
    if (amount_of(own) > 0) files.push_back({own.file, own.storage_target});
  }
  const TargetNames targets(reader.header(), files);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankRate& own = ranks[rank];
    const std::uint64_t amount = amount_of(own);
    if (amount == 0 || !(own.io_ns > 0)) continue;
    const double time = std::log(own.io_ns / static_cast<double>(amount));
    phases.of_hosts[reader.placement(static_cast<std::int64_t>(rank)).host].push_back(time);
    const std::int32_t target = targets.index_of({own.file, own.storage_target});
    if (target >= 0) phases.of_targets[targets.all()[static_cast<std::size_t>(target)]].push_back(time);
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
      {"target", "targets", "hints", "check", "touch", "wait"}, command::NumbersIn::tables);
  for (auto* const values : {&run.conditions, &run.noted}) {
    for (auto& [name, value] : *values) {
      const auto is_told = [&own = name](const auto& option) { return option.first == own; };
      if (value.empty() && std::ranges::none_of(header.options, is_told)) value = diagnosis::not_known;
    }
  }
  run.conditions.emplace_back("file system", header.file_system.empty() ? diagnosis::not_known : header.file_system);
  for (const auto& [name, before] : later_options) {
    const std::string text = result::option_text(header, name);
    run.conditions.emplace_back(name, text.empty() ? before : text);
  }
  std::map<IoOperation, Phases> operations;
  const std::vector<KeptPhase> phases = kept_phases(reader);
  for (std::size_t index = 0; index < phases.size(); ++index) {
    const KeptPhase& phase = phases[index];
    const double rate = is_metadata(phase.operation) ? phase.operations_per_s : phase.bytes_per_s;
    if (!phase.is_complete || !(rate > 0)) continue;
    Phases& of_operation = operations[phase.operation];
    of_operation.logarithms.add(std::log(rate));
    add_ranks(reader, index, phase.operation, of_operation);
  }
  for (const auto& [operation, of_operation] : operations) {
    const stats::RunningMean& rates = of_operation.logarithms;
    run.numbers.push_back({.name = name_of(operation),
                           .message_size_bytes = 0,
                           .part = {},
                           .unit = is_metadata(operation) ? NumberUnit::per_s : NumberUnit::bytes_per_s,
                           .value = std::exp(rates.mean()),
                           .error = std::sqrt(rates.variance() / static_cast<double>(rates.num()))});
    add_parts(run, name_of(operation), 0, of_operation.of_hosts);
    add_parts(run, name_of(operation), 0, of_operation.of_targets);
  }
  return run;
}

}  // namespace leadline::bench::io

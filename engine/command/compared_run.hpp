// SPDX-License-Identifier: Apache-2.0
// What a comparison takes of a result of any benchmark: who took part, and which options it had.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>

#include "core/error.hpp"
#include "diagnosis/compare_runs.hpp"
#include "result/run_header.hpp"

namespace leadline::command {

/// Where a result has the numbers that are compared.
enum class NumbersIn : std::uint8_t { summary, tables };

/// Without numbers. `same`: options in which runs must not differ; `noted`: those in which they may. Throws
/// Error(bad_command_line) for a run that did not come to write its summary; one with tables is taken if it is
/// complete.
template <typename Reader>
diagnosis::RunNumbers compared_run(const Reader& reader, std::initializer_list<const char*> same,
                                   std::initializer_list<const char*> noted, NumbersIn where = NumbersIn::summary) {
  const result::RunHeader& header = reader.header();
  if (!header.summary && (where == NumbersIn::summary || !header.complete)) {
    throw Error(ExitStatus::bad_command_line, fmt::format("'{}' cannot be compared", reader.path()),
                "its run ended before its summary was written");
  }
  diagnosis::RunNumbers run;
  run.path = reader.path();
  if (!header.complete) run.incomplete_reason = header.incomplete_reason;
  std::map<std::string, std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < header.num_ranks; ++rank) ++ranks[reader.placement(rank).host];
  std::int64_t most = 0;
  for (const auto& [host, num] : ranks) {
    run.hosts.push_back(host);
    most = std::max(most, num);
  }
  run.conditions.emplace_back("ranks",
                              fmt::format("{} on {} hosts, at most {} a host", header.num_ranks, ranks.size(), most));
  for (const char* const name : same) run.conditions.emplace_back(name, result::option_text(header, name));
  for (const char* const name : {"transport", "transport_library"}) {
    run.noted.emplace_back(name, result::provenance_text(header, name));
  }
  for (const char* const name : noted) run.noted.emplace_back(name, result::option_text(header, name));
  return run;
}

}  // namespace leadline::command

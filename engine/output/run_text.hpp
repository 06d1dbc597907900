// SPDX-License-Identifier: Apache-2.0
// What the summaries of all benchmarks share: beginning, findings and end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/plan.hpp"
#include "model/request.hpp"
#include "model/result.hpp"

namespace leadline::output {

class HostsOfRanks {
 public:
  explicit HostsOfRanks(const std::vector<HostRanks>& hosts);

  bool has_several() const { return has_several_; }

  /// Empty where no host is known.
  std::string of(std::int32_t rank) const;

  /// "5 (node03)"; "5" where there is but one host, "-" for no rank.
  std::string with_host(std::int32_t rank) const;

 private:
  struct Ranks {
    std::int32_t last = 0;
    std::string host;
  };
  std::map<std::int32_t, Ranks> ranges_;  // by their first ranks
  bool has_several_;
};

/// "INCOMPLETE: why"; empty where the run is complete.
std::string incomplete_line(const RunResult& result);

/// Who took part: ranks, hosts, transport, how they waited; a line.
std::string participants_line(const RunResult& result);

/// Both.
std::string run_head(const RunResult& result);

bool has_finding(const RunResult& result, const std::string& id);

/// That times come from a model, where no finding says so anyway.
std::string simulated_line(const RunResult& result);

/// What an estimate of a plan takes a message to cost; a line.
std::string estimate_head(const bench::CostAssumption& assumption);

/// Where the result lies ("-" or empty = nowhere to point at), and what to do with it.
std::string where_it_lies(ResultFormat format, const std::string& result_path);

/// What was verified, and where it lies.
std::string run_tail(const RunResult& result, ResultFormat format, const std::string& result_path);

enum class NoteDetail : std::uint8_t { message_alone, full };

/// "warning: what it is", and below it, indented, the evidence and the advice, which notes may lack; warnings first.
/// Empty for no findings.
std::string findings_text(const std::vector<Finding>& findings, NoteDetail notes = NoteDetail::full);

}  // namespace leadline::output

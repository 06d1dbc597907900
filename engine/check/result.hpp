// SPDX-License-Identifier: Apache-2.0
// What a check says: how good the machine is, the numbers behind that, and what is wrong.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/congestion/result.hpp"
#include "check/request.hpp"
#include "core/named.hpp"
#include "model/diagnosis.hpp"
#include "model/result.hpp"

namespace leadline::check {

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// How grave a finding is, the gravest first.
enum class Grade : std::uint8_t {
  bad,       ///< needs action
  warning,   ///< should be looked at
  untested,  ///< may be bad, and could not be tested
  note,
};

/// The answer.
enum class State : std::uint8_t { good, warning, bad, untested };

const char* name_of(Grade grade);
std::span<const Named<Grade>> names_of(Grade any);
const char* name_of(State state);
std::span<const Named<State>> names_of(State any);

/// One of the measurements of a check.
struct Part {
  std::string name;       ///< "latency", "bandwidth", "gpu", "bisection", "congestion", "files"
  std::string benchmark;  ///< the command that measures the same
  std::string path;       ///< its result; empty = none is kept
  std::string why_not;    ///< why it was not measured; empty = it was
  double elapsed_s = 0;
};

/// What one kind of pairs, or of calls, reaches. Times in ns, rates in bytes a second; NaN where not measured.
struct Number {
  std::string name;  ///< "same host", "gpu to gpu", "bisection", "latency p99, incast", "memory copy", "write" ...
  double time_ns = not_measured;
  double bytes_per_s = not_measured;
  std::string yardstick;  ///< what says how much it should be: "profile", "line rate", "pairs alone", "alone"; or ""
  double share = not_measured;                      ///< of that
  std::optional<bench::congestion::Factor> impact;  ///< of a load; nothing = this is no number of congestion
};

/// The hosts of --sample.
struct Sample {
  std::uint64_t num_started = 0;        ///< hosts whose ranks were started and came
  std::vector<std::string> host_names;  ///< that took part
  std::vector<std::string> not_tested;  ///< of which nothing is known
  std::vector<Finding> findings;        ///< ranks that had not come when it was drawn
};

/// Something wrong, or places alike of which that is so.
struct CheckFinding {
  Grade grade = Grade::note;
  std::string kind;  ///< that of a component, "gpu", "class", "congestion", or the id of a finding about the machine
  std::string name;  ///< "host node2", "ports of node[24-31]"
  double ratio = 0;  ///< times as long as it should take; of places alike the least; 0 = unknown
  double ratio_most = 0;
  std::uint64_t num_pairs = 0;
  std::string seen;    ///< "40 pairs, also alone"
  std::string advice;  ///< what to do
  std::string part;    ///< that shows it most clearly
  std::vector<std::string> host_names, other_host_names, adapters;
  std::vector<std::int32_t> ranks;
  bool is_of_hosts = false;  ///< these hosts would be taken out of service for it, if it is bad
};

struct CheckResult : RunResult {
  CheckRequest request;
  State state = State::untested;
  std::string why;  ///< the state in a sentence, without its end
  double elapsed_s = 0;
  std::optional<Sample> sample;  ///< nothing = all hosts took part
  std::vector<Part> parts;
  std::vector<Number> numbers;
  std::vector<CheckFinding> problems;  ///< the gravest first
  std::vector<std::string> drain;      ///< names of hosts, in order
};

/// 0 good or with a warning, 1 bad, 3 untested.
int exit_status(State state);

}  // namespace leadline::check

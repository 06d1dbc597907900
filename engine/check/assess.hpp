// SPDX-License-Identifier: Apache-2.0
// From what the parts of a check have measured to its answer: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/bisection/result.hpp"
#include "bench/congestion/result.hpp"
#include "bench/io/result.hpp"
#include "bench/link/result.hpp"
#include "check/result.hpp"
#include "model/diagnosis.hpp"

namespace leadline::check {

/// What a part leaves behind, on the root.
struct PartResult {
  Part part;
  RunResult run;  ///< who took part, and findings about the machine
  std::vector<Number> numbers;
  std::vector<DiagnosedSlice> slices;
  std::optional<CheckFinding> impact;    ///< what a load does most, if it does more than the limits allow
  std::vector<std::string> pci_bus_ids;  ///< by rank: of GPUs, where their memory holds the messages
};

/// Of the link test with one message size: time or bandwidth of each class of pairs, or bandwidth between GPUs.
enum class Measure : std::uint8_t { latency, bandwidth, gpu };
void take(const bench::link::LinkResult& result, Measure measure, PartResult& part);
void take(const bench::bisection::BisectionResult& result, PartResult& part);
/// By the limits of `request`. The part was not measured where no interval is known.
void take(const bench::congestion::CongestionResult& result, const CheckRequest& request, PartResult& part);
void take(const bench::io::IoResult& result, PartResult& part);

/// The answer; without `elapsed_s` and the end of the run. `sample`: nothing where all hosts took part.
CheckResult assessed(const CheckRequest& request, const std::vector<PartResult>& parts,
                     const std::optional<Sample>& sample = {});

}  // namespace leadline::check

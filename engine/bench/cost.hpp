// SPDX-License-Identifier: Apache-2.0
// What plans take messages to cost, and whether the memory that they ask for is there.
#pragma once

#include <cstdint>
#include <string>

namespace leadline::bench {

/// What an estimate takes a message to cost; a guess for commodity networks, printed beside the estimate.
struct CostAssumption {
  double latency_ns = 10'000;
  double bandwidth_bytes_per_s = 1 << 30;
};

double message_s(const CostAssumption& assumption, std::uint64_t size_bytes);

/// An estimate as a number; what does not fit is the most there is.
std::uint64_t whole_bytes(double bytes);

/// What the ranks of a host need together.
struct HostDemand {
  int num_ranks = 1;
  double bytes = 0;
};

/// Throws Error(something_missing) with this hint where there is less.
void check_available(const HostDemand& demand, std::uint64_t available_bytes, const std::string& hint);

}  // namespace leadline::bench

// SPDX-License-Identifier: Apache-2.0
// What a user asked of `leadline congestion`: one member per option, same names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "model/request.hpp"

namespace leadline {
class OptionTable;
}
namespace leadline::bench::congestion {

/// Whom the ranks that load the network send to.
enum class LoadPattern : std::uint8_t {
  incast,     ///< all to one of them
  complete,   ///< each to all others of them, both ways at once
  random,     ///< in random pairs, both ways at once; new ones each round
  bisection,  ///< each of one half with one of the other half, both ways at once
};

std::span<const Named<LoadPattern>> names_of(LoadPattern any);
const char* name_of(LoadPattern pattern);

/// Sizes in bytes, times in seconds.
struct CongestionRequest : RunRequest {
  CongestionRequest() { message_sizes_bytes = {128 << 10}; }

  double victims = 0.2;                                           ///< share of the hosts, or of the ranks
  bool share_hosts = false;                                       ///< victims are chosen rank by rank: hosts have both
  std::vector<std::string> loads{"incast"};                       ///< --load: names of LoadPattern
  std::vector<std::string> intensities{"0", "25", "50", "100%"};  ///< --intensity, percent
  std::uint64_t load_size_bytes = 128 << 10;
  std::uint64_t seed = 1;     ///< of all random choices
  std::uint32_t rounds = 10;  ///< so often alone and under each load
  double test_time_s = 0.1;   ///< of one test in one phase
  double interval_s = 1e-4;   ///< from one latency message to the next, whatever became of it
  std::string topology;       ///< the physical network: a formula, a file, a pattern; empty = unknown
  double fail_above = 0;      ///< an impact factor; 0 = never
};

/// The percentage that a word of --intensity stands for. Throws Error(bad_command_line).
std::int32_t parse_intensity(const std::string& option, const std::string& word);

/// A limit of impact factors, from 1 on. Throws Error(bad_command_line).
double parse_factor(const std::string& option, const std::string& text);

/// The message size of the bandwidth test.
inline std::uint64_t bandwidth_size_bytes(const CongestionRequest& request) {
  return request.message_sizes_bytes.front();
}

inline std::uint64_t largest_bytes(const CongestionRequest& request) {
  return std::max(bandwidth_size_bytes(request), request.load_size_bytes);
}

/// See bench/run_options.hpp.
void declare_options(OptionTable& options, CongestionRequest& request, std::optional<ResultFormat>& format);

}  // namespace leadline::bench::congestion

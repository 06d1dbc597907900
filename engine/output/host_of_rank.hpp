// SPDX-License-Identifier: Apache-2.0
// The host on which a rank stands, out of a result's list of hosts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

}  // namespace leadline::output

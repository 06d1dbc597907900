// SPDX-License-Identifier: Apache-2.0
// Ranks on hosts that have names, for plans of the parallel file test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/plan.hpp"
#include "support/refusal.hpp"

namespace leadline::bench::io {

using Hosts = std::vector<std::uint32_t>;

/// Ranks in blocks on hosts, and the names of these.
struct Ranks {
  Ranks(int num, int per_host) {
    for (int rank = 0; rank < num; ++rank) host_of.push_back(static_cast<std::uint32_t>(rank / per_host));
    name_hosts();
  }
  explicit Ranks(Hosts hosts) : host_of(std::move(hosts)) { name_hosts(); }

  void name_hosts() {
    for (std::uint32_t host = 0; host <= *std::ranges::max_element(host_of); ++host) {
      names.hosts.push_back("node" + std::to_string(host));
      most = std::max(most, static_cast<int>(std::ranges::count(host_of, host)));
    }
  }
  Plan plan(const IoRequest& request) const {
    return io::plan(request, {static_cast<int>(host_of.size()), most, host_of}, names);
  }
  /// What it is refused with.
  std::string refusal(const IoRequest& request) const {
    return test::refusal_of([&] { plan(request); });
  }

  Hosts host_of;
  int most = 0;
  Names names;
};

}  // namespace leadline::bench::io

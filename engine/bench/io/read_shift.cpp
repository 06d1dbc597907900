// SPDX-License-Identifier: Apache-2.0
// Shifts of ranks, and of the ranks in the order of their hosts.
#include "bench/io/read_shift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "bench/io/plan.hpp"
#include "core/error.hpp"

namespace leadline::bench::io {
namespace {

[[noreturn]] void refuse(const char* kind, std::int64_t by, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, fmt::format("--read-shift cannot be {}:{}", kind, by), why, hint);
}

std::size_t index(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

std::int64_t shift_by_ranks(std::int64_t by, int num_ranks) {
  const std::int64_t shift = (by % num_ranks + num_ranks) % num_ranks;
  if (shift != 0) return shift;
  refuse(
      "ranks", by,
      num_ranks == 1 ? "there is 1 rank" : fmt::format("with {} ranks every rank would read its own", num_ranks),
      num_ranks == 1 ? "Start more ranks, or leave it out" : fmt::format("Choose ranks:1 to ranks:{}", num_ranks - 1));
}

std::vector<std::int32_t> reads_by_hosts(std::int64_t by, const RankLayout& rank_layout) {
  const auto num_ranks = static_cast<std::int64_t>(rank_layout.host_of.size());
  const std::int64_t num_hosts = num_ranks == 0 ? 1 : std::int64_t{*std::ranges::max_element(rank_layout.host_of)} + 1;
  if (num_hosts == 1) {
    refuse("hosts", by, "all ranks are on one host",
           "Start ranks on several hosts, use --drop-cache or --direct, or leave it out");
  }
  const std::int64_t hosts_on = (by % num_hosts + num_hosts) % num_hosts;
  if (hosts_on == 0) {
    refuse("hosts", by, fmt::format("with {} hosts every rank would read its own", num_hosts),
           fmt::format("Choose hosts:1 to hosts:{}", num_hosts - 1));
  }
  std::vector<std::int64_t> num_on(index(num_hosts), 0);
  for (const std::uint32_t host : rank_layout.host_of) ++num_on[host];
  const std::int64_t most = *std::ranges::max_element(num_on);
  if (most > num_ranks - most) {
    refuse("hosts", by,
           fmt::format("one host has {} of {} ranks, so that some would read what it wrote itself", most, num_ranks),
           "Spread ranks evenly over hosts, use --drop-cache or --direct, or leave it out");
  }
  // Nobody stays on its host who moves on by as many ranks as the fullest host has, and as far from the other side.
  const std::int64_t to_that_host = std::accumulate(num_on.begin(), num_on.begin() + hosts_on, std::int64_t{0});
  const std::int64_t distance = std::clamp(to_that_host, most, num_ranks - most);

  std::vector<std::int32_t> by_host(index(num_ranks));
  std::iota(by_host.begin(), by_host.end(), 0);
  std::ranges::stable_sort(by_host, {}, [&](std::int32_t rank) { return rank_layout.host_of[index(rank)]; });
  std::vector<std::int32_t> reads(index(num_ranks));
  for (std::int64_t seat = 0; seat < num_ranks; ++seat) {
    reads[index(by_host[index(seat)])] = by_host[index((seat + distance) % num_ranks)];
  }
  return reads;
}

std::int32_t reads_for(const Plan& plan, const IoRequest& request, int rank) {
  switch (request.read_shift) {
    case ReadShift::none:
      return rank;
    case ReadShift::ranks:
      return static_cast<std::int32_t>((rank + plan.shift_by_ranks) % plan.layout.num_ranks());
    case ReadShift::hosts:
      return plan.reads[index(rank)];
  }
  return rank;
}

}  // namespace leadline::bench::io

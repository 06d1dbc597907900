// SPDX-License-Identifier: Apache-2.0
// The reduction at the end of a round: one small message up and one down each edge of the tree.
#include "bench/link/tally.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

namespace leadline::bench::link {
namespace {

constexpr std::int32_t nobody = std::numeric_limits<std::int32_t>::max();

struct Wire {
  Tally tally;
  std::int32_t failed_rank = nobody;
  ExitStatus status = ExitStatus::ok;
};
static_assert(std::is_trivially_copyable_v<Wire>);
// Behind it, where a rank failed: problem, why and hint, each ended by a zero byte.

Wire head_of(std::string_view text) {
  Wire wire;
  std::memcpy(&wire, text.data(), sizeof wire);
  return wire;
}

std::string packed(const Wire& wire, std::string_view words) {
  std::string text(sizeof wire, '\0');
  std::memcpy(text.data(), &wire, sizeof wire);
  return text.append(words);
}

std::string combine(const std::string& left, std::string_view right) {
  Wire a = head_of(left);
  const Wire b = head_of(right);
  a.tally.num_pairs += b.tally.num_pairs;
  a.tally.time_ns_min = std::min(a.tally.time_ns_min, b.tally.time_ns_min);
  a.tally.time_ns_max = std::max(a.tally.time_ns_max, b.tally.time_ns_max);
  a.tally.time_ns_sum += b.tally.time_ns_sum;
  a.tally.bandwidth_bytes_per_s_sum += b.tally.bandwidth_bytes_per_s_sum;
  a.tally.first_time_ns = std::max(a.tally.first_time_ns, b.tally.first_time_ns);
  a.tally.second_time_ns = std::max(a.tally.second_time_ns, b.tally.second_time_ns);
  a.tally.slowest_first_half_ns = std::max(a.tally.slowest_first_half_ns, b.tally.slowest_first_half_ns);
  a.tally.slowest_second_half_ns = std::max(a.tally.slowest_second_half_ns, b.tally.slowest_second_half_ns);
  a.tally.verified_bytes += b.tally.verified_bytes;
  a.tally.rows_are_due += b.tally.rows_are_due;
  a.tally.time_is_over += b.tally.time_is_over;
  const bool right_is_first = b.failed_rank < a.failed_rank;
  if (right_is_first) {
    a.failed_rank = b.failed_rank;
    a.status = b.status;
  }
  const std::string words(right_is_first ? right.substr(sizeof b) : std::string_view(left).substr(sizeof a));
  return packed(a, words);
}

[[noreturn]] void throw_agreed(const Wire& wire, std::string_view words) {
  std::string part[3];
  for (std::string& text : part) {
    const std::size_t end = words.find('\0');
    text = words.substr(0, end);
    words.remove_prefix(end + 1);
  }
  throw AgreedError(Error(wire.status, part[0], part[1], part[2]));
}

}  // namespace

void Tally::add(double time_ns) {
  ++num_pairs;
  time_ns_min = std::min(time_ns_min, time_ns);
  time_ns_max = std::max(time_ns_max, time_ns);
  time_ns_sum += time_ns;
}

Spread spread_of(const Tally& all) {
  if (all.num_pairs == 0) return {};
  return {all.num_pairs, all.time_ns_min, all.time_ns_sum / static_cast<double>(all.num_pairs), all.time_ns_max};
}

Tally close_round(cluster::Cluster& cluster, const Tally& own, const std::optional<Error>& own_error) {
  Wire wire{own};
  std::string words;
  if (own_error) {
    wire.failed_rank = cluster.rank();
    wire.status = own_error->status();
    for (const std::string& part : {own_error->problem(), own_error->why(), own_error->hint()}) {
      words.append(part).push_back('\0');
    }
  }
  const std::string total = cluster.all_reduce(packed(wire, words), combine);
  const Wire sum = head_of(total);
  if (sum.failed_rank != nobody) throw_agreed(sum, std::string_view(total).substr(sizeof sum));
  return sum.tally;
}

}  // namespace leadline::bench::link

// SPDX-License-Identifier: Apache-2.0
// The reduction at the end of a round: one small message up and one down each edge of the tree.
#include "bench/link/tally.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "bench/reductions.hpp"
#include "stats/summary.hpp"

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
  a.tally.has_lost_pairs += b.tally.has_lost_pairs;
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

struct Moments {
  double min = std::numeric_limits<double>::infinity(), max = 0, sum = 0;
  std::uint64_t count = 0;
};
using ClassMoments = std::array<Moments, 2>;  // same host, between hosts

Moments merged(const Moments& a, const Moments& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max), a.sum + b.sum, a.count + b.count};
}

Moments moments_of(const std::vector<double>& sorted) {
  Moments moments;
  moments.count = sorted.size();
  if (sorted.empty()) return moments;
  moments.min = sorted.front();
  moments.max = sorted.back();
  for (const double value : sorted) moments.sum += value;
  return moments;
}

ClassMoments moments_over_ranks(cluster::Cluster& cluster, const ClassMoments& own) {
  return merged_over_ranks(cluster, own, [](const ClassMoments& a, const ClassMoments& b) {
    return ClassMoments{merged(a[0], b[0]), merged(a[1], b[1])};
  });
}

enum class Class : std::uint8_t { same_host, between_hosts, all };

std::uint64_t num_in_class(const OwnMedians& own, Class of, double bound) {
  switch (of) {
    case Class::same_host:
      return count_up_to(own.same_host, bound);
    case Class::between_hosts:
      return count_up_to(own.between_hosts, bound);
    case Class::all:
      break;
  }
  return count_up_to(own.same_host, bound) + count_up_to(own.between_hosts, bound);
}

/// The order statistics that a summary is made of, appended to `wanted` in a fixed order.
void ask_for(Class of, const Moments& moments, std::vector<OrderStatistic>& wanted) {
  const auto ask = [&](std::uint64_t index) {
    wanted.push_back({static_cast<std::size_t>(of), index, moments.min, moments.max});
  };
  for (const PairQuantile& one : pair_quantiles) {
    const stats::QuantilePosition position = stats::quantile_position(moments.count, one.q);
    ask(position.low);
    ask(position.high);
  }
  const stats::OrderInterval interval = stats::median_interval(moments.count);
  ask(interval.low);
  ask(interval.high);
}

constexpr std::size_t wanted_per_class = 2 * pair_quantiles.size() + 2;

PairSummary summary_of(const Moments& moments, std::span<const double> found) {
  PairSummary summary;
  summary.num_pairs = moments.count;
  summary.time_ns_min = moments.min;
  summary.time_ns_max = moments.max;
  summary.time_ns_mean = moments.sum / static_cast<double>(moments.count);
  for (std::size_t i = 0; i < pair_quantiles.size(); ++i) {
    const double low = found[2 * i], high = found[2 * i + 1];
    const double fraction = stats::quantile_position(moments.count, pair_quantiles[i].q).fraction;
    summary.*pair_quantiles[i].time_ns = low + (high - low) * fraction;
  }
  summary.median_interval_low_ns = found[2 * pair_quantiles.size()];
  summary.median_interval_high_ns = found[2 * pair_quantiles.size() + 1];
  return summary;
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

void widen(Spread& all, const Spread& more) {
  if (more.num == 0) return;
  if (all.num == 0) {
    all = more;
    return;
  }
  const auto before = static_cast<double>(all.num), added = static_cast<double>(more.num);
  all.mean = (all.mean * before + more.mean * added) / (before + added);
  all.min = std::min(all.min, more.min);
  all.max = std::max(all.max, more.max);
  all.num += more.num;
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

ClassSummaries summarize_pairs(cluster::Cluster& cluster, const OwnMedians& own) {
  const ClassMoments by_class = moments_over_ranks(cluster, {moments_of(own.same_host), moments_of(own.between_hosts)});
  const std::array<Moments, 3> moments{by_class[0], by_class[1], merged(by_class[0], by_class[1])};

  std::vector<OrderStatistic> wanted;
  for (const Class of : {Class::same_host, Class::between_hosts, Class::all}) {
    const Moments& of_class = moments[static_cast<std::size_t>(of)];
    if (of_class.count > 0) ask_for(of, of_class, wanted);
  }
  const std::vector<double> found = order_statistics(cluster, wanted, [&](std::size_t of, double bound) {
    return num_in_class(own, Class{static_cast<std::uint8_t>(of)}, bound);
  });

  std::array<PairSummary, 3> summaries;
  std::span<const double> rest = found;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    if (moments[i].count == 0) continue;
    summaries[i] = summary_of(moments[i], rest.first(wanted_per_class));
    rest = rest.subspan(wanted_per_class);
  }
  return {summaries[2], summaries[0], summaries[1]};
}

}  // namespace leadline::bench::link

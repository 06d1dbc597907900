// SPDX-License-Identifier: Apache-2.0
// Finds slow ranks, and collects the slowest calls and the first wrong objects of all ranks.
#include "bench/io/slow_and_wrong.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bench/io/summary.hpp"
#include "cluster/bytes.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::io {
namespace {

/// A call without its texts. Plain data: it travels as bytes.
struct CallNumbers {
  std::int32_t rank = -1;
  std::uint64_t offset_bytes = 0, size_bytes = 0;
  double begin_ns = 0, time_ns = 0;
};

struct ObjectNumbers {
  memory::Mismatch mismatch;
  std::int32_t read_by = -1;
};

bool comes_first(const SlowCall& a, const SlowCall& b) {
  return std::tuple(-a.time_ns, a.rank, a.offset_bytes, a.begin_ns) <
         std::tuple(-b.time_ns, b.rank, b.offset_bytes, b.begin_ns);
}

bool is_worse(const WrongObject& a, const WrongObject& b) {
  const auto order = [](const WrongObject& wrong) {
    return std::tuple(-severity_of(wrong.mismatch.kind), wrong.read_by, wrong.mismatch.expected.offset_bytes,
                      wrong.mismatch.expected.object);
  };
  return order(a) < order(b);
}

template <class Item, class Before>
void keep_first(std::vector<Item>& items, std::size_t num, const Before& before) {
  std::sort(items.begin(), items.end(), before);
  if (items.size() > num) items.resize(num);
}

template <class Numbers>
void append_item(std::string& text, const Numbers& numbers, const std::string& host, const std::string& file) {
  static_assert(std::is_trivially_copyable_v<Numbers>);
  text.append(reinterpret_cast<const char*>(&numbers), sizeof numbers);
  cluster::append_text(text, host);
  cluster::append_text(text, file);
}

template <class Numbers>
Numbers take_numbers(cluster::Reader& from) {
  Numbers numbers;
  const std::string_view bytes = from.text_of(sizeof numbers);
  if (bytes.size() == sizeof numbers) std::memcpy(static_cast<void*>(&numbers), bytes.data(), sizeof numbers);
  return numbers;
}

std::string text_of(const SlowAndWrong& lists) {
  std::string text;
  cluster::append(text, static_cast<std::uint32_t>(lists.slow_calls.size()));
  for (const SlowCall& call : lists.slow_calls) {
    append_item(text, CallNumbers{call.rank, call.offset_bytes, call.size_bytes, call.begin_ns, call.time_ns},
                call.host, call.file);
  }
  for (const WrongObject& wrong : lists.wrong) {
    append_item(text, ObjectNumbers{wrong.mismatch, wrong.read_by}, wrong.host, wrong.file);
  }
  return text;
}

void append_from(std::string_view text, SlowAndWrong& lists) {
  cluster::Reader from(text);
  for (auto num = from.number<std::uint32_t>(); num > 0; --num) {
    const auto numbers = take_numbers<CallNumbers>(from);
    SlowCall& call = lists.slow_calls.emplace_back();
    call.rank = numbers.rank;
    call.offset_bytes = numbers.offset_bytes;
    call.size_bytes = numbers.size_bytes;
    call.begin_ns = numbers.begin_ns;
    call.time_ns = numbers.time_ns;
    call.host = from.text();
    call.file = from.text();
  }
  while (!from.at_end()) {
    const auto numbers = take_numbers<ObjectNumbers>(from);
    WrongObject& wrong = lists.wrong.emplace_back();
    wrong.mismatch = numbers.mismatch;
    wrong.read_by = numbers.read_by;
    wrong.host = from.text();
    wrong.file = from.text();
  }
}

constexpr std::size_t fewest_ranks = 4;
constexpr double far_in_deviations = 3.5;  // Iglewicz and Hoaglin 1993
constexpr double deviation_per_mad = 1.4826;

double rate_of(const JudgedRank& rank) { return 1e9 * static_cast<double>(rank.bytes) / rank.io_ns; }

/// Of value(rank), over all ranks.
template <class Value>
double median_of(const std::vector<JudgedRank>& ranks, const Value& value) {
  std::vector<double> values;
  values.reserve(ranks.size());
  for (const JudgedRank& rank : ranks) values.push_back(value(rank));
  std::sort(values.begin(), values.end());
  return stats::quantile_of_sorted(values, 0.5);
}

bool is_io_time(IoTime time, SyncTiming sync) {
  if (time == IoTime::fill || time == IoTime::verify) return false;
  return time != IoTime::sync || sync == SyncTiming::inside;
}

std::array<double, num_io_times> median_times(const std::vector<JudgedRank>& ranks) {
  std::array<double, num_io_times> medians{};
  for (std::size_t i = 0; i < num_io_times; ++i) {
    medians[i] = median_of(ranks, [i](const JudgedRank& rank) { return rank.times_ns[i]; });
  }
  return medians;
}

IoTime longest_beyond(const std::array<double, num_io_times>& usual_ns, const JudgedRank& rank, SyncTiming sync) {
  IoTime longest = IoTime::call;
  double most_ns = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < num_io_times; ++i) {
    const double beyond_ns = rank.times_ns[i] - usual_ns[i];
    if (!is_io_time(static_cast<IoTime>(i), sync) || beyond_ns <= most_ns) continue;
    longest = static_cast<IoTime>(i);
    most_ns = beyond_ns;
  }
  return longest;
}

}  // namespace

int severity_of(memory::MismatchKind kind) {
  using memory::MismatchKind;
  switch (kind) {
    case MismatchKind::bit_flips:
      return 10;
    case MismatchKind::torn:
      return 9;
    case MismatchKind::unknown:
      return 8;
    case MismatchKind::shifted:
      return 7;
    case MismatchKind::other_rank:
      return 6;
    case MismatchKind::other_file:
      return 5;
    case MismatchKind::other_run:
      return 4;
    case MismatchKind::not_read:
      return 3;
    case MismatchKind::zeros:
      return 2;
    case MismatchKind::truncated:
      return 1;
  }
  return 0;
}

SlowAndWrong worst_of_all(cluster::Cluster& cluster, SlowAndWrong own, std::size_t num_slow, std::size_t num_wrong) {
  const auto keep_worst = [&](SlowAndWrong& lists) {
    keep_first(lists.slow_calls, num_slow, comes_first);
    keep_first(lists.wrong, num_wrong, is_worse);
  };
  keep_worst(own);
  const std::string all = cluster.all_reduce(text_of(own), [&](const std::string& left, std::string_view right) {
    SlowAndWrong both;
    append_from(left, both);
    append_from(right, both);
    keep_worst(both);
    return text_of(both);
  });
  SlowAndWrong worst;
  append_from(all, worst);
  return worst;
}

std::vector<Straggler> find_stragglers(const std::vector<JudgedRank>& ranks, const IoRequest& request,
                                       const std::vector<std::string>& files) {
  if (ranks.size() < fewest_ranks) return {};
  const double median = median_of(ranks, rate_of);
  const auto below = [&](const JudgedRank& rank) { return std::log(median / rate_of(rank)); };
  const double mad = median_of(ranks, [&](const JudgedRank& rank) { return std::abs(below(rank)); });
  const double far = far_in_deviations * deviation_per_mad * mad;

  std::vector<const JudgedRank*> slow;
  for (const JudgedRank& rank : ranks) {
    if (rate_of(rank) < (1 - request.threshold) * median && below(rank) > far) slow.push_back(&rank);
  }
  std::sort(slow.begin(), slow.end(), [](const JudgedRank* a, const JudgedRank* b) {
    return std::pair(rate_of(*a), a->rank) < std::pair(rate_of(*b), b->rank);
  });
  if (slow.size() > num_stragglers_named) slow.resize(num_stragglers_named);

  std::vector<Straggler> stragglers;
  if (slow.empty()) return stragglers;
  const std::array<double, num_io_times> usual_ns = median_times(ranks);
  for (const JudgedRank* rank : slow) {
    Straggler& straggler = stragglers.emplace_back();
    straggler.rank = rank->rank;
    straggler.host = rank->host;
    if (const auto file = static_cast<std::size_t>(rank->file); rank->file >= 0 && file < files.size()) {
      straggler.file = files[file];
    }
    straggler.bytes_per_s = rate_of(*rank);
    straggler.relative = straggler.bytes_per_s / median;
    straggler.mostly = longest_beyond(usual_ns, *rank, request.sync);
  }
  return stragglers;
}

}  // namespace leadline::bench::io

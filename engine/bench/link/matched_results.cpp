// SPDX-License-Identifier: Apache-2.0
// Finds in two results the ranks and sizes that both have.
#include "bench/link/matched_results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "bench/link/matrix_rows.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "network/hostlist.hpp"

namespace leadline::bench::link {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string short_name(const std::string& host) { return host.substr(0, host.find('.')); }

/// Hosts by a name, -1 = several have it.
using IndexByName = std::map<std::string, std::int64_t>;

IndexByName by_short_name(const std::vector<std::string>& hosts) {
  IndexByName named;
  for (std::size_t index = 0; index < hosts.size(); ++index) {
    const auto [entry, is_new] = named.try_emplace(short_name(hosts[index]), static_cast<std::int64_t>(index));
    if (!is_new) entry->second = -1;
  }
  return named;
}

/// Of each host of `after` the host of `before`, -1 = none. By full name, else by short name: where one of the two has
/// no domain, and nobody else the same short name. (Of addresses the short name is the network's, and says nothing.)
std::vector<std::int64_t> same_hosts(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  IndexByName by_full;
  for (std::size_t index = 0; index < before.size(); ++index) by_full[before[index]] = static_cast<std::int64_t>(index);
  const IndexByName& known = by_full;
  const IndexByName shorts_before = by_short_name(before), shorts_after = by_short_name(after);
  std::vector<std::int64_t> same;
  for (const std::string& host : after) {
    const auto full = known.find(host), by_short = shorts_before.find(short_name(host));
    const bool is_unique =
        by_short != shorts_before.end() && by_short->second >= 0 && shorts_after.at(short_name(host)) >= 0;
    std::int64_t found = full != known.end() ? full->second : is_unique ? by_short->second : -1;
    if (full == known.end() && found >= 0) {
      const std::string& name = before[static_cast<std::size_t>(found)];
      if (host != short_name(host) && name != short_name(name)) found = -1;
    }
    same.push_back(found);
  }
  return same;
}

/// "node1, node2 and 3 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most_named = 3;
  const std::size_t num = std::min(names.size(), most_named);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(num), ", "));
  if (names.size() > num) text += fmt::format(" and {} more", names.size() - num);
  return text;
}

/// "2 hosts are only in 'run.h5': node1, node2".
std::string only_in(const std::string& path, const std::vector<std::string>& hosts) {
  return fmt::format("{} host{} only in '{}': {}", hosts.size(), hosts.size() == 1 ? " is" : "s are", path,
                     network::folded_hostlist(hosts));
}

double of_compared(diagnosis::Compared compared, double before, double after) {
  using diagnosis::Compared;
  const double slowdown = after - before;  // NaN where either is missing
  return compared == Compared::before    ? before + 0 * slowdown
         : compared == Compared::after   ? after + 0 * slowdown
         : compared == Compared::speedup ? -slowdown
                                         : slowdown;
}

/// By the rank of a file its place among the matched ones, -1 = none.
std::vector<std::int64_t> places_of(const std::vector<std::uint32_t>& matched, std::int64_t num_ranks) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(num_ranks), -1);
  for (std::size_t place = 0; place < matched.size(); ++place)
    places[matched[place]] = static_cast<std::int64_t>(place);
  return places;
}

}  // namespace

MatchedResults::MatchedResults(ResultReader& before, ResultReader& after) : before_(before), after_(after) {
  match_ranks();
  matched_before_ = places_of(ranks_before_, before.header().num_ranks);
  matched_after_ = places_of(ranks_after_, after.header().num_ranks);
  match_sizes();
  note_differences();
}

void MatchedResults::match_ranks() {
  const auto layout_of_file = [](ResultReader& reader) {
    return layout_of(reader.header().num_ranks, [&](std::int64_t rank) { return reader.placement(rank); });
  };
  const diagnosis::Layout first = layout_of_file(before_), second = layout_of_file(after_);
  std::vector<std::int64_t> same = same_hosts(first.host_names, second.host_names);
  const bool has_none = std::ranges::all_of(same, [](std::int64_t host) { return host < 0; });
  if (has_none && first.host_names.size() == second.host_names.size()) {
    for (std::size_t host = 0; host < same.size(); ++host) same[host] = static_cast<std::int64_t>(host);
    notes_.emplace_back("no host has the same name in both results; they are compared in their order");
  }
  const auto hosts_before = diagnosis::members_of(first.host_of), hosts_after = diagnosis::members_of(second.host_of);
  std::vector<std::string> missing;
  std::vector<std::uint32_t> host_number(second.host_names.size(), 0);
  for (std::uint32_t host = 0; host < second.host_names.size(); ++host) {
    if (same[host] < 0) {
      missing.push_back(second.host_names[host]);
      continue;
    }
    host_number[host] = static_cast<std::uint32_t>(layout_.host_names.size());
    layout_.host_names.push_back(second.host_names[host]);
    layout_.host_numbers.push_back(host);
  }
  for (std::uint32_t rank = 0; rank < second.host_of.size(); ++rank) {
    const std::uint32_t host = second.host_of[rank], slot = hosts_after.slot_of[rank];
    if (same[host] < 0) continue;
    const auto others = hosts_before.of(static_cast<std::uint32_t>(same[host]));
    if (slot >= others.size()) continue;
    ranks_before_.push_back(others[slot]);
    ranks_after_.push_back(rank);
    layout_.host_of.push_back(host_number[host]);
    if (!second.socket_of.empty()) layout_.socket_of.push_back(second.socket_of[rank]);
  }
  if (ranks_after_.size() < 2) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("'{}' and '{}' cannot be compared", before_.path(), after_.path()),
                "they have no two ranks on the same hosts", "Choose results of the same machine");
  }
  std::vector<std::string> gone;
  const std::set<std::int64_t> matched(same.begin(), same.end());
  for (std::size_t host = 0; host < first.host_names.size(); ++host) {
    if (!matched.contains(static_cast<std::int64_t>(host))) gone.push_back(first.host_names[host]);
  }
  if (!gone.empty()) notes_.push_back(only_in(before_.path(), gone));
  if (!missing.empty()) notes_.push_back(only_in(after_.path(), missing));
  layout_.rank_numbers = ranks_after_;
  const std::size_t num_before = first.host_of.size(), num_after = second.host_of.size();
  if (ranks_after_.size() < std::max(num_before, num_after)) {
    notes_.push_back(fmt::format("{} ranks are compared, of {} and {}", ranks_after_.size(), num_before, num_after));
  }
}

void MatchedResults::match_sizes() {
  const auto& first = before_.header().message_sizes_bytes;
  for (const std::uint64_t size : after_.header().message_sizes_bytes) {
    if (std::ranges::find(first, size) != first.end()) sizes_bytes_.push_back(size);
  }
  if (!sizes_bytes_.empty()) return;
  const auto names = [](const std::vector<std::uint64_t>& sizes) {
    std::vector<std::string> all;
    for (const std::uint64_t size : sizes) all.push_back(format_bytes(size));
    return some_of(all);
  };
  throw Error(ExitStatus::bad_command_line,
              fmt::format("'{}' and '{}' cannot be compared", before_.path(), after_.path()),
              fmt::format("they have no message size in common: {}, and {}", names(first),
                          names(after_.header().message_sizes_bytes)),
              "Measure again with --message-size of the baseline");
}

void MatchedResults::note_differences() {
  const auto text = [](const ResultReader& reader, const char* name) {
    return result::provenance_text(reader.header(), name);
  };
  const std::string first = text(before_, "direction"), second = text(after_, "direction");
  if (first != second) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("'{}' and '{}' cannot be compared", before_.path(), after_.path()),
                fmt::format("times are {} in one and {} in the other, which are different things", first, second),
                "Measure again with --direction of the baseline");
  }
  for (const auto& [name, words] : {std::pair{"transport", "transport"}, std::pair{"transport_library", "library"}}) {
    if (text(before_, name) == text(after_, name)) continue;
    notes_.push_back(fmt::format("the {} changed from {} to {}", words, text(before_, name), text(after_, name)));
  }
  for (const char* const name : {"messages", "warmup", "batches", "wait"}) {
    const std::string one = result::option_text(before_.header(), name),
                      other = result::option_text(after_.header(), name);
    if (one != other && !one.empty() && !other.empty()) {
      notes_.push_back(fmt::format("--{} was {} and is {}", name, one, other));
    }
  }
  for (const ResultReader* const reader : {&before_, &after_}) {
    if (!reader->header().complete) {
      notes_.push_back(fmt::format("'{}' is not complete: {}", reader->path(), reader->header().incomplete_reason));
    }
  }
}

/// A row in the order of the matched ranks: the mean over the repeats that have a value.
std::vector<double> MatchedResults::logarithms(ResultReader& reader, const std::vector<std::uint32_t>& ranks,
                                               std::size_t index, std::uint64_t message_size_bytes) const {
  const Header& header = reader.header();
  const auto& sizes = header.message_sizes_bytes;
  const auto size = static_cast<std::size_t>(std::ranges::find(sizes, message_size_bytes) - sizes.begin());
  std::vector<double> sums(ranks.size(), 0), counts(ranks.size(), 0);
  for (std::size_t repeat = 0; repeat < header.repeats.size(); ++repeat) {
    const std::vector<double> times = reader.times_ns(repeat, size, ranks[index], &PairRecord::time_ns_median);
    for (std::size_t to = 0; to < ranks.size(); ++to) {
      if (!(times[ranks[to]] > 0) || to == index) continue;
      sums[to] += std::log(times[ranks[to]]);
      ++counts[to];
    }
  }
  for (std::size_t to = 0; to < ranks.size(); ++to) sums[to] = counts[to] > 0 ? sums[to] / counts[to] : not_a_number;
  return sums;
}

void MatchedResults::load(diagnosis::Compared compared, std::uint64_t message_size_bytes, diagnosis::DenseRows& rows) {
  for (std::uint32_t from = 0; from < ranks_after_.size(); ++from) {
    const auto before = logarithms(before_, ranks_before_, from, message_size_bytes);
    const auto after = logarithms(after_, ranks_after_, from, message_size_bytes);
    std::vector<double> values(before.size());
    for (std::size_t to = 0; to < values.size(); ++to) {
      values[to] = of_compared(compared, before[to], after[to]);
    }
    rows.set(from, values);
  }
}

bool MatchedResults::is_sparse() const {
  return before_.header().stored_rounds.has_value() || after_.header().stored_rounds.has_value();
}

/// As logarithms(), of those alone that have a value, ascending.
MatchedResults::SparseRow MatchedResults::sparse_logarithms(ResultReader& reader,
                                                            const std::vector<std::uint32_t>& ranks, std::size_t index,
                                                            std::uint64_t message_size_bytes) const {
  const Header& header = reader.header();
  const auto& sizes = header.message_sizes_bytes;
  const auto size = static_cast<std::size_t>(std::ranges::find(sizes, message_size_bytes) - sizes.begin());
  const auto& matched = &reader == &before_ ? matched_before_ : matched_after_;
  std::vector<std::pair<std::uint32_t, double>> measured;  // partner and logarithm, by repeat
  for (std::size_t repeat = 0; repeat < header.repeats.size(); ++repeat) {
    const MeasuredTimes of_repeat = reader.measured_ns(repeat, size, ranks[index], &PairRecord::time_ns_median);
    for (std::size_t at = 0; at < of_repeat.partners.size(); ++at) {
      const std::int64_t to = matched[of_repeat.partners[at]];
      if (to < 0 || std::cmp_equal(to, index)) continue;
      measured.emplace_back(static_cast<std::uint32_t>(to), std::log(of_repeat.times_ns[at]));
    }
  }
  std::ranges::stable_sort(measured, {}, &std::pair<std::uint32_t, double>::first);
  SparseRow row;
  for (std::size_t at = 0; at < measured.size();) {
    const std::uint32_t to = measured[at].first;
    double sum = 0, num = 0;
    for (; at < measured.size() && measured[at].first == to; ++at, ++num) sum += measured[at].second;
    row.partners.push_back(to);
    row.logarithms.push_back(sum / num);
  }
  return row;
}

void MatchedResults::load(diagnosis::Compared compared, std::uint64_t message_size_bytes, diagnosis::SparseRows& rows) {
  for (std::uint32_t from = 0; from < ranks_after_.size(); ++from) {
    const SparseRow before = sparse_logarithms(before_, ranks_before_, from, message_size_bytes);
    const SparseRow after = sparse_logarithms(after_, ranks_after_, from, message_size_bytes);
    SparseRow both;
    std::size_t at = 0;
    for (std::size_t index = 0; index < after.partners.size(); ++index) {
      while (at < before.partners.size() && before.partners[at] < after.partners[index]) ++at;
      if (at == before.partners.size() || before.partners[at] != after.partners[index]) continue;
      both.partners.push_back(after.partners[index]);
      both.logarithms.push_back(of_compared(compared, before.logarithms[at], after.logarithms[index]));
    }
    rows.append(both.partners, both.logarithms);
  }
}

}  // namespace leadline::bench::link

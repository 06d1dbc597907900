// SPDX-License-Identifier: Apache-2.0
// Finds in results the ranks and sizes that all have.
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
#include "diagnosis/compare_runs.hpp"
#include "network/hostlist.hpp"

namespace leadline::bench::link {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

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

/// "1 host is not in 'run.h5': node1".
std::string not_in(const std::string& path, const std::vector<std::string>& hosts) {
  return fmt::format("{} host{} not in '{}': {}", hosts.size(), hosts.size() == 1 ? " is" : "s are", path,
                     network::folded_hostlist(hosts));
}

/// Element by element over those that have a value.
std::vector<double> mean_of(const std::vector<std::vector<double>>& rows) {
  std::vector<double> means(rows.front().size());
  for (std::size_t index = 0; index < means.size(); ++index) {
    double sum = 0, num = 0;
    for (const std::vector<double>& row : rows) {
      if (std::isnan(row[index])) continue;
      sum += row[index];
      ++num;
    }
    means[index] = num > 0 ? sum / num : not_a_number;
  }
  return means;
}

std::vector<std::size_t> sizes_of(const diagnosis::Members& members) {
  std::vector<std::size_t> sizes;
  for (std::uint32_t group = 0; group < members.num_groups(); ++group) sizes.push_back(members.of(group).size());
  return sizes;
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

/// Ranks of a result by host, and where they stand.
struct Placed {
  diagnosis::Layout layout;
  diagnosis::Members on_host;
  std::vector<RankPlacement> places;  ///< by rank

  explicit Placed(ResultReader& reader) {
    layout = layout_of(reader.header().num_ranks, [&](std::int64_t rank) {
      places.push_back(reader.placement(rank));
      return places.back();
    });
    on_host = diagnosis::members_of(layout.host_of);
  }
};

bool is_same_place(const RankPlacement& one, const RankPlacement& other) {
  return one.cpus == other.cpus && one.numa_node == other.numa_node && one.device == other.device;
}

/// As far as both are known.
bool may_be_same_place(const RankPlacement& one, const RankPlacement& other) {
  const bool is_socket = one.numa_node < 0 || other.numa_node < 0 || one.numa_node == other.numa_node;
  const bool is_adapter = one.device.empty() || other.device.empty() || one.device == other.device;
  return is_socket && is_adapter;
}

/// By rank of `after` that of `before` on the same host at the same place, -1 = none.
struct SameRanks {
  std::vector<std::int64_t> rank_before;
  std::size_t num_elsewhere = 0;  ///< ranks that have no partner though ranks of `before` are left over
};

SameRanks same_ranks(const Placed& before, const Placed& after, const std::vector<std::int64_t>& same_host) {
  SameRanks same{std::vector<std::int64_t>(after.places.size(), -1), 0};
  for (std::uint32_t host = 0; host < same_host.size(); ++host) {
    if (same_host[host] < 0) continue;
    const auto members = before.on_host.of(static_cast<std::uint32_t>(same_host[host]));
    std::vector<std::uint32_t> left(members.begin(), members.end());
    for (const auto is_same : {is_same_place, may_be_same_place}) {
      for (const std::uint32_t rank : after.on_host.of(host)) {
        if (same.rank_before[rank] >= 0) continue;
        const auto found = std::ranges::find_if(
            left, [&](std::uint32_t other) { return is_same(before.places[other], after.places[rank]); });
        if (found == left.end()) continue;
        same.rank_before[rank] = *found;
        left.erase(found);
      }
    }
    const auto num_alone = static_cast<std::size_t>(
        std::ranges::count_if(after.on_host.of(host), [&](std::uint32_t rank) { return same.rank_before[rank] < 0; }));
    same.num_elsewhere += std::min(left.size(), num_alone);
  }
  return same;
}

/// Before and after.
using RanksOfHost = std::pair<std::size_t, std::size_t>;

/// How many ranks hosts had before and have: what most of them have in common.
RanksOfHost usual_ranks(const std::vector<RanksOfHost>& of_hosts) {
  std::map<RanksOfHost, std::size_t> counted;
  for (const RanksOfHost& one : of_hosts) ++counted[one];
  return std::ranges::max_element(counted, {}, [](const auto& entry) { return entry.second; })->first;
}

}  // namespace

MatchedResults::MatchedResults(std::vector<ResultReader*> before, ResultReader& after) {
  after_.reader = &after;
  for (ResultReader* const reader : before) before_.push_back({reader, {}, {}});
  for (const Run& run : before_) note_differences(*run.reader);
  if (!after.header().complete) {
    notes_.push_back(fmt::format("'{}' is not complete: {}", after.path(), after.header().incomplete_reason));
  }
  match_ranks();
  match_sizes();
}

void MatchedResults::refuse(const ResultReader& before, const std::string& why, const std::string& hint) const {
  throw Error(ExitStatus::bad_command_line,
              fmt::format("'{}' and '{}' cannot be compared", before.path(), after_.reader->path()), why, hint);
}

/// Leaves out hosts of the later result: -1 in `same`.
void MatchedResults::leave_out_other_loads(const ResultReader& before, const std::vector<std::size_t>& num_before,
                                           const std::vector<std::size_t>& num_after,
                                           const std::vector<std::string>& names, std::vector<std::int64_t>& same) {
  if (result::option_text(before.header(), "serial") == "true") return;
  std::vector<RanksOfHost> of_hosts;
  for (std::size_t host = 0; host < same.size(); ++host) {
    if (same[host] >= 0) of_hosts.emplace_back(num_before[static_cast<std::size_t>(same[host])], num_after[host]);
  }
  const RanksOfHost usual = usual_ranks(of_hosts);
  const bool is_usual_same = usual.first == usual.second;
  std::vector<std::string> others;
  for (std::size_t host = 0; host < same.size(); ++host) {
    if (same[host] < 0) continue;
    const RanksOfHost own{num_before[static_cast<std::size_t>(same[host])], num_after[host]};
    if (is_usual_same ? own.first == own.second : own == usual) continue;
    others.push_back(names[host]);
    same[host] = -1;
  }
  if (!others.empty()) {
    notes_.push_back(fmt::format("of {} another share of the ranks is there than in '{}', so it is not compared: {}",
                                 others.size() == 1 ? "one host" : fmt::format("{} hosts", others.size()),
                                 before.path(), network::folded_hostlist(others)));
  }
  if (is_usual_same || !has_same_load_) return;  // said once of all baselines
  has_same_load_ = false;
  notes_.push_back(
      fmt::format("'{}' has {} rank{} a host and '{}' {}: they share adapters and cores, so classes of pairs are not "
                  "compared, only "
                  "hosts and pairs beyond their class",
                  before.path(), usual.first, usual.first == 1 ? "" : "s", after_.reader->path(), usual.second));
}

void MatchedResults::match_ranks() {
  const Placed second(*after_.reader);
  const std::size_t num_after = second.places.size();
  std::vector<bool> is_in_all(num_after, true);
  std::vector<std::vector<std::int64_t>> ranks_before;
  std::size_t most_before = 0;
  for (const Run& run : before_) {
    const ResultReader& reader = *run.reader;
    const Placed first(*run.reader);
    std::vector<std::int64_t> same = diagnosis::same_hosts(first.layout.host_names, second.layout.host_names);
    if (std::ranges::all_of(same, [](std::int64_t host) { return host < 0; })) {
      refuse(reader,
             fmt::format("no host has the same name in both: {}, and {}",
                         network::folded_hostlist(first.layout.host_names),
                         network::folded_hostlist(second.layout.host_names)),
             "Choose results of the same machine");
    }
    std::vector<std::string> gone, missing;
    const std::set<std::int64_t> matched(same.begin(), same.end());
    for (std::size_t host = 0; host < first.layout.host_names.size(); ++host) {
      if (!matched.contains(static_cast<std::int64_t>(host))) gone.push_back(first.layout.host_names[host]);
    }
    for (std::size_t host = 0; host < same.size(); ++host) {
      if (same[host] < 0) missing.push_back(second.layout.host_names[host]);
    }
    if (!gone.empty()) notes_.push_back(only_in(reader.path(), gone));
    if (!missing.empty()) {
      notes_.push_back(before_.size() == 1 ? only_in(after_.reader->path(), missing) : not_in(reader.path(), missing));
    }
    leave_out_other_loads(reader, sizes_of(first.on_host), sizes_of(second.on_host), second.layout.host_names, same);
    SameRanks ranks = same_ranks(first, second, same);
    if (ranks.num_elsewhere > 0) {
      notes_.push_back(fmt::format("{} ranks have no rank at the same socket and adapter in '{}': not compared",
                                   ranks.num_elsewhere, reader.path()));
    }
    for (std::size_t rank = 0; rank < num_after; ++rank) {
      if (ranks.rank_before[rank] < 0) is_in_all[rank] = false;
    }
    ranks_before.push_back(std::move(ranks.rank_before));
    most_before = std::max(most_before, first.places.size());
  }
  std::vector<std::int64_t> host_number(second.layout.host_names.size(), -1);
  for (std::uint32_t rank = 0; rank < num_after; ++rank) {
    if (!is_in_all[rank]) continue;
    const std::uint32_t host = second.layout.host_of[rank];
    if (host_number[host] < 0) {
      host_number[host] = static_cast<std::int64_t>(layout_.host_names.size());
      layout_.host_names.push_back(second.layout.host_names[host]);
      layout_.host_numbers.push_back(host);
    }
    after_.ranks.push_back(rank);
    for (std::size_t run = 0; run < before_.size(); ++run) {
      before_[run].ranks.push_back(static_cast<std::uint32_t>(ranks_before[run][rank]));
    }
    layout_.host_of.push_back(static_cast<std::uint32_t>(host_number[host]));
    if (!second.layout.socket_of.empty()) layout_.socket_of.push_back(second.layout.socket_of[rank]);
  }
  if (after_.ranks.size() < 2) {
    refuse(*before_.front().reader, "they have no two ranks on the same hosts", "Choose results of the same machine");
  }
  layout_.rank_numbers = after_.ranks;
  if (after_.ranks.size() < std::max(most_before, num_after)) {
    notes_.push_back(fmt::format("{} ranks are compared, of {} and {}", after_.ranks.size(), most_before, num_after));
  }
  after_.places = places_of(after_.ranks, static_cast<std::int64_t>(num_after));
  for (Run& run : before_) run.places = places_of(run.ranks, run.reader->header().num_ranks);
}

void MatchedResults::match_sizes() {
  const auto names = [](const std::vector<std::uint64_t>& sizes) {
    std::vector<std::string> all;
    for (const std::uint64_t size : sizes) all.push_back(format_bytes(size));
    return some_of(all);
  };
  const auto& sizes = after_.reader->header().message_sizes_bytes;
  sizes_bytes_ = sizes;
  for (const Run& run : before_) {
    const auto& first = run.reader->header().message_sizes_bytes;
    std::erase_if(sizes_bytes_, [&](std::uint64_t size) { return std::ranges::find(first, size) == first.end(); });
    if (!sizes_bytes_.empty()) continue;
    refuse(*run.reader, fmt::format("they have no message size in common: {}, and {}", names(first), names(sizes)),
           "Measure again with --message-size of the baseline");
  }
}

void MatchedResults::note_differences(ResultReader& before) {
  const Header &first = before.header(), &second = after_.reader->header();
  const auto text = [](const Header& header, const char* name) { return result::provenance_text(header, name); };
  if (text(first, "direction") != text(second, "direction")) {
    refuse(before,
           fmt::format("times are {} in one and {} in the other, which are different things", text(first, "direction"),
                       text(second, "direction")),
           "Measure again with --direction of the baseline");
  }
  if ((result::option_text(first, "serial") == "true") != (result::option_text(second, "serial") == "true")) {
    refuse(before, "one measured pairs one by one, the other many at once", "Measure again with --serial as then");
  }
  if ((result::option_text(first, "shift") == "true") != (result::option_text(second, "shift") == "true")) {
    refuse(before, "one measured pairs, the other shifts of a ring", "Measure again with --shift as then");
  }
  for (const auto& [name, words] : {std::pair{"transport", "transport"}, std::pair{"transport_library", "library"}}) {
    if (text(first, name) == text(second, name)) continue;
    add_note(fmt::format("the {} changed from {} to {}", words, text(first, name), text(second, name)));
  }
  for (const char* const name : {"messages", "warmup", "batches", "wait"}) {
    const std::string one = result::option_text(first, name), other = result::option_text(second, name);
    if (one != other && !one.empty() && !other.empty())
      add_note(fmt::format("--{} was {} and is {}", name, one, other));
  }
  if (!first.complete) add_note(fmt::format("'{}' is not complete: {}", before.path(), first.incomplete_reason));
}

/// Several baselines may differ in the same way.
void MatchedResults::add_note(std::string note) {
  if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
}

/// A row in the order of the matched ranks: the mean over the repeats that have a value.
std::vector<double> MatchedResults::logarithms(const Run& run, std::size_t index, std::uint64_t message_size_bytes) {
  const Header& header = run.reader->header();
  const auto& sizes = header.message_sizes_bytes;
  const auto size = static_cast<std::size_t>(std::ranges::find(sizes, message_size_bytes) - sizes.begin());
  const std::vector<std::uint32_t>& ranks = run.ranks;
  std::vector<std::vector<double>> repeats;
  for (std::size_t repeat = 0; repeat < header.repeats.size(); ++repeat) {
    const std::vector<double> times = run.reader->times_ns(repeat, size, ranks[index], &PairRecord::time_ns_median);
    std::vector<double>& of_repeat = repeats.emplace_back(ranks.size(), not_a_number);
    for (std::size_t to = 0; to < ranks.size(); ++to) {
      if (times[ranks[to]] > 0 && to != index) of_repeat[to] = std::log(times[ranks[to]]);
    }
  }
  return mean_of(repeats);
}

std::vector<double> MatchedResults::mean_before(std::size_t index, std::uint64_t message_size_bytes) const {
  std::vector<std::vector<double>> runs;
  for (const Run& run : before_) runs.push_back(logarithms(run, index, message_size_bytes));
  return runs.size() == 1 ? std::move(runs.front()) : mean_of(runs);
}

void MatchedResults::load(diagnosis::Compared compared, std::uint64_t message_size_bytes, diagnosis::DenseRows& rows) {
  for (std::uint32_t from = 0; from < after_.ranks.size(); ++from) {
    const auto before = mean_before(from, message_size_bytes), after = logarithms(after_, from, message_size_bytes);
    std::vector<double> values(before.size());
    for (std::size_t to = 0; to < values.size(); ++to) {
      values[to] = of_compared(compared, before[to], after[to]);
    }
    rows.set(from, values);
  }
}

void MatchedResults::load_earlier(std::size_t run, std::uint64_t message_size_bytes, diagnosis::DenseRows& rows) {
  for (std::uint32_t from = 0; from < after_.ranks.size(); ++from) {
    rows.set(from, logarithms(before_[run], from, message_size_bytes));
  }
}

bool MatchedResults::is_sparse() const {
  const auto has_rounds = [](const Run& run) { return run.reader->header().stored_rounds.has_value(); };
  return has_rounds(after_) || std::ranges::any_of(before_, has_rounds);
}

/// Of each partner the mean of its values; ascending.
MatchedResults::SparseRow MatchedResults::averaged(MeasuredPartners measured) {
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

/// As logarithms(), of those alone that have a value, ascending.
MatchedResults::SparseRow MatchedResults::sparse_logarithms(const Run& run, std::size_t index,
                                                            std::uint64_t message_size_bytes) {
  const Header& header = run.reader->header();
  const auto& sizes = header.message_sizes_bytes;
  const auto size = static_cast<std::size_t>(std::ranges::find(sizes, message_size_bytes) - sizes.begin());
  MeasuredPartners measured;
  for (std::size_t repeat = 0; repeat < header.repeats.size(); ++repeat) {
    const MeasuredTimes of_repeat =
        run.reader->measured_ns(repeat, size, run.ranks[index], &PairRecord::time_ns_median);
    for (std::size_t at = 0; at < of_repeat.partners.size(); ++at) {
      const std::int64_t to = run.places[of_repeat.partners[at]];
      if (to < 0 || std::cmp_equal(to, index)) continue;
      measured.emplace_back(static_cast<std::uint32_t>(to), std::log(of_repeat.times_ns[at]));
    }
  }
  return averaged(std::move(measured));
}

MatchedResults::SparseRow MatchedResults::sparse_before(std::size_t index, std::uint64_t message_size_bytes) const {
  MeasuredPartners measured;
  for (const Run& run : before_) {
    const SparseRow row = sparse_logarithms(run, index, message_size_bytes);
    for (std::size_t at = 0; at < row.partners.size(); ++at)
      measured.emplace_back(row.partners[at], row.logarithms[at]);
  }
  return averaged(std::move(measured));
}

void MatchedResults::load(diagnosis::Compared compared, std::uint64_t message_size_bytes, diagnosis::SparseRows& rows) {
  for (std::uint32_t from = 0; from < after_.ranks.size(); ++from) {
    const SparseRow before = sparse_before(from, message_size_bytes);
    const SparseRow after = sparse_logarithms(after_, from, message_size_bytes);
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

void MatchedResults::load_earlier(std::size_t run, std::uint64_t message_size_bytes, diagnosis::SparseRows& rows) {
  for (std::uint32_t from = 0; from < after_.ranks.size(); ++from) {
    const SparseRow row = sparse_logarithms(before_[run], from, message_size_bytes);
    rows.append(row.partners, row.logarithms);
  }
}

}  // namespace leadline::bench::link

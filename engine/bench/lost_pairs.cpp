// SPDX-License-Identifier: Apache-2.0
// Tries links within a limit, shares what was lost, and finds the host behind many lost pairs.
#include "bench/lost_pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "bench/links.hpp"
#include "bench/reductions.hpp"
#include "cluster/bytes.hpp"
#include "cluster/rendezvous.hpp"
#include "core/units.hpp"

namespace leadline::bench {
namespace {

constexpr const char *id_of_lost = "ranks_lost", *id_of_absent = "ranks_absent", *id_of_pairs = "pairs_not_measured";

// Shares of --timeout, so that a rank never waits for as long as the watch allows: for the first pairs that do not
// reach each other, and for those that come later.
constexpr double first_share = 1.0 / 3, later_share = 1.0 / 20;
constexpr std::size_t num_with_first_share = 3;
constexpr double least_limit_s = 1;

constexpr std::ptrdiff_t lost_until_cut_off = 3;  // partners; guessed

constexpr std::size_t max_examples = 4;

bool is_gone(const Losses& losses, std::int32_t rank) { return cluster::is_lost(losses.ranks, rank); }

/// Without those of ranks that are gone.
Losses among_present(Losses losses) {
  std::erase_if(losses.pairs,
                [&](const LostPair& pair) { return is_gone(losses, pair.low) || is_gone(losses, pair.high); });
  std::erase_if(losses.cut_off_ranks, [&](std::int32_t rank) { return is_gone(losses, rank); });
  return losses;
}

/// "one; another; and 3 more", of `num` in all.
std::string first_few(std::vector<std::string> texts, std::uint64_t num) {
  if (texts.size() > max_examples) texts.resize(max_examples);
  if (num > texts.size()) texts.push_back(fmt::format("and {} more", num - texts.size()));
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Hosts behind lost pairs: for each the hosts that it does not reach.
std::map<std::uint32_t, std::set<std::uint32_t>> unreached_by_host(const Losses& losses,
                                                                   std::span<const std::uint32_t> host_of) {
  std::map<std::uint32_t, std::set<std::uint32_t>> unreached;
  const auto add = [&](std::uint32_t one, std::uint32_t other) {
    if (one == other) return;
    unreached[one].insert(other);
    unreached[other].insert(one);
  };
  for (const LostPair& pair : losses.pairs) {
    add(host_of[static_cast<std::size_t>(pair.low)], host_of[static_cast<std::size_t>(pair.high)]);
  }
  for (const std::int32_t rank : losses.cut_off_ranks) {
    for (const std::uint32_t other : host_of) add(host_of[static_cast<std::size_t>(rank)], other);
  }
  return unreached;
}

/// "node3 does not reach 5 of 7 other hosts", "node1 and node2 do not reach each other".
std::string what_is_cut(const Losses& losses, std::span<const std::uint32_t> host_of,
                        const std::function<std::string(std::uint32_t host)>& host_name) {
  const std::size_t num_others = std::set<std::uint32_t>(host_of.begin(), host_of.end()).size() - 1;
  auto unreached = unreached_by_host(losses, host_of);
  std::vector<std::string> texts;
  for (;;) {
    const auto worst = std::max_element(unreached.begin(), unreached.end(), [](const auto& left, const auto& right) {
      return left.second.size() < right.second.size();
    });
    if (worst == unreached.end() || worst->second.size() < 2 || 2 * worst->second.size() <= num_others) break;
    texts.push_back(fmt::format("{} does not reach {} of {} other hosts", host_name(worst->first), worst->second.size(),
                                num_others));
    const std::uint32_t host = worst->first;
    for (const std::uint32_t other : worst->second) unreached[other].erase(host);
    unreached.erase(host);
  }
  for (const auto& [host, others] : unreached) {
    for (const std::uint32_t other : others) {
      if (host < other)
        texts.push_back(fmt::format("{} and {} do not reach each other", host_name(host), host_name(other)));
    }
  }
  return first_few(texts, texts.size());
}

std::uint64_t num_pairs_left_out(const Losses& losses, std::span<const std::uint32_t> host_of) {
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const LostPair& pair : losses.pairs) pairs.emplace(pair.low, pair.high);
  for (const std::int32_t rank : losses.cut_off_ranks) {
    for (std::int32_t other = 0; other < static_cast<std::int32_t>(host_of.size()); ++other) {
      if (host_of[static_cast<std::size_t>(rank)] != host_of[static_cast<std::size_t>(other)])
        pairs.insert(std::minmax(rank, other));
    }
  }
  return pairs.size();
}

/// "node3 (ranks 6-7); rank 9 on node4"
std::string names_of(std::span<const cluster::LostRank> lost, std::span<const std::uint32_t> host_of,
                     const std::function<std::string(std::uint32_t host)>& host_name) {
  std::map<std::uint32_t, std::vector<int>> on_host;
  for (const cluster::LostRank& one : lost) on_host[host_of[static_cast<std::size_t>(one.rank)]].push_back(one.rank);
  std::vector<std::string> names;
  for (auto& [host, ranks] : on_host) {
    std::ranges::sort(ranks);
    const bool is_whole = std::ranges::count(host_of, host) == static_cast<std::ptrdiff_t>(ranks.size());
    const char* const word = ranks.size() == 1 ? "rank" : "ranks";
    names.push_back(is_whole ? fmt::format("{} ({} {})", host_name(host), word, number_ranges(ranks))
                             : fmt::format("{} {} on {}", word, number_ranges(ranks), host_name(host)));
  }
  return fmt::format("{}", fmt::join(names, "; "));
}

/// Each once, in the order of the ranks.
std::vector<std::string> names_of_hosts(const std::vector<std::int32_t>& ranks, std::span<const std::uint32_t> host_of,
                                        const std::function<std::string(std::uint32_t host)>& host_name) {
  std::set<std::uint32_t> seen;
  std::vector<std::string> names;
  for (const std::int32_t rank : ranks) {
    const std::uint32_t host = host_of[static_cast<std::size_t>(rank)];
    if (seen.insert(host).second) names.push_back(host_name(host));
  }
  return names;
}

std::vector<cluster::LostRank> ranks_that(bool were_there, const Losses& losses) {
  std::vector<cluster::LostRank> ranks = losses.ranks;
  std::erase_if(ranks, [&](const cluster::LostRank& rank) { return rank.was_there != were_there; });
  return ranks;
}

/// Of ranks that never came, or were lost during the run; nothing where there are none.
std::optional<Finding> ranks_finding(bool were_there, const Losses& losses, std::span<const std::uint32_t> host_of,
                                     const std::function<std::string(std::uint32_t host)>& host_name) {
  const std::vector<cluster::LostRank> ranks = ranks_that(were_there, losses);
  if (ranks.empty()) return std::nullopt;
  const bool is_one = ranks.size() == 1;
  const char* const what = were_there ? (is_one ? "rank was lost during" : "ranks were lost during")
                                      : (is_one ? "rank did not join" : "ranks did not join");
  std::vector<std::string> reasons;
  for (const cluster::LostRank& rank : ranks) reasons.push_back(rank.why);
  Finding finding;
  finding.id = were_there ? id_of_lost : id_of_absent;
  finding.list = FindingList::persistent;
  finding.severity = Severity::warning;
  finding.message = fmt::format("{} {} the run: {}.", ranks.size(), what, names_of(ranks, host_of, host_name));
  finding.evidence = first_few(std::move(reasons), ranks.size());
  for (const cluster::LostRank& rank : ranks) finding.ranks.push_back(rank.rank);
  finding.host_names = names_of_hosts(finding.ranks, host_of, host_name);
  finding.advice = were_there
                       ? "Look at these hosts and their system logs. What was measured with them before is kept; the "
                         "others were measured without them."
                       : "Check that these hosts are up, that the ranks were started there with the same secret, and "
                         "that their addresses can be reached. The others were measured without them.";
  return finding;
}

}  // namespace

bool go_on_without_lost(const RunRequest& request, cluster::Cluster& cluster, transport::Transport& transport,
                        double limit_s) {
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(limit_s));
  if (request.strict_ranks || !transport.give_up_silent_links(limit)) {
    if (const auto absent = cluster.lost_ranks(); !absent.empty()) {
      throw AgreedError(Error(ExitStatus::run_failed, absent.front().why,
                              "over " + transport.info().library + " a run needs all ranks",
                              "Start it without that rank, or choose another --transport"));
    }
    return false;
  }
  cluster.go_on_without_lost_ranks();
  return true;
}

LostPairs::LostPairs(const RunRequest& request, cluster::Cluster& cluster, transport::Transport& transport,
                     std::optional<double> silence_limit_s)
    : request_(request), cluster_(cluster), transport_(transport) {
  goes_on_ = go_on_without_lost(request, cluster, transport, silence_limit_s.value_or(limit_s()));
  note_lost_ranks();  // some may not have come
  num_lost_ranks_settled_ = losses_.ranks.size();
  if (goes_on_ && !losses_.ranks.empty()) use_barrier_of_cluster();
}

void LostPairs::note_lost_ranks() {
  const auto lost = cluster_.lost_ranks();
  if (lost.size() > losses_.ranks.size()) losses_.ranks.assign(lost.begin(), lost.end());
}

double LostPairs::limit_s() const {
  const double share = losses_.pairs.size() + news_.size() < num_with_first_share ? first_share : later_share;
  return std::max(share * request_.timeout_s, std::min(least_limit_s, first_share * request_.timeout_s));
}

bool LostPairs::is_other_host(int one, int other) const {
  const auto host_of = cluster_.host_of();
  return host_of[static_cast<std::size_t>(one)] != host_of[static_cast<std::size_t>(other)];
}

bool LostPairs::is_lost(int partner) const {
  if (std::ranges::find(news_, partner, &News::partner) != news_.end()) return true;
  return is_lost(cluster_.rank(), partner);
}

bool LostPairs::is_lost(int one, int other) const {
  if (is_gone(losses_, one) || is_gone(losses_, other)) return true;
  if (lost_pairs_.contains(std::minmax(one, other))) return true;
  if (losses_.cut_off_ranks.empty() || !is_other_host(one, other)) return false;
  return std::ranges::any_of(losses_.cut_off_ranks, [&](std::int32_t rank) { return rank == one || rank == other; });
}

bool LostPairs::attempt(int partner, const std::function<void()>& work) {
  if (is_lost(partner)) return false;
  try {
    open_links(cluster_, transport_, std::span(&partner, 1), goes_on_ ? limit_s() : request_.timeout_s);
    work();
  } catch (const cluster::ConnectionLost& lost) {
    if (!goes_on_ || lost.partner() != partner) throw;
    note(lost);
    return false;
  }
  has_reached_others_ = has_reached_others_ || is_other_host(cluster_.rank(), partner);
  return true;
}

void LostPairs::open(std::span<const std::int32_t> partners) {
  if (!goes_on_) return open_links(cluster_, transport_, partners, request_.timeout_s);
  for (const std::int32_t partner : partners) attempt(partner, [] {});
}

std::optional<kernel::NeighbourMismatch> LostPairs::exchange(const kernel::NeighbourExchange& exchange,
                                                             const kernel::NeighbourBuffers& buffers,
                                                             const kernel::NeighbourTask& task) {
  const InTransport in_transport(cluster_.progress_counter(), awaited_in(exchange.channels));
  try {
    return transport_.exchange_with_neighbours(exchange, buffers, task);
  } catch (const transport::LinksLost& lost) {
    if (!goes_on_) throw;
    for (const cluster::ConnectionLost& link : lost.links()) note(link);
  }
  return std::nullopt;
}

void LostPairs::note(const cluster::ConnectionLost& lost) {
  transport_.drop_link(lost.partner());
  add(lost);
}

/// Of a link that was lost before, the first reason is the one.
void LostPairs::add(const cluster::ConnectionLost& lost) {
  if (is_lost(lost.partner())) return;
  news_.push_back(
      {lost.partner(), lost.problem() + (lost.why().empty() ? "" : ": " + lost.why()), lost.partner_ended_it()});
}

void LostPairs::until_nothing_is_lost(const std::function<void()>& step) {
  if (!goes_on_) return step();
  for (;;) {
    step();
    if (!has_lost_anything()) return;
    settle();
    use_barrier_of_cluster();
  }
}

/// In place of one over links, of which one or more are missing.
void LostPairs::use_barrier_of_cluster() {
  has_barrier_over_links_ = false;
  transport_.replace_barrier([this] {
    std::atomic<bool>& in_transport = cluster_.progress_counter().in_transport;
    const bool before = in_transport.exchange(false, std::memory_order_relaxed);
    cluster_.barrier();
    in_transport.store(before, std::memory_order_relaxed);
  });
}

/// From number `begin` on.
std::vector<LostPair> LostPairs::of_present_ranks(std::size_t begin) const {
  Losses later = losses_;
  later.pairs.erase(later.pairs.begin(), later.pairs.begin() + static_cast<std::ptrdiff_t>(begin));
  return among_present(std::move(later)).pairs;
}

/// Whom this rank waits for in an exchange over these channels, with the barrier before it.
AwaitedRanks::Ranks LostPairs::awaited_in(std::span<const kernel::NeighbourChannel> channels) const {
  AwaitedRanks::Ranks awaited = bench::awaited_in(channels, cluster_);
  if (!has_barrier_over_links_) awaited.in_barrier.clear();
  return awaited;
}

/// Collective: whether any rank has lost a pair, or is lost, since this was last asked.
bool LostPairs::has_lost_anything() {
  const auto any = merged_over_ranks(cluster_, static_cast<std::uint8_t>(has_news() ? 1 : 0),
                                     [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
  note_lost_ranks();
  return std::exchange(num_lost_ranks_settled_, losses_.ranks.size()) < losses_.ranks.size() || any != 0;
}

std::vector<std::int32_t> LostPairs::settle() {
  std::string own;
  for (const News& news : news_) {
    cluster::append(own, static_cast<std::uint32_t>(cluster_.rank()));
    cluster::append(own, static_cast<std::uint32_t>(news.partner));
    cluster::append(own, static_cast<std::uint8_t>(has_reached_others_ ? 1 : 0));
    cluster::append(own, static_cast<std::uint8_t>(news.partner_ended_it ? 1 : 0));
    cluster::append_text(own, news.why);
  }
  news_.clear();
  const std::string all = cluster_.all_reduce(
      std::move(own), [](const std::string& left, std::string_view right) { return left + std::string(right); });
  note_lost_ranks();
  num_lost_ranks_settled_ = losses_.ranks.size();
  std::vector<std::int32_t> own_partners;
  for (cluster::Reader reader(all); !reader.at_end();) {
    const auto from = static_cast<std::int32_t>(reader.number<std::uint32_t>());
    const auto partner = static_cast<int>(reader.number<std::uint32_t>());
    const bool has_reached_others = reader.number<std::uint8_t>() != 0;
    const bool partner_ended_it = reader.number<std::uint8_t>() != 0;
    const bool is_new = learn(from, {partner, reader.text(), partner_ended_it}, has_reached_others);
    if (is_new && from == cluster_.rank()) own_partners.push_back(partner);
    if (is_new && partner == cluster_.rank() && from != partner) own_partners.push_back(from);
  }
  return own_partners;
}

/// Whether the pair was not known as lost.
bool LostPairs::learn(std::int32_t from, const News& news, bool has_reached_others) {
  const LostPair lost{std::min(from, news.partner), std::max(from, news.partner),
                      fmt::format("rank {}: {}", from, news.why), news.partner_ended_it};
  const auto [known, is_new] = lost_pairs_.try_emplace({lost.low, lost.high}, losses_.pairs.size());
  if (is_new) {
    losses_.pairs.push_back(lost);
  } else {
    losses_.pairs[known->second] = cause_of(losses_.pairs[known->second], lost);
  }
  if (has_reached_others || std::ranges::find(losses_.cut_off_ranks, from) != losses_.cut_off_ranks.end())
    return is_new;
  const auto host_of = cluster_.host_of();
  const auto num_lost = std::ranges::count_if(losses_.pairs, [&](const LostPair& pair) {
    return (pair.low == from || pair.high == from) &&
           host_of[static_cast<std::size_t>(pair.low)] != host_of[static_cast<std::size_t>(pair.high)];
  });
  if (num_lost >= lost_until_cut_off) losses_.cut_off_ranks.push_back(from);
  return is_new;
}

const LostPair& cause_of(const LostPair& first, const LostPair& second) {
  return first.partner_ended_it && !second.partner_ended_it ? second : first;
}

std::optional<Finding> lost_pairs_finding(const Losses& all_losses, std::span<const std::uint32_t> host_of,
                                          const std::function<std::string(std::uint32_t host)>& host_name) {
  const Losses losses = among_present(all_losses);
  if (losses.pairs.empty()) return std::nullopt;
  const std::uint64_t num = num_pairs_left_out(losses, host_of);
  const std::string cut = what_is_cut(losses, host_of, host_name);
  Finding finding;
  finding.id = id_of_pairs;
  finding.list = FindingList::persistent;
  finding.numbers.push_back({.name = "pairs not measured", .unit = "1", .value = static_cast<double>(num)});
  finding.severity = Severity::warning;
  finding.message = fmt::format("{} {} of ranks could not be measured{}.", num, num == 1 ? "pair" : "pairs",
                                cut.empty() ? "" : ": " + cut);
  std::vector<std::string> examples;
  for (const LostPair& pair : losses.pairs) {
    if (examples.size() == max_examples) break;
    const auto who = [&](std::int32_t rank) {
      return fmt::format("rank {} on {}", rank, host_name(host_of[static_cast<std::size_t>(rank)]));
    };
    examples.push_back(fmt::format("{} and {} ({})", who(pair.low), who(pair.high), pair.why));
  }
  finding.evidence = first_few(std::move(examples), num);
  std::set<std::int32_t> ranks;
  for (const LostPair& pair : losses.pairs) ranks.insert({pair.low, pair.high});
  finding.ranks.assign(ranks.begin(), ranks.end());
  finding.host_names = names_of_hosts(finding.ranks, host_of, host_name);
  finding.advice =
      "Look at the network between them: cables, ports, switches, firewalls. All other pairs were measured.";
  return finding;
}

void add_findings(const Losses& losses, std::span<const std::uint32_t> host_of,
                  const std::function<std::string(std::uint32_t host)>& host_name, std::vector<Finding>& findings) {
  for (const auto& finding :
       {ranks_finding(false, losses, host_of, host_name), ranks_finding(true, losses, host_of, host_name),
        lost_pairs_finding(losses, host_of, host_name)}) {
    if (finding) findings.push_back(*finding);
  }
}

std::string why_incomplete(const Losses& losses) {
  if (!ranks_that(true, losses).empty()) return "ranks were lost during the run: see the findings";
  if (!losses.ranks.empty()) return "not all ranks joined the run: see the findings";
  if (!losses.pairs.empty()) return "not all pairs of ranks could be measured: see the findings";
  return {};
}

bool is_of_loss(const Finding& finding) {
  return finding.id == id_of_lost || finding.id == id_of_absent || finding.id == id_of_pairs;
}

}  // namespace leadline::bench

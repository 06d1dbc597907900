// SPDX-License-Identifier: Apache-2.0
// Median polish (Tukey 1977) gives what each rank adds as sender and as receiver; a line through its neighbours, by
// the median of all slopes (Theil 1950, Sen 1968), what its place lets expect.
#include "diagnosis/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/fault_text.hpp"
#include "diagnosis/reference.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

namespace leadline::diagnosis {
namespace {

constexpr int num_polishes = 3;              // steps; the fit changes little after two
constexpr std::size_t neighbour_hosts = 3;   // on each side: so few bad ones of them do not count
constexpr std::size_t most_neighbours = 24;  // ranks that a line is laid through
constexpr std::size_t fewest_in_line = 3;
constexpr double least_scatter = 0.02;     // of effects: logarithm
constexpr double both_directions = 1.5;    // independent measurements that both count for; a guess
constexpr double most_of_messages = 0.75;  // of a slow end, that are slow in each direction
constexpr std::size_t fewest_messages = 3, fewest_hosts_inside = 4;
constexpr std::size_t most_shown_messages = 8;
constexpr std::size_t partners_alone = 3;  // of a late end that are measured with it
constexpr double share_of_ends = 0.6;      // of the suspected pairs, before late pairs come
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

double median_of(std::vector<double>& values) {
  if (values.empty()) return not_known;
  std::ranges::sort(values);
  return stats::quantile_of_sorted(values, 0.5);
}

using OfRanks = std::vector<double>;  // by rank, logarithms; NaN = not known

/// By messages between hosts; where there is one host only, by all.
class Polish {
 public:
  Polish(std::span<const Observation> pairs, const Setting& setting) {
    const auto& host_of = setting.layout.host_of;
    const bool is_one_host = setting.hosts.num_groups() == 1;
    for (const Observation& one : pairs) {
      if (!is_one_host && host_of[one.from] == host_of[one.to]) continue;
      messages_.push_back({one.from, one.to, std::log(one.time_ns)});
    }
    sent.assign(num_ranks(setting.layout), 0);
    received.assign(num_ranks(setting.layout), 0);
    for (int step = 0; step < num_polishes; ++step) {
      received = effects([](const Observation& one) { return one.to; }, sent, &Observation::from);
      sent = effects([](const Observation& one) { return one.from; }, received, &Observation::to);
    }
  }

  OfRanks sent, received;

 private:
  template <typename End>
  OfRanks effects(const End& end, const OfRanks& of_partners, std::uint32_t Observation::*partner) const {
    std::vector<std::vector<double>> values(of_partners.size());
    for (const Observation& one : messages_) values[end(one)].push_back(one.time_ns - of_partners[one.*partner]);
    OfRanks all;
    for (std::vector<double>& of_rank : values) {
      std::erase_if(of_rank, [](double value) { return std::isnan(value); });
      all.push_back(median_of(of_rank));
    }
    return all;
  }

  std::vector<Observation> messages_;  // with logarithms for times
};

/// Of every rank what the ranks of other hosts near to its number let expect; NaN where too few are known.
OfRanks expected_of_rank(const OfRanks& effects, const Setting& setting) {
  const auto& host_of = setting.layout.host_of;
  const std::size_t num = effects.size();
  const std::size_t ranks_per_host = (num + setting.hosts.num_groups() - 1) / setting.hosts.num_groups();
  const std::size_t each_side = neighbour_hosts * ranks_per_host + ranks_per_host / 2;
  const std::size_t width = std::min(2 * each_side + 1, num);
  OfRanks all(num, not_known);
  std::vector<std::pair<double, double>> neighbours;  // rank, effect
  std::vector<double> slopes, heights;
  for (std::size_t rank = 0; rank < num; ++rank) {
    const std::size_t first = std::min(rank - std::min(rank, each_side), num - width);
    neighbours.clear();
    const bool is_one_host = setting.hosts.num_groups() == 1;
    for (std::size_t other = first; other < first + width; ++other) {
      const bool is_own = is_one_host ? other == rank : host_of[other] == host_of[rank];
      if (!is_own && !std::isnan(effects[other])) neighbours.emplace_back(static_cast<double>(other), effects[other]);
    }
    const std::size_t step = (neighbours.size() + most_neighbours - 1) / most_neighbours;
    for (std::size_t at = 0; step > 1 && at * step < neighbours.size(); ++at) neighbours[at] = neighbours[at * step];
    if (step > 1) neighbours.resize((neighbours.size() + step - 1) / step);
    if (neighbours.size() < fewest_in_line) continue;
    slopes.clear();
    heights.clear();
    for (std::size_t one = 0; one < neighbours.size(); ++one) {
      for (std::size_t other = one + 1; other < neighbours.size(); ++other) {
        slopes.push_back((neighbours[other].second - neighbours[one].second) /
                         (neighbours[other].first - neighbours[one].first));
      }
    }
    const double slope = median_of(slopes);
    for (const auto& [place, effect] : neighbours) {
      heights.push_back(effect + slope * (static_cast<double>(rank) - place));
    }
    all[rank] = median_of(heights);
  }
  return all;
}

/// Less its median, so that times stay what they are on the whole.
OfRanks centred(OfRanks effects) {
  std::vector<double> known = effects;
  std::erase_if(known, [](double value) { return std::isnan(value); });
  const double middle = median_of(known);
  for (double& value : effects) value = std::isnan(value) ? 0 : value - middle;
  return effects;
}

/// How far what ranks add lies apart.
double scatter_of(const Polish& polish) {
  std::vector<double> effects;
  for (const OfRanks* of_ranks : {&polish.sent, &polish.received}) {
    const OfRanks around_middle = centred(*of_ranks);
    effects.insert(effects.end(), around_middle.begin(), around_middle.end());
  }
  return middle_of(std::move(effects)).spread;
}

/// The messages with times as if their ranks stood in the middle; as they are, where ranks are so few that this sets
/// them farther apart.
std::vector<Observation> without_order_trend(std::span<const Observation> messages, const Setting& setting) {
  const Polish polish(messages, setting);
  const OfRanks sent = centred(expected_of_rank(polish.sent, setting));
  const OfRanks received = centred(expected_of_rank(polish.received, setting));
  std::vector<Observation> level(messages.begin(), messages.end());
  for (Observation& one : level) one.time_ns *= std::exp(-sent[one.from] - received[one.to]);
  if (scatter_of(Polish(level, setting)) > scatter_of(polish)) level.assign(messages.begin(), messages.end());
  return level;
}

/// A host or a rank, and by how much it is slow: logarithms.
struct End {
  bool is_rank = false;
  std::uint32_t number = 0;
  double out = 0, in = 0, scatter = 0, p_value = 1;
  bool is_inside = false;  ///< a host that is told by the messages of its ranks to each other

  double effect() const { return (out + in) / 2; }
};

/// Of two ranks, the lower one first: how much later than their ends explain their messages are, of both directions the
/// lesser and the greater. Logarithms.
struct BothWays {
  OrderedPair pair;
  double less = 0, more = 0;

  std::pair<std::uint32_t, std::uint32_t> ranks() const { return {pair.from, pair.to}; }
  bool is_of(std::uint32_t rank) const { return pair.from == rank || pair.to == rank; }
};

HostPair hosts_of(const Setting& setting, const BothWays& one) {
  return std::minmax({setting.layout.host_of[one.pair.from], setting.layout.host_of[one.pair.to]});
}

class Judging {
 public:
  Judging(std::span<const Observation> messages, const Setting& setting, const DiagnosisSettings& settings)
      : messages_(messages),
        level_(without_order_trend(messages, setting)),
        polish_(level_, setting),
        setting_(setting),
        settings_(settings) {}

  Diagnosis told();
  std::size_t num_later(HostPair hosts, const std::set<HostPair>& known) const;
  PairsToMeasure to_measure(std::size_t most);

 private:
  bool is_of(const End& end, std::uint32_t rank) const {
    return (end.is_rank ? rank : setting_.layout.host_of[rank]) == end.number;
  }
  double scatter_of_messages() const;
  struct Compared {
    std::vector<End> ends;
    Reference usual;  ///< of the means of both directions
  };
  Compared compared(bool are_ranks);
  std::vector<End> slow(bool are_ranks);
  std::vector<End> late_one_way();
  bool is_slower_than_its_host(const End& end) const;
  bool is_between(const Observation& one) const {
    const auto& host_of = setting_.layout.host_of;
    return setting_.hosts.num_groups() == 1 || host_of[one.from] != host_of[one.to];
  }
  std::vector<End> confirmed(const std::vector<End>& accused) const;
  std::vector<End> slow_inside() const;
  bool is_shown_by(const End& end, const Observation& one) const {
    if (end.is_inside) return is_of(end, one.from) && is_of(end, one.to);
    return is_of(end, one.from) != is_of(end, one.to) && is_between(one);
  }
  Fault fault_of(const End& end) const;
  std::vector<DiagnosedClass> classes() const;
  std::vector<BothWays> both_ways() const;

  std::span<const Observation> messages_;
  std::vector<Observation> level_;  // the same messages in the same order
  Polish polish_;                   // of those
  const Setting& setting_;
  const DiagnosisSettings& settings_;
  End usual_;  // the median one
};

/// Beyond what their ends explain. Where single messages scatter, most wait for others, and ends differ by whom they
/// wait for.
double Judging::scatter_of_messages() const {
  std::vector<double> times;
  for (const Observation& one : level_) {
    if (is_between(one)) times.push_back(std::log(one.time_ns) - polish_.sent[one.from] - polish_.received[one.to]);
  }
  return middle_of(std::move(times)).spread;
}

/// All of them, beside those that are usual.
Judging::Compared Judging::compared(bool are_ranks) {
  std::vector<End> ends;
  const auto num = are_ranks ? num_ranks(setting_.layout) : std::size_t{setting_.hosts.num_groups()};
  for (std::uint32_t number = 0; number < num; ++number) {
    std::vector<double> out, in;
    if (are_ranks) {
      out = {polish_.sent[number]};
      in = {polish_.received[number]};
    } else {
      for (const std::uint32_t rank : setting_.hosts.of(number)) {
        out.push_back(polish_.sent[rank]);
        in.push_back(polish_.received[rank]);
      }
    }
    const Middle of_out = middle_of(std::move(out)), of_in = middle_of(std::move(in));
    if (of_out.num > 0 && of_in.num > 0) ends.push_back({are_ranks, number, of_out.median, of_in.median});
  }
  // Those that stand apart from most do not say what is usual. Where none does, each direction counts by itself.
  std::vector<double> effects, out, in;
  for (const End& end : ends) effects.push_back(end.effect());
  const Reference usual = lowest_cluster(effects, least_scatter, share_of_majority);
  for (const End& end : ends) {
    if (end.effect() > usual.cut) continue;
    out.push_back(end.out);
    in.push_back(end.in);
  }
  usual_.out = middle_of(std::move(out)).median;
  usual_.in = middle_of(std::move(in)).median;
  for (End& end : ends) end.out -= usual_.out, end.in -= usual_.in;
  return {std::move(ends), usual};
}

/// Late in both directions beside most, by more than most scatter and single messages do.
std::vector<End> Judging::slow(bool are_ranks) {
  auto [ends, usual] = compared(are_ranks);
  const bool is_apart = !std::isinf(usual.cut);
  std::vector<double> both;
  for (const End& end : ends) both.insert(both.end(), {end.out, end.in});
  const Middle of_both = middle_of(std::move(both));
  const double scatter = std::max(is_apart ? usual.middle.spread : of_both.spread, least_scatter);
  const double freedom = is_apart ? limited(usual.freedom) : degrees_of_freedom(of_both.num);
  const double noise = scatter_of_messages(),
               most_likely = settings_.false_discovery_rate / static_cast<double>(ends.size());
  std::vector<End> slow_ones;
  for (End& end : ends) {
    const double less = std::min(end.out, end.in), told = is_apart ? end.effect() : less;
    end.scatter = is_apart ? scatter : scatter / std::numbers::sqrt2;
    end.p_value = std::pow(stats::student_t_tail(told / scatter, freedom), is_apart ? 1 : both_directions);
    const bool is_slow = less >= std::log1p(settings_.threshold) && told >= noise && end.p_value <= most_likely;
    if (is_slow && (!are_ranks || is_slower_than_its_host(end))) slow_ones.push_back(end);
  }
  return slow_ones;
}

/// In both directions a rank is late by at least twice of what the median of the other ranks of its host is.
bool Judging::is_slower_than_its_host(const End& end) const {
  std::vector<double> out, in;
  for (const std::uint32_t rank : setting_.hosts.of(setting_.layout.host_of[end.number])) {
    if (rank == end.number) continue;
    out.push_back(polish_.sent[rank] - usual_.out);
    in.push_back(polish_.received[rank] - usual_.in);
  }
  const Middle of_out = middle_of(std::move(out)), of_in = middle_of(std::move(in));
  return of_out.num == 0 || (2 * of_out.median <= end.out && 2 * of_in.median <= end.in);
}

/// Those of which most messages to others, and most from others, are late beside those of the same partners, where
/// partners that are accused do not tell; and who is fast with none of the accused: two that are lie behind what they
/// share.
std::vector<End> Judging::confirmed(const std::vector<End>& accused) const {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> accused_of(num_ranks(setting_.layout), none);
  for (std::size_t index = 0; index < accused.size(); ++index) {
    for (std::uint32_t rank = 0; rank < accused_of.size(); ++rank) {
      if (is_of(accused[index], rank)) accused_of[rank] = index;
    }
  }
  struct Count {
    std::size_t num = 0, num_so = 0;  // of them late, or fast
    void add(bool is_so) { ++num, num_so += is_so ? 1 : 0; }
  };
  std::vector<Count> sent(accused.size()), received(accused.size());
  std::map<std::pair<std::size_t, std::size_t>, Count> among;
  for (const Observation& one : level_) {
    const std::size_t from = accused_of[one.from], to = accused_of[one.to];
    if (from == to || !is_between(one)) continue;
    const double time = std::log(one.time_ns);
    if (to == none) {
      sent[from].add(time - polish_.received[one.to] - usual_.out >= accused[from].out / 2);
    } else if (from == none) {
      received[to].add(time - polish_.sent[one.from] - usual_.in >= accused[to].in / 2);
    } else {
      // Of two slow ends a message is as late as of one of them, at least.
      const double sound = polish_.sent[one.from] + polish_.received[one.to] - accused[from].out - accused[to].in;
      const double least = std::min(accused[from].effect(), accused[to].effect());
      among[std::minmax(from, to)].add(time - sound < least / 2);
    }
  }
  std::vector<bool> shares_way(accused.size());
  for (const auto& [ends, fast] : among) {
    if (2 * fast.num_so > fast.num) shares_way[ends.first] = shares_way[ends.second] = true;
  }
  const auto are_most = [](const Count& late) {
    return late.num >= fewest_messages &&
           static_cast<double>(late.num_so) >= most_of_messages * static_cast<double>(late.num);
  };
  std::vector<End> kept;
  for (std::size_t index = 0; index < accused.size(); ++index) {
    if (!shares_way[index] && are_most(sent[index]) && are_most(received[index])) kept.push_back(accused[index]);
  }
  return kept;
}

/// Hosts whose ranks reach each other late beside those of other hosts. What lies between hosts may be so slow that it
/// hides a host, but it does not pass there.
std::vector<End> Judging::slow_inside() const {
  std::map<std::uint32_t, std::vector<double>> times_of;
  for (const Observation& one : messages_) {
    const std::uint32_t host = setting_.layout.host_of[one.from];
    if (setting_.layout.host_of[one.to] == host) times_of[host].push_back(std::log(one.time_ns));
  }
  std::vector<End> ends;
  std::vector<double> of_hosts;
  for (auto& [host, times] : times_of) {
    of_hosts.push_back(median_of(times));
    ends.push_back({.number = host, .out = of_hosts.back(), .in = of_hosts.back(), .is_inside = true});
  }
  const Middle usual = middle_of(of_hosts);
  if (usual.num < fewest_hosts_inside) return {};
  const double scatter = std::max(usual.spread, least_scatter), freedom = degrees_of_freedom(usual.num);
  for (End& end : ends) {
    end.out -= usual.median;
    end.in = end.out;
    end.scatter = scatter;
    end.p_value = stats::student_t_tail(end.out / scatter, freedom);
  }
  const double most_likely = settings_.false_discovery_rate / static_cast<double>(ends.size());
  std::erase_if(
      ends, [&](const End& end) { return !(end.out >= std::log1p(settings_.threshold)) || end.p_value > most_likely; });
  return ends;
}

Fault Judging::fault_of(const End& end) const {
  Fault fault;
  const auto number = static_cast<std::int32_t>(end.number);
  const auto kind = [&] {
    if (end.is_rank) return ComponentKind::rank;
    return end.is_inside ? ComponentKind::host : host_or_port(messages_, setting_, end.number, end.effect());
  };
  fault.component = {kind(), -1, number, -1, -1};
  fault.name = name_of_component(setting_, fault.component, fault.direction);
  name_concerned(setting_, fault);
  fault.ratio = std::exp(end.effect());
  fault.ratio_low = std::exp(end.effect() - both_sides * end.scatter);
  fault.ratio_high = std::exp(end.effect() + both_sides * end.scatter);
  fault.p_value = end.p_value;
  for (const Observation& one : messages_) {
    if (!is_shown_by(end, one)) continue;
    ++fault.num_pairs;
    if (fault.pairs.size() == most_shown_messages) continue;
    fault.pairs.push_back({static_cast<std::int32_t>(one.from), static_cast<std::int32_t>(one.to), one.time_ns,
                           one.time_ns / std::exp(is_of(end, one.from) ? end.out : end.in)});
  }
  Suspect suspect;
  suspect.component = fault.component;
  suspect.effect = end.effect();
  fault.advice = advice_for(setting_, suspect, Symptom::slow);
  return fault;
}

std::vector<DiagnosedClass> Judging::classes() const {
  std::vector<std::vector<double>> times(setting_.classes.size());
  for (const Observation& one : messages_) {
    times[setting_.classes.of(one.from, one.to)].push_back(std::log(one.time_ns));
  }
  std::vector<DiagnosedClass> all;
  for (std::size_t index = 0; index < times.size(); ++index) {
    const Middle middle = middle_of(std::move(times[index]));
    if (middle.num == 0) continue;
    const double error = median_efficiency * middle.spread / std::sqrt(static_cast<double>(middle.num));
    all.push_back({setting_.classes.name(index), middle.num, std::exp(middle.median), error, middle.spread});
  }
  return all;
}

Diagnosis Judging::told() {
  Diagnosis diagnosis;
  diagnosis.settings = settings_;
  diagnosis.topology = setting_.layout.network.source;
  diagnosis.num_measured = messages_.size();
  diagnosis.classes = classes();
  std::vector<End> accused = slow(false);
  std::vector<End> kept = confirmed(accused);
  if (!setting_.has_one_rank_a_host()) {
    std::vector<End> ends = kept;
    for (const End& rank : slow(true)) {
      const auto has = [&](const End& host) { return is_of(host, rank.number); };
      if (std::ranges::none_of(kept, has)) ends.push_back(rank);
    }
    accused.insert(accused.end(), ends.begin() + static_cast<std::ptrdiff_t>(kept.size()), ends.end());
    kept = confirmed(ends);
  }
  const auto host_of = [&](const End& end) { return end.is_rank ? setting_.layout.host_of[end.number] : end.number; };
  for (const End& host : slow_inside()) {
    const auto is_it = [&](const End& end) { return host_of(end) == host.number; };
    if (std::ranges::none_of(kept, is_it)) kept.push_back(host);
  }
  std::ranges::stable_sort(kept, std::ranges::greater{}, &End::effect);
  for (const End& end : kept) diagnosis.faults.push_back(fault_of(end));
  std::set<std::uint32_t> cleared;
  for (const End& end : accused) cleared.insert(host_of(end));
  for (const End& end : kept) cleared.erase(host_of(end));
  if (!cleared.empty()) {
    diagnosis.notes.push_back(fmt::format(
        "messages of {} are late, but not those with most partners, or not those among each other: what they share "
        "explains it. A link or bisection test tells more",
        cleared.size() == 1 ? "one host" : fmt::format("{} hosts", cleared.size())));
  }
  return diagnosis;
}

/// Hosts, and ranks of others, that are late in either direction, by the threshold and by more than single messages
/// scatter.
std::vector<End> Judging::late_one_way() {
  const auto lateness = [](const End& end) { return std::max(end.out, end.in); };
  const double least = std::max(std::log1p(settings_.threshold), scatter_of_messages());
  std::vector<End> hosts = compared(false).ends;
  std::erase_if(hosts, [&](const End& host) { return lateness(host) < least; });
  std::vector<End> late = hosts;
  if (!setting_.has_one_rank_a_host()) {
    for (const End& rank : compared(true).ends) {
      const auto has = [&](const End& host) { return is_of(host, rank.number); };
      if (lateness(rank) >= least && std::ranges::none_of(hosts, has)) late.push_back(rank);
    }
  }
  std::ranges::stable_sort(late, std::ranges::greater{}, lateness);
  return late;
}

std::vector<BothWays> Judging::both_ways() const {
  std::vector<BothWays> ways;
  for (const Observation& one : level_) {
    if (!is_between(one)) continue;
    const auto [low, high] = std::minmax(one.from, one.to);
    const double late = std::log(one.time_ns) - polish_.sent[one.from] - polish_.received[one.to];
    ways.push_back({{low, high}, late, late});
  }
  std::ranges::stable_sort(ways, {}, &BothWays::ranks);
  std::vector<BothWays> pairs;
  for (std::size_t at = 0; at + 1 < ways.size(); ++at) {
    if (ways[at].ranks() != ways[at + 1].ranks()) continue;
    const auto [less, more] = std::minmax(ways[at].less, ways[at + 1].less);
    pairs.push_back({ways[at].pair, less, more});
  }
  return pairs;
}

std::size_t Judging::num_later(HostPair hosts, const std::set<HostPair>& known) const {
  std::map<HostPair, double> latest;
  for (const BothWays& one : both_ways()) {
    double& of_hosts = latest.try_emplace(hosts_of(setting_, one), one.more).first->second;
    of_hosts = std::max(of_hosts, one.more);
  }
  const auto own = latest.find(hosts);
  if (own == latest.end()) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(
      latest, [&](const auto& other) { return other.second > own->second && !known.contains(other.first); }));
}

/// Which pairs to measure with a suspect, so that these tell what is slow.
class Comparisons {
 public:
  /// `is_late`: by rank. A pair is late from `least` on.
  Comparisons(const Setting& setting, std::vector<BothWays> pairs, std::vector<bool> is_late, double least)
      : setting_(setting), pairs_(std::move(pairs)), is_late_(std::move(is_late)), least_(least) {
    std::ranges::stable_sort(pairs_, {}, &BothWays::more);
    if (setting.has_one_rank_a_host()) return;
    by_hosts_ = pairs_;
    std::ranges::stable_sort(by_hosts_, {}, [&](const BothWays& one) { return hosts_of(one); });
  }

  /// The least late ones first.
  const std::vector<BothWays>& pairs() const { return pairs_; }

  bool is_between_usual_ends(const BothWays& one) const { return !is_late_[one.pair.from] && !is_late_[one.pair.to]; }

  /// The pairs that it is least late with, of partners on different hosts that are not late; where there is one host,
  /// of different ranks.
  std::vector<OrderedPair> of_end(const std::function<bool(std::uint32_t rank)>& is_of_end) const {
    std::vector<OrderedPair> chosen;
    std::set<std::uint32_t> partners;
    for (const BothWays& one : pairs_) {
      if (chosen.size() == partners_alone) break;
      if (is_of_end(one.pair.from) == is_of_end(one.pair.to)) continue;
      const std::uint32_t partner = is_of_end(one.pair.from) ? one.pair.to : one.pair.from;
      const bool is_one_host = setting_.hosts.num_groups() == 1;
      const bool is_new = partners.insert(is_one_host ? partner : setting_.layout.host_of[partner]).second;
      if (is_new && !is_late_[partner]) chosen.push_back(one.pair);
    }
    return chosen;
  }

  /// The late pair, other ranks of its two hosts, and either end with a usual partner.
  std::vector<OrderedPair> of_pair(const BothWays& late) const {
    std::vector<OrderedPair> chosen{late.pair};
    const auto by_hosts = [&](const BothWays& one) { return hosts_of(one); };
    auto same = std::ranges::lower_bound(by_hosts_, hosts_of(late), {}, by_hosts);
    const auto is_same_link = [&] { return same != by_hosts_.end() && hosts_of(*same) == hosts_of(late); };
    while (is_same_link() && (same->is_of(late.pair.from) || same->is_of(late.pair.to))) ++same;
    if (is_same_link()) chosen.push_back(same->pair);
    for (const std::uint32_t end : {late.pair.from, late.pair.to}) {
      const auto usual = std::ranges::find_if(pairs_, [&](const BothWays& one) {
        return one.is_of(end) && one.more < least_ && is_between_usual_ends(one);
      });
      if (usual != pairs_.end()) chosen.push_back(usual->pair);
    }
    return chosen;
  }

 private:
  HostPair hosts_of(const BothWays& one) const { return diagnosis::hosts_of(setting_, one); }

  const Setting& setting_;
  std::vector<BothWays> pairs_, by_hosts_;
  std::vector<bool> is_late_;
  double least_;
};

PairsToMeasure Judging::to_measure(std::size_t most) {
  const std::vector<End> late_ends = late_one_way();
  std::vector<bool> is_late(num_ranks(setting_.layout));
  for (std::uint32_t rank = 0; rank < is_late.size(); ++rank) {
    is_late[rank] = std::ranges::any_of(late_ends, [&](const End& end) { return is_of(end, rank); });
  }
  const double least = std::log1p(settings_.threshold) / 2;
  const Comparisons comparisons(setting_, both_ways(), std::move(is_late), least);

  PairsToMeasure chosen;
  const auto add = [&](const std::vector<OrderedPair>& more, double limit) {
    if (static_cast<double>(chosen.suspected.size() + more.size()) > limit) return false;
    chosen.suspected.insert(chosen.suspected.end(), more.begin(), more.end());
    return true;
  };
  std::size_t num_ends = 0;
  const auto add_ends = [&](double limit) {
    for (; num_ends < late_ends.size(); ++num_ends) {
      const End& end = late_ends[num_ends];
      if (!add(comparisons.of_end([&](std::uint32_t rank) { return is_of(end, rank); }), limit)) return;
    }
  };
  add_ends(share_of_ends * static_cast<double>(most));
  // Of a link that is slow one way only, one direction is late. Of one that is slow both ways the lesser lateness tells
  // more, since chance makes few messages late both ways. So the latest of either order come by turns.
  std::vector<BothWays> by_less = comparisons.pairs(), by_more = by_less;
  std::ranges::stable_sort(by_less, std::ranges::greater{}, &BothWays::less);
  std::ranges::reverse(by_more);
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  bool has_room = true;
  for (std::size_t at = 0; at < by_more.size() && has_room && by_more[at].more >= least; ++at) {
    for (const auto& [one, late] :
         {std::pair(by_less[at], by_less[at].less), std::pair(by_more[at], by_more[at].more)}) {
      if (late < least || !comparisons.is_between_usual_ends(one) || !known.insert(one.ranks()).second) continue;
      has_room = has_room && add(comparisons.of_pair(one), static_cast<double>(most));
    }
  }
  add_ends(static_cast<double>(most));
  std::vector<BothWays> pairs = comparisons.pairs();
  const auto by_chance = [](const BothWays& one) {
    return mix64((std::uint64_t{one.pair.from} << 32 | one.pair.to) + splitmix64_increment);
  };
  const std::size_t num = std::min(most, pairs.size());
  std::ranges::partial_sort(pairs, pairs.begin() + static_cast<std::ptrdiff_t>(num), {}, by_chance);
  for (std::size_t at = 0; at < num; ++at) chosen.by_chance.push_back(pairs[at].pair);
  return chosen;
}

}  // namespace

ComponentKind host_or_port(std::span<const Observation> messages, const Setting& setting, std::uint32_t host,
                           double effect) {
  const auto& host_of = setting.layout.host_of;
  std::vector<double> own, others;
  for (const Observation& one : messages) {
    if (host_of[one.from] != host_of[one.to]) continue;
    (host_of[one.from] == host ? own : others).push_back(std::log(one.time_ns));
  }
  const Middle of_own = middle_of(std::move(own)), of_others = middle_of(std::move(others));
  const bool is_slow_inside = of_own.num == 0 || of_others.num == 0 || of_own.median - of_others.median >= effect / 2;
  return is_slow_inside ? ComponentKind::host : ComponentKind::port;
}

Diagnosis diagnosed_exchange(std::span<const Observation> messages, const Setting& setting,
                             const DiagnosisSettings& settings) {
  return Judging(messages, setting, settings).told();
}

std::size_t num_later_pairs(std::span<const Observation> messages, const Setting& setting,
                            const DiagnosisSettings& settings, HostPair hosts, const std::set<HostPair>& known) {
  return Judging(messages, setting, settings).num_later(hosts, known);
}

PairsToMeasure pairs_to_measure(std::vector<Observation> messages, const Layout& layout,
                                const DiagnosisSettings& settings, std::size_t most) {
  messages = joined_by_pair(std::move(messages));
  const Setting setting(layout);
  return Judging(messages, setting, settings).to_measure(most);
}

}  // namespace leadline::diagnosis

// SPDX-License-Identifier: Apache-2.0
// Random small machines with random times: a diagnosis ends, is the same for all holders of rows, names what exists.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "core/random.hpp"
#include "made_up.hpp"
#include "shared_rows.hpp"

namespace leadline::diagnosis::random_machines_test {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

enum class Times : std::uint8_t { equal, lognormal, bimodal, slow_hosts, slow_links, extreme, few_values, number };
enum class Again : std::uint8_t { never, all_lost, some_lost, the_same, other_values, number };

double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(6.283185307179586 * random.uniform());
}

/// Groups of hosts side by side, each of the next level within those of the one before.
network::Network random_network(Random& random, std::uint32_t num_hosts) {
  network::Network network;
  network.source = "made up";
  std::vector<std::uint32_t> below(num_hosts);
  for (std::uint32_t host = 0; host < num_hosts; ++host) {
    network.hosts.push_back("node" + std::to_string(host));
    below[host] = host;
  }
  const std::uint64_t num_levels = 1 + random.below(3);
  for (std::uint64_t level = 0; level < num_levels; ++level) {
    const std::uint64_t width = 1 + random.below(4);
    for (std::uint32_t& group : below) group = static_cast<std::uint32_t>(group / width);
    network.levels.push_back({level == 0 ? "leaf switch" : "switch" + std::to_string(level), {}, below});
    for (std::uint32_t group = 0; group <= *std::ranges::max_element(below); ++group) {
      network.levels.back().names.push_back("s" + std::to_string(level) + "." + std::to_string(group));
    }
  }
  if (random.below(4) != 0) return network;
  const std::size_t num = network.levels.front().names.size();
  network.hops.assign(num * num, 0);
  for (std::size_t one = 0; one < num; ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      network.hops[one * num + other] = network.hops[other * num + one] =
          static_cast<std::uint8_t>(1 + random.below(10));
    }
  }
  return network;
}

Layout random_layout(Random& random) {
  Layout layout;
  const auto num_hosts = static_cast<std::uint32_t>(1 + random.below(12));
  const std::uint64_t most_ranks = 1 + random.below(4);
  const bool is_even = random.below(2) == 0, has_sockets = random.below(2) == 0, has_names = random.below(4) != 0;
  for (std::uint32_t host = 0; host < num_hosts; ++host) {
    if (has_names) layout.host_names.push_back("node" + std::to_string(host));
    const std::uint64_t num = is_even ? most_ranks : 1 + random.below(most_ranks);
    for (std::uint64_t rank = 0; rank < num; ++rank) {
      layout.host_of.push_back(host);
      if (has_sockets) layout.socket_of.push_back(static_cast<std::int32_t>(random.below(3)) - 1);
    }
  }
  if (random.below(2) == 0) layout.network = random_network(random, num_hosts);
  return layout;
}

class RandomMachine {
 public:
  explicit RandomMachine(std::uint64_t seed)
      : random_(seed), layout_(random_layout(random_)), slow_(size(), 1), unsteady_(size(), 1) {
    fill_rows();
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(layout_.host_of.size()); }
  const Layout& layout() const { return layout_; }

  Diagnosis diagnosis() {
    return diagnose(question([&](Symptom symptom) -> const Rows& { return rows(symptom); }));
  }
  std::string diagnosed_by(Meeting& meeting, std::size_t holder) {
    const SharedRows slow(slow_, meeting, holder), unsteady(unsteady_, meeting, holder);
    return in_full(
        diagnose(question([&](Symptom symptom) -> const Rows& { return symptom == Symptom::slow ? slow : unsteady; })));
  }

 private:
  const DenseRows& rows(Symptom symptom) const { return symptom == Symptom::slow ? slow_ : unsteady_; }

  void fill_rows() {
    times_ = static_cast<Times>(random_.below(static_cast<std::uint64_t>(Times::number)));
    sigma_ = random_.below(3) == 0 ? 0.01 : 0.5 + 2.5 * random_.uniform();
    const double share_of_holes = random_.below(3) == 0 ? random_.uniform() : 0;
    load_ = random_.below(2) == 0 ? Load::alone : Load::concurrent;
    has_means_ = random_.below(2) == 0;
    may_learn_ = random_.below(2) == 0;
    again_ = static_cast<Again>(random_.below(static_cast<std::uint64_t>(Again::number)));
    std::vector<double> of_host(size());
    for (double& one : of_host) one = random_.below(3) == 0 ? 1 + random_.uniform() : 0;
    const double share_slow = 0.05 + 0.4 * random_.uniform();
    std::vector<std::uint8_t> is_slow_link(std::size_t{size()} * size());
    for (auto& one : is_slow_link) one = random_.uniform() < share_slow ? 1 : 0;
    fill(slow_, [&](std::uint32_t from, std::uint32_t to) {
      const double value = time_of(of_host, is_slow_link, share_slow, from, to);
      return from == to || random_.uniform() < share_of_holes ? nothing : value;
    });
    const double share_unsteady = random_.uniform();
    fill(unsteady_, [&](std::uint32_t from, std::uint32_t to) {
      const double value = random_.uniform() < share_unsteady ? 3 * random_.uniform() : 0.01 * random_.uniform();
      return from == to || random_.uniform() < share_of_holes ? nothing : value;
    });
  }

  double time_of(const std::vector<double>& of_host, const std::vector<std::uint8_t>& is_slow_link, double share_slow,
                 std::uint32_t from, std::uint32_t to) {
    const std::uint32_t one = layout_.host_of[from], other = layout_.host_of[to];
    switch (times_) {
      case Times::equal:
        return 8;
      case Times::bimodal:
        return 8 + (random_.uniform() < share_slow ? std::log(10) : 0) + 0.02 * normal(random_);
      case Times::slow_hosts:
        return 8 + of_host[one] + of_host[other] + 0.05 * sigma_ * normal(random_);
      case Times::slow_links:
        return 8 + (is_slow_link[std::size_t{one} * size() + other] != 0 ? std::log(10) : 0) + 0.02 * normal(random_);
      case Times::extreme:
        return 8 + (random_.below(2) == 0 ? -40 : 40) * random_.uniform();
      case Times::few_values:
        return static_cast<double>(random_.below(3));
      default:
        return 8 + sigma_ * normal(random_);
    }
  }

  Question question(std::function<const Rows&(Symptom)> rows) {
    Question question{.rows = std::move(rows), .layout = layout_};
    question.num_pairs = std::uint64_t{size()} * (size() - 1);
    question.has_means = has_means_;
    question.may_learn = may_learn_;
    question.load = load_;
    if (again_ == Again::never) return question;
    question.retest = [again = again_](std::span<const OrderedPair> pairs, Load load) {
      std::vector<RetestTimes> times;
      for (const OrderedPair& pair : pairs) times.push_back(again_of(again, pair, load));
      return times;
    };
    return question;
  }

  static RetestTimes again_of(Again again, const OrderedPair& pair, Load load) {
    const std::uint64_t lot = mix64(pair.from * 1000 + pair.to + (load == Load::alone ? 0 : 1'000'000));
    const double share = static_cast<double>(lot % 1000) / 1000;
    if (again == Again::all_lost || (again == Again::some_lost && lot % 3 == 0)) return {};
    const double median = std::exp(8 + (again == Again::other_values ? 30 * (share - 0.5) : 0.1 * share));
    return {median, median * (1 + share)};
  }

  Random random_;
  Layout layout_;
  DenseRows slow_, unsteady_;
  Times times_ = Times::equal;
  Again again_ = Again::never;
  double sigma_ = 0;
  Load load_ = Load::concurrent;
  bool may_learn_ = true, has_means_ = true;
};

void expect_in(std::int32_t number, std::size_t num, const Fault& fault) {
  EXPECT_GE(number, 0) << fault.name;
  EXPECT_LT(number, static_cast<std::int32_t>(num)) << fault.name;
}

void expect_exists(const Fault& fault, const Layout& layout, const Diagnosis& diagnosis) {
  const std::size_t num_ranks = layout.host_of.size(), num_hosts = layout.host_of.back() + std::size_t{1};
  const Component& component = fault.component;
  switch (component.kind) {
    case ComponentKind::rank:
      expect_in(component.first, num_ranks, fault);
      break;
    case ComponentKind::pair:
      expect_in(component.first, num_ranks, fault);
      expect_in(component.second, num_ranks, fault);
      EXPECT_NE(component.first, component.second);
      break;
    case ComponentKind::link:
      expect_in(component.second, num_hosts, fault);
      EXPECT_NE(component.first, component.second);
      [[fallthrough]];
    case ComponentKind::host:
    case ComponentKind::port:
    case ComponentKind::inside:
      expect_in(component.first, num_hosts, fault);
      break;
    case ComponentKind::socket:
      EXPECT_GE(component.socket, 0);
      EXPECT_LT(component.first, static_cast<std::int32_t>(num_hosts));
      break;
    case ComponentKind::network_switch:
    case ComponentKind::uplink:
    case ComponentKind::cable:
      EXPECT_FALSE(diagnosis.topology.empty());
      expect_in(component.first, num_hosts, fault);
      EXPECT_FALSE(fault.hosts.empty());
      break;
    case ComponentKind::rail:
      expect_in(component.first, num_ranks, fault);
      break;
    case ComponentKind::target:
      ADD_FAILURE() << "a link test has no storage";
      break;
  }
  for (const std::int32_t host : fault.hosts) expect_in(host, num_hosts, fault);
  for (const std::int32_t host : fault.other_hosts) expect_in(host, num_hosts, fault);
  for (const ShownPair& pair : fault.pairs) {
    expect_in(pair.from, num_ranks, fault);
    expect_in(pair.to, num_ranks, fault);
    EXPECT_NE(pair.from, pair.to);
    EXPECT_TRUE(std::isfinite(pair.measured) && std::isfinite(pair.expected)) << fault.name;
  }
}

void expect_numbers(const Fault& fault) {
  EXPECT_FALSE(fault.name.empty());
  EXPECT_TRUE(std::isfinite(fault.ratio)) << fault.name;
  EXPECT_TRUE(std::isfinite(fault.ratio_low)) << fault.name;
  EXPECT_FALSE(std::isnan(fault.ratio_high)) << fault.name;
  EXPECT_TRUE(fault.p_value >= 0 && fault.p_value <= 1) << fault.name << ": " << fault.p_value;
  EXPECT_TRUE(std::isfinite(fault.ratio_alone)) << fault.name;
  EXPECT_TRUE(std::isfinite(fault.ratio_concurrent)) << fault.name;
}

#ifdef LEADLINE_SANITIZE
constexpr std::uint64_t num_machines = 25;  // each takes eight times as long
#else
constexpr std::uint64_t num_machines = 100;
#endif

TEST(diagnosis, of_random_machines_names_what_exists_and_is_the_same_for_all) {
  for (std::uint64_t seed = 1; seed <= num_machines; ++seed) {
    SCOPED_TRACE(seed);
    RandomMachine one(seed);
    const Diagnosis diagnosis = one.diagnosis();
    for (const Fault& fault : diagnosis.faults) {
      expect_exists(fault, one.layout(), diagnosis);
      expect_numbers(fault);
    }
    const std::string expected = in_full(diagnosis);
    EXPECT_EQ(in_full(one.diagnosis()), expected);
    if (seed % 4 != 0) continue;
    const std::size_t num_holders = seed % 8 == 0 ? one.size() : std::min<std::size_t>(one.size(), 3);
    Meeting meeting(num_holders);
    std::vector<std::string> results(num_holders);
    {
      std::vector<std::jthread> threads;
      for (std::size_t holder = 0; holder < num_holders; ++holder) {
        threads.emplace_back([&, holder] { results[holder] = one.diagnosed_by(meeting, holder); });
      }
    }
    for (const std::string& result : results) EXPECT_EQ(result, expected);
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace leadline::diagnosis::random_machines_test

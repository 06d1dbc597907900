// SPDX-License-Identifier: Apache-2.0
// Reads a formula, and assigns its hosts to its switches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <utility>

#include "network/lines.hpp"
#include "network/network.hpp"
#include "network/parse_network.hpp"

namespace leadline::network {
namespace {

constexpr std::size_t most_formula_hosts = std::size_t{1} << 21;  // as the simulation

struct Kind {
  std::string_view word;
  std::string_view form;
  std::size_t min_extents, max_extents;
  std::array<std::string_view, 2> settings;  ///< what may follow behind commas
};

constexpr std::array<Kind, 3> kinds{{
    {"fat-tree", "fat-tree:HOSTSxLEAVES[xPODS][,spines=N][,cores=N]", 2, 3, {"spines", "cores"}},
    {"dragonfly", "dragonfly:H[,groups=G]", 1, 1, {"groups", ""}},
    {"torus", "torus:XxYx...", 1, 8, {"", ""}},
}};

const Kind* find_kind(std::string_view word) {
  const auto* const found = std::ranges::find(kinds, word.substr(0, word.find(':')), &Kind::word);
  return found == kinds.end() ? nullptr : found;
}

struct Formula {
  std::string_view word;
  const Kind& kind;
  std::vector<std::size_t> extents{};
  std::array<std::size_t, 2> settings{};  ///< in the order of the kind's; 0 = not given

  [[noreturn]] void refuse(const std::string& why) const { refuse_word(word, why, fmt::format("Write {}", kind.form)); }
  [[noreturn]] void refuse_size(const std::string& why) const {
    refuse_word(word, why, "Name a smaller network, or write its cables into a file");
  }
};

std::size_t to_extent(const Formula& formula, std::string_view text) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const bool is_short = !text.empty() && text.size() <= 7 && text.front() != '0';
  if (!is_short || std::from_chars(text.data(), end, number).ptr != end) {
    formula.refuse(fmt::format("{} is no number from 1 to 9999999", shown(text)));
  }
  return number;
}

void read_setting(Formula& formula, std::string_view text) {
  const std::string_view name = text.substr(0, text.find('='));
  const auto* const known = std::ranges::find(formula.kind.settings, name);
  if (name.empty() || known == formula.kind.settings.end()) {
    formula.refuse(fmt::format("{} means nothing here", shown(text)));
  }
  std::size_t& value = formula.settings[static_cast<std::size_t>(known - formula.kind.settings.begin())];
  if (value != 0) formula.refuse(fmt::format("{} is given twice", name));
  value = to_extent(formula, text.substr(std::min(name.size() + 1, text.size())));
}

Formula read_formula(const std::string& word, const Kind& kind) {
  Formula formula{word, kind};
  if (word.size() == kind.word.size()) formula.refuse("it has no extents");
  const auto parts = split(std::string_view(word).substr(kind.word.size() + 1), ',');
  for (const std::string_view extent : split(parts.front(), 'x')) {
    formula.extents.push_back(to_extent(formula, extent));
  }
  if (formula.extents.size() < kind.min_extents || formula.extents.size() > kind.max_extents) {
    formula.refuse(fmt::format("it has {} extents", formula.extents.size()));
  }
  for (std::size_t part = 1; part < parts.size(); ++part) read_setting(formula, parts[part]);
  return formula;
}

/// Of whole numbers that fit seven digits each.
std::size_t checked_product(const Formula& formula, const std::vector<std::size_t>& factors) {
  std::size_t product = 1;
  for (const std::size_t factor : factors) {
    product *= factor;
    if (product > most_formula_hosts) {
      formula.refuse_size(fmt::format("it has more than {} hosts", most_formula_hosts));
    }
  }
  return product;
}

/// `size` hosts of consecutive numbers in each group.
Level level_of(std::string kind, const std::string& prefix, std::size_t num_hosts, std::size_t size) {
  Level level{std::move(kind), {}, std::vector<std::uint32_t>(num_hosts)};
  for (std::size_t group = 0; group < num_hosts / size; ++group) level.names.push_back(prefix + std::to_string(group));
  for (std::size_t host = 0; host < num_hosts; ++host) level.group_of[host] = static_cast<std::uint32_t>(host / size);
  return level;
}

Network network_of(const Formula& formula, std::size_t num_hosts) {
  Network network;
  network.source = formula.word;
  network.hosts.resize(num_hosts);
  return network;
}

Network fat_tree(const Formula& formula) {
  const bool has_pods = formula.extents.size() == 3;
  if (!has_pods && formula.settings[1] != 0) formula.refuse("a tree of two levels has no cores");
  const std::size_t num_hosts = checked_product(formula, formula.extents);
  if (num_hosts < 2) formula.refuse("it has one host");
  Network network = network_of(formula, num_hosts);
  const std::size_t per_leaf = formula.extents[0];
  network.levels.push_back(level_of("leaf switch", "leaf", num_hosts, per_leaf));
  if (has_pods) network.levels.push_back(level_of("pod", "pod", num_hosts, per_leaf * formula.extents[1]));
  return network;
}

Network dragonfly(const Formula& formula) {
  const std::size_t per_router = formula.extents[0];
  const std::size_t per_group = 2 * per_router * per_router;
  const std::size_t most_groups = per_group + 1;
  const std::size_t num_groups = formula.settings[0] != 0 ? formula.settings[0] : most_groups;
  if (num_groups > most_groups) {
    formula.refuse(fmt::format("{} global links of a group join at most {} groups", per_group, most_groups));
  }
  const std::size_t num_hosts = checked_product(formula, {2, per_router, per_router, num_groups});
  Network network = network_of(formula, num_hosts);
  network.levels.push_back(level_of("router", "router", num_hosts, per_router));
  network.levels.push_back(level_of("group", "group", num_hosts, per_group));
  return network;
}

/// From one coordinate to all others of a ring, the shorter way round.
std::vector<std::uint8_t> ring_steps(std::size_t own, std::size_t extent) {
  std::vector<std::uint8_t> steps(extent);
  for (std::size_t other = 0; other < extent; ++other) {
    const std::size_t up = (other + extent - own) % extent;
    steps[other] = static_cast<std::uint8_t>(std::min(up, extent - up));
  }
  return steps;
}

/// The sum over all dimensions, of which the first varies fastest.
std::vector<std::uint8_t> torus_hops(const std::vector<std::size_t>& extents, std::size_t num_routers) {
  std::vector<std::uint8_t> hops(num_routers * num_routers);
  std::vector<std::size_t> coordinate(num_routers);
  std::size_t stride = 1;
  for (const std::size_t extent : extents) {
    for (std::size_t router = 0; router < num_routers; ++router) coordinate[router] = router / stride % extent;
    for (std::size_t router = 0; router < num_routers; ++router) {
      const std::vector<std::uint8_t> steps = ring_steps(coordinate[router], extent);
      std::uint8_t* const row = hops.data() + router * num_routers;
      for (std::size_t other = 0; other < num_routers; ++other) {
        row[other] = static_cast<std::uint8_t>(row[other] + steps[coordinate[other]]);
      }
    }
    stride *= extent;
  }
  return hops;
}

Network torus(const Formula& formula) {
  const std::size_t num_hosts = checked_product(formula, formula.extents);
  if (num_hosts < 2) formula.refuse("it has one host");
  if (num_hosts > most_hop_groups) {
    formula.refuse_size(
        fmt::format("a torus of {} routers has too many distances, at most {}", num_hosts, most_hop_groups));
  }
  const std::size_t farthest = std::accumulate(formula.extents.begin(), formula.extents.end(), std::size_t{0},
                                               [](std::size_t sum, std::size_t extent) { return sum + extent / 2; });
  if (farthest > most_hops) {
    formula.refuse_size(
        fmt::format("its hosts are up to {} hops apart, at most {} are supported", farthest, most_hops));
  }
  Network network = network_of(formula, num_hosts);
  network.levels.push_back(level_of("router", "router", num_hosts, 1));
  network.hops = torus_hops(formula.extents, num_hosts);
  return network;
}

}  // namespace

Network formula(const std::string& word) {
  const Kind* const kind = find_kind(word);
  if (kind == nullptr) refuse_word(word, "it is no kind of network", fmt::format("Write {}", formula_forms()));
  const Formula parsed = read_formula(word, *kind);
  if (kind->word == "torus") return torus(parsed);
  return kind->word == "dragonfly" ? dragonfly(parsed) : fat_tree(parsed);
}

bool is_formula(std::string_view word) { return find_kind(word) != nullptr; }

std::string formula_forms() {
  std::string forms;
  for (const Kind& kind : kinds) forms += (forms.empty() ? "" : ", ") + std::string(kind.form);
  return forms;
}

}  // namespace leadline::network

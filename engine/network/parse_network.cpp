// SPDX-License-Identifier: Apache-2.0
// Tells a formula, a pattern and a file apart.
#include "network/parse_network.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "network/for_hosts.hpp"
#include "network/formula.hpp"
#include "network/name_pattern.hpp"
#include "network/refusal.hpp"
#include "network/topology_file.hpp"

namespace leadline::network {

Network parse_network(const std::string& word, const std::vector<std::string>& hosts) {
  constexpr std::string_view pattern = "pattern:";
  if (is_formula(word)) return for_hosts(formula(word), hosts);
  if (word.starts_with(pattern)) return by_pattern(word.substr(pattern.size()), hosts);
  std::error_code ignored;
  if (word.empty() || !std::filesystem::exists(word, ignored)) {
    refuse_word(word, "neither a kind of network nor a file",
                fmt::format("Write {}, pattern:REGEX, or the name of a file", formula_forms()));
  }
  return for_hosts(read_topology(word), hosts);
}

}  // namespace leadline::network

// SPDX-License-Identifier: Apache-2.0
// Reads sizes, lists of I/O ranks and hosts, hints, backends and shifts.
#include "bench/io/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "options/values.hpp"
#include "storage/table.hpp"

namespace leadline::bench::io {
namespace {

constexpr std::uint64_t max_ranks = 1u << 26;
constexpr std::uint64_t max_shift = max_ranks;

bool is_there(const auto& list, const auto& what) { return std::find(list.begin(), list.end(), what) != list.end(); }

}  // namespace

std::vector<std::int64_t> parse_io_ranks(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> list;
  for (const std::string& word : words_of(text)) {
    list.push_back(static_cast<std::int64_t>(parse_count(option, word, 1, max_ranks)));
  }
  return list;
}

std::vector<std::string> parse_hosts(const std::string& option, const std::string& text) {
  std::vector<std::string> list;
  for (const std::string& word : words_of(text)) {
    if (word.empty() || word.find_first_of(" \t") != std::string::npos) {
      throw_bad_value(option, text, fmt::format("'{}' is no name of a host", word), "Write for example node1,node7");
    }
    if (is_there(list, word)) throw_bad_value(option, text, fmt::format("{} stands twice", word));
    list.push_back(word);
  }
  return list;
}

std::vector<std::pair<std::string, std::string>> parse_hints(const std::string& option, const std::string& text) {
  std::vector<std::pair<std::string, std::string>> hints;
  for (const std::string& word : words_of(text)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos && !hints.empty() && !word.empty()) {
      hints.back().second += "," + word;
      continue;
    }
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      throw_bad_value(option, text, fmt::format("'{}' is no KEY=VALUE", word),
                      "Write for example cb_nodes=2,striping_factor=4");
    }
    const std::string key = word.substr(0, equals);
    if (std::any_of(hints.begin(), hints.end(), [&](const auto& hint) { return hint.first == key; })) {
      throw_bad_value(option, text, fmt::format("{} stands twice", key));
    }
    hints.emplace_back(key, word.substr(equals + 1));
  }
  return hints;
}

std::string parse_backend(const std::string& option, const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  std::string names;
  for (const storage::Entry& entry : storage::backends()) {
    if (entry.name == name) return text;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  }
  throw_bad_value(option, text, "it must be one of " + names);
}

Shift parse_shift(const std::string& option, const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (colon == std::string::npos || (kind != "ranks" && kind != "hosts")) {
    throw_bad_value(option, text, "it must be ranks:K or hosts:K", "Write for example hosts:1");
  }
  return {kind == "ranks" ? ReadShift::ranks : ReadShift::hosts,
          static_cast<std::int64_t>(parse_count(option, text.substr(colon + 1), 1, max_shift))};
}

}  // namespace leadline::bench::io

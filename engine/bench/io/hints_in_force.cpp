// SPDX-License-Identifier: Apache-2.0
// Keys matched by name; the lowest opener's answer travels as text.
#include "bench/io/hints_in_force.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace leadline::bench::io {
namespace {

/// No key and no value has such a character.
constexpr char separator = '\0';

std::string text_of(const storage::Hints& hints) {
  std::string text;
  for (const auto& [key, value] : hints) text += key + separator + value + separator;
  return text;
}

storage::Hints hints_of(std::string_view text) {
  const auto next = [&text] {
    const std::string_view word = text.substr(0, text.find(separator));
    text.remove_prefix(word.size() + 1);
    return std::string(word);
  };
  storage::Hints hints;
  while (!text.empty()) {
    std::string key = next();
    hints.emplace_back(std::move(key), next());
  }
  return hints;
}

}  // namespace

std::vector<HintInForce> compare_hints(const storage::Hints& asked, const storage::Hints& granted, bool is_confirmed) {
  const auto value_of = [](const storage::Hints& hints, const std::string& key) {
    const auto found = std::find_if(hints.begin(), hints.end(), [&](const auto& hint) { return hint.first == key; });
    return found == hints.end() ? std::string() : found->second;
  };
  std::vector<HintInForce> result;
  const auto add = [&](const std::string& key) {
    const bool is_there = std::any_of(result.begin(), result.end(), [&](const auto& hint) { return hint.key == key; });
    if (is_there) return;
    HintInForce hint{key, value_of(asked, key), value_of(granted, key), false};
    hint.is_confirmed = is_confirmed && !hint.granted.empty();
    result.push_back(std::move(hint));
  };
  for (const auto& [key, value] : asked) add(key);
  for (const auto& [key, value] : granted) add(key);
  return result;
}

std::vector<HintInForce> hints_in_force(const Stage& stage, const std::optional<storage::Hints>& own) {
  cluster::Cluster& cluster = stage.cluster;
  const bool speaks = own && stage.plan.layout.io_ranks().ranks.front() == cluster.rank();
  const std::string text = cluster.all_reduce(
      speaks ? text_of(*own) : std::string(),
      [](std::string left, std::string_view right) { return left.empty() ? std::string(right) : left; });
  return compare_hints(stage.request.hints, hints_of(text), stage.backend.confirms_hints());
}

}  // namespace leadline::bench::io

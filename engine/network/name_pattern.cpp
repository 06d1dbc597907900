// SPDX-License-Identifier: Apache-2.0
// Matches names of hosts with a regular expression, and groups those with the same parts.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <unordered_map>
#include <utility>

#include "network/lines.hpp"
#include "network/parse_network.hpp"

namespace leadline::network {
namespace {

// The library's matcher goes one call deeper for each character and bracket.
constexpr std::size_t most_pattern_bytes = 1000;
constexpr std::size_t most_matched_bytes = 255;
constexpr std::size_t most_pattern_groups = 16;

constexpr const char* pattern_example = R"(Write for example pattern:(?<rack>r\d+)n\d+)";

/// What the library can read, and the names of its groups.
struct NamePattern {
  std::string written;             ///< by the user
  std::string plain;               ///< without names
  std::vector<std::string> kinds;  ///< of all groups, the outermost first; empty: no name

  [[noreturn]] void refuse(const std::string& why) const { refuse_word("pattern:" + written, why, pattern_example); }
};

/// "(?<name>" becomes "(".
NamePattern without_names(const std::string& written) {
  NamePattern pattern{written, {}, {}};
  if (written.size() > most_pattern_bytes)
    pattern.refuse(fmt::format("it is longer than {} bytes", most_pattern_bytes));
  bool is_in_set = false;
  for (std::size_t at = 0; at < written.size(); ++at) {
    const char letter = written[at];
    pattern.plain += letter;
    if (letter == '\\' && at + 1 < written.size()) {
      pattern.plain += written[++at];
      if (!is_in_set && written[at] >= '1' && written[at] <= '9') {
        pattern.refuse("it refers back to a group, which is not supported");
      }
    } else if (letter == '[' || letter == ']') {
      is_in_set = letter == '[';
    } else if (letter == '(' && !is_in_set) {
      const bool is_special = written.compare(at + 1, 1, "?") == 0;
      if (!is_special) pattern.kinds.emplace_back();
      if (written.compare(at + 1, 2, "?<") != 0) continue;
      const std::size_t end = written.find('>', at);
      const std::string name = written.substr(at + 3, end == std::string::npos ? end : end - at - 3);
      if (end == std::string::npos || name.empty() || name.find_first_of("()[]?*+\\=!") != std::string::npos) {
        pattern.refuse(fmt::format("{} is no name of a group", shown(name)));
      }
      pattern.kinds.push_back(name);
      at = end;
    }
  }
  return pattern;
}

#if defined(__GLIBCXX__)
/// The library's other matcher tries one way after the other: with a repetition in a repetition it would not come back.
constexpr auto in_bounded_time = std::regex_constants::__polynomial;
#else  // libc++ gives up by itself
constexpr std::regex_constants::syntax_option_type in_bounded_time{};
#endif

std::regex compiled(const NamePattern& pattern) {
  try {
    const auto kind = std::regex::ECMAScript | std::regex::optimize | in_bounded_time;
    std::regex expression(pattern.plain, kind);
    if (expression.mark_count() != pattern.kinds.size()) pattern.refuse("its groups cannot be distinguished");
    return expression;
  } catch (const std::regex_error&) {
    pattern.refuse("it is no regular expression");
  }
}

/// The texts of all groups; nothing where the name does not match.
std::optional<std::vector<std::string>> parts_of(const NamePattern& pattern, const std::regex& expression,
                                                 const std::string& name) {
  if (name.size() > most_matched_bytes) return std::nullopt;
  try {
    std::smatch match;
    if (!std::regex_match(name, match, expression)) return std::nullopt;
    std::vector<std::string> parts;
    for (std::size_t group = 1; group < match.size(); ++group) {
      if (match.length(group) == 0) {
        pattern.refuse(fmt::format("group {} is empty in the name {}", group, shown(name)));
      }
      parts.push_back(match.str(group));
    }
    return parts;
  } catch (const std::regex_error&) {
    pattern.refuse(fmt::format("matching it with {} takes too long", shown(name)));
  }
}

std::vector<std::vector<std::string>> match_all(const NamePattern& pattern, const std::vector<std::string>& hosts) {
  const std::regex expression = compiled(pattern);
  std::vector<std::vector<std::string>> all;
  std::string missing;
  std::size_t num_missing = 0;
  for (const std::string& host : hosts) {
    auto parts = parts_of(pattern, expression, host);
    if (!parts) parts = parts_of(pattern, expression, host.substr(0, host.find('.')));
    if (!parts && ++num_missing <= 3) missing += (missing.empty() ? "" : ", ") + shown(host);
    all.push_back(std::move(parts).value_or(std::vector<std::string>{}));
  }
  if (num_missing > 3) missing += fmt::format(" and {} more", num_missing - 3);
  if (num_missing > 0) {
    pattern.refuse(fmt::format("{} of the run's {} hosts do not match: {}", num_missing, hosts.size(), missing));
  }
  return all;
}

std::string kind_at(const NamePattern& pattern, std::size_t level) {
  const std::string& own = pattern.kinds[pattern.kinds.size() - 1 - level];
  if (!own.empty()) return own;
  return level == 0 ? "name group" : fmt::format("level-{} name group", level + 1);
}

/// Between the parts of a group's name; one that no part has in it, so that different parts have different names.
std::string separator_of(const std::vector<std::vector<std::string>>& parts) {
  const auto is_used = [&](char letter) {
    return std::ranges::any_of(parts, [&](const std::vector<std::string>& of_host) {
      return std::ranges::any_of(of_host, [&](const std::string& part) { return part.find(letter) != part.npos; });
    });
  };
  return !is_used('-') ? "-" : !is_used('/') ? "/" : "\n";  // of which none has any
}

Level level_of_parts(const std::vector<std::vector<std::string>>& parts, std::string kind, std::size_t num_parts) {
  const std::string separator = separator_of(parts);
  Level level{std::move(kind), {}, {}};
  std::unordered_map<std::string, std::uint32_t> group_of;
  for (const auto& of_host : parts) {
    std::string name = of_host.front();
    for (std::size_t part = 1; part < num_parts; ++part) name += separator + of_host[part];
    const auto [group, is_new] = group_of.try_emplace(name, static_cast<std::uint32_t>(level.names.size()));
    if (is_new) level.names.push_back(std::move(name));
    level.group_of.push_back(group->second);
  }
  return level;
}

}  // namespace

Network by_pattern(const std::string& written, const std::vector<std::string>& hosts) {
  const NamePattern pattern = without_names(written);
  const std::size_t num_levels = pattern.kinds.size();
  if (num_levels == 0) pattern.refuse("it has no group, which would say what hosts have in common");
  if (num_levels > most_pattern_groups) pattern.refuse(fmt::format("it has more than {} groups", most_pattern_groups));
  const auto parts = match_all(pattern, hosts);
  Network network{"pattern:" + written, hosts, {}, {}};
  for (std::size_t level = 0; level < num_levels; ++level) {
    network.levels.push_back(level_of_parts(parts, kind_at(pattern, level), num_levels - level));
  }
  return network;
}

}  // namespace leadline::network

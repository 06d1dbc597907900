// SPDX-License-Identifier: Apache-2.0
// Suggests names by edit distance and by earlier spellings.
#include "cli/suggestion.hpp"

#include <algorithm>
#include <cstddef>

namespace leadline::cli {
namespace {

/// Earlier spellings, and those of other tools.
struct OtherName {
  const char* other;
  const char* name;
};

constexpr OtherName other_names[] = {
    {"--size", "--message-size"},
    {"--msg-size", "--message-size"},
    {"--retest-slowest", "--retest"},
    {"--max-rounds", "--rounds"},
    {"--per-host", "--active-ranks-per-host"},
    {"--per-host", "--ranks-per-host"},
    {"--ppn", "--ranks-per-host"},
    {"--slow-below", "--threshold"},
    {"--topology", "--pattern"},
    {"--network", "--topology"},
    {"--out", "--output"},
    {"--force", "--overwrite"},
    {"--silent", "--quiet"},
};

/// Letters to insert, to remove or to replace, and neighbours to swap.
std::size_t edit_distance(const std::string& one, const std::string& other) {
  std::vector<std::vector<std::size_t>> least(one.size() + 1, std::vector<std::size_t>(other.size() + 1));
  for (std::size_t i = 0; i <= one.size(); ++i) {
    for (std::size_t j = 0; j <= other.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = least[i - 1][j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      least[i][j] = std::min({replaced, least[i - 1][j] + 1, least[i][j - 1] + 1});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
      }
    }
  }
  return least.back().back();
}

/// Whether `part` ("size") is one of the words of `option` ("--message-size").
bool has_word(const std::string& option, const std::string& part) {
  return ("-" + option + "-").find("-" + part + "-") != std::string::npos;
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(word, name);
    if (distance >= least) continue;
    least = distance;
    best = name;
  }
  return best;
}

std::string meant_option(const std::string& option, const std::vector<std::string>& known) {
  for (const OtherName& entry : other_names) {
    if (option == entry.other && std::ranges::find(known, entry.name) != known.end()) return entry.name;
  }
  if (std::string near = nearest(option, known); !near.empty()) return near;
  const std::size_t first_letter = option.find_first_not_of('-');
  const std::string part = first_letter == std::string::npos ? "" : option.substr(first_letter);
  const auto found =
      std::ranges::find_if(known, [&](const std::string& name) { return part.size() > 2 && has_word(name, part); });
  return found != known.end() ? *found : "";
}

}  // namespace leadline::cli

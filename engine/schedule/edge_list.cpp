// SPDX-License-Identifier: Apache-2.0
// Reads names of topologies and lists of edges, and says which word is wrong and what it may be.
#include "schedule/edge_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "schedule/pattern.hpp"

namespace leadline::schedule {
namespace {

constexpr const char* known_words =
    "Known are star, star2, star:RANK, star2:RANK, star-each, star2-each, complete, complete2 (also chaos, chaos2), "
    "ring, ring2, torus-2d, torus-3d, torus:4x4x2, hypercube, tree, halves, incast:K and outcast:K";

/// What may stand behind a family's name.
enum class Tail : std::uint8_t { nothing, centre, extents, num_hot };

struct Family {
  std::string_view word;
  Shape shape;
  std::optional<ChannelMode> mode;  ///< its own; nothing where the option's counts
  Tail tail = Tail::nothing;
  std::size_t num_open_extents = 0;
};

constexpr std::array<Family, 16> families{{
    {"star", Shape::star, ChannelMode::answered, Tail::centre},
    {"star2", Shape::star, ChannelMode::both_ways, Tail::centre},
    {"complete", Shape::complete, ChannelMode::answered},
    {"complete2", Shape::complete, ChannelMode::both_ways},
    {"chaos", Shape::complete, ChannelMode::answered},
    {"chaos2", Shape::complete, ChannelMode::both_ways},
    {"ring", Shape::ring, ChannelMode::phased},
    {"ring2", Shape::ring, ChannelMode::both_ways},
    {"torus-2d", Shape::torus, std::nullopt, Tail::nothing, 2},
    {"torus-3d", Shape::torus, std::nullopt, Tail::nothing, 3},
    {"torus", Shape::torus, std::nullopt, Tail::extents},
    {"hypercube", Shape::hypercube, std::nullopt},
    {"tree", Shape::tree, std::nullopt},
    {"halves", Shape::halves, std::nullopt},
    {"incast", Shape::incast, ChannelMode::one_way, Tail::num_hot},
    {"outcast", Shape::outcast, ChannelMode::one_way, Tail::num_hot},
}};

constexpr std::string_view each = "-each";

/// A plain non-negative decimal number.
std::optional<std::int32_t> to_number(std::string_view text) {
  std::int32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool is_plain = !text.empty() && text.front() != '-' && error == std::errc{} && stop == end;
  return is_plain ? std::optional(number) : std::nullopt;
}

const Family* find_family(std::string_view word) {
  const auto* const found = std::ranges::find(families, word, &Family::word);
  return found == families.end() ? nullptr : found;
}

/// "star:3" -> "star", and "star-each" -> "star".
std::string_view family_word(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(':'));
  return word.ends_with(each) ? word.substr(0, word.size() - each.size()) : word;
}

std::vector<std::int32_t> parse_extents(const OptionText& word, std::string_view text) {
  std::vector<std::int32_t> extents;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    const std::string_view token = text.substr(at, end - at);
    const auto extent = to_number(token);
    if (!extent || *extent < 1) {
      word.refuse(fmt::format("'{}' is no extent of a torus", token), "Write for example torus:4x4x2");
    }
    extents.push_back(*extent);
    at = end + 1;
  }
  return extents;
}

/// `text`: what stands behind the colon.
void read_tail(const OptionText& word, const Family& family, std::string_view text, TopologySpec& spec) {
  const auto number = to_number(text);
  switch (family.tail) {
    case Tail::nothing:
      word.refuse(fmt::format("nothing may follow '{}'", family.word), known_words);
    case Tail::centre:
      if (!number) word.refuse(fmt::format("'{}' is no rank", text), "Write for example star:3, its centre is rank 3");
      spec.centre = *number;
      return;
    case Tail::extents:
      spec.extents = parse_extents(word, text);
      return;
    case Tail::num_hot:
      if (!number || *number < 1) {
        word.refuse(fmt::format("'{}' is no number of hot ranks", text), fmt::format("Write {}:2", family.word));
      }
      spec.num_hot = *number;
      return;
  }
}

std::vector<TopologySpec> every_centre(const OptionText& word, const Family& family, const TopologySpec& spec,
                                       int num_ranks) {
  if (family.shape != Shape::star) word.refuse("only a star has a centre to be each in turn", known_words);
  std::vector<TopologySpec> specs(static_cast<std::size_t>(num_ranks), spec);
  for (std::int32_t rank = 0; rank < num_ranks; ++rank) {
    TopologySpec& own = specs[static_cast<std::size_t>(rank)];
    own.name = fmt::format("{}:{}", family.word, rank);
    own.centre = rank;
  }
  return specs;
}

/// A line of an edges file, for messages.
struct Line {
  const std::string& file;
  std::size_t number = 0;
  int num_ranks = 0;

  [[noreturn]] void refuse(const std::string& why, const std::string& hint = {}) const {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} line {} is no edge", file, number), why, hint);
  }
};

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  const std::size_t end = text.find_last_not_of(blanks) + 1;
  return text.substr(begin, std::max(begin, end) - begin);
}

/// What stands on both sides of the first comma, or between blanks where there is none.
std::vector<std::string_view> words_of(std::string_view line) {
  if (const std::size_t comma = line.find(','); comma != std::string_view::npos) {
    return {trimmed(line.substr(0, comma)), trimmed(line.substr(comma + 1))};
  }
  std::vector<std::string_view> words;
  for (std::string_view rest = trimmed(line); !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(blanks), rest.size());
    words.push_back(rest.substr(0, end));
    rest = trimmed(rest.substr(end));
  }
  return words;
}

std::int32_t parse_rank(const Line& line, std::string_view token) {
  const auto rank = to_number(token);
  if (!rank) line.refuse(fmt::format("'{}' is no rank", token), "Write two ranks a line, for example 0 3");
  if (*rank >= line.num_ranks) {
    line.refuse(fmt::format("there is no rank {}", *rank),
                fmt::format("Ranks are numbered 0 to {}", line.num_ranks - 1));
  }
  return *rank;
}

/// Nothing for a line without words.
std::optional<Edge> parse_line(const Line& line, std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.empty()) return std::nullopt;
  if (words.size() == 1) line.refuse(fmt::format("'{}' is a single rank", words.front()), "Write two ranks a line");
  if (words.size() > 2) line.refuse(fmt::format("'{}' is one too many", words[2]), "Write two ranks a line");
  const Edge edge{parse_rank(line, words[0]), parse_rank(line, words[1])};
  if (edge.first == edge.second) line.refuse(fmt::format("it joins rank {} with itself", edge.first));
  return edge;
}

std::uint64_t key_of(const Edge& edge) {
  const auto low = static_cast<std::uint64_t>(std::min(edge.first, edge.second));
  return low << 32 | static_cast<std::uint64_t>(std::max(edge.first, edge.second));
}

}  // namespace

std::vector<TopologySpec> parse_topology(const std::string& option, std::string_view text, ChannelMode mode,
                                         int num_ranks) {
  const OptionText word{option, text};
  const std::size_t colon = text.find(':');
  const bool is_each = text.substr(0, colon).ends_with(each);
  const Family* const family = find_family(family_word(text));
  if (family == nullptr) word.refuse("there is no such topology", known_words);

  TopologySpec spec;
  spec.name = std::string(text);
  spec.shape = family->shape;
  spec.mode = family->mode.value_or(mode);
  spec.extents.assign(family->num_open_extents, 0);
  if (is_each && colon != std::string_view::npos) word.refuse("every rank is its centre, so none can be named", {});
  if (is_each) return every_centre(word, *family, spec, num_ranks);
  if (colon != std::string_view::npos) {
    read_tail(word, *family, text.substr(colon + 1), spec);
  } else if (family->tail == Tail::extents) {
    word.refuse("it has no extents", "Write for example torus:4x4x2, or torus-2d and torus-3d to have them chosen");
  }
  return {spec};
}

bool takes_mode(std::string_view text) {
  const Family* const family = find_family(family_word(text));
  return family != nullptr && !family->mode;
}

std::vector<Edge> parse_edges(const std::string& file, std::string_view text, int num_ranks) {
  std::vector<Edge> edges;
  std::unordered_map<std::uint64_t, std::size_t> line_of;
  Line line{file, 0, num_ranks};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view whole = text.substr(at, end - at);
    at = end + 1;
    ++line.number;
    const auto edge = parse_line(line, whole.substr(0, whole.find('#')));
    if (!edge) continue;
    const auto [first, is_new] = line_of.try_emplace(key_of(*edge), line.number);
    if (!is_new) {
      line.refuse(fmt::format("'{} {}' is in line {} already", edge->first, edge->second, first->second),
                  "The order of its ranks only says which one starts");
    }
    edges.push_back(*edge);
  }
  if (edges.empty()) {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} has no edge in it", file), {},
                "Write two ranks a line, for example 0 3");
  }
  return edges;
}

}  // namespace leadline::schedule

// SPDX-License-Identifier: Apache-2.0
// Reads the topology file format of ibnetdiscover(8), with or without grouping by chassis.
#include "network/ib_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "network/lines.hpp"
#include "network/refusal.hpp"

namespace leadline::network {
namespace {

constexpr const char* complete_output = "Is it the complete output of ibnetdiscover, without -l or -p?";

struct IbReader {
  const std::string& file;
  IbFabric fabric{};
  std::unordered_map<std::string_view, std::uint32_t> number_of{};
  std::optional<std::uint32_t> own{};  ///< whose ports come now
};

/// What stands between the first quote and the next one; nothing where there are no two.
std::optional<std::string_view> quoted(std::string_view text) {
  const std::size_t begin = text.find('"');
  const std::size_t end = begin == std::string_view::npos ? begin : text.find('"', begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(begin + 1, end - begin - 1);
}

/// Between the first and the last quote behind the #: a description may have quotes of its own.
std::string_view description_in(std::string_view line) {
  line.remove_prefix(std::min(line.find('#'), line.size()));
  const std::size_t begin = line.find('"'), end = line.rfind('"');
  if (begin == end) return {};
  const std::string_view description = line.substr(begin + 1, end - begin - 1);
  const std::size_t first = std::min(description.find_first_not_of(' '), description.size());
  return description.substr(first, description.find_last_not_of(' ') + 1 - first);
}

/// The number in the brackets that the text begins with.
std::optional<std::uint32_t> bracketed(std::string_view text) {
  const std::size_t close = text.find(']');
  if (!text.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text.data() + close;
  const auto [stop, error] = std::from_chars(text.data() + 1, end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

std::optional<IbKind> kind_of_stanza(std::string_view word) {
  if (word == "Switch") return IbKind::fabric_switch;
  if (word == "Ca") return IbKind::adapter;
  return word == "Rt" ? std::optional(IbKind::router) : std::nullopt;
}

IbKind kind_of_id(std::string_view id) {
  if (id.starts_with("S-")) return IbKind::fabric_switch;
  return id.starts_with("H-") ? IbKind::adapter : IbKind::router;
}

/// "Switch 36 ...", not only the word.
bool is_stanza(const std::vector<std::string_view>& words) {
  return words.size() >= 3 && kind_of_stanza(words[0]) && words[2].starts_with('"') &&
         words[1].find_first_not_of("0123456789") == std::string_view::npos;
}

std::uint32_t node_of_id(IbReader& reader, std::string_view id, std::size_t line) {
  IbFabric& fabric = reader.fabric;
  const auto [node, is_new] = reader.number_of.try_emplace(id, static_cast<std::uint32_t>(fabric.nodes.size()));
  if (is_new) fabric.nodes.push_back({id, {}, kind_of_id(id), line, false});
  return node->second;
}

void begin_stanza(IbReader& reader, const Line& line, std::string_view text, IbKind kind) {
  const auto id = quoted(text.substr(0, text.find('#')));
  if (!id || id->empty()) line.refuse("no name in quotes", complete_output);
  reader.own = node_of_id(reader, *id, line.number);
  IbNode& node = reader.fabric.nodes[*reader.own];
  if (node.has_lines) line.refuse(fmt::format("{} is listed twice", shown(*id)), "Give it the output of one run");
  node.has_lines = true;
  node.kind = kind;
  if (const auto description = description_in(text); !description.empty()) node.description = description;
}

void add_port(IbReader& reader, const Line& line, std::string_view text) {
  if (!reader.own) line.refuse("a port of nobody", complete_output);
  const auto port = bracketed(text);
  const auto other = quoted(text.substr(0, text.find('#')));
  if (!port || !other || other->empty()) line.refuse("it tells no port and who is there", complete_output);
  const auto other_port = bracketed(text.substr(text.find(*other) + other->size() + 1));
  if (!other_port) line.refuse(fmt::format("no port of {}", shown(*other)), complete_output);
  const std::uint32_t node = node_of_id(reader, *other, line.number);
  reader.fabric.cables.push_back({*reader.own, *port, node, *other_port, line.number});
  // A switch tells what it sees; an adapter's own lines come later, or not at all.
  IbNode& seen = reader.fabric.nodes[node];
  if (seen.description.empty()) seen.description = description_in(text);
}

}  // namespace

bool is_ib_line(std::string_view line) {
  constexpr std::array<std::string_view, 6> heads{
      "vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid="};
  return std::ranges::any_of(heads, [&](std::string_view head) { return line.starts_with(head); }) ||
         is_stanza(words_of(line));
}

IbFabric read_ib_fabric(const std::string& file, std::string_view text) {
  IbReader reader{file};
  Lines lines(text);
  while (const auto next = lines.next()) {
    const Line line{file, lines.number()};
    if (next->starts_with('[')) {
      add_port(reader, line, *next);
      continue;
    }
    const auto words = words_of(next->substr(0, next->find('#')));
    if (is_stanza(words)) begin_stanza(reader, line, *next, *kind_of_stanza(words[0]));
  }
  for (const IbNode& node : reader.fabric.nodes) {
    if (node.kind != IbKind::fabric_switch || node.has_lines) continue;
    Line{file, node.first_line}.refuse(fmt::format("switch {} has no lines of its own", shown(node.id)),
                                       complete_output);
  }
  return std::move(reader.fabric);
}

}  // namespace leadline::network

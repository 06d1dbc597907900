// SPDX-License-Identifier: Apache-2.0
// Distinguishes formulas, patterns and files, and the kinds of file by their contents.
#include "network/parse_network.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "network/ib_topology.hpp"
#include "network/lines.hpp"
#include "network/network.hpp"

namespace leadline::network {
namespace {

constexpr std::size_t most_file_bytes = std::size_t{1} << 28;

constexpr const char* known_files = "Known are Slurm's topology.conf, the output of ibnetdiscover, and lists of cables";

/// Bytes of the character that begins here; 0: it is none of UTF-8, or one that no text has.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 ? (first == 0x7F ? 0 : 1) : (first >= '\t' && first <= '\r' ? 1 : 0);
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || size > text.size()) return 0;
  for (std::size_t index = 1; index < size; ++index) {
    if ((byte(index) & 0xC0U) != 0x80) return 0;
  }
  // Longer than needed, halves of pairs, beyond the last one.
  const bool is_odd = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) ||
                      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90);
  return is_odd ? 0 : size;
}

void expect_text(const std::string& file, std::string_view text) {
  std::size_t line = 1;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) Line{file, line}.refuse("it is no text", known_files);
    if (text.front() == '\n') ++line;
    text.remove_prefix(size);
  }
}

/// The first line that only one kind has decides; a list of cables has none such.
TopologyFile kind_of_file(std::string_view text) {
  Lines lines(text);
  while (const auto line = lines.next()) {
    const auto words = words_of(line->substr(0, line->find('#')));
    const std::string first = words.empty() ? std::string() : lowered(words.front());
    if (first.starts_with("switchname=") || first.starts_with("blockname=")) return TopologyFile::slurm;
    if (is_ib_line(*line)) return TopologyFile::ib;
  }
  return TopologyFile::edges;
}

}  // namespace

TopologyFile kind_of_topology(const std::string& file, std::string_view& text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  expect_text(file, text);
  if (text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos) refuse_file(file, "it is empty", known_files);
  return kind_of_file(text);
}

Network parse_topology(const std::string& file, std::string_view text) {
  switch (kind_of_topology(file, text)) {
    case TopologyFile::slurm:
      return parse_slurm_topology(file, text);
    case TopologyFile::ib:
      return parse_ib_topology(file, text);
    case TopologyFile::edges:
      break;
  }
  return parse_edge_topology(file, text);
}

std::string read_text(const std::string& path, const std::string& hint) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitStatus::bad_command_line, fmt::format("cannot read '{}'", path), why, hint);
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(system_error_text(error ? error.value() : ENOENT));
  // A pipe or a device may never end.
  if (!std::filesystem::is_regular_file(status)) refuse("it is no file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  for (char piece[1 << 16]; file && text.size() <= most_file_bytes;) {
    file.read(piece, sizeof piece);
    text.append(piece, static_cast<std::size_t>(file.gcount()));
  }
  if (text.size() > most_file_bytes) refuse(fmt::format("it is larger than {} MiB", most_file_bytes >> 20));
  if (!file.eof()) refuse(system_error_text(errno != 0 ? errno : EIO));
  return text;
}

Network read_topology(const std::string& path) { return parse_topology(path, read_text(path, known_files)); }

Network parse_network(const std::string& word, const std::vector<std::string>& hosts) {
  constexpr std::string_view pattern = "pattern:";
  if (word == no_network) return {};
  if (is_formula(word)) return for_hosts(formula(word), hosts);
  if (word.starts_with(pattern)) return by_pattern(word.substr(pattern.size()), hosts);
  std::error_code ignored;
  if (word.empty() || !std::filesystem::exists(word, ignored)) {
    refuse_word(word, "neither a kind of network nor a file",
                fmt::format("Write {}, pattern:REGEX, none, or the name of a file", formula_forms()));
  }
  return for_hosts(read_topology(word), hosts);
}

}  // namespace leadline::network

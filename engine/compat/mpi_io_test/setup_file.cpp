// SPDX-License-Identifier: Apache-2.0
// The lines of a setup file: words, quotes and comments.
#include <fmt/format.h>

#include <string_view>

#include "compat/mpi_io_test/option_table.hpp"
#include "core/error.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

[[noreturn]] void refuse_file(const std::string& origin, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, fmt::format("-setup cannot be read ({})", origin), why, hint);
}

bool is_blank(char letter) { return letter == ' ' || letter == '\t'; }

/// Words of one line. Quotes may begin and end within a word.
std::vector<std::string> words_in(std::string_view line, const std::string& origin) {
  std::vector<std::string> words;
  bool is_in_word = false;
  char quote = '\0';
  for (const char letter : line) {
    if (static_cast<unsigned char>(letter) < ' ' && letter != '\t') {
      refuse_file(origin, "there is a byte that is no text", "Is it the right file?");
    }
    if (quote == '\0' && is_blank(letter)) {
      is_in_word = false;
      continue;
    }
    if (quote == '\0' && letter == '#' && !is_in_word) break;
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (quote == '\0' && (letter == '"' || letter == '\'')) {
      quote = letter;
    } else if (letter == quote) {
      quote = '\0';
    } else {
      words.back() += letter;
    }
  }
  if (quote != '\0') refuse_file(origin, fmt::format("a quotation mark {} has no second one", quote), "Add it");
  return words;
}

}  // namespace

std::vector<Given> options_in_setup(const std::string& path, const std::string& text) {
  std::vector<Given> all;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string origin = fmt::format("{}, line {}", path, number);
    std::vector<Given> in_line = options_in(words_in(line, origin), origin);
    if (in_line.size() > 1) {
      refuse_file(origin, fmt::format("{} stands behind {}", in_line[1].option->name, in_line[0].option->name),
                  "Write one option a line");
    }
    for (Given& given : in_line) {
      if (std::string_view(given.option->name) == "setup") {
        refuse_file(origin, "a setup file cannot name another one", "Put all settings into one file");
      }
      all.push_back(std::move(given));
    }
  }
  return all;
}

std::string quoted(const std::string& word) {
  const bool is_plain = !word.empty() && word.find_first_of(" \t\"'#") == std::string::npos;
  if (is_plain) return word;
  std::string text = "\"";
  for (const char letter : word) {
    if (letter == '"') {
      text += R"("'"'")";
    } else {
      text += letter;
    }
  }
  return text + '"';
}

}  // namespace leadline::compat::mpi_io_test

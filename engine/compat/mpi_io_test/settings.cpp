// SPDX-License-Identifier: Apache-2.0
// Reads a setup file, and merges its settings with those of the command line.
#include "compat/mpi_io_test/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

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

constexpr std::size_t width_of_names = 13, width_of_settings = 39;

std::string value_text(const GivenOption& given) {
  if (given.option->follows == Follows::value) return quoted(given.value);
  std::string text;
  for (const auto& [key, value] : given.hints) {
    // As k=v where a value alone would be taken for something else.
    const bool is_glued = value.empty() || value.starts_with("-") || key.find('=') != std::string::npos;
    text += (text.empty() ? "" : " ") + (is_glued ? quoted(key + "=" + value) : quoted(key) + " " + quoted(value));
  }
  return text;
}

std::string line_of(const std::string& setting, const std::string& origin) {
  return fmt::format("{:{}}  # {}\n", setting, width_of_settings, origin);
}

}  // namespace

std::vector<GivenOption> options_in_setup(const std::string& path, const std::string& text) {
  std::vector<GivenOption> all;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string origin = fmt::format("{}, line {}", path, number);
    std::vector<GivenOption> in_line = options_in(words_in(line, origin), origin);
    if (in_line.size() > 1) {
      refuse_file(origin, fmt::format("{} follows {}", in_line[1].option->name, in_line[0].option->name),
                  "Write one option a line");
    }
    for (GivenOption& given : in_line) {
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

Settings::Settings(const std::vector<std::string>& arguments, const ReadSetup& read_setup) {
  const std::span<const std::string> words = std::span(arguments).subspan(std::min<std::size_t>(arguments.size(), 1));
  std::vector<GivenOption> of_line = options_in(words);
  const auto is_setup = [](const GivenOption& given) { return std::string_view(given.option->name) == "setup"; };
  if (const auto setup = std::ranges::find_if(of_line, is_setup); setup != of_line.end()) {
    if (std::ranges::count_if(of_line, is_setup) > 1) {
      throw Error(ExitStatus::bad_command_line, "-setup is given twice", "there is one setup file", "Leave one out");
    }
    for (GivenOption& given : options_in_setup(setup->value, read_setup(setup->value))) take(std::move(given));
  }
  for (GivenOption& given : of_line) take(std::move(given));
}

void Settings::take(GivenOption given) {
  const auto [position, is_first] = given_.try_emplace(given.option->name, given);
  if (is_first) return;
  std::vector<std::pair<std::string, std::string>> hints = std::move(position->second.hints);
  for (const auto& hint : given.hints) {
    const auto same = std::ranges::find_if(hints, [&](const auto& one) { return one.first == hint.first; });
    if (same == hints.end()) {
      hints.push_back(hint);
    } else {
      same->second = hint.second;
    }
  }
  if (!hints.empty()) given.origin = position->second.origin + "; " + given.origin;
  given.hints = std::move(hints);
  position->second = std::move(given);
}

const GivenOption* Settings::find(std::string_view name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

bool Settings::has(std::string_view name) const {
  const GivenOption* const given = find(name);
  return given != nullptr && (given->option->follows != Follows::nothing || given->value == "1");
}

std::string Settings::value(std::string_view name, const std::string& otherwise) const {
  const GivenOption* const given = find(name);
  return given == nullptr ? otherwise : given->value;
}

std::string Settings::text(const std::map<std::string, std::string>& defaults) const {
  std::string text;
  for (const Option& option : options()) {
    const std::string name = option.name;
    if (name == "setup" || name == "print_setup" || name == "help") continue;
    if (const GivenOption* const given = find(name); given == nullptr) {
      const auto found = defaults.find(name);
      if (found == defaults.end()) continue;
      text += line_of(fmt::format("-{:{}} {}", name, width_of_names, quoted(found->second)), "default");
    } else if (option.follows == Follows::nothing) {
      text += line_of(fmt::format("-{}{}", name, given->value == "1" ? "" : "=0"), given->origin);
    } else {
      text += line_of(fmt::format("-{:{}} {}", name, width_of_names, value_text(*given)), given->origin);
    }
  }
  return text;
}

}  // namespace leadline::compat::mpi_io_test

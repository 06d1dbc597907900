// SPDX-License-Identifier: Apache-2.0
// The setup file goes first, wherever it is named; of two values the later one counts, of hints each key's.
#include "compat/mpi_io_test/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/error.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

constexpr std::size_t width_of_names = 13, width_of_settings = 39;

std::string value_text(const Given& given) {
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

Settings::Settings(const std::vector<std::string>& arguments, const ReadSetup& read_setup) {
  const std::span<const std::string> words = std::span(arguments).subspan(std::min<std::size_t>(arguments.size(), 1));
  std::vector<Given> of_line = options_in(words);
  const auto is_setup = [](const Given& given) { return std::string_view(given.option->name) == "setup"; };
  if (const auto setup = std::ranges::find_if(of_line, is_setup); setup != of_line.end()) {
    if (std::ranges::count_if(of_line, is_setup) > 1) {
      throw Error(ExitStatus::bad_command_line, "-setup is given twice", "there is one setup file", "Leave one out");
    }
    for (Given& given : options_in_setup(setup->value, read_setup(setup->value))) take(std::move(given));
  }
  for (Given& given : of_line) take(std::move(given));
}

void Settings::take(Given given) {
  const auto [place, is_first] = given_.try_emplace(given.option->name, given);
  if (is_first) return;
  std::vector<std::pair<std::string, std::string>> hints = std::move(place->second.hints);
  for (const auto& hint : given.hints) {
    const auto same = std::ranges::find_if(hints, [&](const auto& one) { return one.first == hint.first; });
    if (same == hints.end()) {
      hints.push_back(hint);
    } else {
      same->second = hint.second;
    }
  }
  if (!hints.empty()) given.origin = place->second.origin + "; " + given.origin;
  given.hints = std::move(hints);
  place->second = std::move(given);
}

const Given* Settings::find(std::string_view name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

bool Settings::has(std::string_view name) const {
  const Given* const given = find(name);
  return given != nullptr && (given->option->follows != Follows::nothing || given->value == "1");
}

std::string Settings::value(std::string_view name, const std::string& otherwise) const {
  const Given* const given = find(name);
  return given == nullptr ? otherwise : given->value;
}

std::string Settings::text(const std::map<std::string, std::string>& defaults) const {
  std::string text;
  for (const Option& option : options()) {
    const std::string name = option.name;
    if (name == "setup" || name == "print_setup" || name == "help") continue;
    if (const Given* const given = find(name); given == nullptr) {
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

// SPDX-License-Identifier: Apache-2.0
// Options on CLI11, with help texts that fit a screen.
#include "cli/declared_options.hpp"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/arguments.hpp"

namespace leadline::cli {
namespace {

/// Breaks a help text at blanks, so that it fits beside the names of the options on a screen of 110 characters.
std::string wrapped(const std::string& text) {
  constexpr std::size_t width = 80;
  std::string result;
  for (std::size_t line_start = 0, at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    if (end - line_start > width && at > line_start) {
      result.back() = '\n';
      line_start = at;
    }
    result += text.substr(at, end - at + 1);
    if (end < text.size() && text[end] == '\n') line_start = end + 1;
    at = end + 1;
  }
  return result;
}

}  // namespace

void DeclaredOptions::value(const std::string& name, const char* type, const std::string& help, const Take& take) {
  app_.add_option_function<std::string>(
          name, [name, take](const std::string& text) { take(name, text); }, wrapped(help))
      ->type_name(type)
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
      ->group(group_);
}

void DeclaredOptions::list(const std::string& name, const char* type, const std::string& help, const Take& take) {
  app_.add_option_function<std::vector<std::string>>(
          name,
          [name, take](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) take(name, text);
          },
          wrapped(help))
      ->type_name(type)
      ->allow_extra_args(false)
      ->group(group_);
}

void DeclaredOptions::count(const std::string& name, const std::string& help, std::uint64_t min, std::uint64_t max,
                            const std::function<void(std::uint64_t)>& take) {
  value(name, "N", help,
        [=](const std::string& option, const std::string& text) { take(parse_count(option, text, min, max)); });
}

void DeclaredOptions::flag(const std::string& name, const std::string& help, bool& member) {
  app_.add_flag(name, member, wrapped(help))->multi_option_policy(CLI::MultiOptionPolicy::Throw)->group(group_);
}

}  // namespace leadline::cli

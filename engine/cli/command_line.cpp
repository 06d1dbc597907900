// SPDX-License-Identifier: Apache-2.0
// CLI11's errors in our grammar.
#include "cli/command_line.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "core/error.hpp"

namespace leadline::cli {

void parse_command_line(CLI::App& app, const std::vector<std::string>& arguments) {
  app.set_help_flag("-h,--help", "print this help");
  for (CLI::Option* option : app.get_options()) option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  std::vector<std::string> words(arguments.rbegin(), arguments.rend() - 2);  // CLI11 takes them last first
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    throw HelpWanted{app.help()};
  } catch (const CLI::ParseError& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    throw Error(ExitStatus::bad_command_line, text, "", "See " + app.get_name() + " --help");
  }
}

}  // namespace leadline::cli

// SPDX-License-Identifier: Apache-2.0
// `leadline transports`: every transport, whether it can be used here, and if not, why.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/link_options.hpp"
#include "cli/standard_streams.hpp"
#include "core/error.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

int transports_command(const std::vector<std::string>& arguments) {
  if (arguments.size() > 2) {
    const std::string& word = arguments[2];
    if (word == "-h" || word == "--help") {
      throw HelpWanted{
          "Usage: leadline transports\n\nLists all transports; for one that cannot be used here, the reason.\n"};
    }
    throw Error(ExitStatus::bad_command_line, "'leadline transports' takes no '" + word + "'", "", "Leave it out");
  }
  std::string text;
  for (const transport::Availability& its : transport::probe_all()) {
    text += fmt::format("{:<6} {:<12} {}\n", its.entry->name, its.file->stem, its.entry->purpose);
    text += fmt::format("{:<19} {}\n", "",
                        its.why_absent.empty() ? "can be loaded: " + its.path : "not here: " + its.why_absent);
  }
  say(text);
  return 0;
}

}  // namespace leadline::cli

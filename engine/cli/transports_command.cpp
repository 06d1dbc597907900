// SPDX-License-Identifier: Apache-2.0
// `leadline transports`: every transport, whether it can be used here, and if not, why.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/link_options.hpp"
#include "cli/standard_streams.hpp"
#include "cli/support.hpp"
#include "core/error.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

namespace {

constexpr const char* transports_help =
    "Usage: leadline transports [--support]\n\n"
    "Lists all transports; for one that cannot be used here, the reason.\n\n"
    "Options:\n"
    "  --support   instead, what each of them can do, as a table in Markdown\n"
    "  -h, --help  print this help\n";

std::string available_here() {
  std::string text;
  for (const transport::Availability& its : transport::probe_all()) {
    text += fmt::format("{:<6} {:<12} {}\n", its.entry->name, its.file->stem, its.entry->purpose);
    text += fmt::format("{:<19} {}\n", "",
                        its.why_absent.empty() ? "can be loaded: " + its.path : "not here: " + its.why_absent);
  }
  return text;
}

}  // namespace

int transports_command(const std::vector<std::string>& arguments) {
  const std::string word = arguments.size() > 2 ? arguments[2] : "";
  if (word == "-h" || word == "--help") throw HelpWanted{transports_help};
  const bool wants_support = word == "--support";
  if (const std::size_t num_known = wants_support ? 3 : 2; arguments.size() > num_known) {
    throw Error(ExitStatus::bad_command_line, "'leadline transports' takes no '" + arguments[num_known] + "'", "",
                "See leadline transports --help");
  }
  say(wants_support ? support_table() : available_here());
  return 0;
}

}  // namespace leadline::cli

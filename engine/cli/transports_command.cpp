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
#include "transport/probe.hpp"

namespace leadline::cli {

namespace {

constexpr const char* transports_help =
    "Usage: leadline transports [--verbose | --support]\n\n"
    "Lists all transports; for one that cannot be used here, the reason.\n\n"
    "Options:\n"
    "  --verbose   also settings, library version, devices and limits of each\n"
    "  --support   instead, what each of them can do, as a table in Markdown\n"
    "  -h, --help  print this help\n";

constexpr int text_column = 21;

std::string details_of(const transport::Availability& its) {
  std::string text;
  for (const transport::KnownSetting& setting : its.settings) {
    text += fmt::format("{:<{}}setting {}={}: {}\n", "", text_column, setting.name, setting.value, setting.meaning);
  }
  if (!its.why_unusable.empty()) text += fmt::format("{:<{}}not usable: {}\n", "", text_column, its.why_unusable);
  for (const transport::Fact& fact : its.facts) {
    text += fmt::format("{:<{}}{}: {}\n", "", text_column, fact.name, fact.value);
  }
  return text;
}

std::string available_here(transport::Ask ask) {
  std::string text;
  for (const transport::Availability& its : transport::probe_all(ask)) {
    text += fmt::format("{:<9} {:<11} {}\n", its.entry->name, its.file->stem, its.entry->purpose);
    text += fmt::format("{:<{}}{}\n", "", text_column,
                        its.why_absent.empty() ? "can be loaded: " + its.path : "not here: " + its.why_absent);
    text += details_of(its);
  }
  return text;
}

}  // namespace

int transports_command(const std::vector<std::string>& arguments) {
  const std::string word = arguments.size() > 2 ? arguments[2] : "";
  if (word == "-h" || word == "--help") throw HelpWanted{transports_help};
  const bool wants_support = word == "--support", wants_all = word == "--verbose";
  if (const std::size_t num_known = wants_support || wants_all ? 3 : 2; arguments.size() > num_known) {
    throw Error(ExitStatus::bad_command_line, "'leadline transports' takes no '" + arguments[num_known] + "'", "",
                "See leadline transports --help");
  }
  say(wants_support ? support_table()
                    : available_here(wants_all ? transport::Ask::everything : transport::Ask::whether_it_loads));
  return 0;
}

}  // namespace leadline::cli

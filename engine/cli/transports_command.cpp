// SPDX-License-Identifier: Apache-2.0
// `leadline transports`: every transport, whether it can be used here, and if not, why.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/command_output.hpp"
#include "cli/main.hpp"
#include "cli/option_parser.hpp"
#include "cli/run_validation.hpp"
#include "cli/support.hpp"
#include "core/json.hpp"
#include "transport/module.hpp"

namespace leadline::cli {

namespace {

constexpr const char* transports_description = "Lists all transports; for one that cannot be used here, the reason.";

constexpr const char* transports_epilogue =
    "Exit status: 0 fine, also where no transport can be used; 2 the command line is wrong.";

constexpr int text_column = 21;

std::string details_of(const transport::Availability& availability) {
  std::string text;
  for (const transport::KnownSetting& setting : availability.settings) {
    text += fmt::format("{:<{}}setting {}={}: {}\n", "", text_column, setting.name, setting.value, setting.meaning);
  }
  if (!availability.why_unusable.empty())
    text += fmt::format("{:<{}}not usable: {}\n", "", text_column, availability.why_unusable);
  for (const transport::Fact& fact : availability.facts) {
    text += fmt::format("{:<{}}{}: {}\n", "", text_column, fact.name, fact.value);
  }
  return text;
}

std::string available_here(transport::Ask ask) {
  std::string text;
  for (const transport::Availability& availability : transport::probe_all(ask)) {
    text += fmt::format("{:<9} {:<11} {}\n", availability.entry->name, availability.file->stem,
                        availability.entry->purpose);
    text += fmt::format("{:<{}}{}\n", "", text_column,
                        availability.why_absent.empty() ? "can be loaded: " + availability.path
                                                        : "not here: " + availability.why_absent);
    text += details_of(availability);
  }
  return text;
}

Json json_of(const transport::Availability& availability) {
  Json settings = Json::array(), facts = Json::array();
  for (const transport::KnownSetting& setting : availability.settings) {
    settings.push_back(Json{{"name", setting.name}, {"value", setting.value}, {"meaning", setting.meaning}});
  }
  for (const transport::Fact& fact : availability.facts) {
    facts.push_back(Json{{"name", fact.name}, {"value", fact.value}});
  }
  const bool is_loadable = availability.why_absent.empty();
  return {{"transport", availability.entry->name},
          {"module", availability.file->stem},
          {"purpose", availability.entry->purpose},
          {"path", availability.path},
          {"is_loadable", is_loadable},
          {"why_not_loadable", availability.why_absent},
          {"why_unusable", availability.why_unusable},
          {"settings", settings},
          {"facts", facts}};
}

/// Settings and facts are empty unless everything was asked for.
std::string document_of(transport::Ask ask) {
  Json modules = Json::array();
  for (const transport::Availability& availability : transport::probe_all(ask))
    modules.push_back(json_of(availability));
  return Json{{"document", "transports"}, {"format_version", 1}, {"modules", modules}}.indented() + "\n";
}

}  // namespace

int transports_command(const std::vector<std::string>& arguments) {
  bool is_verbose = false, wants_support = false;
  CommandOutput output;
  OptionParser options("leadline transports", transports_description, transports_epilogue);
  options.flag("-v,--verbose", "also settings, library version, devices and limits of each", is_verbose);
  options.flag("--support", "instead, what each of them can do, as a table in Markdown", wants_support);
  declare_output(options, output);
  options.parse(arguments);
  check_output(output);
  if (wants_support && is_verbose) throw_apart("--support", "--verbose", "the table says nothing about this machine");
  if (wants_support && output.is_json) throw_apart("--support", "--json", "the table is Markdown");
  const transport::Ask ask = is_verbose ? transport::Ask::everything : transport::Ask::whether_it_loads;
  put_output(output, output.is_json ? document_of(ask) : wants_support ? support_table() : available_here(ask));
  return 0;
}

}  // namespace leadline::cli

// SPDX-License-Identifier: Apache-2.0
// `leadline transports`: every transport, whether it can be used here, and if not, why.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/main.hpp"
#include "cli/support.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/run_validation.hpp"
#include "core/json.hpp"
#include "result/described_json.hpp"
#include "result/json_parts.hpp"
#include "transport/module.hpp"

namespace leadline::cli {
namespace {

struct TransportsDocument {
  std::vector<transport::Availability> modules;
};

}  // namespace
}  // namespace leadline::cli

namespace leadline::result {

template <>
inline constexpr const char* about<cli::TransportsDocument> =
    "What leadline transports --json writes. Settings, facts and why_unusable are there with --verbose.";

}  // namespace leadline::result

namespace leadline {

template <>
inline constexpr auto fields<transport::KnownSetting> = std::tuple{
    field("name", &transport::KnownSetting::name, "", "as --transport-option takes it"),
    field("value", &transport::KnownSetting::value, "", "what a value looks like"),
    field("meaning", &transport::KnownSetting::meaning, "", "what it does"),
};

template <>
inline constexpr auto fields<transport::Fact> = std::tuple{
    field("name", &transport::Fact::name, "", "what the library was asked"),
    field("value", &transport::Fact::value, "", "what it says"),
};

template <>
inline constexpr auto fields<transport::Availability> = std::tuple{
    field(
        "transport", [](const transport::Availability& from) { return std::string(from.entry->name); }, "",
        "as --transport takes it"),
    field(
        "module", [](const transport::Availability& from) { return std::string(from.file->stem); }, "",
        "one of the modules that may carry it"),
    field(
        "purpose", [](const transport::Availability& from) { return std::string(from.entry->purpose); }, "",
        "how it moves bytes"),
    field("path", &transport::Availability::path, "", "where the module lies"),
    field(
        "is_loadable", [](const transport::Availability& from) { return from.why_absent.empty(); }, "",
        "whether it can be loaded here"),
    field("why_not_loadable", &transport::Availability::why_absent, "", "the loader's reason; empty = it can be"),
    field("why_unusable", &transport::Availability::why_unusable, "",
          "the library's reason why there are no facts; empty = there are, or it was not asked"),
    field("settings", &transport::Availability::settings, "", "what can be set"),
    field("facts", &transport::Availability::facts, "", "library version, devices, limits"),
};

template <>
inline constexpr auto fields<cli::TransportsDocument> = std::tuple{
    field(
        "document", [](const cli::TransportsDocument& /*any*/) { return result::Constant<"transports">(); }, "",
        "which document this is"),
    field(
        "format_version", [](const cli::TransportsDocument& /*any*/) { return std::uint32_t{1}; }, "",
        "rises with every change that a reader must know of; keys may be added without"),
    field("modules", &cli::TransportsDocument::modules, "", "all modules, in the order of the text"),
};

}  // namespace leadline

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

/// What --quiet leaves out.
bool is_left_out(const transport::Availability& availability, bool is_quiet) {
  return is_quiet && !availability.why_absent.empty();
}

std::string available_here(transport::Ask ask, bool is_quiet) {
  std::string text;
  for (const transport::Availability& availability : transport::probe_all(ask)) {
    if (is_left_out(availability, is_quiet)) continue;
    text += fmt::format("{:<9} {:<11} {}\n", availability.entry->name, availability.file->stem,
                        availability.entry->purpose);
    text += fmt::format("{:<{}}{}\n", "", text_column,
                        availability.why_absent.empty() ? "can be loaded: " + availability.path
                                                        : "not here: " + availability.why_absent);
    text += details_of(availability);
  }
  return text;
}

/// Settings and facts are empty unless everything was asked for.
std::string document_of(transport::Ask ask, bool is_quiet) {
  TransportsDocument document;
  for (transport::Availability& availability : transport::probe_all(ask)) {
    if (!is_left_out(availability, is_quiet)) document.modules.push_back(std::move(availability));
  }
  return result::text_of(result::json_of(document));
}

}  // namespace

Json transports_schema() {
  return result::document_schema<TransportsDocument>("transports", "The transports and whether they can be used");
}

int transports_command(const std::vector<std::string>& arguments) {
  bool wants_support = false;
  command::CommandOutput output;
  command::OptionParser options("leadline transports", transports_description, transports_epilogue);
  options.flag("--support", "instead, what each of them can do, as a table in Markdown", wants_support);
  command::declare_output(options, output, "only those that can be loaded here, without the reasons why others cannot",
                          "also settings, library version, devices and limits of each");
  options.parse(arguments);
  command::check_output(output);
  const bool is_verbose = output.verbose;
  for (const auto& [is_given, option] : {std::pair(is_verbose, "--verbose"), std::pair(output.quiet, "--quiet")}) {
    if (wants_support && is_given) throw_apart("--support", option, "the table says nothing about this machine");
  }
  if (wants_support && output.is_json) throw_apart("--support", "--json", "the table is Markdown");
  const transport::Ask ask = is_verbose ? transport::Ask::everything : transport::Ask::whether_it_loads;
  command::put_output(output, output.is_json  ? document_of(ask, output.quiet)
                              : wants_support ? support_table()
                                              : available_here(ask, output.quiet));
  return 0;
}

}  // namespace leadline::cli

// SPDX-License-Identifier: Apache-2.0
// `leadline transports`: every transport, whether it can be used here, and if not, why.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
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

struct TransportsDocument {
  std::vector<transport::Availability> modules;
};

constexpr const char* about_of(Type<TransportsDocument> /*any*/) { return "What leadline transports --json writes."; }

}  // namespace leadline::cli

namespace leadline::transport {

constexpr auto fields_of(Type<KnownSetting> /*any*/) {
  return std::tuple{
      field("name", &KnownSetting::name, "", "as --transport-option takes it"),
      field("value", &KnownSetting::value, "", "what a value looks like"),
      field("meaning", &KnownSetting::meaning, "", "what it does"),
  };
}

constexpr auto fields_of(Type<Fact> /*any*/) {
  return std::tuple{
      field("name", &Fact::name, "", "what the library was asked"),
      field("value", &Fact::value, "", "what it says"),
  };
}

constexpr auto fields_of(Type<Availability> /*any*/) {
  return std::tuple{
      field(
          "transport", [](const Availability& from) { return std::string(from.entry->name); }, "",
          "as --transport takes it"),
      field(
          "module", [](const Availability& from) { return std::string(from.build->name); }, "", "one of its builds"),
      field(
          "purpose", [](const Availability& from) { return std::string(from.entry->purpose); }, "",
          "how it moves bytes"),
      field(
          "is_loadable", [](const Availability& from) { return from.why_absent.empty(); }, "",
          "whether it can be loaded here"),
      field("why_not_loadable", &Availability::why_absent, "",
            "why it is not built, or the loader's reason; empty = it can be"),
      field("why_unusable", &Availability::why_unusable, "",
            "the library's reason why it cannot be used here; empty = it can be, or cannot be loaded"),
      field("path", &Availability::path, "", "of mpi where the library lies that it calls; empty for all others"),
      field("is_usable", &Availability::is_usable, "", "whether it can be used here", Since::later_version),
      field("settings", &Availability::settings, "", "what can be set"),
      field("facts", &Availability::facts, "", "library version, devices, limits"),
  };
}

}  // namespace leadline::transport

namespace leadline::cli {

constexpr auto fields_of(Type<TransportsDocument> /*any*/) {
  return std::tuple{
      field(
          "document", [](const TransportsDocument& /*any*/) { return result::Constant<"transports">(); }, "",
          "which document this is"),
      field(
          "format_version", [](const TransportsDocument& /*any*/) { return std::uint32_t{1}; }, "",
          "rises with every change that a reader must know of; keys may be added without"),
      field("modules", &TransportsDocument::modules, "", "all builds of transports, in the order of the text"),
  };
}

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
  for (const transport::Fact& fact : availability.facts) {
    text += fmt::format("{:<{}}{}: {}\n", "", text_column, fact.name, fact.value);
  }
  return text;
}

/// What --quiet leaves out.
bool is_left_out(const transport::Availability& availability, bool is_quiet) {
  return is_quiet && !availability.is_usable();
}

std::string verdict_on(const transport::Availability& availability) {
  const auto& abi = availability.build->abi;
  const std::string of_abi = abi ? fmt::format(" with the ABI of {}", mpi::name_of(*abi)) : "";
  if (availability.is_usable()) {
    if (!abi) return "usable here";
    return fmt::format("usable here{}: {} ({})", of_abi, availability.mpi_name, availability.path);
  }
  if (availability.why_absent.empty()) return fmt::format("loads{}, but: {}", of_abi, availability.why_unusable);
  constexpr std::string_view not_built = "not built: ";
  if (!availability.why_absent.starts_with(not_built))
    return fmt::format("not here{}: {}", of_abi, availability.why_absent);
  return fmt::format("not built{}: {}", of_abi, availability.why_absent.substr(not_built.size()));
}

std::string available_here(bool is_verbose, bool is_quiet) {
  std::string text;
  const transport::Entry* listed = nullptr;
  for (const transport::Availability& availability : transport::probe_all()) {
    if (is_left_out(availability, is_quiet)) continue;
    if (availability.entry != listed) {
      text += fmt::format("{:<{}}{}\n", availability.entry->name, text_column, availability.entry->purpose);
    }
    listed = availability.entry;
    text += fmt::format("{:<{}}{}\n", "", text_column, verdict_on(availability));
    if (is_verbose) text += details_of(availability);
  }
  return text;
}

std::string document_of(bool is_quiet) {
  TransportsDocument document;
  for (transport::Availability& availability : transport::probe_all()) {
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
  command::declare_output(options, output, "only those that can be used here, without the reasons why others cannot",
                          "also settings, library version, devices and limits of each");
  options.parse(arguments);
  command::check_output(output);
  for (const auto& [is_given, option] : {std::pair(output.verbose, "--verbose"), std::pair(output.quiet, "--quiet")}) {
    if (wants_support && is_given) throw_apart("--support", option, "the table says nothing about this machine");
  }
  if (wants_support && output.is_json) throw_apart("--support", "--json", "the table is Markdown");
  command::put_output(output, output.is_json  ? document_of(output.quiet)
                              : wants_support ? support_table()
                                              : available_here(output.verbose, output.quiet));
  return 0;
}

}  // namespace leadline::cli

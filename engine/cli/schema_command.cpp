// SPDX-License-Identifier: Apache-2.0
// `leadline schema`: what the keys of a JSON document are.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "check/json.hpp"
#include "cli/benchmarks.hpp"
#include "cli/embedded_schemas.hpp"
#include "cli/main.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "command/version.hpp"
#include "core/error.hpp"
#include "diagnosis/fault_text.hpp"
#include "model/finding_kinds.hpp"
#include "output/table.hpp"
#include "result/diagnosis_json.hpp"

namespace leadline::cli {
namespace {

constexpr const char* schema_description =
    "Prints the JSON Schema (2020-12) of a JSON document that Leadline writes: its keys with their types, units and\n"
    "meanings.";

constexpr const char* schema_epilogue =
    "Later versions may add keys. Exit status: 0 fine; 2 the command line is wrong.\n"
    "Examples:\n"
    "  leadline schema link --output link-result.schema.json\n"
    "  leadline schema io | jq '.properties.phases.items.properties | keys'";

using SchemaOfDocument = Json (*)();

/// Of a document that no struct of this program describes.
Json written_by_hand(const char* text) { return Json::parse(text); }

// Tables for docs/findings.md and docs/exit-status.md.

Json exit_statuses() {
  Json statuses = Json::array();
  for (const Named<ExitStatus>& one : names_of(ExitStatus{})) {
    statuses.push_back({{"status", static_cast<int>(one.value)}, {"name", one.name}, {"meaning", one.meaning}});
  }
  return statuses;
}

/// Components that can be at fault, with advice for each symptom; the lists that they are told in; findings about the
/// measurement, each with its severities and its rule.
Json findings_reference() {
  Json components = Json::array(), lists = Json::array(), measurement = Json::array();
  for (const Named<ComponentKind>& one : names_of(ComponentKind{})) {
    Json advice = Json::object();
    for (const Named<Symptom>& symptom : names_of(Symptom{})) {
      advice[symptom.name] = diagnosis::advice_for(one.value, symptom.value, "it");
    }
    components.push_back({{"kind", one.name}, {"meaning", one.meaning}, {"advice", advice}});
  }
  for (const Named<FindingList>& one : names_of(FindingList{})) {
    lists.push_back({{"list", one.name}, {"meaning", one.meaning}});
  }
  for (const FindingKind& one : finding_kinds()) {
    Json severities = Json::array({name_of(one.severity)});
    if (one.least_severity != one.severity) severities.push_back(name_of(one.least_severity));
    measurement.push_back({{"id", one.id}, {"severities", severities}, {"where", one.where}, {"rule", one.rule}});
  }
  return {{"components", components}, {"lists", lists}, {"measurement", measurement}};
}

constexpr Named<SchemaOfDocument> other_documents[] = {
    {result::diagnosis_schema, "diagnosis", "of leadline diagnose --json"},
    {result::comparison_schema, "comparison", "of leadline compare --json"},
    {result::profile_schema, "profile", "of leadline profile"},
    {check::schema, "check", "of leadline check --json"},
    {[] { return written_by_hand(acceptance_schema); }, "acceptance", "of leadline accept --json"},
    {[] { return written_by_hand(history_schema); }, "history", "of leadline history --json"},
    {[] { return written_by_hand(info_schema); }, "info", "of leadline info --json"},
    {transports_schema, "transports", "of leadline transports --json"},
    {[] { return written_by_hand(pattern_cost_schema); }, "pattern-cost", "of leadline cost --json"},
    {[] { return written_by_hand(bisection_simulation_schema); }, "bisection-simulation",
     "of leadline simulate bisection --json"},
    {[] { return written_by_hand(score_schema); }, "score", "of leadline score --json"},
    {[] { return written_by_hand(view_schema); }, "view", "of leadline view --json"},
    {command::written_schema, "written",
     "of the commands that write files: convert, partners, patterns, simulate link, report, export"},
    {described_groups, "hdf5", "no schema, but the described tables of result files"},
    {findings_reference, "findings", "no schema, but all kinds of findings, their rules and advice"},
    {exit_statuses, "exit-status", "no schema, but what each exit status means"},
};

}  // namespace

int schema_command(const std::vector<std::string>& arguments) {
  std::vector<Named<SchemaOfDocument>> documents;
  for (const Benchmark& one : benchmarks()) documents.push_back({one.schema, one.name, one.document});
  documents.insert(documents.end(), std::begin(other_documents), std::end(other_documents));
  std::string document, help;
  std::vector<std::string> names;
  for (const Named<SchemaOfDocument>& one : documents) {
    help += (names.empty() ? "" : ", ") + std::string(one.name) + " (" + one.meaning + ")";
    names.emplace_back(one.name);
  }
  command::OptionParser options("leadline schema", schema_description, schema_epilogue);
  options.argument("DOCUMENT", help, document, names);
  command::CommandOutput output;
  command::declare_output(options, output);
  options.parse(arguments);
  command::check_output(output);
  command::StepLog steps("leadline schema", output.verbose);
  const Json schema = parse_choice<SchemaOfDocument>("DOCUMENT", document, documents)();
  const Json* const keys = schema.find("properties");
  steps.done(fmt::format(
      "made from the tables of leadline {}: {}", command::version,
      keys == nullptr ? output::counted(schema.size(), "group of tables") : output::counted(keys->size(), "key")));
  command::put_output(output, schema.indented() + "\n");
  return 0;
}

}  // namespace leadline::cli

// SPDX-License-Identifier: Apache-2.0
// `leadline schema`: what the keys of a JSON document are.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "check/json.hpp"
#include "cli/benchmarks.hpp"
#include "cli/embedded_schemas.hpp"
#include "cli/main.hpp"
#include "cli/reference.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "command/version.hpp"
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

// SPDX-License-Identifier: Apache-2.0
// `leadline schema`: what the keys of a JSON document are.
#include <string>
#include <vector>

#include "cli/main.hpp"
#include "cli/option_parser.hpp"
#include "cli/reporting.hpp"
#include "result/bisection/json.hpp"
#include "result/diagnosis_json.hpp"
#include "result/hdf5/described_file.hpp"
#include "result/io/json.hpp"
#include "result/json.hpp"
#include "result/topology/json.hpp"

namespace leadline::cli {
namespace {

constexpr const char* schema_description =
    "Prints the JSON Schema (2020-12) of a JSON document that Leadline writes: its keys with their types, units and\n"
    "meanings.";

constexpr const char* schema_epilogue =
    "Later versions may add keys. Exit status: 0 fine; 2 the command line is wrong.\n"
    "Examples:\n"
    "  leadline schema link > link-result.schema.json\n"
    "  leadline schema io | jq '.properties.phases.items.properties | keys'";

using SchemaOfDocument = Json (*)();

constexpr Named<SchemaOfDocument> documents[] = {
    {result::link_schema, "link", "the result of leadline link"},
    {result::topology::schema, "topology", "that of leadline topology"},
    {result::bisection::schema, "bisection", "that of leadline bisection"},
    {result::io::schema, "io", "that of leadline io"},
    {result::diagnosis_schema, "diagnosis", "of leadline diagnose --json"},
    {result::comparison_schema, "comparison", "of leadline compare --json"},
    {result::hdf5::described_groups, "hdf5", "no schema, but the described tables of result files"},
};

}  // namespace

int schema_command(const std::vector<std::string>& arguments) {
  std::string document, help;
  std::vector<std::string> names;
  for (const Named<SchemaOfDocument>& one : documents) {
    help += (names.empty() ? "" : ", ") + std::string(one.name) + " (" + one.meaning + ")";
    names.emplace_back(one.name);
  }
  OptionParser options("leadline schema", schema_description, schema_epilogue);
  options.argument("DOCUMENT", help, document, names);
  options.parse(arguments);
  say(parse_choice<SchemaOfDocument>("DOCUMENT", document, documents)().indented() + "\n");
  return 0;
}

}  // namespace leadline::cli

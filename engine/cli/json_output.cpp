// SPDX-License-Identifier: Apache-2.0
// Writes JSON where it is wanted.
#include "cli/json_output.hpp"

#include "cli/reporting.hpp"
#include "cli/run_validation.hpp"
#include "result/output_file.hpp"

namespace leadline::cli {

void declare_json(OptionTable& options, JsonOutput& json) {
  options
      .optional_value("--json", "FILE", "JSON instead of text, on standard output or into FILE",
                      [&json](const std::string&, const std::string& text) { json.path = text.empty() ? "-" : text; })
      .as_file();
  options.flag("--overwrite", "with --json FILE: replace an older file", json.overwrite);
}

void check_json(const JsonOutput& json) {
  if (json.overwrite && (json.path.empty() || json.path == "-")) {
    throw_no_effect("--overwrite", "without --json FILE nothing is written into a file");
  }
}

void put_json(const JsonOutput& json, const std::string& document) {
  if (json.path == "-") {
    say(document);
    return;
  }
  result::write_document(json.path, json.overwrite ? result::ExistingFile::overwrite : result::ExistingFile::refuse,
                         document);
}

}  // namespace leadline::cli

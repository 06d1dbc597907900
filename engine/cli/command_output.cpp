// SPDX-License-Identifier: Apache-2.0
// Writes what a command says where it is wanted.
#include "cli/command_output.hpp"

#include "cli/reporting.hpp"
#include "cli/run_validation.hpp"
#include "result/output_file.hpp"

namespace leadline::cli {

void declare_output(OptionTable& options, CommandOutput& output) {
  options.file("-o,--output", "write the text into FILE", output.path).by_default("standard output");
  options
      .optional_value("--json", "FILE", "JSON instead of text, on standard output or into FILE",
                      [&output](const std::string&, const std::string& text) {
                        output.is_json = true;
                        if (!text.empty()) output.path = text;
                      })
      .as_file()
      .conflicts_with("--output", "--json says both what is written and where");
  options.flag("--overwrite", "replace an older FILE", output.overwrite);
}

void check_output(const CommandOutput& output) {
  if (output.overwrite && output.is_standard_output()) {
    throw_no_effect("--overwrite", "without --output FILE or --json FILE nothing is written into a file");
  }
}

void put_output(const CommandOutput& output, const std::string& text) {
  if (output.is_standard_output()) {
    say(text);
    return;
  }
  result::write_document(output.path, output.overwrite ? result::ExistingFile::overwrite : result::ExistingFile::refuse,
                         text);
}

}  // namespace leadline::cli

// SPDX-License-Identifier: Apache-2.0
// Writes what a command says where it is wanted.
#include "command/command_output.hpp"

#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "command/reporting.hpp"
#include "command/run_validation.hpp"
#include "core/error.hpp"
#include "options/values.hpp"
#include "result/described_json.hpp"
#include "result/json_parts.hpp"
#include "result/output_file.hpp"

namespace leadline::command {

constexpr const char* about_of(Type<Written> /*any*/) {
  return "What commands that write files say with --json: leadline convert, partners, patterns, simulate link, report "
         "and "
         "export.";
}

constexpr auto fields_of(Type<WrittenFile> /*any*/) {
  return std::tuple{
      field("path", &WrittenFile::path, "", "its name, as it was given"),
      field("format", &WrittenFile::format, "", "hdf5, sion, npy, html, pdf, ps, png, csv, parquet or tsv"),
      field("size_bytes", &WrittenFile::size_bytes, "bytes", "how large it is"),
      field("num_rows", &WrittenFile::num_rows, "1",
            "of a table its rows without the title; of a result a row for each rank in each slice; null = no rows"),
  };
}

constexpr auto fields_of(Type<Written> /*any*/) {
  return std::tuple{
      field(
          "document", [](const Written& /*any*/) { return result::Constant<"written">(); }, "",
          "which document this is"),
      field(
          "format_version", [](const Written& /*any*/) { return std::uint32_t{1}; }, "",
          "rises with every change that a reader must know of; keys may be added without"),
      field("command", &Written::command, "", "the command without leadline"),
      field("read", &Written::read, "", "the files that it has read, as they were named"),
      field("files", &Written::files, "", "the files that it has written"),
      field("left_out", &Written::left_out, "", "what they do not have of what was read, in words"),
      field("patterns", &Written::patterns, "",
            "of leadline patterns alone: what the rows are called; random at the end stands for all that follow",
            Since::later_version),
      field("num_participants", &Written::num_participants, "1", "of leadline patterns alone: how many ranks take part",
            Since::later_version),
  };
}

namespace {

constexpr const char* is_twice = "--json says both what is written and where";

result::ExistingFile existing_of(const CommandOutput& output) {
  return output.overwrite ? result::ExistingFile::overwrite : result::ExistingFile::refuse;
}

OptionEntry& declare_json(OptionTable& options, CommandOutput& output, const std::string& help) {
  return options
      .optional_value("--json", "FILE", help,
                      [&output](const std::string&, const std::string& text) {
                        output.is_json = true;
                        if (!text.empty()) output.path = text;
                      })
      .as_file();
}

}  // namespace

void declare_output(OptionTable& options, CommandOutput& output, const std::string& quiet_help,
                    const std::string& verbose_help) {
  options.file("-o,--output", "write the text into FILE", output.path).by_default("standard output");
  declare_json(options, output, "JSON instead of text, on standard output or into FILE")
      .conflicts_with("--output", is_twice);
  options.flag("--overwrite", "replace an older FILE", output.overwrite);
  options.quiet_and_verbose(output.quiet, output.verbose, quiet_help, verbose_help);
}

void check_output(const CommandOutput& output) {
  if (output.overwrite && output.is_standard_output()) {
    throw_no_effect("--overwrite", "without --output FILE or --json FILE nothing is written into a file");
  }
  if (!output.is_standard_output()) result::expect_document_can_be_written(output.path, existing_of(output));
}

void put_output(const CommandOutput& output, const std::string& text) {
  if (output.is_standard_output()) {
    say(text);
    return;
  }
  result::write_document(output.path, existing_of(output), text);
  if (!output.quiet) say(output.path + "\n");
}

void declare_file_output(OptionTable& options, FileOutput& file, const std::string& help,
                         const std::string& default_text) {
  options.file("-o,--output", help, file.path).by_default(default_text);
  declare_json(options, file.output, "say as JSON what was written, on standard output or into FILE");
  options.flag("--overwrite", "replace an older file", file.output.overwrite);
  options.quiet_and_verbose(file.output.quiet, file.output.verbose);
}

void check_file_output(const FileOutput& file) {
  if (file.path == "-")
    throw_bad_value("--output", file.path, "the file is no text for standard output", "Name a file");
  if (file.path == file.output.path) throw_apart("--output", "--json", "both name the same file");
  if (!file.output.is_standard_output())
    result::expect_document_can_be_written(file.output.path, existing_of(file.output));
}

void put_written(const FileOutput& file, Written written, const std::string& text) {
  for (WrittenFile& one : written.files) {
    std::error_code none;
    const auto size_bytes = std::filesystem::file_size(one.path, none);
    if (!none) one.size_bytes = size_bytes;
  }
  if (file.output.is_json) {
    put_output(file.output, result::text_of(result::json_of(written)));
  } else if (!file.output.quiet) {
    say(text);
  }
}

Json written_schema() { return result::document_schema<Written>("written", "What a command has written"); }

}  // namespace leadline::command

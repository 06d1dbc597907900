// SPDX-License-Identifier: Apache-2.0
// What commands say besides measuring, and where: --output, --json, --overwrite, --quiet and --verbose mean the same in
// all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "options/option_table.hpp"

namespace leadline::command {

/// Where a command puts what it says, and how much that is.
struct CommandOutput {
  std::string path = "-";  ///< "-" = standard output
  bool is_json = false;    ///< instead of text
  bool overwrite = false;
  bool quiet = false, verbose = false;

  bool is_standard_output() const { return path == "-"; }
};

/// Of a command whose purpose is what it says: --output, --json, --overwrite, --quiet, --verbose. The help of the last
/// two may differ.
void declare_output(OptionTable& options, CommandOutput& output, const std::string& quiet_help = {},
                    const std::string& verbose_help = {});

/// Before anything is computed. Throws Error(bad_command_line) where --overwrite has no effect, and what put_output()
/// would throw of the file's name and folder.
void check_output(const CommandOutput& output);

/// To standard output, or into the file, which appears when it is whole and is named then. Throws
/// Error(bad_command_line) where there is an older file that must stay, run_failed where it cannot be written.
void put_output(const CommandOutput& output, const std::string& text);

/// What a command whose purpose is a file says about it.
struct FileOutput {
  std::string path;      ///< of that file
  CommandOutput output;  ///< text or JSON about it

  bool overwrite() const { return output.overwrite; }
};

/// --output, --json, --overwrite, --quiet, --verbose
void declare_file_output(OptionTable& options, FileOutput& file, const std::string& help,
                         const std::string& default_text);

/// Before anything is computed. Throws Error(bad_command_line) where both files would be the same, or the file is
/// standard output, and what put_written() would throw of the name and the folder of the JSON's file.
void check_file_output(const FileOutput& file);

/// A file that a command has written.
struct WrittenFile {
  std::string path, format;
  std::uint64_t size_bytes = 0;
  std::optional<std::uint64_t> num_rows;
};

/// All that it has read and written.
struct Written {
  std::string command;  ///< "convert"
  std::vector<std::string> read;
  std::vector<WrittenFile> files;
  std::vector<std::string> left_out;                ///< in words
  std::vector<std::string> patterns{};              ///< what the rows of a table of patterns are called
  std::optional<std::uint64_t> num_participants{};  ///< ranks that take part in patterns
};

/// Says it: as JSON, or as `text`, which --quiet leaves out. The sizes of the files are filled in.
void put_written(const FileOutput& file, Written written, const std::string& text);

/// The schema of that JSON.
Json written_schema();

}  // namespace leadline::command

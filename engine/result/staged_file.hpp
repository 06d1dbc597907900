// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name when it is whole, or not at all.
#pragma once

#include <string>

#include "core/error.hpp"
#include "result/link_result_file.hpp"

namespace leadline::result {

/// Something beside the output to write to, which is removed unless it has taken the output's place.
class StagedFile {
 public:
  /// Throws Error(bad_command_line) where the output is there and not to be overwritten, or no regular file.
  StagedFile(const std::string& output, ExistingFile existing);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  /// Where to write. Nothing is there yet.
  const std::string& path() const { return path_; }

  /// The error as the user knows the file: by its name.
  Error named(const Error& error) const;

  /// Gives the file, which is on the disk by now, its name. A link stays a link, to the new file. Throws Error.
  void commit();

 private:
  std::string output_, target_, path_;
  ExistingFile existing_;
};

}  // namespace leadline::result

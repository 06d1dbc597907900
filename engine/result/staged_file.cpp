// SPDX-License-Identifier: Apache-2.0
// Names that nobody has, and renaming that replaces nothing by mistake.
#include "result/staged_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "result/output_file.hpp"

namespace leadline::result {

namespace fs = std::filesystem;

StagedFile::StagedFile(const std::string& output, ExistingFile existing)
    : output_(output), target_(output), existing_(existing) {
  struct stat status {};
  if (::stat(output.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      throw Error(ExitStatus::bad_command_line, "cannot create result file " + output, system_error_text(EISDIR),
                  "Choose another name");
    }
    if (existing == ExistingFile::refuse) {
      throw Error(ExitStatus::bad_command_line, "result file " + output + " is there already", "",
                  "Choose another name, or replace it with --overwrite");
    }
    if (!S_ISREG(status.st_mode)) {
      throw Error(ExitStatus::bad_command_line, "cannot create result file " + output,
                  "it is there, and no regular file", "Choose another name");
    }
    target_ = fs::canonical(output).string();
  }
  path_ = (fs::path(target_).parent_path() /
           fmt::format(".leadline-{}-{}", ::getpid(), fs::path(target_).filename().string()))
              .string();
  // The same process number on another host: what lies there is nobody's any more.
  ::unlink(path_.c_str());
}

StagedFile::~StagedFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Error StagedFile::named(const Error& error) const {
  const auto with_name = [&](std::string text) {
    for (auto at = text.find(path_); at != std::string::npos; at = text.find(path_, at + output_.size())) {
      text.replace(at, path_.size(), output_);
    }
    return text;
  };
  return Error(error.status(), with_name(error.problem()), with_name(error.why()), error.hint());
}

void StagedFile::commit() {
  const unsigned flags = existing_ == ExistingFile::refuse ? RENAME_NOREPLACE : 0;
  int problem = ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), flags) == 0 ? 0 : errno;
  // Some network file systems do not know the flag.
  if (problem == EINVAL && flags != 0) problem = ::rename(path_.c_str(), target_.c_str()) == 0 ? 0 : errno;
  if (problem != 0) throw write_error(output_, problem);
  path_.clear();
}

}  // namespace leadline::result

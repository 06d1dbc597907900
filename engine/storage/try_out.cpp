// SPDX-License-Identifier: Apache-2.0
// Tries calls out in a child process that the launcher of this one knows nothing of.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "cluster/child.hpp"
#include "core/error.hpp"
#include "storage/descriptor.hpp"
#include "storage/launcher_variables.hpp"
#include "storage/table.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every unistd.h has it

namespace leadline::storage {
namespace {

/// A folder for the scratch file and for what libraries put beside it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& directory) : path_(directory + "/.leadline-trial-XXXXXX") {
    if (::mkdtemp(path_.data()) != nullptr) return;
    throw Error(ExitStatus::something_missing, "cannot try calls out in " + directory, system_error_text(errno),
                "Name a --target in a directory that can be written to");
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file() const { return path_ + "/scratch"; }

 private:
  std::string path_;
};

void leave_launcher() {
  std::vector<std::string> names;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view variable(*one);
    const std::string_view name = variable.substr(0, variable.find('='));
    if (is_of_launcher(name)) names.emplace_back(name);
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

/// What a library prints as it dies is no use to a user, and its core even less.
void fall_silent() {
  const Descriptor nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere.fd(), fd);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

}  // namespace

Trial try_out(const LoadedBackend& backend, const CallKind& kind, const std::string& directory,
              std::chrono::milliseconds patience) {
  const ScratchFolder folder(directory);
  const auto answer = cluster::ask_child(
      [&] {
        leave_launcher();
        fall_silent();
        return backend->try_calls(kind, folder.file());
      },
      patience);
  std::string why = answer.text ? *answer.text : answer.why;
  const bool is_well = why.empty();
  return {is_well, std::move(why)};
}

}  // namespace leadline::storage

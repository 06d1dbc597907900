// SPDX-License-Identifier: Apache-2.0
// Tries calls out in a child process without the variables of this one's launcher.
#include "storage/try_out.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "cluster/child.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
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

/// What a library prints as it crashes does not help a user, nor does its core file.
void fall_silent() {
  const Descriptor nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere.fd(), fd);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

using namespace std::string_view_literals;

constexpr std::array launchers{"OMPI_"sv,  "PMIX_"sv, "PMI_"sv, "PMI2_"sv, "PRTE_"sv, "ORTE_"sv,        "SLURM_"sv,
                               "HYDRA_"sv, "HYDI_"sv, "MPI_"sv, "PALS_"sv, "FLUX_"sv, "LEADLINE_RANK"sv};

// Users' own, which begin in the same way. OMPI_MCA_io and the like choose what is to be tried.
constexpr std::array users{"OMPI_MCA_"sv, "OMPI_ALLOW_RUN_AS_ROOT"sv, "SLURM_CONF"sv};

// Open MPI's launcher sets some of these, too.
constexpr std::array launchers_after_all{"OMPI_MCA_ess"sv, "OMPI_MCA_orte"sv, "OMPI_MCA_pmix"sv, "OMPI_MCA_prte"sv,
                                         "OMPI_MCA_initial_wdir"sv};

template <class Beginnings>
bool begins_with_any(std::string_view text, const Beginnings& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view one) { return text.starts_with(one); });
}

}  // namespace

Trial try_out(const LoadedBackend& backend, const CallKind& kind, const std::string& directory,
              std::chrono::milliseconds patience) {
  // A file system that does not answer keeps a child, and not this process.
  const auto looked = cluster::ask_child([&] { return ScratchFolder(directory).file(); }, patience);
  if (!looked.text) return {false, "making a folder in " + directory + ": " + looked.why};
  const ScratchFolder folder(directory);
  const auto answer = cluster::ask_child(
      [&] {
        leave_launcher();
        fall_silent();
        return backend->try_calls(kind, folder.file());
      },
      patience);
  std::string why = answer.text ? *answer.text : answer.why;
  const bool works = why.empty();
  return {works, std::move(why)};
}

bool is_of_launcher(std::string_view variable) {
  if (begins_with_any(variable, launchers_after_all)) return true;
  return begins_with_any(variable, launchers) && !begins_with_any(variable, users);
}

}  // namespace leadline::storage

// SPDX-License-Identifier: Apache-2.0
// One rule a line.
#include "compat/mpi_io_test/remarks.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>

namespace leadline::compat::mpi_io_test {
namespace {

using schedule::Movement;

class Remarks {
 public:
  Remarks(const Settings& settings, std::vector<std::string>& remarks) : settings_(settings), remarks_(remarks) {}

  /// One for each of these that was given.
  void no_effect(std::initializer_list<const char*> names, std::string_view why) {
    for (const char* name : names) {
      if (settings_.has(name)) remarks_.push_back(fmt::format("-{} has no effect: {}", name, why));
    }
  }

 private:
  const Settings& settings_;
  std::vector<std::string>& remarks_;
};

}  // namespace

void add_remarks(const Settings& settings, const IoRequest& request, std::vector<std::string>& remarks) {
  Remarks add(settings, remarks);
  if (!schedule::is_funnel(request.movement)) {
    add.no_effect({"ahead", "csize"}, "only types 3 and 4 have circular buffers");
    add.no_effect({"host"}, "only types 3 and 4 leave I/O to some processes");
  }
  if (request.movement == Movement::n_n && settings.value("strided") == "1") {
    add.no_effect({"strided"}, "a file of type 1 has the objects of one process");
  }
  if (request.no_file) {
    add.no_effect({"collective", "hints", "dio", "barrier", "preallocate", "target", "targets", "deletefile", "sync",
                   "sleep", "chkdata", "backend", "allow_fragile"},
                  "with -nofile nothing is opened");
    return;
  }
  if (request.operations == IoOperations::read) {
    add.no_effect({"barrier", "preallocate", "sync", "sleep"}, "with -op read nothing is written");
  }
  if (request.operations == IoOperations::write) {
    add.no_effect({"chkdata", "sleep"}, "with -op write nothing is read");
  }
  if (settings.has("dio") && request.cache_path != CachePath::direct) {
    remarks.emplace_back(
        "-dio asks the MPI library by the hints direct_read and direct_write; whether it goes round the page cache is "
        "not confirmed. -backend posix does");
  }
}

}  // namespace leadline::compat::mpi_io_test

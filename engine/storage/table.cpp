// SPDX-License-Identifier: Apache-2.0
// The table itself, one line per backend, and the opening of what it names.
#include "storage/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "mpi/library_search.hpp"
#include "storage/posix/posix.hpp"
#include "transport/table.hpp"

namespace leadline::storage {
namespace {

constexpr Entry table[] = {
    {"posix", "the system's own calls: pread and pwrite, POSIX AIO or io_uring", false},
    {"mpi-io", "MPI-IO of the library that the launcher belongs to (mpi-io:romio, mpi-io:ompio)", true},
};

const Entry& backend_named(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(table), std::end(table), [&](const Entry& entry) { return name == entry.name; });
  if (found != std::end(table)) return *found;
  std::string names;
  for (const Entry& entry : table) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  throw Error(ExitStatus::bad_command_line, fmt::format("there is no backend \"{}\"", name),
              "the backends are " + names, "See leadline io --help");
}

mpi::Library find_mpi(const Entry& entry, cluster::Launcher launcher) {
  if (mpi::is_mpi_launcher(launcher)) return mpi::find_library(launcher);
  throw Error(ExitStatus::something_missing, std::string("the backend ") + entry.name + " needs a launcher of MPI",
              transport::why_no_mpi(launcher),
              transport::how_to_start_mpi(launcher, std::string("leadline io --backend ") + entry.name) +
                  ", or --backend posix");
}

/// Throws Error(something_missing).
const Module& mpi_io_of(const Entry& entry, cluster::Launcher launcher) {
  const mpi::Library library = find_mpi(entry, launcher);
  const Module& module = *mpi_io_module(library.abi);  // a library of an ABI that is not built was refused
  try {
    module.take_mpi(library.opened);
  } catch (const Error& error) {
    throw Error(ExitStatus::something_missing, std::string("the backend ") + entry.name + " cannot be used here",
                error.reason(), "--backend posix needs no library");
  }
  return module;
}

}  // namespace

constexpr Named<FileCalls> file_calls_names[] = {
    {FileCalls::blocking, "blocking"},
    {FileCalls::non_blocking, "non-blocking"},
};

std::span<const Named<FileCalls>> names_of(FileCalls /*any*/) { return file_calls_names; }

const char* name_of(FileCalls calls) { return name_in(file_calls_names, calls); }

const char* name_of(CachePath path) {
  switch (path) {
    case CachePath::buffered:
      return "buffered";
    case CachePath::direct:
      return "direct";
    case CachePath::uncached:
      return "uncached";
  }
  return "unknown";
}

std::span<const Entry> backends() { return table; }

LoadedBackend load_backend(const std::string& choice, cluster::Launcher launcher) {
  const auto [name, argument] = transport::parse_choice(choice);
  const Entry& entry = backend_named(name);
  const Module& module = entry.needs_mpi ? mpi_io_of(entry, launcher) : posix::module();
  module.prepare(argument);
  return {entry, argument, module};
}

}  // namespace leadline::storage

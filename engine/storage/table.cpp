// SPDX-License-Identifier: Apache-2.0
// The table itself, one line per backend, and the opening of what it names.
#include "storage/table.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "storage/posix/posix.hpp"

namespace leadline::storage {
namespace {

constexpr transport::ModuleFile mpi_io_files[] = {{"mpi_io_openmpi", transport::open_mpi_launchers},
                                                  {"mpi_io_mpich", transport::mpich_launchers}};

constexpr Entry table[] = {
    {"posix", "the system's own calls: pread and pwrite, or POSIX AIO", {}, false},
    {"mpi-io", "MPI-IO of the library that the launcher belongs to (mpi-io:romio, mpi-io:ompio)", mpi_io_files, true},
};

const Entry& backend_named(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(table), std::end(table), [&](const Entry& entry) { return name == entry.name; });
  if (found != std::end(table)) return *found;
  std::string names;
  for (const Entry& entry : table) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  throw Error(ExitStatus::bad_command_line, "there is no backend \"" + name + "\"", "the backends are " + names,
              "See leadline io --help");
}

const transport::ModuleFile& file_for(const Entry& entry, cluster::Launcher launcher) {
  if (const auto* found = transport::fitting_file(entry.files, launcher)) return *found;
  throw Error(ExitStatus::something_missing, std::string("the backend ") + entry.name + " needs a launcher of MPI",
              transport::why_not_fitting(launcher),
              std::string("Try: mpirun -n 4 leadline io --backend ") + entry.name + ", or --backend posix");
}

const Module& module_of(const DynamicLibrary& library) {
  const Module* module = library.function<const Module*()>(module_symbol)();
  if (module == nullptr) throw Error(ExitStatus::something_missing, library.path() + " offers no backend");
  return *module;
}

DynamicLibrary open_library(const Entry& entry, const transport::ModuleFile& file) {
  const std::string name = std::string("leadline_storage_") + file.stem + ".so";
  try {
    DynamicLibrary library((module_directory() / name).string());
    module_of(library);
    return library;
  } catch (const Error& error) {
    throw Error(ExitStatus::something_missing, std::string("the backend ") + entry.name + " cannot be used here",
                error.why().empty() ? error.problem() : error.why(), "--backend posix needs no library");
  }
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
  std::optional<DynamicLibrary> library;
  if (!entry.files.empty()) library = open_library(entry, file_for(entry, launcher));
  const Module& module = library ? module_of(*library) : posix::module();
  module.prepare(argument);
  return {entry, argument, module, std::move(library)};
}

}  // namespace leadline::storage

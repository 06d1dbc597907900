// SPDX-License-Identifier: Apache-2.0
// Looks for the MPI library of a launcher, opens it and recognises its ABI by its symbols.
#include "mpi/library_search.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace leadline::mpi {
namespace {

using cluster::Launcher;
namespace fs = std::filesystem;

constexpr const char* variable = "LEADLINE_LIBMPI";
constexpr const char* libfabric = "libfabric.so.1";

/// A file of that name may have another ABI all the same: Open MPI 1.10 was a libmpi.so.12, too.
struct Name {
  const char* file;
  Abi abi;
};

// The library's own ABI before the standard one: it is what applications are linked with. (8 B within a host takes as
// long by either, MPICH 5.0.2 and Intel MPI 2021.18, 2026-11-28.) Never libmpi_abi.so: it may be a linker's text.
constexpr std::array<Name, 2> names_of_open_mpi{{{"libmpi.so.40", Abi::open_mpi}, {"libmpi_abi.so.1", Abi::standard}}};
constexpr std::array<Name, 3> names_of_mpich{
    {{"libmpi.so.12", Abi::mpich}, {"libmpich.so.12", Abi::mpich}, {"libmpi_abi.so.1", Abi::standard}}};

bool starts_open_mpi(Launcher launcher) {
  // Debian's MPICH has no PMIx: under Slurm with --mpi=pmix every one of its ranks would be alone.
  return launcher == Launcher::open_mpi || launcher == Launcher::slurm_pmix || launcher == Launcher::pmix;
}

std::span<const Name> names_for(Launcher launcher) {
  if (starts_open_mpi(launcher)) return names_of_open_mpi;
  return names_of_mpich;
}

/// False where the launcher is that of another library, so that each rank would be alone. Under Slurm, Flux and others,
/// which start any library, that shows when MPI has started.
bool belongs_to(const Library& library, Launcher launcher) {
  const bool is_open_mpi = library.abi == Abi::open_mpi || library.name.starts_with("Open MPI");
  if (launcher == Launcher::open_mpi) return is_open_mpi;
  if (launcher == Launcher::mpich && !launchers_above().empty()) return !is_open_mpi;
  return true;
}

Abi abi_of(void* handle) {
  int major = 0, minor = 0;
  // MPICH's own libmpi has the function as well; there it answers -1.
  if (auto* const version = reinterpret_cast<int (*)(int*, int*)>(dlsym(handle, "MPI_Abi_get_version"));
      version != nullptr && version(&major, &minor) == 0 && major > 0) {
    return Abi::standard;
  }
  return dlsym(handle, "ompi_mpi_comm_self") != nullptr ? Abi::open_mpi : Abi::mpich;
}

/// Whether LD_LIBRARY_PATH leads to a libfabric in another folder.
bool another_is_chosen(const fs::path& folder) {
  const char* const given = std::getenv("LD_LIBRARY_PATH");
  std::istringstream text(given != nullptr ? given : "");
  for (std::string one; std::getline(text, one, ':');) {
    std::error_code ignored;
    if (!one.empty() && fs::exists(fs::path(one) / libfabric, ignored)) return !fs::equivalent(one, folder, ignored);
  }
  return false;
}

/// Intel's library opens libfabric by name, and libfabric its providers. Where they lie a script of oneAPI tells both,
/// and in wheels of Python's package index there is none: all lie in the folder of the library. mpi4py does the same.
/// What the user has chosen stays. What cannot be opened is MPI's to say.
void take_libfabric_beside(const fs::path& library) {
  const fs::path folder = library.parent_path();
  std::error_code ignored;
  if (!fs::exists(folder / libfabric, ignored) || another_is_chosen(folder)) return;
  for (const char* choice : {"I_MPI_OFI_LIBRARY", "I_MPI_OFI_LIBRARY_INTERNAL"}) {
    if (std::getenv(choice) != nullptr) return;
  }
  constexpr int keep_what_is_set = 0;
  ::setenv("FI_PROVIDER_PATH", folder.c_str(), keep_what_is_set);
  dlopen((folder / libfabric).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/// Throws Error(something_missing).
Library open_library(const std::string& file, std::string origin) {
  DynamicLibrary opened(file);
  void* const function = opened.symbol("MPI_Get_library_version");
  Dl_info where{};
  std::string path = dladdr(function, &where) != 0 ? where.dli_fname : file;
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  std::array<char, 16384> version{};  // the longest of any ABI is 8192
  int length = 0;
  reinterpret_cast<int (*)(char*, int*)>(function)(version.data(), &length);
  std::string name = short_name({version.data(), static_cast<std::size_t>(length)});
  if (name.starts_with("Intel(R) MPI")) take_libfabric_beside(path);
  return {std::move(opened), std::move(path), abi_of(handle), std::move(name), std::move(origin)};
}

[[noreturn]] void throw_unusable(const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::something_missing, "the transport mpi cannot be used here", why, hint);
}

void require_built_for(const Library& library) {
  if (is_built_for(library.abi)) return;
  throw_unusable(fmt::format("this program was built without the ABI of {}, which {} ({}) has", name_of(library.abi),
                             library.name, library.path),
                 "Build it where such an mpi.h is installed, or use --transport tcp");
}

/// Empty = not given.
std::string named_file() {
  const char* const given = std::getenv(variable);
  return given != nullptr ? given : "";
}

Library open_named(const std::string& file) {
  try {
    return open_library(file, variable);
  } catch (const Error& error) {
    throw Error(ExitStatus::something_missing, fmt::format("{} names no MPI library", variable), error.reason(),
                "Give the full path of a libmpi.so");
  }
}

/// Where libraries lie beside a program.
std::vector<fs::path> folders_beside(const std::string& program) {
  const fs::path prefix = fs::path(program).parent_path().parent_path();
  std::vector<fs::path> folders{prefix / "lib", prefix / "lib64"};
  if (utsname machine{}; uname(&machine) == 0) {
    folders.push_back(prefix / "lib" / (std::string(machine.machine) + "-linux-gnu"));  // Debian
  }
  return folders;
}

std::optional<Library> beside_launcher(std::span<const Name> names) {
  for (const std::string& program : launchers_above()) {
    for (const fs::path& folder : folders_beside(program)) {
      for (const Name& name : names) {
        std::error_code ignored;
        const fs::path file = folder / name.file;
        if (!is_built_for(name.abi) || !fs::exists(file, ignored)) continue;
        return open_library(file.string(), "beside " + program);
      }
    }
  }
  return std::nullopt;
}

/// Throws the loader's reason for the first of them that the program is built for.
Library on_loaders_path(std::span<const Name> names) {
  std::optional<Error> first;
  for (const Name& name : names) {
    if (!is_built_for(name.abi)) continue;
    try {
      return open_library(name.file, "on the loader's path");
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  if (first)
    throw_unusable(first->reason(), fmt::format("Name the launcher's library: {}=/path/to/libmpi.so", variable));
  throw_unusable(fmt::format("this program was built without the ABI of {}", name_of(names.front().abi)),
                 "Build it where such an mpi.h is installed, or use --transport tcp");
}

/// The process above; 0 where there is none to be seen.
pid_t parent_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  // "PID (NAME) STATE PARENT ...", where a name may have blanks and parentheses.
  const auto end = text.rfind(')');
  if (end == std::string::npos || text.size() < end + 5) return 0;
  pid_t parent = 0;
  std::from_chars(text.data() + end + 4, text.data() + text.size(), parent);
  return parent;
}

}  // namespace

const char* name_of(Abi abi) {
  switch (abi) {
    case Abi::open_mpi:
      return "Open MPI";
    case Abi::mpich:
      return "MPICH";
    case Abi::standard:
      return "MPI 5";
  }
  return "unknown";
}

bool is_built_for([[maybe_unused]] Abi abi) {
#ifdef LEADLINE_HAS_MPI_openmpi
  if (abi == Abi::open_mpi) return true;
#endif
#ifdef LEADLINE_HAS_MPI_mpich
  if (abi == Abi::mpich) return true;
#endif
#ifdef LEADLINE_HAS_MPI_abi
  if (abi == Abi::standard) return true;
#endif
  return false;
}

bool is_mpi_launcher(Launcher launcher) {
  return starts_open_mpi(launcher) || launcher == Launcher::mpich || launcher == Launcher::slurm_pmi2;
}

Library find_library(Launcher launcher) {
  const auto found = [&] {
    if (const std::string file = named_file(); !file.empty()) return open_named(file);
    if (auto beside = beside_launcher(names_for(launcher))) return std::move(*beside);
    return on_loaders_path(names_for(launcher));
  };
  Library library = found();
  if (!belongs_to(library, launcher)) {
    throw_unusable(fmt::format("the launcher is {}, and the library {} ({}, {})", cluster::name_of(launcher),
                               library.name, library.path, library.origin),
                   fmt::format("Start with the library's own launcher, or name the launcher's library: {}", variable));
  }
  require_built_for(library);
  return library;
}

Library find_library_of(Abi abi) {
  if (const std::string file = named_file(); !file.empty()) {
    Library library = open_named(file);
    if (library.abi == abi) return library;
    throw_unusable(fmt::format("{} is {} ({})", variable, library.name, library.path), "");
  }
  std::vector<Name> names;
  for (const auto all : {std::span<const Name>(names_of_mpich), std::span<const Name>(names_of_open_mpi)}) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(names), [&](const Name& one) { return one.abi == abi; });
  }
  return on_loaders_path(names);
}

std::string short_name(std::string_view version) {
  std::string name(version.substr(0, version.find_first_of(",\n")));
  if (const auto label = name.find(" Version:"); label != std::string::npos) name.erase(label, 9);
  std::replace(name.begin(), name.end(), '\t', ' ');
  for (auto twice = name.find("  "); twice != std::string::npos; twice = name.find("  ")) name.erase(twice, 1);
  while (!name.empty() && (name.back() == ' ' || name.back() == '\0')) name.pop_back();
  return name;
}

std::vector<std::string> launchers_above() {
  std::vector<std::string> programs;
  for (pid_t process = getppid(); process > 1; process = parent_of(process)) {
    std::error_code unreadable;  // another user's
    const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", process), unreadable);
    if (!unreadable && is_launcher_program(program.filename().string())) programs.push_back(program.string());
  }
  return programs;
}

bool is_launcher_program(std::string_view name) {
  constexpr std::array<std::string_view, 6> beginnings{"mpirun", "mpiexec", "orte", "prte", "hydra_", "pmi_proxy"};
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto one) { return name.starts_with(one); });
}

}  // namespace leadline::mpi

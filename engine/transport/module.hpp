// SPDX-License-Identifier: Apache-2.0
// Finding and opening the modules that carry the transports, and trying each of them in a child process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "core/dynamic_library.hpp"
#include "transport/table.hpp"
#include "transport/transport.hpp"

namespace leadline::transport {

/// An open module. The library stays in the process to its end, since vendors' libraries crash when they are unloaded.
class LoadedModule {
 public:
  LoadedModule(const Entry& entry, const ModuleFile& file, DynamicLibrary library, const Module& module)
      : entry_(&entry), file_(&file), library_(std::move(library)), module_(&module) {}

  const Module* operator->() const { return module_; }
  const Entry& entry() const { return *entry_; }
  const char* stem() const { return file_->stem; }
  const std::string& path() const { return library_.path(); }

 private:
  const Entry* entry_;
  const ModuleFile* file_;
  DynamicLibrary library_;
  const Module* module_;
};

/// Local: opens the module that carries the transport here. Throws Error(bad_command_line) for an unknown name,
/// Error(something_missing) with the loader's reason where the file is not there or cannot be loaded, and where a
/// transport needs a launcher and this is none of its own.
LoadedModule open_module(std::string_view name, cluster::Launcher launcher = cluster::detect_launcher());

/// Local: opens one module file by its path. Throws Error(something_missing) with the loader's reason.
struct OpenFile {
  DynamicLibrary library;
  const Module* module;
};
OpenFile open_file(const std::string& path);

/// Where the file of a module lies.
std::string path_of(const ModuleFile& file);

/// What a module says of one setting.
struct KnownSetting {
  std::string name, value, meaning;  ///< as in Setting
};

/// Whether one module file can be loaded here, and what it says about itself.
struct Availability {
  const Entry* entry = nullptr;
  const ModuleFile* file = nullptr;
  std::string path;
  std::string why_absent;              ///< the loader's reason; empty = it can be loaded
  std::vector<KnownSetting> settings;  ///< where everything was asked for, like the rest
  std::vector<Fact> facts;
  std::string why_unusable;  ///< the library's reason why there are no facts; empty = there are
};

enum class Ask : std::uint8_t { whether_it_loads, everything };

/// Local: tries all modules, in the order of the table; each in a child process of its own, since the symbols of two
/// MPI libraries would clash in one, and a library may crash or hang. To be called by a process without threads.
std::vector<Availability> probe_all(Ask ask = Ask::whether_it_loads);

}  // namespace leadline::transport

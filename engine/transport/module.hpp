// SPDX-License-Identifier: Apache-2.0
// Finding the transports that are built here, and trying each of them in a child process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "transport/table.hpp"
#include "transport/transport.hpp"

namespace leadline::transport {

/// A transport whose library is open. Libraries stay in the process to its end: vendors' crash when they are unloaded.
class LoadedModule {
 public:
  LoadedModule(const Entry& entry, const Build& build, const Module& module)
      : entry_(&entry), build_(&build), module_(&module) {}

  const Module* operator->() const { return module_; }
  const Entry& entry() const { return *entry_; }
  const char* build() const { return build_->name; }

 private:
  const Entry* entry_;
  const Build* build_;
  const Module* module_;
};

/// Local: the build of that transport which fits here, its library open. Throws Error(bad_command_line) for an unknown
/// name, Error(something_missing) with the reason where it is not built or the loader does not open its library, and
/// where a transport needs a launcher of MPI and this is none, or the launcher's library is not found
/// (leadline::mpi::find_library).
LoadedModule open_module(std::string_view name, cluster::Launcher launcher = cluster::detect_launcher());

/// What a transport says of one setting.
struct KnownSetting {
  std::string name, value, meaning;  ///< as in Setting
};

/// Whether one build of a transport can be used here, and what it says about itself.
struct Availability {
  const Entry* entry = nullptr;
  const Build* build = nullptr;
  std::string path;                    ///< of the MPI library, where it is found; empty for all others
  std::string mpi_name;                ///< "Open MPI v4.1.4"; empty for all others
  std::string why_absent;              ///< "not built: ...", or the loader's reason; empty = it can be loaded
  std::vector<KnownSetting> settings;  ///< where it can be loaded
  std::vector<Fact> facts;
  std::string why_unusable;  ///< the library's reason why there are no facts; empty = there are, or it is absent

  bool is_usable() const { return why_absent.empty() && why_unusable.empty(); }
};

/// Local: tries all builds, in the order of the table; each in a child process of its own, since the symbols of two
/// MPI libraries would clash in one, and a library may crash or hang. To be called by a process without threads.
std::vector<Availability> probe_all();

}  // namespace leadline::transport

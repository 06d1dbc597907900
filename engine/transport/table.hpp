// SPDX-License-Identifier: Apache-2.0
// The table of transports: their names, what each is for, and which module files carry them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "cluster/bootstrap.hpp"

namespace leadline::transport {

/// One build of a transport: the file leadline_transport_<stem>.so.
struct ModuleFile {
  const char* stem = nullptr;
  std::span<const cluster::Launcher> launchers{};  ///< those that its library works under; empty = it needs none
};

/// Those of each MPI library. MPICH has no PMIx in Debian's build: under Slurm with --mpi=pmix every one of its ranks
/// would be alone.
inline constexpr cluster::Launcher open_mpi_launchers[] = {cluster::Launcher::open_mpi, cluster::Launcher::slurm_pmix,
                                                           cluster::Launcher::pmix};
inline constexpr cluster::Launcher mpich_launchers[] = {cluster::Launcher::mpich, cluster::Launcher::slurm_pmi2};

/// The first that works under this launcher, or null.
const ModuleFile* fitting_file(std::span<const ModuleFile> files, cluster::Launcher launcher);

/// Why none does.
std::string why_not_fitting(cluster::Launcher launcher);

/// An option that not every run can have with a transport.
struct Limit {
  const char* option = nullptr;   ///< of `leadline link`, as written there
  const char* verdict = nullptr;  ///< "if ..." with the condition, or "no: " with the reason
};

struct Entry {
  const char* name;     ///< as in --transport
  const char* purpose;  ///< one line for people
  std::array<ModuleFile, 2> file_list{};
  std::array<Limit, 2> limit_list{};
  const char* allocator = nullptr;  ///< the default for messages; null = that of all transports
  /// The setting, "NAME=VALUE", with which ranks that do not come may be left out; empty = always, null = never.
  const char* begins_without_absent = nullptr;

  std::span<const ModuleFile> files() const;
  std::span<const Limit> limits() const;  ///< what is not named here works
};

/// All transports, the default first.
std::span<const Entry> transports();

/// Throws Error(bad_command_line) that lists the names, where there is no such transport.
const Entry& transport_named(std::string_view name);

/// The allocator of the transport that is meant by `choice`, as behind --transport; null also for names that are none.
const char* default_allocator(std::string_view choice);

/// Whether ranks that do not come may be left out with these settings, "NAME=VALUE" each.
bool begins_without_absent(const Entry& transport, std::span<const std::string> settings);

/// The limit of that option, or null.
const Limit* limit_of(const Entry& transport, std::string_view option);

/// The value of --transport: "name" or "name:argument".
struct Choice {
  std::string name;
  std::string argument;
};
Choice parse_choice(std::string_view text);

}  // namespace leadline::transport

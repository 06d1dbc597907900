// SPDX-License-Identifier: Apache-2.0
// The table of transports: their names, what each is for, and which builds of them there are.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cluster/bootstrap.hpp"
#include "mpi/library_search.hpp"

namespace leadline::transport {

struct Module;

/// One build of a transport.
struct Build {
  const char* name = nullptr;
  std::optional<leadline::mpi::Abi> abi{};  ///< of the MPI library whose functions it calls; none = it calls none
};

/// Why no MPI can be started under this launcher.
std::string why_no_mpi(cluster::Launcher launcher);

/// What to do then: `command` is that of a rank.
std::string how_to_start_mpi(cluster::Launcher launcher, std::string_view command);

/// What of a build is in this program.
struct BuiltModule {
  const char* name;           ///< as Build::name
  const Module* module;       ///< null = it is not built
  const char* why_not_built;  ///< "libfoo was not found (foo.h)"; empty where it is
};

/// All that this program was configured with; the configuration writes the list.
std::span<const BuiltModule> built_modules();

/// An option that not every run can have with a transport.
struct Limit {
  const char* option = nullptr;   ///< of `leadline link`, as written there
  const char* verdict = nullptr;  ///< "if ..." with the condition, or "no: " with the reason
};

struct Entry {
  const char* name;     ///< as in --transport
  const char* purpose;  ///< one line for people
  std::array<Build, 3> build_list{};
  std::array<Limit, 2> limit_list{};
  const char* allocator = nullptr;  ///< the default for messages; null = that of all transports
  /// The setting, "NAME=VALUE", with which ranks that do not come may be left out; empty = always, null = never.
  const char* begins_without_absent = nullptr;

  std::span<const Build> builds() const;
  bool needs_mpi() const { return build_list.front().abi.has_value(); }
  std::span<const Limit> limits() const;  ///< what is not named here works
};

/// All transports, the default first.
std::span<const Entry> transports();

/// Whether this names the file of a transport: it has a slash.
bool is_file(std::string_view name);

/// That of all files for the name of one. Throws Error(bad_command_line) that lists the names, where there is no such
/// transport.
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

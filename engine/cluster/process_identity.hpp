// SPDX-License-Identifier: Apache-2.0
// Which host this process is on, whatever its name says, and which process of it this is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace leadline::cluster {

/// The name of this host; "unknown" where the system does not say.
std::string host_name();

/// Hashes of what makes a host: cloned machines and containers may have one name.
struct HostIdentity {
  std::uint64_t name = 0;
  std::uint64_t network = 0;  ///< of name and network namespace
  std::uint64_t boot = 0;     ///< 0 where the kernel's number of it cannot be read

  static HostIdentity own();
};

/// By process: its host, numbered by first appearance. One that cannot read its boot is on the host of those of its
/// name and network namespace, where these are of one boot.
std::vector<std::uint32_t> hosts_of(std::span<const HostIdentity> processes);

/// A process, for others that may be on the same host.
struct ProcessIdentity {
  /// A hash of boot and namespace of process numbers: equal where `pid` means the same. The first namespace has the
  /// same number on all hosts, so where the boot cannot be read the name of the host stands for it.
  std::uint64_t scope = 0;
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;  ///< since boot, so that a number that was given out again is another process

  static ProcessIdentity own();
};

/// Whether that process is on this host, still the same one, and stopped.
bool is_stopped_here(const ProcessIdentity& process);

/// Ends that process with SIGKILL where it is on this host, still the same one, and stopped, so that it cannot end by
/// itself. Whether it is on this host at all, or was.
bool end_if_stopped_here(const ProcessIdentity& process);

}  // namespace leadline::cluster

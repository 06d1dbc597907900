// SPDX-License-Identifier: Apache-2.0
// --hosts: starts the ranks on hosts by a command such as ssh, tells them of each other, shows what they say, and ends
// them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace leadline::cluster {

struct HostsRun {
  std::vector<std::string> hosts;  ///< each once; ranks are numbered in this order
  int ranks_per_host = 1;
  std::vector<std::string> command;    ///< these words, a host and a command line run that on the host
  std::string program;                 ///< its path, the same on all hosts
  std::string version;                 ///< all hosts must have this one
  std::vector<std::string> arguments;  ///< argv of each rank
  std::chrono::nanoseconds start_timeout{};
  bool leaves_out_absent = false;  ///< the run goes on without hosts that do not come
};

/// Blocks until the run is over; hands SIGINT, SIGTERM and SIGHUP on to the ranks. Nothing of it is left when it
/// returns, throws or dies. Nothing but a path, a host and `--rank-from-stdin` is on a command line. Hosts that do not
/// come have the last ranks. Returns 0 if all ranks did, else the status of the one that leads if that is not 0, else
/// 4. To be called while the process has one thread. Throws Error(bad_command_line) where `command` cannot be started,
/// Error(something_missing) where a host has not this program, Error(run_failed) where too few hosts come.
int launch_on_hosts(const HostsRun& run);

}  // namespace leadline::cluster

// SPDX-License-Identifier: Apache-2.0
// What a user asked for, whatever is measured: who takes part, how ranks wait, where the result goes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "memory/pattern.hpp"

namespace leadline {

/// How a rank waits, in timed loops and on the control plane.
enum class WaitMode : std::uint8_t {
  automatic,  ///< spin, or yield where a host has more ranks than cores
  spin,       ///< never give the core away
  yield,      ///< try, then sched_yield
  block,      ///< sleep in the kernel
};

/// Which cores of its host the measuring thread of a rank may use.
enum class Binding : std::uint8_t {
  automatic,  ///< as core where nothing has bound the ranks, a host has several and each gets a core; else as none
  core,       ///< a core of its own, or a hardware thread of its own where there are more ranks than cores
  numa,       ///< those of a NUMA node; the ranks of a host take the nodes in turn
  none,       ///< as started
};

enum class ResultFormat : std::uint8_t { hdf5, json, sion, none };

/// How rows reach the result file.
enum class RowPath : std::uint8_t {
  automatic,  ///< each rank or host writes its own where all ranks see the same file, through rank 0 otherwise
  funnel,     ///< always through rank 0
};

/// The options that all benchmarks share. Sizes in bytes, times in seconds.
struct RunRequest {
  std::vector<std::string> command_line;  ///< argv as given

  std::string transport;                       ///< name, or name:argument; empty = what fits the launcher
  std::vector<std::string> transport_options;  ///< "NAME=VALUE" each
  std::string interface;           ///< networks between hosts: devices, subnets or address prefixes; empty = any
  std::string host_name_suffix;    ///< network between hosts: what the short host name is looked up with
  int num_local = 0;               ///< --local; 0 = the cores, at least 2
  std::vector<std::string> hosts;  ///< --hosts, on which ranks are started; empty = by a launcher, or here
  int ranks_per_host = 0;          ///< 0 = one with --hosts, all on one with --dry-run
  std::string launch;              ///< command that starts a program on a host; empty = ssh
  std::vector<std::uint64_t> message_sizes_bytes{1024};
  int repeat = 1;
  std::string allocator = "aligned";
  Fill fill = Fill::ramp;
  std::uint64_t fill_seed = 1;  ///< of random contents
  bool verify = false;
  WaitMode wait = WaitMode::automatic;
  Binding binding = Binding::automatic;
  double timeout_s = 60;
  double start_timeout_s = 0;  ///< how long ranks may take to come; 0 = timeout_s
  bool strict_ranks = false;   ///< the run ends where a rank, or a pair of ranks, is lost

  std::string output;  ///< empty = a name with the time in it; "-" = standard output (JSON)
  ResultFormat format = ResultFormat::hdf5;
  RowPath row_path = RowPath::automatic;
  bool overwrite = false;
  bool quiet = false, verbose = false;
  bool dry_run = false;
  int dry_run_ranks = 0;  ///< --ranks
};

/// The word used for a value in options, files and reports.
const char* name_of(WaitMode mode);
std::span<const Named<WaitMode>> names_of(WaitMode any);
const char* name_of(Binding binding);
std::span<const Named<Binding>> names_of(Binding any);
const char* name_of(ResultFormat format);
std::span<const Named<ResultFormat>> names_of(ResultFormat any);
const char* name_of(RowPath row_path);
std::span<const Named<RowPath>> names_of(RowPath any);

}  // namespace leadline

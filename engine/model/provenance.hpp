// SPDX-License-Identifier: Apache-2.0
// Where a result comes from: program, machine, launcher, transport, clock, and each rank's placement.
#pragma once

#include <cstdint>
#include <string>

#include "model/request.hpp"

namespace leadline {

/// One rank's placement. Every rank knows its own; no rank keeps all of them.
struct RankPlacement {
  std::string host;
  std::int32_t pid = 0;
  std::string cpus;             ///< cores it may run on, as "0-3,8"
  std::int32_t num_cpus = 0;    ///< how many those are
  std::int32_t numa_node = -1;  ///< -1 = several, or unknown
  std::string device;           ///< network device of the transport; empty = none named
  std::string adapter;          ///< network adapter that it uses, as the kernel knows it: "mlx5_0"; empty = not known
};

struct TransportInfo {
  std::string name;        ///< "tcp"
  std::string library;     ///< "Open MPI v4.1.4"
  std::string device;      ///< "lo", empty where the library chooses
  bool simulated = false;  ///< times come from a model, not from hardware
};

struct ClockInfo {
  std::string source;        ///< "CLOCK_MONOTONIC (tsc)"
  double resolution_ns = 0;  ///< smallest step seen
  double cost_ns = 0;        ///< of one reading
};

/// What the network adapters of most ranks carry, as the kernel tells.
struct LineRate {
  std::string adapter;     ///< "eth0, 10 Gb/s"; empty = not known, or all ranks are on one host
  double bytes_per_s = 0;  ///< one way; 0 = not known
};

/// What one rank of each host copies from memory to memory beyond its caches; the median over the hosts.
struct MemoryCopy {
  double bytes_per_s = 0;  ///< 0 = not measured: all ranks are on one host
};

struct Provenance {
  std::string version, commit;
  std::string start_utc, end_utc;  ///< ISO 8601, "2026-01-31T23:59:59Z"
  std::string launcher;            ///< "local", "environment", "Open MPI mpirun", "MPICH Hydra", "Slurm (pmix)" ...
  std::string kernel;              ///< uname: "Linux 6.1.0 x86_64"
  TransportInfo transport;
  LineRate line_rate;
  MemoryCopy memory_copy;
  ClockInfo clock;
  WaitMode wait = WaitMode::automatic;  ///< what was used, never automatic in a result
  std::string binding;  ///< what bound the ranks: "core", "numa" (this program), "launcher", "none"; empty = not known
  bool control_plane_on_loopback = true;
  int num_ranks = 0;
  int num_hosts = 0;
};

}  // namespace leadline

// SPDX-License-Identifier: Apache-2.0
// What a user asked for: the options of a run as plain data, one member per option, same names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memory/pattern.hpp"

namespace leadline {

/// What a pair exchanges; the formulas are in docs/metrics.md.
enum class Direction : std::uint8_t {
  semidirectional,  ///< ping-pong; time is half a round trip
  unidirectional,   ///< a stream of windows, acknowledged once at its end
  bidirectional,    ///< both sides send at once
};

/// How a rank waits, in timed loops and on the control plane.
enum class WaitMode : std::uint8_t {
  automatic,  ///< spin, or yield where a host has more ranks than cores
  spin,       ///< never give the core away
  yield,      ///< try, then sched_yield
  block,      ///< sleep in the kernel
};

enum class ResultFormat : std::uint8_t { hdf5, json, none };

/// `leadline link`. Sizes in bytes, times in seconds.
struct LinkRequest {
  std::vector<std::string> command_line;  ///< argv as given

  std::string transport;  ///< name, or name:argument; empty = what fits the launcher
  std::string interface;  ///< network for TCP between hosts: a device or an address prefix; empty = any
  int num_local = 0;      ///< --local; 0 = the cores, at least 2
  std::vector<std::uint64_t> message_sizes_bytes{1024};
  std::uint64_t num_messages = 100;
  std::uint64_t num_warmup = 10;
  std::uint32_t num_batches = 20;  ///< timed batches a measurement is cut into (at most num_messages)
  std::uint32_t window = 64;       ///< unidirectional and bidirectional: messages in flight
  Direction direction = Direction::semidirectional;
  bool serial = false;
  std::vector<std::int64_t> rounds;  ///< --rounds: 1-based, in this order; empty = all
  bool shuffle_rounds = false;
  int shuffle_ranks = 0;  ///< number of random permutations of the ranks; 0 = none
  std::uint64_t seed = 1;
  int repeat = 1;
  double min_time_s = 0;  ///< repeat the whole test until so much time has been measured
  int retest_slowest = 10;
  std::string allocator = "aligned";
  Fill fill = Fill::ramp;
  bool verify = false;
  WaitMode wait = WaitMode::automatic;
  double timeout_s = 60;

  std::string output;  ///< empty = a name with the time in it; "-" = standard output (JSON)
  ResultFormat format = ResultFormat::hdf5;
  bool overwrite = false;
  bool quiet = false;
  bool dry_run = false;
  int dry_run_ranks = 0;  ///< --ranks
};

/// The word used for a value in options, files and reports.
const char* name_of(Direction direction);
const char* name_of(WaitMode mode);
const char* name_of(ResultFormat format);

}  // namespace leadline

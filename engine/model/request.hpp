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

/// When all ranks exchange messages with all others, beside the rounds.
enum class AllToAll : std::uint8_t {
  none,
  around,            ///< before the first round and after the last one of a slice
  before_each_round  ///< as LinkTest 1.2 does
};

enum class ResultFormat : std::uint8_t { hdf5, json, sion, none };

/// How rows reach the result file.
enum class RowPath : std::uint8_t {
  automatic,  ///< each rank writes its own where all ranks see the same file, through rank 0 otherwise
  funnel,     ///< always through rank 0
};

/// `leadline link`. Sizes in bytes, times in seconds.
struct LinkRequest {
  std::vector<std::string> command_line;  ///< argv as given

  std::string transport;         ///< name, or name:argument; empty = what fits the launcher
  std::string interface;         ///< network for TCP between hosts: a device or an address prefix; empty = any
  std::string host_name_suffix;  ///< network for TCP between hosts: what the short host name is looked up with
  int num_local = 0;             ///< --local; 0 = the cores, at least 2
  std::vector<std::uint64_t> message_sizes_bytes{1024};
  std::uint64_t num_messages = 100;
  std::uint64_t num_warmup = 10;
  std::uint32_t num_batches = 20;  ///< timed batches a measurement is cut into (at most num_messages)
  std::uint32_t window = 64;       ///< unidirectional and bidirectional: messages in flight
  Direction direction = Direction::semidirectional;
  AllToAll all_to_all = AllToAll::none;
  std::uint64_t all_to_all_size_bytes = 0;  ///< of each message; 0 = the message size of the slice
  bool bisection = false;                   ///< only pairs across the two halves of the ranks, or of the hosts
  bool between_hosts = false;               ///< host against host, only pairs on different hosts
  bool one_per_host = false;                ///< only the lowest rank of each host takes part in the rounds
  bool serial = false;
  std::vector<std::int64_t> rounds;  ///< --rounds: 1-based, in this order; empty = all
  bool shuffle_rounds = false;
  int shuffle_ranks = 0;                  ///< number of random permutations of the ranks; 0 = none
  std::uint64_t seed = 1;                 ///< what the three seeds below are where they are not given
  std::uint64_t shuffle_rounds_seed = 1;  ///< of the order of the rounds
  std::uint64_t shuffle_ranks_seed = 1;   ///< of the permutations of the ranks
  std::uint64_t fill_seed = 1;            ///< of random contents
  int repeat = 1;
  double min_time_s = 0;  ///< repeat the whole test until so much time has been measured
  int retest_slowest = 10;
  std::string allocator = "aligned";
  std::uint32_t num_buffers = 1;  ///< send and receive buffers that messages take in turn
  Fill fill = Fill::ramp;
  bool verify = false;
  bool check_buffers = false;  ///< after each timed measurement, compare what lies in the receive buffers
  WaitMode wait = WaitMode::automatic;
  double timeout_s = 60;

  std::string output;  ///< empty = a name with the time in it; "-" = standard output (JSON)
  ResultFormat format = ResultFormat::hdf5;
  RowPath row_path = RowPath::automatic;
  bool overwrite = false;
  bool quiet = false;
  bool dry_run = false;
  int dry_run_ranks = 0;           ///< --ranks
  int dry_run_ranks_per_host = 0;  ///< --ranks-per-host; 0 = all on one
};

/// The word used for a value in options, files and reports.
const char* name_of(Direction direction);
const char* name_of(WaitMode mode);
const char* name_of(AllToAll all_to_all);
const char* name_of(ResultFormat format);
const char* name_of(RowPath row_path);

}  // namespace leadline

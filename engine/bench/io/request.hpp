// SPDX-License-Identifier: Apache-2.0
// What a user asked of `leadline io`: one member per option, same names.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/named.hpp"
#include "diagnosis/file_phases.hpp"
#include "memory/block_pattern.hpp"
#include "model/diagnosis.hpp"
#include "model/request.hpp"
#include "schedule/file_layout.hpp"
#include "storage/storage.hpp"

namespace leadline::bench::io {

/// Which phases a repetition has.
enum class IoOperations : std::uint8_t { both, write, read };

/// Parameters under one name; see presets.hpp.
enum class Preset : std::uint8_t { none, ior_easy, ior_hard, mdtest_easy, mdtest_hard };

/// Another benchmark, whose numbers are printed, too.
enum class Like : std::uint8_t { none, ior };

/// With --metadata: what is made, looked at and removed.
enum class MetadataItems : std::uint8_t { both, files, directories };

/// What happens to the pages of the files between writing and reading.
enum class BetweenPhases : std::uint8_t {
  keep,  ///< nothing
  drop,  ///< synced, dropped, and checked
};

/// Whether writing ends with fsync, and whether its time is part of the reported one.
enum class SyncTiming : std::uint8_t {
  inside,
  outside,
  none,
  each,  ///< behind each write call, inside
};

/// Whether nothing is left to be written when the reported time ends.
constexpr bool syncs_inside(SyncTiming sync) { return sync == SyncTiming::inside || sync == SyncTiming::each; }

/// Whose data a rank reads.
enum class ReadShift : std::uint8_t { none, ranks, hosts };

/// Sizes in bytes, times in seconds. `verify` of RunRequest is not used; see `check`.
struct IoRequest : RunRequest {
  Preset preset = Preset::none;
  Like like = Like::none;
  // Movement
  schedule::Movement movement = schedule::Movement::n_n;
  schedule::Order order = schedule::Order::segmented;  ///< --strided
  std::uint64_t block_size_bytes = 0;                  ///< --block-size, with --strided; 0 = an object
  std::uint64_t num_objects = 64;                      ///< --objects: of a rank
  std::uint64_t object_size_bytes = 1 << 20;           ///< --object-size; also the only one of message_sizes_bytes
  std::uint64_t random_seed = 0;        ///< --random: of the order in which a rank takes its objects; 0 = as they lie
  std::vector<std::int64_t> io_ranks;   ///< --io-ranks: in all, or for each of io_hosts; empty = all ranks
  std::vector<std::string> io_hosts;    ///< --io-hosts; empty = any
  int num_files = 0;                    ///< --files (N-M); 0 = as many as --targets names
  std::uint64_t buffer_size_bytes = 0;  ///< --buffer-size of an I/O rank; 0 = the most objects that fit into 64 MiB
  int num_ahead = 1;                    ///< --ahead: buffers beside the one in use: being received, or being written
  schedule::SelfSend self_send = schedule::SelfSend::yes;  ///< --no-self-send
  bool no_file = false;                                    ///< the pure funnel: nothing is opened
  // Calls
  std::string backend;  ///< "posix", "mpi-io", "mpi-io:romio", "mpi-io:ompio"; empty = what fits the transport
  storage::FileCalls calls = storage::FileCalls::blocking;
  int queue_depth = 1;  ///< --queue-depth: blocking calls of a rank that are under way at once; above 1 by io_uring
  bool collective = false;
  bool allow_fragile = false;  ///< calls that the probe has seen crash or hang are made all the same
  std::vector<std::pair<std::string, std::string>> hints;
  bool barrier = false;  ///< before every write call
  // Files
  std::string target;              ///< a name with %r %h %p; empty = "leadline-io.%r" or "leadline-io"
  std::string targets_file;        ///< --targets: names by line, instead
  bool overwrite_targets = false;  ///< also files that do not look like ours
  bool new_files = false;          ///< existing ones are removed before they are written, rather than emptied
  bool delete_files = false;       ///< at the end
  std::uint64_t preallocate_bytes = 0;
  // Phases
  IoOperations operations = IoOperations::both;  ///< --op
  /// Operations on files and directories as a whole instead: an object is an item of a rank, a file of the layout is a
  /// directory that has such items.
  bool metadata = false;
  MetadataItems items = MetadataItems::both;
  double mix_read_share = 0;           ///< --mix: of the objects of a phase of its own; 0 = there is none
  std::uint64_t rate_limit_bytes = 0;  ///< --rate-limit: of a rank, in a second; 0 = none
  double sleep_s = 0;                  ///< between writing and reading
  double time_limit_s = 0;             ///< of a phase; 0 = none
  bool time_based = false;             ///< objects are taken again and again until then
  double ramp_time_s = 0;              ///< before that time, not counted in the rates
  // Data
  memory::Touch touch = memory::Touch::full;
  memory::Check check = memory::Check::all;
  memory::BlockKind file_fill = memory::BlockKind::blocks;  ///< --fill; `fill` of RunRequest is not used
  // Cache
  storage::CachePath cache_path = storage::CachePath::buffered;  ///< --direct, --uncached
  BetweenPhases between = BetweenPhases::keep;                   ///< --drop-cache
  SyncTiming sync = SyncTiming::inside;
  ReadShift read_shift = ReadShift::none;
  std::int64_t read_shift_by = 0;  ///< so many ranks, or hosts
  bool is_shift_optional = false;  ///< of a preset: where ranks or hosts are too few, there is none
  // Judgement
  std::uint32_t num_slow_calls = 10;  ///< so many slowest calls are kept
  bool rank_times = false;            ///< keep the times of each rank: `mpi_io_test.x -verbose`
  std::string topology;               ///< the physical network
  DiagnosisSettings diagnosis{.threshold = leadline::diagnosis::least_of_file_test};
};

const char* name_of(IoOperations operations);
std::span<const Named<IoOperations>> names_of(IoOperations any);
const char* name_of(Preset preset);
std::span<const Named<Preset>> names_of(Preset any);
const char* name_of(Like like);
std::span<const Named<Like>> names_of(Like any);
const char* name_of(MetadataItems items);
std::span<const Named<MetadataItems>> names_of(MetadataItems any);
const char* name_of(BetweenPhases between);
const char* name_of(SyncTiming sync);
std::span<const Named<SyncTiming>> names_of(SyncTiming any);
const char* name_of(ReadShift shift);

}  // namespace leadline::bench::io

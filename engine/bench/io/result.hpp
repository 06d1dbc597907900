// SPDX-License-Identifier: Apache-2.0
// What a run of `leadline io` leaves behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/io/request.hpp"
#include "core/named.hpp"
#include "memory/block_pattern.hpp"
#include "model/diagnosis.hpp"
#include "model/result.hpp"
#include "storage/page_cache.hpp"
#include "storage/storage_targets.hpp"

namespace leadline::bench::io {

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// What a phase does: with objects in files, or with files and directories as a whole. The numbers are those of files.
enum class IoOperation : std::uint8_t {
  write,
  read,
  mkdir,
  rmdir,
  create,
  stat,
  open,
  read_file,
  unlink,
  mix,  ///< some objects are read, others written again
};

/// Of an operation on files or directories as a whole.
constexpr bool is_metadata(IoOperation operation) {
  return operation > IoOperation::read && operation <= IoOperation::unlink;
}

constexpr bool concerns_directories(IoOperation operation) {
  return operation == IoOperation::mkdir || operation == IoOperation::rmdir;
}

/// Of operations that bring forth what later ones need: objects, files, directories.
constexpr bool makes_something(IoOperation operation) {
  return operation == IoOperation::write || operation == IoOperation::mkdir || operation == IoOperation::create;
}

const char* name_of(IoOperation operation);
std::span<const Named<IoOperation>> names_of(IoOperation any);

/// What a rank does with its time in a phase. All but `fill`, `verify` and, as asked, `sync` count as I/O time. Where a
/// helper makes and checks contents, `fill` and `verify` are what the rank waits for it.
enum class IoTime : std::uint8_t {
  open,
  preallocate,
  call,     ///< inside write or read calls (non-blocking: inside the calls that start them)
  wait,     ///< for non-blocking calls to be done
  send,     ///< waiting to be allowed to send, and for sends to be done
  receive,  ///< waiting for messages
  barrier,  ///< before write calls
  fill,
  verify,
  sync,
  close,
};

inline constexpr std::size_t num_io_times = 11;

/// "open", "preallocate" ...: also the names in files.
const char* name_of(IoTime time);
std::span<const Named<IoTime>> names_of(IoTime any);

/// Who makes the contents of objects that a rank moves by itself, and checks them.
enum class ContentsBy : std::uint8_t {
  rank,    ///< the rank, between its calls: in the time
  helper,  ///< a thread on another core, while calls go on
};

const char* name_of(ContentsBy by);
std::span<const Named<ContentsBy>> names_of(ContentsBy any);

/// One phase: all objects written or read, once or again and again; or one operation on each item.
struct PhasePosition {
  int index = 0;  ///< 0-based, in order; its row in the file
  IoOperation operation = IoOperation::write;
  int repeat = 0;
};

/// Latencies of calls. Bucket i: [2^(10 + i/4), 2^(10 + (i+1)/4)) ns; the first holds all below it, the last all above.
inline constexpr std::size_t num_latency_buckets = 128;
using LatencyHistogram = std::array<std::uint64_t, num_latency_buckets>;

/// Bytes by time since the phase began: bin i is [i, i + 1) * bin_ns. A call's bytes are spread over its duration.
inline constexpr std::size_t num_series_bins = 128;
struct ByteSeries {
  std::uint64_t bin_ns = 1 << 20;  ///< 2^20 at first; doubled whenever the bins are full
  std::array<std::uint64_t, num_series_bins> bytes{};
};

/// What one rank did in one phase: its row of the file. Times since the common start of the phase.
struct RankPhase {
  double begin_ns = 0, end_ns = 0;  ///< before its open, behind its close (or its sync, whichever is later); of a phase
                                    ///< with a ramp when the rank began to count
  double done_ns = 0;               ///< behind its last call and, unless that is outside, its sync: not yet met others
  double io_ns = 0;                 ///< end - begin, less fill, verify, agreements and, where it is outside, sync
  std::array<double, num_io_times> times_ns{};
  double joint_ns = 0;                    ///< in collective calls on one file, once the last rank has come; 0 = unknown
  std::uint64_t system_bytes = 0;         ///< that its process moved by system calls in such a phase
  double making_ns = 0, checking_ns = 0;  ///< of contents, also by a helper: not in the file
  std::uint64_t num_objects = 0;          ///< its own, written or read and accounted for by it
  std::uint64_t bytes = 0;          ///< that it moved to or from files (no_file: that it received, or for reads sent)
  std::uint64_t message_bytes = 0;  ///< that it sent to or got from other ranks
  std::uint64_t ramp_bytes = 0;     ///< that it moved by calls which began before begin_ns: only `series` has them, too
  std::uint64_t ramp_objects = 0;   ///< done before begin_ns: not in the file
  std::uint64_t num_calls = 0;
  std::uint64_t num_continued = 0;  ///< calls that moved less than asked and were continued
  std::uint64_t bytes_at_stop = 0;  ///< when the time limit passed; 0 without one
  double call_ns_min = 0, call_ns_max = 0;
  LatencyHistogram latencies{};
  ByteSeries series;
  storage::CacheState cache_before, cache_after;
  std::uint64_t num_mismatches = 0;                       ///< objects with something wrong
  std::int32_t file = -1;                                 ///< that it opened, or whose opener did its I/O
  std::int32_t storage_target = storage::unknown_target;  ///< of the file that it opened, see storage_target_of()
};

/// Least and greatest with their ranks, over the ranks that do such a thing at all.
struct RankSpread {
  std::uint64_t num = 0;
  double min = not_measured, mean = not_measured, max = not_measured;
  std::int32_t min_rank = -1, max_rank = -1;
};

/// Where the bytes of a read phase came from, as far as the page cache tells.
enum class ReadSource : std::uint8_t {
  not_known,
  cache,    ///< at least 99 % of the pages were cached before, or the file system is memory
  storage,  ///< at most 1 % were, or the reads went around the cache
  mixed,
};

const char* name_of(ReadSource source);
std::span<const Named<ReadSource>> names_of(ReadSource any);

struct SlowCall {
  std::int32_t rank = -1;
  std::string host, file;
  std::uint64_t offset_bytes = 0, size_bytes = 0;
  double begin_ns = 0, time_ns = 0;
};

struct WrongObject {
  memory::Mismatch mismatch;
  std::int32_t read_by = -1;
  std::string host, file;
};

/// What a rank spent its time on.
struct RankTimes {
  std::int32_t rank = -1;
  double io_ns = 0;
  std::array<double, num_io_times> times_ns{};
};

/// What a rank had done of a phase when the run ended in the middle of it: by the calls that had returned by then.
struct RankAtInterruption {
  std::int32_t rank = -1;
  std::int32_t file = -1;  ///< as RankPhase::file
  double time_ns = 0;      ///< since the phase began, until the interruption, or until it was done
  std::uint64_t bytes = 0, message_bytes = 0, num_objects = 0;  ///< as in RankPhase
  std::string call{};  ///< into a file system that it was in: "writing 64 KiB at 0 of FILE since 07:16:50 UTC"
};

/// The reads of a phase that has both, or its writes. Rates over the time of the phase.
struct MixPart {
  std::uint64_t bytes = 0, num_calls = 0;
  double bytes_per_s = not_measured, operations_per_s = not_measured;
  double call_ns_min = not_measured, call_ns_p50 = not_measured, call_ns_p99 = not_measured, call_ns_max = not_measured;
};

/// Rates are bytes / time; NaN where nothing was measured, and of metadata, which has operations_per_s alone.
struct PhaseSummary {
  PhasePosition position;
  bool is_complete = false;     ///< false: an error ended it, or a rank was lost in it; then no rate is given
  bool is_interrupted = false;  ///< the run ended in the middle of it; then little else is known than at_interruption
  std::string error;
  std::vector<RankAtInterruption> at_interruption;  ///< ranks of which it is known, ascending
  std::uint64_t bytes = 0, message_bytes = 0, num_objects = 0, num_calls = 0, num_continued = 0;
  double wall_ns = not_measured;                 ///< last end - first begin; without a sync that is outside
  double bytes_per_s = not_measured;             ///< over wall_ns: the headline
  double first_done_ns = not_measured;           ///< when the first rank was done, since the first begin
  double bytes_per_s_first_done = not_measured;  ///< of what all ranks had moved by then; where that is known
  double bytes_per_s_io = not_measured;          ///< over the I/O time of the slowest rank
  double bytes_per_s_mean = not_measured;        ///< over the mean I/O time of ranks
  double operations_per_s = not_measured;  ///< calls over wall_ns; of metadata over the I/O time of the slowest rank
  double bytes_per_s_transfer =
      not_measured;  ///< over the slowest rank's I/O time without open, preallocate, sync, close
  double fill_bytes_per_s = not_measured, verify_bytes_per_s = not_measured;  ///< of one rank, mean
  std::array<RankSpread, num_io_times> times;
  RankSpread io;
  RankSpread transfer;           ///< I/O time without open, preallocate, sync and close
  std::vector<RankTimes> ranks;  ///< with request.rank_times, on the root
  bool has_stop = false;         ///< a time limit passed
  double stop_ns = 0;
  std::uint64_t bytes_at_stop = 0;
  double bytes_per_s_at_stop = not_measured;
  double ramp_ns = not_measured;  ///< from the common start until the first rank began to count; NaN without a ramp
  std::uint64_t ramp_bytes = 0;   ///< of calls that began before; of these only `series` knows, too
  LatencyHistogram latencies{};
  double call_ns_min = not_measured, call_ns_p50 = not_measured, call_ns_p90 = not_measured, call_ns_p99 = not_measured,
         call_ns_p999 = not_measured, call_ns_max = not_measured;
  ByteSeries series;  ///< of all ranks
  storage::CacheState cache_before, cache_after;
  ReadSource source = ReadSource::not_known;  ///< reads only
  bool is_durable = false;                    ///< writes only: synced to a storage within the reported time
  bool is_durability_known = true;            ///< false only of what another benchmark printed
  std::uint64_t num_mismatches = 0;
  std::vector<WrongObject> wrong;        ///< the first ones
  std::vector<SlowCall> slow_calls;      ///< slowest first
  std::optional<MixPart> reads, writes;  ///< of IoOperation::mix
};

/// Of the operations per second of several phases.
struct OperationRates {
  double min = not_measured, median = not_measured, mean = not_measured, max = not_measured;
  double half_width = not_measured;  ///< of the mean's 95 % interval; NaN below two repetitions
};

/// All repetitions of one operation.
struct OperationSummary {
  IoOperation operation = IoOperation::write;
  std::uint64_t num = 0;
  double min = not_measured, median = not_measured, mean = not_measured, max = not_measured;  ///< of bytes_per_s
  double half_width = not_measured;  ///< of the mean's 95 % interval; NaN below two repetitions
  OperationRates operations_per_s{};
};

/// A hint as asked for and as the file says after it was opened.
struct HintInForce {
  std::string key, asked, granted;  ///< empty: not asked, not granted
  bool is_confirmed = false;        ///< the library really has it, rather than echoes it
};

struct IoResult : RunResult {
  IoRequest request;
  std::string backend_library;  ///< "POSIX", "Open MPI v4.1.4 (ompio)"
  ContentsBy contents_by = ContentsBy::rank;
  std::string file_system;        ///< "ext4", "tmpfs", by the target's directory on rank 0
  std::uint64_t run = 0;          ///< in every block's header
  std::uint64_t num_objects = 0;  ///< of a rank, in every phase: as asked, or as the time limit left
  std::vector<std::int32_t> io_ranks;
  std::vector<std::string> files;  ///< names
  std::vector<HintInForce> hints;
  std::vector<PhaseSummary> phases;
  std::vector<OperationSummary> operations;
  std::vector<DiagnosedSlice>
      diagnoses;  ///< in the order of IoOperation; none of an operation without a complete phase
};

}  // namespace leadline::bench::io

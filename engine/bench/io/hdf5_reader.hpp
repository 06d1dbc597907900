// SPDX-License-Identifier: Apache-2.0
// Reads from the HDF5 file of a parallel file test what a description of it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bench/io/fields.hpp"
#include "diagnosis/compare_runs.hpp"
#include "result/described_json.hpp"
#include "result/hdf5/run_reader.hpp"

namespace leadline::bench::io {

/// A phase that is in a file.
struct StoredPhase {
  IoOperation operation = IoOperation::write;
  std::int32_t repeat = 0;
  bool is_complete = false;  ///< false: an error ended it
  std::string summary;       ///< JSON: one of the `phases` of docs/formats/json.md
};

/// What a rank moved in a phase, and in which time; nothing of it: it was not measured.
struct RankRate {
  std::uint64_t bytes = 0;
  double io_ns = 0;
  std::int32_t file = -1;  ///< index of the file that its objects are in; -1 = none
  std::uint64_t num_objects = 0;
  std::int32_t storage_target = storage::unknown_target;
};

/// What a rank did in a phase, as far as it is judged. Plain data: it travels as bytes.
struct JudgedRow {
  std::int32_t rank = -1;
  std::int32_t phase = 0;  ///< index among all phases
  std::int32_t file = -1;
  std::int32_t storage_target = storage::unknown_target;
  std::uint64_t bytes = 0;
  double call_ns = 0, wait_ns = 0, sync_ns = 0, close_ns = 0;
  double open_ns = 0;             ///< part of operations on files as a whole alone
  std::uint64_t num_objects = 0;  ///< what those are counted by
  double joint_ns = 0;            ///< see RankPhase
  std::uint64_t system_bytes = 0;
};

class Hdf5Reader : public result::hdf5::RunReader {
 public:
  explicit Hdf5Reader(std::string path);

  const Header& header() const { return header_; }

  /// Those that were measured, also of a run that was killed.
  std::vector<StoredPhase> phases() const;

  /// By rank.
  std::vector<RankRate> rates_of_ranks(std::size_t phase) const;
  std::vector<JudgedRow> judged_rows(std::size_t phase) const;

 private:
  struct Range {
    std::uint64_t begin = 0, num = 0;
  };

  void read_header();
  std::vector<StoredPhase> phases_of(const Range& range) const;

  Header header_;
};

/// What of PhaseSummary a description has.
struct KeptPhase {
  IoOperation operation = IoOperation::write;
  std::int32_t repeat = 0;
  bool is_complete = false, is_interrupted = false;
  std::string error;  ///< that ended it
  std::uint64_t bytes = 0, num_mismatches = 0;
  double wall_ns = not_measured;
  double bytes_per_s = not_measured;       ///< over wall_ns, of files of all versions
  double bytes_per_s_io = not_measured;    ///< over the I/O time of the slowest rank
  double bytes_per_s_wall = not_measured;  ///< as in the file
  double operations_per_s = not_measured;
  std::uint64_t num_objects = 0;
  bool is_of_earlier_version = false;  ///< whose headline was bytes_per_s_io
  std::optional<std::string> source;  ///< in words, so that a reader copes with those that it does not know; reads only
  std::optional<bool> is_durable;     ///< writes only
};

/// All phases that were measured. Throws Error(run_failed) naming the file where a summary is not what
/// docs/formats/json.md says.
std::vector<KeptPhase> kept_phases(const Hdf5Reader& reader);

/// One of them; `path` is that of its file.
KeptPhase kept_phase(const StoredPhase& stored, const std::string& path);

/// Of its summary.
constexpr auto fields_of(Type<KeptPhase> /*any*/) {
  return std::tuple{
      field("is_interrupted", &KeptPhase::is_interrupted, "", "the run ended in the middle of it",
            Since::later_version),
      field("error", &KeptPhase::error, "", "what ended it"),
      field("bytes", &KeptPhase::bytes, "bytes", "written or read"),
      field("wall_ns", &KeptPhase::wall_ns, "ns", "last end - first begin"),
      field("bytes_per_s", &KeptPhase::bytes_per_s, "bytes/s", "over wall_ns"),
      field("bytes_per_s_io", &KeptPhase::bytes_per_s_io, "bytes/s", "over the I/O time of the slowest rank",
            Since::later_version),
      field("bytes_per_s_wall", &KeptPhase::bytes_per_s_wall, "bytes/s", "over wall_ns"),
      field("num_objects", &KeptPhase::num_objects, "1", "objects, or files or directories"),
      field("operations_per_s", &KeptPhase::operations_per_s, "1/s", "calls, or operations on items, by that time",
            Since::later_version),
      field("source", &KeptPhase::source, "", "where the bytes came from; reads only"),
      field("is_durable", &KeptPhase::is_durable, "", "synced within the time; writes only"),
      field("num_mismatches", &KeptPhase::num_mismatches, "1", "objects that were not as written"),
  };
}

/// What `leadline compare` takes of a result of this benchmark. Throws as the reader does; bad_command_line for a
/// result without a summary.
diagnosis::RunNumbers numbers_of(const std::string& path);

}  // namespace leadline::bench::io

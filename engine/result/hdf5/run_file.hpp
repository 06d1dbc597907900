// SPDX-License-Identifier: Apache-2.0
// What the HDF5 files of all benchmarks share: the part that describes the run, and the file from its creation to its
// end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.hpp"
#include "model/provenance.hpp"
#include "model/result.hpp"
#include "result/hdf5/library.hpp"
#include "result/result_file.hpp"
#include "result/run_header.hpp"
#include "result/shared_file.hpp"

namespace leadline::result {

inline constexpr std::size_t reason_size = 1024;
inline constexpr std::size_t host_size = 64;
inline constexpr std::size_t device_size = 64;
inline constexpr std::size_t cpus_size = 128;
inline constexpr std::size_t adapter_size = 64;

/// A table of /ranks: a text of so many bytes, or an int32.
struct PlaceTable {
  const char* name;
  std::size_t text_size = 0;
};
inline constexpr std::size_t num_place_tables = 7;
inline constexpr std::array<PlaceTable, num_place_tables> place_tables{{{"host", host_size},
                                                                        {"device", device_size},
                                                                        {"cpus", cpus_size},
                                                                        {"pid"},
                                                                        {"num_cpus"},
                                                                        {"numa_node"},
                                                                        {"adapter", adapter_size}}};

/// Places in the file that are written while HDF5 has it closed. Bytes from its beginning.
struct RunOffsets {
  std::uint64_t message_size = 0;
  std::uint64_t complete = 0, reason = 0;
};

namespace hdf5 {

/// Local: of a fresh file all that the header tells, without the contents of its datasets, without the places of ranks,
/// and without what belongs to the end of a run. Throws Failure.
RunOffsets create_run_part(const Handle& file, const RunHeader& header, const char* benchmark);

/// Local: adds where each rank runs to a file that is closed. `place_of` is called in order of the ranks. Throws
/// Error(run_failed).
void add_places(const std::string& path, std::int64_t num_ranks,
                const std::function<RankPlacement(std::int64_t rank)>& place_of);

/// What the places of so many ranks take of a file, about.
double bytes_of_places(double num_ranks);

/// Local: adds those of /summary and the time of the end that the header has.
void add_run_end(const Handle& file, const RunHeader& header);

/// The same to a file that is closed. Throws Error(run_failed).
void add_run_end(const std::string& path, const RunHeader& header);

}  // namespace hdf5

/// Room asked for before HDF5 changes the structure of a file that has rows in it, since a full disk in the middle of
/// that would leave it unreadable.
inline constexpr std::uint64_t room_for_structure = 1 << 16;

/// Rank 0 writes the structure with HDF5 and closes the file; what is written afterwards goes to known offsets with
/// plain positioned writes, so that a kill at any moment leaves a valid file and no rank needs more memory than its
/// own rows. Where not all ranks see the file (a nonce in it tells), or several hosts would write through caches that
/// are not coherent, rows go through rank 0.
class RunFile {
 public:
  /// Rank 0: makes the structure with HDF5, closes the file, and writes what only rank 0 knows through the open file.
  using Structure = std::function<RunOffsets(const OutputFile& file)>;

  /// Collective: `header` gets its number of ranks, and on rank 0 its nonce, before `structure` is called there. Errors
  /// are those of open_link_file.
  RunFile(cluster::Cluster& cluster, RunHeader& header, const RunFileSetup& setup, const Structure& structure);

  const std::string& path() const { return file_->path(); }

  /// Whether each rank writes its own rows.
  bool is_direct() const { return file_->is_direct(); }

  /// How rows reach the file.
  SharedFile& rows() { return *file_; }

  /// Rank 0: the open file.
  const OutputFile& output() { return *file_->file(); }

  /// Rank 0: throws Error(run_failed) unless the disk has so much room for changes of the structure.
  void expect_room(std::uint64_t size_bytes) { file_->file()->expect_room(size_bytes); }

  /// Collective: before HDF5 opens the file, which takes its name. See SharedFile.
  void restore_name() { file_->restore_name(); }

  /// Collective: every rank's own piece into a table of such pieces by rank.
  void put(std::uint64_t table, std::string_view own, std::optional<Error>& error);

  /// Local, on rank 0: the piece of a rank that is lost.
  void put_for_lost(int rank, std::uint64_t table, std::string_view piece, std::optional<Error>& error);

  /// As in LinkFile.
  void mark_incomplete(const std::string& reason) noexcept;

  /// Collective: the end. `add_end` writes with HDF5, on rank 0, what only the end knows; the summary of `header` is
  /// there by then.
  void finish(const RunResult& result, RunHeader& header, const std::function<std::string()>& summary,
              const std::function<void()>& add_end);

 private:
  void create(RunHeader& header, const RunFileSetup& setup, const Structure& structure);
  void write_known(const OutputFile& file, const RunHeader& header) const;
  std::vector<RankPlacement> placements_at_root(const RankPlacement& own);
  void mark_end(const RunResult& result);

  cluster::Cluster& cluster_;
  std::optional<SharedFile> file_;
  RunOffsets offsets_;

  std::mutex status_mutex_;  ///< between the end of the run and a failure that the watch reports
  enum class Status : std::uint8_t { running, failed, finished } status_ = Status::running;
};

}  // namespace leadline::result

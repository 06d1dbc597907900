// SPDX-License-Identifier: Apache-2.0
// An HDF5 result while its run goes on, whatever the benchmark: how it begins, how ranks reach it, how it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/cluster.hpp"
#include "model/result.hpp"
#include "result/hdf5/run_part.hpp"
#include "result/link_result_file.hpp"
#include "result/shared_file.hpp"

namespace leadline::result {

/// Room asked for before HDF5 changes the structure of a file that has rows in it, since a full disk in the middle of
/// that would leave it unreadable.
inline constexpr std::uint64_t room_for_structure = 1 << 16;

/// What LinkResultFileSetup says of a file, whatever the benchmark.
struct RunFileSetup {
  std::string path;
  ExistingFile existing = ExistingFile::refuse;
  RowPath row_path = RowPath::automatic;
  RankPlacement place;  ///< this rank's own
};

/// Rank 0 writes the structure with HDF5 and closes the file; what is written afterwards goes to known offsets with
/// plain positioned writes, so that a kill at any moment leaves a valid file and no rank needs more memory than its
/// own rows. Where not all ranks see the file (a nonce in it tells), or several hosts would write through caches that
/// are not coherent, rows go through rank 0.
class RunFile {
 public:
  /// Rank 0: makes the structure with HDF5, closes the file, and writes with the file at hand what only rank 0 knows.
  using Structure = std::function<RunOffsets(const OutputFile& file)>;

  /// Collective: `header` gets its number of ranks, and on rank 0 its nonce, before `structure` is called there. Errors
  /// are those of open_link_result_file.
  RunFile(cluster::Cluster& cluster, RunHeader& header, const RunFileSetup& setup, const Structure& structure);

  const std::string& path() const { return file_->path(); }

  /// Whether each rank writes its own rows.
  bool is_direct() const { return file_->is_direct(); }

  /// How rows reach the file.
  SharedFile& rows() { return *file_; }

  /// Rank 0: throws Error(run_failed) unless the disk has so much room for changes of the structure.
  void expect_room(std::uint64_t size_bytes) { file_->file()->expect_room(size_bytes); }

  /// Collective: every rank's own piece into a table of such pieces by rank.
  void put(std::uint64_t table, std::string_view own, std::optional<Error>& error);

  /// The next two are as in LinkResultFile.
  void flush();
  void mark_incomplete(const std::string& reason) noexcept;

  /// Collective: the end. `add_end` writes with HDF5, on rank 0, what only the end knows; the summary of `header` is
  /// there by then.
  void finish(const RunResult& result, RunHeader& header, const std::function<std::string()>& summary,
              const std::function<void()>& add_end);

 private:
  void create(RunHeader& header, const RunFileSetup& setup, const Structure& structure);
  void write_known(const OutputFile& file, const RunHeader& header) const;
  void write_place(const RankPlacement& place);
  void mark_end(const RunResult& result);

  cluster::Cluster& cluster_;
  std::optional<SharedFile> file_;
  RunOffsets offsets_;

  std::mutex status_mutex_;  ///< between the end of the run and a failure that the watch reports
  enum class Status : std::uint8_t { running, failed, finished } status_ = Status::running;
};

}  // namespace leadline::result

// SPDX-License-Identifier: Apache-2.0
// The result of a link test in HDF5: rank 0 makes the file, every rank writes its rows into it.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "result/hdf5/hdf5_file.hpp"
#include "result/result_file.hpp"
#include "result/shared_file.hpp"

namespace leadline::result {

/// Rank 0 writes the structure with HDF5 and closes the file; what is written afterwards goes to known offsets with
/// plain positioned writes, so that a kill at any moment leaves a valid file and no rank needs more memory than its
/// own row. Where not all ranks see the file (a nonce in it tells), or several hosts would write through caches that
/// are not coherent, rows go through rank 0.
class Hdf5Store : public ResultFile {
 public:
  /// Collective; see open_result_file.
  Hdf5Store(cluster::Cluster& cluster, const LinkResult& so_far, ResultFileSetup setup);

  void reserve_repeats(int num_repeats) override;
  void write(const Slice& slice, const PairRow& row) override;
  void write_all_to_all(const Slice& slice, std::span<const double> time_ns) override;
  const std::string& path() const override { return path_; }
  void flush() override;
  void mark_incomplete(const std::string& reason) noexcept override;
  void finish(const LinkResult& result) override;

  /// Whether each rank writes its own rows.
  bool is_direct() const { return file_->is_direct(); }

 private:
  void create();
  void write_known(const OutputFile& file) const;
  void write_place();
  void write_rounds(const KeptRepeat& repeat, const RepeatOffsets& offsets, std::optional<Error>& error);

  /// Collective: every rank's own piece into a table of such pieces by rank.
  void put(std::uint64_t table, std::string_view own, std::optional<Error>& error);
  void mark_end(const LinkResult& result);

  cluster::Cluster& cluster_;
  ResultFileSetup setup_;
  std::string path_;
  ResultHeader header_;
  std::optional<SharedFile> file_;
  FixedOffsets fixed_;
  std::vector<RepeatOffsets> repeats_;

  std::mutex status_mutex_;  ///< between the end of the run and a failure that the watch reports
  enum class Status : std::uint8_t { running, failed, finished } status_ = Status::running;
};

}  // namespace leadline::result

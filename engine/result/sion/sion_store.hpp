// SPDX-License-Identifier: Apache-2.0
// The result of a link test in SION: LinkTest's record of each rank, and behind it what an HDF5 file holds.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "result/link_result_file.hpp"
#include "result/link_result_header.hpp"
#include "result/sion/sion_output.hpp"

namespace leadline::result {

/// One file, or with KeptRepeats::one_file_each one a repeat. All sizes are known before the first message, so that
/// each value is written once, when it is measured, at its place. Until the end every SION reader refuses the file as
/// unfinished, and our own reads what is in it.
class SionStore : public LinkResultFile {
 public:
  /// Collective; see open_link_result_file.
  SionStore(cluster::Cluster& cluster, LinkResult so_far, LinkResultFileSetup setup);

  /// With KeptRepeats::all the first call decides how many there are; more later are Error(bad_command_line).
  void reserve_repeats(int num_repeats) override;
  void write(const Slice& slice, const PairRow& row) override;
  void write_all_to_all(const Slice& slice, std::span<const double> time_ns) override;
  void close_slice(const SliceSummary& summary) override;

  /// With KeptRepeats::one_file_each the name that was asked for; the files' names have the repeat in them.
  const std::string& path() const override { return path_; }
  void mark_incomplete(const std::string& reason) noexcept override;
  void finish(const LinkResult& result) override;

 private:
  SionOutput& output_of(const Slice& slice);
  std::unique_ptr<SionOutput> opened(int repeat) const;
  std::size_t kept_index(int repeat) const;
  bool is_one_file_each() const { return setup_.kept_repeats == KeptRepeats::one_file_each; }

  cluster::Cluster& cluster_;
  LinkResult so_far_;
  LinkResultFileSetup setup_;
  std::string path_;
  int num_reserved_ = 0;
  int repeat_ = -1;  ///< under way: the one whose file is open, or whose rows the one file has
  std::vector<SliceSummary> slices_of_repeat_;  ///< with KeptRepeats::one_file_each

  std::mutex mutex_;  ///< of output_: between a new file and a failure that the watch reports
  std::unique_ptr<SionOutput> output_;
};

}  // namespace leadline::result

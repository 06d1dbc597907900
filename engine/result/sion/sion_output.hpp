// SPDX-License-Identifier: Apache-2.0
// One SION file of a result while all ranks fill it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "result/link_result_file.hpp"
#include "result/link_result_header.hpp"
#include "result/shared_file.hpp"
#include "result/sion/sion_offsets.hpp"

namespace leadline::result {

/// Its life: construction, lay_out, any number of begin_repeat and writes, finish. Collective, but for
/// mark_incomplete(). Every value is written once, when it is there; only a repeat that takes the place of another
/// writes its holes, too.
class SionOutput {
 public:
  /// Creates and checks the file; it is an unfinished SION file from then on.
  SionOutput(cluster::Cluster& cluster, const LinkResult& so_far, const LinkResultFileSetup& setup, std::string path);

  /// Gives everything its place, and writes what is known, for so many repeats.
  void lay_out(std::size_t num_repeats);

  /// The rows at `index` are from now on those of this repeat.
  void begin_repeat(std::size_t index, const KeptRepeat& repeat);

  void write(std::size_t index, const Slice& slice, const PairRow& row);
  void write_all_to_all(std::size_t index, const Slice& slice, std::span<const double> time_ns);

  const std::string& path() const { return path_; }
  void mark_incomplete(const std::string& reason) noexcept;

  /// What the end adds, for the repeats that are kept; where result.complete, the file becomes a finished one.
  void finish(const LinkResult& result);

 private:
  /// Of the times in the record: this rank's, or those of all ranks.
  struct Times {
    std::uint64_t num = 0;
    double min_s = 0, max_s = 0, sum_s = 0;

    void add(const Times& more);
    void add(double time_s) { add(Times{1, time_s, time_s, time_s}); }
    sion::LinkTestTimes summary() const;
  };

  void create();
  void write_meta1(const std::string& prefix) const;
  void write_known();
  void write_permutations() const;
  std::vector<Piece> new_pieces(std::size_t index, const Slice& slice, const PairRow& row);
  std::string record_head(int rank, const std::string& host, const sion::LinkTestRun& run) const;
  void write_head_of_lost(int lost) const;
  sion::LinkTestRun known_run() const;
  Times over_all_ranks(const Times& own);
  void mark_end(const LinkResult& result, const sion::LinkTestRun& run);
  void write_record_end(const LinkResult& result, const sion::LinkTestRun& run) const;
  void close_container() const;
  bool is_extended() const { return setup_.sion_record == SionRecord::extended; }
  static bool is_in_record(std::size_t index, const Slice& slice) { return index == 0 && slice.size_index == 0; }
  OutputFile& file() const { return *file_->file(); }

  cluster::Cluster& cluster_;
  LinkResultFileSetup setup_;
  LinkRequest request_;
  std::string path_;
  LinkResultHeader header_;
  mutable std::optional<SharedFile> file_;
  SionFilePlan plan_;

  struct Kept {
    std::optional<KeptRepeat> repeat;
    bool has_older_rows = false;  ///< of the repeat that was at this index before
  };
  std::vector<Kept> kept_;

  // The slice under way, and which partners of it are in the file.
  Slice slice_{.repeat = -1};
  std::vector<bool> is_written_;
  Times own_times_, own_all_to_all_;  ///< those of the record

  std::mutex status_mutex_;  ///< between the steps of the run and a failure that the watch reports
  enum class Status : std::uint8_t { created, running, failed, finished } status_ = Status::created;
};

}  // namespace leadline::result

// SPDX-License-Identifier: Apache-2.0
// One SION file of a result while all ranks fill it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/link/fields.hpp"
#include "bench/link/file.hpp"
#include "bench/link/sion_offsets.hpp"
#include "result/shared_file.hpp"

namespace leadline::bench::link {

/// Its life: construction, lay_out, any number of begin_repeat and writes, finish. Collective, but for
/// mark_incomplete(). Every value is written once, when it is there; only a repeat that takes the place of another
/// writes its holes, too.
class SionOutput {
 public:
  /// Creates and checks the file; it is an unfinished SION file from then on.
  SionOutput(cluster::Cluster& cluster, const LinkResult& so_far, const LinkFileSetup& setup, std::string path);

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
    result::sion::LinkTestTimes summary() const;
  };

  void create();
  void write_meta1(const std::string& prefix) const;
  void write_known();
  void write_permutations() const;
  std::vector<result::Piece> new_pieces(std::size_t index, const Slice& slice, const PairRow& row);
  std::string record_head(int rank, const std::string& host, const result::sion::LinkTestRun& run) const;
  void write_head_of_lost(int lost) const;
  result::sion::LinkTestRun known_run() const;
  Times over_all_ranks(const Times& own);
  void mark_end(const LinkResult& result, const result::sion::LinkTestRun& run);
  void write_record_end(const LinkResult& result, const result::sion::LinkTestRun& run) const;
  void close_container() const;
  bool is_extended() const { return setup_.sion_record == SionRecord::extended; }
  static bool is_in_record(std::size_t index, const Slice& slice) { return index == 0 && slice.size_index == 0; }
  result::OutputFile& file() const { return *file_->file(); }

  cluster::Cluster& cluster_;
  LinkFileSetup setup_;
  LinkRequest request_;
  std::string path_;
  Header header_;
  mutable std::optional<result::SharedFile> file_;
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

/// One file, or with KeptRepeats::one_file_each one a repeat. All sizes are known before the first message, so that
/// each value is written once, when it is measured, at its place. Until the end every SION reader refuses the file as
/// unfinished, and our own reads what is in it.
class SionStore : public LinkFile {
 public:
  /// Collective; see open_link_file.
  SionStore(cluster::Cluster& cluster, LinkResult so_far, LinkFileSetup setup);

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
  LinkFileSetup setup_;
  std::string path_;
  int num_reserved_ = 0;
  int repeat_ = -1;  ///< under way: the one whose file is open, or whose rows the one file has
  std::vector<SliceSummary> slices_of_repeat_;  ///< with KeptRepeats::one_file_each

  std::mutex mutex_;  ///< of output_: between a new file and a failure that the watch reports
  std::unique_ptr<SionOutput> output_;
};

}  // namespace leadline::bench::link

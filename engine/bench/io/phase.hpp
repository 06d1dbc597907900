// SPDX-License-Identifier: Apache-2.0
// One phase on one rank: files made ready, opened, all objects moved, synced, closed; and what came of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/io/contents.hpp"
#include "bench/io/funnel.hpp"
#include "bench/io/measure.hpp"
#include "bench/io/object_loop.hpp"
#include "bench/io/object_ring.hpp"
#include "bench/io/pace.hpp"
#include "bench/io/passes.hpp"
#include "bench/io/plan.hpp"
#include "bench/io/queued_transfers.hpp"
#include "bench/io/recorder.hpp"
#include "bench/io/request.hpp"
#include "bench/io/result.hpp"
#include "bench/io/transfers.hpp"
#include "core/error.hpp"
#include "core/file_call.hpp"
#include "storage/page_cache.hpp"

namespace leadline::bench::io {

/// Ranks whose objects nobody moves, since they are lost, or have lost the link to the rank that does their I/O.
/// Ascending; the same on all ranks after the same collective.
std::vector<std::int32_t> ranks_left_out(const Stage& stage, const LostPairs* lost_pairs);

/// Which file a rank opens, and whose objects it moves.
struct Share {
  std::int32_t file = -1;  ///< that this rank opens, or whose opener does its I/O; -1 = there are no files
  bool opens = false;
  std::vector<std::int32_t> openers;  ///< of this file, ascending, this rank included; empty where it opens none
  std::vector<std::int32_t> owners;   ///< whose objects it moves to or from the file, ascending
  bool is_left_out = false;           ///< it has nothing to do: its objects, or those of its I/O rank, are left out

  bool is_lowest_opener(int rank) const { return opens && openers.front() == rank; }
};

Share share_of(const IoRequest& request, const Plan& plan, IoOperation operation, int rank,
               std::span<const std::int32_t> left_out = {});

/// Of a strided file, so many objects of a rank are looked at.
inline constexpr std::uint64_t most_strided_stretches = 1 << 16;

/// Objects [0, num_objects) of these ranks, which lie in one file; neighbours are joined. Of more strided objects than
/// most_strided_stretches, evenly chosen ones.
std::vector<storage::ByteRange> stretches_of(const schedule::FileLayout& layout,
                                             const std::vector<std::int32_t>& owners, std::uint64_t num_objects);

/// Whether a rank is the lowest of these on its host.
bool is_lowest_on_host(const std::vector<std::int32_t>& ranks, int rank, std::span<const std::uint32_t> host_of);

/// The parameters of a phase.
struct PhaseTask {
  PhasePosition position;
  std::uint64_t num_objects = 0;       ///< of a rank, at most; with --time-based in one pass
  std::uint64_t num_written = 0;       ///< by the rank whose objects these are: see PassShape
  Writing writing;                     ///< who writes, or wrote, the blocks
  std::vector<std::int32_t> left_out;  ///< see ranks_left_out()
  bool makes_file_anew = false;        ///< the rank that empties the file before it is written removes it instead
  bool checks_layout = false;          ///< whether the file was written with these objects: see require_same_layout()
};

class Phase {
 public:
  /// References outlive it; `links` is null where nothing is sent, `lost_pairs` where a link must not break.
  Phase(const Stage& stage, const PhaseTask& task, const FunnelLinks* links, LostPairs* lost_pairs,
        CurrentStep& current_step);

  /// Collective. Errors are agreed on and kept; see error(). Throws only where no partner can be reached.
  void run();

  /// The same on all ranks; null where all is well.
  const Error* error() const { return agreed_ ? &*agreed_ : nullptr; }
  const RankPhase& row() const { return recorder_.row(); }
  /// Whether its files could be made ready, so that it was measured.
  bool was_measured() const { return row().end_ns > 0; }
  const Moved& moved() const { return moved_; }
  std::uint64_t verified_bytes() const { return contents_.verified_bytes(); }
  /// As the file says, on ranks that opened one.
  const std::optional<storage::Hints>& hints() const { return hints_; }

  /// Collective.
  PhaseSummary summarize() const;

 private:
  bool writes() const { return task_.position.operation == IoOperation::write; }
  bool mixes() const { return task_.position.operation == IoOperation::mix; }
  bool changes_files() const { return writes() || mixes(); }
  const std::string& path() const { return stage_.files[static_cast<std::size_t>(share_.file)]; }
  CurrentFileCall& file_call() const;
  FileCallKind kind_of_openers() const;
  std::optional<Error> agreement();
  bool make_ready();
  void make_contents_ready();
  void check_what_is_left();
  void find_joint_time();
  void drop_caches();
  storage::CacheState cache_state() const;
  void measure();
  void open();
  void are_open();
  void preallocate();
  void move();
  std::unique_ptr<ObjectLoop> make_loop(PhaseWork& work);
  void sync();
  bool waits_in_sync() const;
  void meet();
  void close();
  void find_storage_target();
  std::vector<SlowCall> slow_calls() const;
  void note_broken_links();

  const Stage& stage_;
  PhaseTask task_;
  const FunnelLinks* links_;
  LostPairs* lost_pairs_;
  CurrentStep& current_step_;
  Share share_;
  Passes passes_;
  Recorder recorder_;
  Contents contents_;
  std::optional<ObjectRing> ring_;  ///< of a rank that moves its objects by itself
  Failure failure_;
  Pace pace_;
  std::unique_ptr<storage::File> file_;
  std::optional<Transfers> transfers_;
  std::optional<Recorder>
      reads_;  ///< of IoOperation::mix, beside recorder_ for its writes, until they are put together
  std::optional<Transfers> read_transfers_;
  std::optional<QueuedTransfers> queued_transfers_;  ///< with --queue-depth: instead of these
  RankPhase written_, read_;                         ///< of IoOperation::mix
  std::optional<storage::Hints> hints_;
  std::optional<Error> agreed_;
  Moved moved_;
  double clock_error_ns_ = 0;
};

}  // namespace leadline::bench::io

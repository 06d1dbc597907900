// SPDX-License-Identifier: Apache-2.0
// Measures phase after phase: the one stage that touches the fabric and the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/io/contents.hpp"
#include "bench/io/output.hpp"
#include "bench/io/plan.hpp"
#include "bench/io/request.hpp"
#include "bench/io/result.hpp"
#include "bench/lost_pairs.hpp"
#include "cluster/cluster.hpp"
#include "model/provenance.hpp"
#include "storage/storage.hpp"
#include "transport/transport.hpp"

namespace leadline::bench::io {

/// This rank's memory: the ring of its own objects and, on an I/O rank, the circular buffers.
class Buffers;

struct Stage {
  const IoRequest& request;
  const Plan& plan;
  cluster::Cluster& cluster;
  transport::Transport& transport;
  storage::Backend& backend;
  const std::vector<std::string>& files;  ///< names, by file; expanded
  const std::string& file_system;         ///< of the first file's directory, on rank 0
  const RankPlacement& placement;         ///< this rank's own
  std::uint64_t run = 0;                  ///< the same on all ranks
  Buffers& buffers;
  PhaseStore& store;
  Progress* progress = nullptr;  ///< rank 0 only
  ContentsWorker contents_worker{};
};

/// The same on all ranks, but for PhaseSummary::ranks.
struct Measured {
  std::vector<PhaseSummary> phases;
  std::vector<OperationSummary> operations;
  std::vector<HintInForce> hints;
  std::uint64_t num_objects = 0;  ///< of a rank, in the last repetition
  std::uint64_t run = 0;          ///< in the blocks: Stage::run; of files that were only read, theirs
  std::uint64_t verified_bytes = 0;
  Losses losses;
};

/// Collective: all phases. With POSIX calls a run goes on without a rank that is lost (bench/lost_pairs): the phase in
/// which that happens has no rate, and nobody writes or reads that rank's objects any more, nor those of ranks whose
/// I/O it did; I/O ranks that meet in barriers meet without it from the next phase on. Where the link between a sender
/// of a funnel and its I/O rank breaks, or does not open, the same holds of that sender; two I/O ranks without a link
/// do not wait for one another where they meet. Files that were there before the run are truncated before they are
/// written, those that it has created are removed, untimed: each write creates them. If anything fails in a phase, its
/// rows are kept, here and in the store, and all ranks throw AgreedError(run_failed) that names rank, host, file and
/// offset; wrong data, too (the worst kind first: what, whose, where), once the phase is through.
void measure(const Stage& stage, Measured& measured);

/// Collective: names of the files, expanded: every opener's own, a shared one by its lowest opener. Throws Error (the
/// same on all ranks) where two files have one name, naming two ranks, or a file has none.
std::vector<std::string> agree_on_names(const IoRequest& request, const Plan& plan, cluster::Cluster& cluster,
                                        const RankPlacement& placement);

/// Local: whether the files can be written or read: directory, kind of file, space (openers alone look; each at its
/// own). Throws Error(bad_command_line, something_missing) that names the file and what to do.
void check_targets(const IoRequest& request, const Plan& plan, const std::vector<std::string>& files, int rank);

/// Those asked for, in that order, then those that the file has beside them.
std::vector<HintInForce> compare_hints(const storage::Hints& asked, const storage::Hints& granted, bool is_confirmed);

/// Collective: `own` as this rank's file says, nothing where it opened none; the lowest opener's count, on all ranks.
std::vector<HintInForce> hints_in_force(const Stage& stage, const std::optional<storage::Hints>& own);

}  // namespace leadline::bench::io

// SPDX-License-Identifier: Apache-2.0
// The interfaces by which the parallel file test stores and shows its results while it runs; result/ and output/
// implement it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bench/io/result.hpp"
#include "cluster/cluster.hpp"
#include "result/result_file.hpp"

namespace leadline::bench::io {

/// Keeps phases while the run goes on. Every rank has one. Members may throw Error (disk full ...): the caller agrees
/// on it with the others.
class PhaseStore {
 public:
  virtual ~PhaseStore() = default;

  /// Local, the same on all ranks: whether any rank can complete the result where rank 0 is lost.
  virtual bool any_rank_can_finish() const { return false; }

  /// Collective, behind each phase, also one that failed: every rank's own row. Again where the root has changed in it.
  virtual void write(const PhasePosition& position, const RankPhase& own, const PhaseSummary& summary) = 0;
};

class IoFile : public result::ResultFile<PhaseStore, IoResult> {
 public:
  /// Local, in the watch thread of the one rank that reports: the phase in the middle of which the run ended;
  /// mark_incomplete() follows. Where the phase has come to its end meanwhile, that stays.
  virtual void keep_interrupted(const PhaseSummary& summary) = 0;
};

struct IoFileSetup : result::RunFileSetup {
  std::uint64_t num_phases = 0;
};

/// Collective: creates and checks the file before the first phase and writes what is known: `so_far` is request,
/// provenance, backend_library, file_system, run, io_ranks and files. Throws on every rank the same Error, as
/// open_link_file does.
std::unique_ptr<IoFile> open_io_file(cluster::Cluster& cluster, const IoResult& so_far, const IoFileSetup& setup);

/// How far all ranks together are, as far as rank 0 can tell without asking: by its own share. Of metadata, items are
/// counted in place of bytes. `bytes_total` is what one pass has; bytes_done may be more.
struct PhaseProgress {
  PhasePosition position;
  std::uint64_t bytes_done = 0, bytes_total = 0;
  double elapsed_s = 0;
};

/// Shows progress; only rank 0 has one. What is not overridden shows nothing.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void phase_begins(const PhasePosition& /*position*/, std::uint64_t /*bytes_total*/) {}
  /// Several times a second at most; outside timed calls.
  virtual void phase_goes_on(const PhaseProgress& /*progress*/) {}
  virtual void phase_ends(const PhaseSummary& /*summary*/) {}
  virtual void waits(const std::string& /*for_what*/) {}  ///< "sleeping 5 s before reading", "dropping caches"
};

}  // namespace leadline::bench::io

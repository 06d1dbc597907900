// SPDX-License-Identifier: Apache-2.0
// The result file of a parallel file test from before its first byte to its end: one interface for HDF5, JSON and no
// file at all.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/io/output.hpp"
#include "bench/io/result.hpp"
#include "cluster/cluster.hpp"
#include "result/result_file.hpp"

namespace leadline::bench::io {

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

}  // namespace leadline::bench::io

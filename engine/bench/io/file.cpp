// SPDX-License-Identifier: Apache-2.0
// Picks the kind of file of a parallel file test.
#include "bench/io/file.hpp"

#include "bench/io/hdf5_store.hpp"
#include "bench/io/json.hpp"

namespace leadline::bench::io {

namespace {

class NoIoFile final : public result::NoFile<IoFile, IoResult> {
 public:
  void write(const PhasePosition&, const RankPhase&, const PhaseSummary&) override {}
  void keep_interrupted(const PhaseSummary&) override {}
};

}  // namespace

std::unique_ptr<IoFile> open_io_file(cluster::Cluster& cluster, const IoResult& so_far, const IoFileSetup& setup) {
  return open_result_file<io::Hdf5Store, io::JsonStore, NoIoFile>("a parallel file test", cluster, so_far, setup);
}

}  // namespace leadline::bench::io

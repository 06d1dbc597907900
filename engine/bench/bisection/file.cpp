// SPDX-License-Identifier: Apache-2.0
// Picks the kind of file of a bisection test.
#include "bench/bisection/file.hpp"

#include "bench/bisection/hdf5_store.hpp"
#include "bench/bisection/json.hpp"

namespace leadline::bench::bisection {

namespace {

class NoBisectionFile final : public result::NoFile<BisectionFile, BisectionResult> {
 public:
  void write(const RankRow&) override {}
};

}  // namespace

std::unique_ptr<BisectionFile> open_bisection_file(cluster::Cluster& cluster, const BisectionResult& so_far,
                                                   const BisectionFileSetup& setup) {
  return open_result_file<bisection::Hdf5Store, bisection::JsonStore, NoBisectionFile>("a bisection test", cluster,
                                                                                       so_far, setup);
}

}  // namespace leadline::bench::bisection

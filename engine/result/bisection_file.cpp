// SPDX-License-Identifier: Apache-2.0
// Picks the kind of file of a bisection test.
#include "result/bisection_file.hpp"

#include "core/error.hpp"
#include "result/bisection/hdf5_store.hpp"
#include "result/bisection/json.hpp"

namespace leadline::result {

namespace {

class NoBisectionFile final : public NoFile<BisectionFile, BisectionResult> {
 public:
  void write(const bench::bisection::RankRow&) override {}
};

}  // namespace

std::unique_ptr<BisectionFile> open_bisection_file(cluster::Cluster& cluster, const BisectionResult& so_far,
                                                   const BisectionFileSetup& setup) {
  switch (setup.format) {
    case ResultFormat::hdf5:
      return std::make_unique<bisection::Hdf5Store>(cluster, so_far, setup);
    case ResultFormat::json:
      return std::make_unique<bisection::JsonStore>(cluster, so_far, setup);
    case ResultFormat::sion:
      throw Error(ExitStatus::bad_command_line, "a bisection test cannot be kept as SION",
                  "it holds LinkTest's record, which is one of pairs", "Choose a name ending in .h5 or .json");
    case ResultFormat::none:
      break;
  }
  return std::make_unique<NoBisectionFile>();
}

}  // namespace leadline::result

// SPDX-License-Identifier: Apache-2.0
// Picks the kind of file of a parallel file test.
#include "result/io_file.hpp"

#include "core/error.hpp"
#include "result/io/hdf5_store.hpp"
#include "result/io/json.hpp"

namespace leadline::result {

namespace {

class NoIoFile final : public NoFile<IoFile, IoResult> {
 public:
  void write(const PhasePosition&, const RankPhase&, const PhaseSummary&) override {}
  void keep_interrupted(const PhaseSummary&) override {}
};

}  // namespace

std::unique_ptr<IoFile> open_io_file(cluster::Cluster& cluster, const IoResult& so_far, const IoFileSetup& setup) {
  switch (setup.format) {
    case ResultFormat::hdf5:
      return std::make_unique<io::Hdf5Store>(cluster, so_far, setup);
    case ResultFormat::json:
      return std::make_unique<io::JsonStore>(cluster, so_far, setup);
    case ResultFormat::sion:
      throw Error(ExitStatus::bad_command_line, "a parallel file test cannot be kept as SION",
                  "it holds LinkTest's record, which is one of pairs", "Choose a name ending in .h5 or .json");
    case ResultFormat::none:
      break;
  }
  return std::make_unique<NoIoFile>();
}

}  // namespace leadline::result

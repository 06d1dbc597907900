// SPDX-License-Identifier: Apache-2.0
// The result of a collective test in HDF5: rank 0 makes the file and writes times of groups, every rank its own.
#pragma once

#include <string>

#include "bench/collective/fields.hpp"
#include "bench/collective/output.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/hdf5/run_store.hpp"

namespace leadline::bench::collective {

/// Bytes from the beginning of the file.
struct Offsets {
  result::RunOffsets run;
  result::hdf5::FieldOffsets<GroupTime> groups{};       ///< rounds x operations x sizes x groups x batches
  result::hdf5::FieldOffsets<RankTimes> ranks{};        ///< rounds x operations x sizes x ranks
  result::hdf5::FieldOffsets<Membership> membership{};  ///< rounds x ranks
};

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets and what belongs to the
/// end of a run, and closes it. Throws Error(run_failed).
Offsets create_structure(const std::string& path, const Header& header);

class Hdf5Store : public result::RunStore<CollectiveFile, CollectiveResult, Header, Offsets> {
 public:
  /// Collective; see open_collective_file.
  Hdf5Store(cluster::Cluster& cluster, const CollectiveResult& so_far, const result::RunFileSetup& setup);

  void write(const CellRow& row) override;
};

}  // namespace leadline::bench::collective

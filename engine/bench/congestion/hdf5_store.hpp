// SPDX-License-Identifier: Apache-2.0
// The result of a congestion test in HDF5: rank 0 makes the file and writes rounds, every victim its own times.
#pragma once

#include <cstdint>
#include <string>

#include "bench/congestion/fields.hpp"
#include "bench/congestion/output.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/hdf5/run_store.hpp"

namespace leadline::bench::congestion {

/// Bytes from the beginning of the file.
struct Offsets {
  result::RunOffsets run;
  result::hdf5::FieldOffsets<RoundNumbers> rounds{};         ///< cells x tests x rounds
  result::hdf5::FieldOffsets<LoadNumbers> loads{};           ///< cells x rounds
  result::hdf5::FieldOffsets<VictimNumbers> victims{};       ///< cells x tests x victims
  result::hdf5::FieldOffsets<Distribution> distributions{};  ///< cells x tests x buckets
};

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets and what belongs to the
/// end of a run, and closes it. Throws Error(run_failed).
Offsets create_structure(const std::string& path, const Header& header);

class Hdf5Store : public result::RunStore<CongestionFile, CongestionResult, Header, Offsets> {
 public:
  /// Collective; see open_congestion_file.
  Hdf5Store(cluster::Cluster& cluster, const CongestionResult& so_far, const result::RunFileSetup& setup);

  void write(const RoundRow& row) override;
  bool any_rank_can_finish() const override { return false; }

 private:
  template <typename Struct>
  void write_at(const result::hdf5::FieldOffsets<Struct>& offsets, std::uint64_t index, std::span<const Struct> some);
};

}  // namespace leadline::bench::congestion

// SPDX-License-Identifier: Apache-2.0
// The result of a bisection test in HDF5: rank 0 makes the file, every rank writes its rows into it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/bisection/fields.hpp"
#include "bench/bisection/output.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/hdf5/run_store.hpp"

namespace leadline::bench::bisection {

/// What the place in the tables says, or no file has.
inline const std::vector<std::string> patterns_left_out{"size_index", "message_size_bytes", "number", "time_ns_mean"};
inline const std::vector<std::string> baseline_left_out{"size_index"};

/// What every rank writes: a row of each size. Bytes from the beginning of the file, as in all that follows.
using RowOffsets = result::hdf5::FieldOffsets<RankTimes>;

struct Offsets {
  result::RunOffsets run;
  RowOffsets rows{};
  result::hdf5::FieldOffsets<PatternSummary> patterns{};
  result::hdf5::FieldOffsets<BaselineSample> baseline{};  ///< not there without room for pairs alone
};

/// Local: writes a fresh file over `path` (which exists), all but the contents of its datasets and what belongs to the
/// end of a run, and closes it. Throws Error(run_failed).
Offsets create_structure(const std::string& path, const Header& header);

class Hdf5Store : public result::RunStore<BisectionFile, BisectionResult, Header, Offsets> {
 public:
  /// Collective; see open_bisection_file.
  Hdf5Store(cluster::Cluster& cluster, const BisectionResult& so_far, const BisectionFileSetup& setup);

  /// All ranks throw the error of any; what the root alone writes fails there alone.
  void write(const RankRow& row) override;

 private:
  void expect_room_for(const RankRow& row) const;
  void write_rows(const RankRow& row);
  std::uint64_t first_cell(const RankRow& row, int rank) const;
  void write_rests_of_lost_ranks(const RankRow& row);
  void write_patterns(const RankRow& row);
  void write_baseline(const RankRow& row);
  /// From this place of the tables on.
  template <typename Struct>
  void write_columns(const result::hdf5::FieldOffsets<Struct>& offsets, std::span<const Struct> structs,
                     std::uint64_t first);
};

}  // namespace leadline::bench::bisection

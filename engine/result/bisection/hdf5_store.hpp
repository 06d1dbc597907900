// SPDX-License-Identifier: Apache-2.0
// The result of a bisection test in HDF5: rank 0 makes the file, every rank writes its rows into it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "result/bisection/hdf5_file.hpp"
#include "result/bisection_file.hpp"
#include "result/hdf5/run_file.hpp"

namespace leadline::result::bisection {

class Hdf5Store : public BisectionFile {
 public:
  /// Collective; see open_bisection_file.
  Hdf5Store(cluster::Cluster& cluster, const BisectionResult& so_far, const BisectionFileSetup& setup);

  /// All ranks throw the error of any; what rank 0 alone writes fails there alone.
  void write(const bench::bisection::RankRow& row) override;
  const std::string& path() const override { return file_.path(); }
  void mark_incomplete(const std::string& reason) noexcept override { file_.mark_incomplete(reason); }
  void finish(const BisectionResult& result) override;

  /// Whether each rank writes its own rows.
  bool is_direct() const { return file_.is_direct(); }

 private:
  Offsets create(const OutputFile& file) const;
  void expect_room_for(const bench::bisection::RankRow& row) const;
  void write_rows(const bench::bisection::RankRow& row);
  void write_patterns(const bench::bisection::RankRow& row);
  void write_baseline(std::span<const BaselineSample> samples);

  cluster::Cluster& cluster_;
  Header header_;
  Offsets offsets_;  ///< but for the rows, on rank 0 only
  RunFile file_;
  std::vector<std::uint64_t> num_baseline_;  ///< by size; rank 0 only
};

}  // namespace leadline::result::bisection

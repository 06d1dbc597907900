// SPDX-License-Identifier: Apache-2.0
// The result of a parallel file test in HDF5: rank 0 makes the file, every rank writes its rows into it.
#pragma once

#include <string>

#include "result/hdf5/run_file.hpp"
#include "result/io/hdf5_file.hpp"
#include "result/io_file.hpp"

namespace leadline::result::io {

class Hdf5Store : public IoFile {
 public:
  /// Collective; see open_io_file.
  Hdf5Store(cluster::Cluster& cluster, const IoResult& so_far, const IoFileSetup& setup);

  /// All ranks throw the error of any; what rank 0 alone writes fails there alone.
  void write(const PhasePosition& place, const RankPhase& own, const PhaseSummary& summary) override;
  const std::string& path() const override { return file_.path(); }
  void mark_incomplete(const std::string& reason) noexcept override { file_.mark_incomplete(reason); }
  void finish(const IoResult& result) override;

  /// Whether each rank writes its own rows.
  bool is_direct() const { return file_.is_direct(); }

 private:
  Offsets create(const OutputFile& file) const;
  void expect_room_for(const PhasePosition& place) const;
  void write_row(const PhasePosition& place, const RankPhase& own);
  void write_phase(const PhasePosition& place, const PhaseSummary& summary);

  cluster::Cluster& cluster_;
  Header header_;
  Offsets offsets_;  ///< but for the rows, on rank 0 only
  RunFile file_;
};

}  // namespace leadline::result::io

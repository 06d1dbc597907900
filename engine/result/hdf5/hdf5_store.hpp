// SPDX-License-Identifier: Apache-2.0
// The result of a link test in HDF5: rank 0 makes the file, every rank writes its rows into it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "result/hdf5/hdf5_file.hpp"
#include "result/hdf5/run_file.hpp"
#include "result/link_result_file.hpp"

namespace leadline::result {

class Hdf5Store : public LinkResultFile {
 public:
  /// Collective; see open_link_result_file.
  Hdf5Store(cluster::Cluster& cluster, const LinkResult& so_far, LinkResultFileSetup setup);

  void reserve_repeats(int num_repeats) override;
  void write(const Slice& slice, const PairRow& row) override;
  void write_all_to_all(const Slice& slice, std::span<const double> time_ns) override;
  void write_rounds(int repeat, std::span<const std::int32_t> rounds) override;
  const std::string& path() const override { return file_.path(); }
  void flush() override { file_.flush(); }
  void mark_incomplete(const std::string& reason) noexcept override { file_.mark_incomplete(reason); }
  void finish(const LinkResult& result) override;

  /// Whether each rank writes its own rows.
  bool is_direct() const { return file_.is_direct(); }

 private:
  FixedOffsets create(const OutputFile& file) const;
  void put_rounds(std::span<const std::int32_t> rounds, const RepeatOffsets& offsets, std::optional<Error>& error);

  cluster::Cluster& cluster_;
  LinkResultFileSetup setup_;
  LinkResultHeader header_;
  RunFile file_;
  std::vector<RepeatOffsets> repeats_;
};

}  // namespace leadline::result

// SPDX-License-Identifier: Apache-2.0
// The result of a benchmark in HDF5, but for what it writes while it measures.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "cluster/cluster.hpp"
#include "result/collective.hpp"
#include "result/hdf5/run_file.hpp"

namespace leadline::result {

/// For a `File` that is a ResultFile. `Offsets` has a member `run`; those that are plain bytes all ranks have, others
/// rank 0 alone.
template <class File, class Result, class Header, class Offsets>
class RunStore : public File {
 public:
  const std::string& path() const override { return file_.path(); }
  void mark_incomplete(const std::string& reason) noexcept override { file_.mark_incomplete(reason); }
  bool any_rank_can_finish() const override { return is_direct(); }
  void finish(const Result& result) override {
    file_.finish(
        result, header_, [&] { return text_of_(result); }, [&] { add_end(result); });
  }

  /// Whether each rank writes its own rows.
  bool is_direct() const { return file_.is_direct(); }

 protected:
  using TextOf = std::string (*)(const Result& result);
  using Structure = std::function<Offsets(const OutputFile& file, const Header& header)>;

  /// Collective: as RunFile. `text_of` makes the summary.
  RunStore(cluster::Cluster& cluster, Header header, const RunFileSetup& setup, const Structure& structure,
           TextOf text_of)
      : cluster_(cluster),
        header_(std::move(header)),
        text_of_(text_of),
        file_(cluster, header_, setup, [&](const OutputFile& file) {
          offsets_ = structure(file, header_);
          return offsets_.run;
        }) {
    if constexpr (std::is_trivially_copyable_v<Offsets>) {
      offsets_ = from_bytes<Offsets>(cluster_.broadcast(as_bytes(std::span<const Offsets>(&offsets_, 1)))).at(0);
    }
  }

  /// Rank 0, at the end: adds to the closed file what the header has of it.
  virtual void add_end(const Result& /*result*/) { hdf5::add_run_end(path(), header_); }

  cluster::Cluster& cluster_;
  Header header_;
  TextOf text_of_;
  Offsets offsets_;
  RunFile file_;
};

}  // namespace leadline::result

// SPDX-License-Identifier: Apache-2.0
// What the result files of all benchmarks share: their format and name, what becomes of an existing file, and the file
// that is none.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

#include "model/provenance.hpp"
#include "model/request.hpp"
#include "network/stored_network.hpp"

namespace leadline::result {

/// What becomes of a file that is there already.
enum class ExistingFile : std::uint8_t { refuse, overwrite };

/// How to open the file of a run. Rank 0's path counts, the rest is the same on all ranks but `placement`.
struct RunFileSetup {
  std::string path;  ///< "-" = standard output (JSON)
  ResultFormat format = ResultFormat::hdf5;
  ExistingFile existing = ExistingFile::refuse;
  RowPath row_path = RowPath::automatic;
  RankPlacement placement;  ///< this rank's own
  std::string network;      ///< that the run was told of (network::stored_text()), rank 0's counts; empty = of none
};

inline RunFileSetup setup_of(const RunRequest& request, const RankPlacement& placement,
                             const network::Network& network) {
  const ExistingFile existing = request.overwrite ? ExistingFile::overwrite : ExistingFile::refuse;
  return {request.output, request.format, existing, request.row_path, placement, network::stored_text(network)};
}

/// The file of a run from before its first message to its end, whatever its format: one on every rank. `Store` is what
/// the benchmark calls meanwhile. Collective members must be called by all ranks in the same order.
template <class Store, class Result>
class ResultFile : public Store {
 public:
  /// Local: where the result lies; "-" = standard output, empty = nowhere.
  virtual const std::string& path() const = 0;

  /// Local, from any thread, at any time between construction and destruction: notes why the run did not end well,
  /// with one positioned write, unless another rank has noted a reason by then. For the rank that reports a failure.
  /// Does nothing where this rank cannot reach the file, or once finish() has marked the result complete.
  virtual void mark_incomplete(const std::string& reason) noexcept = 0;

  /// Collective: adds what only the end knows and, where result.complete says so, the mark "complete". `result` is
  /// read on the root only. Every rank throws the error of any. Again where the root has changed in it.
  virtual void finish(const Result& result) = 0;
};

/// For a run without a result file; `OfBenchmark` is the interface of a benchmark's files. Who derives from it ignores
/// rows.
template <class OfBenchmark, class Result>
class NoFile : public OfBenchmark {
 public:
  using File = OfBenchmark;

  const std::string& path() const override { return path_; }
  void mark_incomplete(const std::string&) noexcept override {}
  void finish(const Result&) override {}
  bool any_rank_can_finish() const override { return true; }

 private:
  std::string path_;
};

/// The format of a result from the name of its file (.h5 .hdf5 .sion .json, "-" and no name being JSON and HDF5) and
/// from --format, if given. Throws Error(bad_command_line) where they contradict, or say nothing.
ResultFormat format_for(const std::string& path, std::optional<ResultFormat> given);

/// "leadline-link-20260131T235959Z.h5" for the benchmark "link"; `now` in UTC seconds since 1970. Empty for
/// ResultFormat::none.
std::string default_file_name(const std::string& benchmark, ResultFormat format, std::time_t now);

}  // namespace leadline::result

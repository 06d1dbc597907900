// SPDX-License-Identifier: Apache-2.0
// Reads what the HDF5 files of all benchmarks share; each benchmark's reader is one of these.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/provenance.hpp"
#include "result/hdf5/hdf5_input.hpp"
#include "result/run_header.hpp"

namespace leadline::result::hdf5 {

/// "link", "topology", "bisection", "congestion", "collective", "io". Throws Failure, and Error naming the file:
/// bad_command_line (no result of ours), run_failed (damage).
std::string read_benchmark(const Input& file, const std::string& path);

/// An open result, complete or not. All members throw Error(run_failed) naming the file and what is wrong in it;
/// nothing in a file is trusted. A file of a later format is read as far as it has what this program knows. Not for
/// several threads.
class RunReader {
 public:
  RunReader(const RunReader&) = delete;
  RunReader& operator=(const RunReader&) = delete;

  const std::string& path() const { return path_; }
  RankPlacement placement(std::int64_t rank) const;

 protected:
  explicit RunReader(std::string path) : path_(std::move(path)) {}
  ~RunReader() = default;

  /// To be called by constructors: opens the file, fills `header` with what all benchmarks have, and calls
  /// `read_header` for the rest. `touch` reads something of every object that is read later. Throws bad_command_line
  /// for what is a result of another benchmark, or none.
  void open(const char* benchmark, RunHeader& header, const std::function<void()>& read_header,
            const std::function<void()>& touch);

  const Input& file() const { return *file_; }

 private:
  void read_run_part(const char* benchmark, RunHeader& header);
  std::vector<RankPlacement> read_places(std::int64_t first, std::int64_t num) const;

  Session quiet_;
  std::string path_;
  std::optional<Input> file_;
  std::int64_t num_ranks_ = 0;

  // Some neighbouring ranks, read together.
  mutable std::int64_t first_place_ = 0;
  mutable std::vector<RankPlacement> places_;
};

}  // namespace leadline::result::hdf5

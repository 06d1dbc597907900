// SPDX-License-Identifier: Apache-2.0
// What the result files of all benchmarks share: what becomes of an existing file, and the file that is none.
#pragma once

#include <cstdint>
#include <string>

namespace leadline::result {

/// What becomes of a file that is there already.
enum class ExistingFile : std::uint8_t { refuse, overwrite };

/// For a run without a result file; `File` is the interface of a benchmark's files. Who derives from it ignores rows.
template <class File, class Result>
class NoFile : public File {
 public:
  const std::string& path() const override { return path_; }
  void mark_incomplete(const std::string&) noexcept override {}
  void finish(const Result&) override {}
  bool any_rank_can_finish() const override { return true; }

 private:
  std::string path_;
};

}  // namespace leadline::result

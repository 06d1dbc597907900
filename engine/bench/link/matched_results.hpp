// SPDX-License-Identifier: Apache-2.0
// Two result files and what of them can be compared: ranks of the same hosts, message sizes that both have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/link/reader.hpp"
#include "diagnosis/compare.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"

namespace leadline::bench::link {

class MatchedResults {
 public:
  /// Both outlive it. Ranks are matched by host and by their place on it; hosts by name (also where one of the names is
  /// short), and where no host has the same name by their order if they are as many. Throws Error(bad_command_line)
  /// where nothing can be compared: no rank in common, no message size, another direction.
  MatchedResults(ResultReader& before, ResultReader& after);

  /// Of the ranks that both have, in the order of the second result.
  const diagnosis::Layout& layout() const { return layout_; }
  diagnosis::Layout& layout() { return layout_; }

  const std::vector<std::uint64_t>& message_sizes_bytes() const { return sizes_bytes_; }

  /// What differs between the two, in sentences.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Logarithms of medians, of one result or of one over the other; of several repeats their mean.
  void load(diagnosis::Compared compared, std::uint64_t message_size_bytes, diagnosis::DenseRows& rows);

  /// The same of the pairs that both have, into rows without any.
  void load(diagnosis::Compared compared, std::uint64_t message_size_bytes, diagnosis::SparseRows& rows);

  /// Whether one of the two has stored rounds, so that of all pairs few were measured in both.
  bool is_sparse() const;

 private:
  void match_ranks();
  void match_sizes();
  void note_differences();
  struct SparseRow {
    std::vector<std::uint32_t> partners;
    std::vector<double> logarithms;
  };
  SparseRow sparse_logarithms(ResultReader& reader, const std::vector<std::uint32_t>& ranks, std::size_t index,
                              std::uint64_t message_size_bytes) const;
  std::vector<double> logarithms(ResultReader& reader, const std::vector<std::uint32_t>& ranks, std::size_t index,
                                 std::uint64_t message_size_bytes) const;

  ResultReader& before_;
  ResultReader& after_;
  std::vector<std::uint32_t> ranks_before_, ranks_after_;
  std::vector<std::int64_t> matched_before_, matched_after_;  ///< places in these two of all ranks, -1 = none
  diagnosis::Layout layout_;
  std::vector<std::uint64_t> sizes_bytes_;
  std::vector<std::string> notes_;
};

}  // namespace leadline::bench::link

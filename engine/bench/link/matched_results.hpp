// SPDX-License-Identifier: Apache-2.0
// Results of earlier runs and of a later one, and what of them can be compared: ranks at the same place, message sizes
// that all have.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/link/reader.hpp"
#include "diagnosis/compare.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"

namespace leadline::bench::link {

class MatchedResults {
 public:
  /// All outlive it. Hosts are matched by name (also where one of the names is short), ranks by where they stand on
  /// their host: cores, NUMA node and adapter where both results know them, else their position. Hosts that have
  /// another number of ranks than before are left out, unless most of them do. Throws Error(bad_command_line) where
  /// nothing can be compared: no host or no two ranks in common, no message size, another direction or load.
  MatchedResults(std::vector<ResultReader*> before, ResultReader& after);

  /// Of the ranks that all have, in the order of the later result.
  const diagnosis::Layout& layout() const { return layout_; }
  diagnosis::Layout& layout() { return layout_; }

  const std::vector<std::uint64_t>& message_sizes_bytes() const { return sizes_bytes_; }

  /// Whether times of classes are comparable: hosts had as many ranks before, or pairs were measured one by one.
  bool has_same_load() const { return has_same_load_; }

  /// What differs, in sentences.
  const std::vector<std::string>& notes() const { return notes_; }

  std::size_t num_before() const { return before_.size(); }

  /// Logarithms of medians, of one result or of one over the other; of several repeats, and of several earlier runs,
  /// their mean.
  void load(diagnosis::Compared compared, std::uint64_t message_size_bytes, diagnosis::DenseRows& rows);
  /// Of one earlier run.
  void load_earlier(std::size_t run, std::uint64_t message_size_bytes, diagnosis::DenseRows& rows);

  /// The same of the pairs that were measured before and after, into rows without any.
  void load(diagnosis::Compared compared, std::uint64_t message_size_bytes, diagnosis::SparseRows& rows);
  void load_earlier(std::size_t run, std::uint64_t message_size_bytes, diagnosis::SparseRows& rows);

  /// Whether one of them has stored rounds, so that of all pairs few were measured in all.
  bool is_sparse() const;

 private:
  /// A result with its ranks that are compared.
  struct Run {
    ResultReader* reader = nullptr;
    std::vector<std::uint32_t> ranks;  ///< by place
    std::vector<std::int64_t> places;  ///< by rank; -1 = none
  };
  struct SparseRow {
    std::vector<std::uint32_t> partners;
    std::vector<double> logarithms;
  };
  using MeasuredPartners = std::vector<std::pair<std::uint32_t, double>>;

  void match_ranks();
  void match_sizes();
  void note_differences(ResultReader& before);
  void add_note(std::string note);
  void leave_out_other_loads(const ResultReader& before, const std::vector<std::size_t>& num_before,
                             const std::vector<std::size_t>& num_after, const std::vector<std::string>& names,
                             std::vector<std::int64_t>& same);
  [[noreturn]] void refuse(const ResultReader& before, const std::string& why, const std::string& hint) const;
  static SparseRow averaged(MeasuredPartners measured);
  static SparseRow sparse_logarithms(const Run& run, std::size_t index, std::uint64_t message_size_bytes);
  static std::vector<double> logarithms(const Run& run, std::size_t index, std::uint64_t message_size_bytes);
  SparseRow sparse_before(std::size_t index, std::uint64_t message_size_bytes) const;
  std::vector<double> mean_before(std::size_t index, std::uint64_t message_size_bytes) const;

  std::vector<Run> before_;
  Run after_;
  diagnosis::Layout layout_;
  std::vector<std::uint64_t> sizes_bytes_;
  bool has_same_load_ = true;
  std::vector<std::string> notes_;
};

}  // namespace leadline::bench::link

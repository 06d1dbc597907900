// SPDX-License-Identifier: Apache-2.0
// Rows that all lie in this process, two bytes a pair: a matrix of 28,672 ranks takes 1.6 GB.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "diagnosis/rows.hpp"

namespace leadline::diagnosis {

/// Logarithms in steps of 1/2047 (0.05 %), from `lowest` to 32 above it; 0 = none. What lies outside is moved to the
/// end.
struct LogCode {
  static constexpr float steps = 2047;
  static constexpr float of_times = -2;   ///< lowest: of ns, and of mean over median; up to 3 hours
  static constexpr float of_ratios = -8;  ///< lowest: of ns up to 26 s, and of ratios from 1/2981

  static std::uint16_t of(double logarithm, float lowest = of_times) {
    if (!std::isfinite(logarithm)) return 0;
    const double code = 1.5 + (logarithm - static_cast<double>(lowest)) * static_cast<double>(steps);  // to be cut off
    return static_cast<std::uint16_t>(std::clamp(code, 1.0, 65'535.0));
  }
  static float value(std::uint16_t code, float lowest = of_times) {
    const float its = lowest + (static_cast<float>(code) - 1) * (1 / steps);
    return code == 0 ? NAN : its;
  }
};

/// What rows that all lie here have in common.
class CodedRows : public Rows {
 public:
  std::uint32_t num_ranks() const override { return num_ranks_; }
  std::size_t num_workers() const override { return num_workers_; }
  bool is_whole() const override { return true; }
  std::string all_reduce(std::string own,
                         const std::function<std::string(std::string, std::string_view)>&) const override {
    return own;
  }

 protected:
  CodedRows(std::uint32_t num_ranks, std::size_t num_workers) : num_ranks_(num_ranks), num_workers_(num_workers) {}

 private:
  std::uint32_t num_ranks_;
  std::size_t num_workers_;
};

/// All pairs of N ranks. Rows may be set by several threads, each its own.
class DenseRows final : public CodedRows {
 public:
  DenseRows(std::uint32_t num_ranks, std::size_t num_workers, float lowest = LogCode::of_times);

  /// `logarithms` has a place for every rank.
  void set(std::uint32_t from, std::span<const double> logarithms);

  /// What was set, in steps; NaN where there is nothing.
  void get(std::uint32_t from, std::vector<float>& logarithms) const;

  void visit(const std::function<void(std::size_t worker, const Row& row)>& look) const override;

 private:
  float lowest_;
  std::vector<std::uint16_t> codes_;
};

/// Some pairs of N ranks. Rows are appended in the order of the ranks, by one thread.
class SparseRows final : public CodedRows {
 public:
  SparseRows(std::uint32_t num_ranks, std::size_t num_workers);

  /// The next rank's values; `partners` and `logarithms` are as long.
  void append(std::span<const std::uint32_t> partners, std::span<const double> logarithms);

  void visit(const std::function<void(std::size_t worker, const Row& row)>& look) const override;

 private:
  std::vector<std::uint64_t> begin_{0};
  std::vector<std::uint32_t> partners_;
  std::vector<std::uint16_t> codes_;
};

}  // namespace leadline::diagnosis

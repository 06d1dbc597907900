// SPDX-License-Identifier: Apache-2.0
// Rows that several threads hold, each its own, as the ranks of a run do.
#pragma once

#include <barrier>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/rows.hpp"

namespace leadline::diagnosis {

/// Where the holders meet; one for each run.
class Meeting {
 public:
  explicit Meeting(std::size_t num_holders) : texts_(num_holders), gate_(static_cast<std::ptrdiff_t>(num_holders)) {}

  std::size_t num_holders() const { return texts_.size(); }

  /// All holders' texts, in the holders' order.
  std::vector<std::string> exchange(std::size_t holder, std::string own);

 private:
  std::vector<std::string> texts_;
  std::barrier<> gate_;
};

/// Every num_holders-th row of `all`, from `holder` on, looked at by one worker.
class SharedRows final : public Rows {
 public:
  SharedRows(const DenseRows& all, Meeting& meeting, std::size_t holder)
      : all_(all), meeting_(meeting), holder_(holder) {}

  std::uint32_t num_ranks() const override { return all_.num_ranks(); }
  std::size_t num_workers() const override { return 1; }
  bool is_whole() const override { return false; }
  void visit(const std::function<void(std::size_t worker, const Row& row)>& look) const override;

  /// In another order each time, the same for all: who relies on an order does not get the same twice.
  std::string all_reduce(
      std::string own,
      const std::function<std::string(std::string left, std::string_view right)>& combine) const override;

 private:
  const DenseRows& all_;
  Meeting& meeting_;
  std::size_t holder_;
  mutable std::size_t num_calls_ = 0;
};

}  // namespace leadline::diagnosis

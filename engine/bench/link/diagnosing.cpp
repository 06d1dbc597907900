// SPDX-License-Identifier: Apache-2.0
// Brings rows that lie in different ranks before the diagnosis.
#include "bench/link/diagnosing.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/link/retest.hpp"
#include "diagnosis/diagnose.hpp"
#include "diagnosis/rows.hpp"

namespace leadline::bench::link {
namespace {

/// One row here, the others in the other ranks.
class OwnRow final : public diagnosis::Rows {
 public:
  OwnRow(cluster::Cluster& cluster, const PairRow& row, Symptom symptom)
      : cluster_(cluster), values_(row.count.size()) {
    for (std::size_t partner = 0; partner < values_.size(); ++partner) {
      const double median = row.time_ns_median[partner];
      const double value = symptom == Symptom::slow ? median : row.time_ns_mean[partner] / median;
      const bool is_measured = row.count[partner] > 0 && median > 0;
      values_[partner] = is_measured ? static_cast<float>(std::log(value)) : std::numeric_limits<float>::quiet_NaN();
    }
  }

  std::uint32_t num_ranks() const override { return static_cast<std::uint32_t>(values_.size()); }
  std::size_t num_workers() const override { return 1; }
  bool is_whole() const override { return cluster_.size() == 1; }

  void visit(const std::function<void(std::size_t worker, const diagnosis::Row& row)>& look) const override {
    look(0, {static_cast<std::uint32_t>(cluster_.rank()), {}, values_});
    cluster_.progress_counter().advance();
  }

  std::string all_reduce(
      std::string own,
      const std::function<std::string(std::string left, std::string_view right)>& combine) const override {
    std::string sum = cluster_.all_reduce(std::move(own), combine);
    cluster_.progress_counter().advance();
    return sum;
  }

 private:
  cluster::Cluster& cluster_;
  std::vector<float> values_;
};

}  // namespace

Diagnosis diagnose(const DiagnosisStage& stage, const PairRow& row, const Slice& slice, std::uint64_t num_pairs) {
  std::optional<OwnRow> rows;
  const auto rows_of = [&](Symptom symptom) -> const diagnosis::Rows& {
    return rows.emplace(stage.cluster, row, symptom);
  };
  RetestMeter meter(stage.cluster, stage.meter, slice.message_size_bytes, stage.retest_limit_s);
  const auto again = [&](std::span<const diagnosis::OrderedPair> pairs, diagnosis::Load load) {
    std::vector<diagnosis::RetestTimes> times;
    for (const auto& pair : pairs) {
      times.push_back(meter.measure(static_cast<int>(pair.from), static_cast<int>(pair.to), load));
    }
    return times;
  };
  return diagnosis::diagnose({.rows = rows_of,
                              .layout = stage.layout,
                              .settings = stage.settings,
                              .num_pairs = num_pairs,
                              .retest = again,
                              .load = stage.load});
}

}  // namespace leadline::bench::link

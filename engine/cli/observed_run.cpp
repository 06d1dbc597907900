// SPDX-License-Identifier: Apache-2.0
// One slice after the other, so that the root holds the observations of one.
#include "cli/observed_run.hpp"

#include <span>
#include <string_view>

#include "diagnosis/rows.hpp"

namespace leadline::cli {

using diagnosis::Observation;

std::vector<DiagnosedSlice> diagnosed_at_root(
    cluster::Cluster& cluster, const std::vector<std::vector<Observation>>& own, const diagnosis::Layout& layout,
    const DiagnosisSettings& settings, const std::function<diagnosis::ObservedSlice(std::size_t index)>& slice_of) {
  std::vector<DiagnosedSlice> told;
  for (std::size_t index = 0; index < own.size(); ++index) {
    std::vector<Observation> all;
    cluster.gather(diagnosis::bytes_of(std::span<const Observation>(own[index])), [&](int, std::string_view bytes) {
      const auto of_rank = diagnosis::entries_of<Observation>(bytes);
      all.insert(all.end(), of_rank.begin(), of_rank.end());
    });
    cluster.progress_counter().advance();
    if (!cluster.is_root() || all.empty()) continue;
    diagnosis::ObservedSlice slice = slice_of(index);
    slice.observations = std::move(all);
    told.push_back(diagnosis::diagnosed(slice, layout, settings));
  }
  return told;
}

}  // namespace leadline::cli

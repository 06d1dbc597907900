// SPDX-License-Identifier: Apache-2.0
// The documents of a topology test: while it runs, and at its end.
#include "result/topology/json_store.hpp"

#include <utility>

#include "result/topology/json.hpp"

namespace leadline::result::topology {

JsonStore::JsonStore(cluster::Cluster& cluster, TopologyResult so_far, const TopologyFileSetup& setup)
    : is_rank_0_(cluster.rank() == 0),
      so_far_(std::move(so_far)),
      file_(cluster, setup.path, setup.existing, [this](const std::string& reason) { return incomplete(reason); }) {}

std::string JsonStore::incomplete(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  so_far_.complete = false;
  so_far_.incomplete_reason = reason;
  return json_text(so_far_);
}

void JsonStore::write(std::size_t, const bench::topology::CellRow&, const CellSummary& summary) {
  if (!is_rank_0_) return;
  const std::lock_guard lock(mutex_);
  so_far_.cells.push_back(summary);
}

void JsonStore::write(const LoadPoint& point) {
  if (!is_rank_0_) return;
  const std::lock_guard lock(mutex_);
  so_far_.load.push_back(point);
}

void JsonStore::finish(const TopologyResult& result) {
  file_.finish([&] { return json_text(result); });
}

}  // namespace leadline::result::topology

// SPDX-License-Identifier: Apache-2.0
// What the documents of a bisection test have while it runs.
#include "result/bisection/json_store.hpp"

#include <utility>

#include "result/bisection/json.hpp"

namespace leadline::result::bisection {

JsonStore::JsonStore(cluster::Cluster& cluster, BisectionResult so_far, const BisectionFileSetup& setup)
    : document_(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::write(const bench::bisection::RankRow& row) {
  document_.add([&](BisectionResult& so_far) {
    so_far.patterns.insert(so_far.patterns.end(), row.patterns.begin(), row.patterns.end());
    so_far.baseline.insert(so_far.baseline.end(), row.baseline.begin(), row.baseline.end());
  });
}

}  // namespace leadline::result::bisection

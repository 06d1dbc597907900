// SPDX-License-Identifier: Apache-2.0
// What the documents of a parallel file test have while it runs.
#include "result/io/json_store.hpp"

#include <utility>

#include "result/io/json.hpp"

namespace leadline::result::io {

JsonStore::JsonStore(cluster::Cluster& cluster, IoResult so_far, const IoFileSetup& setup)
    : document_(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::write(const PhasePosition&, const RankPhase&, const PhaseSummary& summary) {
  document_.add([&](IoResult& so_far) { so_far.phases.push_back(summary); });
}

}  // namespace leadline::result::io

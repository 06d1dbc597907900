// SPDX-License-Identifier: Apache-2.0
// The result of a bisection test as JSON; docs/formats/json.md.
#pragma once

#include <string>

#include "bench/bisection/output.hpp"
#include "bench/bisection/result.hpp"
#include "core/json.hpp"
#include "result/json_file.hpp"

namespace leadline::bench::bisection {

/// A document with a line end. What was not measured is null.
std::string json_text(const BisectionResult& result);

/// The JSON Schema of such documents.
Json schema();

/// The document of a run that fails has the patterns and the pairs alone that were measured until then.
class JsonStore : public result::RunDocument<BisectionFile, BisectionResult> {
 public:
  /// Collective; see open_bisection_file.
  JsonStore(cluster::Cluster& cluster, BisectionResult so_far, const BisectionFileSetup& setup);

  void write(const RankRow& row) override;
};

}  // namespace leadline::bench::bisection

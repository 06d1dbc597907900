// SPDX-License-Identifier: Apache-2.0
// The result of a congestion test as JSON; docs/formats/json.md.
#pragma once

#include <string>

#include "bench/congestion/output.hpp"
#include "bench/congestion/result.hpp"
#include "core/json.hpp"
#include "model/fields.hpp"
#include "result/json_file.hpp"

namespace leadline::bench::congestion {

/// A document with a line end. What was not measured is null.
std::string json_text(const CongestionResult& result);

/// The JSON Schema of such documents.
Json schema();

/// Of a run that fails it has who took which part; rounds are kept in HDF5 only.
class JsonStore : public result::RunDocument<CongestionFile, CongestionResult> {
 public:
  /// Collective; see open_congestion_file.
  JsonStore(cluster::Cluster& cluster, CongestionResult so_far, const result::RunFileSetup& setup)
      : RunDocument(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

  void write(const RoundRow& /*row*/) override {}
};

}  // namespace leadline::bench::congestion

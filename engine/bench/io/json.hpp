// SPDX-License-Identifier: Apache-2.0
// The result of a parallel file test as JSON; docs/formats/json.md.
#pragma once

#include <cstddef>
#include <string>

#include "bench/io/output.hpp"
#include "bench/io/result.hpp"
#include "core/json.hpp"
#include "result/json_file.hpp"

namespace leadline::bench::io {

/// A document with a line end. What was not measured is null.
std::string json_text(const IoResult& result);

/// The JSON Schema of such documents.
Json schema();

/// One of the document's phases in a line. Where that would be longer, the lists of wrong objects, slow calls
/// and ranks at an interruption lose their last entries, and if that is not enough, the error its end.
std::string phase_text(const PhaseSummary& summary, std::size_t most_bytes);

/// The document of a run that fails has the phases that were measured until then, and the one that failed.
class JsonStore : public result::RunDocument<IoFile, IoResult> {
 public:
  /// Collective; see open_io_file.
  JsonStore(cluster::Cluster& cluster, IoResult so_far, const IoFileSetup& setup);

  void write(const PhasePosition& position, const RankPhase& own, const PhaseSummary& summary) override;
  void keep_interrupted(const PhaseSummary& summary) override;
};

}  // namespace leadline::bench::io

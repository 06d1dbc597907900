// SPDX-License-Identifier: Apache-2.0
// The result of a parallel file test as one JSON document: the summary without the rows of ranks.
#pragma once

#include <string>

#include "result/io_file.hpp"
#include "result/run_document.hpp"

namespace leadline::result::io {

/// The document of a run that fails has the phases that were measured until then, and the one that failed.
class JsonStore : public IoFile {
 public:
  /// Collective; see open_io_file.
  JsonStore(cluster::Cluster& cluster, IoResult so_far, const IoFileSetup& setup);

  void write(const PhasePosition& place, const RankPhase& own, const PhaseSummary& summary) override;
  const std::string& path() const override { return document_.path(); }
  void mark_incomplete(const std::string& reason) noexcept override { document_.mark_incomplete(reason); }
  void finish(const IoResult& result) override { document_.finish(result); }

 private:
  RunDocument<IoResult> document_;
};

}  // namespace leadline::result::io

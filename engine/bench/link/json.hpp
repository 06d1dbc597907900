// SPDX-License-Identifier: Apache-2.0
// The result of a link test as JSON; docs/formats/json.md.
#pragma once

#include <string>

#include "bench/link/file.hpp"
#include "bench/link/result.hpp"
#include "core/json.hpp"
#include "result/json_file.hpp"

namespace leadline::bench::link {

/// A document with a line end, What was not measured is null. Text that is no UTF-8 is
/// replaced where it is wrong.
std::string json_text(const LinkResult& result);

/// The JSON Schema of such documents.
Json schema();

/// Rows are ignored; of a run that is not complete it keeps the slices that are.
class JsonStore : public result::RunDocument<LinkFile, LinkResult> {
 public:
  /// Collective; see open_link_file.
  JsonStore(cluster::Cluster& cluster, LinkResult so_far, const LinkFileSetup& setup);

  void reserve_repeats(int) override {}
  void write(const Slice&, const PairRow&) override {}
  void close_slice(const SliceSummary& summary) override;
};

}  // namespace leadline::bench::link

// SPDX-License-Identifier: Apache-2.0
// The result of a link test as JSON; every key is explained in docs/formats/json.md and in its schema.
#pragma once

#include <string>

#include "model/link_result.hpp"
#include "result/json_file.hpp"
#include "result/link_result_file.hpp"

namespace leadline::result {

/// A document with a line end, keys in the order of the schema. What was not measured is null. Text that is no UTF-8 is
/// replaced where it is wrong.
std::string json_text(const LinkResult& result);

/// Rows are ignored.
class JsonStore : public LinkResultFile {
 public:
  /// Collective; see open_link_result_file.
  JsonStore(cluster::Cluster& cluster, LinkResult so_far, const LinkResultFileSetup& setup);

  void reserve_repeats(int) override {}
  void write(const Slice&, const PairRow&) override {}
  const std::string& path() const override { return file_.path(); }
  void mark_incomplete(const std::string& reason) noexcept override { file_.mark_incomplete(reason); }
  void finish(const LinkResult& result) override;

 private:
  JsonFile file_;
};

}  // namespace leadline::result

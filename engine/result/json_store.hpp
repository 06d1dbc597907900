// SPDX-License-Identifier: Apache-2.0
// The result of a link test as one JSON document: the summary without the matrices.
#pragma once

#include <string>

#include "result/json_file.hpp"
#include "result/link_result_file.hpp"

namespace leadline::result {

/// Rows are ignored.
class JsonStore : public LinkResultFile {
 public:
  /// Collective; see open_link_result_file.
  JsonStore(cluster::Cluster& cluster, LinkResult so_far, const LinkResultFileSetup& setup);

  void reserve_repeats(int) override {}
  void write(const Slice&, const PairRow&) override {}
  const std::string& path() const override { return file_.path(); }
  void flush() override { file_.flush(); }
  void mark_incomplete(const std::string& reason) noexcept override { file_.mark_incomplete(reason); }
  void finish(const LinkResult& result) override;

 private:
  JsonFile file_;
};

}  // namespace leadline::result

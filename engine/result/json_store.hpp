// SPDX-License-Identifier: Apache-2.0
// The result of a link test as one JSON document: the summary without the matrices.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "result/output_file.hpp"
#include "result/result_file.hpp"

namespace leadline::result {

/// Rank 0 alone has the file. From its creation on it holds a valid document; rows are ignored. For "-" one document
/// goes to standard output: at the end, or when the run fails.
class JsonStore : public ResultFile {
 public:
  /// Collective; see open_result_file.
  JsonStore(cluster::Cluster& cluster, LinkResult so_far, const ResultFileSetup& setup);

  void reserve_repeats(int) override {}
  void write(const Slice&, const PairRow&) override {}
  const std::string& path() const override { return path_; }
  void flush() override;
  void mark_incomplete(const std::string& reason) noexcept override;
  void finish(const LinkResult& result) override;

 private:
  void put(const std::string& document);

  cluster::Cluster& cluster_;
  LinkResult so_far_;
  std::string path_;
  std::optional<OutputFile> file_;

  std::mutex mutex_;  ///< between the end of the run and a failure that the watch reports
  std::size_t size_ = 0;
  bool is_final_ = false;
};

}  // namespace leadline::result

// SPDX-License-Identifier: Apache-2.0
// A file that holds one JSON document, valid from its creation on, whatever the benchmark.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "cluster/cluster.hpp"
#include "result/link_result_file.hpp"
#include "result/output_file.hpp"

namespace leadline::result {

/// Every rank has one; rank 0 alone has the file. For "-" one document goes to standard output: at the end, or when the
/// run fails.
class JsonFile {
 public:
  /// The document of a run that is not complete for this reason. Called under a lock, also from the watch thread.
  using IncompleteDocument = std::function<std::string(const std::string& reason)>;

  /// Collective: creates the file with the document of a run that has just begun. Rank 0's path counts. Errors are
  /// those of open_link_result_file.
  JsonFile(cluster::Cluster& cluster, const std::string& path, ExistingFile existing, IncompleteDocument incomplete);

  const std::string& path() const { return path_; }

  /// The next three are as in LinkResultFile. `document` is called on rank 0 only.
  void flush();
  void mark_incomplete(const std::string& reason) noexcept;
  void finish(const std::function<std::string()>& document);

 private:
  void put(const std::string& document);

  cluster::Cluster& cluster_;
  std::string path_;
  IncompleteDocument incomplete_;
  std::optional<OutputFile> file_;

  std::mutex mutex_;  ///< between the end of the run and a failure that the watch reports
  std::size_t size_ = 0;
  bool is_final_ = false;
};

}  // namespace leadline::result

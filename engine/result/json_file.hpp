// SPDX-License-Identifier: Apache-2.0
// A file that holds one JSON document, valid from its creation on, which may grow while the run goes on.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "cluster/cluster.hpp"
#include "core/error.hpp"
#include "model/request.hpp"
#include "result/output_file.hpp"
#include "result/result_file.hpp"

namespace leadline::result {

/// Every rank has one; rank 0 alone writes the file, anew each time and under its name when it is whole. For "-" one
/// document goes to standard output: at the end, or when the run fails.
class JsonFile {
 public:
  /// The document of a run that is not complete for this reason. Called under a lock, also from the watch thread.
  using IncompleteDocument = std::function<std::string(const std::string& reason)>;

  /// Collective: creates the file with the document of a run that has just begun. Rank 0's path counts. Errors are
  /// those of open_link_file.
  JsonFile(cluster::Cluster& cluster, const std::string& path, ExistingFile existing, IncompleteDocument incomplete);

  const std::string& path() const { return path_; }

  /// The next two are as in LinkFile. `document` is called on rank 0 only.
  void mark_incomplete(const std::string& reason) noexcept;
  void finish(const std::function<std::string()>& document);

 private:
  void put(const std::string& document);
  void put_incomplete(const std::string& reason);
  void replace_reason(const std::string& reason) const;

  cluster::Cluster& cluster_;
  std::string path_;
  ExistingFile existing_;
  IncompleteDocument incomplete_;

  std::mutex mutex_;                ///< between the end of the run and a failure that the watch reports
  bool is_made_ = false;            ///< the file is there, and ours
  std::optional<OutputFile> made_;  ///< where it can be opened: tells whether another file has the name now
  bool is_final_ = false;
};

/// The result of a benchmark as JSON, for a `File` that is a ResultFile; who derives from it adds what comes. Rank 0
/// alone has the file. The document of a run that fails has what was added until then.
template <class File, class Result>
class RunDocument : public File {
 public:
  using TextOf = std::string (*)(const Result& result);

  /// Collective; errors are those of open_link_file.
  RunDocument(cluster::Cluster& cluster, Result so_far, const std::string& path, ExistingFile existing, TextOf text_of)
      : is_rank_0_(cluster.rank() == 0),
        text_of_(text_of),
        so_far_(std::move(so_far)),
        file_(cluster, path, existing, [this](const std::string& reason) { return incomplete(reason); }) {}

  const std::string& path() const override { return file_.path(); }
  void mark_incomplete(const std::string& reason) noexcept override { file_.mark_incomplete(reason); }
  void finish(const Result& result) override {
    file_.finish([&] { return text_of_(result); });
  }

 protected:
  /// Local: `change` is what came since; it is called on rank 0 only.
  template <typename Change>
  void add(const Change& change) {
    if (!is_rank_0_) return;
    const std::lock_guard lock(mutex_);
    change(so_far_);
  }

 private:
  std::string incomplete(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    so_far_.complete = false;
    so_far_.incomplete_reason = reason;
    return text_of_(so_far_);
  }

  bool is_rank_0_;
  TextOf text_of_;
  std::mutex mutex_;  ///< between the measuring thread and a failure that the watch reports
  Result so_far_;
  JsonFile file_;
};

/// Collective: the file of a benchmark that SION has no place for, which `test` names: "a topology test". Throws as
/// open_link_file does.
template <class Hdf5Store, class JsonStore, class NoStore, class Result, class Setup>
auto open_result_file(const char* test, cluster::Cluster& cluster, const Result& so_far, Setup setup)
    -> std::unique_ptr<typename NoStore::File> {
  switch (setup.format) {
    case ResultFormat::hdf5:
      return std::make_unique<Hdf5Store>(cluster, so_far, std::move(setup));
    case ResultFormat::json:
      return std::make_unique<JsonStore>(cluster, so_far, setup);
    case ResultFormat::sion:
      throw Error(ExitStatus::bad_command_line, std::string(test) + " cannot be kept as SION",
                  "it holds LinkTest's record, which is one of pairs", "Choose a name ending in .h5 or .json");
    case ResultFormat::none:
      break;
  }
  return std::make_unique<NoStore>();
}

}  // namespace leadline::result

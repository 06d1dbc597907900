// SPDX-License-Identifier: Apache-2.0
// Keeps one JSON document valid from the first moment to the last.
#include "result/json_store.hpp"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "result/collective.hpp"
#include "result/hdf5/hdf5_file.hpp"
#include "result/json.hpp"

namespace leadline::result {

namespace {

void write_to_standard_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw write_error("on standard output", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

JsonStore::JsonStore(cluster::Cluster& cluster, LinkResult so_far, const ResultFileSetup& setup)
    : cluster_(cluster), so_far_(std::move(so_far)), path_(cluster.broadcast(setup.path)) {
  so_far_.complete = false;
  so_far_.incomplete_reason = reason_from_the_start;
  all_or_error(cluster_, [&] {
    if (cluster_.rank() != 0 || path_ == "-") return;
    file_ = OutputFile::create(path_, setup.existing);
    try {
      put(json_text(so_far_));
    } catch (const Error&) {
      if (file_->is_new()) ::unlink(path_.c_str());
      throw;
    }
  });
}

/// Blanks up to the end of the document before make the one positioned write enough: at no time do two documents mix.
void JsonStore::put(const std::string& document) {
  if (path_ == "-") return write_to_standard_output(document);
  std::string padded = document;
  if (padded.size() < size_) padded.resize(size_, '\n');
  file_->write_at(0, padded);
  size_ = padded.size();
  file_->truncate(document.size());
}

void JsonStore::flush() {
  if (file_) file_->sync();
}

void JsonStore::mark_incomplete(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (is_final_ || (path_ != "-" && !file_)) return;
    is_final_ = true;
    so_far_.incomplete_reason = reason;
    put(json_text(so_far_));
  } catch (const std::exception&) {
    // The run is failing already, and its reason goes to stderr.
  }
}

void JsonStore::finish(const LinkResult& result) {
  all_or_error(cluster_, [&] {
    const std::lock_guard lock(mutex_);
    if (is_final_) return;
    is_final_ = true;
    if (cluster_.rank() != 0) return;
    put(json_text(result));
    if (!file_) return;
    file_->sync();
    file_->close();
  });
}

}  // namespace leadline::result

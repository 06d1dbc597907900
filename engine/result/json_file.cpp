// SPDX-License-Identifier: Apache-2.0
// Keeps one JSON document valid from the first moment to the last.
#include "result/json_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "result/collective.hpp"
#include "result/run_header.hpp"

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

JsonFile::JsonFile(cluster::Cluster& cluster, const std::string& path, ExistingFile existing,
                   IncompleteDocument incomplete)
    : cluster_(cluster), path_(cluster.broadcast(path)), incomplete_(std::move(incomplete)) {
  all_or_error(cluster_, [&] {
    if (cluster_.rank() != 0 || path_ == "-") return;
    file_ = OutputFile::create(path_, existing);
    try {
      put(incomplete_(reason_from_the_start));
    } catch (const Error&) {
      if (file_->is_new()) ::unlink(path_.c_str());
      throw;
    }
  });
}

/// Blanks up to the end of the document before make the one positioned write enough: at no time do two documents mix.
void JsonFile::put(const std::string& document) {
  if (path_ == "-") return write_to_standard_output(document);
  std::string padded = document;
  if (padded.size() < size_) padded.resize(size_, '\n');
  file_->write_at(0, padded);
  size_ = padded.size();
  file_->truncate(document.size());
}

void JsonFile::flush() {
  if (file_) file_->sync();
}

void JsonFile::mark_incomplete(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (is_final_ || (path_ != "-" && !file_)) return;
    is_final_ = true;
    put(incomplete_(reason));
  } catch (const std::exception&) {
    // The run is failing already, and its reason goes to stderr.
  }
}

void JsonFile::finish(const std::function<std::string()>& document) {
  all_or_error(cluster_, [&] {
    const std::lock_guard lock(mutex_);
    if (is_final_) return;
    is_final_ = true;
    if (cluster_.rank() != 0) return;
    put(document());
    if (!file_) return;
    file_->sync();
    file_->close();
  });
}

}  // namespace leadline::result

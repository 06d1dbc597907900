// SPDX-License-Identifier: Apache-2.0
// Keeps one JSON document valid from the first moment to the last.
#include "result/json_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/file_call.hpp"
#include "core/json.hpp"
#include "result/collective.hpp"
#include "result/run_header.hpp"

namespace leadline::result {

namespace {

void write_to_standard_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) throw Error(ExitStatus::output_closed, "nobody reads standard output");
    if (written < 0) throw write_error("on standard output", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

JsonFile::JsonFile(cluster::Cluster& cluster, const std::string& path, ExistingFile existing,
                   IncompleteDocument incomplete)
    : cluster_(cluster), path_(cluster.broadcast(path)), existing_(existing), incomplete_(std::move(incomplete)) {
  all_or_error(cluster_, [&] {
    if (cluster_.rank() != 0 || path_ == "-") return;
    const InFileCall in_call(cluster_.progress_counter().file_call, "creating", path_, {},
                             FileCallKind::many_short_calls);
    put(incomplete_(reason_from_the_start));
  });
}

void JsonFile::put(const std::string& document) {
  if (path_ == "-") return write_to_standard_output(document);
  try {
    if (made_) made_->expect_not_replaced();
    write_document(path_, is_made_ ? ExistingFile::overwrite : existing_, document);
  } catch (const Error& error) {
    if (!is_made_) throw;
    throw write_error(path_, error.why());  // the user's words were right when the run began
  }
  is_made_ = true;
  made_ = OutputFile::open_existing(path_);
}

/// Where there is no room for what was measured, the document that is there says why.
void JsonFile::put_incomplete(const std::string& reason) {
  try {
    put(incomplete_(reason));
  } catch (const Error&) {
    if (made_ && made_->has_its_name()) replace_reason(reason);
    throw;
  }
}

/// In place, since that may need no room.
void JsonFile::replace_reason(const std::string& reason) const {
  const auto member = [](const std::string& text) { return "\"incomplete_reason\": " + Json(text).in_one_line(); };
  std::string document = made_->read_at(0, made_->size_bytes());
  const std::string unknown = member(reason_from_the_start);
  const std::size_t at = document.find(unknown);
  if (at == std::string::npos) return;
  document.replace(at, unknown.size(), member(reason));
  made_->reserve(document.size());
  made_->write_at(0, document);
}

void JsonFile::mark_incomplete(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (is_final_ || (path_ != "-" && cluster_.rank() != 0)) return;
    is_final_ = true;
    put_incomplete(reason);
  } catch (const Error& error) {
    tell_not_kept(error, reason);
  } catch (const std::exception&) {
    // The run is failing already, and its reason goes to stderr.
  }
}

void JsonFile::finish(const std::function<std::string()>& document) {
  all_or_error(cluster_, [&] {
    const std::lock_guard lock(mutex_);
    if (is_final_) return;
    is_final_ = path_ == "-" || cluster_.rank() != 0;  // a file that cannot be written is marked incomplete after this
    if (cluster_.rank() != 0) return;
    const InFileCall in_call(cluster_.progress_counter().file_call, "writing", path_, {}, FileCallKind::many_calls);
    put(document());
    is_final_ = true;
  });
}

}  // namespace leadline::result

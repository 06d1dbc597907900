// SPDX-License-Identifier: Apache-2.0
// A handler in UCX's logging: it has no argument of its own, so what it keeps is one for the process.
#include "transport/ucx/library_log.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "transport/ucx/library.hpp"

namespace leadline::transport::ucx {
namespace {

constexpr std::size_t max_kept_bytes = 600;  // a message that repeats itself must not grow for ever

struct LogBuffer {
  std::mutex mutex;  // UCX has a thread for its asynchronous work
  std::string words;
};

LogBuffer& kept() {
  static LogBuffer buffer;
  return buffer;
}

ucs_log_func_rc_t keep(const char*, unsigned, const char*, ucs_log_level_t level, const ucs_log_component_config_t*,
                       const char* message, va_list arguments) {
  const bool is_wanted = std::getenv("UCX_LOG_LEVEL") != nullptr;
  const auto result = is_wanted ? UCS_LOG_FUNC_RC_CONTINUE : UCS_LOG_FUNC_RC_STOP;
  if (level > UCS_LOG_LEVEL_WARN) return result;
  std::array<char, max_kept_bytes> text;
  va_list again;
  va_copy(again, arguments);
  std::vsnprintf(text.data(), text.size(), message, again);
  va_end(again);
  const std::lock_guard guard(kept().mutex);
  std::string& words = kept().words;
  if (words.size() >= max_kept_bytes) return result;
  words += (words.empty() ? "" : "; ") + std::string(text.data());
  return result;
}

}  // namespace

LibraryLog::LibraryLog() { functions->log_push_handler(keep); }
LibraryLog::~LibraryLog() { functions->log_pop_handler(); }

std::string LibraryLog::take() {
  const std::lock_guard guard(kept().mutex);
  std::string words = std::exchange(kept().words, {});
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words;
}

}  // namespace leadline::transport::ucx

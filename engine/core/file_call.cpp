// SPDX-License-Identifier: Apache-2.0
// The text of a call that lasts.
#include "core/file_call.hpp"

#include <fmt/format.h>
#include <time.h>

#include <ctime>
#include <fstream>

#include "core/units.hpp"

namespace leadline {
namespace {

// A younger call says nothing of the file system yet.
constexpr std::uint64_t told_ns = 1'000'000'000;

std::string time_of_day(std::uint64_t ago_ns) {
  const std::time_t then = std::time(nullptr) - static_cast<std::time_t>(ago_ns / 1'000'000'000);
  std::tm utc{};
  ::gmtime_r(&then, &utc);
  return fmt::format("{:02}:{:02}:{:02} UTC", utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

std::string CurrentFileCall::text() const {
  if (kind() == FileCallKind::none) return {};
  std::string text = doing_.load(std::memory_order_relaxed);
  const std::uint64_t size_bytes = size_bytes_.load(std::memory_order_relaxed);
  const std::uint64_t offset_bytes = offset_bytes_.load(std::memory_order_relaxed);
  if (size_bytes > 0) text += fmt::format(" {} at {} of", format_bytes(size_bytes), offset_bytes);
  {
    const std::lock_guard lock(mutex_);
    text += ' ' + file_;
  }
  const std::uint64_t now = now_ns(), begin = begin_ns();
  if (now > begin + told_ns) text += " since " + time_of_day(now - begin);
  return text;
}

std::string CurrentFileCall::system_call() const {
  std::ifstream file(fmt::format("/proc/self/task/{}/syscall", thread_.load(std::memory_order_relaxed)));
  std::string line;
  std::getline(file, line);
  // Otherwise "running", or -1 where it waits for a page.
  const bool is_in_call = !line.empty() && line.front() >= '0' && line.front() <= '9';
  return is_in_call ? line : std::string();
}

}  // namespace leadline

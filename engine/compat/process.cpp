// SPDX-License-Identifier: Apache-2.0
// Asks the system about this process.
#include "compat/process.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/standard_streams.hpp"
#include "result/sion/container/reader.hpp"

namespace leadline::compat {

std::uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t total_pages = 0, resident_pages = 0;
  if (!(in >> total_pages >> resident_pages)) return 0;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

int current_core() { return ::sched_getcpu(); }

std::string note_of_replacement(const std::string& program, const std::string& file) {
  std::error_code unreadable;
  if (file.empty() || !std::filesystem::is_regular_file(file, unreadable)) return {};
  return fmt::format("{}: {} is there already and will be replaced\n", program, file);
}

std::uint64_t bytes_of_records(const std::string& path) {
  const auto reader = result::sion::Reader::open(path);
  std::uint64_t bytes = 0;
  for (std::int64_t task = 0; task < reader.num_tasks(); ++task) {
    bytes += static_cast<std::uint64_t>(reader.size_bytes(task));
  }
  return bytes;
}

Outlet standard_outlet() {
  return {[](const std::string& text) { cli::say(text); },
          [](const std::string& text) {
            // As one write a line: the launcher mixes the lines of all ranks.
            std::fwrite(text.data(), 1, text.size(), stderr);
            std::fflush(stderr);
          }};
}

}  // namespace leadline::compat

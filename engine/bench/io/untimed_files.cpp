// SPDX-License-Identifier: Apache-2.0
// Truncation, removal, and a look at the first block.
#include "bench/io/untimed_files.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>

#include "bench/reductions.hpp"
#include "core/error.hpp"

namespace leadline::bench::io {

void truncate_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  std::filesystem::resize_file(path, 0, error);
  if (!error || error == std::errc::no_such_file_or_directory) return;
  throw Error(ExitStatus::run_failed, fmt::format("cannot empty {}", path), error.message(),
              "Remove it, or choose another --target");
}

void remove_file(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (!error) return;
  throw Error(ExitStatus::run_failed, fmt::format("cannot delete {}", path), error.message());
}

std::optional<Writing> writing_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, memory::block_size_bytes> block{};
  file.read(block.data(), block.size());
  const auto num_read = static_cast<std::size_t>(file.gcount());
  const auto key = memory::key_of_block(std::as_bytes(std::span(block.data(), num_read)));
  if (!key) return std::nullopt;
  return Writing{key->run, key->generation};
}

Writing writing_of_earlier_run(const IoRequest& request, const Plan& plan, const std::vector<std::string>& files,
                               cluster::Cluster& cluster, const Writing& otherwise) {
  struct Found {
    std::uint64_t run = 0;
    std::uint32_t generation = 0, is_known = 0;
  };
  Found found;
  const bool has_headers = request.file_fill == memory::BlockKind::blocks && !request.no_file;
  if (has_headers && plan.layout.openers(0).front() == cluster.rank()) {
    const auto writing = writing_of_file(files.front());
    if (writing) found = {writing->run, writing->generation, 1};
  }
  found = merged_over_ranks(cluster, found, [](const Found& a, const Found& b) { return a.is_known != 0 ? a : b; });
  return found.is_known != 0 ? Writing{found.run, found.generation} : otherwise;
}

}  // namespace leadline::bench::io

// SPDX-License-Identifier: Apache-2.0
// Prepares and removes files, and checks that all hosts see the same one.
#include "bench/io/untimed_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/object_loop.hpp"
#include "bench/io/phase.hpp"
#include "bench/reductions.hpp"
#include "core/error.hpp"
#include "core/file_call.hpp"
#include "memory/block_pattern.hpp"
#include "storage/posix/opened.hpp"

namespace leadline::bench::io {
namespace {

bool are_on_several_hosts(const std::vector<std::int32_t>& ranks, std::span<const std::uint32_t> host_of) {
  return std::any_of(ranks.begin(), ranks.end(), [&](std::int32_t rank) {
    return host_of[static_cast<std::size_t>(rank)] != host_of[static_cast<std::size_t>(ranks.front())];
  });
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Devices are whatever they are.
bool is_no_file(const std::string& path) {
  std::error_code ignored;
  return is_there(path) && !std::filesystem::is_regular_file(path, ignored);
}

bool is_lowest_opener_left(const schedule::FileLayout& layout, const cluster::Cluster& cluster) {
  int lowest = 0;
  while (!layout.is_opener(lowest) || cluster::is_lost(cluster.lost_ranks(), lowest)) {
    if (++lowest == layout.num_ranks()) return false;
  }
  return lowest == cluster.rank();
}

void write_block(const std::string& path, std::uint64_t run) {
  std::array<std::byte, memory::block_size_bytes> block{};
  memory::ObjectKey key;
  key.run = run;
  memory::fill_object(block, {}, key);
  const Descriptor file =
      storage::posix::open_descriptor(path, storage::Access::write, storage::CachePath::buffered).file;
  const ssize_t num_written = ::pwrite(file.fd(), block.data(), block.size(), 0);
  if (num_written == static_cast<ssize_t>(block.size())) return;
  throw Error(ExitStatus::run_failed, fmt::format("writing a first block of {} failed", path),
              system_error_text(num_written < 0 ? errno : ENOSPC));
}

/// Throws where the file on this host is not the one that rank `writer` has just written.
void find_block(const std::string& path, std::uint64_t run, std::int32_t writer) {
  const bool was_there = is_there(path);
  // Created where it is not there, as the test itself will: so cached negative lookups of a network file system do not
  // matter.
  storage::posix::open_descriptor(path, storage::Access::write, storage::CachePath::buffered);
  const auto writing = writing_of_file(path);
  if (writing && writing->run == run) return;
  if (!was_there) remove_file(path);
  throw Error(ExitStatus::something_missing, fmt::format("{} is not the same file on all hosts", path),
              fmt::format("what rank {} on another host wrote into it is not there", writer),
              "Name a --target on a file system that all hosts share, or give each rank a file (--movement N-N)");
}

/// Whose block begins there, as it says.
std::optional<memory::ObjectKey> key_at(const std::string& path, std::uint64_t offset_bytes) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, memory::block_size_bytes> block{};
  file.seekg(static_cast<std::streamoff>(offset_bytes));
  file.read(block.data(), block.size());
  const auto num_read = static_cast<std::size_t>(file.gcount());
  return memory::key_of_block(std::as_bytes(std::span(block.data(), num_read)));
}

/// A block of an object, by where it begins in it.
struct BlockOfObject {
  std::uint64_t object = 0, position_bytes = 0;
};

/// The first and the last block of the first object, and the first of the second one.
std::vector<BlockOfObject> looked_at(const schedule::LayoutShape& shape) {
  std::vector<BlockOfObject> blocks{{0, 0}};
  const std::uint64_t last_bytes = (shape.object_size_bytes - 1) / memory::block_size_bytes * memory::block_size_bytes;
  if (last_bytes > 0) blocks.push_back({0, last_bytes});
  if (shape.num_objects > 1) blocks.push_back({1, 0});
  return blocks;
}

/// Ends early where a rank is lost, since that may be one that was to write.
void look_at_same_files(const Stage& stage) {
  cluster::Cluster& cluster = stage.cluster;
  const int rank = cluster.rank();
  const std::size_t num_lost = cluster.lost_ranks().size();
  const Share share = share_of(stage.request, stage.plan, IoOperation::write, rank, ranks_left_out(stage, nullptr));
  const std::string path = share.opens ? stage.files[static_cast<std::size_t>(share.file)] : "";
  CurrentFileCall& file_call = cluster.progress_counter().file_call;
  const auto looks_at = [&](bool (*look)(const std::string&)) {
    const InFileCall in_call(file_call, "looking at", path);
    return look(path);
  };
  const bool takes_part =
      share.opens && are_on_several_hosts(share.openers, cluster.host_of()) && !looks_at(is_no_file);
  const bool writes = takes_part && share.is_lowest_opener(rank);
  const bool was_there = writes && looks_at(is_there);
  Failure failure(stage.cluster, stage.placement.host);
  if (writes) {
    failure.guard([&] {
      const InFileCall in_call(file_call, "writing a first block of", path);
      write_block(path, stage.run);
    });
  }
  agree(cluster, failure.error());
  if (cluster.lost_ranks().size() > num_lost) return;
  const bool looks = takes_part && !writes && is_lowest_on_host(share.openers, rank, cluster.host_of());
  if (looks) {
    failure.guard([&] {
      const InFileCall in_call(file_call, "reading the first block of", path);
      find_block(path, stage.run, share.openers.front());
    });
  }
  cluster.barrier();
  // As it was: hints about its layout count only for a file that the test creates.
  if (writes && !was_there) {
    failure.guard([&] {
      const InFileCall in_call(file_call, "deleting", path);
      remove_file(path);
    });
  }
  agree(cluster, failure.error());
}

}  // namespace

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
  const auto key = key_at(path, 0);
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
  std::size_t num_lost = 0;
  do {
    num_lost = cluster.lost_ranks().size();
    if (has_headers && is_lowest_opener_left(plan.layout, cluster)) {
      const std::string& file = files[static_cast<std::size_t>(plan.layout.file_of(cluster.rank()))];
      const InFileCall in_call(cluster.progress_counter().file_call, "reading the first block of", file);
      const auto writing = writing_of_file(file);
      if (writing) found = {writing->run, writing->generation, 1};
    }
    found = merged_over_ranks(cluster, found, [](const Found& a, const Found& b) { return a.is_known != 0 ? a : b; });
  } while (found.is_known == 0 && cluster.lost_ranks().size() > num_lost);
  return found.is_known != 0 ? Writing{found.run, found.generation} : otherwise;
}

/// What the storage has put elsewhere says another offset than its own.
void require_same_layout(const Stage& stage, const Share& share, const Writing& writing) {
  if (!share.opens || share.owners.empty() || stage.request.file_fill != memory::BlockKind::blocks) return;
  const schedule::FileLayout& layout = stage.plan.layout;
  const std::int32_t owner = share.owners.front();
  const std::string& path = stage.files[static_cast<std::size_t>(share.file)];
  for (const auto& [object, position_bytes] : looked_at(layout.shape())) {
    const std::uint64_t offset_bytes = layout.location(owner, object).offset_bytes + position_bytes;
    const InFileCall in_call(stage.cluster.progress_counter().file_call, "reading a block of", path);
    const auto key = key_at(path, offset_bytes);
    const bool is_in_its_place =
        key && key->run == writing.run && are_of_one_writing(key->generation, writing.generation) &&
        key->file == static_cast<std::uint32_t>(share.file) && key->offset_bytes == offset_bytes;
    if (!is_in_its_place || (key->object == object && std::cmp_equal(key->rank, owner))) continue;
    throw Error(ExitStatus::bad_command_line, fmt::format("{} was written with other objects", path),
                fmt::format("byte {} belongs to object {} of rank {}; object {} of rank {} was to be read there",
                            offset_bytes, key->object, key->rank, object, owner),
                "Read with the options that it was written with: ranks, --movement, --objects, --object-size");
  }
}

void require_same_files(const Stage& stage) {
  if (stage.request.no_file || !schedule::shares_files(stage.request.movement)) return;
  std::size_t num_lost = 0;
  do {
    num_lost = stage.cluster.lost_ranks().size();
    look_at_same_files(stage);
  } while (stage.cluster.lost_ranks().size() > num_lost);
}

}  // namespace leadline::bench::io

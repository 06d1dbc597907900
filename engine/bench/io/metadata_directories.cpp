// SPDX-License-Identifier: Apache-2.0
// One rank makes a directory, others see whether it is there.
#include "bench/io/metadata_directories.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "bench/io/object_loop.hpp"
#include "bench/io/phase.hpp"
#include "bench/reductions.hpp"
#include "core/error.hpp"
#include "core/file_call.hpp"
#include "storage/posix/metadata.hpp"

namespace leadline::bench::io {
namespace {

void look_for(const std::string& directory, std::int32_t maker) {
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) return;
  throw Error(ExitStatus::something_missing, fmt::format("{} is not the same directory on all hosts", directory),
              fmt::format("rank {} on another host has made it, and it is not there", maker),
              "Name a --target on a file system that all hosts share, or give each rank a directory (--movement N-N)");
}

}  // namespace

void make_directories(const Stage& stage) {
  cluster::Cluster& cluster = stage.cluster;
  CurrentFileCall& file_call = cluster.progress_counter().file_call;
  const int rank = cluster.rank();
  const Share share = share_of(stage.request, stage.plan, IoOperation::write, rank, ranks_left_out(stage, nullptr));
  const std::string directory = share.opens ? stage.files[static_cast<std::size_t>(share.file)] : "";
  Failure failure(cluster, stage.placement.host);
  bool is_made = false;
  if (share.is_lowest_opener(rank)) {
    is_made = failure.guard([&] {
      const InFileCall in_call(file_call, "making directory", directory);
      storage::posix::make_directory(directory);
    });
  }
  try {
    agree(cluster, failure.error());
    if (share.opens && !share.is_lowest_opener(rank)) {
      failure.guard([&] {
        const InFileCall in_call(file_call, "looking at", directory);
        look_for(directory, share.openers.front());
      });
    }
    agree(cluster, failure.error());
  } catch (const AgreedError&) {
    if (is_made) failure.guard([&] { remove_tree(stage, directory); });
    throw;
  }
}

void remove_tree(const Stage& stage, const std::string& directory) {
  const InFileCall in_call(stage.cluster.progress_counter().file_call, "removing all of", directory, {},
                           FileCallKind::many_short_calls);
  std::error_code error;
  std::filesystem::remove_all(directory, error);
  if (!error) return;
  throw Error(ExitStatus::run_failed, fmt::format("cannot remove {}", directory), error.message(),
              "See what is in it, and remove it by hand");
}

}  // namespace leadline::bench::io

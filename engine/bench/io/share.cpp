// SPDX-License-Identifier: Apache-2.0
// Who opens what, from the layout and from whom a rank reads for.
#include "bench/io/share.hpp"

#include <algorithm>
#include <cstddef>

namespace leadline::bench::io {
namespace {

std::int32_t owner_of(const IoRequest& request, const Plan& plan, IoOperation operation, int rank) {
  return operation == IoOperation::read ? reads_for(plan, request, rank) : rank;
}

}  // namespace

Share share_of(const IoRequest& request, const Plan& plan, IoOperation operation, int rank) {
  const schedule::FileLayout& layout = plan.layout;
  Share share;
  const std::int32_t owner = owner_of(request, plan, operation, rank);
  if (!request.no_file) share.file = layout.file_of(owner);
  if (!layout.is_opener(rank)) return share;
  share.owners = schedule::is_funnel(request.movement) ? layout.senders(rank) : std::vector<std::int32_t>{owner};
  if (request.no_file) return share;
  share.opens = true;
  for (int other = 0; other < layout.num_ranks(); ++other) {
    const bool opens_it =
        layout.is_opener(other) && layout.file_of(owner_of(request, plan, operation, other)) == share.file;
    if (opens_it) share.openers.push_back(other);
  }
  return share;
}

std::vector<storage::ByteRange> stretches_of(const schedule::FileLayout& layout,
                                             const std::vector<std::int32_t>& owners, std::uint64_t num_objects) {
  const std::uint64_t size_bytes = layout.shape().object_size_bytes;
  std::vector<storage::ByteRange> stretches;
  const auto add = [&](std::int32_t rank, std::uint64_t object, std::uint64_t num) {
    const std::uint64_t begin = layout.location(rank, object).offset_bytes;
    const bool goes_on = !stretches.empty() && stretches.back().offset_bytes + stretches.back().size_bytes == begin;
    if (goes_on) {
      stretches.back().size_bytes += num * size_bytes;
    } else {
      stretches.push_back({begin, num * size_bytes});
    }
  };
  if (num_objects == 0) return stretches;
  if (layout.shape().order == schedule::Order::segmented) {
    for (const std::int32_t rank : owners) add(rank, 0, num_objects);
    return stretches;
  }
  for (std::uint64_t object = 0; object < num_objects; ++object) {
    for (const std::int32_t rank : owners) add(rank, object, 1);
  }
  return stretches;
}

bool is_lowest_on_host(const std::vector<std::int32_t>& ranks, int rank, std::span<const std::uint32_t> host_of) {
  const auto host = [&](std::int32_t one) { return host_of[static_cast<std::size_t>(one)]; };
  const auto lowest =
      std::find_if(ranks.begin(), ranks.end(), [&](std::int32_t other) { return host(other) == host(rank); });
  return lowest != ranks.end() && *lowest == rank;
}

}  // namespace leadline::bench::io

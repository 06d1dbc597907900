// SPDX-License-Identifier: Apache-2.0
// The memory of one rank for a parallel file test: a ring of objects of its own, and the circular buffers of an I/O
// rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/io/plan.hpp"
#include "bench/io/request.hpp"
#include "memory/buffer.hpp"

namespace leadline::bench::io {

/// What direct transfers ask for at most, on all file systems seen.
inline constexpr std::size_t page_bytes = 4096;

/// Objects of a rank that does no I/O for others which may be under way at once.
inline std::uint64_t ring_depth(const IoRequest& request) {
  if (request.queue_depth > 1) return static_cast<std::uint64_t>(request.queue_depth);
  const bool is_ahead = schedule::is_funnel(request.movement) || request.calls == storage::FileCalls::non_blocking;
  return is_ahead ? static_cast<std::uint64_t>(request.num_ahead) + 1 : 1;
}

/// Objects beside them that are made ahead, or checked behind, by a rank that moves its objects by itself; of metadata
/// each item is made when it is written.
inline std::uint64_t num_beside_calls(const IoRequest& request) {
  constexpr std::uint64_t most_bytes = 8 << 20, most_objects = 64;
  if (schedule::is_funnel(request.movement) || request.metadata) return 0;
  return std::clamp<std::uint64_t>(most_bytes / request.object_size_bytes, 1, most_objects);
}

/// For which it has memory.
inline std::uint64_t ring_size(const IoRequest& request) { return ring_depth(request) + num_beside_calls(request); }

/// All of it begins at pages, as direct transfers ask for.
class Buffers {
 public:
  /// Throws Error(something_missing) where the allocator cannot provide them, Error(bad_command_line) where it gives
  /// memory that files cannot be read into.
  Buffers(const IoRequest& request, const Plan& plan, int rank);

  /// The ring; an I/O rank of a funnel has none, since its own objects are made where they are written from.
  std::size_t num_objects() const { return num_objects_; }
  std::span<std::byte> object(std::size_t index) const {
    return {objects_.data() + index * stride_bytes_, object_size_bytes_};
  }

  /// The circular buffers, on I/O ranks of funnels.
  std::size_t num_circular() const { return num_circular_; }
  std::span<std::byte> circular(std::size_t index) const {
    return {circular_.data() + index * circular_stride_bytes_, circular_size_bytes_};
  }

 private:
  std::size_t num_objects_ = 0, num_circular_ = 0;
  std::size_t object_size_bytes_ = 0, stride_bytes_ = 0;
  std::size_t circular_size_bytes_ = 0, circular_stride_bytes_ = 0;
  memory::Buffer objects_, circular_;
};

}  // namespace leadline::bench::io

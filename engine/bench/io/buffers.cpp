// SPDX-License-Identifier: Apache-2.0
// Two pieces of memory, cut at pages.
#include "bench/io/buffers.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace leadline::bench::io {
namespace {

std::size_t in_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

bool serves_others(const IoRequest& request, const Plan& plan, int rank) {
  return schedule::is_funnel(request.movement) && plan.layout.is_opener(rank);
}

const memory::Allocator& allocator_for_files(const std::string& name) {
  const memory::Allocator& allocator = memory::allocator_named(name);
  if (allocator.location == memory::Location::host) return allocator;
  throw Error(ExitStatus::bad_command_line, fmt::format("--allocator cannot be {}", name),
              "files are read and written in the memory of the host", "Choose aligned, or leave the option out");
}

}  // namespace

Buffers::Buffers(const IoRequest& request, const Plan& plan, int rank)
    : num_objects_(serves_others(request, plan, rank) ? 0 : ring_size(request)),
      num_circular_(serves_others(request, plan, rank) ? static_cast<std::size_t>(plan.num_buffers) : 0),
      object_size_bytes_(request.object_size_bytes),
      stride_bytes_(in_pages(object_size_bytes_)),
      circular_size_bytes_(plan.buffer_size_bytes),
      circular_stride_bytes_(in_pages(circular_size_bytes_)),
      objects_(allocator_for_files(request.allocator), num_objects_ * stride_bytes_),
      circular_(allocator_for_files(request.allocator), num_circular_ * circular_stride_bytes_) {}

}  // namespace leadline::bench::io

// SPDX-License-Identifier: Apache-2.0
// The table of allocators, and the owner of what they give.
#include "memory/buffer.hpp"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <utility>

#include "core/error.hpp"
#include "memory/allocators/allocators.hpp"

namespace leadline::memory {

const char* name_of(Location location) {
  switch (location) {
    case Location::host:
      return "host";
    case Location::gpu:
      return "gpu";
  }
  assert(false && "a location that is not listed");
  return "?";
}

std::span<const Allocator> allocators() {
  // Inside a function, so that it is made after the entries, which live in other files.
  static const std::array<Allocator, 6> table{aligned_allocator, posix_allocator, mmap_allocator,
                                              pinned_allocator,  huge_allocator,  cuda_allocator};
  return table;
}

const Allocator& allocator_named(const std::string& name) {
  std::string names;
  for (const Allocator& allocator : allocators()) {
    if (name == allocator.name) return allocator;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", allocator.name);
  }
  throw Error(ExitStatus::bad_command_line, fmt::format("there is no allocator '{}'", name), {},
              "Choose from " + names);
}

Buffer::Buffer(const Allocator& allocator, std::size_t bytes)
    : allocator_(&allocator), data_(bytes == 0 ? nullptr : allocator.allocate(bytes)), size_(bytes) {}

Buffer::Buffer(Buffer&& other) noexcept
    : allocator_(other.allocator_), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(allocator_, other.allocator_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (data_ != nullptr) allocator_->release(data_, size_);
}

}  // namespace leadline::memory

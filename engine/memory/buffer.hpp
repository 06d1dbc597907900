// SPDX-License-Identifier: Apache-2.0
// Memory that messages are sent from and received into, and the table of ways to get it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace leadline::memory {

/// One way to get memory. Stateless; the entries live for ever.
struct Allocator {
  const char* name;     ///< as in --allocator
  const char* purpose;  ///< one line for the help
  /// Page-aligned memory of at least `bytes` (> 0), touched once. Throws Error(something_missing) with the reason.
  std::byte* (*allocate)(std::size_t bytes);
  void (*release)(std::byte* data, std::size_t bytes) noexcept;
};

/// All allocators, the default first.
std::span<const Allocator> allocators();

/// Throws Error(bad_command_line) that lists the names, where there is no such allocator.
const Allocator& allocator_named(const std::string& name);

/// Owns a stretch of memory; released by the allocator it came from. Of 0 bytes it owns nothing, and data() is null.
class Buffer {
 public:
  Buffer(const Allocator& allocator, std::size_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> span() const { return {data_, size_}; }

 private:
  const Allocator* allocator_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace leadline::memory

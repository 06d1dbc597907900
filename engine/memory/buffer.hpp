// SPDX-License-Identifier: Apache-2.0
// Memory that messages are sent from and received into, and the table of ways to get it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace leadline::memory {

/// Where memory lies, and so who can read and write it.
enum class Location : std::uint8_t {
  host,
  gpu,  ///< of the device that the rank uses; the processor reaches it by copying only
};

const char* name_of(Location location);

/// One way to get memory. Stateless; the entries exist until the process ends.
struct Allocator {
  const char* name;     ///< as in --allocator
  const char* purpose;  ///< one line for the help
  Location location;
  /// Memory of at least `bytes` (> 0), touched once; on the host in whole pages. Throws Error(something_missing) with
  /// the reason.
  std::byte* (*allocate)(std::size_t bytes);
  void (*release)(std::byte* data, std::size_t bytes) noexcept;
  /// Copies between this memory and ordinary memory, for contents before and after a measurement. Throws Error.
  void (*copy_in)(std::byte* to, std::span<const std::byte> from);
  void (*copy_out)(std::span<std::byte> to, const std::byte* from);
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

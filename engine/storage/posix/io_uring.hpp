// SPDX-License-Identifier: Apache-2.0
// What of io_uring(7) is used here, as the kernel has it (include/uapi/linux/io_uring.h): headers of older kernels lack
// it, on which programs for newer ones are built.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leadline::storage::posix::io_uring {

// Of all architectures but alpha; glibc 2.28 has no names for them.
inline constexpr long setup_call = 425, enter_call = 426;

enum class Operation : std::uint8_t { read = 22, write = 23 };

struct Entry {
  Operation operation{};
  std::uint8_t flags = 0;
  std::uint16_t priority = 0;
  std::int32_t fd = -1;
  std::uint64_t offset_bytes = 0;
  std::uint64_t address = 0;
  std::uint32_t size_bytes = 0;
  std::int32_t rw_flags = 0;  ///< as of pwritev2(2)
  std::uint64_t user_data = 0;
  std::uint64_t unused[3]{};
};
static_assert(sizeof(Entry) == 64);

struct Result {
  std::uint64_t user_data = 0;
  std::int32_t result = 0;  ///< bytes, or an error number below 0
  std::uint32_t flags = 0;
};
static_assert(sizeof(Result) == 16);

/// Where in the mapped memory the words of a ring are, in bytes.
struct EntryOffsets {
  std::uint32_t head = 0, tail = 0, ring_mask = 0, num_entries = 0, flags = 0, num_dropped = 0, indices = 0, unused = 0;
  std::uint64_t user_address = 0;
};
struct ResultOffsets {
  std::uint32_t head = 0, tail = 0, ring_mask = 0, num_entries = 0, num_lost = 0, results = 0, flags = 0, unused = 0;
  std::uint64_t user_address = 0;
};

struct Setup {
  std::uint32_t num_entries = 0, num_results = 0, flags = 0, thread_cpu = 0, thread_idle_ms = 0, features = 0,
                workers_fd = 0, unused[3]{};
  EntryOffsets entry{};
  ResultOffsets result{};
};
static_assert(sizeof(Setup) == 120);

inline constexpr std::uint32_t has_one_mapping = 1u << 0, has_timeouts = 1u << 8;  // of Setup::features

inline constexpr long mapping_of_rings = 0, mapping_of_entries = 0x10000000;  // of mmap(2)

inline constexpr unsigned wait_for_results = 1u << 0, with_timeout = 1u << 3;  // of the call that enters

struct Time {
  std::int64_t seconds = 0, nanoseconds = 0;
};

/// With with_timeout.
struct WaitArgument {
  std::uint64_t signals = 0;
  std::uint32_t signals_size = 0, unused = 0;
  std::uint64_t time_address = 0;
};
static_assert(sizeof(WaitArgument) == 24);

}  // namespace leadline::storage::posix::io_uring

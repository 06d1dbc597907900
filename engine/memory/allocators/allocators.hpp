// SPDX-License-Identifier: Apache-2.0
// The allocators that stand in the table of buffer.cpp, one source file each.
#pragma once

#include "memory/buffer.hpp"

namespace leadline::memory {

extern const Allocator aligned_allocator;
extern const Allocator posix_allocator;
extern const Allocator mmap_allocator;
extern const Allocator pinned_allocator;
extern const Allocator huge_allocator;
extern const Allocator cuda_allocator;

}  // namespace leadline::memory

// SPDX-License-Identifier: Apache-2.0
// The allocators that stand in the table of buffer.cpp, and what they share: whole pages, mappings, copies, errors.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "memory/buffer.hpp"

namespace leadline::memory {

std::size_t page_bytes();

/// `bytes` rounded up to whole pages of `page` bytes. Throws as fail() where that is more than any object can have.
std::size_t whole_pages(const char* allocator, std::size_t bytes, std::size_t page);

/// Writes one byte of every page, so that the kernel gives the memory now and not in a timed region.
void touch(std::byte* data, std::size_t bytes, std::size_t page);

/// A private anonymous mapping with these additional flags, or nothing, and errno has the reason.
std::byte* map_anonymous(std::size_t bytes, int flags);

/// The copies of an allocator whose memory the processor reaches itself.
void copy_plain_in(std::byte* to, std::span<const std::byte> from);
void copy_plain_out(std::span<std::byte> to, const std::byte* from);

/// The entry of such an allocator.
constexpr Allocator host_allocator(const char* name, const char* purpose, decltype(Allocator::allocate) allocate,
                                   decltype(Allocator::release) release) {
  return {name, purpose, Location::host, allocate, release, copy_plain_in, copy_plain_out};
}

/// Throws Error(something_missing): `allocator` cannot have `bytes`, why, and what helps.
[[noreturn]] void fail(const char* allocator, std::size_t bytes, std::string why, std::string hint = {});

extern const Allocator aligned_allocator;
extern const Allocator posix_allocator;
extern const Allocator mmap_allocator;
extern const Allocator pinned_allocator;
extern const Allocator huge_allocator;
extern const Allocator cuda_allocator;

}  // namespace leadline::memory

// SPDX-License-Identifier: Apache-2.0
// Copies pieces of a large buffer, each timed by itself: short enough to be rarely interrupted.
#include "memory/copy_speed.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace leadline::memory {
namespace {

constexpr std::size_t piece_bytes = std::size_t{4} << 20, least_bytes = std::size_t{32} << 20,
                      most_bytes = std::size_t{128} << 20;
constexpr int num_passes = 3;
constexpr std::chrono::milliseconds most_time{500};

std::size_t buffer_bytes() {
  const long cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  const std::size_t wanted = std::clamp(static_cast<std::size_t>(std::max(cache, 0L)), least_bytes, most_bytes);
  return wanted / piece_bytes * piece_bytes;
}

}  // namespace

double copy_bytes_per_s() {
  using Clock = std::chrono::steady_clock;
  const std::size_t size = buffer_bytes();
  const std::unique_ptr<std::byte[]> from(new (std::nothrow) std::byte[size]), to(new (std::nothrow) std::byte[size]);
  if (from == nullptr || to == nullptr) return 0;
  std::memset(from.get(), 1, size);
  std::memset(to.get(), 2, size);
  const auto begin = Clock::now();
  double best_s = 0;
  for (int pass = 0; pass < num_passes; ++pass) {
    for (std::size_t at = 0; at < size && Clock::now() - begin < most_time; at += piece_bytes) {
      const auto start = Clock::now();
      std::memcpy(to.get() + at, from.get() + at, piece_bytes);
      const double taken_s = std::chrono::duration<double>(Clock::now() - start).count();
      if (taken_s > 0 && (best_s == 0 || taken_s < best_s)) best_s = taken_s;
    }
  }
  const volatile std::byte kept = to[size - 1];  // so that the copies are made
  static_cast<void>(kept);
  return best_s > 0 ? static_cast<double>(piece_bytes) / best_s : 0;
}

}  // namespace leadline::memory

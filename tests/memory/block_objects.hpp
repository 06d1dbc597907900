// SPDX-License-Identifier: Apache-2.0
// What tests of blocks share: objects made on the spot, and all patterns and sizes there are.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "memory/block_pattern.hpp"

namespace leadline::memory::test {

using Bytes = std::vector<std::byte>;

inline constexpr Touch all_touches[] = {Touch::never, Touch::object, Touch::page, Touch::full};
inline constexpr Check all_checks[] = {Check::none, Check::first, Check::two, Check::all};
inline constexpr BlockKind all_kinds[] = {BlockKind::blocks, BlockKind::doubles};
/// Around words, headers and blocks.
inline constexpr std::size_t sizes[] = {
    8, 16, 56, 64, 72, 512, 4088, 4096, 4104, 4096 + 56, 4096 + 64, 3 * 4096, 5 * 4096 + 1000};

inline const ObjectKey a_key{.run = 0x1122334455667788,
                             .rank = 7,
                             .file = 5,
                             .object = 3,
                             .offset_bytes = std::uint64_t{1} << 34,
                             .generation = 2};
inline const ObjectPattern full{BlockKind::blocks, Touch::full, Check::all};

inline Bytes filled(std::size_t size, const ObjectPattern& pattern, const ObjectKey& key) {
  Bytes bytes(size, std::byte{0xee});
  fill_object(bytes, pattern, key);
  return bytes;
}

inline std::optional<Mismatch> check_all_read(const Bytes& bytes, const ObjectPattern& pattern, const ObjectKey& key) {
  return check_object(bytes, bytes.size(), pattern, key);
}

inline void for_all_patterns(const std::function<void(const ObjectPattern&, std::size_t)>& visit) {
  for (const BlockKind kind : all_kinds) {
    for (const Touch touch : all_touches) {
      for (const Check check : all_checks) {
        for (const std::size_t size : sizes) {
          SCOPED_TRACE(std::string(name_of(kind)) + " " + name_of(touch) + " " + name_of(check) + " " +
                       std::to_string(size));
          visit({kind, touch, check}, size);
        }
      }
    }
  }
}

}  // namespace leadline::memory::test

// SPDX-License-Identifier: Apache-2.0
// What proofs over the secret of a run are made of: BLAKE2b, random bytes, and a comparison whose time tells nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace leadline::cluster {

inline constexpr std::size_t hash_size_bytes = 32;

/// BLAKE2b (RFC 7693) of 1 to 64 bytes; keyed where there is a key, of at most 64 bytes.
std::string hash_of(std::string_view text, std::size_t size_bytes = hash_size_bytes, std::string_view key = {});

/// From the kernel, good for keys. Throws Error(something_missing) where it gives none.
std::string random_bytes(std::size_t size_bytes);

/// Takes the same time wherever the first difference is.
bool are_equal(std::string_view left, std::string_view right);

}  // namespace leadline::cluster

// SPDX-License-Identifier: Apache-2.0
// What one measurement between two ranks is: the specification that a transport's timed loops follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/pulse.hpp"
#include "model/request.hpp"
#include "model/samples.hpp"

namespace leadline::kernel {

/// Which part a rank plays in a measurement. In a bidirectional one both lead.
enum class Role : std::uint8_t {
  lead,    ///< sends first, and its clock counts
  follow,  ///< answers
};

struct Exchange {
  Direction direction = Direction::semidirectional;
  Role role = Role::lead;
  std::size_t message_size_bytes = 0;
  std::uint64_t num_messages = 1;  ///< timed; spread evenly over the samples that the caller hands in
  std::uint64_t num_warmup = 0;    ///< untimed, same exchange, directly before
  std::uint32_t window = 1;        ///< messages in flight (unidirectional, bidirectional)
};

/// Two separate stretches of memory, each at least message_size_bytes; the caller owns them.
struct Buffers {
  std::byte* send = nullptr;
  std::byte* receive = nullptr;
};

/// The first wrong byte that a verification found.
struct Mismatch {
  std::uint64_t message = 0;  ///< 0-based
  std::uint64_t byte = 0;     ///< 0-based
  std::uint8_t expected = 0, found = 0;
};

}  // namespace leadline::kernel

// SPDX-License-Identifier: Apache-2.0
// Which object a rank takes when: each once or, with --time-based, all of them again and again; and who has written it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/object_order.hpp"

namespace leadline::bench::io {

/// An object of a rank, and the pass that writes it or, where a phase does not write, has written it last.
struct ObjectInPass {
  std::uint64_t object = 0, pass = 0;
};

/// What a pass of a phase goes through.
struct PassShape {
  std::uint64_t num_objects = 0;   ///< of a pass
  std::uint64_t num_in_write = 0;  ///< the same of the phase that writes, or has written them
  std::uint64_t num_written = 0;   ///< by their owner, as often as it has written them; 0 = this phase writes them
};

/// Of one phase. Objects are numbered as they are taken, from 0 on over all passes.
class Passes {
 public:
  /// More than are ever taken.
  static constexpr std::uint64_t endless = std::uint64_t{1} << 62;

  /// One pass without an end.
  Passes() : Passes(schedule::ObjectOrder(0, 0, 0), {endless, endless, 0}) {}
  Passes(const schedule::ObjectOrder& order, const PassShape& shape) : order_(order), shape_(shape) {
    shape_.num_objects = std::max<std::uint64_t>(shape_.num_objects, 1);
  }

  ObjectInPass at(std::uint64_t number) const {
    const std::uint64_t position = number - first_of_pass(number);
    if (shape_.num_written == 0) return {order_.at(position), number / shape_.num_objects};
    return {order_.at(position), (shape_.num_written - 1 - position) / shape_.num_in_write};
  }

  std::uint64_t num_objects() const { return shape_.num_objects; }
  /// The number with which the pass of this one has begun.
  std::uint64_t first_of_pass(std::uint64_t number) const { return number - number % shape_.num_objects; }

 private:
  schedule::ObjectOrder order_;
  PassShape shape_;
};

}  // namespace leadline::bench::io

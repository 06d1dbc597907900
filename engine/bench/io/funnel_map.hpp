// SPDX-License-Identifier: Apache-2.0
// What passes through an I/O rank of a funnel, buffer by buffer, and where in its file it belongs: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/io/object_loop.hpp"
#include "schedule/file_layout.hpp"

namespace leadline::bench::io {

/// Slots of a buffer that lie side by side in the file: one call.
struct FunnelRun {
  std::uint64_t first_slot = 0, num_slots = 0;  ///< in the buffer
  std::uint64_t offset_bytes = 0;               ///< in the file
};

/// An object in a slot of a buffer.
struct FunnelObject {
  std::size_t sender = 0;  ///< position among FileLayout::senders
  std::int32_t rank = 0;
  std::uint64_t number = 0;
};

/// The objects [first, end) of all senders of one I/O rank. A fill is a buffer once full; buffers are filled again.
class FunnelMap {
 public:
  /// `layout` outlives it.
  FunnelMap(const schedule::FileLayout& layout, std::vector<std::int32_t> senders, std::uint64_t slots_per_buffer,
            ObjectRange range);

  const std::vector<std::int32_t>& senders() const { return senders_; }
  std::uint64_t num_fills() const { return order_.num_buffers(); }
  std::uint64_t num_objects_of_a_sender() const { return num_objects_; }
  std::uint64_t num_slots(std::uint64_t fill) const;
  FunnelObject object(std::uint64_t fill, std::uint64_t slot) const;
  std::vector<FunnelRun> runs(std::uint64_t fill) const;
  /// Of all fills.
  std::uint64_t num_runs() const;

 private:
  const schedule::FileLayout& layout_;
  std::vector<std::int32_t> senders_;
  std::uint64_t slots_per_buffer_, num_objects_;
  schedule::FunnelOrder order_;
};

}  // namespace leadline::bench::io

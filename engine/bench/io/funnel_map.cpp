// SPDX-License-Identifier: Apache-2.0
// The funnel's order cut into buffers, and neighbours of a buffer joined to runs.
#include "bench/io/funnel_map.hpp"

#include <algorithm>
#include <utility>

namespace leadline::bench::io {

FunnelMap::FunnelMap(const schedule::FileLayout& layout, std::vector<std::int32_t> senders,
                     std::uint64_t slots_per_buffer, ObjectRange range)
    : layout_(layout),
      senders_(std::move(senders)),
      slots_per_buffer_(slots_per_buffer),
      num_objects_(range.end - range.first),
      order_(static_cast<std::uint32_t>(senders_.size()), range.first, range.end - range.first, slots_per_buffer,
             layout.shape().order) {}

std::uint64_t FunnelMap::num_slots(std::uint64_t fill) const {
  return std::min(slots_per_buffer_, order_.num_slots() - fill * slots_per_buffer_);
}

FunnelObject FunnelMap::object(std::uint64_t fill, std::uint64_t slot) const {
  const schedule::FunnelSlot found = order_.slot(fill * slots_per_buffer_ + slot);
  return {found.sender, senders_[found.sender], found.object};
}

std::vector<FunnelRun> FunnelMap::runs(std::uint64_t fill) const {
  const std::uint64_t size_bytes = layout_.shape().object_size_bytes;
  std::vector<FunnelRun> runs;
  for (std::uint64_t slot = 0; slot < num_slots(fill); ++slot) {
    const FunnelObject object = this->object(fill, slot);
    const std::uint64_t offset_bytes = layout_.place(object.rank, object.number).offset_bytes;
    const bool goes_on = !runs.empty() && runs.back().offset_bytes + runs.back().num_slots * size_bytes == offset_bytes;
    if (goes_on) {
      ++runs.back().num_slots;
    } else {
      runs.push_back({slot, 1, offset_bytes});
    }
  }
  return runs;
}

std::uint64_t FunnelMap::num_runs() const {
  std::uint64_t num = 0;
  for (std::uint64_t fill = 0; fill < num_fills(); ++fill) num += runs(fill).size();
  return num;
}

}  // namespace leadline::bench::io

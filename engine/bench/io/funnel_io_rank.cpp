// SPDX-License-Identifier: Apache-2.0
// Ranges and steps; what is moved when, writers and readers know.
#include "bench/io/funnel_io_rank.hpp"

#include <algorithm>
#include <utility>

#include "bench/io/buffers.hpp"

namespace leadline::bench::io {

std::uint64_t slots_in_use(const IoRequest& request, const Plan& plan, int io_rank) {
  const std::uint64_t all = plan.layout.senders(io_rank).size() * plan.num_objects;
  return std::max<std::uint64_t>(std::min(plan.slots_per_buffer(request), all), 1);
}

std::size_t most_started(const IoRequest& request, const Plan& plan) {
  // Where a buffer is written by many calls, more than this make no storage faster, and each has its cost.
  constexpr std::uint64_t most_of_a_buffer = 16;
  const auto num_buffers = static_cast<std::uint64_t>(plan.num_buffers);
  return num_buffers * std::min(plan.slots_per_buffer(request), most_of_a_buffer);
}

FunnelIoRank::FunnelIoRank(PhaseWork& work, const FunnelLinks& links)
    : work_(work),
      messages_(links.messages),
      senders_(work.stage.plan.layout.senders(work.rank())),
      num_slots_(slots_in_use(work.request(), work.stage.plan, work.rank())),
      num_buffers_(static_cast<std::uint64_t>(work.stage.plan.num_buffers)),
      tickets_(num_buffers_, num_slots_, senders_.size()) {
  std::erase_if(senders_, [&](std::int32_t sender) { return std::ranges::binary_search(work.left_out, sender); });
  const IoRequest& request = work.request();
  shares_calls_ = request.collective && request.movement == schedule::Movement::n_m_1 && !request.no_file;
  if (!links.meeting_io_ranks.empty() && work.writes()) {
    barrier_.emplace(links, work.rank(), tickets_.barrier());
  }
}

std::uint64_t FunnelIoRank::move(ObjectRange range, std::optional<std::uint64_t> /*stop_ns*/) {
  std::erase_if(senders_, [this](std::int32_t sender) { return is_lost(sender); });
  num_before_ = work_.passes.first_of_pass(range.first);
  map_.emplace(work_.stage.plan.layout, senders_, num_slots_, within_pass(work_, range));
  if (has_equal_steps(work_)) {
    num_steps_left_ = greatest_number_of_steps(work_, map_->num_runs());
  }
  move_all();
  take_steps_left();
  return range.end;
}

std::span<std::byte> FunnelIoRank::memory(std::uint64_t fill, std::uint64_t first_slot, std::uint64_t num_slots) const {
  const std::span<std::byte> buffer = work_.stage.buffers.circular(buffer_of(fill));
  return buffer.subspan(first_slot * object_size_bytes(), num_slots * object_size_bytes());
}

void FunnelIoRank::poll_all() {
  for (;;) {
    std::optional<Ticket> ticket;
    {
      const Recorder::StateTimer timer(work_.recorder, work_.writes() ? IoTime::receive : IoTime::send);
      ticket = messages_.poll();
    }
    if (!ticket) return;
    on_message(*ticket);
  }
}

/// Without a lost sender's objects a fill may have more runs than it had when the steps were counted. Nobody meets this
/// rank for those.
void FunnelIoRank::begin_step() {
  if (num_steps_left_ == 0) return;
  --num_steps_left_;
  if (!barrier_) return;
  const InTransport in_transport(work_.stage.cluster.progress_counter());
  const Recorder::StateTimer spending(work_.recorder, IoTime::barrier);
  barrier_->pass([this](Ticket ticket) { on_message(ticket); });
}

void FunnelIoRank::take_part() {
  if (!shares_calls_) return;
  work_.failure.guard([&] { work_.transfers->move_nothing(); });
}

void FunnelIoRank::take_steps_left() {
  while (num_steps_left_ > 0) {
    begin_step();
    take_part();
  }
}

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

std::vector<FunnelRun> FunnelMap::runs(std::uint64_t fill,
                                       const std::function<bool(std::int32_t rank)>& is_left_out) const {
  const std::uint64_t size_bytes = layout_.shape().object_size_bytes;
  std::vector<FunnelRun> runs;
  for (std::uint64_t slot = 0; slot < num_slots(fill); ++slot) {
    const FunnelObject object = this->object(fill, slot);
    if (is_left_out && is_left_out(object.rank)) continue;
    const std::uint64_t offset_bytes = layout_.location(object.rank, object.number).offset_bytes;
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

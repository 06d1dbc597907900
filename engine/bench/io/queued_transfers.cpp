// SPDX-License-Identifier: Apache-2.0
// Tickets that are free or under way, the times of their calls, and what is left of short ones.
#include "bench/io/queued_transfers.hpp"

#include <numeric>
#include <utility>

#include "bench/io/transfers.hpp"
#include "core/clock.hpp"

namespace leadline::bench::io {

using StateTimer = Recorder::StateTimer;

QueuedTransfers::QueuedTransfers(storage::File& file, std::string path, std::size_t depth, CallRecorders recorders,
                                 CurrentFileCall& file_call)
    : file_(file), path_(std::move(path)), recorders_(recorders), file_call_(file_call), calls_(depth), free_(depth) {
  std::iota(free_.rbegin(), free_.rend(), storage::Ticket{0});
  by_age_.reserve(depth);
}

/// Where the oldest one changes.
void QueuedTransfers::tell_oldest() {
  if (by_age_.empty()) return file_call_.leave();
  const Call& oldest = calls_[by_age_.front()];
  file_call_.enter(oldest.operation == IoOperation::write ? "writing" : "reading",
                   FileRange{oldest.offset_bytes, oldest.data.size()}, FileCallKind::one_call, oldest.began_at_ns);
}

void QueuedTransfers::is_over(storage::Ticket ticket) {
  const bool was_oldest = by_age_.front() == ticket;
  std::erase(by_age_, ticket);
  if (was_oldest) tell_oldest();
}

void QueuedTransfers::launch(storage::Ticket ticket) {
  Call& call = calls_[ticket];
  call.began_at_ns = now_ns();
  by_age_.push_back(ticket);
  if (by_age_.size() == 1) tell_oldest();
  const StateTimer spending(recorder_of(call), IoTime::call);
  if (call.operation == IoOperation::write) {
    file_.start_write(ticket, call.offset_bytes, call.data, false);
  } else {
    file_.start_read(ticket, call.offset_bytes, call.data, false);
  }
}

void QueuedTransfers::launch_or_free(storage::Ticket ticket) {
  try {
    launch(ticket);
  } catch (...) {
    is_over(ticket);
    free_.push_back(ticket);
    throw;
  }
}

void QueuedTransfers::start(std::uint64_t number, IoOperation operation, std::uint64_t offset_bytes,
                            std::span<std::byte> data) {
  const storage::Ticket ticket = free_.back();
  free_.pop_back();
  calls_[ticket] = {number, operation, offset_bytes, data, 0, 0};
  launch_or_free(ticket);
}

std::optional<QueuedTransfers::Done> QueuedTransfers::finish_one(Deadline deadline) {
  for (;;) {
    std::optional<storage::Ticket> ticket;
    {
      const StateTimer spending(recorders_.of_writes, IoTime::wait);
      ticket = file_.wait_any(deadline);
    }
    if (!ticket) return std::nullopt;
    const std::uint64_t end_ns = now_ns();
    Call& call = calls_[*ticket];
    is_over(*ticket);
    free_.push_back(*ticket);
    const std::uint64_t moved = file_.wait(*ticket, deadline);
    Recorder& recorder = recorder_of(call);
    recorder.add_call({call.offset_bytes, call.data.size(), moved, recorder.elapsed_ns(call.began_at_ns),
                       recorder.elapsed_ns(end_ns)});
    if (moved == 0 && call.operation == IoOperation::write) {
      refuse_nothing_written(path_, call.offset_bytes, call.data.size());
    }
    call.num_moved += moved;
    if (moved == 0 || moved == call.data.size()) return Done{call.number, call.num_moved};
    recorder.add_continued();
    call.offset_bytes += moved;
    call.data = call.data.subspan(moved);
    free_.pop_back();
    launch_or_free(*ticket);
  }
}

}  // namespace leadline::bench::io

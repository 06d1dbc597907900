// SPDX-License-Identifier: Apache-2.0
// Each buffer in turn is opened for its senders, filled, written, and free again.
#include "bench/io/funnel_writer.hpp"

#include <algorithm>
#include <functional>

namespace leadline::bench::io {

FunnelWriter::FunnelWriter(PhaseWork& work, const FunnelLinks& links)
    : FunnelIoRank(work, links), fills_(num_buffers()), credits_(num_buffers() * num_senders()) {}

void FunnelWriter::move_all() {
  num_opened_ = num_begun_ = num_finished_ = 0;
  while (num_finished_ < map().num_fills()) {
    open_free_buffers();
    const bool is_complete = num_begun_ < num_opened_ && fill_in_buffer(num_begun_).num_pending == 0;
    if (is_complete) {
      write(num_begun_);
    } else if (num_begun_ == num_opened_) {
      finish_oldest_run();
    } else {
      on_message(await_message(work(), messages(), IoTime::receive));
    }
    settle();
  }
}

void FunnelWriter::open_free_buffers() {
  for (; num_opened_ < map().num_fills() && num_opened_ < num_finished_ + num_buffers(); ++num_opened_) {
    open(num_opened_);
  }
}

/// Receives are posted before credits are granted, so that every message finds its receive.
void FunnelWriter::open(std::uint64_t fill) {
  fill_in_buffer(fill).number = fill;
  {
    const Recorder::StateTimer timer(work().recorder, IoTime::receive);
    for (std::uint64_t slot = 0; slot < map().num_slots(fill); ++slot) {
      const FunnelObject object = map().object(fill, slot);
      Credit& credit = credits_[buffer_of(fill) * num_senders() + object.sender];
      if (slot == 0) std::fill_n(&credits_[buffer_of(fill) * num_senders()], num_senders(), Credit{0});
      if (is_own(object)) continue;
      ++credit;
      ++fill_in_buffer(fill).num_pending;
      messages().post_receive(object.rank, memory(fill, slot, 1), tickets().object(buffer_of(fill), slot));
    }
    grant(fill);
  }
  make_own_objects(fill);
}

void FunnelWriter::grant(std::uint64_t fill) {
  for (std::size_t sender = 0; sender < num_senders(); ++sender) {
    const Credit& credit = credits_[buffer_of(fill) * num_senders() + sender];
    if (credit == 0) continue;
    ++fill_in_buffer(fill).num_pending;
    messages().post_send(map().senders()[sender], std::as_bytes(std::span(&credit, 1)),
                         tickets().credit(buffer_of(fill), sender));
  }
}

void FunnelWriter::make_own_objects(std::uint64_t fill) {
  for (std::uint64_t slot = 0; slot < map().num_slots(fill); ++slot) {
    const FunnelObject object = map().object(fill, slot);
    if (!is_own(object)) continue;
    {
      const Recorder::StateTimer timer(work().recorder, IoTime::fill);
      work().contents.fill(memory(fill, slot, 1), object.rank, object.number, Before::anything, pass_of(object));
    }
    poll_all();
  }
}

void FunnelWriter::on_message(Ticket ticket) {
  if (tickets().is_credit(ticket)) {
    --fills_[tickets().buffer_of_credit(ticket)].num_pending;
    return;
  }
  Fill& fill = fills_[tickets().buffer_of_object(ticket)];
  --fill.num_pending;
  if (is_of_lost(fill.number, ticket)) return;
  work().recorder.add_message(object_size_bytes());
  if (work().request().no_file) work().recorder.add_bytes(object_size_bytes());
}

void FunnelWriter::write(std::uint64_t fill) {
  if (!work().request().no_file) {
    std::function<bool(std::int32_t)> is_left_out;
    if (has_lost_senders()) is_left_out = [this](std::int32_t sender) { return is_lost(sender); };
    for (const FunnelRun& run : map().runs(fill, is_left_out)) write_run(fill, run);
  }
  ++num_begun_;
}

void FunnelWriter::write_run(std::uint64_t fill, const FunnelRun& run) {
  const std::size_t most = work().transfers->max_started();
  while (started_.is_full(most) || (work().failure.has_happened() && !started_.is_empty())) finish_oldest_run();
  begin_step();
  if (work().failure.has_happened()) return take_part();
  const std::span<std::byte> data = memory(fill, run.first_slot, run.num_slots);
  work().failure.guard([&] {
    if (is_blocking()) {
      work().transfers->move(run.offset_bytes, data);
      return;
    }
    const storage::Ticket ticket = started_.next_ticket(most);
    work().transfers->start(ticket, run.offset_bytes, data);
    started_.add({fill, run, ticket});
    ++fill_in_buffer(fill).num_runs;
  });
}

void FunnelWriter::finish_oldest_run() {
  if (started_.is_empty()) return;
  const StartedRuns::Run oldest = started_.take_oldest();
  work().failure.guard([&] { work().transfers->finish(oldest.ticket); });
  --fill_in_buffer(oldest.fill).num_runs;
}

void FunnelWriter::settle() {
  for (; num_finished_ < num_begun_ && fill_in_buffer(num_finished_).num_runs == 0; ++num_finished_) {
    account(num_finished_);
  }
}

void FunnelWriter::account(std::uint64_t fill) {
  for (std::uint64_t slot = 0; slot < map().num_slots(fill); ++slot) {
    if (is_own(map().object(fill, slot))) work().recorder.add_own_object();
    work().pace.object_done();
  }
}

}  // namespace leadline::bench::io

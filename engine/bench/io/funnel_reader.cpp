// SPDX-License-Identifier: Apache-2.0
// Each buffer in turn is read, sent to the owners of its objects, and free again.
#include "bench/io/funnel_reader.hpp"

#include <algorithm>

namespace leadline::bench::io {

FunnelReader::FunnelReader(PhaseWork& work, const FunnelLinks& links)
    : FunnelIoRank(work, links), fills_(num_buffers()), owners_(num_senders()) {}

void FunnelReader::move_all() {
  num_begun_ = num_read_ = num_free_again_ = 0;
  meet_owners();
  while (num_free_again_ < map().num_fills()) {
    for (; num_begun_ < map().num_fills() && num_begun_ < num_free_again_ + num_buffers(); ++num_begun_) {
      begin(num_begun_);
    }
    poll_all();
    // Non-blocking calls progress by themselves, messages do not.
    const bool reads_now = num_read_ < num_begun_ && (is_blocking() || num_free_again_ == num_read_);
    if (reads_now) {
      read(num_read_);
    } else if (num_free_again_ < num_read_ && fill_in_buffer(num_free_again_).num_pending > 0) {
      on_message(await_message(work(), messages(), IoTime::send));
    }
    settle();
  }
  say_the_end();
}

void FunnelReader::meet_owners() {
  for (std::size_t sender = 0; sender < num_senders(); ++sender) {
    owners_[sender].end = {};
    if (map().senders()[sender] == work().rank()) continue;
    owners_[sender].num_to_come = map().num_objects_of_a_sender();
    await_credit(sender);
  }
}

void FunnelReader::await_credit(std::size_t sender) {
  Owner& owner = owners_[sender];
  if (owner.num_to_come == 0) return;
  messages().post_receive(map().senders()[sender], std::as_writable_bytes(std::span(&owner.credit, 1)),
                          tickets().credit(0, sender));
}

void FunnelReader::begin(std::uint64_t fill) {
  fill_in_buffer(fill).number = fill;
  if (work().request().no_file) return;
  {
    const Recorder::StateTimer timer(work().recorder, IoTime::verify);
    work().contents.poison(memory(fill, 0, map().num_slots(fill)));
  }
  if (is_blocking()) return;
  for (const FunnelRun& run : map().runs(fill)) start_run(fill, run);
}

void FunnelReader::start_run(std::uint64_t fill, const FunnelRun& run) {
  const std::size_t most = work().transfers->max_started();
  while (started_.is_full(most) || (work().failure.has_happened() && !started_.is_empty())) finish_oldest_run();
  begin_step();
  bool has_started = false;
  if (work().failure.has_happened()) {
    take_part();
  } else {
    const storage::Ticket ticket = started_.next_ticket(most);
    has_started = work().failure.guard(
        [&] { work().transfers->start(ticket, run.offset_bytes, memory(fill, run.first_slot, run.num_slots)); });
    if (has_started) started_.add({fill, run, ticket});
  }
  if (has_started) {
    ++fill_in_buffer(fill).num_runs;
  } else {
    // In order behind those that were started before it.
    while (!started_.is_empty()) finish_oldest_run();
    deliver(fill, run, std::nullopt);
  }
}

void FunnelReader::finish_oldest_run() {
  const StartedRuns::Run oldest = started_.take_oldest();
  std::optional<std::uint64_t> num_read;
  work().failure.guard([&] { num_read = work().transfers->finish(oldest.ticket); });
  --fill_in_buffer(oldest.fill).num_runs;
  deliver(oldest.fill, oldest.range, num_read);
}

void FunnelReader::read(std::uint64_t fill) {
  if (work().request().no_file) {
    deliver(fill, {0, map().num_slots(fill), 0}, map().num_slots(fill) * object_size_bytes());
  } else if (is_blocking()) {
    for (const FunnelRun& run : map().runs(fill)) read_run(fill, run);
  } else {
    while (fill_in_buffer(fill).num_runs > 0) finish_oldest_run();
  }
  ++num_read_;
}

void FunnelReader::read_run(std::uint64_t fill, const FunnelRun& run) {
  begin_step();
  std::optional<std::uint64_t> num_read;
  if (work().failure.has_happened()) {
    take_part();
  } else {
    work().failure.guard(
        [&] { num_read = work().transfers->move(run.offset_bytes, memory(fill, run.first_slot, run.num_slots)); });
  }
  deliver(fill, run, num_read);
}

void FunnelReader::deliver(std::uint64_t fill, const FunnelRun& run, std::optional<std::uint64_t> num_read) {
  const std::uint64_t size_bytes = object_size_bytes();
  for (std::uint64_t i = 0; i < run.num_slots; ++i) {
    std::optional<std::uint64_t> of_object;
    if (num_read) of_object = std::min(size_bytes, *num_read - std::min(*num_read, i * size_bytes));
    deliver_object(fill, run.first_slot + i, of_object);
  }
}

/// `num_read`: nothing where an error was in the way.
void FunnelReader::deliver_object(std::uint64_t fill, std::uint64_t slot, std::optional<std::uint64_t> num_read) {
  const FunnelObject object = map().object(fill, slot);
  if (is_own(object)) {
    work().recorder.add_own_object();
    work().pace.object_done();
    if (num_read && !work().request().no_file) {
      const Recorder::StateTimer timer(work().recorder, IoTime::verify);
      work().contents.verify(memory(fill, slot, 1), *num_read, object.rank, object.number, pass_of(object));
    }
    return;
  }
  if (is_lost(object.rank)) return;
  EndOfReading& end = owners_[object.sender].end;
  if (!num_read) {
    end.first_unread = std::min(end.first_unread, object.number);
  } else if (*num_read < object_size_bytes() && object.number < end.first_short) {
    end.first_short = object.number;
    end.bytes_of_short = *num_read;
  }
  ++fill_in_buffer(fill).num_pending;
  owners_[object.sender].outgoing.push_back({fill, slot});
  send_allowed(object.sender);
}

void FunnelReader::send_allowed(std::size_t sender) {
  Owner& owner = owners_[sender];
  const Recorder::StateTimer timer(work().recorder, IoTime::send);
  for (; owner.num_credits > 0 && !owner.outgoing.empty(); --owner.num_credits) {
    const Outgoing next = owner.outgoing.front();
    owner.outgoing.pop_front();
    messages().post_send(map().senders()[sender], memory(next.fill, next.slot, 1),
                         tickets().object(buffer_of(next.fill), next.slot));
  }
}

void FunnelReader::on_message(Ticket ticket) {
  if (tickets().is_object(ticket)) {
    Fill& fill = fills_[tickets().buffer_of_object(ticket)];
    --fill.num_pending;
    if (is_of_lost(fill.number, ticket)) return;
    work().recorder.add_message(object_size_bytes());
    if (work().request().no_file) work().recorder.add_bytes(object_size_bytes());
    work().pace.object_done();
  } else if (tickets().is_credit(ticket)) {
    const std::size_t sender = tickets().sender_of_credit(ticket);
    Owner& owner = owners_[sender];
    if (is_lost(map().senders()[sender])) return drop_outgoing(owner);
    owner.num_credits += owner.credit;
    owner.num_to_come -= std::min(owner.num_to_come, owner.credit);
    await_credit(sender);
    send_allowed(sender);
  } else {
    --num_ends_;
  }
}

/// No credit comes for these any more.
void FunnelReader::drop_outgoing(Owner& owner) {
  for (const Outgoing& object : owner.outgoing) --fill_in_buffer(object.fill).num_pending;
  owner.outgoing.clear();
}

void FunnelReader::settle() {
  while (num_free_again_ < num_read_ && fill_in_buffer(num_free_again_).num_pending == 0) ++num_free_again_;
}

void FunnelReader::say_the_end() {
  for (std::size_t sender = 0; sender < num_senders(); ++sender) {
    if (map().senders()[sender] == work().rank()) continue;
    ++num_ends_;
    messages().post_send(map().senders()[sender], std::as_bytes(std::span(&owners_[sender].end, 1)),
                         tickets().end(sender));
  }
  while (num_ends_ > 0) on_message(await_message(work(), messages(), IoTime::send));
}

}  // namespace leadline::bench::io

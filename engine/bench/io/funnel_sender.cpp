// SPDX-License-Identifier: Apache-2.0
// A ring of objects that is filled and sent, or received into and verified.
#include "bench/io/funnel_sender.hpp"

#include <algorithm>
#include <span>

#include "bench/io/buffers.hpp"

namespace leadline::bench::io {
namespace {

template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

using StateTimer = Recorder::StateTimer;

FunnelSender::FunnelSender(PhaseWork& work, transport::Messages& messages)
    : work_(work),
      messages_(messages),
      io_rank_(work.stage.plan.layout.opener_of(work.rank())),
      tickets_(work.stage.buffers.num_objects()),
      was_filled_(work.stage.buffers.num_objects(), 0),
      number_of_(work.stage.buffers.num_objects(), 0),
      num_posted_(work.stage.buffers.num_objects(), 0),
      credits_(work.stage.buffers.num_objects(), 1) {
  for (std::size_t slot = work.stage.buffers.num_objects(); slot > 0; --slot) free_.push_back(slot - 1);
}

std::uint64_t FunnelSender::move(ObjectRange range, std::optional<std::uint64_t> /*stop_ns*/) {
  if (has_equal_steps(work_)) greatest_number_of_steps(work_, 0);
  if (is_lost()) return range.end;
  if (work_.writes()) {
    send(range);
  } else {
    receive(range);
  }
  while (is_lost() && messages_.poll()) {
    // Whatever is still posted is handed out.
  }
  return range.end;
}

void FunnelSender::await_credit() {
  if (num_to_grant_ == 0) return;
  const StateTimer timer(work_.recorder, IoTime::send);
  messages_.post_receive(io_rank_, bytes_of(credit_), tickets_.credit(0));
}

void FunnelSender::fill_next(std::uint64_t number) {
  const std::size_t slot = free_.back();
  free_.pop_back();
  const auto [object, pass] = work_.passes.at(number);
  const StateTimer timer(work_.recorder, IoTime::fill);
  work_.contents.fill(work_.stage.buffers.object(slot), work_.rank(), object,
                      was_filled_[slot] != 0 ? Before::object_of_same_rank : Before::anything, pass);
  was_filled_[slot] = 1;
  filled_.push_back(slot);
}

void FunnelSender::send_filled() {
  const StateTimer timer(work_.recorder, IoTime::send);
  for (; num_credits_ > 0 && !filled_.empty(); --num_credits_) {
    const std::size_t slot = filled_.front();
    filled_.pop_front();
    messages_.post_send(io_rank_, work_.stage.buffers.object(slot), tickets_.object(slot));
  }
}

/// Objects are filled before there is credit for them, so that the I/O rank never waits for that.
void FunnelSender::send(ObjectRange range) {
  num_to_grant_ = range.end - range.first;
  await_credit();
  std::uint64_t next = range.first, num_sent = range.first;
  while (num_sent < range.end) {
    send_filled();
    std::optional<Ticket> ticket;
    if (next < range.end && !free_.empty()) {
      fill_next(next++);
      const StateTimer timer(work_.recorder, IoTime::send);
      ticket = messages_.poll();
    } else {
      ticket = await_message(work_, messages_, IoTime::send);
    }
    if (is_lost()) return;
    if (!ticket) continue;
    if (tickets_.is_credit(*ticket)) {
      num_credits_ += credit_;
      num_to_grant_ -= std::min(num_to_grant_, credit_);
      await_credit();
      continue;
    }
    free_.push_back(tickets_.slot(*ticket));
    ++num_sent;
    work_.recorder.add_message(work_.request().object_size_bytes);
    work_.recorder.add_own_object();
    work_.pace.object_done();
  }
}

void FunnelSender::receive_next(std::uint64_t number) {
  const std::size_t slot = free_.back();
  free_.pop_back();
  number_of_[slot] = number;
  num_posted_[slot] = 2;
  const std::span<std::byte> object = work_.stage.buffers.object(slot);
  if (!work_.request().no_file) {
    const StateTimer timer(work_.recorder, IoTime::verify);
    work_.contents.poison(object);
  }
  const StateTimer timer(work_.recorder, IoTime::receive);
  messages_.post_receive(io_rank_, object, tickets_.object(slot));
  messages_.post_send(io_rank_, bytes_of(credits_[slot]), tickets_.credit(slot));
}

void FunnelSender::take(std::size_t slot) {
  const std::uint64_t size_bytes = work_.request().object_size_bytes;
  if (!work_.request().no_file) {
    const auto [object, pass] = work_.passes.at(number_of_[slot]);
    const StateTimer timer(work_.recorder, IoTime::verify);
    work_.contents.verify(work_.stage.buffers.object(slot), size_bytes, work_.rank(), object, pass);
  }
  work_.recorder.add_message(size_bytes);
  work_.recorder.add_own_object();
  work_.pace.object_done();
}

void FunnelSender::post_end() {
  end_ = {};
  const StateTimer timer(work_.recorder, IoTime::receive);
  messages_.post_receive(io_rank_, bytes_of(end_), tickets_.end());
}

void FunnelSender::receive(ObjectRange range) {
  std::uint64_t next = range.first, num_free_again = range.first;
  bool has_ended = false, end_is_posted = false;
  while (num_free_again < range.end || !has_ended) {
    while (next < range.end && !free_.empty()) receive_next(next++);
    if (next == range.end && !end_is_posted) {
      post_end();
      end_is_posted = true;
    }
    const Ticket ticket = await_message(work_, messages_, IoTime::receive);
    if (is_lost()) return;
    if (ticket == tickets_.end()) {
      has_ended = true;
      continue;
    }
    const std::size_t slot = tickets_.slot(ticket);
    if (tickets_.is_object(ticket)) take(slot);
    if (--num_posted_[slot] > 0) continue;
    free_.push_back(slot);
    ++num_free_again;
  }
  correct(within_pass(work_, range));
}

/// An object that was not read is verified like any other; its I/O rank knows that it was not. `range`: within its
/// pass.
void FunnelSender::correct(ObjectRange range) {
  if (end_.first_unread != no_object) work_.contents.forget_unread(end_.first_unread);
  const std::uint64_t end = std::min(range.end, end_.first_unread);
  for (std::uint64_t number = end_.first_short; number < end; ++number) {
    const std::uint64_t num_read = number == end_.first_short ? end_.bytes_of_short : 0;
    work_.contents.note_truncated(num_read, work_.rank(), number);
  }
}

}  // namespace leadline::bench::io

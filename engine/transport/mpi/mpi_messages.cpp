// SPDX-License-Identifier: Apache-2.0
// One array of requests that are under way; whatever MPI reports done leaves it.
#include "transport/mpi/mpi_messages.hpp"

#include <sched.h>

#include <cassert>
#include <chrono>

#include "core/deadline.hpp"
#include "core/error.hpp"
#include "core/yielding_wait.hpp"
#include "transport/mpi/library.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {
namespace {

constexpr int tag = 2;  // links have 0, greetings 1

/// MPI may be writing into the memory of a message that has begun to arrive: that has to end first.
void take_back(MPI_Request& request, Deadline deadline) {
  MPI_Cancel(&request);
  for (int done = 0; !deadline.has_passed();) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    sched_yield();
  }
}

}  // namespace

MpiMessages::MpiMessages(MPI_Comm comm, std::size_t max_tickets, Calls calls)
    : comm_(comm), calls_(calls), indices_(max_tickets) {
  requests_.reserve(max_tickets);
  posted_.reserve(max_tickets);
  done_.reserve(max_tickets);
}

MpiMessages::~MpiMessages() {
  const auto deadline = Deadline::after(std::chrono::seconds(1));
  try {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (posted_[i].direction == TransferDirection::in) take_back(requests_[i], deadline);
      if (requests_[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests_[i]);
    }
  } catch (const Error&) {
    // Any error has been reported, or will show in the next message.
  }
}

void MpiMessages::post_send(int partner, std::span<const std::byte> data, Ticket ticket) {
  const MessageShape shape(data.size());
  MPI_Isend(data.data(), shape.count(), shape.type(), partner, tag, comm_, add({ticket, TransferDirection::out}));
}

void MpiMessages::post_receive(int partner, std::span<std::byte> data, Ticket ticket) {
  const MessageShape shape(data.size());
  MPI_Irecv(data.data(), shape.count(), shape.type(), partner, tag, comm_, add({ticket, TransferDirection::in}));
}

std::optional<Messages::Ticket> MpiMessages::poll() {
  if (num_handed_out_ == done_.size()) test_all();
  if (num_handed_out_ == done_.size()) return std::nullopt;
  return take_first();
}

Messages::Ticket MpiMessages::await_any() {
  YieldingWait idle;
  while (num_handed_out_ == done_.size()) {
    assert(!requests_.empty() && "nothing is posted that could come");
    if (calls_ == Calls::blocking) {
      wait_for_some();
    } else {
      test_all();
      if (done_.empty()) idle.pause();
    }
  }
  return take_first();
}

MPI_Request* MpiMessages::add(Posted posted) {
  assert(requests_.size() < indices_.size() && "more is posted than there are tickets");
  posted_.push_back(posted);
  return &requests_.emplace_back(MPI_REQUEST_NULL);
}

void MpiMessages::test_all() {
  int num_done = 0;
  if (!requests_.empty()) {
    MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &num_done, indices_.data(), MPI_STATUSES_IGNORE);
  }
  note_done(num_done);
}

void MpiMessages::wait_for_some() {
  int num_done = 0;
  MPI_Waitsome(static_cast<int>(requests_.size()), requests_.data(), &num_done, indices_.data(), MPI_STATUSES_IGNORE);
  note_done(num_done);
}

void MpiMessages::note_done(int num_done) {
  done_.clear();
  num_handed_out_ = 0;
  if (num_done == 0) return;
  for (int i = 0; i < num_done; ++i) {
    done_.push_back(posted_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])].ticket);
  }
  std::size_t num_left = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[num_left] = requests_[i];
    posted_[num_left++] = posted_[i];
  }
  requests_.resize(num_left);
  posted_.resize(num_left);
}

Messages::Ticket MpiMessages::take_first() { return done_[num_handed_out_++]; }

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI

// SPDX-License-Identifier: Apache-2.0
// Starts transfers with aio_write and aio_read, and waits for them with aio_suspend.
#include "storage/posix/background.hpp"

#include <aio.h>
#include <fcntl.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "core/error.hpp"

namespace leadline::storage::posix {

struct Background::Slot {
  Descriptor file;
  Transfer transfer;
  std::unique_ptr<aiocb> block = std::make_unique<aiocb>();
  bool is_started = false;
};

namespace {

// Waits are cut into pieces: aio_suspend may be late by the one wake-up that it missed.
constexpr int piece_ms = 200;

/// Whether it is done by then.
bool is_done(const aiocb& block, Deadline deadline) {
  while (::aio_error(&block) == EINPROGRESS) {
    if (deadline.has_passed()) return false;
    const std::array<const aiocb*, 1> wanted{&block};
    const long left_ms = deadline.left_ms(piece_ms);
    const timespec pause{left_ms / 1000, left_ms % 1000 * 1'000'000};
    ::aio_suspend(wanted.data(), 1, &pause);  // however it ends, aio_error tells
  }
  return true;
}

}  // namespace

Background::Background(const Descriptor& file, const std::string& path, std::size_t max_started) : path_(path) {
  for (std::size_t i = 0; i < max_started; ++i) {
    auto slot = std::make_unique<Slot>();
    slot->file = Descriptor(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0));
    if (!slot->file) {
      throw Error(ExitStatus::run_failed, "opening " + path + " once for each call under way failed",
                  system_error_text(errno), "Raise the limit of open files (ulimit -n), or lower --ahead");
    }
    slots_.push_back(std::move(slot));
  }
}

Background::~Background() {
  const auto deadline = Deadline::after(std::chrono::seconds(5));
  for (auto& slot : slots_) {
    if (!slot->is_started) continue;
    ::aio_cancel(slot->file.fd(), slot->block.get());
    if (is_done(*slot->block, deadline)) {
      ::aio_return(slot->block.get());
    } else {
      static_cast<void>(slot.release());
    }
  }
}

Background::Slot& Background::slot(Ticket ticket) const {
  if (ticket < slots_.size()) return *slots_[ticket];
  throw Error(ExitStatus::run_failed,
              path_ + " was opened for " + std::to_string(slots_.size()) + " calls under way, and here is another");
}

void Background::start(Ticket ticket, const Transfer& transfer, std::byte* data) {
  Slot& own = slot(ticket);
  if (own.is_started) throw transfer_error(transfer, path_, "the one before has not been waited for");
  own.transfer = transfer;
  *own.block = {};
  own.block->aio_fildes = own.file.fd();
  own.block->aio_offset = static_cast<off_t>(transfer.offset_bytes);
  own.block->aio_buf = data;
  own.block->aio_nbytes = transfer.size_bytes;
  own.block->aio_sigevent.sigev_notify = SIGEV_NONE;
  const bool is_write = transfer.access == Access::write;
  if ((is_write ? ::aio_write(own.block.get()) : ::aio_read(own.block.get())) != 0)
    throw transfer_error(transfer, path_, errno);
  own.is_started = true;
}

const Transfer& Background::transfer(Ticket ticket) const { return slot(ticket).transfer; }

std::int64_t Background::wait(Ticket ticket, Deadline deadline) {
  Slot& own = slot(ticket);
  if (!own.is_started) throw transfer_error(own.transfer, path_, "it was never started");
  if (!is_done(*own.block, deadline)) throw late_error(own.transfer, path_);
  const int error = ::aio_error(own.block.get());
  const ssize_t moved = ::aio_return(own.block.get());
  own.is_started = false;
  return error != 0 ? -error : moved;
}

}  // namespace leadline::storage::posix

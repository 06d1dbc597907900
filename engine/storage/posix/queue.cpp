// SPDX-License-Identifier: Apache-2.0
// Entries and results in memory that is shared with the kernel, and two system calls.
#include "storage/posix/queue.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "core/error.hpp"
#include "storage/posix/io_uring.hpp"

namespace leadline::storage::posix {
namespace {

constexpr std::uint32_t most_bytes = 0x7ffff000;  // of one call of the kernel

constexpr std::chrono::milliseconds longest_wait(200);

std::string why_no_ring(int error_number) {
  std::string why = system_error_text(error_number);
  switch (error_number) {
    case ENOSYS:
      return why + ": it takes Linux 5.11, and some containers hide it";
    case EPERM:
    case EACCES:
      return why + ": containers often forbid it, or kernel.io_uring_disabled does";
    default:
      return why;
  }
}

Error no_queue(const std::string& path, const std::string& why,
               const char* hint = "Leave out --queue-depth, or take --calls non-blocking and --ahead") {
  return Error(ExitStatus::something_missing, "no queue of calls (io_uring) for " + path, why, hint);
}

[[noreturn]] void throw_no_ring(const std::string& path, int error_number) {
  if (is_out_of_descriptors(error_number)) throw no_queue(path, why_no_ring(error_number), more_descriptors);
  if (error_number == ENOMEM) {
    throw no_queue(path, why_no_ring(error_number), "Raise the limit of locked memory (ulimit -l)");
  }
  throw no_queue(path, why_no_ring(error_number));
}

Descriptor set_up(std::size_t max_started, io_uring::Setup& setup, const std::string& path) {
  Descriptor ring(static_cast<int>(::syscall(io_uring::setup_call, static_cast<unsigned>(max_started), &setup)));
  if (!ring) throw_no_ring(path, errno);
  constexpr std::uint32_t needed = io_uring::has_one_mapping | io_uring::has_timeouts;
  if ((setup.features & needed) != needed) throw no_queue(path, "the kernel is older than Linux 5.11");
  return ring;
}

std::size_t size_of_rings(const io_uring::Setup& setup) {
  return std::max<std::size_t>(setup.entry.indices + setup.num_entries * sizeof(std::uint32_t),
                               setup.result.results + setup.num_results * sizeof(io_uring::Result));
}

}  // namespace

/// The kernel takes entries from one ring and puts results into the other, in which there is room for all.
class Queue::Ring {
  class Mapping {
   public:
    Mapping(const Descriptor& ring, std::size_t size_bytes, long what, const std::string& path)
        : start_(::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd(), what)),
          size_bytes_(size_bytes) {
      if (start_ == MAP_FAILED) throw_no_ring(path, errno);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { ::munmap(start_, size_bytes_); }

    template <class T>
    T* at(std::uint32_t offset_bytes) const {
      return reinterpret_cast<T*>(static_cast<std::byte*>(start_) + offset_bytes);
    }

   private:
    void* start_;
    std::size_t size_bytes_;
  };

 public:
  Ring(std::size_t max_started, const std::string& path)
      : ring_(set_up(max_started, setup_, path)),
        rings_(ring_, size_of_rings(setup_), io_uring::mapping_of_rings, path),
        entries_(ring_, setup_.num_entries * sizeof(io_uring::Entry), io_uring::mapping_of_entries, path) {}

  /// 0 or an error number.
  int start(const io_uring::Entry& entry) {
    const std::uint32_t tail = *word(setup_.entry.tail);
    const std::uint32_t index = tail & *word(setup_.entry.ring_mask);
    entries_.at<io_uring::Entry>(0)[index] = entry;
    word(setup_.entry.indices)[index] = index;
    shared(setup_.entry.tail).store(tail + 1, std::memory_order_release);
    while (shared(setup_.entry.head).load(std::memory_order_acquire) != tail + 1) {
      if (enter(1, 0, 0, nullptr, 0) >= 0 || errno == EINTR) continue;
      shared(setup_.entry.tail).store(tail, std::memory_order_release);
      return errno;
    }
    return 0;
  }

  /// Until there is a result, or so long. 0 or an error number.
  int wait(std::chrono::nanoseconds patience) {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(patience);
    const io_uring::Time time{whole.count(), (patience - whole).count()};
    io_uring::WaitArgument argument;
    argument.time_address = reinterpret_cast<std::uintptr_t>(&time);
    constexpr unsigned flags = io_uring::wait_for_results | io_uring::with_timeout;
    if (enter(0, 1, flags, &argument, sizeof argument) >= 0) return 0;
    return errno == ETIME || errno == EINTR ? 0 : errno;
  }

  std::optional<io_uring::Result> take() {
    const std::uint32_t head = *word(setup_.result.head);
    if (head == shared(setup_.result.tail).load(std::memory_order_acquire)) return std::nullopt;
    const std::uint32_t index = head & *word(setup_.result.ring_mask);
    const io_uring::Result result = rings_.at<io_uring::Result>(setup_.result.results)[index];
    shared(setup_.result.head).store(head + 1, std::memory_order_release);
    return result;
  }

 private:
  std::uint32_t* word(std::uint32_t offset_bytes) const { return rings_.at<std::uint32_t>(offset_bytes); }
  std::atomic_ref<std::uint32_t> shared(std::uint32_t offset_bytes) const {
    return std::atomic_ref<std::uint32_t>(*word(offset_bytes));
  }
  long enter(unsigned num, unsigned num_awaited, unsigned flags, const void* argument, std::size_t size_bytes) const {
    return ::syscall(io_uring::enter_call, ring_.fd(), num, num_awaited, flags, argument, size_bytes);
  }

  io_uring::Setup setup_;
  Descriptor ring_;
  Mapping rings_, entries_;
};

Queue::Queue(const Descriptor& file, std::string path, std::size_t max_started, CachePath cache_path)
    : path_(std::move(path)),
      fd_(file.fd()),
      cache_path_(cache_path),
      ring_(std::make_unique<Ring>(max_started, path_)),
      slots_(max_started) {
  // With O_NONBLOCK the kernel gives back what it cannot do at once, rather than let a thread do it.
  ::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) & ~O_NONBLOCK);
}

Queue::~Queue() {
  const auto deadline = Deadline::after(std::chrono::seconds(5));
  for (take_results(); num_in_kernel_ > 0 && !deadline.has_passed(); take_results()) {
    if (ring_->wait(deadline.left(longest_wait)) != 0) return;
  }
}

Queue::Slot& Queue::slot(Ticket ticket) {
  if (ticket < slots_.size()) return slots_[ticket];
  throw Error(ExitStatus::run_failed,
              path_ + " was opened for " + std::to_string(slots_.size()) + " calls under way, and here is another");
}

/// 0 or an error number.
int Queue::submit(Ticket ticket) {
  const Transfer& transfer = slots_[ticket].transfer;
  io_uring::Entry entry;
  entry.operation = transfer.access == Access::write ? io_uring::Operation::write : io_uring::Operation::read;
  entry.fd = fd_;
  entry.offset_bytes = transfer.offset_bytes;
  entry.address = reinterpret_cast<std::uintptr_t>(slots_[ticket].data);
  entry.size_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(transfer.size_bytes, most_bytes));
  entry.rw_flags = cache_path_ == CachePath::uncached ? dont_cache : 0;
  entry.user_data = ticket;
  return ring_->start(entry);
}

void Queue::start(Ticket ticket, const Transfer& transfer, std::byte* data) {
  Slot& own = slot(ticket);
  if (own.is_started) throw transfer_error(transfer, path_, "the one before has not been waited for");
  own = {transfer, data, false, std::nullopt};
  if (const int error = submit(ticket); error != 0) throw transfer_error(transfer, path_, error);
  own.is_started = true;
  ++num_in_kernel_;
}

const Transfer& Queue::transfer(Ticket ticket) { return slot(ticket).transfer; }

void Queue::take_results() {
  while (const auto one = ring_->take()) {
    const auto ticket = static_cast<Ticket>(one->user_data);
    std::int64_t result = one->result;
    if (result == -EINTR) {  // before any byte moved
      result = -submit(ticket);
      if (result == 0) continue;
    }
    slots_[ticket].result = result;
    done_.push_back(ticket);
    --num_in_kernel_;
  }
}

std::int64_t Queue::wait(Ticket ticket, Deadline deadline) {
  Slot& own = slot(ticket);
  if (!own.is_started) throw transfer_error(own.transfer, path_, "it was never started");
  for (take_results(); !own.result; take_results()) {
    if (deadline.has_passed()) throw late_error(own.transfer, path_);
    const int error = ring_->wait(deadline.left(longest_wait));
    if (error != 0) throw transfer_error(own.transfer, path_, error);
  }
  std::erase(done_, ticket);
  own.is_started = false;
  return *own.result;
}

std::optional<Ticket> Queue::wait_any(Deadline deadline) {
  for (take_results(); done_.empty() && num_in_kernel_ > 0 && !deadline.has_passed(); take_results()) {
    const int error = ring_->wait(deadline.left(longest_wait));
    if (error != 0) throw Error(ExitStatus::run_failed, "waiting for " + path_ + " failed", system_error_text(error));
  }
  if (done_.empty()) return std::nullopt;
  return done_.front();
}

}  // namespace leadline::storage::posix

// SPDX-License-Identifier: Apache-2.0
// Matches sends with the partner's receives, and begins and ends copies.
#include "transport/cuda/cuda_channel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "core/error.hpp"
#include "core/yielding_wait.hpp"

namespace leadline::transport::cuda {
namespace {

std::size_t mapped_bytes() {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (sizeof(Mailbox) + page - 1) / page * page;
}

[[noreturn]] void fail(std::string what, std::string hint = {}) {
  throw Error(ExitStatus::something_missing, std::move(what), system_error_text(errno), std::move(hint));
}

}  // namespace

MappedMailbox::MappedMailbox(int fd, int index) {
  const std::size_t bytes = mapped_bytes();
  const auto offset = static_cast<off_t>(bytes) * index;
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  if (mapped == MAP_FAILED) fail("memory cannot be shared with the other ranks of this host");
  mailbox_ = static_cast<Mailbox*>(mapped);
}

MappedMailbox::~MappedMailbox() { ::munmap(mailbox_, mapped_bytes()); }

int make_mailboxes(int num_ranks) {
  const int fd = ::memfd_create("leadline mailboxes", MFD_CLOEXEC);
  const auto bytes = static_cast<off_t>(mapped_bytes()) * num_ranks;
  if (fd < 0 || ::ftruncate(fd, bytes) != 0) fail("memory cannot be shared with the other ranks of this host");
  return fd;
}

int open_mailboxes(int pid, int fd) {
  const int opened = ::open(fmt::format("/proc/{}/fd/{}", pid, fd).c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) {
    fail("the memory of another rank of this host cannot be reached",
         "Start the ranks of a host as one user and in one container");
  }
  return opened;
}

namespace {

/// An opened allocation stays open for the next measurement: to open it takes longer than most messages. It outlives
/// its owner's release of it then, which keeps the memory occupied and nothing else; so those used longest ago are
/// closed.
constexpr std::size_t num_kept_open = 8;  // guessed: a run has one receive buffer a rank

constexpr memory::cuda::Status already_mapped = 208, no_peer_access = 217;

}  // namespace

CudaChannel::CudaChannel(const memory::cuda::Driver& driver, int own_rank, int own_mailboxes, int partner,
                         int partner_mailboxes)
    : driver_(driver),
      is_loop_(own_rank == partner),
      in_mailbox_(own_mailboxes, partner),
      out_mailbox_(partner_mailboxes, own_rank),
      stream_(driver),
      event_(driver) {
  for (std::size_t kind = 0; kind < num_kinds; ++kind) {
    Lane& out = out_mailbox_.lane(kind);
    out_[kind].lane = &out;
    out_[kind].num_posted = out_[kind].num_started = out.num_done;
    Lane& in = in_mailbox_.lane(kind);
    in_[kind].lane = &in;
    in_[kind].num_posted = in_[kind].num_published = in.num_posted;
  }
  open_.reserve(2 * num_kept_open);
}

CudaChannel::~CudaChannel() {
  for (const Opened& opened : open_) driver_.functions().ipc_close_mem_handle(opened.base);
}

void CudaChannel::start(Outgoing& out, const std::byte* from, std::size_t size_bytes) {
  const Posted& posted = out.lane->slots[out.num_started++ % Lane::num_slots];
  if (size_bytes > 0) {
    assert(posted.size_bytes == size_bytes && "both ends know the size");
    const auto& cuda = driver_.functions();
    driver_.check(cuda.memcpy_async(reach(posted), from, size_bytes, stream_.get()), "cuMemcpyDtoDAsync");
    has_copies_ = true;
  } else if (has_event_ || has_copies_) {
    has_copies_ = true;  // not before the messages in front of it
  } else {
    out.lane->num_done.store(out.num_started, std::memory_order_release);
  }
}

void CudaChannel::publish(Incoming& in, const GpuMemory& memory, std::byte* to, std::size_t size_bytes) {
  if (size_bytes > 0 && memory.base == nullptr) [[unlikely]] {
    throw Error(ExitStatus::run_failed, "a message cannot arrive here",
                "its buffer is no memory of a GPU that other processes can open");
  }
  const auto offset_bytes = size_bytes > 0 ? static_cast<std::size_t>(to - memory.base) : 0;
  in.lane->slots[in.num_published % Lane::num_slots] = {memory.handle, memory.buffer_id, to, offset_bytes, size_bytes};
  in.lane->num_posted.store(++in.num_published, std::memory_order_release);
}

std::byte* CudaChannel::reach(const Posted& posted) {
  if (is_loop_) return posted.data;
  if (!open_.empty() && open_.back().buffer_id == posted.buffer_id) return open_.back().base + posted.offset_bytes;
  return open(posted) + posted.offset_bytes;
}

std::byte* CudaChannel::open(const Posted& posted) {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&](const Opened& opened) { return opened.buffer_id == posted.buffer_id; });
  if (found != open_.end()) {
    std::rotate(found, found + 1, open_.end());
    return open_.back().base;
  }
  constexpr unsigned lazy_enable_peer_access = 1;
  std::byte* base = nullptr;
  auto status = driver_.functions().ipc_open_mem_handle(&base, posted.handle, lazy_enable_peer_access);
  // Small allocations share a block, which is mapped once: one that its owner has released may still be open here.
  if (status == already_mapped && !open_.empty()) {
    finish_copies();
    close_all_but(0);
    status = driver_.functions().ipc_open_mem_handle(&base, posted.handle, lazy_enable_peer_access);
  }
  if (status == no_peer_access) {
    throw Error(ExitStatus::something_missing, "the partner's GPU cannot be reached from this one",
                "the CUDA driver has no peer access between them");
  }
  driver_.check(status, "cuIpcOpenMemHandle");
  open_.push_back({posted.buffer_id, base});
  return base;
}

void CudaChannel::finish_copies() {
  YieldingWait idle;
  for (auto status = memory::cuda::not_ready; status == memory::cuda::not_ready; idle.pause()) {
    status = driver_.functions().stream_query(stream_.get());
    if (status != memory::cuda::not_ready) driver_.check(status, "cuStreamQuery");
  }
}

void CudaChannel::close_all_but(std::size_t num_kept) {
  while (open_.size() > num_kept) {
    driver_.check(driver_.functions().ipc_close_mem_handle(open_.front().base), "cuIpcCloseMemHandle");
    open_.erase(open_.begin());
  }
}

bool CudaChannel::progress() {
  bool has_moved = num_waiting_ > 0 && start_waiting();
  if (has_event_ || has_copies_) has_moved |= look_at_event();
  if (num_waiting_ > 0) has_moved |= publish_waiting();
  return has_moved;
}

bool CudaChannel::start_waiting() {
  bool has_moved = false;
  for (Outgoing& out : out_) {
    while (!out.waiting.is_empty() && may_start(out, out.waiting.first().size_bytes)) {
      Request& request = out.waiting.first();
      out.waiting.drop_first();
      --num_waiting_;
      start(out, request.from, request.size_bytes);
      has_moved = true;
    }
  }
  return has_moved;
}

bool CudaChannel::publish_waiting() {
  bool has_moved = false;
  for (Incoming& in : in_) {
    while (!in.waiting.is_empty() && has_slot(in)) {
      Request& request = in.waiting.first();
      in.waiting.drop_first();
      --num_waiting_;
      publish(in, *request.memory, request.to, request.size_bytes);
      has_moved = true;
    }
  }
  return has_moved;
}

bool CudaChannel::look_at_event() {
  const auto& cuda = driver_.functions();
  if (!has_event_) {
    driver_.check(cuda.event_record(event_.get(), stream_.get()), "cuEventRecord");
    for (Outgoing& out : out_) out.num_before_event = out.num_started;
    has_event_ = true;
    has_copies_ = false;
  }
  const auto status = cuda.event_query(event_.get());
  if (status == memory::cuda::not_ready) return false;
  driver_.check(status, "cuEventQuery");
  has_event_ = false;
  for (Outgoing& out : out_) out.lane->num_done.store(out.num_before_event, std::memory_order_release);
  if (!has_copies_) close_all_but(num_kept_open);
  return true;
}

}  // namespace leadline::transport::cuda

// SPDX-License-Identifier: Apache-2.0
// A file in memory, which others reach through its owner's descriptor, so that it ends with the processes.
#include "transport/cuda/mailbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.hpp"

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

}  // namespace leadline::transport::cuda

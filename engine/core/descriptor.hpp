// SPDX-License-Identifier: Apache-2.0
// A file descriptor that is closed with its owner.
#pragma once

#include <cerrno>
#include <utility>

namespace leadline {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  /// 0, or the error number that close(2) gave; over a network a failed write may be told of only here.
  int close() noexcept;

 private:
  int fd_ = -1;
};

inline bool is_out_of_descriptors(int error_number) { return error_number == EMFILE || error_number == ENFILE; }
inline constexpr const char* more_descriptors = "Raise the limit of open files (ulimit -n)";

}  // namespace leadline

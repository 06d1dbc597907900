// SPDX-License-Identifier: Apache-2.0
// Closes a descriptor.
#include "core/descriptor.hpp"

#include <unistd.h>

#include <cerrno>

namespace leadline {

int Descriptor::close() noexcept {
  if (fd_ < 0) return 0;
  // After EINTR it is closed all the same on Linux.
  return ::close(std::exchange(fd_, -1)) == 0 || errno == EINTR ? 0 : errno;
}

}  // namespace leadline

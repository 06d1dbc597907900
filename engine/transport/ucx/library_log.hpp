// SPDX-License-Identifier: Apache-2.0
// What UCX would print on its own, kept for the one line that a user gets.
#pragma once

#include <string>

namespace leadline::transport::ucx {

/// While it lives, UCX's warnings and errors are kept instead of printed; where UCX_LOG_LEVEL is set they are printed
/// too. At most one at a time.
class LibraryLog {
 public:
  LibraryLog();
  LibraryLog(const LibraryLog&) = delete;
  LibraryLog& operator=(const LibraryLog&) = delete;
  ~LibraryLog();

  /// What has been kept since the last call, in one line; may be empty.
  static std::string take();
};

}  // namespace leadline::transport::ucx

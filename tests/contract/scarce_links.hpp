// SPDX-License-Identifier: Apache-2.0
// Ranks that may not hold open as many links as they have partners: for the files of candidates that bound theirs.
#pragma once

#include <sys/resource.h>

#include <string>

#include "model/samples.hpp"

namespace leadline::contract {

/// Lowers this process's limit of open files while it lives.
class ScarceFiles {
 public:
  explicit ScarceFiles(rlim_t num_files);
  ScarceFiles(const ScarceFiles&) = delete;
  ScarceFiles& operator=(const ScarceFiles&) = delete;
  ~ScarceFiles();

 private:
  rlimit before_{};
};

/// Six ranks with room for two links or three, of so many files each, all meet each other three times.
void expect_links_closed_and_opened_again(const std::string& transport, rlim_t files_a_link);

/// Four ranks with room for two links are told so when all meet at once, in both kinds of exchange.
void expect_too_many_at_once_refused(const std::string& transport, rlim_t files_a_link);

/// Six ranks that may open so few files more all meet each other three times, and then at once.
void expect_links_kept(const std::string& transport, rlim_t num_files);

}  // namespace leadline::contract

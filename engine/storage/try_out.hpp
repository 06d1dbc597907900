// SPDX-License-Identifier: Apache-2.0
// Tries calls of a backend out in a child process before they are trusted, without the variables of this one's
// launcher.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "storage/storage.hpp"
#include "storage/table.hpp"

namespace leadline::storage {

/// Local, rank 0 alone opens; in a process of its own, whose limit of file sizes is lowered. Does such
/// calls on the scratch file: all well and read back, at its end and beyond, and beyond what the file may grow to. The
/// reason why they cannot be trusted, or empty; may crash or hang.
std::string try_calls_of(Backend& backend, const CallKind& kind, const std::string& scratch_path);

/// What came of trying calls out.
struct Trial {
  bool works = true;
  std::string why;  ///< "it died of signal 11 (Segmentation fault)", "it was not done within 20 s", or its own words
};

/// Local, in a process without threads and before any MPI library is started: forks a child without the launcher's
/// variables, which tries such calls on a scratch file in `directory` (removed afterwards). Never takes longer than
/// twice `patience`. Throws Error(something_missing) where `directory` takes no files.
Trial try_out(const LoadedBackend& backend, const CallKind& kind, const std::string& directory,
              std::chrono::milliseconds patience = std::chrono::seconds(20));

/// Whether a child that is to be on its own must lose this variable. Settings of libraries that users make stay.
bool is_of_launcher(std::string_view variable);

}  // namespace leadline::storage

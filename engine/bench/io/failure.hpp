// SPDX-License-Identifier: Apache-2.0
// The first error of a rank in a phase. It goes on with whatever others count on, and all agree on it at the end.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "core/error.hpp"

namespace leadline::bench::io {

class Failure {
 public:
  Failure(int rank, std::string host) : rank_(rank), host_(std::move(host)) {}

  bool has_happened() const { return error_.has_value(); }
  /// "rank 3 on node1: ..."; null where all is well.
  const Error* error() const { return error_ ? &*error_ : nullptr; }

  void note(const Error& error) {
    if (error_) return;
    error_.emplace(error.status(), fmt::format("rank {} on {}: {}", rank_, host_, error.problem()), error.why(),
                   error.hint());
  }

  /// Does `work`, which belongs to this rank alone or is done by all partners alike; whether it went well.
  template <class Work>
  bool guard(Work&& work) {
    try {
      work();
      return true;
    } catch (const AgreedError&) {
      throw;
    } catch (const Error& error) {
      note(error);
      return false;
    }
  }

 private:
  int rank_;
  std::string host_;
  std::optional<Error> error_;
};

}  // namespace leadline::bench::io

// SPDX-License-Identifier: Apache-2.0
// Where this rank is in a parallel file test, for the watch thread, which may ask at any time.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/io_result.hpp"

namespace leadline::bench::io {

/// Only numbers change, and they are atomic.
class CurrentStep {
 public:
  /// What a rank does in a phase, and with which file; empty = with none of its own.
  struct Phase {
    IoOperation operation = IoOperation::write;
    std::string file;
  };

  explicit CurrentStep(std::vector<Phase> phases) : phases_(std::move(phases)) {}

  void enter(std::size_t phase, std::uint64_t num_objects) {
    num_objects_.store(num_objects, std::memory_order_relaxed);
    object_.store(0, std::memory_order_relaxed);
    phase_.store(phase, std::memory_order_relaxed);
  }
  void object_done() { object_.fetch_add(1, std::memory_order_relaxed); }

  /// "write phase 1 of 2, object 17 of 64, FILE"
  std::string text() const {
    const std::size_t phase = phase_.load(std::memory_order_relaxed);
    if (phase >= phases_.size()) return "the opening of links";
    const std::uint64_t num_done = object_.load(std::memory_order_relaxed);
    const std::uint64_t num_objects = num_objects_.load(std::memory_order_relaxed);
    const std::string object =
        num_done < num_objects ? fmt::format("object {} of {}", num_done, num_objects) : "behind its last object";
    const Phase& here = phases_[phase];
    return fmt::format("{} phase {} of {}, {}{}{}", name_of(here.operation), phase + 1, phases_.size(), object,
                       here.file.empty() ? "" : ", ", here.file);
  }

 private:
  std::vector<Phase> phases_;
  std::atomic<std::size_t> phase_{static_cast<std::size_t>(-1)};
  std::atomic<std::uint64_t> object_{0}, num_objects_{0};
};

}  // namespace leadline::bench::io

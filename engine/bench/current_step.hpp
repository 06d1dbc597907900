// SPDX-License-Identifier: Apache-2.0
// The current step of a run of which all ranks do the same, for the watch thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cluster/cluster.hpp"

namespace leadline::bench {

class CurrentStep {
 public:
  /// Outside of what is timed.
  void enter(std::string text) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }

  /// From any thread, at any time.
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_ = "the opening of links";
};

/// The watch keeps its share of it beyond the end of measuring.
inline std::shared_ptr<CurrentStep> show_current_step(cluster::Cluster& cluster) {
  auto current_step = std::make_shared<CurrentStep>();
  cluster.set_current_step([current_step](int /*rank*/) { return current_step->text(); });
  return current_step;
}

}  // namespace leadline::bench

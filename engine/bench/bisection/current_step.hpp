// SPDX-License-Identifier: Apache-2.0
// The current step of a bisection test, for the watch thread, which may read it at any time.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/bisection/result.hpp"
#include "core/units.hpp"

namespace leadline::bench::bisection {

/// Only the step changes, and it is atomic.
class CurrentStep {
 public:
  enum class Activity : std::uint8_t { opening_links, pattern, baseline, retest, diagnosis };

  CurrentStep(std::vector<std::string> pattern_names, std::vector<std::uint64_t> message_sizes_bytes)
      : names_(std::move(pattern_names)), sizes_bytes_(std::move(message_sizes_bytes)) {}

  void enter(const PatternPosition& position, Activity activity = Activity::pattern) {
    const std::uint64_t name =
        position.kind == PatternKind::named ? position.index + num_kinds : std::uint64_t(position.kind);
    const auto size = static_cast<std::uint64_t>(position.size_index);
    step_.store(((position.number * sizes_bytes_.size() + size) * num_names() + name) * num_activities +
                    std::uint64_t(activity),
                std::memory_order_relaxed);
  }

  /// "bisection 1 MiB, pattern 17 (random)"
  std::string text() const {
    std::uint64_t rest = step_.load(std::memory_order_relaxed);
    const auto activity = static_cast<Activity>(rest % num_activities);
    if (activity == Activity::opening_links) return "the opening of links";
    if (activity == Activity::diagnosis) return "the search for slow hosts and switches";
    rest /= num_activities;
    const std::uint64_t name = rest % num_names();
    rest /= num_names();
    const std::string size = format_bytes(sizes_bytes_[rest % sizes_bytes_.size()]);
    if (activity == Activity::retest) return fmt::format("bisection {}, the retest of the slowest connections", size);
    return fmt::format("bisection {}, {}pattern {} ({})", size,
                       activity == Activity::baseline ? "pairs alone behind " : "", rest / sizes_bytes_.size(),
                       name < num_kinds ? name_of(static_cast<PatternKind>(name)) : names_[name - num_kinds]);
  }

 private:
  static constexpr std::uint64_t num_activities = 5, num_kinds = 3;

  std::uint64_t num_names() const { return names_.size() + num_kinds; }

  std::vector<std::string> names_;  ///< of named patterns
  std::vector<std::uint64_t> sizes_bytes_;
  std::atomic<std::uint64_t> step_{std::uint64_t(Activity::opening_links)};
};

}  // namespace leadline::bench::bisection

// SPDX-License-Identifier: Apache-2.0
// How the messages of a measurement are cut into batches, and how the leading side times them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/progress_counter.hpp"
#include "kernel/link.hpp"
#include "model/samples.hpp"

namespace leadline::kernel {

/// Messages of batch `index` of `num_batches`: as even as whole messages allow, earlier batches getting the surplus.
constexpr std::uint64_t batch_messages(std::uint64_t num_messages, std::size_t num_batches, std::size_t index) {
  return num_messages / num_batches + (index < num_messages % num_batches ? 1 : 0);
}

/// Runs `messages(n)` once per sample, between two readings of the link's clock.
template <Link L, class Messages>
void time_batches(L& link, const Messages& messages, std::uint64_t num_messages, std::span<Sample> samples,
                  ProgressCounter& progress_counter) {
  for (std::size_t index = 0; index < samples.size(); ++index) {
    const std::uint64_t num = batch_messages(num_messages, samples.size(), index);
    const std::uint64_t start_ns = link.now_ns();
    messages(num);
    const std::uint64_t elapsed_ns = link.now_ns() - start_ns;
    // A clock that did not move has measured "less than one step", and 0 would read as "not measured".
    samples[index] = {elapsed_ns > 0 ? elapsed_ns : 1, num};
    progress_counter.advance();
  }
}

/// The following side of time_batches: the same cuts, no clock.
template <class Messages>
void answer_batches(const Messages& messages, std::uint64_t num_messages, std::size_t num_batches,
                    ProgressCounter& progress_counter) {
  for (std::size_t index = 0; index < num_batches; ++index) {
    messages(batch_messages(num_messages, num_batches, index));
    progress_counter.advance();
  }
}

}  // namespace leadline::kernel

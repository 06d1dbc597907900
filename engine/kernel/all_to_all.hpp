// SPDX-License-Identifier: Apache-2.0
// All to all: a rank exchanges one message each way with partner after partner, and the whole of it is timed.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/progress_counter.hpp"
#include "kernel/exchange.hpp"
#include "kernel/loops.hpp"
#include "model/samples.hpp"

namespace leadline::kernel {

/// What a transport offers to these loops: its links to the partners of the steps. Like a link, nothing is virtual.
///
/// start      One exchange begins: where clocks are virtual, they are 0 again.
/// at         The link to the partner of a step in which the rank does not rest. Cheap: no allocation, no search.
/// now_ns     The clock of these links.
template <class L>
concept StepLinks = requires(L& links, std::size_t step) {
  links.start();
  { links.at(step) } -> Link;
  { links.now_ns() } -> std::same_as<std::uint64_t>;
};

/// Every step once.
template <StepLinks L, class Turns>
Turns exchange_with_all(L& links, const AllToAllSteps& steps, Turns turns, ProgressCounter& progress_counter) {
  for (std::size_t step = 0; step < steps.partners.size(); ++step) {
    if (steps.partners[step] == AllToAllSteps::rests) continue;
    Link auto link = links.at(step);
    turns = both_ways(link, turns, steps.message_size_bytes, 1, 1);
    // After each step, or a long exchange would look like a rank that is stuck.
    progress_counter.advance();
  }
  return turns;
}

template <StepLinks L, class Turns>
void time_all_to_all(L& links, const AllToAllSteps& steps, Turns turns, std::span<Sample> samples,
                     ProgressCounter& progress_counter) {
  const auto num_rests = std::count(steps.partners.begin(), steps.partners.end(), AllToAllSteps::rests);
  const std::uint64_t num_messages = steps.partners.size() - static_cast<std::uint64_t>(num_rests);
  links.start();
  turns = exchange_with_all(links, steps, turns, progress_counter);
  for (Sample& sample : samples) {
    links.start();
    const std::uint64_t start_ns = links.now_ns();
    turns = exchange_with_all(links, steps, turns, progress_counter);
    const std::uint64_t elapsed_ns = links.now_ns() - start_ns;
    // As in time_batches: 0 would read as "not measured".
    sample = {elapsed_ns > 0 ? elapsed_ns : 1, num_messages};
  }
}

/// Collective: all ranks that take part, with steps that fit together and equally many samples. The exchange once
/// untimed, then once a sample. A rank alone may have itself as partner.
template <StepLinks L>
void all_to_all(L& links, const AllToAllSteps& steps, const Buffers& buffers, std::span<Sample> samples,
                ProgressCounter& progress_counter) {
  if (buffers.num > 1) return time_all_to_all(links, steps, BuffersInTurn(buffers), samples, progress_counter);
  time_all_to_all(links, steps, OneBuffer(buffers), samples, progress_counter);
}

}  // namespace leadline::kernel

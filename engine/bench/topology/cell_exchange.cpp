// SPDX-License-Identifier: Apache-2.0
// Runs a cell's steps on the transport, and returns the samples.
#include "bench/topology/cell_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "bench/links.hpp"
#include "bench/message_memory.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::topology {

CellExchange::CellExchange(const Stage& stage, const Cell& cell)
    : stage_(stage),
      cell_(cell),
      topology_(stage.plan.topologies[static_cast<std::size_t>(cell.topology_index)]),
      channels_(topology_.channels(stage.cluster.rank())),
      timed_(neighbourhood(topology_, stage.cluster.rank(), {stage.request.max_outstanding, stage.slots.num()},
                           SlotUse::by_step)) {}

std::uint64_t CellExchange::received_bytes() const {
  const auto num = std::count_if(timed_.entries.begin(), timed_.entries.end(),
                                 [](const kernel::NeighbourChannel& entry) { return kernel::receives(entry.part); });
  return static_cast<std::uint64_t>(num) * cell_.message_size_bytes;
}

void CellExchange::run(std::uint64_t num_warmup, std::span<kernel::ExchangeSample> samples) {
  const InTransport in_transport(stage_.cluster.progress_counter());
  stage_.transport.exchange_with_neighbours(timed_.exchange(cell_.message_size_bytes, num_warmup), stage_.slots.all(),
                                            kernel::TimedExchanges{samples});
}

std::optional<WrongByte> CellExchange::verify(std::uint64_t first_exchange, std::span<kernel::ExchangeSample> samples) {
  if (!verified_) {
    verified_ = neighbourhood(topology_, stage_.cluster.rank(), {stage_.request.max_outstanding, stage_.slots.num()},
                              SlotUse::by_channel);
  }
  const InTransport in_transport(stage_.cluster.progress_counter());
  const kernel::Contents contents{stage_.request.fill, stage_.request.fill_seed, first_exchange};
  const auto mismatch =
      stage_.transport.exchange_with_neighbours(verified_->exchange(cell_.message_size_bytes, 0), stage_.slots.all(),
                                                kernel::VerifiedExchanges{contents, samples});
  if (!mismatch) return std::nullopt;
  return described(*mismatch);
}

WrongByte CellExchange::described(const kernel::NeighbourMismatch& mismatch) const {
  return {
      mismatch.exchange,
      Error(ExitStatus::run_failed,
            fmt::format("rank {} on {} received a wrong byte from rank {} in topology {}, exchange {}: byte {} of a "
                        "message of {} bytes",
                        stage_.cluster.rank(), stage_.cluster.host(), mismatch.from, topology_.spec().name,
                        mismatch.exchange, mismatch.byte, cell_.message_size_bytes),
            expected_and_found(mismatch.expected, mismatch.found), corruption_hint)};
}

std::vector<double> CellExchange::trace(std::uint64_t num_traced) {
  const auto num = static_cast<std::size_t>(num_traced);
  std::vector<std::uint64_t> arrivals_ns(timed_.entries.size());
  std::vector<double> by_channel(channels_.size() * num);  // a channel's one after the other
  for (std::size_t t = 0; t < num; ++t) {
    {
      const InTransport in_transport(stage_.cluster.progress_counter());
      stage_.transport.exchange_with_neighbours(timed_.exchange(cell_.message_size_bytes, 0), stage_.slots.all(),
                                                kernel::TracedExchange{arrivals_ns});
    }
    for (std::size_t i = 0; i < arrivals_ns.size(); ++i) {
      if (!kernel::receives(timed_.entries[i].part)) continue;
      by_channel[timed_.channel_of[i] * num + t] = static_cast<double>(arrivals_ns[i]);
    }
  }
  std::vector<double> medians(channels_.size());
  for (std::size_t channel = 0; num > 0 && channel < medians.size(); ++channel) {
    medians[channel] = stats::summarize(std::span(by_channel).subspan(channel * num, num)).median;
  }
  return medians;
}

}  // namespace leadline::bench::topology

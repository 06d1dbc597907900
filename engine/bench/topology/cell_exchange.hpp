// SPDX-License-Identifier: Apache-2.0
// One rank's part in the exchanges of a cell: timed, traced or verified. Nothing here is inside a timed region.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/reductions.hpp"
#include "bench/topology/measure.hpp"
#include "bench/topology/neighbourhood.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "schedule/topology.hpp"

namespace leadline::bench::topology {

class CellExchange {
 public:
  /// Local. The stage outlives it.
  CellExchange(const Stage& stage, const Cell& cell);

  const std::vector<schedule::Channel>& channels() const { return channels_; }

  /// Bytes that this rank receives in one exchange.
  std::uint64_t received_bytes() const;

  /// Collective: an exchange a sample, after `num_warmup` untimed ones.
  void run(std::uint64_t num_warmup, std::span<kernel::ExchangeSample> samples);

  /// Collective: an exchange a sample, the first of them being number `first_exchange` of those that are verified in
  /// this run: contents follow from it. Returns the first wrong byte of this rank.
  std::optional<WrongByte> verify(std::uint64_t first_exchange, std::span<kernel::ExchangeSample> samples);

  /// Collective: so many exchanges; by channel, how long after the opening barrier its message was there, the median;
  /// 0 where none was received.
  std::vector<double> trace(std::uint64_t num_traced);

 private:
  WrongByte described(const kernel::NeighbourMismatch& mismatch) const;

  const Stage& stage_;
  Cell cell_;
  const schedule::Topology& topology_;
  std::vector<schedule::Channel> channels_;
  Neighbourhood timed_;
  std::optional<Neighbourhood> verified_;  ///< where slots lie otherwise: made when it is needed
};

}  // namespace leadline::bench::topology

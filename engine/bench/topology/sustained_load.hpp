// SPDX-License-Identifier: Apache-2.0
// The load of --duration: cell after cell, round and round, until its time is over, with contents that are verified.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/current_step.hpp"
#include "bench/topology/measure.hpp"

namespace leadline::bench::topology {

/// Of any number of values every 2^k-th, so that no more than `capacity` are kept. Which ones follows from how many
/// were added, so that ranks which add equally many keep those of the same exchanges.
class Thinned {
 public:
  explicit Thinned(std::size_t capacity) : capacity_(capacity) {}

  void add(double value);
  std::vector<double>& kept() { return kept_; }

 private:
  std::size_t capacity_;
  std::vector<double> kept_;
  std::uint64_t num_added_ = 0, stride_ = 1;
};

/// How long the slice should last that begins `begin_s` after the load did, being number `index`: a second, or what
/// max_load_points leave room for; less where each cell would not come once otherwise.
double slice_s(double duration_s, std::size_t num_cells, std::size_t index, double begin_s);

/// Collective, with open links. Throws AgreedError where a point could not be written, and about the first wrong byte
/// at the end, or with --stop-at-first after the slice in which it came.
void load(const Stage& stage, RunLinks& links, CurrentStep& current_step, Measured& measured);

}  // namespace leadline::bench::topology

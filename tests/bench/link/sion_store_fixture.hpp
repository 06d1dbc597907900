// SPDX-License-Identifier: Apache-2.0
// Runs that write SION files, and numbers in those files.
#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

#include "bench/link/result_fixture.hpp"
#include "bench/link/sion_output.hpp"
#include "bench/link/sion_reader.hpp"

namespace leadline::test {

inline bench::link::LinkFileSetup sion_setup(const cluster::Cluster& cluster, const std::string& path) {
  bench::link::LinkFileSetup setup = setup_for(cluster, path);
  setup.format = ResultFormat::sion;
  const int size = cluster.size();
  setup.rounds = [size](int rank, int repeat) {
    std::vector<std::int32_t> rounds;
    for (int partner = 0; partner < size; ++partner) {
      rounds.push_back(partner == rank ? 0 : 1000 * repeat + 10 * rank + partner);
    }
    return rounds;
  };
  return setup;
}

inline bench::link::Slice slice_of(int repeat, int size_index) {
  return {.repeat = repeat, .permutation = repeat % 2, .size_index = size_index, .message_size_bytes = 8};
}

/// The first partners of a row, as they are known some way into the slice.
inline PairRow part_of(const PairRow& row, std::size_t num_partners) {
  PairRow part(row.size());
  for (std::size_t partner = 0; partner < num_partners; ++partner) part.set(partner, row.at(partner));
  return part;
}

inline void write_repeat(bench::link::SionStore& store, const cluster::Cluster& cluster, int repeat) {
  for (int size_index = 0; size_index < 2; ++size_index) {
    const bench::link::Slice slice = slice_of(repeat, size_index);
    const PairRow row = row_of(cluster, slice);
    for (std::size_t num_partners = 0; num_partners <= row.size(); num_partners += 2) {
      store.write(slice, part_of(row, num_partners));
    }
    store.write(slice, row);
    bench::link::SliceSummary summary;
    summary.slice = slice;
    store.close_slice(summary);
  }
}

inline void write_all(cluster::Cluster& cluster, bench::link::LinkFileSetup setup, int num_repeats = 2) {
  const bench::link::LinkResult so_far = result_so_far(cluster.size());
  bench::link::SionStore store(cluster, so_far, std::move(setup));
  store.reserve_repeats(num_repeats);
  for (int repeat = 0; repeat < num_repeats; ++repeat) write_repeat(store, cluster, repeat);
  store.finish(finished(so_far));
}

inline void expect_no_errors(const std::vector<std::string>& errors) { EXPECT_THAT(errors, ::testing::Each("")); }

/// Numbers in a file, where the reference says they are.
template <typename Number>
Number number_in(const std::string& bytes, std::size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

}  // namespace leadline::test

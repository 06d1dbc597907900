// SPDX-License-Identifier: Apache-2.0
// What results keep of a collective test: facts and tables of its HDF5 file.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "bench/collective/output.hpp"
#include "bench/collective/result.hpp"
#include "model/fields.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/run_header.hpp"

namespace leadline::bench::collective {

inline constexpr std::size_t operation_name_size = 32;

/// A result without its numbers.
struct Header : result::RunHeader {
  result::hdf5::Texts<operation_name_size> operations;
  std::string algorithm;
  std::int32_t num_rounds = 0, num_batches = 0, num_groups = 0;
  std::int64_t num_iterations = 0;
  std::int32_t group_hosts = 0;
  std::uint64_t seed = 0;
};

/// What a run knows before its first message: not complete, no nonce.
Header header_of(const CollectiveResult& so_far);

constexpr auto fields_of(Type<Header> /*any*/) {
  return std::tuple{
      field("operations", &Header::operations, "", "names of operations, in the order of the tables"),
      field("algorithm", &Header::algorithm, "", "who did them: library or ring"),
      field("num_rounds", &Header::num_rounds, "1", "rounds that were asked for"),
      field("num_batches", &Header::num_batches, "1", "timed batches of an operation and a size in a round"),
      field("num_groups", &Header::num_groups, "1", "groups of a round"),
      field("num_iterations", &Header::num_iterations, "1", "operations of a batch"),
      field("group_hosts", &Header::group_hosts, "1", "hosts of a group; 0 = all that take part"),
      field("seed", &Header::seed, "", "of the groups"),
  };
}

constexpr auto fields_of(Type<GroupTime> /*any*/) {
  return std::tuple{
      field("time_ns", &GroupTime::time_ns, "ns",
            "an operation of a batch, on the slowest rank of the group; 0 = not measured"),
  };
}

constexpr auto fields_of(Type<RankTimes> /*any*/) {
  return std::tuple{
      field("time_ns_min", &RankTimes::min, "ns",
            "a rank's own time of an operation of a batch: shortest; 0 = not measured, or it rested"),
      field("time_ns_median", &RankTimes::median, "ns", "the same: median over the batches"),
      field("time_ns_max", &RankTimes::max, "ns", "the same: longest"),
  };
}

constexpr auto fields_of(Type<Membership> /*any*/) {
  return std::tuple{
      field("group", &Membership::group, "", "group of the rank, from 1; 0 = it rested, or was not there"),
  };
}

}  // namespace leadline::bench::collective

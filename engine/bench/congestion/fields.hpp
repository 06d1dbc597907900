// SPDX-License-Identifier: Apache-2.0
// What results keep of a congestion test: facts and tables of its HDF5 file.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "bench/congestion/output.hpp"
#include "bench/congestion/result.hpp"
#include "model/fields.hpp"
#include "result/described_json.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/run_header.hpp"

namespace leadline::bench::congestion {

inline constexpr std::size_t load_name_size = 32;

/// A result without its numbers.
struct Header : result::RunHeader {
  result::hdf5::Texts<load_name_size> loads;
  std::vector<std::int32_t> cell_loads, cell_intensities;  ///< by cell; load -1 = none
  std::vector<std::int32_t> victims;
  std::int64_t num_load_ranks = 0;
  bool victims_are_hosts = false;
  std::int32_t num_rounds = 0;
  std::uint64_t seed = 0;
  double test_time_s = 0, interval_s = 0;
};

/// What a run knows before its first message: not complete, no nonce.
Header header_of(const CongestionResult& so_far);

constexpr auto fields_of(Type<Header> /*any*/) {
  return std::tuple{
      field("loads", &Header::loads, "", "names of loads, as asked for"),
      field("cell_load", &Header::cell_loads, "", "of each cell: position in loads, from 0; -1 = no load at all"),
      field("cell_intensity_percent", &Header::cell_intensities, "",
            "of each cell: how much of the load, of what it reaches without pauses"),
      field("victims", &Header::victims, "", "the ranks that measure, ascending; the others load the network"),
      field("num_load_ranks", &Header::num_load_ranks, "1", "ranks that load the network"),
      field("victims_are_hosts", &Header::victims_are_hosts, "", "1: a host has victims only, or none"),
      field("num_rounds", &Header::num_rounds, "1", "rounds that were asked for"),
      field("seed", &Header::seed, "", "of victims, pairs and targets"),
      field("test_time_s", &Header::test_time_s, "s", "length of each test in each phase"),
      field("interval_s", &Header::interval_s, "s", "from one message of the latency test to the next"),
  };
}

/// The times of a state of a test.
template <typename Part>
constexpr auto times_fields(Times Part::*state, const char* num, const char* mean, const char* median, const char* p99,
                            const char* p999, const char* max) {
  return std::tuple{
      field(num, result::through(state, &Times::num), "1", "operations timed in this state; 0 = not measured"),
      field(mean, result::through(state, &Times::mean), "ns", "time of an operation in this state: mean"),
      field(median, result::through(state, &Times::median), "ns", "the same: median"),
      field(p99, result::through(state, &Times::p99), "ns", "the same: 99 % quantile; 0 = too few for it"),
      field(p999, result::through(state, &Times::p999), "ns", "the same: 99.9 % quantile; 0 likewise"),
      field(max, result::through(state, &Times::max), "ns", "the same: longest"),
  };
}

template <typename Part>
constexpr auto both_states() {
  return std::tuple_cat(times_fields(&Part::alone, "alone_num", "alone_time_ns_mean", "alone_time_ns_median",
                                     "alone_time_ns_p99", "alone_time_ns_p999", "alone_time_ns_max"),
                        times_fields(&Part::loaded, "loaded_num", "loaded_time_ns_mean", "loaded_time_ns_median",
                                     "loaded_time_ns_p99", "loaded_time_ns_p999", "loaded_time_ns_max"));
}

constexpr auto fields_of(Type<RoundNumbers> /*any*/) { return both_states<RoundNumbers>(); }

constexpr auto fields_of(Type<VictimNumbers> /*any*/) { return both_states<VictimNumbers>(); }

constexpr auto fields_of(Type<LoadNumbers> /*any*/) {
  return std::tuple{
      field("bytes_per_s", &LoadNumbers::bytes_per_s, "bytes/s",
            "sent by all ranks of the load while victims measured; 0 = not measured"),
      field("fairness", &LoadNumbers::fairness, "1", "Jain's index over the ranks that send; 0 = not measured"),
  };
}

constexpr auto fields_of(Type<Distribution> /*any*/) {
  return std::tuple{
      field("alone", &Distribution::alone, "1", "operations of all victims and rounds, by their time alone"),
      field("loaded", &Distribution::loaded, "1", "the same under load"),
  };
}

}  // namespace leadline::bench::congestion

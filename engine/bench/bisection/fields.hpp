// SPDX-License-Identifier: Apache-2.0
// What results keep of a bisection test: the head of the file; patterns and pairs alone, in HDF5 tables and in JSON;
// intervals, in JSON.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "bench/bisection/output.hpp"
#include "bench/bisection/result.hpp"
#include "model/fields.hpp"
#include "result/described_json.hpp"
#include "result/hdf5/described_structs.hpp"
#include "result/run_header.hpp"

namespace leadline::bench::bisection {

/// A result without its numbers. Lists are in the order of the file.
struct Header : result::RunHeader {
  result::hdf5::Texts<64> pattern_names;  ///< of the named patterns
  std::int64_t num_participants = 0;
  std::int64_t num_exchanges = 0;  ///< timed, of a pattern
  std::uint64_t seed = 0;
  bool within_hosts = false;
  std::uint64_t max_patterns = 0;  ///< of a message size: there is room for so many
  std::uint64_t max_baseline = 0;  ///< likewise for pairs alone
};

/// What a run knows before its first message: not complete, no nonce, no room.
Header header_of(const BisectionResult& so_far);

constexpr auto fields_of(Type<Header> /*any*/) {
  return std::tuple{
      field("num_participants", &Header::num_participants, "1", "ranks that take part in patterns"),
      field("num_exchanges", &Header::num_exchanges, "1", "timed exchanges of a pattern"),
      field("seed", &Header::seed, "", "of random patterns"),
      field("within_hosts", &Header::within_hosts, "",
            "random pairs may lie on one host: asked for, or there is only one"),
      field("pattern_names", &Header::pattern_names, "", "named patterns: halves, shift:3"),
  };
}

struct IntervalOfBandwidth : Interval {};
struct IntervalOfRatio : Interval {};

constexpr auto fields_of(Type<IntervalOfBandwidth> /*any*/) {
  return std::tuple{
      field("num", &Interval::num, "1", "independent samples"),
      field("bytes_per_s_mean", &Interval::mean, "bytes/s", "their mean"),
      field("bytes_per_s_half_width", &Interval::half_width, "bytes/s",
            "half the width of the interval; null below two samples"),
  };
}

constexpr auto fields_of(Type<IntervalOfRatio> /*any*/) {
  return std::tuple{
      field("num", &Interval::num, "1", "independent samples: patterns with pairs that were measured alone"),
      field("mean", &Interval::mean, "", "the ratio"),
      field("half_width", &Interval::half_width, "", "half the width of the interval; null below two samples"),
  };
}

constexpr auto fields_of(Type<PatternPosition> /*any*/) {
  return std::tuple{
      field("size_index", &PatternPosition::size_index, "", "position in options.message_size_bytes, from 0"),
      field("message_size_bytes", &PatternPosition::message_size_bytes, "bytes", "size of a message"),
      field("number", &PatternPosition::number, "",
            "position among the patterns of this size, from 0: its column in the HDF5 file"),
      field("kind", &PatternPosition::kind, "",
            "chosen at random, asked for by name, or a step of the search for bad patterns"),
      field(
          "index", &PatternPosition::index, "",
          "of a random one the number that replays it with the seed, of a named one the position in pattern_names, of "
          "the search the step"),
      field("repeat", &PatternPosition::repeat, "", "of a named one: repeat, from 0"),
      field("name", &PatternPosition::name, "", "the name asked for, or random, or worst"),
  };
}

constexpr auto fields_of(Type<PatternSummary> /*any*/) {
  return std::tuple_cat(
      result::fields_through<PatternPosition>(&PatternSummary::position),
      std::tuple{
          field("num_connections", &PatternSummary::num_connections, "1", "ranks that send"),
          field("bytes_per_s_mean", &PatternSummary::bytes_per_s_mean, "bytes/s", "arithmetic mean over connections"),
          field("bytes_per_s_harmonic", &PatternSummary::bytes_per_s_harmonic, "bytes/s",
                "message size divided by the mean time"),
          field("bytes_per_s_min", &PatternSummary::bytes_per_s_min, "bytes/s", "slowest connection"),
          field("bytes_per_s_max", &PatternSummary::bytes_per_s_max, "bytes/s", "fastest connection"),
          field("bytes_per_s_full_load", &PatternSummary::bytes_per_s_full_load, "bytes/s",
                "mean over connections while all were under way"),
          field("time_ns_mean", &PatternSummary::time_ns_mean, "ns",
                "mean over connections of the time of one exchange"),
          field("slowest_from", result::or_null(&PatternSummary::slowest_from), "",
                "sender of the slowest connection; null = none"),
          field("slowest_to", result::or_null(&PatternSummary::slowest_to), "", "its receiver; null = none"),
          field("accepted", &PatternSummary::accepted, "",
                "of the search: worse than all before, and the search went on from it"),
          field("begin_s", &PatternSummary::begin_s, "s", "since the first pattern began"),
          field("measuring_s", &PatternSummary::measuring_s, "s", "time that the pattern took"),
      });
}

/// A rank in a pattern.
constexpr auto fields_of(Type<RankTimes> /*any*/) {
  return std::tuple{
      field("send_to", &RankTimes::to, "",
            "the rank that a rank sends to; -1 = none; means nothing where the pattern was not measured"),
      field("receive_from", &RankTimes::from, "", "the rank that it receives from, likewise"),
      field(
          "time_ns", &RankTimes::time_ns, "ns",
          "of the connection from receive_from: the rank's own time until all messages are there, by their number; 0 = "
          "not measured, or it received nothing"),
      field("full_load_time_ns", &RankTimes::full_load_time_ns, "ns",
            "likewise until the first connection of all was done"),
  };
}

constexpr auto fields_of(Type<BaselineSample> /*any*/) {
  return std::tuple{
      field("size_index", &BaselineSample::size_index, "", "position in options.message_size_bytes, from 0"),
      field("number", &BaselineSample::number, "", "number of that pattern"),
      field("from", result::or_null(&BaselineSample::from), "", "one rank of the pair"),
      field("to", result::or_null(&BaselineSample::to), "", "the other"),
      field("time_ns", &BaselineSample::time_ns, "ns", "of one exchange, mean of both ends' own"),
  };
}

}  // namespace leadline::bench::bisection

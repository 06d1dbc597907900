// SPDX-License-Identifier: Apache-2.0
// The numbers of a congestion test in its JSON document, for those who write and read it.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "bench/congestion/result.hpp"
#include "model/fields.hpp"
#include "result/described_json.hpp"

namespace leadline::bench::congestion {

/// A cell by the name of its load.
struct NamedCell {
  std::string load;  ///< empty = none
  std::int32_t intensity_percent = 0;
};

struct KeptImpact : Impact {
  NamedCell named;
};

struct KeptLoad : LoadSummary {
  NamedCell named;
};

constexpr auto fields_of(Type<NamedCell> /*any*/) {
  return std::tuple{
      field("load", result::or_null(&NamedCell::load), "", "which load; null = none, to see what chance alone does"),
      field("intensity_percent", &NamedCell::intensity_percent, "", "of what the load reaches without pauses"),
  };
}

constexpr auto fields_of(Type<Times> /*any*/) {
  return std::tuple{
      field("num", &Times::num, "1", "operations timed"),
      field("time_ns_mean", &Times::mean, "ns", "time of an operation: mean"),
      field("time_ns_median", &Times::median, "ns", "median"),
      field("time_ns_p99", &Times::p99, "ns", "99 % quantile; null where fewer than 10 are longer"),
      field("time_ns_p999", &Times::p999, "ns", "99.9 % quantile; null likewise"),
      field("time_ns_max", &Times::max, "ns", "longest"),
  };
}

constexpr auto fields_of(Type<Factor> /*any*/) {
  return std::tuple{
      field("estimate", &Factor::estimate, "1", "median over rounds"),
      field("low", &Factor::low, "1", "low end of its 95 % interval; null below 6 rounds"),
      field("high", &Factor::high, "1", "high end; null likewise"),
  };
}

constexpr const char* about_of(Type<Factor> /*any*/) { return "Impact factor: loaded by alone."; }

constexpr const char* about_of(Type<Times> /*any*/) {
  return "Of latency: to the partner and back, from when the message was due. Of bandwidth: from one message to the "
         "next.";
}

constexpr auto fields_of(Type<KeptImpact> /*any*/) {
  return std::tuple_cat(
      result::fields_through<NamedCell>(&KeptImpact::named),
      std::tuple{
          field("test", &Impact::test, "", "which test"),
          field("shared", &Impact::shared, "", "of which messages: all, or those that share so much with the load"),
          field("num_rounds", &Impact::num_rounds, "1", "rounds, each alone and under load"),
          field("alone", &Impact::alone, "", "times alone"),
          field("loaded", &Impact::loaded, "", "times under load"),
          field("mean", &Impact::mean, "", "impact factor of the mean"),
          field("median", &Impact::median, "", "of the median"),
          field("p99", &Impact::p99, "", "of the 99 % quantile"),
          field("p999", &Impact::p999, "", "of the 99.9 % quantile"),
      });
}

constexpr auto fields_of(Type<KeptLoad> /*any*/) {
  return std::tuple_cat(
      result::fields_through<NamedCell>(&KeptLoad::named),
      std::tuple{
          field("num_rounds", &LoadSummary::num_rounds, "1", "rounds"),
          field("bytes_per_s", &LoadSummary::bytes_per_s, "bytes/s",
                "sent by all ranks of the load beside the victims, mean over rounds"),
          field("alone_bytes_per_s", &LoadSummary::alone_bytes_per_s, "bytes/s",
                "sent by the load without pauses while victims rest; null where every intensity is 0 or 100"),
          field("fairness", &LoadSummary::fairness, "1", "Jain's index over the ranks that send, mean over rounds"),
          field("recovery_s", &LoadSummary::recovery_s, "s",
                "from the end of the load until latency is as alone; null = longer than the test, or not measured"),
      });
}

}  // namespace leadline::bench::congestion

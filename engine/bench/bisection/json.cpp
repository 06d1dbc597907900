// SPDX-License-Identifier: Apache-2.0
// What the JSON document of a bisection test says.
#include "bench/bisection/json.hpp"

#include <tuple>
#include <utility>

#include "bench/bisection/fields.hpp"
#include "bench/bisection/request.hpp"
#include "result/diagnosis_json.hpp"
#include "result/json_parts.hpp"

namespace leadline::bench::bisection {

constexpr const char* about_of(Type<PatternSummary> /*any*/) {
  return "One pattern with one message size. A connection is a rank that sends and the rank it sends to.";
}

constexpr const char* about_of(Type<BaselineSample> /*any*/) {
  return "A pair measured while all others rested, directly behind a pattern in which it was.";
}

constexpr const char* about_of(Type<IntervalOfBandwidth> /*any*/) {
  return "95 % interval of a mean: mean - half-width to mean + half-width.";
}

constexpr const char* about_of(Type<IntervalOfRatio> /*any*/) { return "95 % interval of a ratio of bandwidths."; }

constexpr const char* about_of(Type<BisectionSummary> /*any*/) { return "One message size over its random patterns."; }

constexpr const char* about_of(Type<SlowConnection> /*any*/) {
  return "A connection that was measured again, and what came of that.";
}

constexpr const char* about_of(Type<BisectionResult> /*any*/) {
  return "What leadline bisection writes as JSON, and into /summary of its HDF5 file. Base units only: bytes, "
         "nanoseconds, "
         "seconds, bytes per second. null = not measured.";
}

constexpr auto fields_of(Type<TimeBucket> /*any*/) {
  return std::tuple{
      field("low_ns", &TimeBucket::low_ns, "ns", "from this time of an exchange on"),
      field("high_ns", &TimeBucket::high_ns, "ns", "below this one, which the last bucket includes"),
      field("num", &TimeBucket::num, "1", "so many connections"),
  };
}

constexpr auto fields_of(Type<BisectionSummary> /*any*/) {
  return std::tuple{
      field("size_index", &BisectionSummary::size_index, "", "position in options.message_size_bytes, from 0"),
      field("message_size_bytes", &BisectionSummary::message_size_bytes, "bytes", "size of a message"),
      field("num_patterns", &BisectionSummary::num_patterns, "1", "random patterns measured"),
      field("num_connections", &BisectionSummary::num_connections, "1", "connections in all of them"),
      field("stopped_by", &BisectionSummary::stopped_by, "",
            "why there are no more of them; not_stopped = none were asked for"),
      field("ebb", result::as<IntervalOfBandwidth>(&BisectionSummary::ebb), "",
            "effective bisection bandwidth: the patterns' bytes_per_s_mean"),
      field("full_load", result::as<IntervalOfBandwidth>(&BisectionSummary::full_load), "",
            "the patterns' bytes_per_s_full_load"),
      field("baseline", result::as<IntervalOfBandwidth>(&BisectionSummary::baseline), "", "pairs alone"),
      field("relative", result::as<IntervalOfRatio>(&BisectionSummary::contention_share), "",
            "contention_share under its earlier name; earlier versions: ratio of ebb to baseline"),
      field("static_share", result::as<IntervalOfRatio>(&BisectionSummary::static_share), "",
            "of pairs alone, bandwidth over that of the fastest one", Since::later_version),
      field("contention_share", result::as<IntervalOfRatio>(&BisectionSummary::contention_share), "",
            "bandwidth in the pattern over that alone, of the pairs that were measured alone", Since::later_version),
      field("tail", &BisectionSummary::tail, "",
            "bytes_per_s_median / bytes_per_s_p01: how many times as long the slowest hundredth takes at least",
            Since::later_version),
      field("bytes_per_s_harmonic", &BisectionSummary::bytes_per_s_harmonic, "bytes/s",
            "message size divided by the mean time of all connections: Netgauge's number"),
      field("bytes_per_s_min", &BisectionSummary::bytes_per_s_min, "bytes/s",
            "slowest of all connections of all patterns"),
      field("bytes_per_s_p01", &BisectionSummary::bytes_per_s_p01, "bytes/s", "1 % quantile of them"),
      field("bytes_per_s_p05", &BisectionSummary::bytes_per_s_p05, "bytes/s", "5 % quantile"),
      field("bytes_per_s_median", &BisectionSummary::bytes_per_s_median, "bytes/s", "median"),
      field("bytes_per_s_max", &BisectionSummary::bytes_per_s_max, "bytes/s", "fastest"),
      field("buckets", &BisectionSummary::buckets, "", "how many connections took how long; ascending"),
      field("measuring_s", &BisectionSummary::measuring_s, "s", "time for the size, everything included"),
  };
}

constexpr auto fields_of(Type<SlowConnection> /*any*/) {
  return std::tuple{
      field("size_index", &SlowConnection::size_index, "", "position in options.message_size_bytes, from 0"),
      field("number", &SlowConnection::number, "", "number of the pattern in which it was seen"),
      field("from", result::or_null(&SlowConnection::from), "", "rank that sends"),
      field("to", result::or_null(&SlowConnection::to), "", "rank that receives"),
      field("time_ns", &SlowConnection::time_ns, "ns", "of one exchange, in that pattern"),
      field("alone_time_ns", &SlowConnection::alone_time_ns, "ns", "the same while all others rested"),
      field("slow_alone", &SlowConnection::slow_alone, "",
            "slow compared with the median of all pairs alone, too; false = slow only under load, or not measured "
            "alone"),
  };
}

constexpr auto fields_of(Type<BisectionResult> /*any*/) {
  return std::tuple_cat(
      result::beginning_of_document<"bisection", BisectionResult>(), result::run_fields,
      std::tuple{
          field("pattern_names", &BisectionResult::pattern_names, "",
                "named patterns, in the order asked for: halves, shift:3"),
          field("num_participants", &BisectionResult::num_participants, "1", "ranks that take part in patterns"),
          field("within_hosts", &BisectionResult::within_hosts, "",
                "random pairs may lie on one host: asked for, or there is only one"),
          field("patterns", &BisectionResult::patterns, "", "every pattern, in the order measured"),
          field("baseline", &BisectionResult::baseline, "",
                "pairs measured alone, in the order measured; empty unless asked for"),
          field("sizes", &BisectionResult::sizes, "",
                "one entry for each message size: what its random patterns say together"),
          field("slow_connections", &BisectionResult::slow_connections, "",
                "connections of random patterns that were measured again alone, slowest first, size by size"),
          field("diagnoses", &BisectionResult::diagnoses, "",
                "one entry for each message size with random patterns: who is slow in them", Since::later_version),
          field(
              "faults", [](const BisectionResult& result) { return result::joined_faults(result.diagnoses); }, "",
              result::about_joined_faults, Since::later_version),
      });
}

std::string json_text(const BisectionResult& result) { return result::text_of(result::json_of(result)); }

Json schema() { return result::document_schema<BisectionResult>("bisection-result", "Summary of a bisection test"); }

JsonStore::JsonStore(cluster::Cluster& cluster, BisectionResult so_far, const BisectionFileSetup& setup)
    : RunDocument(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::write(const RankRow& row) {
  add([&](BisectionResult& so_far) {
    so_far.patterns.insert(so_far.patterns.end(), row.patterns.begin(), row.patterns.end());
    so_far.baseline.insert(so_far.baseline.end(), row.baseline.begin(), row.baseline.end());
  });
}

}  // namespace leadline::bench::bisection

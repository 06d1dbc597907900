// SPDX-License-Identifier: Apache-2.0
// What the JSON document of a link test says.
#include "result/json.hpp"

#include <array>
#include <optional>
#include <tuple>

#include "bench/link/options.hpp"
#include "result/diagnosis_json.hpp"
#include "result/json_parts.hpp"
#include "result/slice_facts.hpp"

namespace leadline::result {
namespace {

/// What turns times into bandwidths.
struct Messages {
  std::uint64_t size_bytes = 0;
  Direction direction = Direction::semidirectional;

  double bandwidth(double time_ns) const { return bandwidth_bytes_per_s(time_ns, size_bytes, direction); }
};

/// A class of pairs.
struct ClassOfPairs : PairSummary {
  Messages messages;

  double bandwidth(double PairSummary::*time) const { return messages.bandwidth(this->*time); }
};

constexpr auto bandwidth_at(double PairSummary::*time) {
  return [time](const ClassOfPairs& pairs) { return pairs.bandwidth(time); };
}

struct SpreadOfTimes : Spread {};
struct SpreadOfBandwidths : Spread {};

template <typename Kind>
std::optional<Kind> if_measured(const Spread& spread) {
  return spread.num > 0 ? std::optional(Kind{spread}) : std::nullopt;
}

template <Spread AllToAllSummary::*member>
std::optional<SpreadOfTimes> spread_of(const AllToAllSummary& summary) {
  return if_measured<SpreadOfTimes>(summary.*member);
}

struct SlowPairOfSlice : SlowPairDetails {
  Messages messages;
};

struct SliceOfResult {
  const LinkResult* result;
  std::size_t index;

  const SliceSummary& summary() const { return result->slices[index]; }
  Messages messages() const { return {summary().slice.message_size_bytes, result->request.direction}; }
};

template <PairSummary SliceSummary::*member>
ClassOfPairs pairs_of(const SliceOfResult& slice) {
  return {slice.summary().*member, slice.messages()};
}

std::optional<AllToAllSummary> all_to_all_of(const SliceOfResult& slice) {
  const AllToAllSummary& summary = slice.summary().all_to_all;
  const bool is_measured = summary.before.num + summary.after.num + summary.each_round.num > 0;
  return is_measured ? std::optional(summary) : std::nullopt;
}

std::vector<SlowPairOfSlice> slowest_of(const SliceOfResult& slice) {
  std::vector<SlowPairOfSlice> all;
  for (const auto& details : slow_pairs_of(*slice.result, slice.index)) all.push_back({details, slice.messages()});
  return all;
}

std::vector<SliceOfResult> slices_of(const LinkResult& result) {
  std::vector<SliceOfResult> all;
  for (std::size_t index = 0; index < result.slices.size(); ++index) all.push_back({&result, index});
  return all;
}

}  // namespace

template <>
inline constexpr const char* about<ClassOfPairs> = "Distribution of the medians of a class of ordered pairs.";

template <>
inline constexpr const char* about<SpreadOfTimes> =
    "Time of an exchange of a rank with all others, each rank's median, over the ranks; null = not measured.";

template <>
inline constexpr const char* about<LinkResult> =
    "What leadline link writes as JSON, and into /summary of its HDF5 file. Base units only: bytes, nanoseconds, "
    "seconds, bytes per second. null = not measured.";

}  // namespace leadline::result

namespace leadline {

template <>
inline constexpr auto fields<result::ClassOfPairs> = std::tuple_cat(fields<PairSummary>, std::tuple{
    field(
        "median_interval_ns",
        [](const result::ClassOfPairs& pairs) {
          return std::array{pairs.median_interval_low_ns, pairs.median_interval_high_ns};
        },
        "ns", "95 % interval of the median: low, high"),
    field("bandwidth_bytes_per_s_min", result::bandwidth_at(&PairSummary::time_ns_max), "bytes/s",
          "of the slowest pair"),
    field("bandwidth_bytes_per_s_median", result::bandwidth_at(&PairSummary::time_ns_median), "bytes/s",
          "at the median time"),
    field("bandwidth_bytes_per_s_max", result::bandwidth_at(&PairSummary::time_ns_min), "bytes/s",
          "of the fastest pair"),
    field("bandwidth_bytes_per_s_at_mean_time", result::bandwidth_at(&PairSummary::time_ns_mean), "bytes/s",
          "at the mean time: a harmonic mean"),
    field(
        "median_interval_bytes_per_s",
        [](const result::ClassOfPairs& pairs) {
          return std::array{pairs.bandwidth(&PairSummary::median_interval_high_ns),
                            pairs.bandwidth(&PairSummary::median_interval_low_ns)};
        },
        "bytes/s", "the interval of the median as bandwidths: low, high"),
});

template <>
inline constexpr auto fields<result::SpreadOfTimes> = std::tuple{
    field("num", &Spread::num, "1", "values: ranks, or ranks times rounds"),
    field("time_ns_min", &Spread::min, "ns", "least"),
    field("time_ns_mean", &Spread::mean, "ns", "mean"),
    field("time_ns_max", &Spread::max, "ns", "greatest"),
};

template <>
inline constexpr auto fields<result::SpreadOfBandwidths> = std::tuple{
    field("num", &Spread::num, "1", "rounds"),
    field("bandwidth_bytes_per_s_min", &Spread::min, "bytes/s", "least"),
    field("bandwidth_bytes_per_s_mean", &Spread::mean, "bytes/s", "mean"),
    field("bandwidth_bytes_per_s_max", &Spread::max, "bytes/s", "greatest"),
};

template <>
inline constexpr auto fields<AllToAllSummary> = std::tuple{
    field("message_size_bytes", &AllToAllSummary::message_size_bytes, "bytes", "size of each message"),
    field("before", result::spread_of<&AllToAllSummary::before>, "", "before the rounds"),
    field("after", result::spread_of<&AllToAllSummary::after>, "", "after the rounds"),
    field("each_round", result::spread_of<&AllToAllSummary::each_round>, "",
          "before each round, over ranks and rounds"),
};

template <>
inline constexpr auto fields<result::SlowPairOfSlice> = std::tuple{
    field("from", result::through(&result::SlowPairDetails::pair, &SlowPair::from), "", "rank that measured"),
    field("to", result::through(&result::SlowPairDetails::pair, &SlowPair::to), "", "its partner"),
    field("from_host", &result::SlowPairDetails::from_host, "", "host of the one; empty = unknown"),
    field("to_host", &result::SlowPairDetails::to_host, "", "host of the other; empty = unknown"),
    field("time_ns", result::through(&result::SlowPairDetails::pair, &SlowPair::time_ns), "ns",
          "median under load, in the main test"),
    field(
        "bandwidth_bytes_per_s",
        [](const result::SlowPairOfSlice& slow) { return slow.messages.bandwidth(slow.pair.time_ns); }, "bytes/s",
        "at that time"),
    field("retest_time_ns",
          result::through(&result::SlowPairDetails::pair, result::positive_or_null(&SlowPair::retest_time_ns)), "ns",
          "median alone; null = not retested"),
    field(
        "retest_bandwidth_bytes_per_s",
        [](const result::SlowPairOfSlice& slow) { return slow.messages.bandwidth(slow.pair.retest_time_ns); },
        "bytes/s", "at that time"),
    field("company_to_alone_ratio", &result::SlowPairDetails::ratio, "",
          "ratio of time_ns to retest_time_ns; above 1 = slower under load"),
    field("verdict", &result::SlowPairDetails::verdict, "",
          "slow = at least 1.5 times the median of the class (same host, between hosts)"),
};

template <>
inline constexpr auto fields<Slice> = std::tuple{
    field("repeat", &Slice::repeat, "", "repeat, from 0"),
    field("permutation", result::or_null(&Slice::permutation), "",
          "permutation of the ranks, from 0; null = ranks as they are"),
    field("size_index", &Slice::size_index, "", "position in options.message_size_bytes, from 0"),
    field("message_size_bytes", &Slice::message_size_bytes, "bytes", "size of a message"),
};

template <>
inline constexpr auto
    fields<result::
               SliceOfResult> = std::tuple_cat(result::fields_through<Slice>(result::through(&result::SliceOfResult::summary, &SliceSummary::slice)), std::
                                                                                                                                                          tuple{
                                                                                                                                                              field("all",
                                                                                                                                                                    result::pairs_of<&SliceSummary::
                                                                                                                                                                                         all>,
                                                                                                                                                                    "",
                                                                                                                                                                    "all pairs"),
                                                                                                                                                              field(
                                                                                                                                                                  "same_host",
                                                                                                                                                                  result::pairs_of<&SliceSummary::same_host>,
                                                                                                                                                                  "",
                                                                                                                                                                  "pairs on one host"),
                                                                                                                                                              field(
                                                                                                                                                                  "between_hosts",
                                                                                                                                                                  result::pairs_of<&SliceSummary::between_hosts>,
                                                                                                                                                                  "",
                                                                                                                                                                  "pairs on two hosts"),
                                                                                                                                                              field(
                                                                                                                                                                  "all_to_all",
                                                                                                                                                                  result::all_to_all_of,
                                                                                                                                                                  "",
                                                                                                                                                                  "exchanges of all ranks with all others; null = none"),
                                                                                                                                                              field(
                                                                                                                                                                  "bisection",
                                                                                                                                                                  [](const result::
                                                                                                                                                                         SliceOfResult&
                                                                                                                                                                             slice) {
                                                                                                                                                                    return result::if_measured<
                                                                                                                                                                        result::
                                                                                                                                                                            SpreadOfBandwidths>(
                                                                                                                                                                        slice
                                                                                                                                                                            .summary()
                                                                                                                                                                            .bisection_bytes_per_s);
                                                                                                                                                                  },
                                                                                                                                                                  "",
                                                                                                                                                                  "bandwidth across the cut, over the rounds; null = no bisection"),
                                                                                                                                                              field(
                                                                                                                                                                  "slowest_pairs",
                                                                                                                                                                  result::
                                                                                                                                                                      slowest_of,
                                                                                                                                                                  "",
                                                                                                                                                                  "slowest first"),
                                                                                                                                                              field(
                                                                                                                                                                  "diagnosis", result::through(&result::SliceOfResult::summary, &SliceSummary::diagnosis),
                                                                                                                                                                  "",
                                                                                                                                                                  "what stands out in this slice; null = none was asked for"),
                                                                                                                                                              field(
                                                                                                                                                                  "measuring_s",
                                                                                                                                                                  result::
                                                                                                                                                                      through(
                                                                                                                                                                          &result::
                                                                                                                                                                              SliceOfResult::
                                                                                                                                                                                  summary,
                                                                                                                                                                          &SliceSummary::measuring_s),
                                                                                                                                                                  "s",
                                                                                                                                                                  "time for rounds, barriers, retest and file"),
                                                                                                                                                              field("slowest_pairs_s",
                                                                                                                                                                    result::through(
                                                                                                                                                                        &result::
                                                                                                                                                                            SliceOfResult::
                                                                                                                                                                                summary,
                                                                                                                                                                        &SliceSummary::slowest_pairs_s),
                                                                                                                                                                    "s",
                                                                                                                                                                    "time in the loops of each round's slowest pair, summed over the rounds"),
                                                                                                                                                              field(
                                                                                                                                                                  "retest_s",
                                                                                                                                                                  result::through(
                                                                                                                                                                      &result::
                                                                                                                                                                          SliceOfResult::
                                                                                                                                                                              summary,
                                                                                                                                                                      &SliceSummary::retest_s),
                                                                                                                                                                  "s",
                                                                                                                                                                  "time for the retest, part of measuring_s"),
                                                                                                                                                              field(
                                                                                                                                                                  "diagnosis_s",
                                                                                                                                                                  result::as<
                                                                                                                                                                      result::
                                                                                                                                                                          KnownNumber>(
                                                                                                                                                                      result::through(
                                                                                                                                                                          &result::
                                                                                                                                                                              SliceOfResult::summary,
                                                                                                                                                                          &SliceSummary::
                                                                                                                                                                              diagnosis_s)),
                                                                                                                                                                  "s",
                                                                                                                                                                  "time that the diagnosis took, suspects measured again included; beside measuring_s"),
                                                                                                                                                          });

template <>
inline constexpr auto fields<LinkResult> = std::tuple_cat(
    result::beginning_of_document<"link", bench::link::declare_options, LinkResult>(),
    std::tuple{field("num_rounds", &LinkResult::num_rounds, "1", "rounds of one slice")}, result::run_fields,
    std::tuple{
        field("slices", result::slices_of, "", "one entry for each message size in each repeat, in the order measured"),
    });

}  // namespace leadline

namespace leadline::result {

std::string json_text(const LinkResult& result) { return text_of(json_of(result)); }

Json link_schema() { return document_schema<LinkResult>("link-result", "Summary of a link test"); }

JsonStore::JsonStore(cluster::Cluster& cluster, LinkResult so_far, const LinkResultFileSetup& setup)
    : RunDocument(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::close_slice(const SliceSummary& summary) {
  add([&](LinkResult& so_far) { so_far.slices.push_back(summary); });
}

}  // namespace leadline::result

// SPDX-License-Identifier: Apache-2.0
// What the JSON document of a link test says.
#include "bench/link/json.hpp"

#include <array>
#include <optional>
#include <tuple>

#include "bench/link/request.hpp"
#include "bench/link/slice_facts.hpp"
#include "result/diagnosis_json.hpp"
#include "result/json_parts.hpp"

namespace leadline::bench::link {

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

struct SpreadOfTimes : Spread {};
struct SpreadOfMeans : Spread {};
struct SpreadOfBandwidths : Spread {};

struct SlowPairOfSlice : SlowPairDetails {
  Messages messages;
};

struct SliceOfResult {
  const LinkResult* result;
  std::size_t index;

  const SliceSummary& summary() const { return result->slices[index]; }
  Messages messages() const { return {summary().slice.message_size_bytes, result->request.direction}; }
};

namespace {

constexpr auto bandwidth_at(double PairSummary::*time) {
  return [time](const ClassOfPairs& pairs) { return pairs.bandwidth(time); };
}

template <typename Kind>
std::optional<Kind> if_measured(const Spread& spread) {
  return spread.num > 0 ? std::optional(Kind{spread}) : std::nullopt;
}

template <Spread AllToAllSummary::*member>
std::optional<SpreadOfTimes> measured_spread(const AllToAllSummary& summary) {
  return if_measured<SpreadOfTimes>(summary.*member);
}

template <auto member>
constexpr auto of_summary = result::through(&SliceOfResult::summary, member);

template <PairSummary SliceSummary::*member>
ClassOfPairs pairs_of(const SliceOfResult& slice) {
  return {slice.summary().*member, slice.messages()};
}

std::optional<AllToAllSummary> all_to_all_of(const SliceOfResult& slice) {
  const AllToAllSummary& summary = slice.summary().all_to_all;
  const bool is_measured = summary.before.num + summary.after.num + summary.each_round.num > 0;
  return is_measured ? std::optional(summary) : std::nullopt;
}

std::optional<SpreadOfBandwidths> bisection_of(const SliceOfResult& slice) {
  return if_measured<SpreadOfBandwidths>(slice.summary().bisection_bytes_per_s);
}

std::optional<SpreadOfMeans> means_of(const SliceOfResult& slice) {
  return if_measured<SpreadOfMeans>(slice.summary().mean_time_ns);
}

std::optional<SpreadOfMeans> received_of(const SliceOfResult& slice) {
  return if_measured<SpreadOfMeans>(slice.summary().received_mean_time_ns);
}

std::vector<SlowPairOfSlice> slowest_of(const SliceOfResult& slice) {
  std::vector<SlowPairOfSlice> all;
  for (const auto& details : slow_pairs_of(*slice.result, slice.index)) all.push_back({details, slice.messages()});
  return all;
}

std::vector<result::JoinedFault> faults_of_slices(const LinkResult& result) {
  return result::joined_faults(diagnosed_slices(result));
}

std::vector<SliceOfResult> described_slices(const LinkResult& result) {
  std::vector<SliceOfResult> all;
  for (std::size_t index = 0; index < result.slices.size(); ++index) all.push_back({&result, index});
  return all;
}

}  // namespace

constexpr const char* about_of(Type<ClassOfPairs> /*any*/) {
  return "Distribution of the medians of a class of ordered pairs.";
}

constexpr const char* about_of(Type<SpreadOfTimes> /*any*/) {
  return "Time of an exchange of a rank with all others, each rank's median, over the ranks; null = not measured.";
}

constexpr const char* about_of(Type<SpreadOfMeans> /*any*/) {
  return "Time of a message, of each ordered pair the mean over all its messages, over the pairs.";
}

constexpr const char* about_of(Type<LinkResult> /*any*/) {
  return "What leadline link writes as JSON, and into /summary of its HDF5 file. Base units only: bytes, nanoseconds, "
         "seconds, bytes per second. null = not measured.";
}

constexpr auto fields_of(Type<ClassOfPairs> /*any*/) {
  return std::tuple_cat(
      fields<PairSummary>,
      std::tuple{
          field(
              "median_interval_ns",
              [](const ClassOfPairs& pairs) {
                return std::array{pairs.median_interval_low_ns, pairs.median_interval_high_ns};
              },
              "ns", "95 % interval of the median: low, high"),
          field("bandwidth_bytes_per_s_min", bandwidth_at(&PairSummary::time_ns_max), "bytes/s", "of the slowest pair"),
          field("bandwidth_bytes_per_s_median", bandwidth_at(&PairSummary::time_ns_median), "bytes/s",
                "at the median time"),
          field("bandwidth_bytes_per_s_max", bandwidth_at(&PairSummary::time_ns_min), "bytes/s", "of the fastest pair"),
          field("bandwidth_bytes_per_s_at_mean_time", bandwidth_at(&PairSummary::time_ns_mean), "bytes/s",
                "at the mean time: a harmonic mean"),
          field(
              "median_interval_bytes_per_s",
              [](const ClassOfPairs& pairs) {
                return std::array{pairs.bandwidth(&PairSummary::median_interval_high_ns),
                                  pairs.bandwidth(&PairSummary::median_interval_low_ns)};
              },
              "bytes/s", "the interval of the median as bandwidths: low, high"),
      });
}

constexpr auto fields_of(Type<SpreadOfTimes> /*any*/) {
  return std::tuple{
      field("num", &Spread::num, "1", "values: ranks, or ranks times rounds"),
      field("time_ns_min", &Spread::min, "ns", "least"),
      field("time_ns_mean", &Spread::mean, "ns", "mean"),
      field("time_ns_max", &Spread::max, "ns", "greatest"),
  };
}

constexpr auto fields_of(Type<SpreadOfMeans> /*any*/) {
  return std::tuple{
      field("num", &Spread::num, "1", "ordered pairs"),
      field("time_ns_min", &Spread::min, "ns", "least"),
      field("time_ns_mean", &Spread::mean, "ns", "mean: what the benchmark that --like names reports of two ranks"),
      field("time_ns_max", &Spread::max, "ns", "greatest"),
  };
}

constexpr auto fields_of(Type<SpreadOfBandwidths> /*any*/) {
  return std::tuple{
      field("num", &Spread::num, "1", "rounds"),
      field("bandwidth_bytes_per_s_min", &Spread::min, "bytes/s", "least"),
      field("bandwidth_bytes_per_s_mean", &Spread::mean, "bytes/s", "mean"),
      field("bandwidth_bytes_per_s_max", &Spread::max, "bytes/s", "greatest"),
  };
}

constexpr auto fields_of(Type<AllToAllSummary> /*any*/) {
  return std::tuple{
      field("message_size_bytes", &AllToAllSummary::message_size_bytes, "bytes", "size of each message"),
      field("before", measured_spread<&AllToAllSummary::before>, "", "before the rounds"),
      field("after", measured_spread<&AllToAllSummary::after>, "", "after the rounds"),
      field("each_round", measured_spread<&AllToAllSummary::each_round>, "",
            "before each round, over ranks and rounds"),
  };
}

constexpr auto fields_of(Type<SlowPairOfSlice> /*any*/) {
  return std::tuple{
      field("from", result::through(&SlowPairDetails::pair, &SlowPair::from), "", "rank that measured"),
      field("to", result::through(&SlowPairDetails::pair, &SlowPair::to), "", "its partner"),
      field("from_host", &SlowPairDetails::from_host, "", "host of the one; empty = unknown"),
      field("to_host", &SlowPairDetails::to_host, "", "host of the other; empty = unknown"),
      field("time_ns", result::through(&SlowPairDetails::pair, &SlowPair::time_ns), "ns",
            "median under load, in the main test"),
      field(
          "bandwidth_bytes_per_s",
          [](const SlowPairOfSlice& slow) { return slow.messages.bandwidth(slow.pair.time_ns); }, "bytes/s",
          "at that time"),
      field("retest_time_ns",
            result::through(&SlowPairDetails::pair, result::positive_or_null(&SlowPair::retest_time_ns)), "ns",
            "median alone; null = not retested"),
      field(
          "retest_bandwidth_bytes_per_s",
          [](const SlowPairOfSlice& slow) { return slow.messages.bandwidth(slow.pair.retest_time_ns); }, "bytes/s",
          "at that time"),
      field("company_to_alone_ratio", &SlowPairDetails::ratio, "",
            "ratio of time_ns to retest_time_ns; above 1 = slower under load"),
      field("verdict", &SlowPairDetails::verdict, "",
            "slow = at least 1.5 times the median of the class (same host, between hosts)"),
  };
}

constexpr auto fields_of(Type<Slice> /*any*/) {
  return std::tuple{
      field("repeat", &Slice::repeat, "", "repeat, from 0"),
      field("permutation", result::or_null(&Slice::permutation), "",
            "permutation of the ranks, from 0; null = ranks as they are"),
      field("size_index", &Slice::size_index, "", "position in options.message_size_bytes, from 0"),
      field("message_size_bytes", &Slice::message_size_bytes, "bytes", "size of a message"),
  };
}

constexpr auto fields_of(Type<SliceOfResult> /*any*/) {
  return std::tuple_cat(
      result::fields_through<Slice>(of_summary<&SliceSummary::slice>),
      std::tuple{
          field("all", pairs_of<&SliceSummary::all>, "", "all pairs"),
          field("same_host", pairs_of<&SliceSummary::same_host>, "", "pairs on one host"),
          field("between_hosts", pairs_of<&SliceSummary::between_hosts>, "", "pairs on two hosts"),
          field("all_to_all", all_to_all_of, "", "exchanges of all ranks with all others; null = none"),
          field("bisection", bisection_of, "", "bandwidth across the cut, over the rounds; null = no bisection"),
          field("means", means_of, "", "means of the pairs, as --like wants them; null = no --like",
                Since::later_version),
          field("received", received_of, "",
                "--shift: means of the pairs by the clocks of those who receive; null = no shift",
                Since::later_version),
          field("slowest_pairs", slowest_of, "", "slowest first"),
          field("diagnosis", of_summary<&SliceSummary::diagnosis>, "",
                "what stands out in this slice; null = none was asked for"),
          field("measuring_s", of_summary<&SliceSummary::measuring_s>, "s",
                "time for rounds, barriers, retest and file"),
          field("slowest_pairs_s", of_summary<&SliceSummary::slowest_pairs_s>, "s",
                "time in the loops of each round's slowest pair, summed over the rounds"),
          field("retest_s", of_summary<&SliceSummary::retest_s>, "s", "time for the retest, part of measuring_s"),
          field("diagnosis_s", result::as<result::KnownNumber>(of_summary<&SliceSummary::diagnosis_s>), "s",
                "time that the diagnosis took, suspects measured again included; beside measuring_s"),
      });
}

constexpr auto fields_of(Type<LinkResult> /*any*/) {
  return std::tuple_cat(result::beginning_of_document<"link", LinkResult>(),
                        std::tuple{field("num_rounds", &LinkResult::num_rounds, "1", "rounds of one slice")},
                        result::run_fields,
                        std::tuple{
                            field("slices", described_slices, "",
                                  "one entry for each message size in each repeat, in the order measured"),
                            field("faults", faults_of_slices, "", result::about_joined_faults, Since::later_version),
                        });
}

std::string json_text(const LinkResult& result) { return result::text_of(result::json_of(result)); }

Json schema() { return result::document_schema<LinkResult>("link-result", "Summary of a link test"); }

JsonStore::JsonStore(cluster::Cluster& cluster, LinkResult so_far, const LinkFileSetup& setup)
    : RunDocument(cluster, std::move(so_far), setup.path, setup.existing, json_text) {}

void JsonStore::close_slice(const SliceSummary& summary) {
  add([&](LinkResult& so_far) { so_far.slices.push_back(summary); });
}

}  // namespace leadline::bench::link

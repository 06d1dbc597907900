// SPDX-License-Identifier: Apache-2.0
// Looks a slice up in the summary, or counts its rows.
#include "bench/link/slice_facts.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <vector>

#include "result/described_json.hpp"
#include "stats/summary.hpp"

namespace leadline::bench::link {
namespace {

std::optional<PairSummary> from_summary(const Header& header, std::int32_t repeat, std::size_t size_index) {
  if (!header.summary) return std::nullopt;
  try {
    const auto summary = Json::parse(*header.summary);
    for (const Json& slice : summary.at("slices").elements()) {
      if (slice.at("repeat").get<std::int32_t>() != repeat || slice.at("size_index").get<std::size_t>() != size_index)
        continue;
      PairSummary pairs;
      result::read_json(slice.at("all"), pairs);
      return pairs;
    }
  } catch (const JsonError&) {
    // A summary of another kind says nothing; the rows do.
  }
  return std::nullopt;
}

/// The times of a slice, one pass after the other.
class Times {
 public:
  Times(ResultReader& reader, std::size_t repeat_index, std::size_t size_index)
      : reader_(reader), repeat_index_(repeat_index), size_index_(size_index) {}

  template <typename Visit>
  void each(const Visit& visit) {
    for (std::int64_t rank = 0; rank < reader_.header().num_ranks; ++rank) {
      const MeasuredTimes row = reader_.measured_ns(repeat_index_, size_index_, rank, &PairRecord::time_ns_median);
      for (const double time_ns : row.times_ns) visit(time_ns);
    }
  }

  /// The times that have `index` smaller ones (ties aside), for each index. Bits of doubles that are not negative order
  /// as the doubles do, so that sixteen of them a pass lead to it.
  std::vector<double> at_indices(const std::vector<std::uint64_t>& indices) {
    constexpr int bits_a_pass = 16, num_bits = 64;
    struct Search {
      std::uint64_t index = 0, known = 0;
      std::vector<std::uint64_t> num_with;
    };
    std::vector<Search> searches;
    for (const std::uint64_t index : indices) searches.push_back({index, 0, {}});
    for (int left = num_bits - bits_a_pass; left >= 0; left -= bits_a_pass) {
      for (Search& search : searches) search.num_with.assign(std::size_t{1} << bits_a_pass, 0);
      each([&](double time) {
        const auto bits = std::bit_cast<std::uint64_t>(time);
        for (Search& search : searches) {
          const bool is_candidate = left + bits_a_pass == num_bits || bits >> (left + bits_a_pass) == search.known;
          if (is_candidate) ++search.num_with[(bits >> left) & (search.num_with.size() - 1)];
        }
      });
      for (Search& search : searches) {
        std::uint64_t digit = 0;
        while (digit + 1 < search.num_with.size() && search.index >= search.num_with[digit]) {
          search.index -= search.num_with[digit++];
        }
        search.known = (search.known << bits_a_pass) | digit;
      }
    }
    std::vector<double> found;
    for (const Search& search : searches) found.push_back(std::bit_cast<double>(search.known));
    return found;
  }

 private:
  ResultReader& reader_;
  std::size_t repeat_index_, size_index_;
};

Verdict verdict_on(const SlowPair& pair, double usual_ns) {
  if (!(pair.retest_time_ns > 0)) return Verdict::not_retested;
  const double slow_ns = slow_factor * usual_ns;
  if (!(pair.time_ns >= slow_ns)) return Verdict::not_slow;
  const bool is_faster_alone = pair.retest_time_ns < slow_ns && pair.time_ns >= load_factor * pair.retest_time_ns;
  return is_faster_alone ? Verdict::only_under_load : Verdict::slow_alone_too;
}

/// The median of the pairs that this one compares with.
double usual_ns(const SliceSummary& summary, const SlowPairDetails& details) {
  const PairSummary& own_class = details.from_host == details.to_host ? summary.same_host : summary.between_hosts;
  return own_class.num_pairs > 0 ? own_class.time_ns_median : summary.all.time_ns_median;
}

}  // namespace

PairSummary slice_facts(ResultReader& reader, std::size_t repeat_index, std::size_t size_index) {
  const Header& header = reader.header();
  if (const auto known = from_summary(header, header.repeats.at(repeat_index).repeat, size_index)) return *known;

  Times times(reader, repeat_index, size_index);
  PairSummary facts;
  double sum = 0;
  times.each([&](double time) {
    facts.time_ns_min = facts.num_pairs == 0 ? time : std::min(facts.time_ns_min, time);
    facts.time_ns_max = facts.num_pairs == 0 ? time : std::max(facts.time_ns_max, time);
    sum += time;
    ++facts.num_pairs;
  });
  if (facts.num_pairs == 0) return facts;
  facts.time_ns_mean = sum / static_cast<double>(facts.num_pairs);
  std::vector<std::uint64_t> indices;
  for (const PairQuantile& one : pair_quantiles) {
    const stats::QuantilePosition position = stats::quantile_position(facts.num_pairs, one.q);
    indices.insert(indices.end(), {position.low, position.high});
  }
  const std::vector<double> found = times.at_indices(indices);
  for (std::size_t i = 0; i < pair_quantiles.size(); ++i) {
    const double fraction = stats::quantile_position(facts.num_pairs, pair_quantiles[i].q).fraction;
    facts.*pair_quantiles[i].time_ns = found[2 * i] + (found[2 * i + 1] - found[2 * i]) * fraction;
  }
  return facts;
}

constexpr Named<Verdict> verdict_names[] = {
    {Verdict::not_retested, "not_retested"},
    {Verdict::not_slow, "not_slow"},
    {Verdict::slow_alone_too, "slow_alone_too"},
    {Verdict::only_under_load, "only_under_load"},
};

std::span<const Named<Verdict>> names_of(Verdict /*any*/) { return verdict_names; }

const char* name_of(Verdict verdict) { return name_in(verdict_names, verdict); }

std::vector<DiagnosedSlice> diagnosed_slices(const LinkResult& result) {
  std::vector<DiagnosedSlice> all;
  for (const SliceSummary& summary : result.slices) {
    const Slice& slice = summary.slice;
    if (!summary.diagnosis) continue;
    all.push_back({slice.repeat, slice.size_index, slice.message_size_bytes, "", *summary.diagnosis});
  }
  return all;
}

std::vector<SlowPairDetails> slow_pairs_of(const LinkResult& result, std::size_t slice_index) {
  std::size_t host_index = 0;
  for (std::size_t before = 0; before < slice_index; ++before) host_index += 2 * result.slices[before].slowest.size();

  const SliceSummary& summary = result.slices[slice_index];
  std::vector<SlowPairDetails> all;
  for (const SlowPair& pair : summary.slowest) {
    SlowPairDetails details;
    details.pair = pair;
    if (host_index + 1 < result.slow_pair_hosts.size()) {
      details.from_host = result.slow_pair_hosts[host_index];
      details.to_host = result.slow_pair_hosts[host_index + 1];
    }
    host_index += 2;
    const bool is_retested = pair.retest_time_ns > 0;
    details.ratio = is_retested ? pair.time_ns / pair.retest_time_ns : std::numeric_limits<double>::quiet_NaN();
    details.verdict = verdict_on(pair, usual_ns(summary, details));
    all.push_back(details);
  }
  return all;
}

}  // namespace leadline::bench::link

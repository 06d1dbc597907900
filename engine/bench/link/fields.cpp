// SPDX-License-Identifier: Apache-2.0
// The header of a link test that is being made.
#include "bench/link/fields.hpp"

#include <algorithm>
#include <utility>

#include "bench/link/request.hpp"
#include "bench/run_options.hpp"

namespace leadline::bench::link {

Header header_of(const LinkResult& so_far, const std::string& nonce) {
  Header header;
  result::describe_run(header, so_far.request, options_of(so_far.request), so_far.provenance);
  header.nonce = nonce;
  header.is_compact = so_far.request.statistics == PairStatistics::compact;
  if (header.is_compact) header.format_version = result::compact_format_version;
  header.provenance.emplace_back("num_rounds", so_far.num_rounds);
  header.provenance.emplace_back("direction", std::string(name_of(so_far.request.direction)));
  header.num_permutations = so_far.request.shuffle_ranks;
  header.num_all_to_all_slots = num_all_to_all_slots(so_far, header.num_ranks);
  return header;
}

void store_rounds(Header& header, StoredRounds rounds) {
  header.stored_rounds = std::move(rounds);
  header.format_version = result::rounds_format_version;
}

std::int64_t num_rounds_stored(const Header& header) {
  std::int64_t num = header.stored_rounds->sample.num_rounds;
  for (const auto& [name, value] : header.provenance) {
    const auto* const run = std::get_if<std::int64_t>(&value);
    if (name == "num_rounds" && run != nullptr) num = std::clamp<std::int64_t>(*run, 0, num);
  }
  return num;
}

std::vector<Retest> retests_of(const LinkResult& result) {
  std::vector<Retest> retests;
  for (const SliceSummary& summary : result.slices) {
    for (const SlowPair& pair : summary.slowest) {
      retests.push_back({summary.slice.repeat, summary.slice.size_index, static_cast<std::int32_t>(pair.from),
                         static_cast<std::int32_t>(pair.to), pair.time_ns, pair.retest_time_ns});
    }
  }
  return retests;
}

std::vector<MeasuredAgain> second_measurements_of(const LinkResult& result) {
  std::vector<MeasuredAgain> all;
  for (const SliceSummary& summary : result.slices) {
    for (const SecondMeasurement& one : summary.second_measurements) {
      all.push_back({summary.slice.repeat, summary.slice.size_index, static_cast<std::int32_t>(one.from),
                     static_cast<std::int32_t>(one.to), one.is_alone ? 1 : 0, one.time_ns_median, one.time_ns_mean});
    }
  }
  return all;
}

std::int64_t num_all_to_all_slots(const LinkResult& so_far, std::int64_t num_ranks) {
  if (so_far.request.all_to_all != AllToAll::before_each_round) return 0;
  std::int64_t last = so_far.num_rounds;
  for (const std::int64_t round : so_far.request.only_rounds) last = std::max(last, round);
  return std::min(last, 2 * num_ranks);
}

}  // namespace leadline::bench::link

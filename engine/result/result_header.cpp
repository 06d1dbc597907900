// SPDX-License-Identifier: Apache-2.0
// The header of a result that is being made.
#include "result/result_header.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace leadline::result {

namespace {

std::vector<std::pair<std::string, HeaderValue>> provenance_of(const LinkResult& so_far) {
  const Provenance& from = so_far.provenance;
  const nlohmann::json command_line = so_far.request.command_line;
  const auto integer = [](auto value) { return static_cast<std::int64_t>(value); };
  return {
      {"version", from.version},
      {"commit", from.commit},
      {"command_line", command_line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)},
      {"start_utc", from.start_utc},
      {"launcher", from.launcher},
      {"kernel", from.kernel},
      {"transport", from.transport.name},
      {"transport_library", from.transport.library},
      {"transport_device", from.transport.device},
      {"simulated", integer(from.transport.simulated)},
      {"clock_source", from.clock.source},
      {"clock_resolution_ns", from.clock.resolution_ns},
      {"clock_cost_ns", from.clock.cost_ns},
      {"wait", std::string(name_of(from.wait))},
      {"control_plane_on_loopback", integer(from.control_plane_on_loopback)},
      {"num_ranks", integer(from.num_ranks)},
      {"num_hosts", integer(from.num_hosts)},
      {"num_rounds", integer(so_far.num_rounds)},
      {"direction", std::string(name_of(so_far.request.direction))},
  };
}

}  // namespace

ResultHeader header_of(const LinkResult& so_far, const std::string& nonce) {
  ResultHeader header;
  header.nonce = nonce;
  header.num_ranks = so_far.provenance.num_ranks;
  header.provenance = provenance_of(so_far);
  header.options = options_as_text(so_far.request);
  header.message_sizes_bytes = so_far.request.message_sizes_bytes;
  header.num_permutations = so_far.request.shuffle_ranks;
  header.num_all_to_all_slots = num_all_to_all_slots(so_far, header.num_ranks);
  header.incomplete_reason = reason_from_the_start;
  return header;
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

std::string provenance_text(const ResultHeader& header, const std::string& name) {
  for (const auto& [its, value] : header.provenance) {
    if (its == name && std::holds_alternative<std::string>(value)) return std::get<std::string>(value);
  }
  return "";
}

std::string option_text(const ResultHeader& header, const std::string& name) {
  for (const auto& [its, value] : header.options) {
    if (its == name) return value;
  }
  return "";
}

std::int64_t num_all_to_all_slots(const LinkResult& so_far, std::int64_t num_ranks) {
  if (so_far.request.all_to_all != AllToAll::before_each_round) return 0;
  std::int64_t last = so_far.num_rounds;
  for (const std::int64_t round : so_far.request.rounds) last = std::max(last, round);
  return std::min(last, 2 * num_ranks);
}

}  // namespace leadline::result

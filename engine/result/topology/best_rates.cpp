// SPDX-License-Identifier: Apache-2.0
// Looks for the highest rates in a summary that is not trusted.
#include "result/topology/best_rates.hpp"

#include "core/json.hpp"
#include "result/link_result_reader.hpp"

namespace leadline::result::topology {

namespace {

/// Null where it was not measured.
const Json& total_of(const Json& place) {
  return place.find("exchange") != nullptr ? place.at("exchange").at("at_median").at("total_bytes_per_s")
                                           : place.at("total_bytes_per_s");
}

void take_best(const Json& places, const Header& header, std::vector<std::optional<BestRates>>& best) {
  for (const Json& place : places.elements()) {
    if (total_of(place).is_null()) continue;
    const auto total = total_of(place).get<double>();
    const auto index = place.at("topology_index").get<std::size_t>();
    std::optional<BestRates>& its = best.at(index);
    if (its && its->rates.total >= total) continue;
    const KeptTopology& topology = header.topologies[index];
    const double average = total / static_cast<double>(topology.num_channels);
    its = BestRates{place.at("message_size_bytes").get<std::uint64_t>(),
                    place.at("repeat").get<std::int64_t>(),
                    {.local = average * topology.max_channels_rank, .total = total, .average = average}};
  }
}

}  // namespace

std::vector<std::optional<BestRates>> best_rates(const Header& header, const std::string& path) {
  std::vector<std::optional<BestRates>> best(header.topologies.size());
  if (!header.summary) return best;
  try {
    const Json summary = Json::parse(*header.summary);
    take_best(summary.at("cells"), header, best);
    take_best(summary.at("load"), header, best);
  } catch (const JsonError&) {
    throw_damaged(path, "/summary is not one of a topology test");
  } catch (const std::out_of_range&) {
    throw_damaged(path, "/summary has a topology that the file does not have");
  }
  return best;
}

}  // namespace leadline::result::topology

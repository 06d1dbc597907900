// SPDX-License-Identifier: Apache-2.0
// Looks for the numbers of phases in summaries that are not trusted.
#include "result/io/kept_phases.hpp"

#include <fmt/format.h>

#include "result/json_parts.hpp"
#include "result/link_result_reader.hpp"

namespace leadline::result::io {

std::vector<KeptPhase> kept_phases(const Hdf5Reader& reader) {
  std::vector<KeptPhase> phases;
  for (const StoredPhase& stored : reader.phases()) phases.push_back(kept_phase(stored, reader.path()));
  return phases;
}

KeptPhase kept_phase(const StoredPhase& stored, const std::string& path) {
  KeptPhase phase;
  phase.operation = stored.operation;
  phase.repeat = stored.repeat;
  phase.is_complete = stored.is_complete;
  try {
    const Json its = Json::parse(stored.summary);
    its.at("error").get_to(phase.error);
    its.at("bytes").get_to(phase.bytes);
    its.at("num_mismatches").get_to(phase.num_mismatches);
    phase.wall_ns = number_or_nan(its.at("wall_ns"));
    phase.bytes_per_s = number_or_nan(its.at("bytes_per_s"));
    phase.bytes_per_s_wall = number_or_nan(its.at("bytes_per_s_wall"));
    if (const Json& source = its.at("source"); !source.is_null()) source.get_to(phase.source);
    if (const Json& is_durable = its.at("is_durable"); !is_durable.is_null()) phase.is_durable = is_durable.get<bool>();
  } catch (const JsonError&) {
    throw_damaged(path, fmt::format("/io/phases/summary of the {} of repeat {} is not one of a phase",
                                    name_of(stored.operation), stored.repeat));
  }
  return phase;
}

}  // namespace leadline::result::io

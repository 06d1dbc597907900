// SPDX-License-Identifier: Apache-2.0
// The shared part of the header of a result that is being made.
#include "result/run_header.hpp"

#include "core/json.hpp"

namespace leadline::result {

namespace {

std::vector<std::pair<std::string, HeaderValue>> values_of(const Provenance& from, const RunRequest& request) {
  const Json command_line = request.command_line;
  const auto integer = [](auto value) { return static_cast<std::int64_t>(value); };
  return {
      {"version", from.version},
      {"commit", from.commit},
      {"command_line", command_line.in_one_line()},
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
  };
}

}  // namespace

void describe_run(RunHeader& header, const RunRequest& request, const std::vector<Option>& options,
                  const Provenance& provenance) {
  header.num_ranks = provenance.num_ranks;
  header.provenance = values_of(provenance, request);
  header.options = options_as_text(options);
  header.message_sizes_bytes = request.message_sizes_bytes;
  header.incomplete_reason = reason_from_the_start;
}

std::string provenance_text(const RunHeader& header, const std::string& name) {
  for (const auto& [key, value] : header.provenance) {
    if (key == name && std::holds_alternative<std::string>(value)) return std::get<std::string>(value);
  }
  return "";
}

std::string option_text(const RunHeader& header, const std::string& name) {
  for (const auto& [key, value] : header.options) {
    if (key == name) return value;
  }
  return "";
}

}  // namespace leadline::result

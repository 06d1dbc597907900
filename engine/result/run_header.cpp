// SPDX-License-Identifier: Apache-2.0
// The shared part of the header of a result that is being made.
#include "result/run_header.hpp"

#include <functional>
#include <numeric>

#include "core/json.hpp"

namespace leadline::result {
namespace {

std::vector<std::pair<std::string, HeaderValue>> values_of(const Provenance& from, const RunRequest& request) {
  const Json command_line = request.command_line;
  const auto integer = [](auto value) { return static_cast<std::int64_t>(value); };
  std::vector<std::pair<std::string, HeaderValue>> values{
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
      {"binding", from.binding},
      {"control_plane_on_loopback", integer(from.control_plane_on_loopback)},
      {"num_ranks", integer(from.num_ranks)},
      {"num_hosts", integer(from.num_hosts)},
  };
  if (from.line_rate.bytes_per_s > 0) {
    values.emplace_back("adapter", from.line_rate.adapter);
    values.emplace_back("line_rate_bytes_per_s", from.line_rate.bytes_per_s);
  }
  if (from.memory_copy.bytes_per_s > 0) {
    values.emplace_back("memory_copy_bytes_per_s", from.memory_copy.bytes_per_s);
  }
  return values;
}

ContainerFileFacts facts_of(const sion::Reader::File& file) {
  const sion::Layout& layout = file.layout;
  ContainerFileFacts facts;
  facts.path = file.path;
  facts.num_tasks = layout.num_tasks();
  facts.size_bytes = file.size_bytes;
  facts.used_bytes = std::accumulate(file.content_bytes.begin(), file.content_bytes.end(), std::int64_t{0});
  facts.metadata_bytes = sion::meta1_bytes(layout.num_tasks());
  if (!layout.is_closed()) return facts;
  facts.num_rounds = layout.num_rounds;
  facts.metadata_bytes += sion::meta2_bytes(layout.num_tasks(), layout.num_rounds);
  if (layout.tail != sion::Tail::nothing) {
    facts.metadata_bytes += 4 + 8 * static_cast<std::int64_t>(layout.mapping.size());
  }
  return facts;
}

template <typename Member>
std::int64_t sum_of(const std::vector<ContainerFileFacts>& files, Member member) {
  std::int64_t sum = 0;
  for (const ContainerFileFacts& file : files) sum += std::invoke(member, file);
  return sum;
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

LineRate line_rate(const RunHeader& header) {
  LineRate rate{provenance_text(header, "adapter"), 0};
  for (const auto& [key, value] : header.provenance) {
    if (key == "line_rate_bytes_per_s" && std::holds_alternative<double>(value)) {
      rate.bytes_per_s = std::get<double>(value);
    }
  }
  return rate;
}

std::string option_text(const RunHeader& header, const std::string& name) {
  for (const auto& [key, value] : header.options) {
    if (key == name) return value;
  }
  return "";
}

std::int64_t ContainerFacts::size_bytes() const { return sum_of(files, &ContainerFileFacts::size_bytes); }
std::int64_t ContainerFacts::used_bytes() const { return sum_of(files, &ContainerFileFacts::used_bytes); }
std::int64_t ContainerFacts::unused_bytes() const { return sum_of(files, &ContainerFileFacts::unused_bytes); }

ContainerFacts container_facts(const sion::Reader& reader) {
  const sion::Layout& first = reader.files().front().layout;
  ContainerFacts facts;
  facts.num_tasks = reader.num_tasks();
  facts.num_files_of_set = first.num_files;
  facts.is_finished = !reader.is_unfinished();
  facts.is_part_of_set = reader.is_part_of_set();
  facts.has_key_value_records = reader.has_key_value_records();
  facts.format_version = first.format_version;
  facts.block_size_bytes = first.block_size_bytes;
  facts.library_version = first.library_version;
  facts.library_patch_level = first.library_patch_level;
  facts.metadata_order = reader.metadata_order();
  facts.payload_order = reader.payload_order();
  for (const sion::Reader::File& file : reader.files()) facts.files.push_back(facts_of(file));
  return facts;
}

}  // namespace leadline::result

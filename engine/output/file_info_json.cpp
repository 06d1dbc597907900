// SPDX-License-Identifier: Apache-2.0
// A description of a result file as JSON.
#include "core/json.hpp"
#include "output/file_info.hpp"
#include "output/file_info_parts.hpp"

namespace leadline::output {

namespace {

const char* name_of(result::sion::ByteOrder order) {
  return order == result::sion::ByteOrder::little ? "little" : "big";
}

Json container_json(const result::ContainerFacts& facts) {
  Json files = Json::array();
  for (const result::ContainerFileFacts& file : facts.files) {
    files.push_back({{"path", file.path},
                     {"num_tasks", file.num_tasks},
                     {"num_rounds", file.num_rounds},
                     {"size_bytes", file.size_bytes},
                     {"used_bytes", file.used_bytes},
                     {"metadata_bytes", file.metadata_bytes},
                     {"unused_bytes", file.unused_bytes()}});
  }
  return {{"format_version", facts.format_version},
          {"library_version", facts.library_version},
          {"library_patch_level", facts.library_patch_level},
          {"metadata_byte_order", name_of(facts.metadata_order)},
          {"payload_byte_order", name_of(facts.payload_order)},
          {"finished", facts.is_finished},
          {"dense", facts.is_dense()},
          {"key_value_records", facts.has_key_value_records},
          {"part_of_set", facts.is_part_of_set},
          {"num_tasks", facts.num_tasks},
          {"num_files", facts.num_files_of_set},
          {"block_size_bytes", facts.block_size_bytes},
          {"size_bytes", facts.size_bytes()},
          {"used_bytes", facts.used_bytes()},
          {"unused_bytes", facts.unused_bytes()},
          {"files", files}};
}

Json result_json(const LinkResultInfo& info) {
  const result::LinkResultHeader& header = info.header;
  Json slices = Json::array();
  for (const SliceInfo& slice : info.slices) {
    slices.push_back({{"repeat", slice.repeat},
                      {"permutation", slice.permutation < 0 ? Json(nullptr) : Json(slice.permutation)},
                      {"message_size_bytes", slice.message_size_bytes},
                      {"num_pairs", slice.facts.num_pairs},
                      {"time_ns_min", number(slice.facts.time_ns_min)},
                      {"time_ns_median", number(slice.facts.time_ns_median)},
                      {"time_ns_max", number(slice.facts.time_ns_max)}});
  }
  Json json = run_json("link", header);
  json["num_repeats"] = header.repeats.size();
  json["num_permutations"] = header.num_permutations;
  json["num_retests"] = info.num_retests;
  json["has_rounds"] = header.has_rounds;
  add_origin(json, header, info.hosts);
  json["slices"] = slices;
  return json;
}

/// Of whichever benchmark; null where there is none.
Json any_result_json(const FileInfo& info) {
  if (info.topology) return topology_info_json(*info.topology);
  if (info.bisection) return bisection_info_json(*info.bisection);
  if (info.io) return io_info_json(*info.io);
  return info.result ? result_json(*info.result) : Json(nullptr);
}

}  // namespace

std::string file_info_json(const FileInfo& info) {
  const Json json = {{"path", info.path},
                     {"format", info.kind == result::FileKind::hdf5 ? "hdf5" : "sion"},
                     {"container", info.container ? container_json(*info.container) : Json(nullptr)},
                     {"result", any_result_json(info)},
                     {"why_no_result", info.why_no_result}};
  return json.indented() + "\n";
}

}  // namespace leadline::output

// SPDX-License-Identifier: Apache-2.0
// Status, provenance, options, sizes and ranks of an HDF5 result.
#include "result/hdf5/run_part.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/error.hpp"
#include "result/hdf5/structure.hpp"
#include "result/link_result_reader.hpp"

namespace leadline::result::hdf5 {

namespace {

constexpr hsize_t max_ranks = 1 << 26;

/// The types that readers have seen from the beginning: the number of rounds is the one that outgrows 32 bits.
void write_value(const Handle& group, const std::string& name, const HeaderValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    const bool is_long = name == "num_rounds" || *number != static_cast<int>(*number);
    if (is_long) return write_attribute(group, name.c_str(), static_cast<long long>(*number));
    return write_attribute(group, name.c_str(), static_cast<int>(*number));
  }
  if (const auto* number = std::get_if<double>(&value)) return write_attribute(group, name.c_str(), *number);
  write_attribute(group, name.c_str(), std::get<std::string>(value));
}

void allocate_ranks(const Handle& file, std::uint64_t num_ranks, RunOffsets& offsets) {
  const Handle group = make_group(file, "ranks");
  offsets.host = allocate(group, "host", text_type(host_size).id(), {num_ranks});
  offsets.device = allocate(group, "device", text_type(device_size).id(), {num_ranks});
  offsets.cpus = allocate(group, "cpus", text_type(cpus_size).id(), {num_ranks});
  offsets.pid = allocate(group, "pid", H5T_NATIVE_INT32, {num_ranks});
  offsets.num_cpus = allocate(group, "num_cpus", H5T_NATIVE_INT32, {num_ranks});
  offsets.numa_node = allocate(group, "numa_node", H5T_NATIVE_INT32, {num_ranks});
}

}  // namespace

RunOffsets create_run_part(const Handle& file, const RunHeader& header, const char* benchmark) {
  RunOffsets offsets;
  write_attribute(file, "nonce", header.nonce);
  write_attribute(file, "format", "leadline");
  write_attribute(file, "format_version", result_format_version);
  write_attribute(file, "benchmark", benchmark);
  {
    const Handle status = make_group(file, "status");
    offsets.complete = allocate(status, "complete", H5T_NATIVE_UINT8, {});
    offsets.reason = allocate(status, "reason", text_type(reason_size).id(), {});
  }
  {
    const Handle provenance = make_group(file, "provenance");
    for (const auto& [name, value] : header.provenance) write_value(provenance, name, value);
  }
  {
    const Handle options = make_group(file, "options");
    for (const auto& [name, value] : header.options) write_attribute(options, name.c_str(), value);
  }
  offsets.message_size = allocate(file, "message_size_bytes", H5T_NATIVE_UINT64, {header.message_sizes_bytes.size()});
  allocate_ranks(file, static_cast<std::uint64_t>(header.num_ranks), offsets);
  return offsets;
}

void add_run_end(const Handle& file, const RunHeader& header) {
  if (header.end_utc) {
    const Handle provenance(H5Gopen2(file.id(), "provenance", H5P_DEFAULT), H5Gclose);
    write_attribute(provenance, "end_utc", *header.end_utc);
  }
  if (header.summary) write_text(file, "summary", *header.summary);
}

std::string read_benchmark(const Input& file, const std::string& path) {
  if (!file.has_attribute("/", "format") || file.text_attribute("/", "format") != "leadline") {
    throw Error(ExitStatus::bad_command_line, "cannot read '" + path + "'", "HDF5, but not a result of leadline",
                "A result of leadline or LinkTest is wanted");
  }
  const std::int64_t version = file.whole_attribute("/", "format_version");
  if (version > result_format_version) {
    throw Error(ExitStatus::run_failed, "cannot read '" + path + "'",
                fmt::format("format version {}; this program knows up to {}", version, result_format_version),
                "Use a newer leadline");
  }
  return file.text_attribute("/", "benchmark");
}

void read_run_part(const Input& file, const std::string& path, RunHeader& header) {
  header.nonce = file.text_attribute("/", "nonce");
  const Shape ranks = file.shape_of("ranks/host");
  std::error_code ignored;
  const auto file_bytes = std::filesystem::file_size(path, ignored);
  if (ranks.size() != 1 || ranks[0] == 0 || ranks[0] > max_ranks || ranks[0] > file_bytes) {
    throw_damaged(path, "/ranks/host is no list of ranks");
  }
  header.num_ranks = static_cast<std::int64_t>(ranks[0]);

  for (const std::string& name : file.attribute_names("/provenance")) {
    if (name == "end_utc") {
      header.end_utc = file.text_attribute("/provenance", name);
    } else {
      header.provenance.emplace_back(name, file.attribute("/provenance", name));
    }
  }
  for (const std::string& name : file.attribute_names("/options")) {
    header.options.emplace_back(name, file.text_attribute("/options", name));
  }
  const Shape sizes = file.shape_of("message_size_bytes");
  if (sizes.size() != 1 || sizes[0] > file_bytes) throw_damaged(path, "/message_size_bytes is no list");
  header.message_sizes_bytes = file.numbers<std::uint64_t>("message_size_bytes", {sizes[0]}, {{0}, {sizes[0]}});
  header.complete = file.numbers<std::int32_t>("status/complete", {}, {{}, {}})[0] != 0;
  header.incomplete_reason = file.text("status/reason", {}, {});
  if (file.has("summary")) header.summary = file.text("summary", {}, {});
}

void read_run_part_of(const char* benchmark, const Input& file, const std::string& path, RunHeader& header) {
  if (const std::string its = read_benchmark(file, path); its != benchmark) {
    throw Error(ExitStatus::bad_command_line, "cannot read '" + path + "'",
                fmt::format("a result of leadline {}, not of leadline {}", its, benchmark));
  }
  read_run_part(file, path, header);
  if (header.message_sizes_bytes.empty()) throw_damaged(path, "there is no message size");
}

RankPlacement read_place(const Input& file, std::int64_t num_ranks, std::int64_t rank) {
  const Shape all{static_cast<hsize_t>(num_ranks)}, start{static_cast<hsize_t>(rank)};
  const auto number = [&](const std::string& name) {
    return file.numbers<std::int32_t>("ranks/" + name, all, {start, {1}})[0];
  };
  RankPlacement place;
  place.host = file.text("ranks/host", all, start);
  place.device = file.text("ranks/device", all, start);
  place.cpus = file.text("ranks/cpus", all, start);
  place.pid = number("pid");
  place.num_cpus = number("num_cpus");
  place.numa_node = number("numa_node");
  return place;
}

}  // namespace leadline::result::hdf5

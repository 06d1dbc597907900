// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a SION result, and the parts of its extension that are not tables.
#include "bench/link/sion_offsets.hpp"

#include <limits>
#include <vector>

#include "core/error.hpp"
#include "result/json_parts.hpp"
#include "result/shared_file.hpp"

namespace leadline::bench::link {
namespace {

using result::sion::append_number;
using result::sion::ByteCursor;
using result::sion::ByteOrder;
using result::sion::host_byte_order;

constexpr std::uint64_t common_head_bytes = 289;  // of a record, before its tables
constexpr std::uint64_t run_head_bytes = 120;     // more of it on rank 0
constexpr std::uint64_t block_size_bytes = 4096;  // as in all files of LinkTest seen; the same on every file system

constexpr std::size_t host_bytes = 512, device_bytes = 128, cpus_bytes = 256;
constexpr std::size_t adapter_bytes = 64;  // at the end of the room for the host's name; zeros in earlier versions
constexpr std::size_t numbers_bytes = rank_head_bytes - host_bytes - device_bytes - cpus_bytes;

Json times_json(const std::array<double, 3>& times) {
  return {{"min", times[0]}, {"max", times[1]}, {"mean", times[2]}};
}

Json linktest_json(const LinkTestOrigin& origin) {
  return {{"num_iterations", origin.num_iterations},
          {"message_size_bytes", origin.message_size_bytes},
          {"has_all_to_all", origin.has_all_to_all},
          {"is_serial", origin.is_serial},
          {"is_permuted", origin.is_permuted},
          {"time_s", times_json(origin.times_s)},
          {"all_to_all_time_s", times_json(origin.all_to_all_times_s)}};
}

std::string start_text(const Header& header) {
  Json provenance = Json::object(), options = Json::object();
  for (const auto& [name, value] : header.provenance) {
    std::visit([&, &key = name](const auto& content) { provenance[key] = content; }, value);
  }
  for (const auto& [name, value] : header.options) options[name] = value;
  Json start = {{"format", "leadline"},
                {"format_version", result::result_format_version},
                {"benchmark", "link"},
                {"nonce", header.nonce},
                {"provenance", provenance},
                {"options", options},
                {"message_size_bytes", header.message_sizes_bytes}};
  if (!header.network.empty()) start["network"] = header.network;
  if (header.linktest) start["linktest"] = linktest_json(*header.linktest);
  return result::line_of(start);
}

/// A list for each field.
template <Described Row>
void add_columns(Json& end, const char* name, const std::optional<std::vector<Row>>& rows) {
  if (!rows) return;
  Json columns = Json::object();
  for_each_field<Row>([&](const auto& one) {
    Json list = Json::array();
    for (const Row& row : *rows) list.push_back(row.*one.get);
    columns[one.name] = list;
  });
  end[name] = columns;
}

template <Described Row>
void take_columns(const Json& end, const char* name, std::optional<std::vector<Row>>& rows) {
  if (end.find(name) == nullptr) return;
  const Json& columns = end.at(name);
  rows.emplace(columns.at("from").size());
  for_each_field<Row>([&](const auto& one) {
    for (std::size_t index = 0; index < rows->size(); ++index) {
      result::read_json(columns.at(one.name).at(index), (*rows)[index].*one.get);
    }
  });
}

std::string end_text(const Header& header) {
  if (!header.end_utc && !header.retests && !header.second_measurements) return "";
  Json end = Json::object();
  if (header.end_utc) end["end_utc"] = *header.end_utc;
  add_columns(end, "retest", header.retests);
  add_columns(end, "second_measurements", header.second_measurements);
  return result::line_of(end);
}

result::HeaderValue value_of(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  // JSON has no NaN.
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

std::array<double, 3> times_of(const Json& json) {
  return {result::number_or_nan(json.at("min")), result::number_or_nan(json.at("max")),
          result::number_or_nan(json.at("mean"))};
}

LinkTestOrigin linktest_of(const Json& json) {
  LinkTestOrigin origin;
  json.at("num_iterations").get_to(origin.num_iterations);
  json.at("message_size_bytes").get_to(origin.message_size_bytes);
  json.at("has_all_to_all").get_to(origin.has_all_to_all);
  json.at("is_serial").get_to(origin.is_serial);
  json.at("is_permuted").get_to(origin.is_permuted);
  origin.times_s = times_of(json.at("time_s"));
  origin.all_to_all_times_s = times_of(json.at("all_to_all_time_s"));
  return origin;
}

void take_start(const Json& start, Header& header) {
  start.at("format_version").get_to(header.format_version);
  start.at("nonce").get_to(header.nonce);
  const Json &provenance = start.at("provenance"), &options = start.at("options");
  for (const std::string& name : provenance.names()) {
    header.provenance.emplace_back(name, value_of(provenance.at(name)));
  }
  for (const std::string& name : options.names()) {
    header.options.emplace_back(name, options.at(name).get<std::string>());
  }
  start.at("message_size_bytes").get_to(header.message_sizes_bytes);
  if (start.find("network") != nullptr) header.network = start.at("network").get<std::string>();
  if (start.find("linktest") != nullptr) header.linktest = linktest_of(start.at("linktest"));
}

void take_end(const Json& end, Header& header) {
  if (end.find("end_utc") != nullptr) header.end_utc = end.at("end_utc").get<std::string>();
  take_columns(end, "retest", header.retests);
  take_columns(end, "second_measurements", header.second_measurements);
}

}  // namespace

SionShape shape_of(const Header& header, SionRecord record) {
  SionShape shape;
  shape.num_ranks = static_cast<std::uint64_t>(header.num_ranks);
  shape.has_all_to_all = header.num_all_to_all_slots > 0;
  shape.record = record;
  if (record == SionRecord::plain) return shape;
  shape.num_sizes = header.message_sizes_bytes.size();
  shape.num_repeats = header.repeats.size();
  shape.num_permutations = static_cast<std::uint64_t>(header.num_permutations);
  shape.num_all_to_all_slots = static_cast<std::uint64_t>(header.num_all_to_all_slots);
  shape.has_rounds = header.has_rounds;
  return shape;
}

std::uint64_t SionOffsets::record_head_bytes(std::uint64_t rank) const {
  return common_head_bytes + (rank == 0 ? run_head_bytes : 0);
}
std::uint64_t SionOffsets::record_times(std::uint64_t rank) const { return record_head_bytes(rank); }
std::uint64_t SionOffsets::record_steps(std::uint64_t rank) const { return record_times(rank) + 8 * shape_.num_ranks; }
std::uint64_t SionOffsets::record_all_to_all(std::uint64_t rank) const {
  return record_steps(rank) + 4 * shape_.num_ranks;
}
std::uint64_t SionOffsets::record_retest_times() const {
  return record_all_to_all(0) + (shape_.has_all_to_all ? 8 * shape_.num_ranks : 0);
}
std::uint64_t SionOffsets::record_retest_first_times() const { return record_retest_times() + 8 * shape_.num_ranks; }
std::uint64_t SionOffsets::record_retest_from() const { return record_retest_times() + 16 * shape_.num_ranks; }
std::uint64_t SionOffsets::record_retest_to() const { return record_retest_times() + 20 * shape_.num_ranks; }
std::uint64_t SionOffsets::record_bytes(std::uint64_t rank) const {
  if (rank == 0) return record_retest_times() + 24 * shape_.num_ranks;
  return record_all_to_all(rank) + (shape_.has_all_to_all ? 8 * shape_.num_ranks : 0);
}

std::uint64_t SionOffsets::slice_bytes() const {
  return (4 + 8 * sion_times.size()) * shape_.num_ranks + 8 * shape_.num_all_to_all_slots;
}
std::uint64_t SionOffsets::repeat_bytes() const {
  return 8 + (shape_.has_rounds ? 4 * shape_.num_ranks : 0) + shape_.num_sizes * slice_bytes();
}
std::uint64_t SionOffsets::permutations() const { return rank_head_bytes; }
std::uint64_t SionOffsets::repeat(std::uint64_t index) const {
  return rank_head_bytes + 4 * shape_.num_permutations + index * repeat_bytes();
}
std::uint64_t SionOffsets::rounds(std::uint64_t index) const { return repeat(index) + 8; }
std::uint64_t SionOffsets::count(std::uint64_t index, std::uint64_t size_index) const {
  return rounds(index) + (shape_.has_rounds ? 4 * shape_.num_ranks : 0) + size_index * slice_bytes();
}
std::uint64_t SionOffsets::times(std::uint64_t index, std::uint64_t size_index, std::size_t which) const {
  return count(index, size_index) + (4 + 8 * which) * shape_.num_ranks;
}
std::uint64_t SionOffsets::all_to_all(std::uint64_t index, std::uint64_t size_index) const {
  return count(index, size_index) + (4 + 8 * sion_times.size()) * shape_.num_ranks;
}
std::uint64_t SionOffsets::rank_part_bytes() const { return repeat(shape_.num_repeats); }

bool SionOffsets::is_sound() const {
  constexpr double limit = 4e18;  // rounding of doubles does not matter here
  const auto real = [](std::uint64_t number) { return static_cast<double>(number); };
  const double slice = 44 * real(shape_.num_ranks) + 8 * real(shape_.num_all_to_all_slots);
  const double repeat = 8 + 4 * real(shape_.num_ranks) + real(shape_.num_sizes) * slice;
  return rank_head_bytes + 4 * real(shape_.num_permutations) + real(shape_.num_repeats) * repeat < limit;
}

std::string encode_rank_head(const SionShape& shape, std::uint64_t rank, const RankPlacement& placement) {
  std::string bytes;
  for (const std::uint64_t number : {shape.num_ranks, rank, shape.num_sizes, shape.num_repeats, shape.num_permutations,
                                     shape.num_all_to_all_slots}) {
    append_number(bytes, static_cast<std::uint32_t>(number), host_byte_order);
  }
  append_number(bytes, std::uint32_t{shape.has_rounds ? 1U : 0U}, host_byte_order);
  append_number(bytes, placement.pid, host_byte_order);
  append_number(bytes, placement.num_cpus, host_byte_order);
  append_number(bytes, placement.numa_node, host_byte_order);
  bytes.resize(numbers_bytes, '\0');
  return bytes + result::padded(placement.host, host_bytes - adapter_bytes) +
         result::padded(placement.adapter, adapter_bytes) + result::padded(placement.device, device_bytes) +
         result::padded(placement.cpus, cpus_bytes);
}

RankHead decode_rank_head(std::string_view bytes, ByteOrder order) {
  const auto text = [](std::string_view padded_text) {
    return std::string(padded_text.substr(0, padded_text.find('\0')));
  };
  ByteCursor cursor(bytes, order);
  RankHead head;
  head.shape.num_ranks = cursor.take<std::uint32_t>();
  head.rank = cursor.take<std::uint32_t>();
  head.shape.num_sizes = cursor.take<std::uint32_t>();
  head.shape.num_repeats = cursor.take<std::uint32_t>();
  head.shape.num_permutations = cursor.take<std::uint32_t>();
  head.shape.num_all_to_all_slots = cursor.take<std::uint32_t>();
  head.shape.has_rounds = cursor.take<std::uint32_t>() != 0;
  head.placement.pid = cursor.take<std::int32_t>();
  head.placement.num_cpus = cursor.take<std::int32_t>();
  head.placement.numa_node = cursor.take<std::int32_t>();
  cursor = ByteCursor(bytes.substr(numbers_bytes), order);
  head.placement.host = text(cursor.take_text(host_bytes - adapter_bytes));
  head.placement.adapter = text(cursor.take_text(adapter_bytes));
  head.placement.device = text(cursor.take_text(device_bytes));
  head.placement.cpus = text(cursor.take_text(cpus_bytes));
  return head;
}

double seconds_of_ns(double time_ns) { return time_ns / 1e9; }

/// A quotient of doubles has few neighbours that could have been meant; most often the product is one of them.
double ns_of_seconds(double time_s) {
  const double product = time_s * 1e9;
  if (seconds_of_ns(product) == time_s) return product;
  for (const double towards : {0.0, std::numeric_limits<double>::infinity()}) {
    const double neighbour = std::nextafter(product, towards);
    if (seconds_of_ns(neighbour) == time_s) return neighbour;
  }
  return product;
}

std::uint64_t SionFilePlan::payload_bytes(std::uint64_t rank) const {
  const bool is_last = rank + 1 == offsets_.shape().num_ranks;
  return offsets_.rank_part_bytes() + (is_last ? run_part_bytes_ : 0);
}

std::uint64_t SionFilePlan::used_bytes(std::uint64_t rank) const {
  if (offsets_.shape().record == SionRecord::plain) return offsets_.record_bytes(rank);
  return offsets_.record_bytes(rank) + result::sion::linktest_extension_header_bytes + payload_bytes(rank);
}

std::uint64_t SionFilePlan::chunk(std::uint64_t rank) const {
  // META1 has 1088 bytes and 16 a task; the data begin at the next block. The last rank, whose chunk is longer, has
  // none behind it, so the middle ones are all as long as an inner rank's.
  const auto meta1 =
      static_cast<std::uint64_t>(result::sion::meta1_bytes(static_cast<std::int64_t>(offsets_.shape().num_ranks)));
  const std::uint64_t data = (meta1 + block_size_bytes - 1) / block_size_bytes * block_size_bytes;
  if (rank == 0) return data;
  const bool is_plain = offsets_.shape().record == SionRecord::plain;
  const std::uint64_t extension =
      is_plain ? 0 : result::sion::linktest_extension_header_bytes + offsets_.rank_part_bytes();
  return data + offsets_.record_bytes(0) + extension + (rank - 1) * (offsets_.record_bytes(1) + extension);
}

std::uint64_t SionFilePlan::extension(std::uint64_t rank) const { return chunk(rank) + offsets_.record_bytes(rank); }

std::uint64_t SionFilePlan::payload(std::uint64_t rank) const {
  return extension(rank) + result::sion::linktest_extension_header_bytes;
}

std::uint64_t SionFilePlan::run_part() const {
  return payload(offsets_.shape().num_ranks - 1) + offsets_.rank_part_bytes();
}

result::sion::Layout SionFilePlan::layout(const std::string& prefix) const {
  if (!offsets_.is_sound()) {
    throw Error(ExitStatus::run_failed, "a SION file cannot hold so many results", "its offsets would leave 64 bits");
  }
  std::vector<result::sion::TaskSize> tasks;
  tasks.reserve(offsets_.shape().num_ranks);
  for (std::uint64_t rank = 0; rank < offsets_.shape().num_ranks; ++rank) {
    tasks.push_back({static_cast<std::int64_t>(rank), static_cast<std::int64_t>(used_bytes(rank))});
  }
  return result::sion::collective_layout(tasks, static_cast<std::int32_t>(block_size_bytes), prefix);
}

std::string SionFilePlan::envelope(std::uint64_t rank) const {
  return result::sion::linktest_extension_header(payload_bytes(rank));
}

std::string encode_run_part(const Header& header) {
  std::string bytes;
  result::sion::append_number(bytes, std::uint64_t{header.complete ? 1U : 0U}, result::sion::host_byte_order);
  bytes += result::padded(header.incomplete_reason, run_reason_bytes);
  for (const std::string& text : {start_text(header), end_text(header), header.summary.value_or("")}) {
    result::sion::append_number(bytes, static_cast<std::uint64_t>(text.size()), result::sion::host_byte_order);
    bytes += text;
  }
  return bytes;
}

std::string decode_run_texts(std::string_view start, std::string_view end, std::string_view summary, Header& header) {
  try {
    take_start(Json::parse(start), header);
    if (!end.empty()) take_end(Json::parse(end), header);
    if (!summary.empty()) header.summary = std::string(summary);
  } catch (const JsonError& error) {
    return error.what();
  }
  return "";
}

}  // namespace leadline::bench::link

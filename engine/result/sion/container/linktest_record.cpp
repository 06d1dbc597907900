// SPDX-License-Identifier: Apache-2.0
// The fields of LinkTest 1.2's record in their order, and the envelope behind them.
#include "result/sion/container/linktest_record.hpp"

#include <algorithm>
#include <cassert>

#include "core/error.hpp"

namespace leadline::result::sion {
namespace {

constexpr std::string_view record_id = "LKTST";
constexpr std::array<std::int32_t, 3> record_version{1, 2, 1};
constexpr std::size_t common_bytes = 289;  // up to and with the location
constexpr std::size_t flags_offset = common_bytes;
constexpr std::size_t all_to_all_flag = 2;
constexpr std::size_t run_bytes = 120;
constexpr std::size_t num_run_fields = 10;

[[noreturn]] void fail(const std::string& path, const RecordShape& shape, std::string_view code,
                       const std::string& detail) {
  throw Error(ExitStatus::run_failed, "cannot read '" + path + "'",
              "damaged SION file, rank " + std::to_string(shape.rank) + ", " + std::string(code) + ": " + detail);
}

template <typename Number>
void append_all(std::string& bytes, const std::vector<Number>& numbers, ByteOrder order) {
  for (const Number number : numbers) append_number(bytes, number, order);
}

void append_run(std::string& bytes, const LinkTestRun& run, ByteOrder order) {
  std::array<std::int32_t, num_run_fields> numbers{};
  numbers[0] = run.num_iterations;
  numbers[1] = run.message_size_bytes;
  numbers[all_to_all_flag] = run.has_all_to_all ? 1 : 0;
  numbers[3] = 1;
  numbers[4] = run.is_serial ? 1 : 0;
  numbers[5] = run.is_permuted ? 1 : 0;
  numbers[9] = record_version[0];
  std::array<double, num_run_fields> times{};
  times[0] = run.times.min_s;
  times[1] = run.times.max_s;
  times[2] = run.times.mean_s;
  times[3] = run.all_to_all_times.min_s;
  times[4] = run.all_to_all_times.max_s;
  times[5] = run.all_to_all_times.mean_s;
  for (const std::int32_t number : numbers) append_number(bytes, number, order);
  for (const double time : times) append_number(bytes, time, order);
}

/// Four tables, each with a row for every rank; those behind the last retest are zero.
void append_retests(std::string& bytes, std::vector<LinkTestRetest> retests, std::int64_t num_ranks, ByteOrder order) {
  assert(std::ssize(retests) <= num_ranks);
  retests.resize(static_cast<std::size_t>(num_ranks));
  for (const LinkTestRetest& retest : retests) append_number(bytes, retest.time_s, order);
  for (const LinkTestRetest& retest : retests) append_number(bytes, retest.first_time_s, order);
  for (const LinkTestRetest& retest : retests) append_number(bytes, retest.from_rank, order);
  for (const LinkTestRetest& retest : retests) append_number(bytes, retest.to_rank, order);
}

LinkTestRun taken_run(ByteCursor& cursor) {
  std::array<std::int32_t, num_run_fields> numbers;
  std::array<double, num_run_fields> times;
  cursor.take(std::span(numbers));
  cursor.take(std::span(times));
  LinkTestRun run;
  run.num_iterations = numbers[0];
  run.message_size_bytes = numbers[1];
  run.has_all_to_all = numbers[all_to_all_flag] != 0;
  run.is_serial = numbers[4] != 0;
  run.is_permuted = numbers[5] != 0;
  run.times = {times[0], times[1], times[2]};
  run.all_to_all_times = {times[3], times[4], times[5]};
  return run;
}

std::vector<LinkTestRetest> taken_retests(ByteCursor& cursor, std::size_t num_ranks) {
  std::vector<LinkTestRetest> retests(num_ranks);
  for (LinkTestRetest& retest : retests) retest.time_s = cursor.take<double>();
  for (LinkTestRetest& retest : retests) retest.first_time_s = cursor.take<double>();
  for (LinkTestRetest& retest : retests) retest.from_rank = cursor.take<std::int32_t>();
  for (LinkTestRetest& retest : retests) retest.to_rank = cursor.take<std::int32_t>();
  while (!retests.empty() && retests.back() == LinkTestRetest{}) retests.pop_back();
  return retests;
}

template <typename Number>
std::vector<Number> taken_table(ByteCursor& cursor, std::size_t num) {
  std::vector<Number> table(num);
  cursor.take(std::span(table));
  return table;
}

/// The part that all layouts begin with.
void expect_layout(std::string_view bytes, const RecordShape& shape, ByteOrder order, const std::string& path) {
  if (bytes.starts_with("LinkTest")) {
    fail(path, shape, "RECORDVERSION", "a result of LinkTest 2.x, whose layout is unknown");
  }
  if (!bytes.starts_with(record_id)) fail(path, shape, "RECORDID", "this is no record of LinkTest");
  if (bytes.size() < common_bytes)
    fail(path, shape, "RECORDSIZE", "the record is cut off after " + std::to_string(bytes.size()) + " bytes");
  ByteCursor cursor(bytes.substr(record_id.size()), order);
  std::array<std::int32_t, 3> version;
  cursor.take(std::span(version));
  if (version == record_version) return;
  const std::string name =
      std::to_string(version[0]) + "." + std::to_string(version[1]) + "." + std::to_string(version[2]);
  const std::string tool = version[0] == 2 ? "LinkTest 2.x" : "LinkTest";
  fail(path, shape, "RECORDVERSION", "layout " + name + " of " + tool + " is unknown; layout 1.2.1 is read");
}

void take_extension(DecodedRecord& decoded, std::string_view bytes, const RecordShape& shape, ByteOrder order,
                    Trailing trailing, const std::string& path) {
  const bool is_lenient = trailing == Trailing::anything;
  if (bytes.empty()) return;
  if (!bytes.starts_with(linktest_extension_magic)) {
    if (is_lenient) return;
    fail(path, shape, "RECORDSIZE", std::to_string(bytes.size()) + " unknown bytes behind the record");
  }
  if (bytes.size() < linktest_extension_header_bytes) {
    if (is_lenient) return;
    fail(path, shape, "EXTENSION", "the extension is cut off");
  }
  ByteCursor cursor(bytes.substr(linktest_extension_magic.size()), order);
  const auto version = cursor.take<std::uint32_t>();
  cursor.take<std::uint32_t>();
  const auto size = cursor.take<std::uint64_t>();
  if (size > cursor.rest().size() || (size < cursor.rest().size() && !is_lenient)) {
    if (is_lenient) return;
    fail(path, shape, "EXTENSION",
         "an extension of " + std::to_string(size) + " bytes in the space of " + std::to_string(cursor.rest().size()));
  }
  decoded.has_extension = true;
  decoded.extension_version = version;
  if (version == linktest_extension_version) decoded.extension = cursor.rest().substr(0, size);
}

}  // namespace

std::int64_t linktest_record_bytes(const RecordShape& shape) {
  std::int64_t size = static_cast<std::int64_t>(common_bytes) + 12 * shape.num_ranks;
  if (shape.has_all_to_all) size += 8 * shape.num_ranks;
  if (shape.rank == 0) size += static_cast<std::int64_t>(run_bytes) + 24 * shape.num_ranks;
  return size;
}

std::string encode_linktest_record(const LinkTestRecord& record, const RecordShape& shape, ByteOrder order) {
  assert(std::ssize(record.time_s) == shape.num_ranks && std::ssize(record.step) == shape.num_ranks);
  assert(std::ssize(record.all_to_all_time_s) == (shape.has_all_to_all ? shape.num_ranks : 0));
  assert(record.run.has_value() == (shape.rank == 0));
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(linktest_record_bytes(shape)));
  bytes += record_id;
  for (const std::int32_t number : record_version) append_number(bytes, number, order);
  const std::size_t end_of_name = bytes.size() + linktest_host_name_bytes;
  bytes += record.host_name.substr(0, linktest_host_name_bytes - 1);
  bytes.resize(end_of_name, '\0');
  for (const std::int32_t number : record.location) append_number(bytes, number, order);
  if (record.run) append_run(bytes, *record.run, order);
  append_all(bytes, record.time_s, order);
  append_all(bytes, record.step, order);
  append_all(bytes, record.all_to_all_time_s, order);
  if (record.run) append_retests(bytes, record.run->retests, shape.num_ranks, order);
  assert(std::ssize(bytes) == linktest_record_bytes(shape));
  return bytes;
}

bool linktest_has_all_to_all(std::string_view rank_0_bytes, std::int64_t num_ranks, ByteOrder order,
                             const std::string& path) {
  const RecordShape shape{num_ranks, 0, false};
  expect_layout(rank_0_bytes, shape, order, path);
  if (std::ssize(rank_0_bytes) < linktest_record_bytes(shape)) {
    fail(path, shape, "RECORDSIZE", "the record is cut off after " + std::to_string(rank_0_bytes.size()) + " bytes");
  }
  const char* flag = rank_0_bytes.data() + flags_offset + all_to_all_flag * sizeof(std::int32_t);
  return number_at<std::int32_t>(flag, order) != 0;
}

DecodedRecord decode_linktest_record(std::string_view bytes, const RecordShape& given_shape, ByteOrder order,
                                     Trailing trailing, const std::string& path) {
  RecordShape shape = given_shape;
  expect_layout(bytes, shape, order, path);
  if (shape.rank == 0) shape.has_all_to_all = linktest_has_all_to_all(bytes, shape.num_ranks, order, path);
  const std::int64_t size = linktest_record_bytes(shape);
  if (std::ssize(bytes) < size) {
    fail(path, shape, "RECORDSIZE",
         std::to_string(bytes.size()) + " bytes, but a record for " + std::to_string(shape.num_ranks) + " ranks has " +
             std::to_string(size));
  }
  ByteCursor cursor(bytes.substr(record_id.size() + sizeof record_version), order);
  DecodedRecord decoded;
  LinkTestRecord& record = decoded.record;
  const std::string_view name = cursor.take_text(linktest_host_name_bytes);
  record.host_name = name.substr(0, name.find('\0'));
  cursor.take(std::span(record.location));
  if (shape.rank == 0) record.run = taken_run(cursor);
  const auto num_ranks = static_cast<std::size_t>(shape.num_ranks);
  record.time_s = taken_table<double>(cursor, num_ranks);
  record.step = taken_table<std::int32_t>(cursor, num_ranks);
  if (shape.has_all_to_all) record.all_to_all_time_s = taken_table<double>(cursor, num_ranks);
  if (record.run) record.run->retests = taken_retests(cursor, num_ranks);
  take_extension(decoded, cursor.rest(), shape, order, trailing, path);
  return decoded;
}

std::string linktest_extension_header(std::uint64_t payload_bytes, ByteOrder order) {
  std::string bytes(linktest_extension_magic);
  append_number(bytes, linktest_extension_version, order);
  append_number(bytes, std::uint32_t{0}, order);
  append_number(bytes, payload_bytes, order);
  return bytes;
}

}  // namespace leadline::result::sion

// SPDX-License-Identifier: Apache-2.0
// Puts the fields of the metadata one after the other.
#include "result/sion/container/encoding.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <string_view>
#include <type_traits>

#include "result/sion/container/byte_order.hpp"

namespace leadline::result::sion {
namespace {

constexpr std::int32_t oldest_format_version = 3;

class Decoder {
 public:
  Decoder(const InputFile& input, OpenOptions options) : input_(input), options_(options) {
    file_.path = input.path();
    file_.size_bytes = input.size_bytes();
  }

  Reader::File file() {
    fixed_header();
    tables();
    if (!layout_.is_closed() && options_.unfinished == Unfinished::salvage) {
      salvage();
    } else {
      check(end_mark_problem(layout_, file_.geometry));
      usage();
      tail();
    }
    add_up();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(std::string_view code, std::string detail) const {
    throw damaged(input_.path(), {code, std::move(detail)});
  }
  void check(const std::optional<Problem>& problem) const {
    if (problem) throw damaged(input_.path(), *problem);
  }
  void expect_bytes(std::int64_t offset, std::int64_t size, const char* what) const {
    if (size <= input_.size_bytes() && offset <= input_.size_bytes() - size) return;
    fail("TRUNCATED", std::string(what) + " would end at byte " + std::to_string(offset + size) + ", the file at " +
                          std::to_string(input_.size_bytes()));
  }
  void read(std::int64_t offset, std::span<char> into, const char* what) const {
    if (input_.read_at(offset, into) != into.size()) fail("TRUNCATED", std::string(what) + " is cut off");
  }

  /// A table of numbers, through a small buffer.
  template <typename Number>
  void read_table(std::int64_t offset, std::vector<Number>& table, std::int64_t num, const char* what) const {
    table.resize(static_cast<std::size_t>(num));
    std::array<char, 32 * 1024> buffer;
    std::span<Number> left(table);
    while (!left.empty()) {
      const std::size_t num_now = std::min(left.size(), buffer.size() / sizeof(Number));
      read(offset, std::span(buffer).first(num_now * sizeof(Number)), what);
      ByteCursor(std::string_view(buffer.data(), buffer.size()), layout_.metadata_order).take(left.first(num_now));
      left = left.subspan(num_now);
      offset += static_cast<std::int64_t>(num_now * sizeof(Number));
    }
  }

  /// To be called before memory is taken for another table.
  void expect_stored(std::int64_t size) {
    table_bytes_ += size;
    if (is_in_proportion(input_, table_bytes_)) return;
    fail("LIMIT", std::to_string(table_bytes_) + " bytes of tables are nearly all holes in the file");
  }

  void fixed_header();
  void byte_order_word(std::string_view word);
  void tables();
  void salvage();
  void usage();
  void tail();
  void add_up();

  const InputFile& input_;
  OpenOptions options_;
  Reader::File file_;
  Layout& layout_ = file_.layout;
  std::int32_t num_tasks_ = 0;
  std::int64_t table_bytes_ = 0;
};

void Decoder::fixed_header() {
  if (input_.size_bytes() == 0) fail("TRUNCATED", "the file is empty");
  std::array<char, fixed_header_bytes> bytes{};
  const std::size_t num_bytes = input_.read_at(0, bytes);
  const std::string_view text(bytes.data(), num_bytes);
  if (num_bytes >= 4 && text.substr(0, 4) != "sion") fail("MAGIC", "it does not begin with the word sion");
  if (num_bytes < bytes.size()) fail("TRUNCATED", "only " + std::to_string(num_bytes) + " bytes of a header");
  byte_order_word(text.substr(4, 4));

  ByteCursor cursor(text.substr(8), layout_.metadata_order);
  layout_.library_version = cursor.take<std::int32_t>();
  layout_.library_patch_level = cursor.take<std::int32_t>();
  layout_.format_version = cursor.take<std::int32_t>();
  if (layout_.format_version < oldest_format_version || layout_.format_version > current_format_version) {
    fail("FORMAT", "format version " + std::to_string(layout_.format_version) + "; 3 to 5 are known");
  }
  layout_.block_size_bytes = cursor.take<std::int32_t>();
  num_tasks_ = cursor.take<std::int32_t>();
  layout_.num_files = cursor.take<std::int32_t>();
  layout_.file_number = cursor.take<std::int32_t>();
  const auto flags = cursor.take<std::int64_t>();
  layout_.key_value_mode = static_cast<KeyValueMode>(flags >> 32);
  cursor.take<std::int64_t>();
  const std::string_view prefix = cursor.take_text(static_cast<std::size_t>(prefix_bytes));
  layout_.prefix = prefix.substr(0, prefix.find('\0'));

  if (layout_.block_size_bytes < 1) check(header_problem(layout_));
  if (num_tasks_ < 1 || num_tasks_ > max_num_tasks) fail("NTASKS", std::to_string(num_tasks_) + " tasks");
  check(header_problem(layout_));
}

void Decoder::byte_order_word(std::string_view word) {
  if (word == std::string_view("\0\0\0\1", 4)) {
    fail("ENDIAN", "the byte order is marked as very old releases did, which nobody can check today");
  }
  if (word[0] != word[3] || word[1] != word[2] || word[0] < 0 || word[0] > 1 || word[1] < 0 || word[1] > 1) {
    fail("ENDIAN", "the mark of the byte order is none");
  }
  layout_.metadata_order = static_cast<ByteOrder>(word[0]);
  layout_.payload_order = static_cast<ByteOrder>(word[1]);
}

void Decoder::tables() {
  expect_bytes(0, meta1_bytes(num_tasks_), "the header");
  expect_stored(std::int64_t{16} * num_tasks_);
  const std::int64_t table_bytes = std::int64_t{8} * num_tasks_;
  read_table(fixed_header_bytes, layout_.global_ranks, num_tasks_, "the table of ranks");
  read_table(fixed_header_bytes + table_bytes, layout_.chunk_size_bytes, num_tasks_, "the table of chunk sizes");
  std::array<char, end_mark_bytes> end_mark;
  read(end_mark_offset(num_tasks_), end_mark, "the header");
  ByteCursor cursor(std::string_view(end_mark.data(), end_mark.size()), layout_.metadata_order);
  layout_.num_rounds = cursor.take<std::int32_t>();
  layout_.meta2_offset = cursor.take<std::int64_t>();

  Problem problem;
  std::optional<Geometry> geometry = geometry_of(layout_, problem);
  if (!geometry) throw damaged(input_.path(), problem);
  file_.geometry = std::move(*geometry);
}

void Decoder::salvage() {
  const std::vector<std::int64_t>& rooms = file_.geometry.chunk_room_bytes;
  layout_.num_blocks.assign(rooms.size(), 1);
  layout_.used_bytes.reserve(rooms.size());
  const std::int64_t data_bytes = input_.size_bytes() - file_.geometry.data_offset;
  for (std::size_t task = 0; task < rooms.size(); ++task) {
    const std::int64_t start = file_.geometry.chunk_start_bytes[task];
    layout_.used_bytes.push_back(start < data_bytes ? std::min(data_bytes - start, rooms[task]) : 0);
  }
}

void Decoder::usage() {
  const std::int64_t size = meta2_bytes(num_tasks_, layout_.num_rounds);
  expect_bytes(layout_.meta2_offset, size, "the second metadata block");
  expect_stored(size);
  read_table(layout_.meta2_offset, layout_.num_blocks, num_tasks_, "the table of block counts");
  const std::int64_t table_bytes = std::int64_t{8} * num_tasks_;
  read_table(layout_.meta2_offset + table_bytes, layout_.used_bytes, std::int64_t{num_tasks_} * layout_.num_rounds,
             "the table of used sizes");
  check(usage_problem(layout_, file_.geometry));
  if (options_.strictness != Strictness::strict) return;
  const auto empty = std::find(layout_.num_blocks.begin(), layout_.num_blocks.end(), 0);
  if (empty != layout_.num_blocks.end()) {
    fail("BLOCKCOUNT", "task " + std::to_string(empty - layout_.num_blocks.begin()) + " has no block");
  }
}

void Decoder::tail() {
  const std::int64_t offset = layout_.meta2_offset + meta2_bytes(num_tasks_, layout_.num_rounds);
  const bool has_mapping = layout_.num_files > 1 && layout_.file_number == 0;
  std::array<char, 4> bytes{};
  const bool is_there = input_.read_at(offset, bytes) == bytes.size();
  const auto num_entries = number_at<std::int32_t>(bytes.data(), layout_.metadata_order);
  if (!has_mapping) {
    // Of a single file nothing depends on what stands there, which may be of an older file.
    layout_.tail = is_there && num_entries == 0 ? Tail::empty_mapping : Tail::nothing;
    return;
  }
  if (!is_there) fail("TRUNCATED", "the mapping of tasks to files is missing");
  if (num_entries < 1 || num_entries > max_num_tasks) {
    fail("MAPPING", "a mapping of " + std::to_string(num_entries) + " tasks");
  }
  expect_bytes(offset + 4, std::int64_t{8} * num_entries, "the mapping of tasks to files");
  expect_stored(std::int64_t{8} * num_entries);
  std::vector<std::int32_t> numbers;
  read_table(offset + 4, numbers, std::int64_t{2} * num_entries, "the mapping of tasks to files");
  layout_.tail = Tail::mapping;
  layout_.mapping.reserve(static_cast<std::size_t>(num_entries));
  for (std::size_t i = 0; i < numbers.size(); i += 2) layout_.mapping.push_back({numbers[i], numbers[i + 1]});
}

void Decoder::add_up() {
  const auto num_tasks = static_cast<std::size_t>(num_tasks_);
  file_.content_bytes.assign(num_tasks, 0);
  for (std::size_t entry = 0; entry < layout_.used_bytes.size(); ++entry) {
    const std::size_t task = entry % num_tasks;
    const bool is_used = static_cast<std::int64_t>(entry / num_tasks) < layout_.num_blocks[task];
    if (is_used) file_.content_bytes[task] += layout_.used_bytes[entry];
  }
}

char order_byte(ByteOrder order) { return static_cast<char>(order); }

/// Reads the same from both ends, so that a reader needs no order to read it.
void append_order_word(std::string& bytes, const Layout& layout) {
  bytes += order_byte(layout.metadata_order);
  bytes.append(2, order_byte(layout.payload_order));
  bytes += order_byte(layout.metadata_order);
}

}  // namespace

bool is_in_proportion(const InputFile& input, std::int64_t size_bytes) {
  // Small gaps do no harm, and copying programs make holes in valid files.
  constexpr std::int64_t small_bytes = std::int64_t{256} * 1024;
  constexpr std::int64_t max_bytes_a_stored_byte = 4;
  return size_bytes <= small_bytes || input.stores_at_least(size_bytes / max_bytes_a_stored_byte);
}

Reader::File decode_file(const InputFile& input, OpenOptions options) { return Decoder(input, options).file(); }

std::string encode_meta1(const Layout& layout) {
  assert(layout.global_ranks.size() == layout.chunk_size_bytes.size());
  assert(layout.prefix.size() <= static_cast<std::size_t>(prefix_bytes));
  const ByteOrder order = layout.metadata_order;
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(meta1_bytes(layout.num_tasks())));
  bytes += "sion";
  append_order_word(bytes, layout);
  append_number(bytes, layout.library_version, order);
  append_number(bytes, layout.library_patch_level, order);
  append_number(bytes, layout.format_version, order);
  append_number(bytes, layout.block_size_bytes, order);
  append_number(bytes, static_cast<std::int32_t>(layout.num_tasks()), order);
  append_number(bytes, layout.num_files, order);
  append_number(bytes, layout.file_number, order);
  append_number(bytes, std::int64_t{static_cast<std::int32_t>(layout.key_value_mode)} << 32, order);
  append_number(bytes, std::int64_t{0}, order);
  bytes += layout.prefix;
  bytes.resize(static_cast<std::size_t>(fixed_header_bytes), '\0');
  for (const std::int64_t rank : layout.global_ranks) append_number(bytes, rank, order);
  for (const std::int64_t size : layout.chunk_size_bytes) append_number(bytes, size, order);
  bytes.append(static_cast<std::size_t>(end_mark_bytes), '\0');
  return bytes;
}

std::string encode_meta2(const Layout& layout) {
  assert(layout.used_bytes.size() == layout.num_blocks.size() * static_cast<std::size_t>(layout.num_rounds));
  const ByteOrder order = layout.metadata_order;
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(meta2_bytes(layout.num_tasks(), layout.num_rounds)) + 4 +
                8 * layout.mapping.size());
  for (const std::int64_t num_blocks : layout.num_blocks) append_number(bytes, num_blocks, order);
  for (const std::int64_t used : layout.used_bytes) append_number(bytes, used, order);
  if (layout.tail == Tail::nothing) return bytes;
  append_number(bytes, static_cast<std::int32_t>(layout.mapping.size()), order);
  for (const TaskLocation& location : layout.mapping) {
    append_number(bytes, location.file_number, order);
    append_number(bytes, location.local_task, order);
  }
  return bytes;
}

std::string encode_end_mark(const Layout& layout) {
  std::string bytes;
  append_number(bytes, layout.num_rounds, layout.metadata_order);
  append_number(bytes, layout.meta2_offset, layout.metadata_order);
  return bytes;
}

}  // namespace leadline::result::sion

// SPDX-License-Identifier: Apache-2.0
// Puts the fields of the metadata one after the other.
#include "result/sion/container/encode.hpp"

#include <cassert>

#include "result/sion/container/byte_order.hpp"

namespace leadline::result::sion {
namespace {

char order_byte(ByteOrder order) { return static_cast<char>(order); }

/// Reads the same from both ends, so that a reader needs no order to read it.
void append_order_word(std::string& bytes, const Layout& layout) {
  bytes += order_byte(layout.metadata_order);
  bytes.append(2, order_byte(layout.payload_order));
  bytes += order_byte(layout.metadata_order);
}

}  // namespace

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
  for (const TaskLocation& place : layout.mapping) {
    append_number(bytes, place.file_number, order);
    append_number(bytes, place.local_task, order);
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

// SPDX-License-Identifier: Apache-2.0
// Headers of records may lie across chunk borders, so they are read through the reader like everything else.
#include "result/sion/container/key_value.hpp"

#include <array>
#include <string>
#include <string_view>

namespace leadline::result::sion {

std::optional<KeyValueRecord> KeyValueRecords::next() {
  const std::int64_t left = reader_->size_bytes(task_) - offset_;
  if (left == 0) return std::nullopt;
  const auto fail = [this](const std::string& what) {
    throw damaged(reader_->path(), {"KVRECORD", "task " + std::to_string(task_) + ": the record at byte " +
                                                    std::to_string(offset_) + " " + what});
  };
  if (left < key_value_header_bytes) fail("is cut off");
  std::array<char, key_value_header_bytes> header;
  reader_->read(task_, offset_, header);
  ByteCursor cursor(std::string_view(header.data(), header.size()), reader_->metadata_order());
  KeyValueRecord record;
  record.key = cursor.take<std::uint64_t>();
  const auto value_bytes = cursor.take<std::uint64_t>();
  if (value_bytes > static_cast<std::uint64_t>(left - key_value_header_bytes)) {
    fail("is said to have " + std::to_string(value_bytes) + " bytes");
  }
  record.value_offset = offset_ + key_value_header_bytes;
  record.value_bytes = static_cast<std::int64_t>(value_bytes);
  offset_ = record.value_offset + record.value_bytes;
  return record;
}

}  // namespace leadline::result::sion

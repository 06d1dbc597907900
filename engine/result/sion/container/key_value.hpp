// SPDX-License-Identifier: Apache-2.0
// The key-value records that a SION task may consist of, one after the other.
#pragma once

#include <cstdint>
#include <optional>

#include "result/sion/container/reader.hpp"

namespace leadline::result::sion {

/// A record's value is bytes [value_offset, value_offset + value_bytes) of the task's content (Reader::read).
struct KeyValueRecord {
  std::uint64_t key = 0;
  std::int64_t value_offset = 0;
  std::int64_t value_bytes = 0;
};

inline constexpr std::int64_t key_value_header_bytes = 16;

/// Walks over the records of a task in file order; keys may repeat. The reader must outlive it.
class KeyValueRecords {
 public:
  KeyValueRecords(Reader& reader, std::int64_t task) : reader_(&reader), task_(task) {}

  /// The next record; nothing at the end. Throws with KVRECORD where a header is cut, or its value leaves the content.
  std::optional<KeyValueRecord> next();

 private:
  Reader* reader_;
  std::int64_t task_;
  std::int64_t offset_ = 0;
};

}  // namespace leadline::result::sion

// SPDX-License-Identifier: Apache-2.0
// The record that LinkTest 1.2 keeps for each rank in its SION file, and what Leadline adds behind it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "result/sion/container/byte_order.hpp"

namespace leadline::result::sion {

// docs/formats/sion.md has the record in bytes. Task index = rank; number of ranks = number of tasks.

inline constexpr std::size_t linktest_host_name_bytes = 256;  ///< with at least one NUL when we write

/// Measured times of one direction of use, as LinkTest summarises them.
struct LinkTestTimes {
  double min_s = 0, max_s = 0, mean_s = 0;

  friend bool operator==(const LinkTestTimes&, const LinkTestTimes&) = default;
};

/// One slow pair that was measured again.
struct LinkTestRetest {
  std::int32_t from_rank = 0, to_rank = 0;
  double time_s = 0;        ///< of the retest
  double first_time_s = 0;  ///< of the first measurement

  friend bool operator==(const LinkTestRetest&, const LinkTestRetest&) = default;
};

/// What only rank 0's record has.
struct LinkTestRun {
  std::int32_t num_iterations = 0;
  std::int32_t message_size_bytes = 0;
  bool has_all_to_all = false;
  bool is_serial = false;
  bool is_permuted = false;  ///< "mix": ranks in a random order
  LinkTestTimes times;
  LinkTestTimes all_to_all_times;  ///< zero without all-to-all
  /// At most one a rank. The file has no count: reading stops before the zero rows at its end.
  std::vector<LinkTestRetest> retests;

  friend bool operator==(const LinkTestRun&, const LinkTestRun&) = default;
};

struct LinkTestRecord {
  std::string host_name;                   ///< the file keeps the first 255 bytes
  std::array<std::int32_t, 4> location{};  ///< on Linux: rank, 0, 0, 0
  std::optional<LinkTestRun> run;          ///< of rank 0
  std::vector<double> time_s;              ///< [partner], own 0
  std::vector<std::int32_t> step;          ///< [partner]: in which step it was measured, own 0
  std::vector<double> all_to_all_time_s;   ///< [step], first 0; empty without all-to-all

  friend bool operator==(const LinkTestRecord&, const LinkTestRecord&) = default;
};

/// What decides the length of a record.
struct RecordShape {
  std::int64_t num_ranks = 1;
  std::int64_t rank = 0;
  bool has_all_to_all = false;
};

/// Pure. Bytes of a record.
std::int64_t linktest_record_bytes(const RecordShape& shape);

/// Pure. The record as bytes. time_s and step have shape.num_ranks entries, all_to_all_time_s that many or none as the
/// shape says, `run` is there on rank 0 and nowhere else, and agrees with the shape. The host's byte order unless
/// another is wanted.
std::string encode_linktest_record(const LinkTestRecord& record, const RecordShape& shape,
                                   ByteOrder order = host_byte_order);

/// What may stand behind a record.
enum class Trailing : std::uint8_t {
  extension,  ///< nothing, or Leadline's extension up to the last byte
  anything,   ///< for salvaged chunks: the extension if it is there whole, and whatever follows
};

/// What a task's bytes hold. Views into those bytes.
struct DecodedRecord {
  LinkTestRecord record;
  bool has_extension = false;
  std::uint32_t extension_version = 0;
  std::string_view extension;  ///< its payload; only for extension_version == linktest_extension_version
};

/// Pure. Whether the run measured all-to-all, from the bytes of rank 0's record; needed for the shape of all others.
/// Throws as decode_linktest_record does.
bool linktest_has_all_to_all(std::string_view rank_0_bytes, std::int64_t num_ranks, ByteOrder order,
                             const std::string& path);

/// Pure. `order` is Reader::payload_order(). The bytes' lengths are checked, not the values: times may be anything that
/// a double can be, and steps anything. Throws Error(run_failed) naming `path` and the rank, with a code word:
/// RECORDID (no LinkTest record), RECORDVERSION (another layout: those of LinkTest 2.x are not known), RECORDSIZE,
/// EXTENSION.
DecodedRecord decode_linktest_record(std::string_view bytes, const RecordShape& shape, ByteOrder order,
                                     Trailing trailing, const std::string& path);

// The extension: "LEADLINE", u32 version, u32 zero, u64 length, then that many bytes. LinkTest's own analysis reads
// field by field and never sees it. Numbers in the byte order of the record.

inline constexpr std::string_view linktest_extension_magic = "LEADLINE";
inline constexpr std::uint32_t linktest_extension_version = 1;
inline constexpr std::size_t linktest_extension_header_bytes = 24;

/// Pure. What stands between a record and a payload of that size.
std::string linktest_extension_header(std::uint64_t payload_bytes, ByteOrder order = host_byte_order);

}  // namespace leadline::result::sion

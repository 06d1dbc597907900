// SPDX-License-Identifier: Apache-2.0
// Where each part of a result lies in a rank's bytes of a SION file: pure arithmetic; the tables are
// docs/formats/sion.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/link/fields.hpp"
#include "bench/link/file.hpp"
#include "model/provenance.hpp"
#include "result/sion/container/byte_order.hpp"
#include "result/sion/container/layout.hpp"
#include "result/sion/container/linktest_record.hpp"

namespace leadline::bench::link {

/// What decides the length of everything.
struct SionShape {
  std::uint64_t num_ranks = 1;
  bool has_all_to_all = false;  ///< in the record
  SionRecord record = SionRecord::extended;
  // Of the extension.
  std::uint64_t num_sizes = 0, num_repeats = 0, num_permutations = 0, num_all_to_all_slots = 0;
  bool has_rounds = false;

  friend bool operator==(const SionShape&, const SionShape&) = default;
};

SionShape shape_of(const Header& header, SionRecord record);

/// The times of a row, in the order in which they lie in the extension.
inline constexpr std::array<PairTime, 5> sion_times{&PairRecord::time_ns_min, &PairRecord::time_ns_median,
                                                    &PairRecord::time_ns_mean, &PairRecord::time_ns_p99,
                                                    &PairRecord::time_ns_max};

/// Offsets in the bytes of one rank. Numbers are not aligned.
class SionOffsets {
 public:
  explicit SionOffsets(const SionShape& shape) : shape_(shape) {}
  const SionShape& shape() const { return shape_; }

  // The record of LinkTest 1.2.
  std::uint64_t record_bytes(std::uint64_t rank) const;
  std::uint64_t record_head_bytes(std::uint64_t rank) const;  ///< all fields before the tables
  std::uint64_t record_times(std::uint64_t rank) const;       ///< float64 [N], s
  std::uint64_t record_steps(std::uint64_t rank) const;       ///< int32 [N]
  std::uint64_t record_all_to_all(std::uint64_t rank) const;  ///< float64 [N], s
  std::uint64_t record_retest_times() const;                  ///< rank 0: float64 [N], s
  std::uint64_t record_retest_first_times() const;            ///< rank 0: float64 [N], s
  std::uint64_t record_retest_from() const;                   ///< rank 0: int32 [N]
  std::uint64_t record_retest_to() const;                     ///< rank 0: int32 [N]

  // The extension, from the first byte of its payload.
  std::uint64_t permutations() const;                                        ///< int32 [K]
  std::uint64_t repeat(std::uint64_t index) const;                           ///< int32 repeat, int32 permutation
  std::uint64_t rounds(std::uint64_t index) const;                           ///< int32 [N]
  std::uint64_t count(std::uint64_t index, std::uint64_t size_index) const;  ///< uint32 [N]
  std::uint64_t times(std::uint64_t index, std::uint64_t size_index, std::size_t which) const;  ///< float64 [N]
  std::uint64_t all_to_all(std::uint64_t index, std::uint64_t size_index) const;                ///< float64 [T]
  std::uint64_t rank_part_bytes() const;  ///< of every rank; behind it, on the last rank, the run's part

  /// Whether all of this fits into 63 bits; the offsets above are sound only then.
  bool is_sound() const;

 private:
  std::uint64_t slice_bytes() const;
  std::uint64_t repeat_bytes() const;

  SionShape shape_;
};

/// The head of every rank's part of the extension: what it is, and the rank's place. Texts that are too long are cut.
std::string encode_rank_head(const SionShape& shape, std::uint64_t rank, const RankPlacement& placement);
inline constexpr std::size_t rank_head_bytes = 960;

/// The shape (record and has_all_to_all are not in it), the rank and its place.
struct RankHead {
  SionShape shape;
  std::uint64_t rank = 0;
  RankPlacement placement;
};
RankHead decode_rank_head(std::string_view bytes, result::sion::ByteOrder order);

// The part of the run, on the last rank: complete (uint64, 0 or 1), reason (text, zero padded), then three texts, each
// behind its length (uint64): what is known before the first message, what the end adds, the summary. All are JSON.

inline constexpr std::uint64_t run_reason_offset = 8;
inline constexpr std::size_t run_reason_bytes = 1024;
inline constexpr std::uint64_t run_texts_offset = run_reason_offset + run_reason_bytes;

/// The whole part, as the header has it.
std::string encode_run_part(const Header& header);

/// Fills the header from texts and marks; number of ranks, sizes of lists and repeats are checked by the caller.
/// Nothing, or what is wrong.
std::string decode_run_texts(std::string_view start, std::string_view end, std::string_view summary, Header& header);

/// Seconds that divide back to these nanoseconds, and nanoseconds that divide to these seconds, as far as doubles can.
double seconds_of_ns(double time_ns);
double ns_of_seconds(double time_s);

/// A SION file of a result, whole: offsets of all ranks. `run_part_bytes` is that of the last rank's extension.
class SionFilePlan {
 public:
  SionFilePlan(const SionShape& shape, std::uint64_t run_part_bytes)
      : offsets_(shape), run_part_bytes_(run_part_bytes) {}

  const SionOffsets& offsets() const { return offsets_; }

  std::uint64_t chunk(std::uint64_t rank) const;      ///< the record begins here
  std::uint64_t extension(std::uint64_t rank) const;  ///< its envelope
  std::uint64_t payload(std::uint64_t rank) const;    ///< of the extension
  std::uint64_t run_part() const;                     ///< on the last rank
  std::uint64_t payload_bytes(std::uint64_t rank) const;

  /// Throws Error(run_failed) where the file would be too large. Memory: 48 bytes a rank.
  result::sion::Layout layout(const std::string& prefix) const;

  /// The first bytes of an extension, up to its payload.
  std::string envelope(std::uint64_t rank) const;

 private:
  std::uint64_t used_bytes(std::uint64_t rank) const;

  SionOffsets offsets_;
  std::uint64_t run_part_bytes_;
};

}  // namespace leadline::bench::link

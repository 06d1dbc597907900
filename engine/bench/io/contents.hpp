// SPDX-License-Identifier: Apache-2.0
// The contents of objects: generated before they are written, verified after they are read; never inside a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/io/request.hpp"
#include "bench/io/result.hpp"
#include "cluster/rank_placement.hpp"
#include "memory/block_pattern.hpp"
#include "schedule/file_layout.hpp"

namespace leadline::bench::io {

/// Who wrote the blocks: in every header.
struct Writing {
  std::uint64_t run = 0;
  std::uint32_t generation = 0;
};

/// Whether one writing may have left both in a run's files: generations are equal, or both those of passes.
constexpr bool are_of_one_writing(std::uint32_t generation, std::uint32_t other) {
  return generation == other || (generation & other & memory::pass_bit) != 0;
}

/// Who makes and checks the contents of objects that a rank moves by itself.
struct ContentsWorker {
  ContentsBy by = ContentsBy::rank;
  cluster::CpuList cpus{};  ///< where the helper runs; empty = wherever the thread that starts it may
};

/// What the memory of an object held before it was read.
enum class Before : std::uint8_t {
  anything,
  object_of_same_rank,  ///< of the same phase
};

/// Local. One thread at a time.
class Contents {
 public:
  /// References outlive it.
  Contents(const IoRequest& request, const schedule::FileLayout& layout, const Writing& writing);

  /// `pass`: which one writes it.
  void fill(std::span<std::byte> object, std::int32_t rank, std::uint64_t number, Before before,
            std::uint64_t pass = 0);

  /// Before anything is read into it.
  void poison(std::span<std::byte> memory);

  /// num_read: bytes that were delivered. `pass`: which one has written it last; of passes of an earlier run any may
  /// have written an object, but one all of it.
  void verify(std::span<const std::byte> object, std::uint64_t num_read, std::int32_t rank, std::uint64_t number,
              std::uint64_t pass = 0);

  /// An object that lies behind the end of its file, as another rank has found.
  void note_truncated(std::uint64_t num_read, std::int32_t rank, std::uint64_t number);

  /// Objects from this number on were not read; findings about them do not count.
  void forget_unread(std::uint64_t first_number);

  /// Numbers of wrong objects, ascending where they were verified so.
  const std::vector<std::uint64_t>& wrong_numbers() const { return wrong_numbers_; }
  std::uint64_t num_mismatches() const { return wrong_numbers_.size(); }
  /// The worst ones, the worst first; without rank, host and file of who read them.
  const std::vector<WrongObject>& wrong() const { return wrong_; }
  std::uint64_t verified_bytes() const { return verified_bytes_; }
  /// What making and checking has taken, whoever did it.
  double making_ns() const { return making_ns_; }
  double checking_ns() const { return checking_ns_; }

 private:
  std::uint32_t generation_of(std::uint64_t pass) const;
  memory::ObjectKey key_of(std::int32_t rank, std::uint64_t number, std::uint64_t pass) const;
  memory::Mismatch truncated(std::uint64_t num_read, const memory::ObjectKey& key) const;
  void note(const memory::Mismatch& mismatch);

  const IoRequest& request_;
  const schedule::FileLayout& layout_;
  Writing writing_;
  memory::ObjectPattern pattern_;
  std::vector<WrongObject> wrong_;
  std::vector<std::uint64_t> wrong_numbers_;
  std::uint64_t verified_bytes_ = 0;
  double making_ns_ = 0, checking_ns_ = 0;
};

}  // namespace leadline::bench::io

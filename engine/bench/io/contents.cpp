// SPDX-License-Identifier: Apache-2.0
// Keys of objects, and a short list of what is wrong.
#include "bench/io/contents.hpp"

#include <algorithm>
#include <optional>

#include "bench/io/recorder.hpp"
#include "bench/io/summary.hpp"

namespace leadline::bench::io {

using memory::Mismatch;
using memory::MismatchKind;
using SumTimer = Recorder::SumTimer;

Contents::Contents(const IoRequest& request, const schedule::FileLayout& layout, const Writing& writing)
    : request_(request), layout_(layout), writing_(writing), pattern_{request.file_fill, request.touch, request.check} {
  wrong_.reserve(num_wrong_kept + 1);
}

std::uint32_t Contents::generation_of(std::uint64_t pass) const {
  if (!request_.time_based || request_.operations == IoOperations::read) return writing_.generation;
  const std::uint64_t over_repetitions = pass * static_cast<std::uint64_t>(request_.repeat) + writing_.generation;
  return memory::pass_bit | static_cast<std::uint32_t>(over_repetitions);
}

memory::ObjectKey Contents::key_of(std::int32_t rank, std::uint64_t number, std::uint64_t pass) const {
  const schedule::ObjectLocation location = layout_.location(rank, number);
  return {writing_.run,
          static_cast<std::uint32_t>(rank),
          static_cast<std::uint32_t>(location.file),
          number,
          location.offset_bytes,
          generation_of(pass)};
}

void Contents::fill(std::span<std::byte> object, std::int32_t rank, std::uint64_t number, Before before,
                    std::uint64_t pass) {
  const SumTimer timer(making_ns_);
  if (before == Before::anything) {
    memory::fill_object(object, pattern_, key_of(rank, number, pass));
  } else {
    memory::refill_object(object, pattern_, key_of(rank, number, pass));
  }
}

void Contents::poison(std::span<std::byte> memory) {
  if (pattern_.check == memory::Check::none) return;
  const SumTimer timer(checking_ns_);
  memory::poison(memory);
}

memory::Mismatch Contents::truncated(std::uint64_t num_read, const memory::ObjectKey& key) const {
  Mismatch mismatch;
  mismatch.kind = MismatchKind::truncated;
  mismatch.expected = key;
  mismatch.first_byte = num_read;
  mismatch.num_bytes = request_.object_size_bytes - num_read;
  return mismatch;
}

void Contents::verify(std::span<const std::byte> object, std::uint64_t num_read, std::int32_t rank,
                      std::uint64_t number, std::uint64_t pass) {
  const SumTimer timer(checking_ns_);
  memory::ObjectKey key = key_of(rank, number, pass);
  if (request_.operations == IoOperations::read && (key.generation & memory::pass_bit) != 0) {
    const auto found = memory::key_of_block(object);
    if (found && are_of_one_writing(found->generation, key.generation)) key.generation = found->generation;
  }
  std::optional<Mismatch> mismatch;
  if (pattern_.check != memory::Check::none) mismatch = memory::check_object(object, num_read, pattern_, key);
  // Counts are looked at whatever is looked at otherwise.
  if (!mismatch && num_read < object.size()) mismatch = truncated(num_read, key);
  if (mismatch) {
    note(*mismatch);
  } else if (pattern_.check != memory::Check::none) {
    verified_bytes_ += object.size();
  }
}

void Contents::note(const Mismatch& mismatch) {
  wrong_numbers_.push_back(mismatch.expected.object);
  const int severity = severity_of(mismatch.kind);
  const auto position =
      std::upper_bound(wrong_.begin(), wrong_.end(), severity,
                       [](int worse, const WrongObject& kept) { return worse > severity_of(kept.mismatch.kind); });
  WrongObject wrong;
  wrong.mismatch = mismatch;
  wrong_.insert(position, wrong);
  if (wrong_.size() > num_wrong_kept) wrong_.pop_back();
}

void Contents::note_truncated(std::uint64_t num_read, std::int32_t rank, std::uint64_t number) {
  const memory::ObjectKey key = key_of(rank, number, 0);
  std::erase_if(wrong_, [&](const WrongObject& kept) { return kept.mismatch.expected.object == number; });
  if (std::find(wrong_numbers_.begin(), wrong_numbers_.end(), number) != wrong_numbers_.end()) {
    std::erase(wrong_numbers_, number);
  } else if (pattern_.check != memory::Check::none) {
    verified_bytes_ -= request_.object_size_bytes;
  }
  note(truncated(num_read, key));
}

void Contents::forget_unread(std::uint64_t first_number) {
  std::erase_if(wrong_, [&](const WrongObject& kept) { return kept.mismatch.expected.object >= first_number; });
  std::erase_if(wrong_numbers_, [&](std::uint64_t number) { return number >= first_number; });
}

}  // namespace leadline::bench::io

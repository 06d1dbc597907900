// SPDX-License-Identifier: Apache-2.0
// Where the messages of one measurement land, one after the other: told to the adapter, and to partners that write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::transport::verbs {

/// Message k lands at place (indexes[k % n] + k / n * step) % num, n being the number of indexes.
struct MessageAddresses {
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};  ///< the index of an empty message

  std::uint64_t begin = 0;         ///< address of place 0
  std::uint64_t stride_bytes = 0;  ///< from each to the next
  std::uint32_t num = 1;
  std::uint32_t step = 0;  ///< below num
  std::uint32_t key = 0;   ///< local, or the partner's
  std::vector<std::uint32_t> indexes{};

  /// The same as a partner needs it to write: with its key, and without empty messages.
  std::string encoded(std::uint32_t remote_key) const;

  /// What a partner has told.
  static MessageAddresses decoded(std::string_view encoded);
};

/// Walks through them.
class AddressSequence {
 public:
  AddressSequence() = default;
  explicit AddressSequence(MessageAddresses addresses) : addresses_(std::move(addresses)) {}

  std::uint32_t key() const { return addresses_.key; }

  /// The address of the next message, 0 where it is empty.
  std::uint64_t next() {
    const std::uint32_t index = addresses_.indexes[at_];
    const std::uint32_t shift = shift_;
    if (++at_ == addresses_.indexes.size()) {
      at_ = 0;
      shift_ = wrapped(shift_ + addresses_.step);
    }
    if (index == MessageAddresses::nowhere) return 0;
    return addresses_.begin + wrapped(index + shift) * addresses_.stride_bytes;
  }

 private:
  std::uint32_t wrapped(std::uint32_t index) const { return index >= addresses_.num ? index - addresses_.num : index; }

  MessageAddresses addresses_;
  std::size_t at_ = 0;
  std::uint32_t shift_ = 0;
};

}  // namespace leadline::transport::verbs

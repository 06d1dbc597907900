// SPDX-License-Identifier: Apache-2.0
// Addresses as bytes for a partner of the same build.
#include "transport/verbs/message_addresses.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"

namespace leadline::transport::verbs {
namespace {

/// What goes before the indexes.
struct Head {
  std::uint64_t begin, stride_bytes;
  std::uint32_t num, step, key, num_indexes;
};

}  // namespace

std::string MessageAddresses::encoded(std::uint32_t remote_key) const {
  std::vector<std::uint32_t> written = indexes;
  std::erase(written, nowhere);
  const Head head{begin, stride_bytes, num, step, remote_key, static_cast<std::uint32_t>(written.size())};
  std::string bytes(sizeof head + written.size() * sizeof(std::uint32_t), '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  if (!written.empty()) std::memcpy(bytes.data() + sizeof head, written.data(), bytes.size() - sizeof head);
  return bytes;
}

MessageAddresses MessageAddresses::decoded(std::string_view encoded) {
  Head head{};
  if (encoded.size() < sizeof head) throw Error(ExitStatus::run_failed, "a partner has not said where to write");
  std::memcpy(&head, encoded.data(), sizeof head);
  MessageAddresses addresses{head.begin, head.stride_bytes, head.num, head.step, head.key, {}};
  addresses.indexes.resize(
      std::min<std::size_t>(head.num_indexes, (encoded.size() - sizeof head) / sizeof(std::uint32_t)));
  if (addresses.indexes.empty()) return addresses;
  std::memcpy(addresses.indexes.data(), encoded.data() + sizeof head, addresses.indexes.size() * sizeof(std::uint32_t));
  return addresses;
}

}  // namespace leadline::transport::verbs

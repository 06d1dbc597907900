// SPDX-License-Identifier: Apache-2.0
// Places as bytes for a partner of the same build.
#include "transport/verbs/places.hpp"

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

std::string Places::told(std::uint32_t remote_key) const {
  std::vector<std::uint32_t> written = indexes;
  std::erase(written, nowhere);
  const Head head{begin, stride_bytes, num, step, remote_key, static_cast<std::uint32_t>(written.size())};
  std::string bytes(sizeof head + written.size() * sizeof(std::uint32_t), '\0');
  std::memcpy(bytes.data(), &head, sizeof head);
  if (!written.empty()) std::memcpy(bytes.data() + sizeof head, written.data(), bytes.size() - sizeof head);
  return bytes;
}

Places Places::heard(std::string_view told) {
  Head head{};
  if (told.size() < sizeof head) throw Error(ExitStatus::run_failed, "a partner has not said where to write");
  std::memcpy(&head, told.data(), sizeof head);
  Places places{head.begin, head.stride_bytes, head.num, head.step, head.key, {}};
  places.indexes.resize(std::min<std::size_t>(head.num_indexes, (told.size() - sizeof head) / sizeof(std::uint32_t)));
  if (places.indexes.empty()) return places;
  std::memcpy(places.indexes.data(), told.data() + sizeof head, places.indexes.size() * sizeof(std::uint32_t));
  return places;
}

}  // namespace leadline::transport::verbs

// SPDX-License-Identifier: Apache-2.0
// Divides an interface's limits up.
#include "transport/portals4/endpoint.hpp"

#include <algorithm>
#include <array>

namespace leadline::transport::portals4 {
namespace {

constexpr std::size_t most_buffers = 8;
constexpr std::size_t most_operations = 1024;
constexpr std::size_t most_words = 4096;  // four kinds from each of as many ranks as links are kept to

/// One byte that is never read, so that the descriptor is one like all others.
constexpr std::array<std::byte, 1> some_place{};

std::size_t at_least_one(std::size_t number) { return std::max<std::size_t>(number, 1); }

}  // namespace

Capacity::Capacity(const ptl_ni_limits_t& limits, const Choice& choice)
    : max_message_bytes(limits.max_msg_size),
      eager_limit_bytes(std::min<std::size_t>(choice.eager_limit_bytes, limits.max_msg_size)) {
  const auto num_entries =
      at_least_one(static_cast<std::size_t>(std::min(limits.max_list_size, limits.max_entries / 2)));
  num_buffers = std::clamp<std::size_t>(num_entries / 4, 1, most_buffers);
  max_posted = at_least_one(num_entries - num_buffers);
  max_exposed = num_entries;
  max_operations = most_operations;
}

Endpoint::Endpoint(const Choice& choice)
    : interface(choice.interface, choice.device),
      capacity(interface.limits(), choice),
      arrivals(interface, capacity.max_posted + 3 * capacity.num_buffers + 16),
      own(interface, capacity.max_operations + max_parts_under_way * capacity.max_exposed + most_words),
      messages(interface, arrivals, PTL_PT_FLOWCTRL),
      memory(interface, own, 0),
      words(interface, own, 0),
      nothing(interface, own, some_place.data(), some_place.size()) {}

}  // namespace leadline::transport::portals4

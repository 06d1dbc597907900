// SPDX-License-Identifier: Apache-2.0
// Compares networks, asks the kernel for routes, and reads the NUMA nodes of adapters.
#include "cluster/near_adapter.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "cluster/rank_placement.hpp"
#include "core/descriptor.hpp"

namespace leadline::cluster {
namespace {

/// The bytes of an address, the first bits as they are and the others 0.
std::string network_bytes(const LocalAddress& one) {
  std::string bytes(one.address.address_bytes());
  for (std::size_t bit = one.num_network_bits; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] & ~(0x80 >> bit % 8));
  }
  return bytes;
}

std::string address_text(int family, const std::string& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, bytes.data(), text.data(), text.size());
  return text.data();
}

bool is_own_address(const SocketAddress& address, const std::vector<LocalAddress>& all) {
  return std::ranges::any_of(
      all, [&](const LocalAddress& one) { return one.address.address_bytes() == address.address_bytes(); });
}

/// Of another host on the same network, whether it exists or not: routes are by network.
std::optional<SocketAddress> some_neighbour(const LocalAddress& own, const std::vector<LocalAddress>& all) {
  std::string bytes(own.address.address_bytes());
  const std::size_t num_bits = 8 * bytes.size();
  constexpr unsigned bits_of_a_byte = 8;
  if (own.num_network_bits == 0 || own.num_network_bits + 2 > num_bits) return std::nullopt;
  const auto num_host_bits = static_cast<unsigned>(num_bits - own.num_network_bits);
  const unsigned host_mask = num_host_bits >= bits_of_a_byte ? 0xff : (1u << num_host_bits) - 1;
  const auto last = static_cast<unsigned char>(bytes.back());
  for (unsigned flipped = 1; flipped <= host_mask; ++flipped) {
    const unsigned host = (last ^ flipped) & host_mask;
    if (host == 0 || host == host_mask) continue;  // they may stand for the network, and for all of its hosts
    bytes.back() = static_cast<char>(last ^ flipped);
    const auto address = SocketAddress::parse(address_text(own.address.family(), bytes), 0);
    if (address && !is_own_address(*address, all)) return address;
  }
  return std::nullopt;
}

/// Whether this host answers for an address on its own device alone; IPv6 always does.
bool answers_on_own_device(const LocalAddress& one, const std::string& proc) {
  if (one.address.family() != AF_INET) return true;
  const auto level = [&](const std::string& device) {
    return std::atoi(first_line_of(fmt::format("{}/sys/net/ipv4/conf/{}/arp_ignore", proc, device)).c_str());
  };
  return std::max(level("all"), level(one.device)) > 0;
}

int numa_node_of_device(const std::string& device, const std::string& sys) {
  const std::string text = first_line_of(fmt::format("{}/class/net/{}/device/numa_node", sys, device));
  return text.empty() ? -1 : std::atoi(text.c_str());
}

struct RouteQuestion {
  nlmsghdr header;
  rtmsg route;
  std::array<char, 2 * RTA_SPACE(sizeof(in6_addr))> attributes;
};

void add_address(RouteQuestion& question, unsigned short kind, const SocketAddress& address) {
  const std::string_view bytes = address.address_bytes();
  rtattr attribute{};
  attribute.rta_type = kind;
  attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(bytes.size()));
  char* const end = reinterpret_cast<char*>(&question) + NLMSG_ALIGN(question.header.nlmsg_len);
  std::memcpy(end, &attribute, sizeof attribute);
  std::memcpy(end + RTA_LENGTH(0), bytes.data(), bytes.size());
  question.header.nlmsg_len = static_cast<__u32>(NLMSG_ALIGN(question.header.nlmsg_len) + RTA_SPACE(bytes.size()));
}

}  // namespace

std::string network_text(const LocalAddress& address) {
  return fmt::format("{}/{}", address_text(address.address.family(), network_bytes(address)), address.num_network_bits);
}

std::string device_of_route(const SocketAddress& from, const SocketAddress& to) {
  const Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return {};
  RouteQuestion question{};
  question.header.nlmsg_len = NLMSG_LENGTH(sizeof question.route);
  question.header.nlmsg_type = RTM_GETROUTE;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.route.rtm_family = static_cast<unsigned char>(to.family());
  question.route.rtm_dst_len = static_cast<unsigned char>(8 * to.address_bytes().size());
  question.route.rtm_src_len = static_cast<unsigned char>(8 * from.address_bytes().size());
  add_address(question, RTA_DST, to);
  add_address(question, RTA_SRC, from);
  if (::send(socket.fd(), &question, question.header.nlmsg_len, 0) < 0) return {};
  alignas(nlmsghdr) std::array<char, 4096> answer{};  // the kernel answers such a question before send() returns
  const ssize_t length = ::recv(socket.fd(), answer.data(), answer.size(), MSG_DONTWAIT);
  const auto* const header = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (length < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(rtmsg))) || header->nlmsg_type != RTM_NEWROUTE) return {};
  const char* at = answer.data() + NLMSG_LENGTH(sizeof(rtmsg));
  const char* const end = answer.data() + std::min<std::size_t>(header->nlmsg_len, static_cast<std::size_t>(length));
  while (end - at >= static_cast<std::ptrdiff_t>(sizeof(rtattr))) {
    const auto& attribute = *reinterpret_cast<const rtattr*>(at);
    if (attribute.rta_len < sizeof(rtattr) || attribute.rta_len > end - at) return {};
    if (attribute.rta_type == RTA_OIF) {
      std::uint32_t index = 0;
      std::memcpy(&index, at + RTA_LENGTH(0), sizeof index);
      std::array<char, IF_NAMESIZE> name{};
      return ::if_indextoname(index, name.data()) != nullptr ? name.data() : "";
    }
    at += RTA_ALIGN(attribute.rta_len);
  }
  return {};
}

std::vector<NetworkPlace> places_on_network(const std::string& own, const std::vector<LocalAddress>& all,
                                            const AskForRoute& ask, const KernelFolders& kernel) {
  const auto first = std::ranges::find_if(all, [&](const LocalAddress& one) { return one.address.host_text() == own; });
  if (first == all.end() || first->num_network_bits == 0 || first->address.is_loopback()) return {};
  std::vector<NetworkPlace> places{{*first, numa_node_of_device(first->device, kernel.sys)}};
  for (const LocalAddress& one : all) {
    const bool is_known =
        std::ranges::any_of(places, [&](const NetworkPlace& place) { return place.local.device == one.device; });
    if (!is_known && network_text(one) == network_text(*first)) {
      places.push_back({one, numa_node_of_device(one.device, kernel.sys)});
    }
  }
  // Each must carry its own, also the first: where it does not, the others' choice would be for nothing.
  const auto carries_its_own = [&](const NetworkPlace& place) {
    const auto neighbour = some_neighbour(place.local, all);
    return neighbour && answers_on_own_device(place.local, kernel.proc) &&
           ask(place.local.address, *neighbour) == place.local.device;
  };
  if (places.size() > 1 && !std::ranges::all_of(places, carries_its_own)) places.resize(1);
  return places;
}

const NetworkPlace& nearest_place(const std::vector<NetworkPlace>& places, int numa_node) {
  const auto found = std::ranges::find_if(
      places, [&](const NetworkPlace& place) { return numa_node >= 0 && place.numa_node == numa_node; });
  return found == places.end() ? places.front() : *found;
}

}  // namespace leadline::cluster

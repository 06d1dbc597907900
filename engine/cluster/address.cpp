// SPDX-License-Identifier: Apache-2.0
// Addresses in text and in the system's structures, and the choice among those of this host.
#include "cluster/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <memory>

#include "cluster/process_identity.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

constexpr const char* host_name_suffix_variable = "LINKTEST_SYSTEM_NODENAME_SUFFIX";

const sockaddr_in& as_ipv4(const sockaddr* address) { return *reinterpret_cast<const sockaddr_in*>(address); }
const sockaddr_in6& as_ipv6(const sockaddr* address) { return *reinterpret_cast<const sockaddr_in6*>(address); }

/// "10.55.0.0/24"
bool is_in_network(const SocketAddress& address, const std::string& network) {
  const std::size_t slash = network.find('/');
  if (slash == std::string::npos) return false;
  const auto base = SocketAddress::parse(network.substr(0, slash), 0);
  unsigned num_bits = 0;
  const char* end = network.data() + network.size();
  const auto [stop, problem] = std::from_chars(network.data() + slash + 1, end, num_bits);
  if (!base || problem != std::errc{} || stop != end) return false;
  const std::string_view left = base->address_bytes(), right = address.address_bytes();
  if (base->family() != address.family() || num_bits > 8 * left.size()) return false;
  for (unsigned bit = 0; bit < num_bits; ++bit) {
    if (((left[bit / 8] ^ right[bit / 8]) >> (7 - bit % 8)) & 1) return false;
  }
  return true;
}

/// How many bits of a netmask are set; 0 where there is none.
unsigned num_bits_of_mask(const sockaddr* mask) {
  if (mask == nullptr || (mask->sa_family != AF_INET && mask->sa_family != AF_INET6)) return 0;
  const SocketAddress address(mask);
  unsigned num = 0;
  for (const char byte : address.address_bytes()) {
    num += static_cast<unsigned>(std::popcount(static_cast<unsigned char>(byte)));
  }
  return num;
}

/// What the name service says to a name: addresses, or why there are none.
struct Lookup {
  std::vector<std::string> addresses;
  std::string why_none;
};

Lookup ask_for(const std::string& name) {
  addrinfo* list = nullptr;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const int problem = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
  if (problem != 0) return {{}, ::gai_strerror(problem)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  Lookup answer;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    answer.addresses.push_back(SocketAddress(one->ai_addr).host_text());
  }
  return answer;
}

/// The first of these addresses that is ours.
std::optional<SocketAddress> own_among(const std::vector<std::string>& addresses,
                                       const std::vector<LocalAddress>& candidates) {
  for (const std::string& address : addresses) {
    for (const LocalAddress& candidate : candidates) {
      if (candidate.address.host_text() == address) return candidate.address;
    }
  }
  return std::nullopt;
}

std::string listed(const std::vector<LocalAddress>& candidates) {
  std::string text;
  for (const LocalAddress& one : candidates) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.device, one.address.host_text());
  }
  return text;
}

LocalAddress address_of_interface(const std::string& interface, const std::vector<LocalAddress>& candidates) {
  for (const LocalAddress& one : candidates) {
    if (matches(one, interface)) return one;
  }
  throw Error(ExitStatus::something_missing, fmt::format("no network interface matches '{}'", interface),
              "this host has " + listed(candidates),
              "name a device (eth0) or a network (10.0.0.0/8) that every host has");
}

SocketAddress address_of_suffixed_name(const std::string& suffix, const std::vector<LocalAddress>& candidates) {
  const std::string host = host_name();
  const std::string name = host.substr(0, host.find('.')) + suffix;
  const Lookup answer = ask_for(name);
  if (const auto own = own_among(answer.addresses, candidates)) return *own;
  const std::string why = answer.addresses.empty() ? "the name service says: " + answer.why_none
                                                   : fmt::format("{} is not an address of this host, which has {}",
                                                                 answer.addresses.front(), listed(candidates));
  throw Error(ExitStatus::something_missing, fmt::format("the host name '{}' leads to no network of this host", name),
              why,
              fmt::format("{} is '{}': set it so that host name and suffix name one, or leave it out",
                          host_name_suffix_variable, suffix));
}

}  // namespace

SocketAddress::SocketAddress(const sockaddr* address) {
  storage_.ss_family = address->sa_family;
  std::memcpy(&storage_, address, length());
}

std::optional<SocketAddress> SocketAddress::parse(const std::string& address, std::uint16_t port) {
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &ipv4.sin_addr) == 1) {
    return SocketAddress(reinterpret_cast<const sockaddr*>(&ipv4));
  }
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  if (::inet_pton(AF_INET6, address.c_str(), &ipv6.sin6_addr) == 1) {
    return SocketAddress(reinterpret_cast<const sockaddr*>(&ipv6));
  }
  return std::nullopt;
}

SocketAddress SocketAddress::of_socket(int fd) {
  SocketAddress address;
  socklen_t length = sizeof address.storage_;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage_), &length) != 0) {
    throw Error(ExitStatus::run_failed, "cannot ask a socket for its address", system_error_text(errno));
  }
  return address;
}

socklen_t SocketAddress::length() const { return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }

std::uint16_t SocketAddress::port() const {
  return ntohs(family() == AF_INET6 ? as_ipv6(get()).sin6_port : as_ipv4(get()).sin_port);
}

bool SocketAddress::is_loopback() const {
  if (family() == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&as_ipv6(get()).sin6_addr) != 0;
  return (ntohl(as_ipv4(get()).sin_addr.s_addr) >> 24) == 127;
}

std::string_view SocketAddress::address_bytes() const {
  if (family() == AF_INET6) return {reinterpret_cast<const char*>(&as_ipv6(get()).sin6_addr), 16};
  return {reinterpret_cast<const char*>(&as_ipv4(get()).sin_addr), 4};
}

std::string SocketAddress::host_text() const {
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(family(), address_bytes().data(), text, sizeof text);
  return text;
}

std::string SocketAddress::text() const {
  return family() == AF_INET6 ? fmt::format("[{}]:{}", host_text(), port()) : fmt::format("{}:{}", host_text(), port());
}

std::vector<LocalAddress> local_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<LocalAddress> found;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as_ipv6(one->ifa_addr).sin6_addr)) continue;
    found.push_back({one->ifa_name, SocketAddress(one->ifa_addr), num_bits_of_mask(one->ifa_netmask)});
  }
  std::stable_partition(found.begin(), found.end(), [](const auto& one) { return one.address.family() == AF_INET; });
  return found;
}

bool matches(const LocalAddress& candidate, const std::string& wanted) {
  return candidate.device == wanted || candidate.address.host_text() == wanted ||
         is_in_network(candidate.address, wanted) ||
         (wanted.ends_with('.') && candidate.address.host_text().starts_with(wanted));
}

std::vector<std::string> rails(const std::string& interfaces) {
  std::vector<std::string> found;
  for (std::size_t start = 0; start < interfaces.size();) {
    const std::size_t end = std::min(interfaces.find(',', start), interfaces.size());
    if (end > start) found.push_back(interfaces.substr(start, end - start));
    start = end + 1;
  }
  return found;
}

LocalAddress local_address(const std::string& wanted) { return address_of_interface(wanted, local_addresses()); }

void refuse_two_choices(const NetworkChoice& network) {
  if (network.interface.empty() || network.host_name_suffix.empty()) return;
  throw Error(ExitStatus::bad_command_line, "two settings choose the network",
              fmt::format("the interface is '{}', and {} is '{}'", network.interface, host_name_suffix_variable,
                          network.host_name_suffix),
              "Leave one of them out");
}

SocketAddress address_between_hosts(const NetworkChoice& network) {
  std::vector<LocalAddress> candidates = local_addresses();
  if (const auto wanted = rails(network.interface); !wanted.empty()) {
    return address_of_interface(wanted.front(), candidates).address;
  }
  if (!network.host_name_suffix.empty()) return address_of_suffixed_name(network.host_name_suffix, candidates);
  const std::string devices = listed(candidates);
  std::erase_if(candidates, [](const auto& one) { return one.address.is_loopback(); });
  if (candidates.empty()) {
    throw Error(ExitStatus::something_missing, "no network reaches the other hosts of the run",
                "this host has " + devices, "bring a network device up");
  }
  if (candidates.size() == 1) return candidates.front().address;
  return own_among(ask_for(host_name()).addresses, candidates).value_or(candidates.front().address);
}

}  // namespace leadline::cluster

// SPDX-License-Identifier: Apache-2.0
// Two all-gathers: hosts and shares of the secret, then the endpoints; a third only where somebody could not listen.
#include "cluster/gathered_membership.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "cluster/bytes.hpp"
#include "cluster/connection.hpp"
#include "cluster/keyed_hash.hpp"
#include "cluster/process_identity.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

constexpr std::size_t share_size_bytes = 8;  // of the secret: two ranks have 128 bits of it already
constexpr std::size_t address_size_max = 16;
// Number of address bytes (0 = cannot listen), address, port.
constexpr std::size_t record_size_bytes = 1 + address_size_max + 2;
constexpr std::size_t error_size_bytes = 400;

/// The part of all ranks' texts, each of this length, that belongs to one.
std::string_view part_of(std::string_view all, std::size_t length, std::size_t rank) {
  return all.substr(rank * length, length);
}

std::string packed(const std::optional<Error>& error) {
  std::string bytes;
  if (error) {
    append(bytes, static_cast<std::uint32_t>(error->status()));
    append_text(bytes, error->problem().substr(0, 120));
    append_text(bytes, error->why().substr(0, 120));
    append_text(bytes, error->hint().substr(0, 120));
  }
  bytes.resize(error_size_bytes);
  return bytes;
}

[[noreturn]] void throw_lowest(std::string_view errors) {
  for (; !errors.empty(); errors.remove_prefix(error_size_bytes)) {
    Reader reader(errors.substr(0, error_size_bytes));
    const auto status = reader.number<std::uint32_t>();
    std::string problem = reader.text(), why = reader.text(), hint = reader.text();
    if (status != 0) throw Error(static_cast<ExitStatus>(status), std::move(problem), std::move(why), std::move(hint));
  }
  throw Error(ExitStatus::run_failed, "a rank cannot listen for the others");
}

}  // namespace

GatheredMembership::GatheredMembership(Bootstrap& bootstrap, const NetworkChoice& network) {
  const std::string own_share = random_bytes(share_size_bytes);
  std::string own_host;
  const HostIdentity identity = HostIdentity::own();
  append(own_host, identity.network);
  append(own_host, identity.boot);
  bool is_one_host = true;
  {
    const std::string own = own_host + own_share;
    const std::string all = bootstrap.all_gather(own);
    secret_ = hash_of(all + std::string(bootstrap.known_secret()));
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(bootstrap.size()); ++rank) {
      if (bootstrap.absent_host(static_cast<int>(rank)) != nullptr) continue;
      is_one_host = is_one_host && part_of(all, own.size(), rank).starts_with(own_host);
    }
  }

  std::optional<Error> error;
  SocketAddress own;
  try {
    refuse_two_choices(network);
    listener_ = listen_on(is_one_host ? *SocketAddress::parse("127.0.0.1", 0) : address_between_hosts(network));
    own = SocketAddress::of_socket(listener_.fd());
  } catch (const Error& problem) {
    error = problem;
  }
  exchange_endpoints(bootstrap, own);
  if (book_.empty()) throw_lowest(bootstrap.all_gather(packed(error)));
}

void GatheredMembership::exchange_endpoints(Bootstrap& bootstrap, const SocketAddress& own) {
  std::string record(record_size_bytes, '\0');
  if (listener_) {
    const std::string_view address = own.address_bytes();
    put(record.data(), static_cast<std::uint8_t>(address.size()));
    std::copy(address.begin(), address.end(), record.begin() + 1);
    put(record.data() + 1 + address_size_max, own.port());
  }
  const std::string all = bootstrap.all_gather(record);
  const auto size = static_cast<std::size_t>(bootstrap.size());
  const auto length_of = [&](std::size_t rank) { return static_cast<std::size_t>(all[rank * record_size_bytes]); };
  const auto is_absent = [&](std::size_t rank) { return bootstrap.absent_host(static_cast<int>(rank)) != nullptr; };
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (is_absent(rank)) continue;
    if (length_of(rank) == 0) return;  // this rank cannot listen: no book
    address_size_bytes_ = std::max(address_size_bytes_, length_of(rank));
  }
  book_.reserve(size * (address_size_bytes_ + 2));
  for (std::size_t rank = 0; rank < size; ++rank) {
    const std::string_view one = part_of(all, record_size_bytes, rank);
    if (is_absent(rank)) {  // any address, port 0: who calls it is refused at once
      book_.append(address_size_bytes_ + 2, '\0');
      continue;
    }
    // An IPv4 address among IPv6 ones is kept in its IPv6 form.
    if (length_of(rank) < address_size_bytes_) book_.append(10, '\0').append("\xff\xff");
    book_.append(one.substr(1, length_of(rank))).append(one.substr(1 + address_size_max, 2));
  }
}

Endpoint GatheredMembership::endpoint_of(int rank) const {
  const std::size_t stride = address_size_bytes_ + 2;
  const char* entry = book_.data() + static_cast<std::size_t>(rank) * stride;
  const auto port = take<std::uint16_t>(entry + address_size_bytes_);
  const bool is_ipv6 = address_size_bytes_ == 16;
  const bool is_mapped = is_ipv6 && std::string_view(entry, 12) == std::string(10, '\0') + "\xff\xff";
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(is_ipv6 && !is_mapped ? AF_INET6 : AF_INET, is_mapped ? entry + 12 : entry, text, sizeof text);
  return {text, port};
}

}  // namespace leadline::cluster

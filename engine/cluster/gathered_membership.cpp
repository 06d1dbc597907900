// SPDX-License-Identifier: Apache-2.0
// Two all-gathers: hosts and the secret, then the endpoints; a third only where somebody could not listen.
#include "cluster/gathered_membership.hpp"

#include <arpa/inet.h>
#include <sodium.h>

#include <algorithm>
#include <optional>

#include "cluster/bytes.hpp"
#include "cluster/listener.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

constexpr std::size_t secret_size_bytes = 32;
constexpr std::size_t address_size_max = 16;
// Number of address bytes (0 = cannot listen), address, port.
constexpr std::size_t record_size_bytes = 1 + address_size_max + 2;
constexpr std::size_t error_size_bytes = 400;

std::string hash_of(const std::string& text) {
  std::string hash(16, '\0');
  crypto_generichash(reinterpret_cast<unsigned char*>(hash.data()), hash.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  return hash;
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

[[noreturn]] void throw_lowest(const std::vector<std::string>& errors) {
  for (const std::string& one : errors) {
    Reader reader(one);
    const auto status = reader.number<std::uint32_t>();
    std::string problem = reader.text(), why = reader.text(), hint = reader.text();
    if (status != 0) throw Error(static_cast<ExitStatus>(status), std::move(problem), std::move(why), std::move(hint));
  }
  throw Error(ExitStatus::run_failed, "a rank cannot listen for the others");
}

}  // namespace

GatheredMembership::GatheredMembership(Bootstrap& bootstrap, const std::string& host, const std::string& interface) {
  std::string own_secret(secret_size_bytes, '\0');
  if (bootstrap.rank() == 0) randombytes_buf(own_secret.data(), own_secret.size());
  const std::string own_hash = hash_of(host);
  bool is_one_host = true;
  {
    const std::vector<std::string> all = bootstrap.all_gather(own_hash + own_secret);
    secret_ = all.front().substr(own_hash.size());
    for (const std::string& one : all) is_one_host = is_one_host && one.starts_with(own_hash);
  }

  std::optional<Error> error;
  SocketAddress own;
  try {
    listener_ = listen_on(is_one_host ? *SocketAddress::parse("127.0.0.1", 0) : address_between_hosts(interface));
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
  const std::vector<std::string> all = bootstrap.all_gather(record);
  for (const std::string& one : all) {
    if (one[0] == 0) return;  // this rank cannot listen: no book
    address_size_bytes_ = std::max(address_size_bytes_, static_cast<std::size_t>(one[0]));
  }
  book_.reserve(all.size() * (address_size_bytes_ + 2));
  for (const std::string& one : all) {
    std::string address = one.substr(1, static_cast<std::size_t>(one[0]));
    // An IPv4 address among IPv6 ones is kept in its IPv6 form.
    if (address.size() < address_size_bytes_) address = std::string(10, '\0') + "\xff\xff" + address;
    book_ += address + one.substr(1 + address_size_max, 2);
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

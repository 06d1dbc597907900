// SPDX-License-Identifier: Apache-2.0
// Reading the LEADLINE_* and LINKTEST_TCP_* variables.
#include "cluster/environment.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "cluster/address.hpp"
#include "cluster/connection.hpp"
#include "cluster/keyed_hash.hpp"
#include "cluster/variables.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

/// How a family of variables is called.
struct Family {
  const char* size;
  const char* rank;
  const char* address;  ///< the rank comes behind it
  const char* port;     ///< as well
  int num_digits;       ///< of that rank, at least
  const char* launcher;
};

constexpr Family own_family{"LEADLINE_SIZE", "LEADLINE_RANK", "LEADLINE_ADDRESS_", "LEADLINE_PORT_", 1, "environment"};
constexpr const char* rank0_address = "LEADLINE_ADDRESS";
constexpr const char* rank0_port = "LEADLINE_PORT";
constexpr Family linktest_family{
    "LINKTEST_TCP_SIZE",           "LINKTEST_TCP_RANK", "LINKTEST_TCP_IPADDR_", "LINKTEST_TCP_PORT_", 8,
    "environment (LINKTEST_TCP_*)"};

class EnvironmentBootstrap final : public Bootstrap, private Membership {
 public:
  /// `make_secret` gives the one for those who have set none.
  template <class MakeSecret>
  EnvironmentBootstrap(const Family& family, const MakeSecret& make_secret)
      : family_(family),
        size_(number_of_variable(family.size, 1, std::numeric_limits<int>::max(), "Set it to the number of ranks")),
        rank_(number_of_variable(family.rank, 0, size_ - 1, "Set it to this process's number, counted from 0")) {
    endpoint_of(rank_);
    secret_ = given_secret();
    if (secret_.empty()) secret_ = make_secret(*this);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string launcher() const override { return family_.launcher; }
  Membership* membership() override { return this; }
  bool starts_ranks_one_by_one() const override { return true; }

  /// What all ranks can compute from what they know of all ranks.
  std::string secret_of_endpoints() const {
    std::string endpoints;
    for (int rank = 0; rank < size_; ++rank) {
      const Endpoint one = endpoint_of(rank);
      endpoints += fmt::format("{} {}\n", one.address, one.port);
    }
    return hash_of(endpoints);
  }

 private:
  Descriptor take_listener() override {
    const Endpoint own = endpoint_of(rank_);
    return listen_on(*SocketAddress::parse(own.address, own.port));
  }
  Endpoint endpoint_of(int rank) const override {
    const std::string hint =
        fmt::format("Set it to where rank {} listens; every rank needs all of them, its own too", rank);
    const std::string name = fmt::format("{}{:0{}}", family_.address, rank, family_.num_digits);
    const std::string address = text_of_variable(name, hint);
    if (!SocketAddress::parse(address, 0)) bad_variable(name, fmt::format("'{}' is not an IP address", address), hint);
    const int port =
        number_of_variable(fmt::format("{}{:0{}}", family_.port, rank, family_.num_digits), 1, 65535, hint);
    return {address, static_cast<std::uint16_t>(port)};
  }
  std::string_view secret() const override { return secret_; }

  Family family_;
  int size_, rank_;
  std::string secret_;
};

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

}  // namespace

std::unique_ptr<Bootstrap> environment_bootstrap() {
  for (const char* const name : {rank0_address, rank0_port}) {
    if (!is_set(name)) continue;
    bad_variable(name, fmt::format("{}_0 is set, too", name),
                 "Set the address and port of rank 0 alone, or those of every rank by their numbers");
  }
  return std::make_unique<EnvironmentBootstrap>(own_family, [](const auto&) { return required_secret(); });
}

std::unique_ptr<Bootstrap> linktest_environment_bootstrap() {
  return std::make_unique<EnvironmentBootstrap>(linktest_family,
                                                [](const auto& self) { return self.secret_of_endpoints(); });
}

bool has_own_variables() {
  return is_set(own_family.size) || is_set(own_family.rank) || is_set(rank0_address) || is_set(rank0_port) ||
         has_addresses_of_all();
}

bool has_addresses_of_all() { return is_set("LEADLINE_ADDRESS_0") || is_set("LEADLINE_PORT_0"); }

bool has_own_rank() { return is_set(own_family.rank); }

bool has_linktest_variables() { return is_set(linktest_family.size) || is_set(linktest_family.rank); }

}  // namespace leadline::cluster

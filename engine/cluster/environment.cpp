// SPDX-License-Identifier: Apache-2.0
// Reading the LEADLINE_* variables.
#include "cluster/environment.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "cluster/address.hpp"
#include "cluster/listener.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

constexpr std::size_t secret_length_min = 16;

[[noreturn]] void bad_variable(const std::string& name, const std::string& why, const std::string& hint) {
  throw Error(ExitStatus::bad_command_line, "the environment variable " + name + " cannot be used", why, hint);
}

std::string text_of(const std::string& name, const std::string& hint) {
  const char* text = std::getenv(name.c_str());
  if (text == nullptr || *text == '\0') bad_variable(name, "it is not set", hint);
  return text;
}

int number_of(const std::string& name, int min, int max, const std::string& hint) {
  const std::string text = text_of(name, hint);
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc::invalid_argument || (problem == std::errc{} && stop != end)) {
    bad_variable(name, fmt::format("'{}' is not a number", text), hint);
  }
  if (problem != std::errc{} || number < min || number > max) {
    bad_variable(name, fmt::format("{} is not from {} to {}", text, min, max), hint);
  }
  return number;
}

class EnvironmentBootstrap final : public Bootstrap, private Membership {
 public:
  EnvironmentBootstrap()
      : size_(number_of("LEADLINE_SIZE", 1, std::numeric_limits<int>::max(), "Set it to the number of ranks")),
        rank_(number_of("LEADLINE_RANK", 0, size_ - 1, "Set it to this process's number, counted from 0")),
        secret_(text_of("LEADLINE_SECRET", secret_hint)) {
    if (secret_.size() < secret_length_min) {
      bad_variable("LEADLINE_SECRET", fmt::format("it has fewer than {} characters", secret_length_min), secret_hint);
    }
    endpoint_of(rank_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string launcher() const override { return "environment"; }
  Membership* membership() override { return this; }

 private:
  static constexpr const char* secret_hint =
      "Export the same random text for all ranks, for instance that of: openssl rand -hex 16";

  Socket take_listener() override {
    const Endpoint own = endpoint_of(rank_);
    return listen_on(*SocketAddress::parse(own.address, own.port));
  }
  Endpoint endpoint_of(int rank) const override {
    const std::string hint = fmt::format("Set it to where rank {} listens; every rank needs all of them", rank);
    const std::string name = fmt::format("LEADLINE_ADDRESS_{}", rank);
    const std::string address = text_of(name, hint);
    if (!SocketAddress::parse(address, 0)) bad_variable(name, fmt::format("'{}' is not an IP address", address), hint);
    const int port = number_of(fmt::format("LEADLINE_PORT_{}", rank), 1, 65535, hint);
    return {address, static_cast<std::uint16_t>(port)};
  }
  std::string_view secret() const override { return secret_; }

  int size_, rank_;
  std::string secret_;
};

}  // namespace

std::unique_ptr<Bootstrap> environment_bootstrap() { return std::make_unique<EnvironmentBootstrap>(); }

}  // namespace leadline::cluster

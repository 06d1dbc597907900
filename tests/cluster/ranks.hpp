// SPDX-License-Identifier: Apache-2.0
// Ranks for tests: processes of the local launcher that join a cluster, with their standard error caught.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cluster/address.hpp"
#include "cluster/cluster.hpp"
#include "cluster/connection.hpp"
#include "cluster/local.hpp"
#include "core/descriptor.hpp"

namespace leadline::cluster {

/// Ports of 127.0.0.1 that stay reserved while this process lives: who asks for any port gets another one, and a rank
/// that asks for this very one gets it, since a socket that does not listen shares its port with SO_REUSEADDR.
inline std::vector<std::string> free_ports(int num_ports) {
  static std::vector<Descriptor> reserved;
  std::vector<std::string> ports;
  while (static_cast<int>(ports.size()) < num_ports) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto any = *SocketAddress::parse("127.0.0.1", 0);
    if (!socket || ::bind(socket.fd(), any.get(), any.length()) != 0) throw std::runtime_error("no port is free");
    const int yes = 1;
    ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);  // after bind: that found it unused
    ports.push_back(std::to_string(SocketAddress::of_socket(socket.fd()).port()));
    reserved.push_back(std::move(socket));
  }
  return ports;
}

struct Outcome {
  int status = -1;
  std::string said;  ///< on standard error, by all ranks and the launcher
};

/// Thrown in a rank, where GoogleTest's own macros do not reach the test: what was expected and is not so.
inline void require(bool is_so, const std::string& what) {
  if (!is_so) throw std::runtime_error("not so: " + what);
}

/// A rank other than 0 says what escapes it, too: a test wants to know.
/// As a program ends with an error.
inline int say_and_end(const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return static_cast<int>(error.status());
}

inline int say_and_fail(const std::exception& error) {
  std::fprintf(stderr, "in a rank: %s\n", error.what());
  return 9;
}

inline Outcome run_processes(int num_ranks, const std::function<int(std::unique_ptr<Bootstrap>)>& rank_main) {
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.status = launch_local(num_ranks, rank_main);
  outcome.said = testing::internal::GetCapturedStderr();
  return outcome;
}

inline Outcome run_ranks(int num_ranks, const std::function<void(Cluster&)>& body,
                         std::chrono::nanoseconds timeout = std::chrono::seconds(30)) {
  return run_processes(num_ranks, [&](std::unique_ptr<Bootstrap> bootstrap) {
    try {
      JoinOptions options;
      options.timeout = timeout;
      const auto cluster = Cluster::join(std::move(bootstrap), options);
      body(*cluster);
      cluster->leave();
      return 0;
    } catch (const std::exception& error) {
      return say_and_fail(error);
    }
  });
}

/// All went well and nobody had anything to say.
#define EXPECT_FINE(outcome_expression)                                     \
  do {                                                                      \
    const ::leadline::cluster::Outcome outcome_here = (outcome_expression); \
    EXPECT_EQ(outcome_here.status, 0);                                      \
    EXPECT_EQ(outcome_here.said, "");                                       \
  } while (false)

}  // namespace leadline::cluster

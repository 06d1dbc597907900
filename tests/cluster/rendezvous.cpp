// SPDX-License-Identifier: Apache-2.0
// Partners meet, in any order and several times; connections from outside the run change nothing.
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "cluster/address.hpp"
#include "cluster/handshake.hpp"
#include "cluster/tcp_cluster.hpp"
#include "ranks.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;

void say(const Descriptor& socket, char word) { require(::send(socket.fd(), &word, 1, MSG_NOSIGNAL) == 1, "send"); }

char hear(const Descriptor& socket) {
  char word = 0;
  require(::recv(socket.fd(), &word, 1, MSG_WAITALL) == 1, "receive");
  return word;
}

TEST(Meet, every_pair_gets_a_connection_of_its_own) {
  EXPECT_FINE(run_ranks(5, [](Cluster& cluster) {
    // Lower partners first on all ranks: no two pairs wait for each other.
    for (int partner = 0; partner < cluster.size(); ++partner) {
      if (partner == cluster.rank()) continue;
      const Descriptor socket = cluster.meet(partner, Deadline::after(20s));
      say(socket, static_cast<char>('0' + cluster.rank()));
      require(hear(socket) == static_cast<char>('0' + partner), "the partner's word");
    }
  }));
}

TEST(Meet, one_may_come_long_before_the_other) {
  for (const int early : {0, 1}) {
    EXPECT_FINE(run_ranks(2, [&](Cluster& cluster) {
      if (cluster.rank() != early) ::usleep(20'000);
      const Descriptor socket = cluster.meet(1 - cluster.rank(), Deadline::after(20s));
      say(socket, 'a');
      require(hear(socket) == 'a', "a word");
    }));
  }
}

TEST(Meet, meetings_of_a_pair_are_matched_in_order) {
  EXPECT_FINE(run_ranks(2, [](Cluster& cluster) {
    std::vector<Descriptor> sockets;
    for (int i = 0; i < 5; ++i) sockets.push_back(cluster.meet(1 - cluster.rank(), Deadline::after(20s)));
    for (int i = 4; i >= 0; --i) {
      say(sockets[static_cast<std::size_t>(i)], static_cast<char>('0' + i));
      require(hear(sockets[static_cast<std::size_t>(i)]) == '0' + i, "the same meeting");
    }
  }));
}

TEST(Meet, ends_with_an_error_when_the_other_does_not_come) {
  EXPECT_FINE(run_ranks(2, [](Cluster& cluster) {
    if (cluster.rank() == 1) {
      try {
        cluster.meet(0, Deadline::after(20ms));
        require(false, "an error");
      } catch (const ConnectionLost& error) {
        require(error.problem() == "rank 0 did not connect to rank 1 in time", error.what());
      }
    }
    cluster.barrier();
  }));
}

Descriptor connect_to(const Endpoint& endpoint) {
  const auto address = *SocketAddress::parse(endpoint.address, endpoint.port);
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  require(::connect(socket.fd(), address.get(), address.length()) == 0, "anyone can connect");
  return socket;
}

void send_text(const Descriptor& socket, std::string_view text) {
  (void)!::send(socket.fd(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// What a listener sends to whoever connects.
Nonce challenge_on(const Descriptor& socket) {
  Challenge bytes{};
  require(::recv(socket.fd(), bytes.data(), bytes.size(), MSG_WAITALL) == ssize_t{bytes.size()}, "a challenge");
  const auto nonce = nonce_of(bytes);
  require(nonce.has_value(), "a challenge of this program");
  return *nonce;
}

/// A hello that is right in all but the secret, and the challenge.
std::string forged_hello(Purpose purpose, int from, int to) {
  const RunKey key("not the secret of this run");
  const Hello hello{purpose, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), new_nonce()};
  const auto bytes = key.seal(hello, new_nonce());
  return {bytes.data(), bytes.size()};
}

/// Rank 1 connects to all ranks as programs outside the run would, before and after it joins.
Outcome run_with_foreign_connections(
    const std::function<void(const Endpoint&, int rank, std::vector<Descriptor>&)>& pester) {
  return run_processes(4, [&](std::unique_ptr<Bootstrap> bootstrap) {
    try {
      std::vector<Descriptor> connections;
      std::vector<Endpoint> endpoints;
      for (int rank = 0; rank < 4; ++rank) endpoints.push_back(bootstrap->membership()->endpoint_of(rank));
      const auto pester_all = [&] {
        for (int rank = 0; rank < 4; ++rank) pester(endpoints[static_cast<std::size_t>(rank)], rank, connections);
      };
      const bool is_pest = bootstrap->rank() == 1;
      if (is_pest) pester_all();
      const auto cluster = Cluster::join(std::move(bootstrap), {});
      for (int i = 0; i < 3; ++i) {
        if (is_pest) pester_all();
        cluster->barrier();
        const int partner = cluster->rank() ^ 1;
        const Descriptor socket = cluster->meet(partner, Deadline::after(20s));
        say(socket, 'a');
        require(hear(socket) == 'a', "a word");
      }
      cluster->leave();
      return 0;
    } catch (const std::exception& error) {
      return say_and_fail(error);
    }
  });
}

TEST(ForeignConnections, silence_changes_nothing) {
  EXPECT_FINE(run_with_foreign_connections([](const Endpoint& endpoint, int, std::vector<Descriptor>& connections) {
    connections.push_back(connect_to(endpoint));
  }));
}

TEST(ForeignConnections, garbage_changes_nothing) {
  EXPECT_FINE(run_with_foreign_connections([](const Endpoint& endpoint, int, std::vector<Descriptor>& connections) {
    for (const std::size_t length : {1UL, 51UL, 52UL, 53UL, 100'000UL}) {
      connections.push_back(connect_to(endpoint));
      send_text(connections.back(), std::string(length, '\x5a'));
    }
    connections.push_back(connect_to(endpoint));
    send_text(connections.back(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    send_text(connect_to(endpoint), "leadln01");  // and gone
  }));
}

TEST(ForeignConnections, a_wrong_token_opens_nothing) {
  EXPECT_FINE(
      run_with_foreign_connections([](const Endpoint& endpoint, int rank, std::vector<Descriptor>& connections) {
        for (const Purpose purpose : {Purpose::collectives, Purpose::watch, Purpose::peer}) {
          connections.push_back(connect_to(endpoint));
          send_text(connections.back(), forged_hello(purpose, 2 * rank + 1, rank));
        }
      }));
}

TEST(ForeignConnections, many_at_once_keep_nobody_out) {
  EXPECT_FINE(run_with_foreign_connections([](const Endpoint& endpoint, int, std::vector<Descriptor>& connections) {
    for (int i = 0; i < 40; ++i) {
      connections.push_back(connect_to(endpoint));
      if (i % 2 == 0) send_text(connections.back(), "lead");
    }
  }));
}

TEST(ForeignConnections, one_who_knows_the_secret_but_is_not_expected_is_turned_away) {
  EXPECT_FINE(run_processes(2, [](std::unique_ptr<Bootstrap> bootstrap) {
    try {
      const RunKey key(bootstrap->membership()->secret());
      const Endpoint root = bootstrap->membership()->endpoint_of(0);
      const int rank = bootstrap->rank();
      const auto cluster = Cluster::join(std::move(bootstrap), {});
      if (rank == 1) {
        for (const Hello& hello :
             {Hello{Purpose::watch, 1, 0}, Hello{Purpose::collectives, 2, 0}, Hello{Purpose::peer, 1, 0},
              Hello{Purpose::watch, 1, 1}, Hello{Purpose::probe, 1, 1}, Hello{Purpose::probe, 2, 0}}) {
          const Descriptor socket = connect_to(root);
          const SealedHello bytes = key.seal(hello, challenge_on(socket));
          send_text(socket, {bytes.data(), bytes.size()});
          char byte = 0;
          require(::recv(socket.fd(), &byte, 1, 0) <= 0, "closed without an answer");
        }
      }
      cluster->leave();
      return 0;
    } catch (const std::exception& error) {
      return say_and_fail(error);
    }
  }));
}

TEST(ForeignConnections, a_hello_that_was_overheard_opens_nothing) {
  EXPECT_FINE(run_processes(2, [](std::unique_ptr<Bootstrap> bootstrap) {
    try {
      const RunKey key(bootstrap->membership()->secret());
      const Endpoint root = bootstrap->membership()->endpoint_of(0);
      const int rank = bootstrap->rank();
      const auto cluster = Cluster::join(std::move(bootstrap), {});
      if (rank == 1) {
        const Hello hello{Purpose::probe, 1, 0, new_nonce()};
        Descriptor socket = connect_to(root);
        const SealedHello overheard = key.seal(hello, challenge_on(socket));
        send_text(socket, {overheard.data(), overheard.size()});
        Answer answer{};
        require(::recv(socket.fd(), answer.data(), answer.size(), MSG_WAITALL) == ssize_t{answer.size()}, "an answer");
        for (int i = 0; i < 100; ++i) {
          socket = connect_to(root);
          challenge_on(socket);
          send_text(socket, {overheard.data(), overheard.size()});
          char byte = 0;
          require(::recv(socket.fd(), &byte, 1, 0) <= 0, "closed without an answer");
        }
      }
      cluster->leave();
      return 0;
    } catch (const std::exception& error) {
      return say_and_fail(error);
    }
  }));
}

}  // namespace
}  // namespace leadline::cluster

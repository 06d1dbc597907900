// SPDX-License-Identifier: Apache-2.0
// PMI-1 with a server of our own: ranks that find each other, half-set variables, and a server that refuses or is
// silent.
#include "cluster/pmi1.hpp"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <vector>

#include "ranks.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

/// What a process says and how it ends that starts with these variables, in vain.
Outcome start_pmi1(const Variables& variables) {
  return run_processes(1, [&](std::unique_ptr<Bootstrap>) {
    for (const auto& [variable, value] : variables) ::setenv(variable.c_str(), value.c_str(), 1);
    try {
      pmi1_bootstrap(Launcher::mpich, 500ms);
    } catch (const Error& error) {
      return say_and_end(error);
    }
    return 0;
  });
}

void expect_pmi1_error(const Variables& variables, ExitStatus status, const std::string& words) {
  const Outcome outcome = start_pmi1(variables);
  EXPECT_EQ(outcome.status, static_cast<int>(status));
  EXPECT_THAT(outcome.said, HasSubstr(words));
}

/// A connection to a server that is this test.
struct Pmi1Connection {
  Pmi1Connection() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) throw std::runtime_error("no sockets");
    rank = Descriptor(ends[0]);
    server = Descriptor(ends[1]);
  }
  Variables variables(int number, int size) const {
    return {{"PMI_RANK", std::to_string(number)},
            {"PMI_SIZE", std::to_string(size)},
            {"PMI_FD", std::to_string(rank.fd())}};
  }
  Descriptor rank, server;
};

TEST(Pmi1, without_a_connection_says_so) {
  const auto missing = ExitStatus::something_missing;
  expect_pmi1_error({{"PMI_RANK", "0"}}, missing,
                    "the launcher's PMI server cannot be used (PMI_FD is not set). Start");
  expect_pmi1_error({{"PMI_RANK", "0"}, {"PMI_FD", "three"}}, missing, "PMI_FD is 'three', not a number");
  expect_pmi1_error({{"PMI_RANK", "0"}, {"PMI_FD", "999"}}, missing, "PMI_FD is 999, which is not open");
  expect_pmi1_error({{"PMI_RANK", "0"}, {"PMI_FD", "-1"}}, missing, "PMI_FD is -1, which is not open");
  const Pmi1Connection connection;
  Variables half = connection.variables(0, 2);
  half.erase("PMI_SIZE");
  expect_pmi1_error(half, missing, "PMI_SIZE is not set");
  expect_pmi1_error(connection.variables(2, 2), missing, "PMI_SIZE is 2");
}

TEST(Pmi1, with_a_server_that_is_silent_or_gone_or_refuses_ends) {
  Pmi1Connection connection;
  expect_pmi1_error(connection.variables(0, 2), ExitStatus::run_failed, "the launcher's PMI server does not answer");
  const std::string no = "cmd=response_to_init rc=-1 pmi_version=2\n";
  ASSERT_EQ(::send(connection.server.fd(), no.data(), no.size(), 0), static_cast<ssize_t>(no.size()));
  expect_pmi1_error(connection.variables(0, 2), ExitStatus::something_missing,
                    "to init it says: cmd=response_to_init rc=-1 pmi_version=2");
  connection.server = Descriptor();
  expect_pmi1_error(connection.variables(0, 2), ExitStatus::something_missing, "cannot be used (");
}

/// Answers the ranks as a launcher does, until they have said goodbye.
void serve_pmi1(const std::vector<Pmi1Connection>& connections) {
  std::map<std::string, std::string> values;
  std::vector<std::string> unread(connections.size());
  std::size_t num_waiting = 0, num_left = connections.size();
  const auto say = [&](std::size_t rank, const std::string& text) {
    // In two pieces, as the network may cut it.
    ::send(connections[rank].server.fd(), text.data(), 5, MSG_NOSIGNAL);
    ::send(connections[rank].server.fd(), text.data() + 5, text.size() - 5, MSG_NOSIGNAL);
  };
  const auto word = [](const std::string& line, const std::string& key) {
    const auto at = line.find(" " + key + "=");
    const auto from = at + key.size() + 2;
    return line.substr(from, line.find(' ', from) - from);
  };
  while (num_left > 0) {
    std::vector<pollfd> polled;
    for (const Pmi1Connection& one : connections) polled.push_back({one.server.fd(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), 10'000) <= 0) return;
    for (std::size_t rank = 0; rank < polled.size(); ++rank) {
      if (polled[rank].revents == 0) continue;
      std::array<char, 4096> piece{};
      const ssize_t got = ::recv(polled[rank].fd, piece.data(), piece.size(), 0);
      if (got <= 0) return;
      unread[rank].append(piece.data(), static_cast<std::size_t>(got));
      if (unread[rank].back() != '\n') continue;
      const std::string line = unread[rank].substr(0, unread[rank].size() - 1);
      unread[rank].clear();
      if (line.starts_with("cmd=init")) say(rank, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
      if (line == "cmd=get_maxes") say(rank, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0\n");
      if (line == "cmd=get_my_kvsname") say(rank, "cmd=my_kvsname kvsname=kvs_1_0\n");
      if (line.starts_with("cmd=put kvsname=kvs_1_0 ")) {
        values[word(line, "key")] = word(line, "value");
        say(rank, "cmd=put_result rc=0 msg=success\n");
      }
      if (line.starts_with("cmd=get kvsname=kvs_1_0 ")) {
        say(rank, "cmd=get_result rc=0 msg=success value=" + values[word(line, "key")] + "\n");
      }
      if (line == "cmd=barrier_in" && ++num_waiting == connections.size()) {
        num_waiting = 0;
        for (std::size_t each = 0; each < connections.size(); ++each) say(each, "cmd=barrier_out\n");
      }
      if (line == "cmd=finalize") {
        say(rank, "cmd=finalize_ack\n");
        --num_left;
      }
    }
  }
}

TEST(Pmi1, ranks_find_each_other) {
  std::vector<Pmi1Connection> connections(4);
  const pid_t server = ::fork();  // not a thread: the ranks are forked after it
  if (server == 0) {
    serve_pmi1(connections);
    std::_Exit(0);
  }
  EXPECT_FINE(run_processes(4, [&](std::unique_ptr<Bootstrap> launcher) {
    try {
      const int rank = launcher->rank();
      for (const auto& [name, value] : connections[static_cast<std::size_t>(rank)].variables(rank, 4)) {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
      ::setenv("FLUX_TASK_RANK", std::to_string(rank).c_str(), 1);
      const auto cluster = Cluster::join(pmi1_bootstrap(Launcher::mpich, 10s), {});
      require(cluster->rank() == rank && cluster->size() == 4, "rank and size");
      require(cluster->launcher() == "Flux (PMI-1)", "launcher");
      cluster->meet(rank ^ 1, Deadline::after(10s));
      cluster->leave();
      return 0;
    } catch (const std::exception& error) {
      return say_and_fail(error);
    }
  }));
  ::waitpid(server, nullptr, 0);
}

}  // namespace
}  // namespace leadline::cluster

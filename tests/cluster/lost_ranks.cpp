// SPDX-License-Identifier: Apache-2.0
// Collectives go on without ranks that die, wherever these are in the tree and whatever is under way.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ranks.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::string sum_of(const std::string& left, std::string_view right) {
  int number = 0;
  std::from_chars(right.data(), right.data() + right.size(), number);
  return std::to_string(std::stoi(left) + number);
}

std::set<int> lost_of(const Cluster& cluster) {
  std::set<int> lost;
  for (const LostRank& one : cluster.lost_ranks()) lost.insert(one.rank);
  return lost;
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

/// The kernel resets the connections of a process that has not read all that came.
bool says_that_it_ended(const std::string& why) {
  return why.find(" died (its connection closed)") != std::string::npos ||
         why.find("(Connection reset by peer)") != std::string::npos;
}

/// What every collective gives when these ranks are lost.
void require_collectives_without(Cluster& cluster, const std::set<int>& lost) {
  while (lost_of(cluster) != lost) cluster.barrier();
  int sum = 0, root = 0;
  for (int rank = 0; rank < cluster.size(); ++rank) sum += lost.contains(rank) ? 0 : rank;
  require(cluster.all_reduce(std::to_string(cluster.rank()), sum_of) == std::to_string(sum), "the sum of all others");
  while (lost.contains(root)) ++root;
  require(cluster.root() == root, "the lowest that lives is the root");
  const std::string from_root = "from " + std::to_string(root);
  require(cluster.broadcast("from " + std::to_string(cluster.rank())) == from_root, "the text of the root");
  std::set<int> from;
  cluster.gather(std::to_string(cluster.rank()), [&](int rank, std::string_view text) {
    require(text == std::to_string(rank), "the text of the rank");
    require(from.insert(rank).second, "each text once");
  });
  if (!cluster.is_root()) return;
  for (int rank = 0; rank < cluster.size(); ++rank) {
    require(from.contains(rank) != lost.contains(rank), "a text of each other rank");
  }
}

TEST(LostRanks, AnyButTheFirstIsLeftOut) {
  for (int victim = 1; victim < 7; ++victim) {
    const Outcome outcome = run_ranks(7, [&](Cluster& cluster) {
      cluster.go_on_without_lost_ranks();
      cluster.barrier();
      if (cluster.rank() == victim) die();
      require_collectives_without(cluster, {victim});
      require(says_that_it_ended(cluster.lost_ranks().front().why), "the reason");
    });
    EXPECT_EQ(outcome.status, 0) << outcome.said;
    EXPECT_THAT(outcome.said, HasSubstr("The run goes on without rank " + std::to_string(victim)));
  }
}

TEST(LostRanks, SeveralAtOnceAreLeftOutWithWhatIsBetween) {
  const std::set<int> victims{1, 3, 8, 5};  // a chain, and a leaf elsewhere
  const Outcome outcome = run_ranks(12, [&](Cluster& cluster) {
    cluster.go_on_without_lost_ranks();
    cluster.barrier();
    if (victims.contains(cluster.rank())) die();
    require_collectives_without(cluster, victims);
  });
  EXPECT_EQ(outcome.status, 0) << outcome.said;
}

/// Dies at any moment of any collective; what the others agree on stays the same for all.
TEST(LostRanks, TheOthersAgreeWheneverItHappens) {
  for (int round = 0; round < 8; ++round) {
    const int victim = 1 + round % 6;
    const Outcome outcome = run_ranks(7, [&](Cluster& cluster) {
      cluster.go_on_without_lost_ranks();
      cluster.barrier();
      std::thread death;
      if (cluster.rank() == victim) {
        death = std::thread([round] {
          std::this_thread::sleep_for(std::chrono::milliseconds(20 + 7 * round));
          die();
        });
        death.detach();
      }
      const std::set<int> others{victim};
      for (int number = 0; lost_of(cluster) != others; ++number) {
        const std::string sum = cluster.all_reduce("1", sum_of);
        require(sum == "7" || sum == "6", "the dead rank counts once or not at all");
        require(cluster.broadcast(cluster.rank() == 0 ? sum : "") == sum, "one sum on all ranks");
        std::set<int> from;
        cluster.gather(std::string(5000, 'x'), [&](int rank, std::string_view text) {
          require(text.size() == 5000 && from.insert(rank).second, "each text whole, and once");
        });
        require(cluster.rank() != 0 || from.size() >= 6, "a text of all that live");
      }
      require_collectives_without(cluster, others);
    });
    EXPECT_EQ(outcome.status, 0) << outcome.said;
  }
}

TEST(LostRanks, AStoppedOneIsLeftOutAfterTheTimeoutAndEnded) {
  const Outcome outcome = run_ranks(
      5,
      [&](Cluster& cluster) {
        cluster.go_on_without_lost_ranks();
        cluster.barrier();
        if (cluster.rank() == 1) ::kill(::getpid(), SIGSTOP);
        require_collectives_without(cluster, {1});
        require(cluster.lost_ranks().front().why.find("has been silent for 1 s") != std::string::npos, "the reason");
      },
      1s);
  EXPECT_EQ(outcome.status, 0) << outcome.said;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left";
}

TEST(LostRanks, TheFirstIsMissedByAll) {
  const Outcome outcome = run_ranks(5, [&](Cluster& cluster) {
    cluster.go_on_without_lost_ranks();
    cluster.barrier();
    if (cluster.rank() == 0) die();
    for (;;) cluster.barrier();
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, HasSubstr("rank 0 on "));
  EXPECT_THAT(outcome.said, HasSubstr(" died"));
}

TEST(LostRanks, TheFirstIsLeftOutWhereAnotherMayTakeItsPart) {
  const std::vector<std::set<int>> cases{{0}, {0, 1}, {0, 2}, {0, 1, 2, 4}, {0, 5}};
  for (const std::set<int>& victims : cases) {
    const Outcome outcome = run_ranks(7, [&](Cluster& cluster) {
      cluster.go_on_without_lost_ranks();
      cluster.go_on_without_root();
      cluster.barrier();
      if (victims.contains(cluster.rank())) die();
      require_collectives_without(cluster, victims);
      for (const LostRank& lost : cluster.lost_ranks()) {
        require(says_that_it_ended(lost.why), "the reason: " + lost.why);
      }
    });
    EXPECT_EQ(outcome.status, 0) << outcome.said;
    for (const int victim : victims) {
      EXPECT_THAT(outcome.said, HasSubstr("The run goes on without rank " + std::to_string(victim)));
    }
  }
}

TEST(LostRanks, TheFirstMayBeLostAfterOthers) {
  const Outcome outcome = run_ranks(7, [&](Cluster& cluster) {
    cluster.go_on_without_lost_ranks();
    cluster.go_on_without_root();
    std::set<int> lost;
    for (const int victim : {2, 0, 5, 1}) {  // 5 and 6 are then orphans of rank 0, later of 1, at last 3 to 6 of 3
      cluster.barrier();
      if (cluster.rank() == victim) die();
      lost.insert(victim);
      require_collectives_without(cluster, lost);
    }
  });
  EXPECT_EQ(outcome.status, 0) << outcome.said;
}

/// Dies at any moment of any collective: some may have its result, and others not.
TEST(LostRanks, TheOthersAgreeWheneverTheFirstIsLost) {
  for (int round = 0; round < 16; ++round) {
    const Outcome outcome = run_ranks(7, [&](Cluster& cluster) {
      cluster.go_on_without_lost_ranks();
      cluster.go_on_without_root();
      cluster.barrier();
      if (cluster.rank() == 0) {
        std::thread([round] {
          std::this_thread::sleep_for(std::chrono::microseconds(20'000 + 1'700 * round));
          die();
        }).detach();
      }
      while (lost_of(cluster).empty()) {
        const std::string sum = cluster.all_reduce("1", sum_of);
        require(sum == "7" || sum == "6", "the dead rank counts once or not at all");
        require(cluster.broadcast(sum) == sum, "one sum on all ranks");
        std::set<int> from;
        cluster.gather(std::string(5000, 'x'), [&](int rank, std::string_view text) {
          require(text.size() == 5000 && from.insert(rank).second, "each text whole, and once");
        });
      }
      require_collectives_without(cluster, {0});
    });
    EXPECT_EQ(outcome.status, 0) << outcome.said;
  }
}

/// Shared by all ranks of a test.
struct Shared {
  std::atomic<pid_t> pids[7];
  std::atomic<int> num_with_result{0};
};

/// The root has told 1, and through it 3 and 4, but not 2, 5 and 6. Those that know wait for the others elsewhere than
/// in a collective, as in a transport; the new root is one of these, or not.
TEST(LostRanks, WhoeverHasTheLastResultPassesItOnWhileItWaits) {
  for (const std::set<int>& victims : {std::set<int>{0}, std::set<int>{0, 1}}) {
    void* const page = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    Shared& shared = *new (page) Shared;
    const auto await_results = [&](int num) {
      const Deadline deadline = Deadline::after(20s);
      while (shared.num_with_result < num && !deadline.has_passed()) std::this_thread::sleep_for(1ms);
      require(shared.num_with_result >= num, "all get the result");
    };
    const Outcome outcome = run_ranks(7, [&](Cluster& cluster) {
      shared.pids[cluster.rank()] = ::getpid();
      cluster.go_on_without_lost_ranks();
      cluster.go_on_without_root();
      cluster.barrier();
      const std::string result = cluster.all_reduce("1", [&](const std::string& left, std::string_view right) {
        if (cluster.rank() != 0 || std::stoi(left) < 4) return sum_of(left, right);
        ::kill(shared.pids[2], SIGSTOP);    // which has brought the last part
        return std::string(64 << 20, '7');  // more than the connection to it holds
      });
      require(result.size() == 64 << 20, "the result of the first root");
      ++shared.num_with_result;
      if (cluster.rank() == 3) {
        await_results(3);
        for (const int victim : victims) ::kill(shared.pids[victim], SIGKILL);
        ::kill(shared.pids[2], SIGCONT);
      }
      await_results(6);
      require_collectives_without(cluster, victims);
    });
    EXPECT_EQ(outcome.status, 0) << outcome.said;
    ::munmap(page, sizeof(Shared));
  }
}

TEST(LostRanks, TheFirstIsStoppedAndAnotherTakesItsPart) {
  for (const int num_ranks : {2, 5}) {
    const Outcome outcome = run_ranks(
        num_ranks,
        [&](Cluster& cluster) {
          cluster.go_on_without_lost_ranks();
          cluster.go_on_without_root();
          cluster.barrier();
          if (cluster.rank() == 0) ::kill(::getpid(), SIGSTOP);
          require_collectives_without(cluster, {0});
          require(cluster.lost_ranks().front().why.find("has been silent for 1 s") != std::string::npos, "the reason");
        },
        1s);
    EXPECT_EQ(outcome.status, 0) << outcome.said;
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left";
  }
}

/// Rank 1 brings what comes from 3 and 4, and is stopped before the answer comes: the root has left when they notice.
TEST(LostRanks, TheOneBetweenIsLostAtTheVeryEnd) {
  for (const bool may_lead : {false, true}) {
    const Outcome outcome = run_processes(5, [&](std::unique_ptr<Bootstrap> bootstrap) {
      JoinOptions options;
      options.timeout = 2s;
      const auto cluster = Cluster::join(std::move(bootstrap), options);
      cluster->go_on_without_lost_ranks();
      if (may_lead) cluster->go_on_without_root();
      cluster->barrier();
      if (cluster->rank() == 1) {
        std::this_thread::sleep_for(400ms);  // all below it have come
        cluster->set_wait(WaitMode::yield, [] { ::kill(::getpid(), SIGSTOP); });
      }
      if (cluster->rank() == 2) std::this_thread::sleep_for(1200ms);  // until it is stopped
      cluster->leave();
      std::fprintf(stderr, "%d left\n", cluster->rank());
      return 0;
    });
    EXPECT_EQ(outcome.status, 0) << outcome.said;
    for (const int rank : {0, 2, 3, 4}) EXPECT_THAT(outcome.said, HasSubstr(std::to_string(rank) + " left"));
    EXPECT_THAT(outcome.said, Not(HasSubstr("leadline: "))) << "nobody misses anything";
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left";
  }
}

TEST(LostRanks, OneThatIsStoppedBehindTheEndIsEnded) {
  const Outcome outcome = run_processes(3, [](std::unique_ptr<Bootstrap> bootstrap) {
    const auto cluster = Cluster::join(std::move(bootstrap), {});
    cluster->go_on_without_lost_ranks();
    cluster->leave();
    if (cluster->rank() == 2) ::kill(::getpid(), SIGSTOP);
    return 0;
  });
  EXPECT_EQ(outcome.status, 0) << outcome.said;
  EXPECT_EQ(outcome.said, "");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left";
}

TEST(LostRanks, APartnerThatAnswersMayComeLate) {
  for (const int late : {0, 1}) {
    EXPECT_FINE(run_ranks(2, [&](Cluster& cluster) {
      cluster.go_on_without_lost_ranks();
      cluster.barrier();
      if (cluster.rank() == late) ::usleep(500'000);
      const Descriptor socket = cluster.meet(1 - cluster.rank(), Deadline::after(100ms));
      const char out = 'a';
      char in = 0;
      require(::send(socket.fd(), &out, 1, MSG_NOSIGNAL) == 1, "send");
      require(::recv(socket.fd(), &in, 1, MSG_WAITALL) == 1 && in == 'a', "receive");
    }));
  }
}

TEST(LostRanks, NobodyWaitsForALostPartner) {
  const Outcome outcome = run_ranks(3, [&](Cluster& cluster) {
    cluster.go_on_without_lost_ranks();
    cluster.barrier();
    if (cluster.rank() == 1) die();
    try {
      for (;;) cluster.meet(1, Deadline::after(1h));  // rank 0 dials, rank 2 accepts; the first may come in time
    } catch (const ConnectionLost& lost) {
      require(lost.partner() == 1, "who is lost");
    }
    require_collectives_without(cluster, {1});
  });
  EXPECT_EQ(outcome.status, 0) << outcome.said;
}

}  // namespace
}  // namespace leadline::cluster

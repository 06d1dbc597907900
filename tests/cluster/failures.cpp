// SPDX-License-Identifier: Apache-2.0
// A rank that dies, stops, gets stuck or gives up ends the run on all ranks, with one line that names it.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "ranks.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

std::string host() {
  char name[HOST_NAME_MAX + 1] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string rank_text(int rank) { return "rank " + std::to_string(rank) + " on " + host(); }

/// How often on_failure ran, on all ranks together.
class FailureCount {
 public:
  FailureCount() {
    if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
  }
  ~FailureCount() {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  void watch(Cluster& cluster) {
    cluster.set_on_failure([fd = ends_[1]](const std::string& message, const PartialResults&) {
      if (!message.empty()) (void)!::write(fd, "x", 1);
    });
  }
  ssize_t result() {
    ::close(ends_[1]);
    ends_[1] = -1;
    char bytes[64];
    return ::read(ends_[0], bytes, sizeof bytes);
  }

 private:
  int ends_[2];
};

/// Runs ranks of which one does something bad between two barriers, while the others wait in the second.
Outcome run_with_one(int num_ranks, int bad_rank, const std::function<void(Cluster&)>& bad_deed,
                     std::chrono::nanoseconds timeout = 30s) {
  FailureCount count;
  Outcome outcome = run_ranks(
      num_ranks,
      [&](Cluster& cluster) {
        cluster.set_current_step([](int rank) { return "round 3 of 7, with partner " + std::to_string(rank ^ 1); });
        count.watch(cluster);
        cluster.barrier();
        if (cluster.rank() == bad_rank) bad_deed(cluster);
        cluster.barrier();
      },
      timeout);
  EXPECT_EQ(count.result(), 1) << "on_failure runs once";
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left";
  const bool was_killed = outcome.said.find("(killed by signal") != std::string::npos;  // the launcher adds that
  EXPECT_EQ(std::count(outcome.said.begin(), outcome.said.end(), '\n'), was_killed ? 2 : 1) << outcome.said;
  return outcome;
}

std::string killed_text(int rank) {
  return "leadline: rank " + std::to_string(rank) + " died (killed by signal 9, Killed). Look at the system log\n";
}

[[noreturn]] void wait_for_the_end() {
  for (;;) ::pause();
}
void die(Cluster&) { ::kill(::getpid(), SIGKILL); }
void stop(Cluster&) { ::kill(::getpid(), SIGSTOP); }

TEST(Failure, a_killed_rank_is_named_with_host_and_current_step) {
  for (const int num_ranks : {2, 3, 8}) {
    for (int rank = 0; rank < num_ranks; ++rank) {
      const Outcome outcome = run_with_one(num_ranks, rank, die);
      EXPECT_EQ(outcome.status, 4);
      EXPECT_EQ(outcome.said, "leadline: " + rank_text(rank) + " died in round 3 of 7, with partner " +
                                  std::to_string(rank ^ 1) +
                                  " (its connection closed). Look at that host and its system log; what was measured "
                                  "so far is kept\n" +
                                  killed_text(rank));
    }
  }
}

TEST(Failure, a_killed_rank_is_named_while_its_partner_waits_in_a_transport) {
  const Outcome outcome = run_ranks(4, [](Cluster& cluster) {
    cluster.barrier();
    if (cluster.rank() == 3) die(cluster);
    cluster.progress_counter().in_transport.store(true);
    wait_for_the_end();
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, StartsWith("leadline: " + rank_text(3) + " died ("));
}

TEST(Failure, a_rank_whose_library_aborts_says_so) {
  for (const int rank : {0, 2}) {
    const Outcome outcome = run_with_one(4, rank, [](Cluster&) { std::abort(); });
    EXPECT_EQ(outcome.status, 4);
    EXPECT_THAT(outcome.said, StartsWith("leadline: " + rank_text(rank) + " gave up in round 3 of 7, with partner " +
                                         std::to_string(rank ^ 1) + " (a library that it uses called abort())."));
  }
}

TEST(Failure, who_reports_has_what_the_others_have) {
  const Outcome outcome = run_ranks(6, [](Cluster& cluster) {
    cluster.set_partial_result([own = cluster.rank()] { return std::to_string(10 * own); });
    cluster.set_on_failure([](const std::string&, const PartialResults& partial_results) {
      std::string line;
      for (const auto& [rank, text] : partial_results) line += std::to_string(rank) + "=" + text + " ";
      (void)!::write(STDERR_FILENO, line.data(), line.size());
    });
    cluster.barrier();
    if (cluster.rank() == 4) die(cluster);
    wait_for_the_end();
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, StartsWith("0=0 1=10 2=20 3=30 5=50 leadline: " + rank_text(4) + " died"));
}

TEST(Failure, a_death_explains_an_abort) {
  const Outcome outcome = run_ranks(4, [](Cluster& cluster) {
    cluster.barrier();
    if (cluster.rank() == 2) std::abort();  // as a library does that has lost its partner
    if (cluster.rank() == 3) die(cluster);
    wait_for_the_end();
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, StartsWith("leadline: " + rank_text(3) + " died ("));
}

TEST(Failure, the_only_rank_killed_is_told_by_the_launcher) {
  const Outcome outcome = run_ranks(1, die);
  EXPECT_EQ(outcome.status, 4);
  EXPECT_EQ(outcome.said, killed_text(0));
}

TEST(Failure, a_stopped_rank_is_named_and_nothing_is_left_of_it) {
  for (const int rank : {0, 1, 4}) {
    const Outcome outcome = run_with_one(5, rank, stop, 1s);
    EXPECT_EQ(outcome.status, 4);
    EXPECT_THAT(outcome.said,
                StartsWith("leadline: " + rank_text(rank) + " has been silent for 1 s in round 3 of 7, with partner " +
                           std::to_string(rank ^ 1) + " (it is stopped, or its network is down)"));
  }
}

TEST(Failure, a_silent_rank_is_named_before_those_that_are_stuck_on_it) {
  const Outcome outcome = run_with_one(
      4, 3,
      [](Cluster& cluster) {
        cluster.progress_counter().in_transport.store(true);
        stop(cluster);
      },
      1s);
  EXPECT_THAT(outcome.said, StartsWith("leadline: " + rank_text(3) + " has been silent"));
}

TEST(Failure, a_stuck_rank_names_itself_and_its_partner) {
  const Outcome outcome = run_with_one(
      5, 3,
      [](Cluster& cluster) {
        cluster.progress_counter().in_transport.store(true);
        wait_for_the_end();
      },
      500ms);
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, StartsWith("leadline: " + rank_text(3) + " has made no progress for"));
  EXPECT_THAT(outcome.said, HasSubstr("in round 3 of 7, with partner 2 (all ranks are alive"));
}

TEST(Failure, a_rank_that_waits_in_a_collective_is_not_stuck) {
  EXPECT_FINE(run_ranks(
      3,
      [](Cluster& cluster) {
        // Rank 2 is busy for longer than the timeout, and beats; the others wait for it.
        const Deadline busy = Deadline::after(900ms);
        while (cluster.rank() == 2 && !busy.has_passed()) {
          cluster.progress_counter().in_transport.store(true);
          cluster.progress_counter().advance();
          ::usleep(1000);
        }
        cluster.progress_counter().in_transport.store(false);
        cluster.barrier();
      },
      300ms));
}

TEST(Failure, abort_prints_its_error_once_and_gives_its_status_to_all) {
  for (const int rank : {0, 1, 5}) {
    const Outcome outcome = run_with_one(6, rank, [](Cluster& cluster) {
      cluster.abort(Error(ExitStatus::something_missing, "the device went away", "no carrier", "plug it in"));
    });
    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.said, "leadline: the device went away (no carrier). plug it in\n");
  }
}

TEST(Failure, a_death_goes_before_the_lost_connections_that_it_causes) {
  const Outcome outcome = run_ranks(6, [](Cluster& cluster) {
    cluster.barrier();
    if (cluster.rank() == 1 || cluster.rank() == 3) cluster.abort(ConnectionLost(5, "lost the connection to rank 5"));
    if (cluster.rank() == 5) die(cluster);
    cluster.barrier();
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, StartsWith("leadline: " + rank_text(5) + " died ("));
}

TEST(Failure, an_own_error_goes_before_a_lost_connection) {
  const Outcome outcome = run_ranks(4, [](Cluster& cluster) {
    cluster.barrier();
    if (cluster.rank() == 0) cluster.abort(ConnectionLost(3, "lost the connection to rank 3"));
    if (cluster.rank() == 3) cluster.abort(Error(ExitStatus::run_failed, "byte 7 is wrong"));
    cluster.barrier();
  });
  EXPECT_EQ(outcome.said, "leadline: byte 7 is wrong\n");
}

TEST(Failure, a_signal_to_one_rank_ends_all) {
  for (const int signal_number : {SIGTERM, SIGINT, SIGHUP}) {
    const Outcome outcome = run_with_one(3, 2, [&](Cluster&) {
      ::kill(::getpid(), signal_number);
      wait_for_the_end();
    });
    EXPECT_EQ(outcome.status, 4);
    EXPECT_EQ(outcome.said, "leadline: the run was told to stop in round 3 of 7, with partner 3 (" + rank_text(2) +
                                " received SIG" + ::sigabbrev_np(signal_number) +
                                "). What was measured so far is kept\n");
  }
}

TEST(Failure, a_signal_to_the_launcher_ends_all) {
  const Outcome outcome = run_with_one(3, 2, [](Cluster&) {
    ::kill(::getppid(), SIGTERM);
    wait_for_the_end();
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, StartsWith("leadline: the run was told to stop"));
  EXPECT_THAT(outcome.said, HasSubstr("received SIGTERM"));
}

TEST(Failure, a_rank_that_goes_without_a_word_is_named) {
  const Outcome outcome = run_processes(4, [](std::unique_ptr<Bootstrap> bootstrap) {
    const auto cluster = Cluster::join(std::move(bootstrap), {});
    cluster->barrier();
    if (cluster->rank() == 1) return 0;  // destroys its cluster while the others count on it
    cluster->barrier();
    return 0;
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, StartsWith("leadline: " + rank_text(1) + " left before the end"));
}

TEST(Failure, on_failure_that_throws_does_not_hide_the_reason) {
  const Outcome outcome = run_ranks(2, [](Cluster& cluster) {
    cluster.set_on_failure([](const std::string&, const PartialResults&) { throw std::runtime_error("disk full"); });
    cluster.barrier();
    if (cluster.rank() == 1) die(cluster);
    cluster.barrier();
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, StartsWith("leadline: " + rank_text(1) + " died"));
}

TEST(Failure, abort_after_leaving_still_says_why) {
  const Outcome outcome = run_processes(2, [](std::unique_ptr<Bootstrap> bootstrap) {
    const auto cluster = Cluster::join(std::move(bootstrap), {});
    cluster->leave();
    if (cluster->rank() == 0) cluster->abort(Error(ExitStatus::run_failed, "too late"));
    return 0;
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_EQ(outcome.said, "leadline: too late\n");
}

TEST(Failure, a_rank_that_dies_before_it_joins_does_not_keep_the_others) {
  const Outcome outcome = run_processes(3, [](std::unique_ptr<Bootstrap> bootstrap) {
    if (bootstrap->rank() == 2) ::kill(::getpid(), SIGKILL);
    JoinOptions options;
    options.timeout = 300ms;
    const auto cluster = Cluster::join(std::move(bootstrap), options);
    cluster->leave();
    return 0;
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, StartsWith("leadline: rank 2 did not join within 0.3 s"));
}

TEST(LocalLauncher, gives_rank_0s_status_else_4) {
  const auto statuses = [](int status_of_0, int status_of_1) {
    return run_processes(
               2,
               [=](std::unique_ptr<Bootstrap> bootstrap) { return bootstrap->rank() == 0 ? status_of_0 : status_of_1; })
        .status;
  };
  EXPECT_EQ(statuses(0, 0), 0);
  EXPECT_EQ(statuses(1, 0), 1);
  EXPECT_EQ(statuses(1, 3), 1);
  EXPECT_EQ(statuses(0, 3), 4);
}

TEST(LocalLauncher, prints_an_error_that_escapes_once) {
  const Outcome outcome = run_processes(
      3, [](std::unique_ptr<Bootstrap>) -> int { throw Error(ExitStatus::bad_command_line, "no such thing"); });
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.said, "leadline: no such thing\n");
}

TEST(LocalLauncher, keeps_the_callers_signals_as_they_were) {
  sigset_t before, after;
  ::sigprocmask(SIG_SETMASK, nullptr, &before);
  run_processes(2, [](std::unique_ptr<Bootstrap>) { return 0; });
  ::sigprocmask(SIG_SETMASK, nullptr, &after);
  for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    EXPECT_EQ(::sigismember(&before, one), ::sigismember(&after, one));
  }
}

}  // namespace
}  // namespace leadline::cluster

// SPDX-License-Identifier: Apache-2.0
// Every way to learn who takes part: environment variables, a library that gathers, and the launcher's traces.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "cluster/address.hpp"
#include "cluster/bootstrap.hpp"
#include "cluster/connection.hpp"
#include "cluster/environment.hpp"
#include "ranks.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Sets variables for one test and takes all that mean something to us away before and after.
class Environment : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void set(const std::string& name, const std::string& value) { ::setenv(name.c_str(), value.c_str(), 1); }
  static void clear() {
    for (const char* name : {"LEADLINE_SIZE",
                             "LEADLINE_RANK",
                             "LEADLINE_SECRET",
                             "LEADLINE_ADDRESS",
                             "LEADLINE_PORT",
                             "LEADLINE_ADDRESS_0",
                             "LEADLINE_PORT_0",
                             "LEADLINE_ADDRESS_1",
                             "LEADLINE_PORT_1",
                             "OMPI_COMM_WORLD_SIZE",
                             "OMPI_COMM_WORLD_RANK",
                             "PMI_SIZE",
                             "PMI_RANK",
                             "PMIX_RANK",
                             "SLURM_PROCID",
                             "HYDI_CONTROL_FD",
                             "MPI_LOCALNRANKS",
                             "SLURM_NTASKS",
                             "SLURM_STEP_NUM_TASKS",
                             "PALS_RANKID",
                             "RANK",
                             "WORLD_SIZE",
                             "MASTER_ADDR",
                             "MASTER_PORT"}) {
      ::unsetenv(name);
    }
  }
  static void set_all() {
    set("LEADLINE_SIZE", "2");
    set("LEADLINE_RANK", "0");
    set("LEADLINE_SECRET", "0123456789abcdef");
    set("LEADLINE_ADDRESS_0", "127.0.0.1");
    set("LEADLINE_PORT_0", "50000");
    set("LEADLINE_ADDRESS_1", "127.0.0.1");
    set("LEADLINE_PORT_1", "50001");
  }
  /// The error that a variable with this value (null: missing) gives.
  static std::string error_with(const char* name, const char* value) {
    set_all();
    value != nullptr ? set(name, value) : static_cast<void>(::unsetenv(name));
    try {
      const auto bootstrap = environment_bootstrap();
      bootstrap->membership()->endpoint_of(1);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
      return error.what();
    }
    return "no error";
  }
};

TEST_F(Environment, says_who_we_are) {
  set_all();
  set("LEADLINE_RANK", "1");
  const auto bootstrap = environment_bootstrap();
  EXPECT_EQ(bootstrap->rank(), 1);
  EXPECT_EQ(bootstrap->size(), 2);
  EXPECT_EQ(bootstrap->launcher(), "environment");
  EXPECT_EQ(bootstrap->membership()->endpoint_of(0).address, "127.0.0.1");
  EXPECT_EQ(bootstrap->membership()->endpoint_of(0).port, 50000);
}

TEST_F(Environment, names_the_variable_that_is_missing) {
  for (const char* name : {"LEADLINE_SIZE", "LEADLINE_RANK", "LEADLINE_SECRET", "LEADLINE_ADDRESS_0", "LEADLINE_PORT_0",
                           "LEADLINE_ADDRESS_1", "LEADLINE_PORT_1"}) {
    for (const char* value : {static_cast<const char*>(nullptr), ""}) {
      EXPECT_THAT(error_with(name, value),
                  HasSubstr(std::string("the environment variable ") + name + " cannot be used (it is not set)"));
    }
  }
  EXPECT_THAT(error_with("LEADLINE_SECRET", nullptr), HasSubstr("openssl rand -hex 16"));
}

TEST_F(Environment, names_the_variable_that_makes_no_sense) {
  EXPECT_THAT(error_with("LEADLINE_SIZE", "two"), HasSubstr("LEADLINE_SIZE cannot be used ('two' is not a number)"));
  EXPECT_THAT(error_with("LEADLINE_SIZE", "2x"), HasSubstr("'2x' is not a number"));
  EXPECT_THAT(error_with("LEADLINE_SIZE", "0"), HasSubstr("0 is not from 1 to 2147483647"));
  EXPECT_THAT(error_with("LEADLINE_SIZE", "99999999999"), HasSubstr("is not from 1 to 2147483647"));
  EXPECT_THAT(error_with("LEADLINE_RANK", "2"), HasSubstr("LEADLINE_RANK cannot be used (2 is not from 0 to 1)"));
  EXPECT_THAT(error_with("LEADLINE_RANK", "-1"), HasSubstr("-1 is not from 0 to 1"));
  EXPECT_THAT(error_with("LEADLINE_SECRET", "short"), HasSubstr("it has fewer than 16 characters"));
  EXPECT_THAT(error_with("LEADLINE_PORT_1", "65536"), HasSubstr("65536 is not from 1 to 65535"));
  EXPECT_THAT(error_with("LEADLINE_ADDRESS_0", "localhost"), HasSubstr("'localhost' is not an IP address"));
  EXPECT_THAT(error_with("LEADLINE_ADDRESS", "127.0.0.1"), HasSubstr("LEADLINE_ADDRESS_0 is set, too"));
}

TEST_F(Environment, a_port_in_use_is_named) {
  const Descriptor other = listen_on(*SocketAddress::parse("127.0.0.1", 0));
  const auto port = std::to_string(SocketAddress::of_socket(other.fd()).port());
  set_all();
  set("LEADLINE_SIZE", "1");
  set("LEADLINE_PORT_0", port);
  try {
    Cluster::join(environment_bootstrap(), {});
    ADD_FAILURE() << "listens on a port in use";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::run_failed);
    EXPECT_EQ(error.problem(), "cannot listen on 127.0.0.1:" + port);
    EXPECT_EQ(error.why(), "Address already in use");
  }
}

TEST_F(Environment, a_rank_whose_partners_do_not_come_says_so) {
  const auto expect_error = [](const char* rank, const char* problem, const char* why) {
    set_all();
    set("LEADLINE_RANK", rank);
    const std::vector<std::string> ports = free_ports(2);
    set("LEADLINE_PORT_0", ports[0]);
    set("LEADLINE_PORT_1", ports[1]);
    JoinOptions options;
    options.timeout = 500ms;  // with less a busy machine does not come to the answer
    try {
      Cluster::join(environment_bootstrap(), options);
      ADD_FAILURE() << "joined alone";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::run_failed);
      EXPECT_THAT(error.what(), HasSubstr(problem));
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  expect_error("0", "rank 1 did not join within 0.5 s", "rank 0 waits for it at 127.0.0.1 port");
  expect_error("1", "rank 1 cannot reach rank 0 at 127.0.0.1:", "Connection refused");
}

/// Processes that know each other by variables alone; the launcher only serves to fork them.
Outcome run_by_environment(int num_ranks, const std::string& address,
                           const std::function<void(int rank)>& before = {}) {
  const std::vector<std::string> ports = free_ports(num_ranks);
  return run_processes(num_ranks, [&](std::unique_ptr<Bootstrap> launcher) {
    try {
      ::setenv("LEADLINE_SIZE", std::to_string(num_ranks).c_str(), 1);
      ::setenv("LEADLINE_RANK", std::to_string(launcher->rank()).c_str(), 1);
      ::setenv("LEADLINE_SECRET", "0123456789abcdef", 1);
      for (int rank = 0; rank < num_ranks; ++rank) {
        const std::string& port = ports[static_cast<std::size_t>(rank)];
        ::setenv(("LEADLINE_PORT_" + std::to_string(rank)).c_str(), port.c_str(), 1);
        ::setenv(("LEADLINE_ADDRESS_" + std::to_string(rank)).c_str(), address.c_str(), 1);
      }
      if (before) before(launcher->rank());
      JoinOptions options;
      options.timeout = 10s;
      const auto cluster = Cluster::join(environment_bootstrap(), options);
      require(cluster->launcher() == "environment", "launcher");
      require(cluster->on_loopback(), "on loopback");
      cluster->meet(cluster->rank() ^ 1, Deadline::after(10s));
      cluster->leave();
      return 0;
    } catch (const std::exception& error) {
      return say_and_fail(error);
    }
  });
}

TEST(ByEnvironment, processes_join) {
  EXPECT_FINE(run_by_environment(2, "127.0.0.1"));
  EXPECT_FINE(run_by_environment(4, "127.0.0.1"));
}

TEST(ByEnvironment, processes_join_over_ipv6) {
  try {
    listen_on(*SocketAddress::parse("::1", 0));
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_FINE(run_by_environment(2, "::1"));
}

TEST(ByEnvironment, the_early_rank_waits_for_the_late_one) {
  for (const int late : {0, 1}) {
    EXPECT_FINE(run_by_environment(2, "127.0.0.1", [&](int rank) {
      if (rank == late) ::usleep(50'000);
    }));
  }
}

TEST(ByEnvironment, a_wrong_secret_does_not_join) {
  const Outcome outcome = run_processes(2, [](std::unique_ptr<Bootstrap> bootstrap) {
    class Imposter final : public Bootstrap, private Membership {
     public:
      explicit Imposter(Bootstrap& real) : real_(real) {}
      int rank() const override { return 1; }
      int size() const override { return 2; }
      std::string launcher() const override { return "imposter"; }
      Membership* membership() override { return this; }

     private:
      Descriptor take_listener() override { return real_.membership()->take_listener(); }
      Endpoint endpoint_of(int rank) const override { return real_.membership()->endpoint_of(rank); }
      std::string_view secret() const override { return "guessed"; }
      Bootstrap& real_;
    };
    JoinOptions options;
    options.timeout = bootstrap->rank() == 0 ? 3000ms : 1000ms;  // rank 0 is there when rank 1 gives up
    try {
      if (bootstrap->rank() == 0) {
        Cluster::join(std::move(bootstrap), options);
      } else {
        Cluster::join(std::make_unique<Imposter>(*bootstrap), options);
      }
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 4;
    }
    return 0;
  });
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, HasSubstr("rank 1 did not join within 3 s"));
  EXPECT_THAT(outcome.said, HasSubstr("(it turns us away)"));
}

constexpr int num_gatherers_max = 8;

struct Board {
  std::atomic<int> num_written[8];
  char text[8][num_gatherers_max][512];
};

class GatheringBootstrap final : public Bootstrap {
 public:
  GatheringBootstrap(int rank, int size, Board& board) : rank_(rank), size_(size), board_(board) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string launcher() const override { return "gathering"; }
  std::string all_gather(const std::string& own) override {
    const int turn = turn_++;
    std::memcpy(board_.text[turn][rank_], own.data(), own.size());
    board_.num_written[turn].fetch_add(1);
    const Deadline deadline = Deadline::after(20s);
    while (board_.num_written[turn].load() < size_ && !deadline.has_passed()) ::sched_yield();
    std::string all;
    for (int rank = 0; rank < size_; ++rank) all.append(board_.text[turn][rank], own.size());
    return all;
  }

 private:
  int rank_, size_, turn_ = 0;
  Board& board_;
};

/// The lower half of the ranks on the first of these hosts, the others on the second; none = all on this one.
using HostNames = std::vector<std::string>;
const HostNames two_hosts{"anvil", "bellows"};

Outcome run_gathering(int num_ranks, const NetworkChoice& network, const HostNames& hosts) {
  void* page = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Board& board = *new (page) Board{};
  Outcome outcome = run_processes(num_ranks, [&](std::unique_ptr<Bootstrap> launcher) {
    try {
      const int rank = launcher->rank();
      if (!hosts.empty()) {
        const std::string& host = hosts[rank < num_ranks / 2 ? 0 : 1];
        require(::unshare(CLONE_NEWUTS) == 0 && ::sethostname(host.data(), host.size()) == 0, "own host name");
      }
      JoinOptions options;
      options.interface = network.interface;
      options.host_name_suffix = network.host_name_suffix;
      const auto cluster = Cluster::join(std::make_unique<GatheringBootstrap>(rank, num_ranks, board), options);
      require(cluster->num_hosts() == (hosts.empty() ? 1 : 2), "number of hosts");
      require(cluster->on_loopback(), "on loopback");
      cluster->meet(rank ^ 1, Deadline::after(10s));
      cluster->leave();
      return 0;
    } catch (const Error& error) {
      return say_and_end(error);
    } catch (const std::exception& error) {
      return say_and_fail(error);
    }
  });
  ::munmap(page, sizeof(Board));
  return outcome;
}

TEST(Gathering, on_one_host_listens_on_the_loopback) {
  EXPECT_FINE(run_gathering(2, {}, {}));
  EXPECT_FINE(run_gathering(6, {}, {}));
}

/// Gatherings over hosts, which are made of host names of their own.
class GatheringOverHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, for host names of their own";
  }

  /// Every rank has heard the same, and said it.
  static void expect_error_of_all(const Outcome& outcome, ExitStatus status, const std::string& words) {
    EXPECT_EQ(outcome.status, static_cast<int>(status));
    std::size_t num_said = 0;
    for (std::size_t at = 0; (at = outcome.said.find(words, at)) != std::string::npos; ++at) ++num_said;
    EXPECT_EQ(num_said, 4U) << outcome.said;
  }
};

TEST_F(GatheringOverHosts, listens_where_it_is_told) {
  EXPECT_FINE(run_gathering(4, {"lo"}, two_hosts));
  EXPECT_FINE(run_gathering(4, {"127.0.0.0/8"}, two_hosts));
}

TEST_F(GatheringOverHosts, listens_at_the_name_with_the_suffix) {
  EXPECT_FINE(run_gathering(4, {"", "alhost"}, {"loc.north", "loc.south"}));
}

TEST_F(GatheringOverHosts, all_ranks_hear_that_a_network_is_missing) {
  expect_error_of_all(run_gathering(4, {"nosuch0"}, two_hosts), ExitStatus::something_missing,
                      "no network interface matches 'nosuch0'");
}

TEST_F(GatheringOverHosts, a_name_with_a_suffix_must_lead_to_this_host) {
  const Outcome elsewhere = run_gathering(4, {"", ".0.2.99"}, {"192.north", "192.south"});
  expect_error_of_all(elsewhere, ExitStatus::something_missing,
                      "the host name '192.0.2.99' leads to no network of this host (192.0.2.99 is not an address of");
  EXPECT_THAT(elsewhere.said, HasSubstr("LINKTEST_SYSTEM_NODENAME_SUFFIX is '.0.2.99'"));
  const std::string endless(300, 'x');
  expect_error_of_all(run_gathering(4, {"", endless}, two_hosts), ExitStatus::something_missing,
                      "the name service says");
}

TEST_F(GatheringOverHosts, an_interface_and_a_suffix_are_too_much) {
  expect_error_of_all(run_gathering(4, {"lo", "-fast"}, two_hosts), ExitStatus::bad_command_line,
                      "the interface is 'lo', and LINKTEST_SYSTEM_NODENAME_SUFFIX is '-fast'");
}

TEST_F(Environment, tells_the_launcher) {
  EXPECT_EQ(detect_launcher(), Launcher::none);
  EXPECT_EQ(rank_hint(), 0);

  set("SLURM_PROCID", "3");  // srun without an MPI plugin
  EXPECT_EQ(detect_launcher(), Launcher::none);
  set("PMI_RANK", "3");
  EXPECT_EQ(detect_launcher(), Launcher::slurm_pmi2);
  EXPECT_EQ(rank_hint(), 3);
  set("PMI_SIZE", "8");
  set("HYDI_CONTROL_FD", "7");  // mpiexec.hydra inside a Slurm allocation
  EXPECT_EQ(detect_launcher(), Launcher::mpich);
  clear();
  set("PMI_RANK", "5");
  set("PMI_SIZE", "8");
  EXPECT_EQ(detect_launcher(), Launcher::mpich);
  EXPECT_EQ(rank_hint(), 5);
  clear();
  set("PMIX_RANK", "4");
  EXPECT_EQ(detect_launcher(), Launcher::pmix);
  set("SLURM_PROCID", "4");
  EXPECT_EQ(detect_launcher(), Launcher::slurm_pmix);
  EXPECT_EQ(rank_hint(), 4);
  set("OMPI_COMM_WORLD_SIZE", "8");
  set("OMPI_COMM_WORLD_RANK", "6");
  EXPECT_EQ(detect_launcher(), Launcher::open_mpi);
  EXPECT_EQ(rank_hint(), 6);
  EXPECT_FALSE(speaks_before_joining());
  set("LEADLINE_RANK", "1");
  EXPECT_EQ(detect_launcher(), Launcher::environment);
  EXPECT_EQ(rank_hint(), 1);
  EXPECT_TRUE(speaks_before_joining());
}

TEST_F(Environment, half_of_it_is_a_mistake_and_no_local_run) {
  for (const char* name : {"LEADLINE_SIZE", "LEADLINE_RANK", "LEADLINE_ADDRESS", "LEADLINE_PORT", "LEADLINE_ADDRESS_0",
                           "LEADLINE_PORT_0", "RANK"}) {
    clear();
    set(name, "1");
    EXPECT_EQ(detect_launcher(), Launcher::environment) << name;
  }
  clear();
  set("WORLD_SIZE", "2");  // without MASTER_ADDR it may be anybody's
  EXPECT_EQ(detect_launcher(), Launcher::none);
  set("MASTER_ADDR", "node1");
  EXPECT_EQ(detect_launcher(), Launcher::environment);
  set("RANK", "3");
  EXPECT_EQ(rank_hint(), 3);
  set("PMI_RANK", "0");
  EXPECT_EQ(detect_launcher(), Launcher::mpich) << "a job script may set torchrun's variables for everybody";
}

TEST_F(Environment, a_launcher_that_nobody_can_use_is_named_unless_it_started_one_process) {
  EXPECT_EQ(unsupported_launcher(), nullptr);
  const auto expect = [](const char* rank, const char* num_ranks) {
    const UnsupportedLauncher* const launcher = unsupported_launcher();
    ASSERT_NE(launcher, nullptr);
    EXPECT_STREQ(launcher->rank, rank);
    if (num_ranks != nullptr) {
      EXPECT_STREQ(launcher->num_ranks, num_ranks);
    }
  };
  set("SLURM_PROCID", "0");  // a batch script of several nodes need not have the number of tasks
  expect("SLURM_PROCID", nullptr);
  set("SLURM_NTASKS", "2");
  expect("SLURM_PROCID", "SLURM_NTASKS");
  set("SLURM_NTASKS", "1");
  EXPECT_EQ(unsupported_launcher(), nullptr);
  set("SLURM_STEP_NUM_TASKS", "2");
  expect("SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
  clear();
  set("PALS_RANKID", "0");
  expect("PALS_RANKID", nullptr);
}

}  // namespace
}  // namespace leadline::cluster

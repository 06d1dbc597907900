// SPDX-License-Identifier: Apache-2.0
// Rank 0 is told to all, by the LEADLINE_* variables or those of torchrun: complete, half-set and senseless; ranks that
// are absent, doubled, or of another run.
#include "cluster/rank0_bootstrap.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

#include "cluster/environment.hpp"
#include "ranks.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

/// Rank 0 listens at a port that nobody else gets.
Variables torchrun_variables(const std::string& rank, int size, const std::string& port) {
  return {{"RANK", rank},
          {"WORLD_SIZE", std::to_string(size)},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", std::to_string(std::stoi(port) - 1000)}};
}

Variables own_variables(const std::string& rank, int size, const std::string& port) {
  return {{"LEADLINE_RANK", rank},
          {"LEADLINE_SIZE", std::to_string(size)},
          {"LEADLINE_ADDRESS", "127.0.0.1"},
          {"LEADLINE_PORT", port},
          {"LEADLINE_SECRET", "0123456789abcdef"}};
}

void set_all(const Variables& variables) {
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) ::unsetenv(name);
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
}

/// Processes with these variables. Each says its error.
Outcome run_told_of_rank0(const std::vector<Variables>& of_ranks, std::chrono::nanoseconds timeout = 10s,
                          const std::function<void(Cluster&)>& body = {}) {
  return run_processes(static_cast<int>(of_ranks.size()), [&](std::unique_ptr<Bootstrap> launcher) {
    set_all(of_ranks[static_cast<std::size_t>(launcher->rank())]);
    try {
      const bool is_own = has_own_variables();
      const auto cluster = Cluster::join(is_own ? rank0_bootstrap(timeout, false) : torchrun_bootstrap(timeout), {});
      if (body) body(*cluster);
      cluster->leave();
      return 0;
    } catch (const Error& error) {
      return say_and_end(error);
    } catch (const std::exception& error) {
      return say_and_fail(error);
    }
  });
}

TEST(Torchrun, ranks_find_each_other) {
  for (const int size : {1, 2, 5}) {
    std::vector<Variables> of_ranks;
    const std::string port = free_ports(1).front();
    for (int rank = 0; rank < size; ++rank) of_ranks.push_back(torchrun_variables(std::to_string(rank), size, port));
    EXPECT_FINE(run_told_of_rank0(of_ranks, 10s, [&](Cluster& cluster) {
      require(cluster.size() == size, "size");
      require(cluster.launcher() == "torchrun", "launcher");
      require(cluster.on_loopback(), "on loopback");
    }));
  }
}

TEST(Torchrun, the_masters_address_may_be_a_name) {
  const std::string port = free_ports(1).front();
  std::vector<Variables> of_ranks{torchrun_variables("0", 2, port), torchrun_variables("1", 2, port)};
  for (Variables& variables : of_ranks) variables["MASTER_ADDR"] = "localhost";
  EXPECT_FINE(run_told_of_rank0(of_ranks));
}

TEST(Torchrun, variables_that_are_missing_or_make_no_sense_are_named) {
  const auto error_with = [](const std::string& name, const char* value) {
    Variables variables = torchrun_variables("1", 2, free_ports(1).front());
    variables.erase(name);
    if (value != nullptr) variables[name] = value;
    return run_told_of_rank0({variables}, 500ms).said;
  };
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    EXPECT_THAT(error_with(name, nullptr),
                HasSubstr(std::string("variable ") + name + " cannot be used (it is not set"));
  }
  EXPECT_THAT(error_with("RANK", "captain"), HasSubstr("RANK cannot be used ('captain' is not a number)"));
  EXPECT_THAT(error_with("RANK", "2"), HasSubstr("RANK cannot be used (2 is not from 0 to 1)"));
  EXPECT_THAT(error_with("MASTER_PORT", "65536"), HasSubstr("65536 is not from 1 to 65535"));
  EXPECT_THAT(error_with("MASTER_ADDR", "no such host"), HasSubstr("the name service says of 'no such host'"));
}

TEST(Torchrun, a_rank_that_does_not_come_is_named) {
  const Outcome alone = run_told_of_rank0({torchrun_variables("0", 3, free_ports(1).front())}, 500ms);
  EXPECT_EQ(alone.status, 4);
  EXPECT_THAT(alone.said, HasSubstr("2 of 3 ranks did not come within 0.5 s (rank 1, rank 2)"));
  const Outcome without_root = run_told_of_rank0({torchrun_variables("1", 2, free_ports(1).front())}, 500ms);
  EXPECT_EQ(without_root.status, 4);
  EXPECT_THAT(without_root.said, HasSubstr("rank 1 cannot reach rank 0 at 127.0.0.1:"));
}

TEST(Torchrun, two_ranks_of_one_number_are_told) {
  const std::string port = free_ports(1).front();
  const Outcome twice = run_told_of_rank0(
      {torchrun_variables("0", 3, port), torchrun_variables("1", 3, port), torchrun_variables("1", 3, port)});
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.said, HasSubstr("two processes are rank 1 (RANK is 1 for both)"));
  const std::string other = free_ports(1).front();
  const Outcome roots = run_told_of_rank0({torchrun_variables("0", 2, other), torchrun_variables("0", 2, other)}, 1s);
  EXPECT_NE(roots.status, 0);
  EXPECT_THAT(roots.said, AllOf(HasSubstr("Address already in use"), HasSubstr("start one rank with RANK 0")));
}

TEST(Torchrun, sizes_that_differ_are_told) {
  const std::string port = free_ports(1).front();
  const Outcome outcome = run_told_of_rank0({torchrun_variables("0", 2, port), torchrun_variables("2", 3, port)});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.said, HasSubstr("the ranks do not agree how many they are (WORLD_SIZE is 2 for rank 0 and 3 for "
                                      "rank 2)"));
}

TEST(Torchrun, a_secret_of_its_own_keeps_others_out) {
  const std::string port = free_ports(1).front();
  std::vector<Variables> of_ranks{torchrun_variables("0", 2, port), torchrun_variables("1", 2, port)};
  for (Variables& variables : of_ranks) variables["LEADLINE_SECRET"] = "0123456789abcdef";
  EXPECT_FINE(run_told_of_rank0(of_ranks));
  of_ranks[1]["LEADLINE_SECRET"] = "fedcba9876543210";
  const Outcome outcome = run_told_of_rank0(of_ranks, 500ms);
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, AllOf(HasSubstr("1 of 2 ranks did not come"), HasSubstr("rank 1 cannot reach rank 0")));
}

TEST(Rank0, five_variables_are_enough) {
  for (const int size : {1, 2, 5}) {
    std::vector<Variables> of_ranks;
    const std::string port = free_ports(1).front();
    for (int rank = 0; rank < size; ++rank) of_ranks.push_back(own_variables(std::to_string(rank), size, port));
    EXPECT_FINE(run_told_of_rank0(of_ranks, 10s, [&](Cluster& cluster) {
      require(cluster.size() == size, "size");
      require(cluster.launcher() == "environment", "launcher");
    }));
  }
}

TEST(Rank0, variables_that_are_missing_or_differ_are_named) {
  const std::string port = free_ports(1).front();
  for (const char* name : {"LEADLINE_SIZE", "LEADLINE_RANK", "LEADLINE_ADDRESS", "LEADLINE_PORT", "LEADLINE_SECRET"}) {
    Variables variables = own_variables("1", 2, port);
    variables.erase(name);
    EXPECT_THAT(run_told_of_rank0({variables}, 500ms).said,
                HasSubstr(std::string("variable ") + name + " cannot be used (it is not set"));
  }
  Outcome outcome = run_told_of_rank0({own_variables("0", 2, port), own_variables("2", 3, port)});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.said, HasSubstr("(LEADLINE_SIZE is 2 for rank 0 and 3 for rank 2)"));
  outcome = run_told_of_rank0({own_variables("0", 3, port), own_variables("1", 3, port), own_variables("1", 3, port)});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.said, HasSubstr("two processes are rank 1 (LEADLINE_RANK is 1 for both)"));
}

TEST(Rank0, who_does_not_know_the_secret_stays_out) {
  const std::string port = free_ports(1).front();
  std::vector<Variables> of_ranks{own_variables("0", 2, port), own_variables("1", 2, port)};
  of_ranks[1]["LEADLINE_SECRET"] = "fedcba9876543210";
  const Outcome outcome = run_told_of_rank0(of_ranks, 500ms);
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.said, AllOf(HasSubstr("1 of 2 ranks did not come"), HasSubstr("rank 1 cannot reach rank 0")));
}

}  // namespace
}  // namespace leadline::cluster

// SPDX-License-Identifier: Apache-2.0
// LinkTest's own variables: complete, missing, half-set and senseless, and who looks at them at all.
#include <gmock/gmock.h>

#include <cstdlib>

#include "cluster/bootstrap.hpp"
#include "cluster/environment.hpp"
#include "ranks.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const std::vector<std::string> all_variables{"LINKTEST_TCP_SIZE",
                                             "LINKTEST_TCP_RANK",
                                             "LINKTEST_TCP_IPADDR_00000000",
                                             "LINKTEST_TCP_PORT_00000000",
                                             "LINKTEST_TCP_IPADDR_00000001",
                                             "LINKTEST_TCP_PORT_00000001"};

void set(const std::string& name, const std::string& value) { ::setenv(name.c_str(), value.c_str(), 1); }

class LinktestVariables : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    for (const std::string& name : all_variables) ::unsetenv(name.c_str());
    for (const char* name : {"LEADLINE_RANK", "LEADLINE_SECRET", "PMI_RANK", "SLURM_PROCID"}) ::unsetenv(name);
  }
  static void set_all() {
    const char* values[] = {"2", "1", "127.0.0.1", "50000", "127.0.0.1", "50001"};
    for (std::size_t i = 0; i < all_variables.size(); ++i) set(all_variables[i], values[i]);
  }
  /// The error that a variable with this value (null: missing) gives.
  static std::string error_with(const std::string& name, const char* value) {
    set_all();
    value != nullptr ? set(name, value) : static_cast<void>(::unsetenv(name.c_str()));
    try {
      linktest_environment_bootstrap();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
      return error.what();
    }
    return "no error";
  }
  static std::string secret() { return std::string(linktest_environment_bootstrap()->membership()->secret()); }
};

TEST_F(LinktestVariables, say_who_we_are) {
  set_all();
  const auto bootstrap = linktest_environment_bootstrap();
  EXPECT_EQ(bootstrap->rank(), 1);
  EXPECT_EQ(bootstrap->size(), 2);
  EXPECT_EQ(bootstrap->launcher(), "environment (LINKTEST_TCP_*)");
  EXPECT_EQ(bootstrap->membership()->endpoint_of(0).port, 50000);
  EXPECT_EQ(bootstrap->membership()->endpoint_of(1).port, 50001);
}

TEST_F(LinktestVariables, are_named_where_they_are_missing) {
  for (const std::string& name : all_variables) {
    for (const char* value : {static_cast<const char*>(nullptr), ""}) {
      EXPECT_THAT(error_with(name, value),
                  HasSubstr("the environment variable " + name + " cannot be used (it is not"));
    }
  }
  EXPECT_THAT(error_with("LINKTEST_TCP_PORT_00000001", nullptr), HasSubstr("its own too"));
}

TEST_F(LinktestVariables, are_named_where_they_make_no_sense) {
  EXPECT_THAT(error_with("LINKTEST_TCP_SIZE", "two"), HasSubstr("LINKTEST_TCP_SIZE cannot be used ('two' is not a n"));
  EXPECT_THAT(error_with("LINKTEST_TCP_SIZE", "-3"), HasSubstr("-3 is not from 1 to 2147483647"));
  EXPECT_THAT(error_with("LINKTEST_TCP_RANK", "2"),
              HasSubstr("LINKTEST_TCP_RANK cannot be used (2 is not from 0 to 1)"));
  EXPECT_THAT(error_with("LINKTEST_TCP_IPADDR_00000000", "node7"), HasSubstr("'node7' is not an IP address"));
  EXPECT_THAT(error_with("LINKTEST_TCP_PORT_00000000", "0"),
              HasSubstr("PORT_00000000 cannot be used (0 is not from 1"));
}

TEST_F(LinktestVariables, give_all_ranks_of_a_run_the_same_secret) {
  set_all();
  const std::string of_rank_1 = secret();
  EXPECT_GE(of_rank_1.size(), 16U);
  set("LINKTEST_TCP_RANK", "0");
  EXPECT_EQ(secret(), of_rank_1);
  set("LINKTEST_TCP_PORT_00000001", "50002");
  EXPECT_NE(secret(), of_rank_1);
  set("LEADLINE_SECRET", "0123456789abcdef");
  EXPECT_EQ(secret(), "0123456789abcdef");
  set("LEADLINE_SECRET", "short");
  EXPECT_THROW(secret(), Error);
}

TEST_F(LinktestVariables, count_for_linktest_alone_and_before_all_others) {
  EXPECT_FALSE(has_linktest_variables());
  EXPECT_EQ(detect_launcher(FrontEnd::linktest), Launcher::none);
  set("LINKTEST_TCP_SIZE", "2");  // half of them is a mistake that somebody wants to hear of
  EXPECT_TRUE(has_linktest_variables());
  set("LINKTEST_TCP_RANK", "1");
  set("SLURM_PROCID", "0");
  set("PMI_RANK", "0");
  EXPECT_EQ(detect_launcher(FrontEnd::linktest), Launcher::linktest);
  EXPECT_EQ(rank_hint(FrontEnd::linktest), 1);
  EXPECT_TRUE(speaks_before_joining(FrontEnd::linktest));
  EXPECT_EQ(detect_launcher(), Launcher::slurm_pmi2);
  EXPECT_EQ(rank_hint(), 0);
}

TEST_F(LinktestVariables, bring_processes_together) {
  const std::vector<std::string> ports = free_ports(3);
  EXPECT_FINE(run_processes(3, [&](std::unique_ptr<Bootstrap> launcher) {
    try {
      set("LINKTEST_TCP_SIZE", "3");
      set("LINKTEST_TCP_RANK", std::to_string(launcher->rank()));
      for (std::size_t rank = 0; rank < ports.size(); ++rank) {
        set("LINKTEST_TCP_IPADDR_0000000" + std::to_string(rank), "127.0.0.1");
        set("LINKTEST_TCP_PORT_0000000" + std::to_string(rank), ports[rank]);
      }
      JoinOptions options;
      options.timeout = 10s;
      const auto cluster = Cluster::join(linktest_environment_bootstrap(), options);
      require(cluster->size() == 3, "three ranks");
      cluster->leave();
      return 0;
    } catch (const std::exception& error) {
      return say_and_fail(error);
    }
  }));
}

}  // namespace
}  // namespace leadline::cluster

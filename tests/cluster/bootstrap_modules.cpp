// SPDX-License-Identifier: Apache-2.0
// The bootstraps that are modules, where no launcher has started anybody: what is missing, and no wait without an end.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "cluster/bootstrap.hpp"
#include "core/dynamic_library.hpp"
#include "ranks.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

class BootstrapModules : public testing::Test {
 protected:
  void SetUp() override { ::setenv("LEADLINE_MODULE_PATH", MODULE_FOLDER, 1); }
  void TearDown() override { ::unsetenv("LEADLINE_MODULE_PATH"); }

  /// What a process says and how it ends that starts this bootstrap with these variables, in vain.
  static Outcome start(const std::string& name, const Variables& variables) {
    return run_processes(1, [&](std::unique_ptr<Bootstrap>) {
      for (const auto& [variable, value] : variables) ::setenv(variable.c_str(), value.c_str(), 1);
      try {
        open_bootstrap_module(name).start(Launcher::none, 500ms);
      } catch (const Error& error) {
        return say_and_end(error);
      }
      return 0;
    });
  }
  static bool is_built(const std::string& name) {
    return std::filesystem::exists(MODULE_FOLDER "/leadline_bootstrap_" + name + ".so");
  }
};

void expect(const Outcome& outcome, ExitStatus status, const std::string& words) {
  EXPECT_EQ(outcome.status, static_cast<int>(status));
  EXPECT_THAT(outcome.said, HasSubstr(words));
}

TEST_F(BootstrapModules, that_are_not_there_give_the_loaders_reason) {
  ::setenv("LEADLINE_MODULE_PATH", "/nowhere", 1);
  try {
    open_bootstrap_module("pmix");
    ADD_FAILURE() << "opens";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.what(), HasSubstr("leadline_bootstrap_pmix.so: cannot open shared object file"));
  }
}

TEST_F(BootstrapModules, pmix_without_a_server_says_so) {
  if (!is_built("pmix")) GTEST_SKIP() << "PMIx is not here";
  const auto missing = ExitStatus::something_missing;
  expect(start("pmix", {{"PMIX_RANK", "0"}}), missing, "PMIX_NAMESPACE is not set");
  const Variables half{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "nobody"}};
  expect(start("pmix", half), missing, "the launcher's PMIx server cannot be used (PMIx_Init says");
  Variables gone = half;
  gone["PMIX_SERVER_URI41"] = "nobody.0;tcp4://127.0.0.1:" + free_ports(1).front();
  expect(start("pmix", gone), missing, "the launcher's PMIx server cannot be used (PMIx_Init says");
  EXPECT_THAT(start("pmix", gone).said, HasSubstr("srun --mpi=pmix"));
}

TEST_F(BootstrapModules, pmix_with_a_silent_server_ends) {
  if (!is_built("pmix")) GTEST_SKIP() << "PMIx is not here";
  const Descriptor silent = listen_on(*SocketAddress::parse("127.0.0.1", 0));
  const std::string server =
      "nobody.0;tcp4://127.0.0.1:" + std::to_string(SocketAddress::of_socket(silent.fd()).port());
  const Variables variables{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "nobody"}, {"PMIX_SERVER_URI41", server}};
  expect(start("pmix", variables), ExitStatus::run_failed,
         "the launcher's PMIx server does not answer (not all ranks were heard of within 0.5 s)");
}

}  // namespace
}  // namespace leadline::cluster

// SPDX-License-Identifier: Apache-2.0
// The bootstrap over PMIx where no launcher has started anybody: what is missing, and no wait without an end.
#include "cluster/pmix.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

#include "cluster/bootstrap.hpp"
#include "core/error.hpp"
#include "ranks.hpp"

namespace leadline::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

/// What a process says and how it ends that starts the bootstrap with these variables, in vain.
Outcome start(const Variables& variables) {
  return run_processes(1, [&](std::unique_ptr<Bootstrap>) {
    for (const auto& [variable, value] : variables) ::setenv(variable.c_str(), value.c_str(), 1);
    try {
      pmix_bootstrap(Launcher::none, 500ms);
    } catch (const Error& error) {
      return say_and_end(error);
    }
    return 0;
  });
}

class Pmix : public testing::Test {
 protected:
  void SetUp() override {
    try {
      open_pmix();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

void expect(const Outcome& outcome, ExitStatus status, const std::string& words) {
  EXPECT_EQ(outcome.status, static_cast<int>(status));
  EXPECT_THAT(outcome.said, HasSubstr(words));
}

TEST_F(Pmix, without_a_server_says_so) {
  const auto missing = ExitStatus::something_missing;
  expect(start({{"PMIX_RANK", "0"}}), missing, "PMIX_NAMESPACE is not set");
  const Variables half{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "nobody"}};
  expect(start(half), missing, "the launcher's PMIx server cannot be used (PMIx_Init says");
  Variables gone = half;
  gone["PMIX_SERVER_URI41"] = "nobody.0;tcp4://127.0.0.1:" + free_ports(1).front();
  expect(start(gone), missing, "the launcher's PMIx server cannot be used (PMIx_Init says");
  EXPECT_THAT(start(gone).said, HasSubstr("srun --mpi=pmix"));
}

TEST_F(Pmix, with_a_silent_server_ends) {
  const Descriptor silent = listen_on(*SocketAddress::parse("127.0.0.1", 0));
  const std::string server =
      "nobody.0;tcp4://127.0.0.1:" + std::to_string(SocketAddress::of_socket(silent.fd()).port());
  const Variables variables{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "nobody"}, {"PMIX_SERVER_URI41", server}};
  expect(start(variables), ExitStatus::run_failed,
         "the launcher's PMIx server does not answer (not all ranks were heard of within 0.5 s)");
}

}  // namespace
}  // namespace leadline::cluster

// SPDX-License-Identifier: Apache-2.0
// TCP joins the contract suite, and what only TCP promises.
#include <sys/resource.h>

#include <chrono>

#include "contract/forked_ranks.hpp"
#include "contract/transport_contract.hpp"
#include "core/error.hpp"
#include "transport/module.hpp"

namespace leadline::contract {

Ranks& ranks() {
  static ForkedRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Tcp, TransportContract,
                         testing::ValuesIn(candidates("tcp", {WaitMode::block, WaitMode::yield, WaitMode::spin})),
                         candidate_name);
INSTANTIATE_TEST_SUITE_P(Tcp, AllToAllContract,
                         testing::ValuesIn(parties("tcp", {WaitMode::block, WaitMode::yield, WaitMode::spin})),
                         party_name);
INSTANTIATE_TEST_SUITE_P(Tcp, NeighbourContract,
                         testing::ValuesIn(parties("tcp", {WaitMode::block, WaitMode::yield}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(TcpSpinning, NeighbourContract, testing::Values(Party{"tcp", WaitMode::spin, 2}), party_name);

INSTANTIATE_TEST_SUITE_P(Tcp, MessagesContract,
                         testing::ValuesIn(parties("tcp", {WaitMode::block, WaitMode::yield}, 2)), party_name);
INSTANTIATE_TEST_SUITE_P(TcpSpinning, MessagesContract, testing::Values(Party{"tcp", WaitMode::spin, 2}), party_name);

/// All pairs of `self.size` ranks in the rounds of a tournament, as the link test has them.
void play_tournament(const ForkedRank& self, transport::Transport& tcp) {
  std::byte out{}, in{};
  for (const std::int32_t partner : tournament(self.rank, self.size)) {
    tcp.connect(partner, Deadline::after(std::chrono::seconds(20)));
    Sample sample;
    kernel::Exchange exchange{.role = self.rank < partner ? kernel::Role::lead : kernel::Role::follow};
    exchange.message_size_bytes = 1;
    tcp.run(exchange, partner, {&out, &in}, {&sample, 1});
  }
}

/// Lowers this process's limit of open files while it lives.
class ScarceFiles {
 public:
  explicit ScarceFiles(rlim_t num_files) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit scarce{num_files, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &scarce), 0);
  }
  ~ScarceFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(TcpLinks, AreClosedAndOpenedAgainWhereFilesAreScarce) {
  run_forked(6, [](ForkedRank& self) {
    // 64 files are left to others; ranks with room for two links and for three forget different ones.
    const ScarceFiles scarce(64 + (self.rank % 2 == 0 ? 2 : 3));
    const auto tcp = self.open("tcp", WaitMode::yield);
    for (int sweep = 0; sweep < 3; ++sweep) play_tournament(self, *tcp);
  });
}

TEST(TcpLinks, ThatCannotAllBeOpenAtOnceAreAnErrorOfTheExchangeWithAll) {
  run_forked(4, [](ForkedRank& self) {
    const ScarceFiles scarce(64 + 2);
    const auto tcp = self.open("tcp", WaitMode::yield);
    play_tournament(self, *tcp);
    const auto partners = tournament(self.rank, self.size);
    Sample sample;
    try {
      tcp->all_to_all({partners, 0}, {}, {&sample, 1});
      ADD_FAILURE() << "three links are open";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::something_missing);
      EXPECT_NE(error.hint().find("ulimit -n"), std::string::npos);
    }
  });
}

TEST(TcpLinks, APartnerThatDoesNotComeIsAnErrorInTime) {
  run_forked(2, [](ForkedRank& self) {
    if (self.rank == 1) return;
    const auto tcp = self.open("tcp", WaitMode::block);
    EXPECT_THROW(tcp->connect(1, Deadline::after(std::chrono::milliseconds(20))), Error);
  });
}

TEST(TcpModule, TakesOrdinaryMemoryOnly) {
  const auto module = transport::open_module("tcp", cluster::Launcher::none);
  EXPECT_EQ(module->refuses_memory(memory::Place::host), "");
  EXPECT_EQ(module->refuses_memory(memory::Place::gpu), "sockets take nothing but ordinary memory");
}

TEST(TcpModule, TakesNoArgument) {
  run_forked(1, [](ForkedRank& self) { EXPECT_THROW(self.open("tcp:fast", WaitMode::block), Error); });
}

}  // namespace leadline::contract

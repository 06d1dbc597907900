// SPDX-License-Identifier: Apache-2.0
// TCP joins the contract suite, and what only TCP promises.
#include <sys/resource.h>

#include <chrono>

#include "contract/forked_ranks.hpp"
#include "contract/transport_contract.hpp"
#include "core/error.hpp"

namespace leadline::contract {

Ranks& ranks() {
  static ForkedRanks two;
  return two;
}

INSTANTIATE_TEST_SUITE_P(Tcp, TransportContract,
                         testing::ValuesIn(candidates("tcp", {WaitMode::block, WaitMode::yield, WaitMode::spin})),
                         candidate_name);

/// All pairs of `self.size` ranks in the rounds of a tournament, as the link test has them.
void play_tournament(const ForkedRank& self, transport::Transport& tcp) {
  const int seats = self.size - 1;
  std::byte out{}, in{};
  for (int round = 0; round < seats; ++round) {
    int partner = ((round - self.rank) % seats + seats) % seats;
    if (self.rank == seats)
      partner = (round * (seats / 2 + 1)) % seats;  // who would meet itself meets the last
    else if (partner == self.rank)
      partner = seats;
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

TEST(TcpLinks, APartnerThatDoesNotComeIsAnErrorInTime) {
  run_forked(2, [](ForkedRank& self) {
    if (self.rank == 1) return;
    const auto tcp = self.open("tcp", WaitMode::block);
    EXPECT_THROW(tcp->connect(1, Deadline::after(std::chrono::milliseconds(20))), Error);
  });
}

TEST(TcpModule, TakesNoArgument) {
  run_forked(1, [](ForkedRank& self) { EXPECT_THROW(self.open("tcp:fast", WaitMode::block), Error); });
}

}  // namespace leadline::contract
